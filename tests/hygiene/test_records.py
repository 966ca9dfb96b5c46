"""A record that is new in one table: it is trained by, with kernels and without, run, measured and shown, or
refused in a line, and never a traceback.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import made_up_format
import pytest
import screens
from dialogs import FakeEngine, shown
from reimporting import import_again
from running_cli import done, rows
from screens import snapshot
from trainers import merge_steps
from waiting import screen_text, settled, until

import tokentui
from tokentui import learn
from tokentui.analyze import health, metrics
from tokentui.analyze.analyses import ANALYSES, Analysis
from tokentui.analyze.health import Check
from tokentui.analyze.health.survey import Finding
from tokentui.analyze.metrics import Measure
from tokentui.analyze.report import Report, Row, Section
from tokentui.analyze.results import Example
from tokentui.axes import AXES, check, preset
from tokentui.cli.main import COMMANDS, CommandEntry
from tokentui.core import engines
from tokentui.core.choices import Choice, Ref
from tokentui.core.engines import COMPILED
from tokentui.core.errors import TokentuiError
from tokentui.encode.segment import ENCODING_WAYS, UNKNOWN
from tokentui.formats import FORMATS, WRITTEN
from tokentui.formats.proof import check_export
from tokentui.formats.spec import Spec
from tokentui.learn import Column, start
from tokentui.preset_table import PRESETS, Preset
from tokentui.recipe import Recipe, Run, Stops
from tokentui.session import commands as do
from tokentui.session.commands import Analyze
from tokentui.session.engine import state as states
from tokentui.session.engine.state import State
from tokentui.session.training.training import prepare
from tokentui.text.corpus import Corpus
from tokentui.text.normalize import NORMALIZERS
from tokentui.text.pretokenize import MARKS, UNITS
from tokentui.text.split import Split, WordSpan
from tokentui.ui.dialogs import draft
from tokentui.ui.dialogs.analysis import AnalysisScreen
from tokentui.ui.dialogs.export import ExportScreen
from tokentui.ui.dialogs.facts import FactsScreen
from tokentui.ui.draw.figures import decimal
from tokentui.ui.panes.column_tables import SCORE_WIDTH

CORPUS = Corpus.from_text("low lower-lowest New newer-newest wide-wider " * 40 + "widest LOW", "new values")
PLAIN = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="per-unit")
NAME = "brand-new"


def _at_hyphens(pattern: object, text: str, seen: object) -> Iterator[WordSpan]:
    """A split that is a function, without a pattern."""
    at = 0
    for word in text.split("-"):
        yield word, at, at + len(word)
        at += len(word) + 1


def _short(piece: bytes) -> bool:
    return len(piece) <= 2


def new(record: Any, **fields: Any) -> Any:
    """A record under the new name, which no kernel knows."""
    known = {"kernel": False} if hasattr(record, "kernel") else {}
    return replace(record, name=NAME, **known, **fields)


# The axis, its new value, and a recipe that is known to do the same; None where none does.
VALUES: dict[str, tuple[Choice, Recipe | None]] = {
    "tie": (new(AXES["tie"]["smallest-pair"]), PLAIN.with_axes(tie="smallest-pair")),
    "split": (Split(NAME, "at hyphens", find_words=_at_hyphens), PLAIN.with_axes(split="regex:[^-]+")),
    "base": (new(AXES["base"]["first-seen"]), PLAIN.with_axes(base="first-seen")),
    "pieces": (new(AXES["pieces"]["any"], allows=_short), None),
    "normalize": (new(NORMALIZERS["lowercase"]), PLAIN.with_axes(normalize=("lowercase",))),
    "unknown": (new(UNKNOWN["fused"]), PLAIN.with_axes(unknown="fused")),
    "objective": (new(AXES["objective"]["count"]), PLAIN),
    "encode": (new(ENCODING_WAYS["merges"]), PLAIN),
    "unit": (new(UNITS["char"], kinds=0), PLAIN),
    "mark": (new(MARKS["none"]), PLAIN),
    "weight": (new(AXES["weight"]["distinct"]), PLAIN.with_axes(weight="distinct")),
}


@pytest.fixture(params=["plain", "compiled"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "compiled":
        request.getfixturevalue("loaded")
    monkeypatch.setenv(engines.VARIABLE, "off" if request.param == "plain" else "on")
    return str(request.param)


def steps(recipe: Recipe) -> list[tuple[bytes, bytes, int]]:
    trainer = start(CORPUS, recipe)
    learn.run(trainer, Stops(merges=60))
    return [(step.left, step.right, step.count) for step in merge_steps(trainer)]


def with_new(axis: str, name: str = NAME) -> Recipe:
    """A recipe with the new value."""
    return PLAIN.with_axes(**{axis: (name,) if axis == "normalize" else name})


def test_every_axis_is_tried() -> None:
    assert VALUES.keys() == AXES.keys()


@pytest.mark.first_run(cases=8)
@pytest.mark.parametrize("axis", VALUES)
def test_a_new_value_is_trained_by(axis: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    record, same = VALUES[axis]
    monkeypatch.setitem(AXES[axis], NAME, record)
    recipe = check(with_new(axis))
    made = steps(recipe)
    assert made
    if same is not None:
        assert made == steps(same)
    else:
        assert all(len(left + right) <= 2 for left, right, _ in made)
    tokenizer = start(CORPUS, recipe).tokenizer()
    assert tokenizer.encode("low§§").ids
    explorer = State(prepare(CORPUS, recipe, Run()))
    seen = explorer.snapshot()
    assert seen.main.recipe == recipe
    assert seen.main.candidates.rows


@pytest.mark.first_run(cases=4)
@pytest.mark.parametrize("axis", VALUES)
def test_a_new_value_shows_up_everywhere(axis: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the list of commands, the own file, another tool's file or its refusal, and the rows of the dialog.
    """
    monkeypatch.setitem(AXES[axis], NAME, VALUES[axis][0])
    recipe = check(with_new(axis))
    (row,) = [one for one in json.loads(done("recipes", "--json"))["axes"] if one["name"] == axis]
    assert row["values"][NAME] == VALUES[axis][0].about
    assert NAME in [option.label for option in draft.options(PLAIN, axis)]
    assert VALUES[axis][0].about in draft.meaning(recipe, axis)
    assert Recipe.from_toml(recipe.to_toml()) == recipe
    tokenizer = tokentui.train(CORPUS, recipe, merges=9)
    tokenizer.save(tmp_path / "own.json")
    assert (
        tokentui.load(tmp_path / "own.json").encode("lower newest").ids
        == tokenizer.encode("lower newest").ids
    )
    with contextlib.suppress(TokentuiError):  # a format may say that it cannot hold it
        tokenizer.save(tmp_path / "other.json", "huggingface")


