"""Inspecting a row: exact bytes and code points, whatever they are."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Hashable
from typing import Any

import pytest
from dialogs import FakeEngine, assert_safe, facts_of, pasted, row_facts, shown, tried_on_all_sizes
from hypothesis import given
from hypothesis import strategies as st
from rows import loss_row, pair_row, token_row
from screens import explorer, snapshot
from waiting import screen_text, settled, until

from tokentui import learn
from tokentui.analyze.explained import text_sections
from tokentui.analyze.inspect import string_facts
from tokentui.analyze.report import Row as ReportRow
from tokentui.analyze.report import Section
from tokentui.analyze.results import StringFacts
from tokentui.analyze.token_words import MOST_SHOWN, character_sections
from tokentui.axes import preset
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import CharKind, is_safe
from tokentui.encode.segment import AppliedMerge
from tokentui.learn import PairCandidate, jump, start
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe, Run, Stops
from tokentui.session.commands import Command, GoTo, InspectText, InspectToken, TokenPlaces, perform
from tokentui.session.engine.state import State
from tokentui.session.training.token_values import TokenView
from tokentui.session.training.training import prepare
from tokentui.session.views import Viewport
from tokentui.text.corpus import Corpus
from tokentui.text.read import read
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.dialogs.inspected import Row, text_of, token_sections, tokens_section, why_section
from tokentui.ui.draw.sections import section_rows
from tokentui.ui.draw.table import Listing, TableRow
from tokentui.ui.draw.text import Cell, width, wrap

TOKEN = token_row(383, " té\u202e".encode() + b"\xe2", "merge", 128, 9310, 402, parts=(b" t", b"\xc3\xa9"))
PAIR = pair_row(b"\x1b[", b"31m", b"\x1b[31m", 12, -3, False, True)


def _text(cell: Cell) -> str:
    return "".join(text for text, _ in cell)


def _facts(row: Row) -> dict[str, str]:
    return dict(row_facts(row))


def _lines(section: Section, width: int = 90) -> list[str]:
    """The lines of a section as text."""
    return [_text(row.cells[1]) for row in section_rows(section, 0, 1000, {}, set(), width)]


def test_a_token() -> None:
    assert _facts(TOKEN) == {
        "id": "383  merge",
        "made": "step 128, at 9,310 places",
        "uses now": "402 times",
        "parents": "·t + é",
        "text": "·téU+202E<E2>",
        "escaped": r" té\u202e\xe2",
        "points": "U+0020 U+0074 U+00E9 U+202E <E2>",
        "hex": "20 74 c3 a9 e2 80 ae e2  8 bytes",
    }
    assert facts_of(character_sections(TOKEN.piece)) == [
        ("U+0020", "·  SPACE"),
        ("U+0074", "t  LATIN SMALL LETTER T"),
        ("U+00E9", "é  LATIN SMALL LETTER E WITH ACUTE"),
        ("U+202E", "U+202E  RIGHT-TO-LEFT OVERRIDE"),
        ("<E2>", "a byte that is not a whole character"),
    ]


def test_a_token_of_the_base_and_one_that_is_not_used() -> None:
    base = _facts(token_row(65, b"A", "byte", None, None, 0))
    assert "made" not in base
    assert base["uses now"] == "not used"
    assert base["hex"] == "41  1 byte"
    assert _facts(token_row(0, b"<s>", "special", None, None, None))["uses now"] == "not counted"


def test_a_pair_brings_its_parents() -> None:
    told = _facts(PAIR)
    assert told["count"] == "12  −3 with the last step"
    assert told["parents"] == "␛[ + 31m"
    assert told["hex"] == "1b 5b 33 31 6d  5 bytes"
    assert "tied" in told
    assert _facts(pair_row(b"a", b"b", b"ab", 1, 0, True, False))["count"] == "1  new with the last step"
    assert facts_of(character_sections(PAIR.token))[0][1].endswith("a control character")


def test_a_merge_says_its_parents_itself() -> None:
    assert _facts(token_row(256, b"ab", "merge", 1, 5, 5, parts=(b"a", b"b")))["parents"] == "a + b"


def test_a_pair_by_score_has_its_figures() -> None:
    told = _facts(pair_row(b"##q", b"##u", b"##qu", 1201, 0, False, True, 1204, 261))
    assert told["its sides"] == "1,204 and 261 times"
    assert told["score"] == f"{1201 / (1204 * 261):.6g}  count divided by their product"
    assert told["tied"] == "another pair is exactly as good"


def test_a_pair_by_count_has_its_sides_too() -> None:
    told = _facts(dataclasses.replace(PAIR, left_uses=24, right_uses=30, tied=True))
    assert told["its sides"] == "24 and 30 times"
    assert told["tied"] == "another pair has the same count"


MARKED = "## ##x a##b </w> a</w> unhappy unhappily"


@pytest.mark.parametrize(
    "recipe",
    [
        preset("bert"), preset("bert", split="whitespace"), preset("subword-nmt"), preset("wordpiece"),
        preset("gpt2"), preset("subword-nmt-0.1"), preset("sentencepiece-bpe"),
    ],
    ids=lambda recipe: f"{recipe.split} {recipe.mark} {recipe.objective}",
)
def test_the_mark_of_a_token_is_none_of_its_bytes(recipe: Recipe) -> None:
    corpus = Corpus.from_text(MARKED)
    it = State(prepare(corpus, recipe, Run()))
    it.view = Viewport(vocabulary_rows=400, candidates_rows=400, vocabulary_folded=False)
    jump(it.main.trainer, 4)
    it.sync.adopt_position(it.main)
    now, tokenizer, told = it.snapshot(), it.main.trainer.tokenizer(), 0
    for row in now.main.vocabulary.rows:
        said = _facts(row)
        assert row.id is not None
        # Of a token alone decoding gives back its text; ▁ is a character of its own, which decoding reads as
        # a space.
        text = row.piece if recipe.split == "metaspace" else tokenizer.decode_bytes([row.id])
        assert said["hex"].split("  ")[0] == text.hex(" ")
        assert said["hex"].split("  ")[1].split(" ")[0] == str(len(text))
        assert ("mark" in said) == (text != row.piece)
        front, end = row.marks
        assert row.piece[:front] + text + row.piece[len(row.piece) - end :] == row.piece
        told += "mark" in said
    assert (told > 0) == (recipe.mark != "none")
    made = {row.piece: row.marks for row in now.main.vocabulary.rows}
    best = next(row for row in now.main.candidates.rows if isinstance(row, PairCandidate))
    jump(it.main.trainer, 5)
    after = {row.piece: row.marks for row in it.snapshot().main.vocabulary.rows}
    assert best.token not in made
    assert best.marks == after[best.token]


def test_numbers_for_people_are_short() -> None:
    recipe = preset("sentencepiece-unigram")
    corpus = read("sample:sailor")
    it = State(prepare(corpus, recipe, Run()))
    jump(it.main.trainer, 2)
    scored = preset("wordpiece")
    other = State(prepare(corpus, scored, Run()))
    main = it.snapshot().main
    rows: list[Row] = [*main.candidates.rows, *main.vocabulary.rows, *other.snapshot().main.candidates.rows]
    said = "\n".join(text for row in rows for text in _facts(row).values())
    assert "." in said
    assert not re.search(r"[0-9.,]*\.[0-9]*[1-9][0-9]{6}", said)


def test_a_placeholder_says_what_it_stands_for() -> None:
    told = _facts(pair_row(b"A", b"B", b"C", 2, 0, False, False, spelled=b"xxxd"))
    assert (told["stands for"], told["parents"], told["text"]) == ("xxxd", "A + B", "C")


def test_one_is_said_of_one() -> None:
    assert _facts(token_row(281, b"ab", "merge", 26, 1, 1))["made"] == "step 26, at 1 place"
    piece = loss_row(b"ab", 0.001, 1.0, 1, 0.5, (b"a", b"b"), "")
    assert _facts(piece)["uses now"] == "1 time  in the best segmentations"


def test_a_piece_of_a_unigram_model_and_one_that_left() -> None:
    told = _facts(token_row(7, b"ab", "piece", None, None, 3, -2.5))
    assert told["score"] == "−2.5  the natural log of 0.082085"
    left = _facts(token_row(None, b"ab", "left", None, None, None, 0.31, "expected < 0.5"))
    assert (left["id"], left["left for"]) == ("–  left", "expected < 0.5  0.31")
    assert "uses now" not in left


@pytest.mark.parametrize(
    ("goes", "taken", "fate"),
    [(True, False, "goes  low loss"), (True, True, "dropped  low loss"), (False, False, "stays")],
)
def test_a_piece_by_loss(goes: bool, taken: bool, fate: str) -> None:
    row = loss_row(b"ab", 0.001, 12.25, 11, float("-inf"), (b"a", b"b"), "low loss" if goes else "", taken)
    told = _facts(row)
    assert (told["p"], told["pruning"], told["instead"]) == ("0.001", fate, "a + b")
    assert told["loss"].startswith("−∞  ")
    assert told["expected"].startswith("12.2 times")
    assert "parents" not in told
    assert _facts(dataclasses.replace(row, parts=()))["instead"] == "nothing"


@given(st.binary(max_size=40))
def test_nothing_that_acts_is_shown(piece: bytes) -> None:
    row = token_row(0, piece, "base", None, None, 1)
    for label, text in (*row_facts(row), *facts_of(character_sections(piece))):
        assert is_safe(label)
        assert is_safe(text)


@pytest.mark.slow
def test_a_huge_token_is_cut() -> None:
    piece = b"\x1b" * 100_000
    assert len(list(character_sections(piece))) == MOST_SHOWN
    assert all(
        len(text) < 5 * MOST_SHOWN for text in _facts(token_row(0, piece, "base", None, None, 1)).values()
    )
    assert _facts(token_row(0, piece, "base", None, None, 1))["hex"].endswith("…  100,000 bytes")


CELLS = st.lists(
    st.tuples(
        st.text(st.sampled_from("ab漢字é·"), max_size=12), st.sampled_from(["", "muted", CharKind.text])
    ),
    max_size=4,
)


@given(CELLS, st.integers(-1, 12))
def test_lines_are_full_and_nothing_is_lost(cell: list[tuple[str, str]], columns: int) -> None:
    lines = wrap(tuple(cell), columns)
    room = max(2, columns)
    assert "".join(map(_text, lines)) == _text(tuple(cell))
    assert all(width(line) <= room for line in lines)
    assert all(width(line) >= room - 1 for line in lines[:-1])


async def test_it_is_shown_scrolls_and_is_left() -> None:
    dialog = InspectScreen(FakeEngine(), TOKEN)
    async with shown(dialog, (40, 12)) as (app, pilot):
        listing = dialog.query_one(Listing)
        await until(pilot, lambda: "383" in screen_text(pilot))
        assert "LATIN SMALL LETTER T" not in screen_text(pilot)
        await pilot.press("end")
        await until(pilot, lambda: "LATIN SMALL LETTER T" in screen_text(pilot))
        assert listing.cursor == len(listing.rows) - 1
        await pilot.press("escape")
        await until(pilot, lambda: app.answered)
        assert app.result is None


async def test_all_sizes() -> None:
    async with shown(InspectScreen(FakeEngine(), PAIR)) as (_, pilot):
        await tried_on_all_sizes(pilot)


# How a text is encoded, and why it is not one token.


def _state(recipe: Recipe, step: int, source: str = "sample:hugs") -> State:
    """A session's state at a step."""
    it = State(prepare(read(source), recipe, Run(stops=Stops(merges=100))))
    jump(it.main.trainer, step)
    it.sync.adopt_position(it.main)
    return it


