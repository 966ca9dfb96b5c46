"""The ways to read a file, apart from the reading: the words of a command are known before anything is read."""

from __future__ import annotations

READ_AS = {
    "text": "a document a file",
    "lines": "a document a line, line ends left out",
    "jsonl": "a document a row of JSON",
    "counts": "a word a row, with its count",
}
"""By their names."""
