"""The answer of `tokentui inspect --budget`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tokentui.analyze.budget import KNEE, Budget, Target, budget
from tokentui.analyze.metrics import ratio
from tokentui.analyze.metrics import shown as number
from tokentui.analyze.report import Json, as_row
from tokentui.cli import output
from tokentui.cli.options import Given
from tokentui.core.safetext import safe
from tokentui.core.table import Table
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
    output.write_answer(given.as_json, lambda: _row(found), _tables(found))
    missed = [] if found.target is None else [curve.corpus for curve in found.curves if curve.met is None]
    what = f"--target {target}: not met on {' and '.join(missed)}" if missed else ""
    return given.missed(what, exact=exact)


def _tables(found: Budget) -> Iterator[Table]:
    for n, curve in enumerate(found.curves):
        yield output.fact("second" if n else "corpus", f"{safe(curve.corpus)}, {curve.bytes:,} bytes")
    words = ("tokens", "bytes/token", "saved/id")
    head = ["step", "ids", *words, *(f"{word} 2" for word in words if len(found.curves) > 1)]
    rows: list[list[str]] = []
    before: int | None = None
    for step in _marked(found):
        cells = [f"{step:,}", f"{found.sizes[step]:,}"]
        for curve in found.curves:
            tokens = curve.tokens[step]
            ids = 0 if before is None else found.sizes[step] - found.sizes[before]
            saved = None if before is None else ratio(curve.tokens[before] - tokens, ids)
            each = "" if saved is None else number(saved, 2)
            cells += [f"{tokens:,}", number(ratio(curve.bytes, tokens), 2), each]
        rows.append(cells)
        before = step
    yield Table(rows, head=head, right=range(len(head)), indent=2)
    for n, curve in enumerate(found.curves):
        name = " of the second" if n else ""
        yield output.fact(f"knee{name}", "none" if curve.knee is None else _at(found, curve.knee))
    yield Table(notes=[f"  {KNEE}"])
    if found.target is not None:
        for n, curve in enumerate(found.curves):
            name = " of the second" if n else ""
            yield output.fact(f"target{name}", "not met" if curve.met is None else _at(found, curve.met))
        yield Table(notes=[f"  {found.target.about}"])


def _at(found: Budget, step: int) -> str:
    return f"{found.sizes[step]:,} ids, step {step:,}"


def _marked(found: Budget) -> list[int]:
    """The steps of the table: 0, the powers of two, the last, and those of knees and targets."""
    last = len(found.sizes) - 1
    steps = {0, last, *(1 << power for power in range(last.bit_length()))}
    steps.update(one for curve in found.curves for one in (curve.knee, curve.met) if one is not None)
    return sorted(step for step in steps if step <= last)


def _row(found: Budget) -> Json:
    """The whole curves as a row; knees and targets are told by their steps and their sizes."""
    return {
        "sizes": list(found.sizes), "target": None if found.target is None else as_row(found.target),
        "curves": [
            {
                **as_row(curve), "knee_size": _size(found, curve.knee),
                "met_size": _size(found, curve.met),
            }
            for curve in found.curves
        ],
    }


def _size(found: Budget, step: int | None) -> int | None:
    return None if step is None else found.sizes[step]