def _answer(it: State, command: Command[Any]) -> Any:
    answers: list[Any] = []
    perform(command, it, answers.append)
    return answers[0]


def _asked(it: State, command: InspectText) -> StringFacts:
    found = _answer(it, command)
    assert isinstance(found, StringFacts)
    return found


def _face(it: State) -> FakeEngine:
    kinds = (InspectText, InspectToken, TokenPlaces)
    answers = dict.fromkeys(kinds, lambda command: _answer(it, command))
    return FakeEngine(snapshot(), answers=answers)


def _rows(found: StringFacts, steps: bool = True) -> list[tuple[int | None, TableRow]]:
    """The rows with the steps that they lead to."""
    rows: list[tuple[int | None, TableRow]] = []
    for place, section in enumerate((why_section(found), *text_sections(found, steps))):
        targets: dict[Hashable, ReportRow] = {}
        listed = list(section_rows(section, place, 1000, targets, set()))
        for row in listed:
            target = targets[row.key].target if row.key in targets else None
            rows.append((None if target is None else target.number, row))
    return rows


def _told(found: StringFacts, steps: bool = True) -> list[tuple[int | None, str]]:
    """The rows with the steps that they lead to, as text with single blanks."""
    return [(step, " ".join(" ".join(map(_text, row.cells)).split())) for step, row in _rows(found, steps)]


