"""A corpus of a wanted size out of many texts, none of them twice: `python benchmarks/corpora.py OUT --mb 100
FILES...`.

Folders stand for the files in them. Of HTML and XML only the text is taken (of a TEI file its body), with a
line a block. A text of which a tenth of the sentences stand already in what was taken is left out: a copy
trains on nothing.
"""

from __future__ import annotations

import argparse
import html
import re
import sys
from collections.abc import Iterator
from pathlib import Path

MARKUP = {".html", ".htm", ".xhtml", ".xml"}
REPEATED = 0.1
"""The part of a text's sentences above which it counts as one that was taken before."""

_BODY = re.compile(r"<(body|text)\b.*</\1>", re.DOTALL | re.IGNORECASE)
_UNSEEN = re.compile(r"<!--.*?-->|<(script|style|head|nav|teiHeader)\b.*?</\1>", re.DOTALL | re.IGNORECASE)
_BLOCK = re.compile(
    r"</?(?:p|div|l|lg|br|h\d|head|li|tr|td|dt|dd|pre|note|quote|milestone)\b[^>]*>", re.IGNORECASE
)
_TAG = re.compile(r"<[^>]+>")
_SPACE = re.compile(r"\s+")
_SENTENCE = re.compile(r"[^.!?]{40,}[.!?]")


def files(sources: list[Path]) -> Iterator[Path]:
    """The files that are named, and those of the folders, by name."""
    for source in sources:
        if source.is_dir():
            yield from sorted(path for path in source.rglob("*") if path.is_file())
        else:
            yield source


def text_of(path: Path) -> str:
    """What is to be read in a file, lines ended by a line feed."""
    text = path.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    return plain(text) if path.suffix.lower() in MARKUP else text


def plain(markup: str) -> str:
    """The text of HTML or XML, a line a block."""
    body = _BODY.search(markup)
    blocks = _BLOCK.split(_UNSEEN.sub(" ", body[0] if body else markup))
    lines = (_SPACE.sub(" ", html.unescape(_TAG.sub("", block))).strip() for block in blocks)
    return "\n\n".join(line for line in lines if line) + "\n"


def sentences(text: str) -> set[int]:
    """Its longer sentences, as numbers, whatever the lines that they are broken into."""
    return {hash(_SPACE.sub(" ", sentence).strip()) for sentence in _SENTENCE.findall(text)}


def join(sources: list[Path], wanted: int) -> Iterator[tuple[Path, bytes | None]]:
    """Each file with what is taken of it, None where it is left out, until `wanted` bytes are there."""
    seen: set[int] = set()
    for path in files(sources):
        if wanted <= 0:
            return
        try:
            text = text_of(path)
        except UnicodeDecodeError:
            yield path, None
            continue
        found = sentences(text)
        if not found or len(found & seen) > REPEATED * len(found):
            yield path, None
            continue
        seen |= found
        data = (text.rstrip("\n") + "\n\n").encode()
        if len(data) > wanted:
            data = data[: data.rfind(b"\n", 0, wanted) + 1]
            wanted = 0
        wanted -= len(data)
        yield path, data


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="the corpus that is written")
    parser.add_argument(
        "sources", type=Path, nargs="+", metavar="FILES", help="texts and folders of texts, in UTF-8"
    )
    parser.add_argument(
        "--mb", type=float, default=100, help="its size in millions of bytes (default: %(default)g)"
    )
    words = parser.parse_args()
    for source in words.sources:
        if not source.exists():
            parser.error(f"no such file: {source}")
    if words.mb <= 0:
        parser.error("--mb: more than nothing")
    size = 0
    with words.out.open("wb") as out:
        for path, data in join(words.sources, round(words.mb * 1e6)):
            if data is None:
                print(f"left out: {path}", file=sys.stderr)
            else:
                size += out.write(data)
    print(f"{words.out}: {size:,} bytes")
    if size < 0.99 * words.mb * 1e6:
        raise SystemExit("that is all there is in them")


if __name__ == "__main__":
    main()
