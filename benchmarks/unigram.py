"""How long a unigram training takes, beside sentencepiece and Hugging Face: `python benchmarks/unigram.py CORPUS`.

All train on the lines of one file, in one process, in turns: normalising, splitting and counting included, reading left out. The
first turn of each does not count. Ours does as sentencepiece, in double precision; Hugging Face splits and prunes otherwise.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from count import _cpu
from train import machine

from tokentui import fast
from tokentui.learn import start_counted
from tokentui.presets import preset
from tokentui.text.count import count
from tokentui.text.read import read

SPECIALS = ("<unk>", "<s>", "</s>")
Parts = dict[str, float]
"""Seconds of the parts of a training, by name."""
Train = Callable[[], Parts]


def ours(path: Path, vocab_size: int, engine: str) -> Train:
    """This project, by one of its engines."""
    corpus, recipe = read(path, as_="lines"), preset("sentencepiece-unigram")

    def train() -> Parts:
        os.environ[fast.ENGINE] = engine
        clock = _Clock()
        words = count(corpus, recipe)
        clock.note("count")
        trainer = start_counted(words, recipe, specials=SPECIALS, documents=corpus.documents, vocab_size=vocab_size)
        clock.note("lay out")
        while step := trainer.step():
            clock.note("cut" if step.final else step.what)
        return clock.parts

    return train


class _Clock:
    """Sums up times by name."""

    def __init__(self) -> None:
        self.parts: Parts = {}
        self._last = time.perf_counter()

    def note(self, name: str) -> None:
        """What ended now was this."""
        now = time.perf_counter()
        self.parts[name] = self.parts.get(name, 0.0) + now - self._last
        self._last = now


def sentencepiece(path: Path, vocab_size: int) -> Train:
    """The library that the algorithm comes from."""
    import sentencepiece as module

    lines = list(read(path, as_="lines").documents)

    def train() -> Parts:
        module.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_writer=io.BytesIO(), model_type="unigram", vocab_size=vocab_size,
            character_coverage=1.0, num_threads=os.cpu_count() or 1, max_sentence_length=1 << 24, minloglevel=2,
        )
        return {}

    return train


def huggingface(path: Path, vocab_size: int) -> Train:
    """Hugging Face's tokenizers."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    lines = list(read(path, as_="lines").documents)

    def train() -> Parts:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.normalizer = normalizers.NFKC()
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=vocab_size, show_progress=False, unk_token=SPECIALS[0], special_tokens=list(SPECIALS)
        )
        tokenizer.train_from_iterator(lines, trainer)
        return {}

    return train


def trainers(path: Path, vocab_size: int, without: list[str]) -> Iterator[tuple[str, Train]]:
    """What is timed, by its name in the table; the first is what the others are compared with."""
    os.environ[fast.ENGINE] = "compiled"
    if fast.load():
        yield "compiled", ours(path, vocab_size, "compiled")
    if "plain" not in without:
        yield "plain", ours(path, vocab_size, "plain")
    for name, make in {"sentencepiece": sentencepiece, "tokenizers": huggingface}.items():
        if name not in without and importlib.util.find_spec(name):
            yield name, make(path, vocab_size)


def report(path: Path, vocab_size: int, repeats: int, without: list[str]) -> dict[str, Any]:
    """The figures of all in turns."""
    found = dict(trainers(path, vocab_size, without))
    runs: dict[str, list[tuple[float, float, Parts]]] = {name: [] for name in found}
    for turn in range(repeats + 1):
        for name, train in found.items():
            cpu, wall = _cpu(), time.perf_counter()
            parts = train()
            if turn:
                runs[name].append((time.perf_counter() - wall, _cpu() - cpu, parts))
    rows: list[dict[str, Any]] = []
    for name, times in runs.items():
        walls = [wall for wall, _, _ in times]
        median = statistics.median(walls)
        rows.append({
            "trainer": name, "seconds": median, "least": min(walls), "most": max(walls),
            "cpu": statistics.median(cpu for _, cpu, _ in times), "ratio": median / rows[0]["seconds"] if rows else 1.0,
            "parts": {part: statistics.median(parts[part] for _, _, parts in times) for part in times[0][2]},
        })
    return {
        "corpus": path.name, "bytes": path.stat().st_size, "vocab_size": vocab_size, "repeats": repeats, "machine": machine(),
        "trainers": rows,
    }


def table(found: dict[str, Any]) -> str:
    """The report for people."""
    on = found["machine"]
    lines = [
        f"{found['bytes'] / 1e6:,.1f} MB, {found['vocab_size']:,} ids, {found['repeats']} runs each, in turns; wall seconds",
        f"{on['processor']}, {on['cores']} cores, {on['system']}, {on['python']}",
        "",
        "| trainer | median | least to most | CPU | times ours | parts |",
        "|---|--:|--:|--:|--:|---|",
    ]
    lines += [
        f"| {row['trainer']} | {row['seconds']:.3f} | {row['least']:.3f} to {row['most']:.3f} | {row['cpu']:.2f} "
        f"| {row['ratio']:.2f} | {', '.join(f'{part} {seconds:.3f}' for part, seconds in row['parts'].items())} |"
        for row in found["trainers"]
    ]
    return "\n".join(lines)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, help="a text file")
    parser.add_argument("--vocab-size", type=int, default=8192, help="ids in all (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each (default: %(default)s)")
    parser.add_argument("--without", action="append", default=[], choices=["plain", "sentencepiece", "tokenizers"])
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    words = parser.parse_args()
    if not words.corpus.is_file():
        parser.error(f"no such file: {words.corpus}")
    if words.repeats < 1:
        parser.error("at least 1 run")
    found = report(words.corpus, words.vocab_size, words.repeats, words.without)
    print(json.dumps(found, indent=1) if words.json else table(found))


if __name__ == "__main__":
    main()
