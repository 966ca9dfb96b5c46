"""The answer of `tokentui inspect --glitch`."""

from __future__ import annotations

from tokentui.analyze.glitches import glitches, report
from tokentui.cli import output
from tokentui.cli.options import Given
from tokentui.encode.tokenizer import Tokenizer


def print_glitches(given: Given, tokenizer: Tokenizer) -> int:
    """Print the glitch tokens of a tokenizer; those that a corpus swallows too where one is named. Returns
    the exit code."""
    with output.working(given.quiet) as bar:
        corpus = given.corpus(bar) if given.sources else None
        with bar.of("looking at tokens"):
            found = glitches(tokenizer, corpus)
    output.write_report(given.as_json, report(found, tokenizer.vocab_size, corpus is not None))
    return 0
