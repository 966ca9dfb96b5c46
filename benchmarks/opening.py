"""How long opening a tokenizer file takes, and how much memory: `python benchmarks/opening.py FILE...`.

Each time is a fresh process. The clock starts before the file is opened and stops when the tokenizer is
there; "first" is its first encoding of a word, "ids" the encoding of a text of some length by ids alone,
after a first time of it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


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
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
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
