"""How long texts take by tokenizer files of any kind, beside the libraries that read the same file.

    python benchmarks/files.py gpt2/tokenizer.json llama2/tokenizer.json --text novel.txt

Each file is measured in a process of its own. There the libraries take turns, so that a busy minute of the
machine falls on all of them. The first call of each counts by itself. Processor milliseconds, of all threads.
The extra `[rivals]` has the libraries that encode fast.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from harness import Figures, Table, apart, installed, version

from tokentui import load

Ids = Sequence[int]
Library = tuple[Callable[[str], Ids], Callable[[list[str]], object]]
"""What encodes a text, and what encodes many."""


def _ours(file: str) -> Library:
    tokenizer = load(file)
    return lambda text: tokenizer.encode_ids(text, threads=1), tokenizer.encode_batch


def _gigatoken(file: str) -> Library:
    import gigatoken

    tokenizer = gigatoken.Tokenizer(file)
    return tokenizer.encode, tokenizer.encode_batch


def _fastokens(file: str) -> Library:
    import fastokens

    tokenizer = fastokens.Tokenizer.from_file(file)
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids, tokenizer.encode_batch_flat


def _tokie(file: str) -> Library:
    import tokie

    tokenizer = tokie.Tokenizer.from_json(file)
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids, tokenizer.encode_batch


def _tokenizers(file: str) -> Library:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(file)
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids, tokenizer.encode_batch_fast


LIBRARIES: dict[str, Callable[[str], Library]] = {
    "tokentui": _ours, "gigatoken": _gigatoken, "fastokens": _fastokens, "tokie": _tokie,
    "tokenizers": _tokenizers,
}
_SLOW = "tokenizers"
"""Takes part once, because a call takes seconds."""


def of_file(file: str, path: str, repeats: int) -> Figures:
    """Processor seconds of each library: its first text, the best of later ones, and the best of all lines in
    one call; and whether its ids are ours. A library that does not read the file is left out."""
    text = Path(path).read_text(encoding="utf-8")
    lines, found, rows = text.split("\n"), dict[str, Library](), dict[str, Figures]()
    wanted: list[int] = []
    for name, read in LIBRARIES.items():
        if not installed(name):
            continue
        try:
            found[name] = read(file)
            first, ids = _clocked(lambda name=name: list(found[name][0](text)))  # type: ignore[misc]
        except BaseException as error:  # some libraries panic
            if isinstance(error, KeyboardInterrupt):
                raise
            found.pop(name, None)
            continue
        wanted = wanted or list(ids)
        rows[name] = {"first": first, "again": [], "lines": [], "alike": list(ids) == wanted}
    for turn in range(repeats):
        for name in list(found)[:: -1 if turn % 2 else 1]:
            if name != _SLOW or not turn:
                rows[name]["again"].append(_clocked(lambda name=name: found[name][0](text))[0])  # type: ignore[misc]
                rows[name]["lines"].append(_clocked(lambda name=name: found[name][1](lines))[0])  # type: ignore[misc]
    return {version(name): row for name, row in rows.items()}


def _clocked(work: Callable[[], Any]) -> tuple[float, Any]:
    gc.collect()
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def table(path: Path, files: Sequence[str], repeats: int) -> Table:
    """One row for each file and library."""
    rows = []
    for file in files:
        found = apart("files", "of_file", file, str(path), repeats)
        ours = min(next(iter(found.values()))["again"])
        for name, row in found.items():
            again = min(row["again"])
            rows.append((
                f"{Path(file).parent.name}, {name}", f"{1000 * again:.1f}", f"{again / ours:.1f}",
                f"{1000 * row['first']:.0f}", f"{1000 * min(row['lines']):.0f}",
                "yes" if row["alike"] else "no",
            ))
    heads = ("file, library", "best CPU ms", "times ours", "first", "all lines", "same ids")
    return Table(f"Encoding {path.stat().st_size / 1e6:.1f} MB by files", heads, rows)


PRESETS = ("gpt2", "llama2", "t5", "bert")
"""Presets whose files go through different kernels."""


def write_presets(path: str, folder: str) -> Figures:
    """Train each preset on a text and write its tokenizer.json. Return the paths, by preset."""
    from tokentui import train
    from tokentui.text.corpus import Corpus

    corpus, written = Corpus.from_text(Path(path).read_text(encoding="utf-8")), dict[str, str]()
    for name in PRESETS:
        file = Path(folder, name, "tokenizer.json")
        file.parent.mkdir()
        train(corpus, name, vocab_size=8192).save(file)
        written[name] = str(file)
    return written


def preset_table(path: Path, repeats: int) -> Table:
    """The same by files of presets that are trained on the text."""
    with tempfile.TemporaryDirectory() as folder:
        written = apart("files", "write_presets", str(path), folder)
        return table(path, list(written.values()), repeats)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--repeats", type=int, default=7)
    asked = parser.parse_args()
    print(table(asked.text, asked.files, asked.repeats))


if __name__ == "__main__":
    main()
