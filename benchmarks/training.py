"""How long training takes, beside the trainers that people use: in a process that is warm, and as a whole
process.

Every trainer learns from the same file. Those that can learn byte-level BPE on GPT-2's pattern; sentencepiece
and subword-nmt split at white space. The others get the text in pieces of 64 KB, which is their good case:
one long string costs Hugging Face several times as much.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from harness import (
    HERE,
    Figures,
    Table,
    apart,
    cpu,
    in_turns,
    installed,
    kernels,
    median,
    megabytes,
    peak,
    pieces,
    spread,
    version,
    whole,
)

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

Tokens = Callable[[], list[bytes]]
"""Gives the tokens that a training made, in order; asked after the clock has stopped."""
Training = Callable[[Path, int], Tokens]
"""Trains on a file, up to so many ids."""


def ours() -> Training:
    """This project by its public face, with compiled kernels, which are loaded and have run once, as a
    session's have."""
    return _ours("compiled")


def ours_plain() -> Training:
    """The same in plain Python, counting in two processes where the file is large."""
    return _ours("plain")


def _ours(engine: str) -> Training:
    import tokentui
    from tokentui.core import engines

    os.environ[engines.VARIABLE] = "off" if engine == "plain" else "on"
    if engine == "compiled":
        kernels()
    recipe = tokentui.preset("gpt2")
    tokentui.Trainer(tokentui.Corpus.from_text("a few words"), recipe).run()

    def train(path: Path, vocab_size: int) -> Tokens:
        run = tokentui.Trainer(tokentui.read(path, as_="text"), recipe)
        run.run(vocab_size=vocab_size)
        return lambda: [step.token for step in run.steps()]

    return train


def huggingface() -> Training:
    """Hugging Face's BpeTrainer."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    def train(path: Path, vocab_size: int) -> Tokens:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size, min_frequency=0, show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        )
        tokenizer.train_from_iterator(pieces(path), trainer)

        def tokens() -> list[bytes]:
            from tokentui.learn.bases import byte_order_of_gpt2

            byte_of = {
                chr(byte) if n < 188 else chr(256 + n - 188): byte
                for n, byte in enumerate(byte_order_of_gpt2())
            }
            merges = json.loads(tokenizer.to_str())["model"]["merges"]
            return [bytes(byte_of[letter] for letter in left + right) for left, right in merges]

        return tokens

    return train


def rustbpe() -> Training:
    """The trainer of nanochat.

    Of equal pairs it takes others, because its ids begin with the bytes in order of value.
    """
    import rustbpe as module

    def train(path: Path, vocab_size: int) -> Tokens:
        tokenizer = module.Tokenizer()
        tokenizer.train_from_iterator(pieces(path), vocab_size, pattern=GPT2)
        return lambda: [bytes(token) for token, _ in tokenizer.get_mergeable_ranks()[256:]]

    return train


def bpeasy() -> Training:
    """bpeasy, whose trainer is Rust as well."""
    import bpeasy as module

    def train(path: Path, vocab_size: int) -> Tokens:
        ranks = module.train_bpe(pieces(path), GPT2, 1 << 10, vocab_size)
        return lambda: sorted(ranks, key=ranks.__getitem__)[256:]

    return train


def sentencepiece() -> Training:
    """sentencepiece's BPE, on lines and characters, with two threads."""
    import sentencepiece as module

    def train(path: Path, vocab_size: int) -> Tokens:
        model = io.BytesIO()
        with path.open(encoding="utf-8") as lines:
            module.SentencePieceTrainer.train(
                sentence_iterator=lines, model_writer=model, model_type="bpe", vocab_size=vocab_size,
                character_coverage=1.0, num_threads=2, max_sentence_length=1 << 24, minloglevel=2,
                hard_vocab_limit=False,
            )
        processor = module.SentencePieceProcessor(model_proto=model.getvalue())
        return lambda: [processor.IdToPiece(number).encode() for number in range(3, processor.GetPieceSize())]

    return train


