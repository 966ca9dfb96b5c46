"""How long training takes, beside the trainers that people use: `python benchmarks/train.py CORPUS`.

Every trainer learns byte-level BPE on GPT-2's pattern from the same file. They run in turns, each time in a process of its own,
and the clock runs inside it: from opening the file to the last merge, imports left out.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
PART = 1 << 16
CUT = re.compile(r"[A-Za-z](?= [A-Za-z])")

Tokens = Callable[[], list[bytes]]
"""Gives the tokens that a training made, in order; asked after the clock has stopped."""
Training = Callable[[Path, int], Tokens]
"""Trains on a file, up to so many ids."""


def pieces(path: Path) -> Iterator[str]:
    """The text of a file in pieces of about 64 KB, cut where a pre-token ends: what the others take best."""
    text = path.read_text(encoding="utf-8")
    start = 0
    while start < len(text):
        cut = CUT.search(text, start + PART)
        end = cut.end() if cut else len(text)
        yield text[start:end]
        start = end


def ours() -> Training:
    """This project by its public face, with compiled kernels, which are loaded and have run once, as a session's have."""
    return _ours("compiled")


def ours_plain() -> Training:
    """The same in plain Python, counting in two processes where the file is large."""
    return _ours("plain")


def _ours(engine: str) -> Training:
    import tokentui
    from tokentui import fast

    os.environ[fast.ENGINE] = engine
    trainer, read, recipe = tokentui.Trainer, tokentui.read, tokentui.preset("gpt2")
    trainer(tokentui.Corpus.from_text("a few words"), recipe).run()

    def train(path: Path, vocab_size: int) -> Tokens:
        run = trainer(read(path, as_="text"), recipe)
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
            vocab_size=vocab_size, min_frequency=0, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
        )
        tokenizer.train_from_iterator(pieces(path), trainer)

        def tokens() -> list[bytes]:
            from tokentui.learn.bases import byte_order_of_gpt2

            byte_of = {chr(byte) if n < 188 else chr(256 + n - 188): byte for n, byte in enumerate(byte_order_of_gpt2())}
            merges = json.loads(tokenizer.to_str())["model"]["merges"]
            return [bytes(byte_of[letter] for letter in left + right) for left, right in merges]

        return tokens

    return train


def rustbpe() -> Training:
    """The trainer of nanochat. Of equal pairs it takes others, because its ids begin with the bytes in order of value."""
    import rustbpe as module

    def train(path: Path, vocab_size: int) -> Tokens:
        tokenizer = module.Tokenizer()
        tokenizer.train_from_iterator(pieces(path), vocab_size, pattern=GPT2)
        return lambda: [bytes(token) for token, _ in tokenizer.get_mergeable_ranks()[256:]]

    return train


TRAINERS: dict[str, Callable[[], Training]] = {
    "tokentui": ours, "tokentui-plain": ours_plain, "tokenizers": huggingface, "rustbpe": rustbpe,
}
"""By the name of the package; the first is what the others are compared with."""


def measure(name: str, path: Path, vocab_size: int) -> dict[str, Any]:
    """Train once in this process. Seconds of the wall and of all processors, megabytes of the largest process."""
    train = TRAINERS[name]()
    cpu, wall = _cpu(), time.perf_counter()
    tokens = train(path, vocab_size)
    seconds, cpu_seconds = time.perf_counter() - wall, _cpu() - cpu
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    megabytes = peak / (1e6 if sys.platform == "darwin" else 1e3)
    return {"seconds": seconds, "cpu": cpu_seconds, "megabytes": megabytes, "tokens": [token.hex() for token in tokens()]}


def _cpu() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def measure_apart(name: str, path: Path, vocab_size: int) -> dict[str, Any]:
    """Train once in a fresh process."""
    words = [sys.executable, __file__, str(path), "--vocab-size", str(vocab_size), "--one", name]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} failed")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def machine() -> dict[str, Any]:
    """What it runs on."""
    model = platform.processor() or platform.machine()
    with_names = Path("/proc/cpuinfo")
    if with_names.is_file():
        names = re.findall(r"^model name\s*: (.+)$", with_names.read_text(), re.MULTILINE)
        model = names[0] if names else model
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return {"processor": model, "cores": os.cpu_count(), "system": platform.system(), "python": python}


def summary(name: str, runs: list[dict[str, Any]], reference: list[dict[str, Any]]) -> dict[str, Any]:
    """The runs of one trainer in figures, beside those of this project."""
    seconds = [run["seconds"] for run in runs]
    tokens, wanted = runs[0]["tokens"], reference[0]["tokens"]
    alike = next((n for n, (a, b) in enumerate(zip(tokens, wanted, strict=False)) if a != b), min(len(tokens), len(wanted)))
    median = statistics.median(seconds)
    return {
        "trainer": name,
        "version": _version(name),
        "seconds": median,
        "least": min(seconds),
        "most": max(seconds),
        "cpu": statistics.median(run["cpu"] for run in runs),
        "megabytes": statistics.median(run["megabytes"] for run in runs),
        "merges": len(tokens),
        "alike": alike,
        "ratio": median / statistics.median(run["seconds"] for run in reference),
    }


def _version(name: str) -> str:
    if name.startswith("tokentui"):
        import tokentui

        return tokentui.__version__
    return importlib.metadata.version(name)


def table(report: dict[str, Any]) -> str:
    """The report for people."""
    on = report["machine"]
    lines = [
        f"{report['bytes'] / 1e6:,.1f} MB, {report['vocab_size']:,} ids, {report['repeats']} runs each, in turns; wall seconds",
        f"{on['processor']}, {on['cores']} cores, {on['system']}, {on['python']}",
        "",
        "| trainer | median | least to most | CPU | peak MB | merges | first ones alike | times ours |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {row['trainer']} {row['version']} | {row['seconds']:.3f} | {row['least']:.3f} to {row['most']:.3f} "
        f"| {row['cpu']:.2f} | {row['megabytes']:.0f} | {row['merges']:,} | {row['alike']:,} | {row['ratio']:.2f} |"
        for row in report["trainers"]
    ]
    return "\n".join(lines)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, help="a text file")
    parser.add_argument("--vocab-size", type=int, default=32_768, help="ids in all (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each trainer (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--one", choices=TRAINERS, help=argparse.SUPPRESS)
    words = parser.parse_args()
    if not words.corpus.is_file():
        parser.error(f"no such file: {words.corpus}")
    if words.repeats < 1 or words.vocab_size < 256:
        parser.error("at least 1 run and 256 ids")
    if words.one:
        print(json.dumps(measure(words.one, words.corpus, words.vocab_size)))
        return
    sys.path.insert(0, str(ROOT))
    names = [name for name in TRAINERS if importlib.util.find_spec(name.partition("-")[0])]
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for _ in range(words.repeats):
        for name in names:
            runs[name].append(measure_apart(name, words.corpus, words.vocab_size))
    report = {
        "corpus": words.corpus.name,
        "bytes": words.corpus.stat().st_size,
        "vocab_size": words.vocab_size,
        "repeats": words.repeats,
        "machine": machine(),
        "trainers": [summary(name, runs[name], runs["tokentui"]) for name in names],
    }
    print(json.dumps(report, indent=1) if words.json else table(report))


if __name__ == "__main__":
    main()