def test_an_answer_is_that_of_the_engine_at_the_step_that_is_seen() -> None:
    it, trainer = _state(preset("gpt2"), 2), start(read("sample:hugs"), preset("gpt2"))
    jump(trainer, 2)
    tokenizer = trainer.tokenizer()
    for text in ("hug", " hugs", "hug pug", "zzz", ""):
        alone = string_facts(tokenizer, text)
        assert _asked(it, InspectText(text)).reason == alone.reason
        ahead = _asked(it, InspectText(text, ahead=True))
        assert ahead.reason == string_facts(tokenizer, text, trainer=trainer).reason
        assert ahead.words == alone.words
    assert it.main.trainer.number == 2, "a copy is trained on, not the training that is seen"


def test_the_word_at_a_place_of_a_text_is_told_of() -> None:
    it, text = _state(preset("gpt2"), 2), "hug  pugs, bun"
    words = {at: _asked(it, InspectText(text, at)).text for at in range(len(text) + 3)}
    assert [words[at] for at in (0, 2, 3, 4, 5, 8, 9, 10, 13, 16)] == [
        "hug", "hug", " ", " pugs", " pugs", " pugs", ",", " bun", " bun", " bun"
    ]
    assert _asked(it, InspectText("", 0)).text == ""


LINES = ("hug  pugs", "hug pugs ", " hug\tpugs  ", "hug", "  ", "\n hug\n", "hug 界é pugs")


