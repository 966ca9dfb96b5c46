"""Comparisons with other libraries as reports."""

from __future__ import annotations

from collections.abc import Iterator

from tokentui.analyze.report import (
    NUMBER,
    Column,
    Json,
    Part,
    Report,
    Row,
    Section,
    as_json,
    as_row,
    data,
    merged,
    muted,
)
from tokentui.analyze.verify import (
    Encoded,
    EncodingReport,
    StepDifference,
    Taken,
    TextDifference,
    TrainingReport,
)
from tokentui.analyze.verify.pieces import APART, PiecesReport
from tokentui.analyze.verify.trained import TrainedReport
from tokentui.axes import label
from tokentui.core.table import plural
from tokentui.encode.vocabulary import NO_ID

_MOST = 10
"""The maximum number of pieces that are listed."""


def trained_report(found: TrainedReport) -> Report:
    """Report on the merges of a file against a training."""
    sections = [
        Section("recipe", label(found.recipe)),
        Section("same", f"{found.alike:,} of {plural(found.merges, 'merge')}"),
        *_trained_sections(found),
    ]
    value = {
        "recipe": found.recipe.to_dict() | found.recipe.shape,
        **as_row(found, "merges", "alike", "next_count", "changes", "tried"),
        "differs": _trained_difference(found),
    }
    return Report("A file and a training run", tuple(sections), value)


def _trained_sections(found: TrainedReport) -> Iterator[Section]:
    """Yield where the merges of a file part from a training, and the axes that agree for longer.

    Without a difference, say that the file ends and what would follow.
    """
    step = found.difference
    if step is None:
        following = "no pairs remain" if found.next_count is None else (
            f"the run would continue with a pair of count {found.next_count:,}"
        )
        yield Section("ends", f"the file ends here; {following}")
        return
    yield Section("differs", f"merge {step.step:,}")
    assert step.theirs is not None
    yield Section("file", (*_pair(step.theirs), f", count {step.theirs.count:,} here"))
    count = step.count
    times = "" if count is None else f", count {count:,}"
    tied = f", {step.tied} tied: tie={step.tie}" if step.tied > 1 else ""
    ended = f"has ended: {step.ours_end}"
    yield Section("training", (*merged(step.ours), times + tied) if step.ours else ended)
    rows = tuple(
        Row(((f"{change.axis}=", data(change.value)), f"{change.alike:,} agree")) for change in found.changes
    )
    none = f"none of {plural(found.tried, 'change')} of one axis gives more agreement"
    yield Section("instead", "changes of one axis that give more agreement" if rows else none, rows,
        (Column(),))


def _pair(taken: Taken) -> tuple[Part, ...]:
    return merged(taken.pieces) if taken.pieces else (taken.token,)


def _trained_difference(found: TrainedReport) -> Json | None:
    """Return the JSON of the first differing merge, None if there is none."""
    step = found.difference
    if step is None or step.theirs is None:
        return None
    theirs = step.theirs
    training = {"hex": as_json(step.ours), "count": step.count} if step.ours else None
    return {
        "step": step.step,
        "file": {"hex": as_json(theirs.pieces), "token": theirs.token.hex(), "count": theirs.count},
        "training": training,
        **as_row(step, "ours_end", "tied", "tie"),
    }


def peer_report(found: EncodingReport | TrainingReport) -> Report:
    """Report on a training or on encodings against another library; pairs are in hex in JSON."""
    peer, differs = found.peer, found.difference
    sections = [Section("against", f"{peer.name} {peer.version}")]
    if isinstance(found, EncodingReport):
        sections.append(Section("same", f"{plural(found.texts, 'text')}, {plural(found.tokens, 'token')}"))
    elif differs is None:
        whole = "all " * (found.steps != 1)
        sections.append(Section("same", f"{whole}{plural(found.steps, 'step')} (stopped: {found.end})"))
    else:
        sections.append(Section("same", plural(found.steps, "step")))
    if isinstance(differs, StepDifference):
        sections += _step_sections(differs)
    elif differs is not None:
        sections += _text_sections(differs)
    fields = ("steps", "end") if isinstance(found, TrainingReport) else ("texts", "tokens")
    value = {
        "peer": peer.name, "version": peer.version, "alike": differs is None, **as_row(found, *fields),
        "differs": _step_json(differs) if isinstance(differs, StepDifference) else differs,
    }
    return Report(f"Against {peer.name}", tuple(sections), value)