def test_a_new_preset_shows_up_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = r"regex:\w+|\s+"
    made = Preset(NAME, "new", "what is new", "nowhere", Recipe(split=pattern))
    monkeypatch.setitem(vars(PRESETS)["_rows"], NAME, lambda: made)
    assert preset(NAME).split == pattern
    assert NAME in done("recipes")
    assert pattern in json.loads(done("recipes", NAME, "--json"))["recipe"]["split"]
    assert NAME in [row.key for row in draft.preset_rows(PLAIN)]
    assert tokentui.train(CORPUS, NAME, merges=3).vocab_size == 259


@pytest.mark.slow
@pytest.mark.parametrize("name", ["value", "score"])
async def test_an_objective_of_a_value_is_drawn(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own exact value, rounded, stands in its column and in Why."""
    score = AXES["objective"]["score"]
    record = new(
        score, value=lambda count, left, right: (count**2, left * right),
        formula="c(xy)²/(c(x)·c(y))", columns=(*score.columns[:3], Column(name, "", "score")),
    )
    monkeypatch.setitem(AXES["objective"], NAME, record)
    state = State(prepare(CORPUS, with_new("objective"), Run()))
    state.view = replace(state.view, candidates_rows=9)
    rows_of = state.snapshot().main.candidates.rows
    assert [row.values[3] for row in rows_of] == [float(row.worth) for row in rows_of]
    app, session = screens.explorer()
    async with app.run_test(size=(200, 50)) as pilot:
        await settled(pilot)
        session.publish(replace(state.snapshot(), version=10))
        await until(pilot, lambda: f"the {name} f(xy)²/(f(x)·f(y))" in screen_text(pilot))
        worths = {decimal(float(row.worth), SCORE_WIDTH) for row in rows_of}
        assert len(worths) > 1
        assert all(worth in screen_text(pilot) for worth in worths)


@pytest.mark.parametrize("axis", AXES)
def test_a_value_without_a_record_is_refused_in_a_line(axis: str, engine: str) -> None:
    recipe = with_new(axis, "of-no-record")

    def use() -> None:
        trainer = start(CORPUS, recipe)
        learn.run(trainer, Stops(merges=3))
        trainer.tokenizer().encode("low")

    for refused in (use, lambda: check(recipe)):
        with pytest.raises(TokentuiError, match=axis):
            refused()


@pytest.mark.slow
def test_the_screen_says_what_has_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    large = Corpus.from_text("low lower lowest " * 12_000, "large")
    recipe = PLAIN.with_axes(symbols=("est",))
    explorer = State(prepare(large, recipe, Run()))
    assert explorer.snapshot().engine_said == "plain Python for symbols=est, else compiled"
    for size, said in ((199_999, "compiled"), (200_000, "plain Python for symbols=est, else compiled")):
        state = State(prepare(Corpus.from_text(("low lower lowest " * 12_000)[:size]), recipe, Run()))
        assert state.snapshot().engine_said == said
    known = State(prepare(large, PLAIN, Run()))
    assert known.snapshot().engine_said == "compiled"
    recipe = PLAIN.with_axes(split=r"regex:\b\w+")
    counted = State(prepare(large, recipe, Run()))
    assert counted.snapshot().engine_said == "compiled; plain Python counts by split=regex:\\b\\w+"


@pytest.mark.parametrize(("change", "said"), [
    (lambda: PLAIN, ""),
    (lambda: PLAIN.with_axes(pieces="sentencepiece"), "pieces=sentencepiece"),
    (lambda: PLAIN.with_axes(coverage=0.99), "coverage=0.99"),
    (lambda: PLAIN.with_axes(symbols=("a", "b")), "symbols=a b"),
    (lambda: Recipe(split="none", base="bytes", tie="largest-pair", objective="gage"), "objective=gage"),
])
def test_without_kernel(change: Callable[[], Recipe], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = change()
    if engines.available():
        monkeypatch.setenv(engines.VARIABLE, "on")
        assert (start(CORPUS, recipe).traits.engine == COMPILED) is (not said)
        monkeypatch.setattr(states, "KERNEL_BYTES", 0)
        seen = State(prepare(CORPUS, recipe, Run())).snapshot().engine_said
        assert re.findall("plain Python for ([^,;]+)", seen) == [said] * bool(said)


# ---- records that are no values of an axis


@pytest.fixture
def own_file(tmp_path: Path) -> Path:
    """A small tokenizer in the project's own format."""
    path = tmp_path / "own.json"
    tokentui.train(CORPUS, PLAIN, merges=9).save(path)
    return path


def test_a_new_command_is_run_and_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = CommandEntry(NAME, "Say what is new.", Ref("made_up_commands:command"))
    monkeypatch.setitem(COMMANDS, NAME, entry)
    assert done(NAME, "a", "b") == "said: a b\n"
    assert "Say what is new." in done("--help")
    assert "Say some words." in done(NAME, "--help")


def test_a_new_measure_is_computed_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    new_one: Measure[Any] = Measure(
        NAME, "quite new", "2·N", "tokens", "lower", lambda tally: 2 * tally.tokens
    )
    monkeypatch.setattr(metrics, "MEASURES", (*metrics.MEASURES, new_one))
    words = ("compare", "sample:hugs", "-r", "gpt2", "-r", "bert", "--merges", "3")
    assert "quite new" in done(*words)
    found = [row for row in rows(done(*words, "--json")) if NAME in json.dumps(row)]
    assert found


@pytest.mark.slow
async def test_a_new_check_is_in_the_report_and_on_the_screen(
    own_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_one = Check(
        NAME, "quite new", "It is tried here.",
        lambda survey: Finding("seen", 1, (Example(None, b"an example"),)), warn=0,
    )
    monkeypatch.setattr(health, "CHECKS", (*health.CHECKS, new_one))
    assert "quite new" in done("inspect", "-t", str(own_file))
    assert NAME in done("inspect", "-t", str(own_file), "--json")
    screen = FactsScreen(FakeEngine(snapshot(), {do.ExamineHealth: health.examine(tokentui.load(own_file))}))
    async with shown(screen, (120, 80)) as (_, pilot):
        await until(pilot, lambda: "quite new" in screen_text(pilot) and "seen" in screen_text(pilot))


async def test_a_new_analysis_is_an_option_with_json_and_a_screen(
    own_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = Section("new", "seen", (Row(("a row",)),))
    report = Report("Quite new", (section,), {"found": [b"ab"]}, "in short")
    module = types.ModuleType("strange_analysis")
    module.analysis = lambda tokenizer, corpus: report  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    new_one = Analysis("strange", "Quite new", "It is tried here", Ref("strange_analysis:analysis"), "ctrl+w")
    # The options of the command are made at its import, so the first module has to be without the new one.
    import_again(monkeypatch, "tokentui.cli.commands.inspect")
    monkeypatch.setitem(ANALYSES, new_one.name, new_one)
    assert "It is tried here" in done("inspect", "--help")
    assert done("inspect", "-t", str(own_file), "--strange") == "new          seen\n  a row\n"
    assert json.loads(done("inspect", "-t", str(own_file), "--strange", "--json")) == {
        "found": ["6162"], "schema": 1,
    }
    face: Any = FakeEngine(snapshot(), {Analyze: report})
    async with shown(AnalysisScreen(face, new_one, lambda ids, title: None)) as (_, pilot):
        await until(pilot, lambda: "a row" in screen_text(pilot) and "in short" in screen_text(pilot))


@pytest.mark.slow
async def test_a_new_format_is_written_and_offered(
    own_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`tests/formats/test_registry.py` has the laws of the format itself."""
    # The command's help names the formats at its import.
    import_again(monkeypatch, "tokentui.cli.commands.convert")
    monkeypatch.setitem(FORMATS, made_up_format.FORMAT.name, made_up_format.FORMAT)
    monkeypatch.setitem(WRITTEN, made_up_format.FORMAT.name, made_up_format.FORMAT)
    assert made_up_format.FORMAT.name in done("convert", "--help")
    recipe = Recipe(split="none", encode="longest-match", base="bytes")
    tokenizer = tokentui.train(CORPUS, recipe, merges=9)
    tokenizer.save(tmp_path / "made.json")
    done("convert", str(tmp_path / "made.json"), str(tmp_path / "made.strangers"))
    assert tokentui.load(tmp_path / "made.strangers").encode("low").pieces == tokenizer.encode("low").pieces
    offered = tuple(check_export(Spec(tokenizer), one) for one in WRITTEN.values())
    async with shown(ExportScreen(FakeEngine(snapshot(), {do.Formats: offered})), (120, 40)) as (_, pilot):
        await until(pilot, lambda: "lossless" in screen_text(pilot))
        await pilot.press("end")
        await until(pilot, lambda: made_up_format.FORMAT.about in screen_text(pilot))
