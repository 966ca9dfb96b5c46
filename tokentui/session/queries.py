"""Questions to a session: those that run in the background, on objects of their own, and those that are
answered at once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tokentui import axes, learn
from tokentui.analyze.compare import cuts, disagreements
from tokentui.analyze.health import examine
from tokentui.analyze.report import vocabulary_report
from tokentui.core import reach
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check, each
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import OWN, WRITTEN, Format
from tokentui.formats.files import export, mistaken, recognise, targets
from tokentui.formats.proof import ExportReport, contents, look
from tokentui.formats.spec import Refused, Spec
from tokentui.learn import start
from tokentui.learn.trainer import Compressed, Trainer
from tokentui.learn.values import Stop
from tokentui.recipe import Stops
from tokentui.session import commands as do
from tokentui.session import tools
from tokentui.session.column import needles
from tokentui.session.finding import find, find_changed
from tokentui.session.inspecting import (
    INSPECTED_CHARS,
    NOTHING_HELD,
    Held,
    inspected,
    life_of,
    places_of,
    token_there,
    token_view,
)
from tokentui.session.opening import Prepared, open_corpus
from tokentui.session.past import Past, at_end
from tokentui.session.snapshot import PiecePart, PiecesView, PreviewView
from tokentui.session.views import BETWEEN, MAIN, PARTS, CorpusPlace, Passage, Viewport
from tokentui.text.corpus import Corpus, LongText, beginning
from tokentui.text.count import Words

EDITABLE_BYTES = 1_000_000
"""A larger corpus is not edited: each key would train on all of it."""
PREVIEW_CHARS = 20_000
"""The characters of the corpus that a preview trains on; few enough to follow the selected line."""
PREVIEW_SIZE = 500
"""The size that a unigram model is pruned to in a preview."""


@dataclass(frozen=True, slots=True)
class TokenizerAtStep:
    """The tokenizer of a step, and what is open; of `prepared.trainer` only the counted words stay.

    Attributes:
        step: The step of the first column.
        tokenizer: Its tokenizer.
        prepared: The first column: its corpus, and the counted words of its trainer. The trainer goes on
            meanwhile, so only questions that the engine answers at once may ask it.
        view: The rows that are shown.
        typed: The typed text.
        columns: The tokenizers of all columns at the position.
        keys: The keys of these.
        passage: The passage that is shown.
        held: The part of the training at this step that the question needs.
        past: The steps of the first column, to be looked at again.
    """

    step: int
    tokenizer: Tokenizer
    prepared: Prepared
    view: Viewport
    typed: str
    columns: tuple[Tokenizer, ...]
    keys: tuple[int, ...]
    passage: Passage | None
    past: Past
    held: Held = NOTHING_HELD


def answered(command: do.Command[object], at: TokenizerAtStep) -> object:
    """The answer to a question, see the commands.

    Args:
        command: The question.
        at: The tokenizer of the step that it is asked at.
    """
    check()
    prepared, corpus, trainer = at.prepared, at.prepared.corpus, at.prepared.trainer
    match command:
        case do.Find():
            return find(prepared, at.view, command)
        case do.FindChanged(start):
            return find_changed(prepared, start)
        case do.Pieces(place, chars):
            return pieces_view(prepared, at.typed, place, chars)
        case do.CorpusText():
            return editable_text(corpus)
        case do.Compress(begin, length):
            return compressed(trainer, begin, length)
        case do.WhyUnreachable(number):
            return "" if trainer.replay is None else trainer.replay.unreachable(number)
        case do.Recognise(path):
            format = recognise(path)
            if format is None and (damaged := mistaken(path)) is not None:
                raise damaged
            return format.about if format else ""
        case do.Fingerprint():
            return corpus.sha256
        case do.ListSteps(order, text, mode, top, rows):
            return at.past.rows(at.step, order, needles(text, mode) if text else (), top, rows)
        case do.ExplainSteps(numbers, places):
            return at.past.views(numbers, at.typed, places)
        case do.InspectText():
            return inspected(at.tokenizer, prepared, at.step, command)
        case do.Draw(text, p, like, seed):
            text = text or at.typed
            if len(text) > INSPECTED_CHARS:
                what = f"a text of {len(text):,} characters is too long to tell each draw"
                raise TokentuiError(what, "", f"take one of at most {INSPECTED_CHARS:,}")
            return at.tokenizer.draws(text, p=p, like=like, seed=seed)
        case do.InspectToken(token):
            return token_view(at.tokenizer, prepared, at.step, token, at.held)
        case do.LifeOfWord():
            return life_of(at.tokenizer, prepared, at.step, command, at.held)
        case do.TokenPlaces():
            return places_of(prepared, at.tokenizer, command)
        case do.TokenThere():
            return token_there(prepared, at.tokenizer, command)
        case do.ExamineHealth():
            if prepared.opened is not None:  # all of the file, whatever step is shown
                return examine(prepared.opened.tokenizer)
            return examine(at.tokenizer, at.step)
        case do.Formats():
            spec = Spec(at.tokenizer)
            return tuple(look(spec, format) for format in each(WRITTEN.values()))
        case do.Export():
            return export_to(at, command)
        case do.Contents(format):
            report, files = contents(at.tokenizer, WRITTEN[format])
            return report, () if report.refused else tuple(files)
        case do.Preview():
            return preview(prepared, command)
        case do.EncodeAtEnd():
            return at_end(prepared, at.typed)
        case do.AnalyzeVocabulary(word, exhaust):
            text = word or at.typed
            return vocabulary_report(
                at.tokenizer, corpus, trainer.words, step=at.step, text=text, exhaust=exhaust
            )
        case do.NextPassage(backward):
            return next_parting(corpus, at.columns, at.passage, Passage().length, backward)
        case do.HoldOut(source, as_, field):
            return open_corpus(source, as_, field) if source else None
        case _:
            return tools.answered(command, at.tokenizer, corpus, dict(zip(at.keys, at.columns, strict=True)))


def preview(prepared: Prepared, command: do.Preview) -> PreviewView:
    """The first steps of a recipe on the beginning of the corpus.

    Args:
        prepared: What is open.
        command: The recipe, and its run.
    """
    run = command.run or prepared.run
    corpus = beginning(prepared.corpus, PREVIEW_CHARS)
    chars = corpus.characters + sum(len(word) for word, _ in corpus.counts or ())
    sample = corpus.size < prepared.corpus.size
    try:
        recipe = axes.check(command.recipe)
        trainer = start(corpus, recipe, replace(run, stops=Stops(vocab_size=PREVIEW_SIZE)))
        # The stops that say what is a candidate hold here too; those that end a run do not.
        shaping = run.stops.only(tuple(name for name in trainer.traits.shaped_by if name != "vocab_size"))
        reason = learn.run(trainer, replace(shaping, merges=command.steps))
    except TokentuiError as error:
        return PreviewView((), (), "", chars, str(error), sample)
    end = "" if reason is Stop.MERGES else str(reason)
    taken = map(trainer.taken, range(1, trainer.number + 1))
    pairs = tuple(candidate for candidate in taken if candidate is not None)
    lines = () if trainer.traits.grows else tuple(step.said for step in learn.steps(trainer))
    return PreviewView(pairs, lines, end, chars, sample=sample)


def _other_format(path: str, format: Format) -> Format | None:
    """The format that a name asks for, where it is another one than is written; a name in .json may be of
    any."""
    name = os.path.basename(path).lower()
    if name in format.files or name.endswith(format.suffixes):
        return None
    return next((one for one in WRITTEN.values() if one is not OWN and name.endswith(one.suffixes)), None)


def export_to(at: TokenizerAtStep, command: do.Export) -> ExportReport:
    """Write the tokenizer at that step.

    Raises:
        TokentuiError: A file is there already and must not be written over, or its name is one of another
            format, or it cannot be written.
    """
    reach.check_writing(command.path)
    path, format = reach.expanded(command.path), WRITTEN[command.format]
    there = next((one for one in targets(path, format) if os.path.lexists(one)), None)
    doubts = ["the file is there already"] if there is not None else []
    if (other := _other_format(path, format)) is not None:
        doubts.append(f"a name like this is one of {other.name}, not of {format.name}")
    if doubts and not command.overwrite:
        hint = "enter again writes over it" if there is not None else "enter again writes it all the same"
        raise TokentuiError("; ".join(doubts), there or path, hint)
    try:
        return export(at.tokenizer, path, format.name)
    except Refused as error:
        report = look(Spec(at.tokenizer), format)
        return replace(report, refused=report.refused or error.what.partition(": ")[2])


# Questions that are answered at once: where a text stands, what the last step changed, the compressed text.


def editable_text(corpus: Corpus) -> str:
    """The text of a corpus, for an editor.

    Raises:
        TokentuiError: It is no text, or too long.
    """
    if corpus.counts is not None:
        raise TokentuiError("counted words are no text to be edited", corpus.name, "open the text")
    if corpus.size > EDITABLE_BYTES:
        raise TokentuiError(
            f"more than {EDITABLE_BYTES:,} bytes cannot be edited", corpus.name, "open a part of it"
        )
    return "\n".join(corpus.documents)


def compressed(trainer: Trainer, start: int, length: int) -> Compressed:
    """A part of the compressed text.

    Raises:
        TokentuiError: There is none.
    """
    if (compression := trainer.compression) is None:
        objective = f"objective={trainer.recipe.objective}"
        raise TokentuiError("only Gage's compression has a compressed text", objective, "take gage")
    return compression.compressed(start, length)


def check_view(view: Viewport) -> None:
    """Refuse what looks at something that is not there.

    Raises:
        TokentuiError: There is no such list, or no such section.
    """
    if view.tokens is not None and view.tokens.part not in PARTS:
        raise TokentuiError("no such list", view.tokens.part, "one of: " + ", ".join(PARTS))
    for name in view.wants:
        if name not in MAIN and name not in BETWEEN:
            raise TokentuiError("no such section", name, "one of: " + ", ".join((*MAIN, *BETWEEN)))


# Stretches of the corpus that are shown encoded: where they begin and end, and the next one that columns cut
# otherwise.


MOST_CHARS = 2_000
"""The longest passage in characters."""
_NEAR = 40


def fitted(corpus: Corpus, wanted: Passage) -> Passage:
    """A passage inside the corpus that begins behind white space and ends before it, where there is some
    near."""
    count = len(corpus.parts)
    if not count:
        return Passage(0, 0, 0)
    document = min(max(0, wanted.document), count - 1)
    text = corpus.parts[document]
    if corpus.counts is not None:
        return Passage(document, 0, len(text))
    length = min(max(1, wanted.length), MOST_CHARS)
    start = min(max(0, wanted.start), len(text))
    if start == len(text):
        start = max(0, len(text) - length)
    before = text[max(0, start - _NEAR) : start]
    spaces = [place for place, char in enumerate(before) if char.isspace()]
    if spaces:
        start -= len(before) - spaces[-1] - 1
    return Passage(document, start, _end(text, start, length) - start)


def _end(text: str | LongText, start: int, length: int) -> int:
    """Where a passage ends: before the last white space in it, or the first behind it."""
    end = start + length
    if end >= len(text):
        return len(text)
    behind = text[end : end + _NEAR]
    if behind[0].isspace():
        return end
    inside = text[max(start + 1, end - _NEAR) : end]
    spaces = [place for place, char in enumerate(inside) if char.isspace()]
    if spaces:
        return end - len(inside) + spaces[-1]
    return end + next((place for place, char in enumerate(behind) if char.isspace()), 0)


def text_of(corpus: Corpus, passage: Passage) -> str:
    """The text of a passage."""
    if not corpus.parts:
        return ""
    return corpus.parts[passage.document][passage.start : passage.start + passage.length]


def next_parting(
    corpus: Corpus, tokenizers: Sequence[Tokenizer], here: Passage | None, length: int, backward: bool
) -> Passage | None:
    """The next passage, or the one before, that the tokenizers do not all cut alike.

    Args:
        corpus: The corpus.
        tokenizers: Two or more; a passage that one of them refuses is passed over.
        here: The passage to look from; None looks from an end of the corpus.
        length: How long passages are.
        backward: Look the other way.

    Returns:
        None where there is none, all round.
    """
    for passage in _passages(corpus, here, length, backward):
        check()
        text = text_of(corpus, passage)
        try:
            ways = [cuts(one.encode(text)) for one in tokenizers]
        except TokentuiError:
            continue
        if any(disagreements(ways)):
            return passage
    return None


def _passages(corpus: Corpus, here: Passage | None, length: int, backward: bool) -> Iterator[Passage]:
    """The passages of the corpus from one on, round the end, itself last."""
    count = len(corpus.parts)
    if not count:
        return
    if here is None:
        here = Passage(0, 0, 0) if not backward else Passage(count - 1, len(corpus.parts[count - 1]), 0)
    for turn in range(count + 1):
        number = (here.document + (-turn if backward else turn)) % count
        size = len(corpus.parts[number])
        start, end = 0, size
        if turn == 0:
            start, end = (0, here.start) if backward else (here.start + here.length, size)
        elif turn == count:
            start, end = (here.start, size) if backward else (0, here.start + here.length)
        yield from _cut(corpus, number, start, end, length, backward)


def _cut(
    corpus: Corpus, document: int, start: int, end: int, length: int, backward: bool
) -> Iterator[Passage]:
    """The passages of a stretch of a document."""
    text = corpus.parts[document]
    if corpus.counts is not None:
        if start < end:
            yield Passage(document, 0, len(text))
        return
    while start < end:
        if backward:
            begin = fitted(corpus, Passage(document, max(start, end - length), length)).start
            begin = begin if start <= begin < end else max(start, end - length)
            yield Passage(document, begin, end - begin)
            end = begin
        else:
            stop = max(start + 1, min(end, _end(text, start, length)))
            yield Passage(document, start, stop - start)
            start = stop


# The split of a text: its pieces, the matching branch of the pattern, and a warning for huge ones.


OWN_STEPS = "the steps of the file"
"""The label in place of the branches of a split for an opened tokenizer."""
HUGE_CHARS = 2_000
"""A pre-token of so many characters is no word any more."""
_TYPED_CHARS = 20_000
_MOST_EMPTY = 1_000
_CELL_BYTES = 120
"""About what a character of the distinct pre-tokens takes in memory: measured 61 at the start, 121 after some
merges."""


def pieces_view(
    prepared: Prepared, typed: str, place: CorpusPlace, chars: int
) -> PiecesView:
    """Split the typed text, and a number of characters of the corpus from a place on.

    Args:
        prepared: The corpus, its counted pre-tokens, and how they are cut.
        typed: What the user typed; the first characters of a very long text.
        place: The first character, moved to the start of its pre-token; behind the end of a document, to the
            next one that is not empty, or as far as a question goes.
        chars: The number of characters of the corpus.
    """
    text, words = prepared.text, prepared.trainer.words
    names = text.branches.names if text.branches is not None else (OWN_STEPS,)
    where = place
    corpus: tuple[PiecePart, ...] = ()
    if text.documents:
        last = text.documents - 1
        where = CorpusPlace(min(max(0, place.document), last), place.offset)
        furthest = min(where.document + _MOST_EMPTY, last)
        while where.document < furthest and where.offset >= len(text.text(where.document)):
            where = CorpusPlace(where.document + 1)
        corpus = tuple(text.pieces(where, chars))
        if corpus:
            where = CorpusPlace(where.document, corpus[0].start)
    longest = max(map(len, words.words), default=0)
    return PiecesView(
        split=prepared.recipe.split,
        branches=names,
        typed=tuple(text.typed(typed[:_TYPED_CHARS])),
        place=where,
        corpus=corpus,
        distinct=len(words.words),
        occurrences=words.occurrences,
        longest=longest,
        warning=_warning(words, longest),
    )


def _warning(words: Words, longest: int) -> str:
    """A warning of the cost of huge pieces, empty if there are none."""
    if longest < HUGE_CHARS:
        return ""
    total = sum(map(len, words.words))
    huge = sum(len(word) for word in words.words if len(word) >= HUGE_CHARS)
    return (
        f"the longest piece has {longest:,} characters: merges cross words, no count is shared between equal"
        f" words, and {huge:,} of {total:,} characters are laid out one by one,"
        f" about {_size(total * _CELL_BYTES)} of memory"
    )


def _size(count: int) -> str:
    return f"{count / 1e6:,.0f} MB" if count >= 1_000_000 else f"{max(1, count // 1000):,} kB"
