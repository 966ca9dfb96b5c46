"""Tours: every claim is true of the engine, every fault is told with its line, and what is written is read
again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokentui.axes import AXES, changed, preset
from tokentui.core.errors import TokentuiError
from tokentui.core.toml import toml_value
from tokentui.preset_table import PRESETS
from tokentui.recipe import RUN, SHAPE, Recipe, Run, Stops
from tokentui.text.sources import find_sample
from tokentui.tours import check as checked
from tokentui.tours.facts import FACTS, Claim, Place, failures
from tokentui.tours.parser import (
    ACTIONS,
    KEYS,
    MOST_TEXT,
    MOVES,
    Stop,
    parse_tour,
    read_tour,
    tour_text,
)
from tokentui.tours.shipped import TOURS
from tokentui.ui.bindings import actions_of
from tokentui.ui.main_screen import MainScreen

ROOT = Path(__file__).resolve().parents[2]
NAMES = [one.name for one in TOURS]
_CORPUS = 'title = "A"\n[[stop]]\n'
HEAD = _CORPUS + 'corpus = "sample:abac"\nrecipe = "minbpe"\n'


@pytest.mark.first_run(cases=6)
@pytest.mark.parametrize("name", NAMES)
def test_every_claim_of_a_tour_holds(name: str) -> None:
    tour = read_tour(name)
    assert list(checked.false_claims(tour)) == []
    assert sum(len(stop.claims) for stop in tour.stops) >= len(tour.stops)


@pytest.mark.parametrize("name", NAMES)
def test_a_tour_has_the_title_of_the_list_and_ships_its_corpora(name: str) -> None:
    tour = read_tour(name)
    assert tour.title == next(one.title for one in TOURS if one.name == name)
    for stop in tour.stops:
        source = stop.place.source.removeprefix("sample:")
        assert stop.place.text is not None or find_sample(source).path.is_file()


def test_all_tour_files_are_listed() -> None:
    folder = Path(checked.__file__).parent
    assert sorted(path.stem for path in folder.glob("*.toml")) == sorted(NAMES)


def test_a_tour_does_only_what_is_in_the_table_of_actions() -> None:
    assert {*MOVES, *ACTIONS} <= {action.id for action in actions_of(MainScreen, {})}


def test_a_wrong_claim_is_named_with_its_stop() -> None:
    text = HEAD + 'text = "x"\nclaims = { pair = ["a", "b"], tied = 1 }\n'
    wrong = list(checked.false_claims(parse_tour(text, "t", "t.toml")))
    assert wrong == ['stop 1: pair is ["a", "a"], not ["a", "b"]']


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
    "": "t.toml: the title is missing",
    "title = 3": "t.toml: the title is missing",
    'title = "A"': "t.toml: there are no stops",
    'title = "A"\nstop = 3': "t.toml: there are no stops",
    'title = "A"\nstop = [3]': "t.toml: there are no stops",
    'titel = "A"': "t.toml: no such key: titel (did you mean title?)",
    'title = "A"\nfly to moon': "t.toml:2: not TOML: ",
    'title = "A': "t.toml: not TOML: ",
    "x = " + "[" * 5000: "t.toml: not TOML: ",
    'title = "A"\n[[stop]]\ntext = "x"': "t.toml: stop 1: corpus: the first stop needs a corpus",
    HEAD: "t.toml: stop 1: text: the text is missing",
    HEAD + 'text = " "': "t.toml: stop 1: text: the text is missing",
    HEAD + f'text = "{"x" * (MOST_TEXT + 1)}"': f"t.toml: stop 1: text: more than {MOST_TEXT} characters",
    HEAD + 'steps = 3\ntext = "x"': "t.toml: stop 1: no such key: steps (did you mean step?)",
    HEAD + "step = -1": "t.toml: stop 1: step: no step: -1",
    HEAD + 'step = "last"': "t.toml: stop 1: step: no step: 'last'",
    HEAD + "step = true": "t.toml: stop 1: step: wrong type: True",
    HEAD + 'typed = "a\\nb"': "t.toml: stop 1: typed: more than one line",
    HEAD + 'corpus_text = "a"': "t.toml: stop 1: corpus: there is a corpus_text too",
    HEAD + 'text = "x"\nactions = ["quit"]': "t.toml: stop 1: actions: unknown action: 'quit'",
    HEAD + 'text = "x"\nactions = [["a"]]': "t.toml: stop 1: actions: unknown action: ['a']",
    HEAD + 'text = "x"\nwait = "export"': "t.toml: stop 1: wait: unknown action: 'export'",
    HEAD + 'text = "x"\nwait = ""': "t.toml: stop 1: wait: unknown action: ''",
    HEAD + 'step = "end"\ntext = "x"\nwait = "back"': "t.toml: stop 1: wait: no back from the end of the run",
    HEAD + 'text = "x"\nwait = "next"\n[[stop]]\nstep = 4\ntext = "y"': (
        "t.toml: stop 2: step: the stop before it waits for next, which leads here"
    ),
    HEAD + 'text = "x"\nclaims = { color = 3 }': "t.toml: stop 1: claims: no such fact: color",
    HEAD + 'text = "x"\nclaims = { pair = ["a", 3] }': "t.toml: stop 1: claims.pair: wrong type: ",
    _CORPUS + 'corpus = "-"': "t.toml: stop 1: corpus: a tour needs a named corpus",
    _CORPUS + f'corpus_text = "{"x" * 10_001}"': "t.toml: stop 1: corpus_text: not 1 to 10,000 characters",
    _CORPUS + 'corpus = "a"\nrecipe = "gpt3"': "t.toml: stop 1: recipe: gpt3: no such preset",
    _CORPUS + 'corpus = "a"\nrecipe = {}': "t.toml: stop 1: recipe: the preset is missing",
    _CORPUS + 'corpus = "a"\nrecipe = { preset = "gpt2", foo = 1 }': (
        "t.toml: stop 1: recipe: not an axis or a run setting: foo"
    ),
    _CORPUS + 'corpus = "a"\nrecipe = { preset = "gpt2", tie = "fair" }': "t.toml: stop 1: recipe: tie",
    _CORPUS + 'corpus = "a"\nrecipe = { preset = "gpt2", tie = 3 }': "t.toml: stop 1: recipe: axis 'tie'",
    _CORPUS + 'corpus = "a"\nrecipe = { preset = "gpt2", merges = "many" }': (
        "t.toml: stop 1: recipe: merges: expected a whole number"
    ),
}


@pytest.mark.parametrize("text", FAULTS)
def test_an_error_is_one_line_with_place_and_hint(text: str) -> None:
    with pytest.raises(TokentuiError) as caught:
        parse_tour(text, "t", "t.toml")
    assert str(caught.value).startswith(FAULTS[text])
    assert caught.value.hint
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", KEYS)
def test_a_key_of_a_wrong_type_is_refused_with_an_example(key: str) -> None:
    with pytest.raises(TokentuiError) as caught:
        parse_tour(f'title = "A"\n[[stop]]\n{key} = 1.5', "t", "t.toml")
    assert str(caught.value) == f"t.toml: stop 1: {key}: wrong type: 1.5 (for example {KEYS[key].example})"


@pytest.mark.parametrize("fact", FACTS)
def test_a_claim_of_a_wrong_type_is_refused_with_an_example(fact: str) -> None:
    with pytest.raises(TokentuiError) as caught:
        parse_tour(f'{HEAD}text = "x"\nclaims = {{ {fact} = 1.5 }}', "t", "t.toml")
    example = FACTS[fact].example
    assert str(caught.value) == (
        f"t.toml: stop 1: claims.{fact}: wrong type: 1.5 (for example {fact} = {example})"
    )
    parse_tour(f'{HEAD}text = "x"\nclaims = {{ {fact} = {example} }}', "t", "t.toml")


def error_of(text: str) -> str:
    """Return the error of a text that is no tour, or an empty text."""
    try:
        parse_tour(text, "t", "t.toml")
    except TokentuiError as error:
        return str(error)
    return ""


@given(st.text())
def test_any_text_is_a_tour_or_refused(text: str) -> None:
    assert error_of(text).partition(":")[0] in ("", "t.toml")


VALUES = st.recursive(
    st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    | st.sampled_from(["gpt2", "next", "end"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["preset", *AXES, *RUN, *SHAPE, *FACTS]), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*KEYS]), VALUES))
def test_any_value_of_a_key_is_read_or_refused(table: dict[str, object]) -> None:
    lines = "".join(f"{key} = {toml_value(value)}\n" for key, value in table.items())
    line = error_of(f'title = "A"\n[[stop]]\n{lines}')
    assert line.partition(":")[0] in ("", "t.toml")
    assert "\n" not in line


@pytest.mark.parametrize("name", NAMES)
def test_a_written_tour_reads_back(name: str) -> None:
    tour = read_tour(name)
    assert parse_tour(tour_text(tour.title, tour.stops), name, name) == tour


LINES = st.text(alphabet="nab \"'\\\t\x7f\x00#=[]·😀", max_size=12)


@given(LINES, LINES, LINES, st.lists(LINES, max_size=3), st.sampled_from(ACTIONS), st.integers(0, 50))
def test_any_stop_reads_back(
    corpus: str, typed: str, text: str, tokens: list[str], action: str, step: int
) -> None:
    claims = (Claim("tokens", tokens), Claim("uses", {corpus: step}), Claim("end", typed))
    first = Stop(Place("", f"a\n{corpus}", typed=typed), f"x {text}".strip(), (action,), claims, "next_10")
    second = Stop(replace(first.place, step=10), "y", wait="end")
    third = Stop(replace(first.place, step=None), "z")
    last = Stop(Place("sample:abac", None, preset("wordpiece"), step=step, typed=typed), "end")
    stops = (first, second, third, last)
    assert parse_tour(tour_text("A", stops), "t", "t.toml").stops == stops


@pytest.mark.parametrize("run", [Run(), Run(Stops(merges=7), specials=("<a>",))], ids=["default", "own"])
def test_the_recipe_and_run_of_a_stop_read_back(run: Run) -> None:
    for made in PRESETS.values():
        other = changed_to(made.recipe, "smallest-pair")
        for recipe in [made.recipe, other] if other else [made.recipe]:
            stop = Stop(Place("sample:abac", None, recipe, run), "x")
            assert parse_tour(tour_text("A", [stop]), "t", "t.toml").stops == (stop,)


def changed_to(recipe: Recipe, tie: str) -> Recipe | None:
    """Return a recipe with another tie rule, or None where the recipe takes none."""
    try:
        return changed(recipe, tie=tie)
    except TokentuiError:
        return None


def test_a_file_names_its_corpus_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("low lower lowest")
    path = tmp_path / "mine.toml"
    path.write_text(
        'title = "Mine"\n[[stop]]\ncorpus = "words.txt"\nrecipe = "gpt2"\ntext = "x"\n'
        'claims = { pair = ["l", "o"], places = 3 }\n'
    )
    tour = read_tour(str(path))
    assert tour.stops[0].place.source == str(tmp_path / "words.txt")
    assert list(checked.false_claims(tour)) == []


@pytest.mark.parametrize("what", ["missing", "folder", "bytes", "large"])
def test_a_file_that_is_no_tour_is_refused(what: str, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    if what == "folder":
        path.mkdir()
    elif what != "missing":
        path.write_bytes(b"title = \xff" if what == "bytes" else b"#" * ((1 << 20) + 2))
    with pytest.raises(TokentuiError) as caught:
        read_tour(str(path))
    assert "x.toml" in str(caught.value)


def test_the_example_of_the_document_is_a_tour_whose_claims_are_true() -> None:
    text = (ROOT / "docs" / "tours.md").read_text(encoding="utf-8")
    example = text.partition("```toml\n")[2].partition("```")[0]
    tour = parse_tour(example, "t", "docs/tours.md")
    assert len(tour.stops) == 2
    assert list(checked.false_claims(tour)) == []


@pytest.mark.parametrize("fact", FACTS)
def test_the_document_describes_every_fact(fact: str) -> None:
    lines = (ROOT / "docs" / "tours.md").read_text(encoding="utf-8")
    assert f"| `{fact}` | `{FACTS[fact].example}` | " in lines


@pytest.mark.parametrize("name", [*KEYS, *FACTS, *MOVES, *ACTIONS])
def test_the_document_has_every_name(name: str) -> None:
    assert f"`{name}`" in (ROOT / "docs" / "tours.md").read_text(encoding="utf-8")


def test_the_document_has_the_limit_of_a_text() -> None:
    assert f"at most {MOST_TEXT} characters" in (ROOT / "docs" / "tours.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("fact", FACTS)
def test_a_claim_is_checked(fact: str) -> None:
    place = Place("sample:abac", None, preset("minbpe"), step=1, typed="aab")
    column = checked.column_at(place)
    true = FACTS[fact].read(column, {"aa": 0})
    other = {int: -1, str: "nonsense", list: ["nonsense"], dict: {"aa": -1}}[FACTS[fact].kind]
    assert failures([Claim(fact, true)], column) == []
    assert len(failures([Claim(fact, other)], column)) == 1
