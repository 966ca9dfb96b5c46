"""The other objectives: WordPiece by score, and Unigram beside sentencepiece and Hugging Face."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable
from pathlib import Path

from harness import (
    Figures,
    Table,
    apart,
    cpu,
    in_turns,
    installed,
    kernels,
    median,
    megabytes,
    spread,
    version,
)

from tokentui import learn
from tokentui.axes import preset
from tokentui.core import engines
from tokentui.recipe import Run, Stops
from tokentui.text.count import count
from tokentui.text.read import read

SPECIALS = ("<unk>", "<s>", "</s>")


def score(path: str, merges: int, engine: str) -> Figures:
    """WordPiece by score: BERT's words, so many merges."""
    os.environ[engines.VARIABLE] = "off" if engine == "plain" else "on"
    if engine == "compiled":
        kernels()
    recipe = preset("bert").with_axes(objective="score")
    corpus = read(path, as_="text")
    clock, used = time.perf_counter, cpu()
    start = clock()
    words = count(corpus, recipe)
    counted = clock()
    trainer = learn.start(None, recipe, words=words)
    laid_out = clock()
    learn.run(trainer, Stops(merges=merges))
    parts = {"count": counted - start, "lay out": laid_out - counted, "merge": clock() - laid_out}
    return {"seconds": clock() - start, "cpu": cpu() - used, "parts": parts, "merges": trainer.number}


def unigram(path: str, vocab_size: int, name: str) -> Figures:
    """A unigram training of a file's lines, with what is counted and read; once before, which does not count.
    """
    train = UNIGRAM[name][1](path, vocab_size)
    train()
    used, start = cpu(), time.perf_counter()
    parts = train()
    return {"seconds": time.perf_counter() - start, "cpu": cpu() - used, "parts": parts}


def _ours(path: str, vocab_size: int) -> Callable[[], dict[str, float]]:
    kernels()
    corpus, recipe = read(path, as_="lines"), preset("sentencepiece-unigram")

    def train() -> dict[str, float]:
        parts: dict[str, float] = {}
        last = time.perf_counter()

        def note(what: str) -> None:
            nonlocal last
            now = time.perf_counter()
            parts[what] = parts.get(what, 0.0) + now - last
            last = now

        words = count(corpus, recipe)
        note("count")
        trainer = learn.start(corpus, recipe, Run(Stops(vocab_size=vocab_size), specials=SPECIALS), words)
        note("seeds")
        while step := learn.step(trainer):
            note("cut" if step.final else step.kind)
        return parts

    return train


def _sentencepiece(path: str, vocab_size: int) -> Callable[[], dict[str, float]]:
    import sentencepiece as module

    lines = list(read(path, as_="lines").documents)

    def train() -> dict[str, float]:
        module.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_writer=io.BytesIO(), model_type="unigram",
            vocab_size=vocab_size, character_coverage=1.0, num_threads=os.cpu_count() or 1,
            max_sentence_length=1 << 24, minloglevel=2,
        )
        return {}

    return train


def _huggingface(path: str, vocab_size: int) -> Callable[[], dict[str, float]]:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    lines = list(read(path, as_="lines").documents)

    def train() -> dict[str, float]:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.normalizer = normalizers.NFKC()
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=vocab_size, show_progress=False, unk_token=SPECIALS[0], special_tokens=list(SPECIALS)
        )
        tokenizer.train_from_iterator(lines, trainer)
        return {}

    return train


UNIGRAM: dict[str, tuple[str, Callable[[str, int], Callable[[], dict[str, float]]]]] = {
    "tokentui": ("tokentui", _ours),
    "sentencepiece": ("sentencepiece", _sentencepiece),
    "tokenizers": ("tokenizers", _huggingface),
}


def _parts(runs: list[Figures]) -> str:
    return ", ".join(
        f"{part} {sorted(run['parts'][part] for run in runs)[len(runs) // 2]:.3f}"
        for part in runs[0]["parts"]
    )


def score_table(path: Path, merges: int, repeats: int) -> Table:
    """By score, with kernels and without. No other library has this objective."""
    found = in_turns(
        {
            name: lambda engine=engine: apart("pruning", "score", str(path), merges, engine)  # type: ignore[misc]
            for name, engine in {"compiled": "compiled", "plain Python": "plain"}.items()
        },
        repeats,
    )
    rows = [
        (
            name, *spread([run["seconds"] for run in runs]), f"{median(runs, 'cpu'):.3f}",
            f"{runs[0]['merges']:,}", _parts(runs),
        )
        for name, runs in found.items()
    ]
    heads = ("engine", "median s", "least–most", "CPU s", "merges", "parts")
    merging = (
        sorted(run["parts"]["merge"] for run in found["compiled"])[repeats // 2]
        if "compiled" in found
        else 0.0
    )
    return Table(f"WordPiece by score, {megabytes(path)}", heads, rows, {"merge": merging})


def unigram_table(path: Path, vocab_size: int, repeats: int) -> Table:
    """Unigram in turns with the others."""
    found = in_turns(
        {
            name: lambda name=name: apart("pruning", "unigram", str(path), vocab_size, name)  # type: ignore[misc]
            for name, (package, _) in UNIGRAM.items()
            if installed(package)
        },
        repeats,
    )
    reference = median(found["tokentui"])
    rows = [
        (version(name), *spread([run["seconds"] for run in runs]), f"{median(runs, 'cpu'):.2f}",
         f"{median(runs) / reference:.1f}", _parts(runs))
        for name, runs in found.items()
    ]
    heads = ("trainer", "median s", "least–most", "CPU s", "times ours", "parts")
    figures = {
        name: {"ratio": reference / median(runs), "seconds": median(runs)} for name, runs in found.items()
    }
    return Table(f"Unigram, {megabytes(path)}, {vocab_size:,} pieces", heads, rows, figures)
