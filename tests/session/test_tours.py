"""Tours: every claim is true of the engine, every fault is told with its line, and what is written is read
again."""

from __future__ import annotations

from pathlib import Path

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokentui.core.errors import TokentuiError
from tokentui.preset_table import PRESETS
from tokentui.recipe import Run, Stops
from tokentui.session import checked
from tokentui.session.claims import FACTS, Expected, Place, failures
from tokentui.session.shipped import TOURS
from tokentui.session.tours import (
    DOES,
    MOST_SAID,
    STATEMENTS,
    Stop,
    parsed,
    read_tour,
    recipe_words,
    written,
)
from tokentui.text.sources import find_sample
from tokentui.ui.actions import ACTIONS, MAIN_ACTIONS

ROOT = Path(__file__).resolve().parents[2]
NAMES = [one.name for one in TOURS]
HEAD = "title A\nopen sample:abac\nrecipe minbpe\n"


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_of_a_tour_holds(name: str) -> None:
    tour = read_tour(name)
    assert list(checked.wrong(tour)) == []
    assert sum(len(stop.expects) for stop in tour.stops) >= len(tour.stops)


@pytest.mark.parametrize("name", NAMES)
def test_a_tour_has_the_title_of_the_list_and_ships_its_corpora(name: str) -> None:
    tour = read_tour(name)
    assert tour.title == next(one.title for one in TOURS if one.name == name)
    for stop in tour.stops:
        assert find_sample(stop.place.source.removeprefix("sample:")).path.is_file()


def test_all_tour_files_are_listed() -> None:
    folder = Path(checked.__file__).parents[1] / "tours"
    assert sorted(path.stem for path in folder.iterdir()) == sorted(NAMES)


def test_a_tour_does_only_what_is_in_the_table_of_actions() -> None:
    assert set(DOES) <= {one.name for one in MAIN_ACTIONS}
    assert len({one.name for one in ACTIONS}) == len(ACTIONS)


def test_a_claim_that_is_wrong_is_told_with_its_line() -> None:
    text = HEAD + "say\n    x\nexpect pair a b\nexpect tied 1\n"
    assert list(checked.wrong(parsed(text, "t", "t.tour"))) == ["line 6: pair is a a, not a b"]


def test_the_tie_is_that_of_a_naive_count() -> None:
    """The claims of the first tour, recounted from scratch."""
    for tie, want in (("first-seen", ("aa", "a")), ("largest-pair", ("aa", "a")),
                      ("lowest-ids", ("a", "b")), ("shortest", ("a", "b"))):
        model = naive.Naive([[0, 0, 0, 1, 3, 0, 0, 0, 1, 0, 2]], [1], [b"a", b"b", b"c", b"d"], tie)
        counts = model.counts()
        assert (model.ranked(counts)[0], counts[0, 0]) == ((0, 0), 4)
        model.merge((0, 0))
        counts = model.counts()
        best = model.ranked(counts)[0]
        assert tuple(model.pieces[one].decode() for one in best) == want
        assert [counts[one] for one in counts].count(counts[best]) == 2
        assert counts[best] == 2