@pytest.mark.slow
async def test_the_word_at_every_cursor_of_a_line() -> None:
    """The word that ends at the cursor, else the one that begins there. At the end it is the last word; a
    cursor within white space is at no word."""
    app, _ = explorer()
    states = [_state(preset(name), 2) for name in ("gpt2", "bert", "llama2", "subword-nmt", "pathpiece")]
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        line = app.main.encode.line
        for text in LINES:
            line.value = text
            spans = [match.span() for match in re.finditer(r"\S+", text)]
            for cursor in range(len(text) + 1):
                line.cursor_position = cursor
                ends = [span for span in spans if span[0] < cursor <= span[1]]
                begins = [span for span in spans if span[0] == cursor]
                last = spans[-1:] if not text[cursor:] else []
                place = app.main.encode.place
                for start, end in [*ends, *begins, *last][:1]:
                    for it in states:
                        word, found = text[start:end], _asked(it, InspectText(text, place)).text.strip()
                        assert found, (text, cursor)
                        assert found in word or word in found, (text, cursor)
                assert 0 <= place < len(text)


def test_too_long_a_text_is_refused_in_one_line() -> None:
    it = _state(preset("gpt2"), 2)
    with pytest.raises(TokentuiError, match="text of more than 2,000 characters"):
        _answer(it, InspectText("ab" * 1001))


