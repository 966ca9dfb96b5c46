"""`tokentui diff`: what changed between two tokenizers, and which documents of a corpus change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

import click

from tokentui.analyze.diff import Change, ChangedToken, Diff, MergeDifference, MergeSide, diff
from tokentui.analyze.documents import ChangedDocument, ChangedPlace, DocumentsDiff
from tokentui.axes import label
from tokentui.cli.options import (
    NAMED,
    QUIET,
    READING,
    SPLIT,
    Count,
    Given,
    corpus_argument,
    json_option,
    options,
)
from tokentui.cli.output import Json, as_json, as_row, fact, merged, piece_row, shown, working, write_answer
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe, safe_line
from tokentui.core.table import Table, plural
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import load

SAME, DIFFERS = 0, 1
_SHARE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}) ?%")
_TOTALS = ("documents", "changed", "recut", "grown", "shrunk", "refused_a", "refused_b", "only_b_refuses",
           "a", "b", "growth")


@click.command(
    epilog="""\b
Examples:
  tokentui diff old.json new.json
  tokentui diff old.json new.json novel.txt --as lines
  tokentui diff old.json new.json novel.txt --max-growth 0.5%
  tokentui diff old.json new.json novel.txt --same-ids -q --json""",
)
@options(
    click.argument("old", metavar="A", type=click.Path()),
    click.argument("new", metavar="B", type=click.Path()),
    corpus_argument("[CORPUS]..."),
    *NAMED,
    SPLIT,
    *READING,
    click.option("--rows", metavar="N", type=Count(0), default=10,
                 help="The most documents listed, and rows of each table [default: 10]."),
    click.option("--same-ids", is_flag=True,
                 help="Fail only where an id of A is another token's in B or none's, or a text has other "
                 "ids. Tokens may have come."),
    click.option("--max-growth", metavar="SHARE", help="Fail only where the corpus takes more tokens by more "
                 "than this, such as 0.5%, or B alone refuses a document."),
    json_option("Print one row of JSON: all tokens, the documents as far as --rows goes."),
    QUIET,
)
def command(
    given: Given, old: str, new: str, rows: int, same_ids: bool, max_growth: str | None,
) -> int:
    """Print what changed from tokenizer A to B: the first differing merge, ids that moved, tokens that came
    and went, special tokens, steps, the chat template. With CORPUS also the documents that change, those that
    change most first; --as lines makes each line a document.

    The exit code is 1 where they differ. With --same-ids or --max-growth it is 1 only where such a bound does
    not hold.
    """
    share = None if max_growth is None else _share(max_growth)
    if share is not None:
        given.needs_corpus()
    split = given.split("name the pattern of a file that holds none")
    a, b = (load(path, otherwise=split) for path in (old, new))
    for path, one in ((old, a), (new, b)):
        given.remark(f"{path}: {note}" for note in one.notes)
    with working(given.quiet) as bar:
        corpus = given.corpus(bar) if given.sources else None
        with bar.of("comparing"):
            found = diff(a, b, corpus, rows=rows)
    bounds: dict[str, bool] = {}
    if same_ids:
        bounds["--same-ids"] = found.same_ids
    if share is not None:
        bounds[f"--max-growth {max_growth}"] = not found.grows_more(share)
    write_answer(given.as_json, lambda: _row(found, (old, a), (new, b), bounds),
                 _tables(found, (old, a), (new, b), bounds, rows))
    return SAME if (all(bounds.values()) if bounds else found.same) else DIFFERS


def _share(text: str) -> float:
    if (number := _SHARE.fullmatch(text.strip())) is None:
        raise TokentuiError("not a share", f"--max-growth {text[:40]}", "such as 0.5%")
    return float(number[1]) / 100


# ---- tables


def _tables(
    found: Diff, a: tuple[str, Tokenizer], b: tuple[str, Tokenizer], bounds: dict[str, bool], rows: int
) -> Iterator[Table]:
    """The differences as tables. Of each no more rows than asked for."""
    yield Table([
        (letter, safe(path), safe(label(one.recipe)), plural(one.vocab_size, "id"))
        for letter, (path, one) in (("A", a), ("B", b))
    ])
    if found.same:
        yield Table(notes=("nothing differs",))
    table = partial(fact, most=rows)
    if spelled := found.merges:
        yield table("merges", f"differ first at step {spelled.step:,}", list(_sides(spelled)))
        meant = found.merges_by_meaning
        if meant is None:
            yield table("", "the same by what they mean")
        elif meant.step != spelled.step:
            yield table("", f"by what they mean, at step {meant.step:,}", list(_sides(meant)))
    if found.moved:
        what = f"{plural(found.moved_count, 'token')} moved; {plural(found.reused, 'id')} of A "
        what += f"{'is' if found.reused == 1 else 'are'} another token's in B"
        runs = [(_ids(one.first, one.last), f"→ {_ids(one.first + one.by, one.last + one.by)}",
                 f"{one.by:+,}", shown(one.piece)) for one in found.moved]
        yield table("ids", what, runs)
    for name, tokens in (("went", found.went), ("came", found.came)):
        if tokens:
            yield table(name, plural(len(tokens), "token"), [_token(one) for one in tokens])
    if found.rescored:
        scores = [(f"{one.a:.4f}", f"→ {one.b:.4f}", shown(one.piece)) for one in found.rescored]
        yield table("scores", plural(len(found.rescored), "token"), scores)
    for name, changes in (("specials", found.specials), ("steps", found.steps)):
        if changes:
            yield Table([_change(one) for one in changes], f"{name:<12} {plural(len(changes), 'difference')}",
                        indent=2, most=rows, more="more (--json has them)")
    if found.template:
        yield Table([_change(found.template)], "template", indent=2)
    if found.documents is not None:
        yield from _documents(found.documents)
    for name, holds in bounds.items():
        yield table("bound", f"{name}: {'holds' if holds else 'does not hold'}")


def _ids(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,}–{last:,}"


def _sides(found: MergeDifference) -> Iterator[Sequence[str]]:
    for letter, other, side in (("A", "B", found.a), ("B", "A", found.b)):
        if side is None:
            yield letter, "has no more merges"
            continue
        there = f"not in {other}" if side.elsewhere is None else f"in {other} at step {side.elsewhere:,}"
        more = "" if side.built is None else f"{plural(side.built, 'later merge')} made of it"
        uses = [] if side.uses is None else [f"{side.uses:,} in documents that change"]
        yield letter, merged(side.parts, side.token), f"id {side.id:,}", there, more, *uses


def _token(one: ChangedToken) -> Sequence[str]:
    uses = () if one.uses is None else (f"{one.uses:,} in documents that change",)
    return f"{one.id:,}", shown(one.piece), one.kind, *uses


def _change(one: Change) -> Sequence[str]:
    texts = ("none" if text is None else shown(text) or "nothing" for text in (one.a, one.b))
    return safe(one.where), " → ".join(texts)


def _documents(found: DocumentsDiff) -> Iterator[Table]:
    what = f"{plural(found.documents, 'document')}, {found.changed:,} with other ids, "
    what += f"{found.recut:,} with other tokens ({found.grown:,} grow, {found.shrunk:,} shrink)"
    yield fact("corpus", what)
    growth = "" if found.growth is None else f", {found.growth:+.3%}"
    yield fact("tokens", f"{found.a:,} → {found.b:,}{growth}")
    if found.refused_a or found.refused_b:
        yield fact("refused", f"A {found.refused_a:,}, B {found.refused_b:,}, "
                   f"B alone {found.only_b_refuses:,}")
    for one in found.worst:
        times = "" if one.count == 1 else f", {one.count:,} times"
        title = f"  document {one.number:,}{times}: {_lengths(one)}  {safe(one.name)}"
        yield Table(list(_place(one.place)) if one.place else (), title, indent=4, notes=[
            f"    {letter} refuses it: {safe_line(why)}"
            for letter, why in zip("AB", one.refusals, strict=True) if why
        ])


def _lengths(one: ChangedDocument) -> str:
    if one.a is None or one.b is None:
        return "refused"
    return f"{one.a:,} → {one.b:,} tokens, {one.growth:+,}"


def _place(place: ChangedPlace) -> Iterator[Sequence[str]]:
    yield (f"at {place.start:,}", "".join(map(shown, (place.before, "▸", place.text, "◂", place.after))))
    for letter, tokens in (("A", place.a), ("B", place.b)):
        yield letter, "│".join(map(shown, tokens)) or "nothing"


# ---- rows


def _row(found: Diff, a: tuple[str, Tokenizer], b: tuple[str, Tokenizer], bounds: dict[str, bool]) -> Json:
    """The differences as a row."""
    texts = found.documents
    return {
        "same": found.same,
        "same_ids": found.same_ids,
        "tokenizers": [
            {"letter": letter, "name": path, "vocab_size": one.vocab_size,
             "recipe": one.recipe.to_dict() | one.recipe.shape}
            for letter, (path, one) in (("A", a), ("B", b))
        ],
        "merges": _merges_row(found.merges),
        "merges_by_meaning": _merges_row(found.merges_by_meaning),
        "moved": [as_row(one) for one in found.moved],
        "moved_count": found.moved_count,
        "reused": found.reused,
        "went": [as_row(one) for one in found.went],
        "came": [as_row(one) for one in found.came],
        "rescored": [as_row(one) for one in found.rescored],
        "specials": as_json(found.specials),
        "steps": as_json(found.steps),
        "template": as_json(found.template),
        "corpus": None if texts is None else as_row(texts, *_TOTALS) | {"worst": as_json(texts.worst)},
        "bounds": bounds,
    }


def _merges_row(found: MergeDifference | None) -> Json | None:
    if found is None:
        return None
    return {"step": found.step, "a": _side_row(found.a), "b": _side_row(found.b)}


def _side_row(side: MergeSide | None) -> Json | None:
    if side is None:
        return None
    told = {"parts": [piece_row(part) for part in side.parts], "token": piece_row(side.token)}
    return told | as_row(side, "id", "elsewhere", "built", "uses")
