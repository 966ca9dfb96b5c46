"""A recipe that is compared with a file goes to the size of the file, where it has no size of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from dialogs import FakeEngine
from running_cli import done

import tokentui
from tokentui.preset_table import preset_named
from tokentui.recipe import Recipe, Run, Stops
from tokentui.session.engine.state import State
from tokentui.session.training.training import prepare, prepare_tokenizer
from tokentui.session.views import ColumnWanted
from tokentui.ui.main_screen import MainScreen

CORPUS = tokentui.read("sample:sailor")


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "t.json"
    tokentui.train(CORPUS, "gpt2", merges=20).save(path)
    return str(path)


def compared(state: State, second: ColumnWanted) -> tuple[ColumnWanted, ColumnWanted]:
    """The columns that the key of Compare gives with this answer."""
    screen: Any = Mock(engine=FakeEngine(state.snapshot()))
    MainScreen.action_compare(screen)
    _, answer = screen.app.push_for_result.call_args.args
    answer(second)
    ((first, other),) = screen.app.compare.call_args.args
    return first, other


@pytest.mark.parametrize(("run", "size"), [
    (Run(), 276), (Run(Stops(vocab_size=300)), 300), (Run(Stops(merges=7)), None),
])
def test_next_to_a_file(file: str, run: Run, size: int | None) -> None:
    state = State(prepare_tokenizer(CORPUS, None, Run(), path=file))
    recipe = preset_named("gpt4").recipe
    first, second = compared(state, ColumnWanted(recipe, run))
    assert first.path == file
    assert (second.recipe, second.run.stops.vocab_size) == (recipe, size)
    trained = tokentui.Trainer(CORPUS, recipe)
    trained.run(vocab_size=second.run.stops.vocab_size, merges=second.run.stops.merges)
    assert trained.vocab_size == (size or 263)
    other = ColumnWanted(path=file)
    assert compared(state, other)[1] == other


def test_next_to_a_recipe() -> None:
    state = State(prepare(CORPUS, Recipe(), Run()))
    second = ColumnWanted(preset_named("gpt4").recipe)
    assert compared(state, second)[1] == second


@pytest.mark.parametrize(("words", "size"), [
    ((), 276), (("--vocab-size", "300"), 300), (("--merges", "7"), None),
])
def test_as_the_command_line_opens_it(file: str, words: tuple[str, ...], size: int | None,
                                      monkeypatch: pytest.MonkeyPatch) -> None:
    """The training that is opened is that of the column, and both have the size of the file."""
    found: list[Any] = []
    monkeypatch.setattr("tokentui.cli.commands.explore._check_terminal", lambda sources: None)

    def run_(*given: Any, **_: Any) -> int:
        found.append(given)
        return 0

    monkeypatch.setattr("tokentui.ui.run", run_)
    done("-t", file, "-r", "gpt4", *words, "sample:hugs")
    ((_, recipe, run, columns, *_),) = found
    assert [one.path for one in columns] == [file, ""]
    assert (columns[1].recipe, columns[1].run) == (recipe, run)
    assert run.stops.vocab_size == size
