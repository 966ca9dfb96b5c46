"""The answers of `tokentui inspect`: tables for people, and the same facts as one row for machines.

In tables the texts of a corpus come last in a line, so that they move no other cell. In rows `text` is for
people and `hex` the exact form.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace

from tokentui.analyze.inspect import StringFacts, WordFacts
from tokentui.analyze.results import (
    CheckResult,
    HealthReport,
    TokenFacts,
    UnusedToken,
    VocabularyReport,
    Ways,
)
from tokentui.axes import AXES, label
from tokentui.cli.output import Json, fact, shown
from tokentui.core.choices import LARGEST
from tokentui.core.safetext import safe_line
from tokentui.core.table import Table
from tokentui.encode.reach import bare
from tokentui.encode.segment.parts import MergeStep, Step
from tokentui.encode.tokenizer import Tokenizer

Uses = tuple[int, UnusedToken | None]
"""The uses of a token in a corpus; where there are none, why."""

_WIDE = 80
_ROWS = 20
_FEW = 3
_HUGE = 10**15


@dataclass(frozen=True, slots=True)
class StringAnswer:
    """The answer about a string, or about the token of an id.

    Attributes:
        text: The string; None where an id is named.
        token: The token that is named, or that the string becomes.
        found: The facts of the string.
        uses: The token in a corpus.
    """

    text: str | None
    token: TokenFacts | None
    found: StringFacts | None
    uses: Uses | None = None


def report_tables(tok: Tokenizer, health: HealthReport, corpus: VocabularyReport | None) -> Iterator[Table]:
    """A tokenizer: its recipe, its facts, a corpus, its health."""
    recipe, facts = tok.recipe, health.facts
    yield fact("recipe", label(recipe))
    yield from _wrapped("", [f"{name}={shown(recipe.axis(name))}" for name in AXES], " ")
    kinds = ", ".join(f"{times:,} {kind}" for kind, times in facts.kinds)
    span = f", {facts.first_id} to {facts.first_id + facts.vocab_size - 1}" if facts.vocab_size else ""
    yield fact("ids", f"{facts.vocab_size:,}{span}" + (f" ({kinds})" if kinds else ""))
    yield fact("merges", f"{facts.merges:,}")
    for n, note in enumerate(tok.notes):
        yield fact("" if n else "remarks", safe_line(note))
    yield from _wrapped("written in", [f"{count:,} {script}" for script, count in facts.scripts])
    yield from _wrapped("characters", [f"{count:,} of {length}" for length, count in facts.lengths[:_ROWS]])
    sized = [(number, f"{len(bare(recipe, piece)):>4} B", shown(piece)) for number, piece in facts.longest]
    yield _tokens("longest", "" if sized else "none", sized)
    dead = [(number, f"{shown(piece)}  {why}") for number, piece, why in facts.unreachable]
    yield _tokens("unreachable", _some(dead, "no text becomes these"), dead)
    alike = [(f"{' '.join(map(str, ids))}  {shown(piece)}",) for piece, ids in facts.duplicates[:_ROWS]]
    yield fact("duplicates", _some(facts.duplicates, "spelled as another token is"), alike)
    for name, what, tokens in (
        ("not UTF-8", "tokens of several bytes that are no text by themselves", facts.broken),
        ("spaces", "white space alone", facts.spaces),
    ):
        yield _tokens(name, _some(tokens, what), [(number, shown(piece)) for number, piece in tokens])
    if recipe.unit == "byte":
        missing = " ".join(f"{value:02X}" for value in facts.missing_bytes)
        yield fact(
            "bytes", f"{256 - len(facts.missing_bytes)} of 256" + (f"; not {missing}" if missing else "")
        )
    holes = [str(first) if first == last else f"{first}–{last}" for first, last in facts.holes[:_ROWS]]
    yield fact("holes", " ".join(holes) or "none")
    if corpus is not None:
        yield from _corpus_tables(corpus)
    yield _checks(health.checks)


def report_row(tok: Tokenizer, health: HealthReport, corpus: VocabularyReport | None) -> Json:
    """The same as a row."""
    facts = health.facts
    return {
        "tokenizer": {
            "recipe": tok.recipe.to_dict(), "run": dict(tok.run), "vocab_size": facts.vocab_size,
            "first_id": facts.first_id, "merges": facts.merges, "kinds": dict(facts.kinds),
            "scripts": dict(facts.scripts),
            "lengths": {str(length): count for length, count in facts.lengths}, "notes": list(tok.notes),
        },
        "health": {
            "longest": [_token(number, piece) for number, piece in facts.longest],
            "unreachable": [_token(number, piece) | {"why": why} for number, piece, why in facts.unreachable],
            "duplicates": [_piece(piece) | {"ids": list(ids)} for piece, ids in facts.duplicates],
            "not_utf8": [_token(number, piece) for number, piece in facts.broken],
            "spaces": [_token(number, piece) for number, piece in facts.spaces],
            "missing_bytes": list(facts.missing_bytes),
            "holes": [list(hole) for hole in facts.holes],
            "shared_ids": list(facts.shared),
        },
        "checks": [
            {field.name: getattr(check, field.name) for field in fields(check)}
            | {"examples": [_token(one.id, one.piece) | {"note": one.note} for one in check.examples]}
            for check in health.checks
        ],
        "corpus": None if corpus is None else _corpus_row(corpus),
    }


def string_tables(answer: StringAnswer) -> Iterator[Table]:
    """A string, or the token of an id."""
    if answer.text is not None:
        yield fact("string", shown(answer.text))
    if answer.token is not None:
        yield from _token_tables(answer.token)
    if answer.uses is not None:
        times, unused = answer.uses
        yield fact("uses", f"{times:,} in the corpus" + (f": {_why(unused)}" if unused else ""))
    found = answer.found
    if found is None:
        return
    if found.encoding is not None:
        ids = " ".join("null" if number is None else str(number) for number in found.encoding.ids)
        yield fact("encoding", ids or "no tokens")
    else:
        yield fact("encoding", f"none: {safe_line(found.refusal)}")
    yield fact("one token", found.why)
    for word in found.words:
        yield from _word_tables(word)


def string_row(answer: StringAnswer) -> Json:
    """The same as a row."""
    found, uses = answer.found, None
    if answer.uses is not None:
        times, unused = answer.uses
        uses = {"count": times} | (_unused_row(unused) if unused else {"why": None, "into": []})
    row: Json = {
        "string": answer.text, "token": None if answer.token is None else _token_row(answer.token),
        "uses": uses,
    }
    if found is not None:
        encoding, names = found.encoding, ("ids", "tokens", "hex", "offsets")
        row["encoding"] = None if encoding is None else {name: getattr(encoding, name) for name in names}
        row["error"] = found.refusal or None
        row["why"] = found.why
        row["words"] = [_word_row(word) for word in found.words]
    return row


# Tables.


def _tokens(name: str, text: str, tokens: Iterable[tuple[int, *tuple[str, ...]]]) -> Table:
    """A list of tokens, each with its id in front."""
    return fact(name, text, [(str(number), *cells) for number, *cells in tokens], _ROWS)


def _wrapped(name: str, parts: Sequence[str], between: str = ", ") -> Iterator[Table]:
    """A label and parts in lines of some width, none of which is broken."""
    kept = "\x1f"  # a blank at which no line is broken
    text = between.join(part.replace(" ", kept) for part in parts)
    for n, line in enumerate(textwrap.wrap(text, _WIDE, break_on_hyphens=False)):
        yield fact("" if n else name, line.replace(kept, " "))


def _some(items: Sequence[object], what: str) -> str:
    return f"{len(items):,}, {what}" if items else "none"


def _why(one: UnusedToken) -> str:
    into = " ".join(map(shown, one.into))
    return f"{one.why} by {into}" if into else one.why


def _pieces(pieces: Iterable[bytes]) -> str:
    return " ".join(map(shown, pieces)) or "nothing"


def _checks(checks: Sequence[CheckResult]) -> Table:
    """The results of the checks; below each that is not well its reason, its limits and examples."""
    counted = Counter(check.status for check in checks)
    told = [f"{counted[status]} {status}" for status in ("FAIL", "WARN", "PASS", "n/a") if counted[status]]
    rows: list[tuple[str, ...]] = []
    for check in checks:
        rows.append((check.status, check.title, safe_line(check.observed)))
        if check.status not in ("FAIL", "WARN"):
            continue
        rows.append((f"      {check.about} ({check.threshold})",))
        for one in check.examples[:_FEW]:
            text = shown(one.piece)
            text = text if len(text) <= _WIDE else text[:_WIDE] + "…"
            named = " ".join(filter(None, ("" if one.id is None else str(one.id), text)))
            rows.append((f"        {named}" + (f"  {safe_line(one.note)}" if one.note else ""),))
        if check.count > _FEW:
            rows.append((f"        … and {check.count - _FEW:,} more (--json has ten at most)",))
    return replace(fact("health", ", ".join(told), rows), right=())


def _corpus_tables(corpus: VocabularyReport) -> Iterator[Table]:
    saved = corpus.units - corpus.tokens
    yield fact("corpus", f"{corpus.units:,} units, {corpus.tokens:,} tokens: {saved:,} saved")
    yield fact("used", f"{corpus.used:,} of {corpus.vocab_size:,} ids")
    unused = [(one.id, f"{one.kind:<7}", f"{shown(one.piece)}  {_why(one)}") for one in corpus.unused]
    yield _tokens("unused", _some(unused, "with why"), unused)
    rows = [
        (f"{one.number:>6}", f"{one.units:>9,} units {one.tokens:>9,} tokens", shown(one.name))
        for one in corpus.documents
    ]
    count = corpus.document_count
    documents = fact("documents", f"{count:,}; those that save most, first", rows, _ROWS)
    yield replace(documents, total=count, more="more")
    if (end := corpus.exhausted) is not None:
        yield fact("to the end", f"{end.merges:,} merges, {end.vocab_size:,} ids, {end.tokens:,} tokens")
        yield fact(
            "", f"{end.whole:,} of {end.distinct:,} distinct pre-tokens are one token; ended by: {end.end}"
        )


def _token_tables(facts: TokenFacts) -> Iterator[Table]:
    yield fact("token", f"id {facts.id}, {facts.kind}: {shown(facts.piece)}")
    front, end = facts.piece[: facts.marks[0]], facts.piece[len(facts.piece) - facts.marks[1] :]
    if front:
        yield fact("mark", f"{shown(front)} in front: it goes on with a word")
    if end:
        yield fact("mark", f"{shown(end)} at the end: a word ends with it")
    yield fact("bytes", f"{facts.bare.hex(' ')} ({len(facts.bare)})")
    points = facts.code_points[len(front.decode()) : len(facts.code_points) - len(end.decode())]
    for n, point in enumerate(points[:_ROWS]):
        yield fact("" if n else "characters", point)
    if len(points) > _ROWS:
        yield Table(notes=[f"  … and {len(points) - _ROWS:,} more (--json has them)"])
    if facts.text is None:
        yield fact("characters", "not UTF-8 by itself: a part of a character")
    if facts.score is not None:
        yield fact("probability", f"log {facts.score:.4f}")
    if facts.step is not None:
        count = facts.count or 0
        times = "once" if count == 1 else f"{count:,} times"
        yield fact("made", f"at step {facts.step:,}, of a pair that stood {times}")
        yield fact("parents", " + ".join(map(shown, facts.parents)))
    if facts.kind in ("unit", "merge"):
        left = facts.child_count - len(facts.children)
        more = f" and {left:,} more" if left else ""
        children = " ".join(shown(piece) for _, piece in facts.children) + more
        yield fact("children", f"{facts.child_count:,}" + (f": {children}" if children else ""))
    if facts.others:
        yield fact("spelled also", " ".join(f"{shown(piece)} ({number})" for number, piece in facts.others))
    if facts.kind in ("unit", "merge", "piece"):
        yield fact("can be made", f"no: {facts.unreachable}" if facts.unreachable else "yes")
    if facts.tree:
        rows = [
            ("  " * one.depth + shown(one.piece) + ("" if one.id is None else f"  {one.id}")
             + (f", step {one.step:,}" if one.step else ""),)
            for one in facts.tree
        ]
        yield Table(rows, "tree", indent=2, total=facts.tree_size, more="more nodes")


def _word_tables(word: WordFacts) -> Iterator[Table]:
    told = word.explanation
    rows = []
    for number, step in enumerate(told.steps, 1):
        if isinstance(step, MergeStep):
            what = f"step {step.rank + 1:,}: {shown(step.left)} + {shown(step.right)} = {shown(step.result)}"
        else:
            what = f"{shown(step.candidate)} {'found' if step.found else 'is no token'}"
        rows.append((f"{number:>3}  {what}  →  {_pieces(told.after(number))}",))
    yield fact("word", f"{shown(told.text)}: {_pieces(told.units)}", rows)
    if word.ways is None:
        yield fact("ways", "not counted: the word is too long")
    else:
        yield _ways_table(word.ways)
    if word.lattice:
        rows = []
        for edge in word.lattice:
            place = f"{'*' if edge.best else ' '} {edge.start:>3}–{edge.end:<3}"
            unknown = "  (unknown)" if edge.symbol is None else ""
            figures = f"{edge.score:>10.4f} {edge.posterior:>8.4f}"
            rows.append((f"{place} {figures}  {shown(edge.piece)}{unknown}",))
        what = f"{len(rows):,} edges: units, log probability, share of all segmentations"
        yield fact("lattice", what, rows, 10 * _ROWS)


def _ways_table(ways: Ways) -> Table:
    count = f"{ways.count:,}" if ways.count < _HUGE else f"about 10^{len(str(ways.count)) - 1}"
    taken = f"taken: {_pieces(ways.chosen)} ({ways.how})" if ways.chosen else "it is refused"
    rows = []
    for way, score in ways.ways:
        figure = "" if score is None else f"{score:>10.4f}  "
        rows.append((f"{'*' if way == ways.chosen else ' '} {len(way):>3}  {figure}{_pieces(way)}",))
    rows += [("…",)] if ways.count > len(ways.ways) else []
    return fact("ways", f"{count} to write it; {taken}", rows)


# Rows.


def _piece(piece: bytes) -> Json:
    return {"text": piece.decode("utf-8", "replace"), "hex": piece.hex()}


def _token(number: int | None, piece: bytes) -> Json:
    return {"id": number} | _piece(piece)


def _unused_row(one: UnusedToken) -> Json:
    return {"why": one.why, "into": [_piece(piece) for piece in one.into]}


def _corpus_row(corpus: VocabularyReport) -> Json:
    return {
        "units": corpus.units,
        "tokens": corpus.tokens,
        "used": corpus.used,
        "unused": [
            _token(one.id, one.piece) | {"kind": one.kind} | _unused_row(one) for one in corpus.unused
        ],
        "document_count": corpus.document_count,
        "documents": [asdict(document) for document in corpus.documents],
        "exhausted": None if corpus.exhausted is None else asdict(corpus.exhausted),
    }


def _token_row(facts: TokenFacts) -> Json:
    return _token(facts.id, facts.piece) | {
        "kind": facts.kind,
        "score": facts.score,
        "code_points": list(facts.code_points),
        "units": [unit.hex() for unit in facts.units],
        "step": facts.step,
        "count": facts.count,
        "parents": [_piece(piece) for piece in facts.parents],
        "children": [_token(number, piece) for number, piece in facts.children],
        "child_count": facts.child_count,
        "tree": [{"depth": one.depth, "step": one.step} | _token(one.id, one.piece) for one in facts.tree],
        "tree_size": facts.tree_size,
        "others": [_token(number, piece) for number, piece in facts.others],
        "unreachable": facts.unreachable or None,
        "marks": list(facts.marks),
    }


def _word_row(word: WordFacts) -> Json:
    told, ways = word.explanation, word.ways
    return {
        "text": told.text,
        "offsets": [told.start, told.end],
        "units": [unit.hex() for unit in told.units],
        "steps": [_step_row(step) for step in told.steps],
        "ids": list(told.ids),
        "ways": None if ways is None else {
            "count": ways.count if ways.count <= LARGEST else str(ways.count),
            "first": [{"hex": [piece.hex() for piece in way], "score": score} for way, score in ways.ways],
            "chosen": [piece.hex() for piece in ways.chosen],
            "how": ways.how,
        },
        "lattice": [
            {name: getattr(edge, name) for name in ("start", "end", "score", "posterior", "best")}
            | {"token": edge.symbol is not None} | _piece(edge.piece)
            for edge in word.lattice
        ],
    }


def _step_row(step: Step) -> Json:
    if isinstance(step, MergeStep):
        pieces = [step.left.hex(), step.right.hex(), step.result.hex()]
        return {
            "step": step.rank + 1, "hex": pieces, "start": step.start, "middle": step.middle, "end": step.end
        }
    return {"hex": step.candidate.hex(), "start": step.start, "end": step.end, "found": step.found}