def subword_nmt() -> Training:
    """subword-nmt: characters, words at white space."""
    from subword_nmt.learn_bpe import learn_bpe

    def train(path: Path, vocab_size: int) -> Tokens:
        codes = io.StringIO()
        with path.open(encoding="utf-8") as lines, contextlib.redirect_stderr(io.StringIO()):
            learn_bpe(lines, codes, vocab_size - 256, verbose=False)
        return lambda: [line.encode() for line in codes.getvalue().splitlines()[1:]]

    return train


def textbook() -> Training:
    """The loop of the textbooks, as minbpe has it: count all pairs anew for each merge, and replace the best
    everywhere."""
    import regex

    def train(path: Path, vocab_size: int) -> Tokens:
        words = [list(word.encode()) for word in regex.findall(GPT2, path.read_text(encoding="utf-8"))]
        pieces = [bytes([value]) for value in range(256)]
        while len(pieces) < vocab_size:
            counts: Counter[tuple[int, int]] = Counter()
            for word in words:
                counts.update(pairwise(word))
            if not counts:
                break
            (left, right), token = max(counts, key=counts.__getitem__), len(pieces)
            pieces.append(pieces[left] + pieces[right])
            for word in words:
                at = 0
                while at < len(word) - 1:
                    if word[at] == left and word[at + 1] == right:
                        word[at : at + 2] = [token]
                    at += 1
        return lambda: pieces[256:]

    return train


TRAINERS: dict[str, tuple[str, Callable[[], Training]]] = {
    "tokentui": ("tokentui", ours),
    "tokentui, plain Python": ("tokentui", ours_plain),
    "rustbpe": ("rustbpe", rustbpe),
    "tokenizers": ("tokenizers", huggingface),
    "bpeasy": ("bpeasy", bpeasy),
    "sentencepiece": ("sentencepiece", sentencepiece),
    "subword-nmt": ("subword_nmt", subword_nmt),
    "the textbook's loop": ("", textbook),
}
"""By their names in the tables: the package, and what makes the training.

The first is what the others are compared with.
"""
USUAL = ("tokentui", "tokentui, plain Python", "rustbpe", "tokenizers", "bpeasy", "sentencepiece")
SMALL_BYTES = 50_000
SMALL_SIZE = 512
AGAIN = 5


