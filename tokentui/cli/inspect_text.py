"""What `tokentui inspect` prints for people: a label and its facts a line, and texts last, so that nothing is pushed by them."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence

from tokentui.analyze.results import Answers, Check, Exhausted, Health, TokenFacts, UnusedToken, Ways
from tokentui.analyze.spelling import bare
from tokentui.analyze.strings import StringFacts, WordFacts
from tokentui.cli.output import shown, write_text
from tokentui.core.safetext import safe_line
from tokentui.encode import MergeStep
from tokentui.encode.tokenizer import Tokenizer
from tokentui.presets import label
from tokentui.recipe import AXES

_LABEL = 12
_WIDE = 80
_ROWS = 20
_FEW = 3
_KEPT = "\x1f"
"""A space at which no line is broken."""
_HUGE = 10**15


def report(tok: Tokenizer, health: Health, checks: Sequence[Check], asked: Answers | None) -> None:
    """A tokenizer: what it is, its health, and what a corpus makes of it."""
    recipe = tok.recipe
    _line("recipe", label(recipe))
    for line in textwrap.wrap(" ".join(f"{name}={shown(recipe.axis(name))}" for name in AXES), _WIDE, break_on_hyphens=False):
        _line("", line)
    kinds = ", ".join(f"{times:,} {kind}" for kind, times in health.kinds)
    last = health.first_id + health.vocab_size - 1
    span = f", {health.first_id} to {last}" if health.vocab_size else ""
    _line("ids", f"{health.vocab_size:,}{span}" + (f" ({kinds})" if kinds else ""))
    _line("merges", f"{health.merges:,}")
    for n, note in enumerate(tok.notes):
        _line("" if n else "remarks", safe_line(note))
    _wrapped("written in", [f"{count:,} {script}" for script, count in health.scripts])
    _wrapped("characters", [f"{count:,} of {length}" for length, count in health.lengths[:_ROWS]])
    _tokens("longest", health.longest, (f"{len(bare(recipe, piece)):>4} B" for _, piece in health.longest))
    _tokens("unreachable", [(number, piece) for number, piece, _ in health.unreachable], (), "no text becomes these",
            [why for _, _, why in health.unreachable])
    _line("duplicates", _some(health.duplicates, "spelled as another token is"))
    for piece, ids in health.duplicates[:_ROWS]:
        _row(f"{' '.join(map(str, ids))}  {shown(piece)}")
    _tokens("not UTF-8", health.broken, (), "tokens of several bytes that are no text by themselves")
    _tokens("spaces", health.spaces, (), "white space alone")
    if recipe.unit == "byte":
        missing = " ".join(f"{value:02X}" for value in health.missing_bytes)
        _line("bytes", f"{256 - len(health.missing_bytes)} of 256" + (f"; not {missing}" if missing else ""))
    _line("holes", " ".join(str(first) if first == last else f"{first}–{last}" for first, last in health.holes[:_ROWS]) or "none")
    if asked is not None:
        _corpus(asked)
    _checks(checks)


def _checks(checks: Sequence[Check]) -> None:
    """The health report: a line a check, and what is not well with its threshold, its reason and examples."""
    counted = Counter(check.status for check in checks)
    _line("health", ", ".join(f"{counted[status]} {status}" for status in ("FAIL", "WARN", "PASS", "n/a") if counted[status]))
    wide = max(len(check.title) for check in checks)
    for check in checks:
        _row(f"{check.status:<4}  {check.title:<{wide}}  {safe_line(check.observed)}")
        if check.status not in ("FAIL", "WARN"):
            continue
        _row(f"      {check.about} ({check.threshold})")
        for one in check.examples[:_FEW]:
            named = " ".join(part for part in ("" if one.id is None else str(one.id), _cut(one.piece)) if part)
            _row(f"        {named}" + (f"  {safe_line(one.note)}" if one.note else ""))
        if check.count > _FEW:
            _row(f"        … and {check.count - _FEW:,} more (--json has ten at most)")


def _cut(piece: bytes) -> str:
    text = shown(piece)
    return text if len(text) <= _WIDE else text[:_WIDE] + "…"


def _wrapped(name: str, parts: Sequence[str]) -> None:
    text = ", ".join(part.replace(" ", _KEPT) for part in parts)
    for n, line in enumerate(textwrap.wrap(text, _WIDE, break_on_hyphens=False)):
        _line("" if n else name, line.replace(_KEPT, " "))


def string(
    text: str | None, facts: TokenFacts | None, found: StringFacts | None, used: tuple[int, UnusedToken | None] | None
) -> None:
    """A string, or the token of an id."""
    if text is not None:
        _line("string", shown(text))
    if facts is not None:
        _facts(facts)
    if used is not None:
        times, unused = used
        _line("uses", f"{times:,} in the corpus" + (f": {_why(unused)}" if unused else ""))
    if found is None:
        return
    if found.encoding is not None:
        ids = " ".join("null" if number is None else str(number) for number in found.encoding.ids)
        _line("encoding", ids or "no tokens")
    else:
        _line("encoding", f"none: {safe_line(found.refusal)}")
    _line("one token", found.why)
    for word in found.words:
        _word(word)


def _line(name: str, text: str) -> None:
    write_text(f"{name:<{_LABEL}} {text}".rstrip())


def _row(text: str) -> None:
    write_text(f"  {text}")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _some(items: Sequence[object], what: str) -> str:
    return f"{len(items):,}, {what}" if items else "none"


def _more(items: Sequence[object]) -> None:
    if len(items) > _ROWS:
        _row(f"… and {len(items) - _ROWS:,} more (--json has them)")


def _tokens(
    name: str, tokens: Sequence[tuple[int, bytes]], facts: Iterable[str], what: str = "", notes: Sequence[str] = ()
) -> None:
    """A list of tokens, an id and a text a row; `facts` stand between the two, `notes` after."""
    _line(name, _some(tokens, what) if what else ("" if tokens else "none"))
    wide = max((len(str(number)) for number, _ in tokens[:_ROWS]), default=0)
    between = list(facts)
    for n, (number, piece) in enumerate(tokens[:_ROWS]):
        middle = f"{between[n]}  " if between else ""
        _row(f"{number:>{wide}}  {middle}{shown(piece)}" + (f"  {notes[n]}" if notes else ""))
    _more(tokens)


def _why(one: UnusedToken) -> str:
    into = " ".join(map(shown, one.into))
    return f"{one.why} by {into}" if into else one.why


def _corpus(asked: Answers) -> None:
    _line("corpus", f"{asked.units:,} units, {asked.tokens:,} tokens: {asked.units - asked.tokens:,} saved")
    _line("used", f"{asked.used:,} of {asked.vocab_size:,} ids")
    _line("unused", _some(asked.unused, "with why") if asked.unused else "none")
    wide = max((len(str(one.id)) for one in asked.unused[:_ROWS]), default=0)
    for one in asked.unused[:_ROWS]:
        _row(f"{one.id:>{wide}}  {one.kind:<7}  {shown(one.piece)}  {_why(one)}")
    _more(asked.unused)
    _line("documents", f"{asked.document_count:,}; those that save most, first")
    for document in asked.documents[:_ROWS]:
        numbers = f"{document.number:>6}  {document.units:>9,} units {document.tokens:>9,} tokens"
        _row(f"{numbers}  {shown(document.name)}")
    if asked.document_count > _ROWS:
        _row(f"… and {asked.document_count - _ROWS:,} more")
    if asked.exhausted is not None:
        _exhausted(asked.exhausted)


def _exhausted(end: Exhausted) -> None:
    _line("to the end", f"{end.merges:,} merges, {end.vocab_size:,} ids, {end.tokens:,} tokens")
    _line("", f"{end.whole:,} of {end.distinct:,} distinct pre-tokens are one token; ended by: {end.end}")


def _facts(facts: TokenFacts) -> None:
    _line("token", f"id {facts.id}, {facts.kind}: {shown(facts.piece)}")
    front, end = facts.marks
    if front:
        _line("mark", f"{shown(facts.piece[:front])} in front: it goes on with a word")
    if end:
        _line("mark", f"{shown(facts.piece[len(facts.piece) - end :])} at the end: a word ends with it")
    _line("bytes", f"{facts.bare.hex(' ')} ({len(facts.bare)})")
    last = len(facts.code_points) - _chars(facts.piece[len(facts.piece) - end :])
    points = facts.code_points[_chars(facts.piece[:front]) : last]
    for n, point in enumerate(points[:_ROWS]):
        _line("" if n else "characters", point)
    _more(points)
    if facts.text is None:
        _line("characters", "not UTF-8 by itself: a part of a character")
    if facts.score is not None:
        _line("probability", f"log {facts.score:.4f}")
    if facts.step is not None:
        _line("born", f"at step {facts.step:,}, of a pair that stood {_times(facts.count or 0)}")
        _line("parents", " + ".join(map(shown, facts.parents)))
    if facts.kind in ("unit", "merge"):
        children = " ".join(shown(piece) for _, piece in facts.children)
        more = f" and {facts.child_count - len(facts.children):,} more" if facts.child_count > len(facts.children) else ""
        _line("children", f"{facts.child_count:,}" + (f": {children}{more}" if children else ""))
    if facts.others:
        _line("spelled also", " ".join(f"{shown(piece)} ({number})" for number, piece in facts.others))
    if facts.kind in ("unit", "merge", "piece"):
        _line("can be made", f"no: {facts.unreachable}" if facts.unreachable else "yes")
    if facts.tree:
        _line("tree", "")
        for one in facts.tree:
            number = "" if one.id is None else f"  {one.id}"
            _row(f"{'  ' * one.depth}{shown(one.piece)}{number}" + (f", step {one.step:,}" if one.step else ""))
        if facts.tree_size > len(facts.tree):
            _row(f"… and {facts.tree_size - len(facts.tree):,} more nodes")


def _chars(mark: bytes) -> int:
    """The characters of a mark."""
    return len(mark.decode())


def _word(word: WordFacts) -> None:
    told = word.explanation
    _line("word", f"{shown(told.text)}: {_pieces(told.units)}")
    for number, step in enumerate(told.steps, 1):
        if isinstance(step, MergeStep):
            what = f"step {step.rank + 1:,}: {shown(step.left)} + {shown(step.right)} = {shown(step.result)}"
        else:
            what = f"{shown(step.candidate)} {'found' if step.found else 'is no token'}"
        _row(f"{number:>3}  {what}  →  {_pieces(told.after(number))}")
    if word.ways is None:
        _line("ways", "not counted: the word is too long")
    else:
        _ways(word.ways)
    if word.lattice:
        _line("lattice", f"{len(word.lattice):,} edges: units, log probability, share of all segmentations")
        for edge in word.lattice[: 10 * _ROWS]:
            best, unknown = "*" if edge.best else " ", "" if edge.symbol is not None else "  (unknown)"
            place = f"{edge.start:>3}–{edge.end:<3}"
            _row(f"{best} {place} {edge.score:>10.4f} {edge.posterior:>8.4f}  {shown(edge.piece)}{unknown}")
        if len(word.lattice) > 10 * _ROWS:
            _row(f"… and {len(word.lattice) - 10 * _ROWS:,} more (--json has them)")


def _ways(ways: Ways) -> None:
    count = f"{ways.count:,}" if ways.count < _HUGE else f"about 10^{len(str(ways.count)) - 1}"
    taken = f"taken: {_pieces(ways.chosen)} ({ways.how})" if ways.chosen else "it is refused"
    _line("ways", f"{count} to write it; {taken}")
    for way, score in ways.ways:
        mark = "*" if way == ways.chosen else " "
        figure = "" if score is None else f"{score:>10.4f}  "
        _row(f"{mark} {len(way):>3}  {figure}{_pieces(way)}")
    if ways.count > len(ways.ways):
        _row("…")


def _pieces(pieces: Iterable[bytes]) -> str:
    return " ".join(map(shown, pieces)) or "nothing"
