"""The answer of `tokentui inspect --budget`."""

from __future__ import annotations

from dataclasses import replace

from tokentui.analyze.budget import Target, budget, report
from tokentui.cli import output
from tokentui.cli.options import Given
from tokentui.encode.tokenizer import Tokenizer


def print_budget(
    given: Given, tokenizer: Tokenizer, second: str | None, target: str | None, exact: bool
) -> int:
    """Print the tokens of a corpus, and of a second one, at sizes of a vocabulary. Returns the exit code: 1
    with `exact` if the target is not met."""
    wanted = None if target is None else Target.parse(target)
    given.needs_corpus()
    with output.working(given.quiet) as bar:
        corpora = [given.corpus(bar)]
        if second is not None:
            corpora.append(replace(given, sources=(second,)).corpus(bar))
        with bar.of("encoding"):
            found = budget(tokenizer, corpora, wanted)
    output.write_report(given.as_json, report(found))
    missed = [] if found.target is None else [curve.corpus for curve in found.curves if curve.met is None]
    what = f"--target {target}: not met on {' and '.join(missed)}" if missed else ""
    return given.missed(what, exact=exact)