def once(name: str, path: str, vocab_size: int, again: int = 0) -> Figures:
    """Train once in this process, from opening the file to the last merge, imports left out; and so many
    times again."""
    train = TRAINERS[name][1]()
    used, start = cpu(), time.perf_counter()
    tokens = train(Path(path), vocab_size)
    seconds, used = time.perf_counter() - start, cpu() - used
    made, megabytes = [token.hex() for token in tokens()], peak()
    later = []
    for _ in range(again):
        start = time.perf_counter()
        train(Path(path), vocab_size)
        later.append(time.perf_counter() - start)
    later.sort()
    return {
        "seconds": seconds, "cpu": used, "megabytes": megabytes, "tokens": made,
        "again": later[len(later) // 2 :][:1],
    }


def there(names: tuple[str, ...]) -> list[str]:
    """Those of the trainers whose packages are installed."""
    return [name for name in names if not TRAINERS[name][0] or installed(TRAINERS[name][0])]


def table(path: Path, vocab_size: int, repeats: int, names: tuple[str, ...] = USUAL, again: int = 0) -> Table:
    """In-process times."""
    runs = in_turns(
        {
            name: lambda name=name: apart("training", "once", name, str(path), vocab_size, again)
            for name in there(names)
        },  # type: ignore[misc]
        repeats,
    )
    reference = runs["tokentui"]
    rows, figures = [], {}
    for name, found in runs.items():
        tokens, wanted = found[0]["tokens"], reference[0]["tokens"]
        alike = next(
            (n for n, (a, b) in enumerate(zip(tokens, wanted, strict=False)) if a != b),
            min(len(tokens), len(wanted)),
        )
        later = [one for run in found for one in run["again"]]
        rows.append(
            (
                _named(name), *spread([run["seconds"] for run in found]), f"{median(found, 'cpu'):.3f}",
                f"{sorted(later)[len(later) // 2]:.4f}" if later else "", f"{median(found, 'megabytes'):.0f}",
                f"{len(tokens):,}",
                f"{alike:,}"
                if name in ("tokentui", "tokentui, plain Python", "tokenizers", "rustbpe", "bpeasy")
                else "", f"{median(found) / median(reference):.1f}",
            )
        )
        ratio = median(reference) / median(found)
        figures[name] = {
            "seconds": median(found), "alike": alike, "merges": len(tokens), "ratio": ratio,
        }
        if later:
            figures[name]["again"] = sorted(later)[len(later) // 2]
    heads = (
        "trainer", "median s", "least–most", "CPU s", "again s", "peak MB", "merges", "first ones alike",
        "times ours",
    )
    return Table(f"In-process, {megabytes(path)}, {vocab_size:,} ids", heads, rows, figures)


def small_table(path: Path, repeats: int) -> Table:
    """The same on fifty kilobytes, for what would take hours on more."""
    small = path.with_suffix(".50k.txt")
    small.write_bytes(path.read_bytes()[:SMALL_BYTES].rpartition(b"\n")[0] + b"\n")
    try:
        return table(small, SMALL_SIZE, repeats, (*USUAL[:4], "subword-nmt", "the textbook's loop"))
    finally:
        small.unlink()


def program(name: str, path: str, vocab_size: int) -> None:
    """What a script of a few lines does: train, and write what was learned."""
    tokens = TRAINERS[name][1]()(Path(path), vocab_size)()
    with open(os.devnull, "w", encoding="utf-8") as out:
        json.dump([token.hex() for token in tokens], out)


def whole_table(path: Path, vocab_size: int, repeats: int) -> Table:
    """From the start of the process to its exit, the tokenizer written."""
    train = [
        sys.executable, "-m", "tokentui", "train", str(path), "-r", "gpt2", "--vocab-size", str(vocab_size),
        "-q", "-o", "-",
    ]
    train += ["--as", "text"]
    runs: dict[str, Callable[[], Figures]] = {
        "tokentui train": lambda: whole(train),
        "tokentui train, plain Python": lambda: whole(train, TOKENTUI_KERNELS="off"),
    }
    for name in there(USUAL[2:]):
        command = [sys.executable, str(HERE / "training.py"), name, str(path), str(vocab_size)]
        runs[name] = lambda command=command: whole(command)  # type: ignore[misc]
    found = in_turns(runs, repeats)
    reference = found["tokentui train"]
    rows = [
        (_named(name), *spread([run["seconds"] for run in one], digits=2), f"{median(one, 'cpu'):.2f}",
         f"{median(one, 'megabytes'):.0f}", f"{median(one) / median(reference):.2f}")
        for name, one in found.items()
    ]
    figures = {
        name: {
            "ratio": median(reference) / median(one),
            "memory": median(reference, "megabytes") / median(one, "megabytes"),
            "seconds": median(one), "megabytes": median(one, "megabytes"),
        }
        for name, one in found.items()
    }
    heads = ("program", "median s", "least–most", "CPU s", "peak MB", "times ours")
    return Table(f"Whole process, {megabytes(path)}, {vocab_size:,} ids", heads, rows, figures)


def _named(name: str) -> str:
    package = TRAINERS[name][0] if name in TRAINERS else "tokentui"
    return (
        re.sub(re.escape(package.replace("_", "-")), version(package).replace("_", "-"), name, count=1)
        if package
        else name
    )


if __name__ == "__main__":
    program(sys.argv[1], sys.argv[2], int(sys.argv[3]))
