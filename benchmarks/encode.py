"""How long encoding takes, beside the libraries that people use: `python benchmarks/encode.py CORPUS`.

First ids alone, of the whole text by one vocabulary: that of a rank file, or one that is trained here. All get the same ranks and
the same pattern, and what they return is compared. "new" is a tokenizer that has not seen a word yet. Then typed text: what a key
costs in a text of some length, tokens with their places.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import machine, pieces

from tokentui import Tokenizer, fast, train
from tokentui.encode import Typed
from tokentui.formats import load
from tokentui.snapshot import EncodedToken
from tokentui.text.corpus import Corpus
from tokentui.text.split import SPLITS

Encode = Callable[[], Sequence[int]]
KEYS = 200


def ours(tokenizer: Tokenizer, text: str, threads: int, known: bool) -> Encode:
    """Ours with kernels: with the words of the times before, or with none."""

    def encode() -> Sequence[int]:
        compiled = tokenizer._id_encoder._compiled
        if compiled is not None and not known:
            compiled._idle.clear()
        return tokenizer.encode_ids(text, threads=threads)

    return encode


def tiktoken(tokenizer: Tokenizer, text: str, path: Path, threads: int) -> Encode:
    """OpenAI's library; with several threads, parts of the text."""
    import tiktoken as module

    ranks = {entry.piece: entry.id for entry in tokenizer.entries() if entry.kind != "special"}
    pattern = SPLITS[tokenizer.recipe.split].pattern
    encoding = module.Encoding("one", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    if threads == 1:
        return lambda: encoding.encode_ordinary(text)
    parts = list(pieces(path))
    return lambda: [number for ids in encoding.encode_ordinary_batch(parts, num_threads=threads) for number in ids]


def huggingface(tokenizer: Tokenizer, path: Path, text: str) -> Encode:
    """Hugging Face's tokenizers on pieces of the text, which is their good case."""
    from tokenizers import Regex, models, pre_tokenizers
    from tokenizers import Tokenizer as Theirs

    from tokentui.formats.letters import LETTERS

    def name(piece: bytes) -> str:
        return "".join(LETTERS[value] for value in piece)

    spelled = tokenizer.vocabulary.pieces
    vocabulary = {name(entry.piece): entry.id for entry in tokenizer.entries() if entry.kind != "special"}
    rows = [(name(spelled[left]), name(spelled[right])) for left, right in tokenizer.vocabulary.merges[: tokenizer.merges]]
    theirs = Theirs(models.BPE(vocabulary, rows, ignore_merges=True))
    pattern = pre_tokenizers.Split(Regex(SPLITS[tokenizer.recipe.split].pattern.replace("}+", "}")), "isolated")
    theirs.pre_tokenizer = pre_tokenizers.Sequence([pattern, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    parts = list(pieces(path))
    return lambda: [number for one in theirs.encode_batch_fast(parts) for number in one.ids]


def encoders(tokenizer: Tokenizer, path: Path, text: str, threads: int) -> dict[str, Encode]:
    """What is timed, by its name in the table; the first is what the others are compared with."""
    found: dict[str, Encode] = {
        "kernels, 1 thread": ours(tokenizer, text, 1, True),
        "kernels, 1 thread, new": ours(tokenizer, text, 1, False),
        f"kernels, {threads} threads": ours(tokenizer, text, threads, True),
        f"kernels, {threads} threads, new": ours(tokenizer, text, threads, False),
    }
    if importlib.util.find_spec("tiktoken"):
        found["tiktoken, 1 thread"] = tiktoken(tokenizer, text, path, 1)
        found[f"tiktoken, {threads} threads"] = tiktoken(tokenizer, text, path, threads)
    if importlib.util.find_spec("tokenizers"):
        found["tokenizers, all threads"] = huggingface(tokenizer, path, text)
    return found


def measure(
    encoders: dict[str, Encode], repeats: int
) -> tuple[dict[str, list[tuple[float, float]]], dict[str, Sequence[int]]]:
    """Wall and processor seconds of each in turns, after a first time that does not count, and what came out."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in encoders}
    results: dict[str, Sequence[int]] = {}
    for turn in range(repeats + 1):
        for name, encode in encoders.items():
            gc.collect()
            cpu, wall = time.process_time(), time.perf_counter()
            results[name] = encode()
            if turn:
                times[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    return times, results


def bulk(tokenizer: Tokenizer, path: Path, text: str, threads: int, repeats: int) -> list[dict[str, Any]]:
    """The rows of the first table."""
    megabytes = len(text.encode()) / 1e6
    times, results = measure(encoders(tokenizer, path, text, threads), repeats)
    wanted = list(next(iter(results.values())))
    rows: list[dict[str, Any]] = []
    for name, seconds in times.items():
        walls = [wall for wall, _ in seconds]
        median, ids = statistics.median(walls), list(results[name])
        rows.append({
            "encoder": name, "seconds": median, "least": min(walls), "most": max(walls),
            "cpu": statistics.median(cpu for _, cpu in seconds), "mb_per_second": megabytes / median,
            "ratio": median / rows[0]["seconds"] if rows else 1.0, "ids": len(ids), "alike": ids == wanted,
        })
    return rows


def typing(tokenizer: Tokenizer, text: str, chars: int) -> list[dict[str, Any]]:
    """Milliseconds a key by the place that is typed at, with the collector off as a session has it."""
    text = text[len(text) // 2 :][:chars]
    gc.collect()
    gc.disable()
    rows = []
    for place, at in {"end": len(text), "middle": len(text) // 2, "start": 0}.items():
        typed = Typed(EncodedToken)
        times = []
        for key in range(KEYS + 1):
            now = text[:at] + ("a few words more, and then some. " * KEYS)[:key] + text[at:]
            start = time.perf_counter()
            tokens = typed.encode(tokenizer.vocabulary, tokenizer.merges, now)
            times.append((time.perf_counter() - start) * 1000)
        first, *keys = times
        rows.append({
            "place": place, "tokens": len(tokens), "first": first, "median": statistics.median(keys),
            "p99": statistics.quantiles(keys, n=100)[98], "most": max(keys),
        })
    gc.enable()
    return rows


def report(found: dict[str, Any]) -> str:
    """The figures for people."""
    what = f"{found['split']}, {found['vocab_size']:,} ids: {found['bytes'] / 1e6:,.1f} MB"
    lines = [
        f"\n{what}, {found['repeats']} runs each, in turns; wall seconds; "
        f"the tables of the vocabulary take {found['tables']:.2f} s, once\n",
        "| encoder | median | least to most | CPU | MB/s | times ours | ids | alike |",
        "|---|--:|--:|--:|--:|--:|--:|---|",
    ]
    lines += [
        f"| {row['encoder']} | {row['seconds']:.4f} | {row['least']:.4f} to {row['most']:.4f} | {row['cpu']:.4f} "
        f"| {row['mb_per_second']:.0f} | {row['ratio']:.2f} | {row['ids']:,} | {'yes' if row['alike'] else 'no'} |"
        for row in found["bulk"]
    ]
    lines += [
        f"\ntyping in a text of {found['chars']:,} characters, {KEYS} keys; milliseconds\n",
        "| at its | tokens | whole text | key, median | p99 | most |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {row['place']} | {row['tokens']:,} | {row['first']:.1f} | {row['median']:.3f} | {row['p99']:.3f} "
        f"| {row['most']:.3f} |"
        for row in found["typing"]
    ]
    return "\n".join(lines)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, help="a text file")
    parser.add_argument("-t", "--tokenizer", help="a rank file or a tokenizer of bytes (default: gpt2, trained here)")
    parser.add_argument("--vocab-size", type=int, default=32768, help="of what is trained (default: %(default)s)")
    parser.add_argument("--chars", type=int, default=10_000, help="of the typed text (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="of the rows with several (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    words = parser.parse_args()
    if not words.corpus.is_file():
        parser.error(f"no such file: {words.corpus}")
    if min(words.repeats, words.threads, words.chars) < 1:
        parser.error("at least 1 run, thread and character")
    if not fast.load():
        raise SystemExit("no kernels: install tokentui[fast]")
    text = words.corpus.read_text(encoding="utf-8")
    if words.tokenizer:
        tokenizer = load(words.tokenizer)
    else:
        tokenizer = train(Corpus.from_text(text), "gpt2", vocab_size=words.vocab_size)
    start = time.perf_counter()
    tokenizer.encode_ids(text[:5000])
    found = {
        "machine": machine(), "split": tokenizer.recipe.split, "vocab_size": tokenizer.vocab_size,
        "bytes": words.corpus.stat().st_size, "tables": time.perf_counter() - start, "repeats": words.repeats,
        "chars": words.chars, "bulk": bulk(tokenizer, words.corpus, text, words.threads, words.repeats),
        "typing": typing(tokenizer, text, words.chars),
    }
    if words.json:
        print(json.dumps(found, indent=1))
        return
    on = machine()
    print(f"{on['processor']}, {on['cores']} cores, {on['system']}, {on['python']}")
    print(report(found))


if __name__ == "__main__":
    main()