def test_each_merge_of_the_ladder_leads_to_its_step() -> None:
    it = _state(preset("gpt2"), 5)
    found = _asked(it, InspectText("hugs"))
    word = found.words[0].explanation
    rows = [(step, text) for step, text in _told(found) if step is not None]
    assert [step for step, _ in rows] == [step.rank + 1 for step in word.steps]  # type: ignore[union-attr]
    assert len(rows) > 1
    for (_, text), (_, count, pieces) in zip(rows, word.ladder, strict=True):
        assert text.endswith("→ " + " ".join(piece.decode().replace(" ", "·") for piece in pieces))
        assert f"({count} times)" in text
    assert not any(step for step, _ in _told(found, steps=False))


def test_the_step_that_makes_it_one_token_is_led_to() -> None:
    it = _state(preset("gpt2"), 1)
    found = _asked(it, InspectText("hug", ahead=True))
    assert found.reason.reason == "comes"
    step = found.reason.facts["step"]
    leads, text = _told(found)[0]
    assert leads == step
    assert text.endswith(f"continued training makes it one token at step {step}. enter goes there")
    jump(it.main.trainer, 90)
    jump(it.main.trainer, 1)
    later = _asked(it, InspectText("hug"))
    assert (later.reason.reason, _told(later)[0][0]) == ("later", step)


def test_longest_match_tells_each_attempt() -> None:
    it = _state(preset("wordpiece"), 5)
    found = _asked(it, InspectText("pugs"))
    tried = [text.partition(" →")[0] for _, text in _told(found) if " → " in text]
    assert len(tried) == len(found.words[0].explanation.steps) > 4
    assert tried[0] == "1 pugs is not a token"
    assert [one.endswith("found") for one in tried] == [
        step.found for step in found.words[0].explanation.steps  # type: ignore[union-attr]
    ]


def test_the_lattice_and_the_ways_have_shares_that_sum_to_one() -> None:
    it = _state(preset("sentencepiece-unigram"), 1, "sample:english")
    found = _asked(it, InspectText("crowd"))
    rows = [text for _, text in _told(found)]
    ways_at, lattice_at = (next(n for n, text in enumerate(rows) if text.startswith(name))
                           for name in ("ways", "lattice"))
    edges = [row for row in rows[lattice_at + 1 : ways_at] if re.match(r"\d+–\d+ ", row)]
    word = found.words[0]
    assert len(edges) == len(word.lattice) > 5
    assert f"{100 * max(edge.posterior for edge in word.lattice):.2f} %" in edges[0]
    assert word.ways is not None
    assert sum(word.ways.shares) == pytest.approx(1)
    ways = rows[ways_at + 1 :]
    assert len(ways) == word.ways.count == len(word.ways.shares)
    assert f"{100 * word.ways.shares[0]:.2f} %" in ways[0]


def test_what_decoding_gives_back_is_told_where_it_differs() -> None:
    it = _state(preset("bert"), 2)
    rows = [text for _, text in _told(_asked(it, InspectText("Hugs")))]
    assert "decoded hugs" in rows
    assert any("upper and lower case are not kept" in row for row in rows)
    assert not any(row.startswith("decoded") for _, row in _told(_asked(it, InspectText("hugs"))))


def test_the_text_of_a_row() -> None:
    assert text_of(TOKEN, preset("gpt2")) is None
    assert text_of(token_row(9, "▁the▁of".encode(), "piece", None, None, 3, -2.5), preset("t5")) == "the of"
    assert text_of(pair_row(b" t", b"he", b" the", 12, 0, False, False), preset("gpt2")) == " the"