def pieces_report(found: PiecesReport) -> Report:
    """Report on a unigram training against another library; pieces are in hex in JSON."""
    differs, value = found.difference, None
    sections = [Section("against", f"{found.peer.name} {found.peer.version}")]
    apart = f"scores differ by {found.apart:.2g} at most"
    sections.append(Section("compared", f"the pieces as sets, and each score within {APART}"))
    sections.append(Section("same", f"{plural(found.pieces, 'piece')}; {apart} (stopped: {found.end})"))
    if differs is not None:
        counts = len(differs.only_ours), len(differs.only_theirs), len(differs.scores)
        sections.append(Section("differs", "{} only here, {} only there, {} in the score".format(*counts)))
        for name, pieces in (("ours", differs.only_ours), ("theirs", differs.only_theirs)):
            if pieces:
                rows = tuple(Row(((piece,),)) for piece in pieces[:_MOST])
                sections.append(Section(name, "the most probable", rows, (Column(),)))
        if differs.scores:
            rows = tuple(
                Row((f"{row.ours:.4f}", f"{row.theirs:.4f}", (row.piece,))) for row in differs.scores[:_MOST]
            )
            sections.append(Section("scores", "ours and theirs", rows, (NUMBER, NUMBER, Column())))
        value = {
            "only_ours": [piece.hex() for piece in differs.only_ours],
            "only_theirs": [piece.hex() for piece in differs.only_theirs],
            "scores": [
                {"hex": row.piece.hex(), "ours": row.ours, "theirs": row.theirs} for row in differs.scores
            ],
        }
    return Report(f"Against {found.peer.name}", tuple(sections), {
        "peer": found.peer.name, "version": found.peer.version, "alike": differs is None,
        "pieces": found.pieces, "apart": found.apart, "end": found.end, "differs": value,
    })


def _step_sections(step: StepDifference) -> Iterator[Section]:
    """Yield our step and theirs, and our candidates, best first, with theirs marked.

    A side without a step says that it has ended.
    """
    theirs = step.theirs
    yield Section("differs", f"step {step.step:,}")
    yield Section("ours", merged(step.ours) if step.ours else f"no step: {step.ours_end}")
    if theirs is None:
        yield Section("theirs", "no step: the run has ended")
    else:
        place = "no candidate of ours" if theirs.place is None else f"candidate {theirs.place} of ours"
        detail = f", recounted {theirs.count:,}, {place}"
        yield Section("theirs", (*_pair(theirs), detail))
    if step.candidates:
        tied = f", {step.tied} of them tied: tie={step.tie}" if step.tied > 1 else ""
        rows = []
        for n, candidate in enumerate(step.candidates, 1):
            mark = theirs is not None and candidate.parts == theirs.pieces
            cell = (*merged(candidate.parts), muted("  ← theirs" if mark else ""))
            rows.append(Row((f"{n}", f"{candidate.worth:,}", cell)))
        yield Section("candidates", f"ours, best first{tied}", tuple(rows), (NUMBER, NUMBER))


def _step_json(step: StepDifference) -> Json:
    """Return the JSON of a differing step; text of candidates has invalid UTF-8 replaced."""
    return {
        "step": step.step,
        "ours": {"hex": as_json(step.ours)} if step.ours else None,
        "ours_end": step.ours_end,
        "candidates": [
            {"hex": as_json(row.parts), "text": row.token.decode("utf-8", "replace"), "count": row.worth}
            for row in step.candidates
        ],
        **as_row(step, "tied", "tie", "theirs"),
    }


def _text_sections(found: TextDifference) -> Iterator[Section]:
    """Yield the number of the text that differs, its shortest part that does, the stage, and both sides."""
    yield Section("differs", f"text {found.number:,}; shortest part found:")
    yield Section("text", data(found.text))
    yield Section("stage", found.stage)
    for name, side in (("ours", found.ours), ("theirs", found.theirs)):
        yield from side_sections(name, side)


def side_sections(name: str, side: Encoded) -> Iterator[Section]:
    """Yield the stages of a text in one program, those that are known, under the name of the program."""
    yield Section(name, f"cannot be encoded: {side.refused}" if side.refused else "")
    if side.normalized is not None:
        yield Section("  normalized", data(side.normalized))
    if side.words is not None:
        yield Section("  pre-tokens", _listed(side.words))
    if not side.refused:
        yield Section("  tokens", _listed(side.tokens))
        yield Section("  ids", " ".join("null" if id in (None, NO_ID) else str(id) for id in side.ids))


def _listed(texts: tuple[str, ...]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for text in texts:
        parts += [" | ", data(text)] if parts else [data(text)]
    return tuple(parts)
