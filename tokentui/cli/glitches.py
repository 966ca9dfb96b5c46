"""The answer of `tokentui inspect --glitch`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tokentui.analyze.glitches import KINDS, SWALLOWED, Glitch, glitches
from tokentui.cli import output
from tokentui.cli.options import Given
from tokentui.cli.texts import shown_pieces
from tokentui.core.safetext import safe_line
from tokentui.core.table import Table
from tokentui.encode.tokenizer import Tokenizer

_ROWS = 40


def print_glitches(given: Given, tokenizer: Tokenizer) -> int:
    """Print the glitch tokens of a tokenizer; those that a corpus swallows too where one is named. Returns
    the exit code."""
    with output.working(given.quiet) as bar:
        corpus = given.corpus(bar) if given.sources else None
        with bar.of("looking at tokens"):
            found = glitches(tokenizer, corpus)
    tables = _tables(tokenizer, found, corpus is not None)
    output.write_answer(given.as_json, lambda: _row(tokenizer, found), tables)
    return 0


def _tables(tokenizer: Tokenizer, found: Sequence[Glitch], with_corpus: bool) -> Iterator[Table]:
    yield output.fact("ids", f"{tokenizer.vocab_size:,}; special tokens are left out")
    for kind, about in KINDS.items():
        if kind == SWALLOWED and not with_corpus:
            continue
        of_kind = [one for one in found if one.kind == kind]
        told = f"{len(of_kind):,}, {about}" if of_kind else "none"
        reasons = Counter(one.reason for one in of_kind)
        if len(reasons) > 1:
            told += f" ({', '.join(f'{times:,} {reason}' for reason, times in reasons.most_common())})"
        yield output.fact(kind, told, [_cells(one) for one in of_kind], _ROWS)


def _cells(one: Glitch) -> tuple[str, ...]:
    cells = (str(one.id), output.shown(one.piece))
    if one.kind == SWALLOWED:
        return (*cells, f"by {shown_pieces(one.into)}")
    return (*cells, safe_line(one.sentence))


def _row(tokenizer: Tokenizer, found: Sequence[Glitch]) -> output.Json:
    """The same as a row."""
    counts = Counter(one.kind for one in found)
    return {
        "vocab_size": tokenizer.vocab_size, "counts": {kind: counts[kind] for kind in KINDS},
        "glitches": [output.as_row(one) for one in found],
    }