@given(st.text(max_size=12))
def test_nothing_that_acts_is_shown_of_any_text(text: str) -> None:
    for recipe in ("gpt2", "wordpiece"):
        found = string_facts(_TOKENIZERS[recipe], text)
        for _, row in _rows(found):
            assert all(is_safe(part) for cell in row.cells for part, _ in cell)


def _trained(name: str) -> Any:
    trainer = start(Corpus.from_text("hug pug hugs " * 3 + "bun"), preset(name))
    learn.run(trainer, Stops(merges=8))
    return trainer.tokenizer()


_TOKENIZERS = {name: _trained(name) for name in ("gpt2", "wordpiece")}

WORDS = (
    ("gpt2", 60, " crowds", ("·c  id 273", "(49 times)", "·c r ow d s")),
    ("sentencepiece-unigram", 1, "crowd", ("▁c  id 56", "2–5", "98.25 %")),
    ("wordpiece", 60, "crowd", ("##r  id 27", "is not a token", "c ##r ##o ##w ##d")),
)
"""A preset, a step, a word, and what its inspector shows there."""


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
@pytest.mark.parametrize(("name", "step", "text", "wanted"), WORDS)
async def test_a_word_is_explained_by_the_steps_of_its_encoder(
    name: str, step: int, text: str, wanted: tuple[str, ...], size: tuple[int, int]
) -> None:
    it = _state(preset(name), step, "sample:english")
    dialog = InspectScreen(_face(it), typed=(text, 3))
    async with shown(dialog, size) as (_, pilot):
        await until(pilot, lambda: dialog.found is not None and not dialog.asking)
        await pilot.pause()
        seen = screen_text(pilot)
        assert [one for one in wanted if one not in seen] == []
        assert_safe(pilot)


async def test_steps_of_five_digits_are_not_cut() -> None:
    """The labels take as many columns as the longest of them; ids have no separators."""
    it, higher = _state(preset("gpt2"), 60, "sample:english"), 43_000
    found = _asked(it, InspectText(" the"))
    late = []
    for word in found.words:
        steps = tuple(
            dataclasses.replace(step, rank=step.rank + higher) if isinstance(step, AppliedMerge) else step
            for step in word.explanation.steps
        )
        late.append(dataclasses.replace(word, explanation=dataclasses.replace(word.explanation, steps=steps)))
    assert late[0].explanation.steps
    face = FakeEngine(snapshot(), answers={InspectText: dataclasses.replace(found, words=tuple(late))})
    dialog = InspectScreen(face, typed=(" the", 0))
    async with shown(dialog, (120, 40)) as (_, pilot):
        await until(pilot, lambda: dialog.found is not None and not dialog.asking)
        for size in ((120, 40), (80, 24)):
            await pilot.resize_terminal(*size)
            seen = screen_text(pilot)
            for step in late[0].explanation.steps:
                assert isinstance(step, AppliedMerge)
                assert re.search(rf"step {step.rank + 1:,}: \S", seen)
            assert "…" not in seen


def test_ids_have_no_separators() -> None:
    assert _facts(TOKEN._replace(id=43453))["id"] == "43453  merge"
    it = _state(preset("gpt2"), 60, "sample:english")
    found = _asked(it, InspectText("crowds"))
    assert found.encoding is not None
    ids = _lines(tokens_section(found))
    assert [text.rpartition("  ")[2] for text in ids] == [f"id {one.id}" for one in found.encoding.rows]
    number = next(one.id for one in it.main.trainer.tokenizer().entries() if one.piece == b"t")
    asked = InspectToken(number)
    view = _answer(it, asked)
    assert isinstance(view, TokenView)
    held = [one._replace(id=43453) for one in view.spellings]
    sections = token_sections(dataclasses.replace(view, spellings=held), None, 1)
    said = [_lines(section) for section in sections if section.name == "spelled"]
    assert " ".join(said[0]).count(" id 43453") == len(held) > 0