FAULTS = {
    "": "t.tour:1: a tour without a stop",
    "open sample:abac": "t.tour:1: a tour begins with its title",
    "title A\nfly to moon": "t.tour:2: no such word: fly",
    "title A\ntitle B": "t.tour:2: a tour has one title",
    "title A\n  open x": "t.tour:2: an indented line that belongs to no say",
    "title A\nopen": "t.tour:2: a word is missing",
    "title A\nopen a b": "t.tour:2: too many words: b",
    "title A\nopen -": "t.tour:2: a tour cannot open standard input",
    "title A\nopen 'a": "t.tour:2: no closing quotation",
    "title A\nsay x": "t.tour:2: nothing is open yet",
    "title A\nrecipe gpt3\n": "t.tour:2: ",
    "title A\nrecipe gpt2 foo=1": "t.tour:2: no axis and no word of a run: foo=1",
    "title A\nrecipe gpt2 tie=fair": "t.tour:2: ",
    "title A\nrecipe gpt2 merges=many": "t.tour:2: merges: a whole number is wanted",
    HEAD + "go to x": "t.tour:4: no step: x",
    HEAD + "do quit": "t.tour:4: a tour cannot do 'quit'",
    HEAD + "do export": "t.tour:4: a tour cannot do 'export'",
    HEAD + "go to end\ndo back": "t.tour:5: the number of the last step is not known here",
    HEAD + "say x\ngo to 3": "t.tour:5: nothing is said after this",
    HEAD + "say x\nexpect colour red": "t.tour:5: no such fact: colour",
    HEAD + "say x\nexpect pair": "t.tour:5: a value is missing",
    HEAD + "expect pair a a": "t.tour:4: expect stands behind the say that claims it",
    HEAD + "wait next": "t.tour:4: wait stands behind a say",
    HEAD + "say x\nwait next\ngo to 4\nsay y": "t.tour:6: the stop before waits for a step",
    HEAD + "say " + "x" * (MOST_SAID + 1): f"t.tour:4: more than {MOST_SAID} characters are said at once",
    "title A\ncorpus " + "x" * 20_000: "t.tour:2: a text of more than 10,000 characters",
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_fault_is_one_line_with_its_place_and_what_would_do(text: str) -> None:
    with pytest.raises(TokentuiError) as caught:
        parsed(text, "t", "t.tour")
    assert str(caught.value).startswith(FAULTS[text])
    assert caught.value.hint
    assert "\n" not in str(caught.value)


def fault(text: str) -> str:
    """The line of what is wrong with a text, empty where it is a tour."""
    try:
        parsed(text, "t", "t.tour")
    except TokentuiError as error:
        return str(error)
    return ""


@given(st.text())
def test_any_text_is_a_tour_or_refused(text: str) -> None:
    assert fault(text).partition(":")[0] in ("", "t.tour")


@given(st.text(alphabet="abz` '\"\\\t#·😀", max_size=20))
def test_any_line_behind_a_word_is_read_or_refused(text: str) -> None:
    for word in ("open", "corpus", "recipe", "go to", "do", "type", "say", "expect", "wait"):
        assert fault(f"{HEAD}{word} {text}\n").partition(":")[0] in ("", "t.tour")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read_again(name: str) -> None:
    tour = read_tour(name)
    again = parsed(written(tour.title, tour.stops), name, name)
    assert [(one.place, one.said) for one in again.stops] == [(one.place, one.said) for one in tour.stops]
    claims = [[(one.name, one.words) for one in stop.expects] for stop in tour.stops]
    assert [[(one.name, one.words) for one in stop.expects] for stop in again.stops] == claims


@given(st.text(alphabet="nab \"'\\\n😀", max_size=12), st.text(alphabet="ab \"'\\$", max_size=12))
def test_texts_with_quotes_survive_writing(corpus: str, typed: str) -> None:
    stop = Stop(Place("", corpus or "a", typed=typed), "x", expects=(Expected("tokens", ("a b", "'")),))
    (again,) = parsed(written("A", [stop]), "t", "t.tour").stops
    assert again.place == stop.place
    assert again.expects[0].words == ("a b", "'")


@pytest.mark.parametrize("name", PRESETS)
def test_a_recipe_in_words_is_that_recipe(name: str) -> None:
    recipe = PRESETS[name].recipe.with_axes(tie="smallest-pair")
    run = Run(Stops(merges=7), specials=("<a>",))
    if recipe.objective == "count":
        words = recipe_words(recipe, run)
        place = Place("sample:abac", None, recipe, run)
        (again,) = parsed(written("A", [Stop(place, "x")]), "t", "t.tour").stops
        assert (again.place.recipe, again.place.run) == (recipe, run), words


def test_a_file_names_its_corpus_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("low lower lowest")
    path = tmp_path / "mine.tour"
    path.write_text("title Mine\nopen words.txt\nrecipe gpt2\nsay x\nexpect pair l o\nexpect places 3\n")
    tour = read_tour(str(path))
    assert tour.stops[0].place.source == str(tmp_path / "words.txt")
    assert list(checked.wrong(tour)) == []


@pytest.mark.parametrize("what", ["missing", "folder", "bytes", "large"])
def test_a_file_that_is_no_tour_is_refused(what: str, tmp_path: Path) -> None:
    path = tmp_path / "x.tour"
    if what == "folder":
        path.mkdir()
    elif what != "missing":
        path.write_bytes(b"title \xff" if what == "bytes" else b"#" * ((1 << 20) + 2))
    with pytest.raises(TokentuiError) as caught:
        read_tour(str(path))
    assert "x.tour" in str(caught.value)


def test_the_example_of_the_document_is_a_tour_whose_claims_hold() -> None:
    text = (ROOT / "docs" / "tours.md").read_text(encoding="utf-8")
    example = "\n".join(line[4:] for line in text.splitlines() if line.startswith("    ") or not line)
    tour = parsed(example, "t", "docs/tours.md")
    assert len(tour.stops) == 2
    assert list(checked.wrong(tour)) == []
    for name in (*STATEMENTS, *FACTS, *DOES):
        assert f"`{name}" in text, name
    assert f"at most {MOST_SAID} characters" in text


def test_every_fact_can_be_claimed() -> None:
    text = HEAD + "type aab\ngo to 1\nsay x\n"
    column = checked.column_at(parsed(text, "t", "t").stops[0].place)
    for name, true in FACTS.items():
        words = true(column, ("aa",))
        assert failures([Expected(name, words or ("",))], column) == []
        assert len(failures([Expected(name, ("nonsense", *words))], column)) == 1
