"""How long texts take by tokenizer files of any kind, compared with the libraries that read the same file.

    python benchmarks/files.py gpt2/tokenizer.json llama2/tokenizer.json --text novel.txt

Each library reads each file in processes of its own, in turns. Processor milliseconds, of all threads. The
extra `[rivals]` has the libraries that encode fast.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness import (
    Figures,
    Table,
    apart,
    in_turns,
    installed,
    median,
    peak,
    processor_seconds,
    tiktoken_of,
    version,
)

Ids = Sequence[int]


class Library(NamedTuple):
    """A file that a library has read.

    Attributes:
        encode: Returns the ids of a text.
        batch: Encodes many texts.
        decode: Returns the text of ids.
        calls: How often each is called.
    """

    encode: Callable[[str], Ids]
    batch: Callable[[list[str]], object]
    decode: Callable[[Any], str]
    calls: int = 7


def _ours(file: str) -> Library:
    from tokentui import load

    tokenizer = load(file)
    return Library(
        lambda text: tokenizer.encode_ids(text, threads=1), tokenizer.encode_batch, tokenizer.decode
    )


def _gigatoken(file: str) -> Library:
    import gigatoken

    tokenizer = gigatoken.Tokenizer(file)
    return Library(
        lambda text: tokenizer.encode(text), tokenizer.encode_batch,
        lambda ids: tokenizer.decode(ids).decode("utf-8", "replace"),
    )


def _fastokens(file: str) -> Library:
    import fastokens

    tokenizer = fastokens.Tokenizer.from_file(file)
    return Library(
        lambda text: tokenizer.encode(text, add_special_tokens=False).ids, tokenizer.encode_batch_flat,
        lambda ids: tokenizer.decode(ids, skip_special_tokens=False),
    )


def _tokie(file: str) -> Library:
    import tokie

    tokenizer = tokie.Tokenizer.from_json(file)
    return Library(
        lambda text: tokenizer.encode(text, add_special_tokens=False).ids, tokenizer.encode_batch,
        tokenizer.decode,
    )


def _tiktoken(file: str) -> Library:
    """Raises `KeyError` for a file that is none of bytes."""
    from tokentui import load

    tokenizer = load(file)
    if tokenizer.recipe.unit != "byte" or not tokenizer.vocabulary.merges:
        raise KeyError("no merges of bytes")
    one = tiktoken_of(tokenizer)
    return Library(one.encode_ordinary, one.encode_ordinary_batch, one.decode, 3)


def _tokenizers(file: str) -> Library:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(file)
    return Library(
        lambda text: tokenizer.encode(text, add_special_tokens=False).ids, tokenizer.encode_batch_fast,
        lambda ids: tokenizer.decode(ids, skip_special_tokens=False), 2,
    )


LIBRARIES: dict[str, Callable[[str], Library]] = {
    "tokentui": _ours, "gigatoken": _gigatoken, "fastokens": _fastokens, "tokie": _tokie,
    "tiktoken": _tiktoken, "tokenizers": _tokenizers,
}
LINE = "The quick brown fox jumps over the lazy dog, and then it sleeps."
"""A line whose time in a warm process is measured."""
_LINES = 2000
_READ_BY_US = "tiktoken"
"""Reads no tokenizer.json: tokentui reads it, so its time and memory say nothing."""


def of_library(file: str, path: str, chars: int, name: str) -> Figures:
    """Return processor seconds of a library with a file: reading it, the first text, the best of later ones,
    all lines in one call, one line, ids as a list and as an array back to text; the megabytes of the process
    after the text; and a digest of the ids. What a library cannot do is left out.

    Args:
        file: The tokenizer file.
        path: The text.
        chars: How many of its characters count.
        name: The library, one of `LIBRARIES`.

    Raises:
        RuntimeError: The library does not read the file.
    """
    text = Path(path).read_text(encoding="utf-8")[:chars]
    lines = text.split("\n")
    found: Figures = {}
    try:
        found["load"], library = processor_seconds(lambda: LIBRARIES[name](file))
        found["first"], ids = processor_seconds(lambda: library.encode(text))
    except BaseException as error:  # some libraries panic
        if isinstance(error, KeyboardInterrupt):
            raise
        raise RuntimeError(f"{name} does not read {file}: {error}") from None
    calls = range(library.calls)
    found["again"] = min(processor_seconds(lambda: library.encode(text))[0] for _ in calls)
    found["megabytes"] = peak()
    numbers = array("i", list(ids))
    found["digest"] = hashlib.sha256(numbers.tobytes()).hexdigest()
    found["lines"] = min(processor_seconds(lambda: library.batch(lines))[0] for _ in calls)
    found["line"] = min(processor_seconds(lambda: _each(library.encode))[0] for _ in calls) / _LINES
    for kind, given in (("decode", numbers.tolist()), ("decode array", numbers)):
        try:
            found[kind] = min(processor_seconds(lambda given=given: library.decode(given))[0] for _ in calls)  # type: ignore[misc]
        except Exception:
            continue
    return {key: value for key, value in found.items() if name != _READ_BY_US or key not in _READING}


def _each(encode: Callable[[str], Ids]) -> None:
    for _ in range(_LINES):
        encode(LINE)


_READING = ("load", "megabytes")
REPEATS = 3
"""Runs of each library with each file, if not said otherwise."""
CHARS = 2_000_000
"""Characters of a corpus that are encoded."""
_COLUMNS = {
    "load": ("load", 1e3, 0), "first": ("first", 1e3, 0), "again": ("again", 1e3, 1),
    "lines": ("all lines", 1e3, 0), "line": ("a line, µs", 1e6, 1), "decode": ("list to text", 1e3, 1),
    "decode array": ("array to text", 1e3, 1), "megabytes": ("peak MB", 1, 0),
}


def table(path: Path, files: Sequence[str], repeats: int) -> Table:
    """One row for each file and library."""
    rows: list[Sequence[str]] = []
    text = path.read_text(encoding="utf-8")[:CHARS]
    size = f"{len(text.encode()) / 1e6:.1f} MB"
    figures: Figures = {"size": size, "lines": f"{text.count(chr(10)) + 1:,} texts", "kinds": {}}
    for file in files:
        runs = in_turns(
            {
                name: lambda name=name, file=file: apart("files", "of_library", file, str(path), CHARS, name)  # type: ignore[misc]
                for name in LIBRARIES if installed(name)
            },
            repeats,
        )
        kind, digest = Path(file).parent.name, runs["tokentui"][0]["digest"]
        for name, own in runs.items():
            if not own:
                continue
            found = {column: median(own, column) for column in _COLUMNS if column in own[0]}
            alike = own[0]["digest"] == digest
            figures["kinds"].setdefault(kind, {})[name] = {**found, "alike": alike}
            rows.append((
                f"{kind}, {version(name)}",
                *(
                    f"{found[column] * unit:,.{digits}f}" if column in found else ""
                    for column, (_, unit, digits) in _COLUMNS.items()
                ),
                "yes" if alike else "no",
            ))
    heads = ("file, library", *(head for head, _, _ in _COLUMNS.values()), "same ids")
    return Table(f"Tokenizer files, {size}, CPU milliseconds", heads, rows, figures)


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
    parser.add_argument("--repeats", type=int, default=REPEATS)
    asked = parser.parse_args()
    print(table(asked.text, asked.files, asked.repeats))


if __name__ == "__main__":
    main()
