"""The encoding of a text as sections of a report: the merges, attempts or pieces of each word, the ways to
write it, and what decoding gives back."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tokentui.analyze.drawings import MOST_UNITS, Lattice, WalkPlace, tree_of_word, viterbi_cells
from tokentui.analyze.report import (
    ENCODED,
    NUMBER,
    Cell,
    Column,
    Json,
    Part,
    Report,
    Row,
    Section,
    Span,
    Target,
    Tokens,
    as_json,
    as_row,
    data,
    ids_line,
    merged,
    muted,
    piece_row,
    segmented,
    warning,
)
from tokentui.core.choices import LARGEST
from tokentui.core.safetext import visible
from tokentui.core.table import cell_width, plural
from tokentui.encode.segment import AppliedMerge, EncodingStep, SplitStep

if TYPE_CHECKING:
    from tokentui.analyze.results import StringFacts, WordFacts, WordSegmentations
    from tokentui.encode.explain import RoundTrip, WordExplanation
    from tokentui.encode.results import WhyNot
    from tokentui.encode.tokenizer import Tokenizer

EDGE_FIELDS = ("start", "end", "score", "posterior", "best")
PLACE_FIELDS = ("place", "start", "total", "tried", "best")
"""The fields of an edge of a lattice, and of a place of a walk, in JSON."""
_FIGURES, _EDGES = 6, 200
"""The maximum number of rows of a lattice below its drawing, and of a walk."""
_HUGE = 10**15
"""A number of ways above this is given as a power of ten."""
_WAYS = 5
"""The maximum number of ways to write a text in the report on its encoding."""
_LEFT = (Column(),)


def reason_section(facts: StringFacts) -> Section:
    """Return a section that says why a text is not one token, that it is one, or why it is refused."""
    return Section("one token", warning(facts.refusal) if facts.refusal else facts.why)


def leads_to(reason: WhyNot) -> int | None:
    """Return the later step that makes a text one token; None if none does, or it is one already."""
    step = reason.facts.get("step") if reason.reason in ("comes", "later") else None
    return step if isinstance(step, int) else None


def report(tokenizer: Tokenizer, text: str) -> Report:
    """Report on how each word of a text is encoded, and what decoding loses. A model with probabilities also
    has the first ways to write the text.

    Raises:
        TokentuiError: The pattern of the split takes too long.
    """
    words = tokenizer.explain(text)
    sections: list[Section] = []
    for word in words:
        sections += (*tree_sections(word, {}), *lattice_sections(word))
        sections.append(replace(word_section(word), notes=(f"ids  {ids_line(word.ids) or 'none'}",)))
        sections += walk_sections(word)
    if any(word.lattice for word in words):
        from tokentui.encode.segmentations import segmentations  # few models have probabilities

        sections.append(ways_section(segmentations(tokenizer.encoder, text, _WAYS)))
    return Report("Encoding", (*sections, *decoded_sections(tokenizer.round_trip(text))), {})


def text_sections(facts: StringFacts, steps: bool = False) -> Iterator[Section]:
    """Yield the encoding of a text, word by word, and its losses.

    Args:
        facts: The facts of the text.
        steps: True if the merges are steps of the training on screen, so that rows lead there.
    """
    yield from decoded_sections(facts.round_trip)
    for word in facts.words:
        yield from tree_sections(word.explanation, facts.reason.facts if len(facts.words) == 1 else {})
        yield from lattice_sections(word.explanation)
        yield word_section(word.explanation, steps)
        yield from walk_sections(word.explanation)
        if word.ways is None:
            yield Section("ways", "not counted: the word is too long")
        else:
            yield ways_section(word.ways)


def decoded_sections(back: RoundTrip) -> Iterator[Section]:
    """Yield the decoded text and what was lost, if it differs from the text."""
    if back.back is not None and back.lost:
        rows = tuple(Row((warning(loss),)) for loss in back.lost)
        yield Section("decoded", data(back.back) if back.back else "nothing", rows, _LEFT)


def word_section(word: WordExplanation, steps: bool = False) -> Section:
    """Return a word and its units; below them a row for each merge or attempt, with the pieces after it.

    Args:
        word: The word.
        steps: True if the rows of merges lead to their steps.
    """
    widths = [cell_width("".join(run.text for run in visible(unit.removeprefix(word.prefix))))
              for unit in word.units]
    rows = tuple(
        _step_row(number, step, count, segmented(after, word.start, prefix=word.prefix), steps,
                  sum(widths[: step.start]), word.prefix)
        for number, (step, count, after) in enumerate(word.ladder, 1)
    )
    units = segmented(word.units, word.start, prefix=word.prefix)
    return Section("word", (data(word.text), ": ", units), rows)


def tree_sections(word: WordExplanation, missing: Mapping[str, object]) -> Iterator[Section]:
    """Yield the merges of a word as a drawing; nothing for a word that is one token, has no merges or is not
    encoded by merges.

    Args:
        word: The word.
        missing: The facts of the reason why it is not one token.
    """
    tree = tree_of_word(word, missing)
    if tree is not None:
        lacks = "; dotted: these are not merged" if tree.missing is not None else ""
        yield Section("tree", f"each token above its parts, with its step{lacks}", drawing=tree)


def _step_row(
    number: int, step: EncodingStep, count: int | None, after: Tokens, steps: bool, offset: int, prefix: bytes
) -> Row:
    """Return the row of a step of an encoding. A merge or split links to its training step with `steps`.

    Another step is a candidate, indented to stand below the units that it covers.
    """
    target = None
    description: tuple[Part, ...]
    if isinstance(step, AppliedMerge):
        times = "" if not count else " (once)" if count == 1 else f" ({count:,} times)"
        parts = merged((step.left, step.right), step.result)
        description = (f"step {step.rank + 1:,}: ", *parts, muted(times))
    elif isinstance(step, SplitStep):
        description = (f"step {step.rank + 1:,}: ", step.piece, " is split")
    else:
        # Below the units that it covers: a mark that continues a word stands before them.
        indent = " " * (offset + (0 if step.start else len(prefix)))
        candidate = Span(step.candidate, "accent" if step.found else "")
        return Row((muted(f"{number}"), (indent, candidate), step.outcome, (muted("→ "), after)))
    if steps and isinstance(step, AppliedMerge | SplitStep):
        target = Target("step", step.rank + 1)
    return Row((muted(f"{number}"), description, (muted("→ "), after)), target)


def lattice_sections(word: WordExplanation) -> Iterator[Section]:
    """Yield a section with a drawing of all pieces that can be part of a word, and a row for each, the most
    probable first; the best segmentation is marked. Yield nothing for a model without probabilities."""
    if not word.lattice:
        return
    edges = sorted(word.lattice, key=lambda edge: (-edge.posterior, edge.start, edge.end))
    rows = tuple(
        Row((f"{edge.start}–{edge.end}", f"{edge.score:.4f}", _percent(edge.posterior), edge.piece,
             *([warning("unknown")] if edge.symbol is None else [])), marked=edge.best)
        for edge in edges
    )
    summary = (f"{plural(len(rows), 'edge')}: units, log probability, share of all segmentations, drawn as "
               "thickness; the best path first")
    if len(word.units) > MOST_UNITS:
        summary += f"; {len(word.units):,} units are too many to draw (more than {MOST_UNITS})"
    yield Section("lattice", summary, rows, (Column(), NUMBER, NUMBER), _FIGURES,
                  drawing=Lattice(word.units, word.lattice))


def walk_sections(word: WordExplanation) -> Iterator[Section]:
    """Yield the places of a word as the search for its most probable segmentation fills them, one a row.
    Yield nothing for one unit, and for a model without probabilities."""
    if len(word.units) > 1 and (cells := viterbi_cells(word)):
        yield Section(
            "walk", "each place: the piece that ends there with the largest sum of log probabilities",
            tuple(_cell_row(cell) for cell in cells), (NUMBER, NUMBER, Column(), NUMBER), _EDGES)


def _cell_row(cell: WalkPlace) -> Row:
    of = f"of {plural(cell.tried, 'piece')}"
    return Row((f"{cell.place}", f"{cell.total:.4f}", (Span(cell.piece, "accent" if cell.best else ""),
                muted(f" from {cell.start}")), of), marked=cell.best)


def ways_section(ways: WordSegmentations) -> Section:
    """Return the segmentations of a word: most probable first, or shortest first without probabilities. The
    one that the encoder uses is marked, and comes last if it is not among the first."""
    count = f"{ways.count:,}" if ways.count < _HUGE else f"about 10^{len(str(ways.count)) - 1}"
    used = ("; used: ", segmented(ways.chosen), muted(f" ({ways.how})"))
    listed = [(way, score, share) for (way, score), share in itertools.zip_longest(ways.ways, ways.shares)]
    if ways.chosen and all(way != ways.chosen for way, *_ in listed):
        listed.append((ways.chosen, None, None))
    scored = any(score is not None for _, score, _ in listed)
    rows = []
    for way, score, share in listed:
        chosen = way == ways.chosen
        figures = [] if score is None else [f"{score:.4f}"]
        figures += [] if share is None else [_percent(share)]
        blanks = [""] * (2 if ways.shares else 1) if scored else []
        written = segmented(way, role="accent" if chosen else "")
        cells: tuple[Cell, ...] = (plural(len(way), "token"), *(figures or blanks), written)
        rows.append(Row(cells, marked=chosen))
    columns = (Column(), NUMBER, NUMBER)[: len(rows[0].cells) - 1] if rows else ()
    segmentations = "segmentation" if ways.count == 1 else "segmentations"
    counted = f"{count} {segmentations}"
    summary = (counted, *used) if ways.chosen else f"{counted}; the text cannot be encoded"
    total = max(ways.count, len(rows)) if ways.count < _HUGE else None
    notes = () if total is not None else ("…",)
    return Section("ways", summary, tuple(rows), columns, total=total, unit="more segmentations", notes=notes)


def _percent(share: float) -> str:
    percent = 100 * share
    return f"{percent:.2f} %" if percent >= 0.005 or not share else "< 0.01 %"


# ---- JSON


def text_json(facts: StringFacts) -> Json:
    """Return the encoding of a text as fields of JSON."""
    reason, back = facts.reason, facts.round_trip
    return {
        "encoding": None if facts.encoding is None else as_row(facts.encoding, *ENCODED),
        "error": facts.refusal or None, "why": facts.why, "reason": reason.reason, "facts": reason.facts,
        "decoded": back.back, "lost": list(back.lost), "words": [_word_json(word) for word in facts.words],
    }


def _word_json(word: WordFacts) -> Json:
    """Return the JSON of a word: units, steps, ids, ways, trees, lattice and walk.

    A count of ways beyond LARGEST is a string of digits.
    """
    explanation, ways = word.explanation, word.ways
    return {
        "text": explanation.text,
        "offsets": [explanation.start, explanation.end],
        "units": as_json(explanation.units),
        "steps": [_step_json(step) for step in explanation.steps],
        "ids": list(explanation.ids),
        "ways": None if ways is None else {
            "count": ways.count if ways.count <= LARGEST else str(ways.count),
            "first": [
                {"hex": as_json(way), "score": score, "share": share}
                for (way, score), share in itertools.zip_longest(ways.ways, ways.shares)
            ],
            "chosen": as_json(ways.chosen),
            "how": ways.how,
        },
        "tree": [root.to_json() for root in tree.roots] if (tree := tree_of_word(explanation, {})) else [],
        "lattice": [
            as_row(edge, *EDGE_FIELDS)
            | {"token": edge.symbol is not None} | piece_row(edge.piece)
            for edge in word.lattice
        ],
        "walk": [as_row(cell, *PLACE_FIELDS) | piece_row(cell.piece)
                 for cell in viterbi_cells(explanation)],
    }


def _step_json(step: EncodingStep) -> Json:
    """Return the JSON of a step. Only a merge or split has a training step, which counts from 1."""
    if isinstance(step, AppliedMerge):
        hex = as_json((step.left, step.right, step.result))
        return {"step": step.rank + 1, "hex": hex} | as_row(step, "start", "middle", "end")
    if isinstance(step, SplitStep):
        hex = as_json((step.piece, *step.parts))
        return {"step": step.rank + 1, "hex": hex} | as_row(step, "start", "cuts", "end")
    return {"hex": step.candidate.hex()} | as_row(step, "start", "end", "found")
