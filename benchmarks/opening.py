"""How long opening a tokenizer file takes, and how much memory: `python benchmarks/opening.py FILE...`.

Each time is a fresh process. The clock starts before the file is opened and stops when the tokenizer is
there; "first" is its first encoding of a word, "ids" the encoding of a text of some length by ids alone,
after a first time of it. `run.py` has `table`: a corpus opened in a session, and a long tokenizer.json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from harness import Figures, Table, apart, in_turns, median, megabytes, peak, spread

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

TOKENS, MERGES = 262_144, 515_000
"""As many as Gemma 3 has."""
LINES = 1_000_000


def write_long(path: str) -> Figures:
    """Write a tokenizer.json of about 33 MB as Gemma's is: ▁ for spaces, bytes for what is unknown, and each
    token made of its parts in two ways. A process of its own does it: its memory would count."""
    dice = random.Random(5)
    letters = [chr(0xAC00 + n) for n in range(200)] + 8 * list("▁etaoinshrdlucmfwypvbgkjqxz")
    tokens = ["<pad>", "<eos>", "<bos>", "<unk>", *(f"<0x{n:02X}>" for n in range(256))]
    tokens += sorted(set(letters))
    known, made, merges = set(tokens), list(letters), list[tuple[str, str]]()
    while len(tokens) < TOKENS:
        left, right = dice.choice(made), dice.choice(letters)
        if len(left) < 10 and left + right not in known:
            known.add(left + right)
            made.append(left + right)
            tokens.append(left + right)
            merges.append((left, right))
    while len(merges) < MERGES:
        token = dice.choice(made)
        at = dice.randrange(1, len(token) + 1)
        if token[:at] in known and token[at:] in known:
            merges.append((token[:at], token[at:]))
    model = {
        "type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True,
        "vocab": {name: n for n, name in enumerate(tokens)}, "merges": merges,
    }
    document = {
        "version": "1.0", "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        "pre_tokenizer": None, "model": model,
    }
    Path(path).write_text(json.dumps(document, ensure_ascii=False, indent=2), encoding="utf-8")
    return {}


def lines(path: str) -> Figures:
    """Seconds from the command to the first snapshot with text of a long corpus, in a session."""
    from live import LOOK, Watched

    from tokentui.session import commands as do

    async def opened() -> list[float]:
        watched = Watched("gpt2")
        await watched.session.start()
        await watched.session.send(do.SetViewport(LOOK))
        times, _ = await watched.after(
            do.Open((path,), as_="lines"),
            lambda now: bool(now.main.corpus.parts and not now.corpus.nothing_open),
        )
        await watched.session.close()
        return times

    return {"seconds": asyncio.run(opened())[0]}


def write_lines(path: str) -> Figures:
    """Write a million lines of a few words."""
    dice = random.Random(9)
    words = ["".join(dice.choices("etaoinshrdlu", k=dice.randrange(2, 9))) for _ in range(5000)]
    with Path(path).open("w", encoding="utf-8") as file:
        for _ in range(LINES):
            file.write(" ".join(dice.choices(words, k=4)) + "\n")
    return {}


def corpus(path: str) -> Figures:
    """Seconds from the command to the snapshot with first pairs and to that with exact ones, in a session."""
    from live import LOOK, Watched, shows, whole

    from tokentui.session import commands as do

    async def opened() -> list[float]:
        watched = Watched("gpt2")
        await watched.session.start()
        await watched.session.send(do.SetViewport(LOOK))
        times, _ = await watched.after(
            do.Open((path,)), *(lambda now, seen=seen: seen(now) and not now.corpus.nothing_open  # type: ignore[misc]
                                for seen in (shows, whole)))
        await watched.session.close()
        return times

    first, exact = asyncio.run(opened())
    return {"first": first, "seconds": exact}


def table(path: Path, repeats: int) -> Table:
    """A corpus of about a megabyte, with kernels and in plain Python, and a tokenizer.json of 33 MB."""
    with tempfile.TemporaryDirectory() as folder:
        long, many = Path(folder) / "tokenizer.json", Path(folder) / "lines.txt"
        apart("opening", "write_long", str(long))
        apart("opening", "write_lines", str(many))
        text = f"{LINES:,} lines of {megabytes(many)}, each a document, to the first text"
        corpus_, file = f"a corpus of {megabytes(path)}", f"a tokenizer.json of {megabytes(long)}"
        plain = f"{corpus_}, plain Python"
        runs = in_turns({
            corpus_: lambda: apart("opening", "corpus", str(path)),
            plain: lambda: apart("opening", "corpus", str(path), TOKENTUI_KERNELS="off"),
            text: lambda: apart("opening", "lines", str(many)),
            file: lambda: apart("opening", "once", str(long), "", ""),
        }, repeats)
    rows = []
    for name, found in runs.items():
        first = f"{1000 * median(found, 'first'):,.0f}" if "first" in found[0] else ""
        peak = f"{median(found, 'megabytes'):,.0f}" if name == file else ""
        rows.append((name, "" if peak else first, *spread([run["seconds"] for run in found], 1000, 0), peak))
    figures = {
        "corpus": median(runs[corpus_]), "file": median(runs[file]), "lines": median(runs[text]),
        "megabytes": median(runs[file], "megabytes"),
    }
    heads = ("what is opened", "first pairs, ms", "all of it, ms", "least–most", "peak MB")
    return Table(f"Opening, {megabytes(path)}", heads, rows, figures)


def once(path: str, split: str, text: str) -> dict[str, Any]:
    """What is measured in a process of its own."""
    from tokentui.core.errors import TokentuiError
    from tokentui.formats.files import load

    begin, cpu = time.perf_counter(), time.process_time()
    try:
        tokenizer = load(path, split)
    except TokentuiError as error:
        return {"error": str(error)}
    opened, spent = time.perf_counter() - begin, time.process_time() - cpu
    memory = peak()
    begin = time.perf_counter()
    tokenizer.encode("opening")
    first = time.perf_counter() - begin
    row = {
        "seconds": opened, "cpu": spent, "megabytes": memory, "first": first, "ids": None,
        "ids_of_text": None, "vocab_size": tokenizer.vocab_size, "merges": tokenizer.merges,
    }
    if text:
        tokenizer.encode_ids(text)
        begin = time.perf_counter()
        row["ids_of_text"] = len(tokenizer.encode_ids(text))
        row["ids"] = time.perf_counter() - begin
    return row


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", help="tokenizer files of any format")
    parser.add_argument("--split", default="", help="the split of files that hold none (rank files)")
    parser.add_argument("--text", type=Path, help="a text to encode")
    parser.add_argument(
        "--repeats", type=int, default=3, help="processes for each file (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    words = parser.parse_args()
    if words.once:
        text = words.text.read_text(encoding="utf-8") if words.text else ""
        print(json.dumps(once(words.files[0], words.split, text)))
        return
    rows = []
    for path in words.files:
        command = [sys.executable, __file__, "--once", "--split", words.split, path]
        command += ["--text", str(words.text)] if words.text else []
        runs = [
            json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            for _ in range(max(1, words.repeats))
        ]
        size = os.path.getsize(path)
        if "error" in runs[0]:
            rows.append({"file": path, "bytes": size} | runs[0])
            continue
        middle = {
            name: statistics.median(run[name] for run in runs)
            for name in ("seconds", "cpu", "megabytes", "first")
        }
        rows.append(runs[0] | {"file": path, "bytes": size} | middle)
    if words.json:
        print(json.dumps(rows, indent=1))
        return
    print("| file | MB | ids | merges | open, s | CPU, s | peak MB | first, ms | ids of the text, s |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for row in rows:
        name = "/".join(Path(row["file"]).parts[-2:])
        if "error" in row:
            print(f"| {name} | {row['bytes'] / 1e6:.1f} | {row['error']} |")
            continue
        ids = "" if row["ids"] is None else f"{row['ids']:.2f}"
        print(
            f"| {name} | {row['bytes'] / 1e6:.1f} | {row['vocab_size']:,} | {row['merges']:,} | "
            f"{row['seconds']:.2f} "
            f"| {row['cpu']:.2f} | {row['megabytes']:.0f} | {1000 * row['first']:.1f} | {ids} |"
        )


if __name__ == "__main__":
    main()
