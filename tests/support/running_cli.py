"""Running the program inside the test process, and what one line of error is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from tokentui.cli.main import program
from tokentui.text.corpus import Corpus
from tokentui.text.sources import format_counts


def cli(*words: str, input: bytes | str | None = None) -> Result:
    """Run a line of words."""
    return CliRunner().invoke(program, list(words), input=input)


def done(*words: str, input: bytes | str | None = None) -> str:
    """What a line of words prints that ends well."""
    result = cli(*words, input=input)
    assert result.exit_code == 0, result.output
    return result.stdout_bytes.decode()


def refused(*words: str, input: bytes | str | None = None) -> str:
    """The one line of a line of words that is refused."""
    result = cli(*words, input=input)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("tokentui: ")
    assert result.stderr.endswith("\n")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("tokentui: ").rstrip("\n")


def rows(text: str) -> list[dict[str, Any]]:
    """The rows of JSON lines, without the version of their schema."""
    found = [json.loads(line) for line in text.split("\n") if line]
    return [{name: value for name, value in row.items() if name != "schema"} for row in found]


def corpus_file(corpus: Corpus, folder: Path) -> str:
    """A file that reads as this corpus, whatever its texts hold."""
    if corpus.counts is not None:
        path = folder / "corpus.counts.tsv"
        path.write_bytes(format_counts(corpus.counts).encode())
    else:
        path = folder / "corpus.jsonl"
        path.write_text(
            "".join(json.dumps({"text": text}) + "\n" for text in corpus.documents), encoding="ascii"
        )
    return str(path)