async def test_enter_goes_to_the_step_that_is_told_of() -> None:
    it = _state(preset("gpt2"), 1)
    face = _face(it)
    rows = it.snapshot().main.candidates.rows
    pair = next(row for row in rows if isinstance(row, PairCandidate) and row.token.isalpha())
    dialog = InspectScreen(face, pair, asks=True)
    async with shown(dialog) as (app, pilot):
        await until(pilot,
            lambda: "continued training makes it one token at step" in _flat(screen_text(pilot)))
        assert dialog.found is not None
        step = dialog.found.reason.facts["step"]
        assert isinstance(step, int)
        await pilot.press("down", "enter")  # the second line of the sentence
        await until(pilot, lambda: app.answered)
    assert face.of(GoTo) == [GoTo(step)]
    assert [command.ahead for command in face.of(InspectText)] == [False, True]


def _flat(text: str) -> str:
    return " ".join(re.sub("[│▐▸]", " ", text).split())


async def test_a_row_that_leads_nowhere_stays_and_any_text_can_be_typed() -> None:
    face = _face(_state(preset("gpt2"), 3))
    dialog = InspectScreen(face, typed=("hugs", 0))
    async with shown(dialog, (120, 40)) as (app, pilot):
        await until(pilot, lambda: dialog.found is not None and not dialog.asking)
        await pilot.press("end", "enter")
        await pilot.pause()
        assert not app.answered
        assert face.of(GoTo) == []
        await pilot.press("i")
        await pasted(pilot, "bun hug")
        await pilot.press("enter")
        await settled(pilot)
        assert "cuts it into 2 pre-tokens" in _flat(screen_text(pilot))
        assert "Inspect ‘bun·hug’" in screen_text(pilot)
        await pilot.press("i", "x", "escape")
        await until(pilot, lambda: not dialog.editing)
        assert not app.answered
        await pilot.press("escape")
        await until(pilot, lambda: app.answered)


async def test_what_cannot_be_told_is_said_and_the_row_stays() -> None:
    too_long = TokentuiError("the pattern takes too long")
    face = FakeEngine(snapshot(), answers={InspectText: too_long, InspectToken: too_long})
    dialog = InspectScreen(face, token_row(256, b"ab", "merge", 1, 5, 5, parts=(b"a", b"b")), asks=True)
    async with shown(dialog) as (_, pilot):
        await until(pilot, lambda: "the pattern takes too long" in screen_text(pilot))
        assert "LATIN SMALL LETTER B" in screen_text(pilot)
        assert "to the step" not in screen_text(pilot)


@pytest.mark.first_run(cases=4)
@pytest.mark.parametrize("name", PRESETS)
def test_the_id_that_is_told_of_a_token_is_its_own(name: str) -> None:
    """A text alone may be another token: `##e` is not `e`, `un` is not `▁un`. Then the row says that it is
    about a text."""
    it = _state(preset(name), 12)
    rows = it.snapshot().main.vocabulary.rows
    others = checked = 0
    for row in rows:
        recipe = it.snapshot().main.recipe
        if row.id is None or not (text := text_of(row, recipe)):
            continue
        try:
            found = _asked(it, InspectText(text))
        except TokentuiError:
            continue
        section = why_section(found, token=row.id)
        label, sentence = section.name, " ".join(_lines(section))
        named = re.search(r"one token: .*?id (\d+)", sentence)
        if label != "as a text" and named is not None:
            assert named[1] == str(row.id), (row, sentence)
            checked += 1
        if label == "as a text":
            others += 1
            assert " as a text of its own: " in sentence
            assert named is None or named[1] != str(row.id), (row, sentence)
    assert checked, rows
    if name in ("wordpiece", "bert"):
        assert others, rows
