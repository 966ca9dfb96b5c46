"""How long pre-tokenising and counting takes, beside the libraries that people use: `python benchmarks/count.py CORPUS`.

All count the pre-tokens of one text, in one process, in turns. Each gets the text as it likes it best, and that is not timed.
What the others offer is a training: theirs is asked for no merges, so that little else than counting is left.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import machine, pieces

Count = Callable[[], object]


def kernels(path: Path, split: str, threads: int) -> Count:
    """Ours with compiled kernels, up to arrays: what a compiled trainer goes on with."""
    from tokentui import fast

    if not fast.load():
        raise SystemExit("no kernels: install tokentui[fast]")
    from tokentui.fast.counting import count

    text = path.read_text(encoding="utf-8")
    return lambda: count([text], split, threads=threads)


def kernels_to_words(path: Path, split: str) -> Count:
    """The same up to Python's words and numbers."""
    from tokentui.fast.counting import count_words
    from tokentui.recipe import Recipe

    text = path.read_text(encoding="utf-8")
    recipe = Recipe(split=split)
    return lambda: count_words([text], recipe, str.split)


def plain(path: Path, split: str, processes: int) -> Count:
    """Ours without kernels: the patterns, and a Counter."""
    from tokentui.recipe import Recipe
    from tokentui.text.corpus import Corpus
    from tokentui.text.count import count

    corpus, recipe = Corpus.from_text(path.read_text(encoding="utf-8")), Recipe(split=split)
    return lambda: count(corpus, recipe, processes=processes)


def huggingface(path: Path, split: str) -> Count:
    """Hugging Face's tokenizers."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    from tokentui.text.split import SPLITS

    parts = list(pieces(path))
    if split == "gpt2":
        pre_tokenizer: Any = pre_tokenizers.ByteLevel(add_prefix_space=False)
    else:
        words = SPLITS[split].pattern.replace("}+", "}")  # possessive for `regex`, a repetition of repetitions for Oniguruma
        pattern = pre_tokenizers.Split(Regex(words), "isolated")
        pre_tokenizer = pre_tokenizers.Sequence([pattern, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])

    def count() -> None:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizer
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        tokenizer.train_from_iterator(
            parts, trainers.BpeTrainer(vocab_size=256, min_frequency=0, show_progress=False, initial_alphabet=alphabet)
        )

    return count


def rustbpe(path: Path, split: str) -> Count:
    """The trainer of nanochat."""
    import rustbpe as module

    from tokentui.text.split import SPLITS

    parts, pattern = list(pieces(path)), SPLITS[split].pattern
    return lambda: module.Tokenizer().train_from_iterator(parts, 256, pattern=pattern)


def counters(path: Path, split: str, threads: int) -> dict[str, Count]:
    """What is timed, by its name in the table; the first is what the others are compared with."""
    found: dict[str, Count] = {
        f"kernels, {threads} threads": kernels(path, split, threads),
        "kernels, 1 thread": kernels(path, split, 1),
        "kernels, to words": kernels_to_words(path, split),
        "plain, 1 process": plain(path, split, 1),
        "plain, 2 processes": plain(path, split, 2),
    }
    if split not in ("whitespace", "bert"):
        found |= {
            name: make(path, split)
            for name, make in {"tokenizers": huggingface, "rustbpe": rustbpe}.items() if importlib.util.find_spec(name)
        }
    return found


def measure(counters: dict[str, Count], repeats: int) -> dict[str, list[tuple[float, float]]]:
    """Wall and processor seconds of each in turns, after a first time that does not count."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in counters}
    for turn in range(repeats + 1):
        for name, count in counters.items():
            cpu, wall = _cpu(), time.perf_counter()
            count()
            if turn:
                times[name].append((time.perf_counter() - wall, _cpu() - cpu))
    return times


def _cpu() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def report(path: Path, split: str, threads: int, repeats: int) -> dict[str, Any]:
    """The figures of one split."""
    megabytes = path.stat().st_size / 1e6
    rows: list[dict[str, Any]] = []
    for name, times in measure(counters(path, split, threads), repeats).items():
        walls = [wall for wall, _ in times]
        median = statistics.median(walls)
        rows.append({
            "counter": name, "seconds": median, "least": min(walls), "most": max(walls),
            "cpu": statistics.median(cpu for _, cpu in times), "mb_per_second": megabytes / median,
            "ratio": median / rows[0]["seconds"] if rows else 1.0,
        })
    return {"split": split, "bytes": path.stat().st_size, "repeats": repeats, "counters": rows}


def table(found: dict[str, Any]) -> str:
    """The report for people."""
    lines = [
        f"\n{found['split']}: {found['bytes'] / 1e6:,.1f} MB, {found['repeats']} runs each, in turns; wall seconds\n",
        "| counter | median | least to most | CPU | MB/s | times ours |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {row['counter']} | {row['seconds']:.4f} | {row['least']:.4f} to {row['most']:.4f} | {row['cpu']:.3f} "
        f"| {row['mb_per_second']:.0f} | {row['ratio']:.2f} |"
        for row in found["counters"]
    ]
    return "\n".join(lines)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, help="a text file")
    parser.add_argument("--split", action="append", help="which split, as often as you like (default: gpt2, cl100k, o200k)")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (default: %(default)s)")
    two = min(2, os.cpu_count() or 1)
    parser.add_argument("--threads", type=int, default=two, help="of the first row (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    words = parser.parse_args()
    if not words.corpus.is_file():
        parser.error(f"no such file: {words.corpus}")
    if words.repeats < 1 or words.threads < 1:
        parser.error("at least 1 run and 1 thread")
    found = [report(words.corpus, split, words.threads, words.repeats) for split in words.split or ["gpt2", "cl100k", "o200k"]]
    if words.json:
        print(json.dumps({"machine": machine(), "splits": found}, indent=1))
        return
    on = machine()
    print(f"{on['processor']}, {on['cores']} cores, {on['system']}, {on['python']}")
    for one in found:
        print(table(one))


if __name__ == "__main__":
    main()
