"""A tokenizer file in the explorer, by its keys: steps, the slider, its steps, its facts, the way to a
training by its axes."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import gguf_files
import pytest
from exporting import put
from screens import screen_text
from textual.pilot import Pilot
from waiting import notes_of, settled, text_of, until

from tokentui import train
from tokentui.analyze.health import examine
from tokentui.formats import WRITTEN
from tokentui.formats.files import load, recognize
from tokentui.learn import TokenCandidate
from tokentui.recipe import Run
from tokentui.session import commands as do
from tokentui.session.commands import GoTo, OpenTokenizer
from tokentui.session.engine.driver import Session
from tokentui.session.snapshot import Snapshot
from tokentui.ui.app import ExplorerApp
from tokentui.ui.dialogs import Dialog
from tokentui.ui.dialogs.facts import FactsScreen
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.dialogs.open import OpenScreen, with_axes
from tokentui.ui.dialogs.recipe import RecipeScreen
from tokentui.ui.panes.compare.columns import column_why

TEXT = "hug hug hugs pun bun <pad> hugs pug\n" * 20
ROWS = [("u", "g"), ("h", "ug"), ("u", "n"), ("hug", "s"), ("p", "un"), ("p", "ug"), ("b", "un")]
STEPS = {
    "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]},
    "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
        {"type": "Whitespace"}, {"type": "Digits", "individual_digits": True},
    ]},
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    names = ["[UNK]", *"bghnpsu", *("".join(row) for row in ROWS), "orphan"]
    model = {
        "type": "BPE", "vocab": {name: n for n, name in enumerate(names)}, "merges": ROWS,
        "unk_token": "[UNK]",
    }
    added = {
        "id": 30, "content": "<pad>", "special": False, "single_word": False, "lstrip": False,
        "rstrip": False, "normalized": False,
    }
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"version": "1.0", "added_tokens": [added], **STEPS, "model": model}))
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "hugs.txt"
    path.write_text(TEXT)
    return path


def now(app: ExplorerApp) -> Snapshot:
    assert app.main.snapshot is not None
    return app.main.snapshot


@asynccontextmanager
async def opened(
    file: Path, corpus: Path, size: tuple[int, int] = (119, 40)
) -> AsyncIterator[tuple[Any, Pilot[None]]]:
    """The explorer on a tokenizer file, at its last step."""
    wanted = do.Open((str(corpus),), tokenizer=OpenTokenizer(str(file)))
    app = ExplorerApp(Session, typed="Hugs pun", begin=lambda session: session.send(wanted))
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        assert now(app).main.opened
        yield app, pilot


async def at_step(app: ExplorerApp, pilot: Pilot[None], number: int) -> None:
    await settled(pilot)
    assert now(app).main.at.step == number


async def opening(app: ExplorerApp, pilot: Pilot[None]) -> OpenScreen:
    """The dialog that opens a file."""
    await pilot.press("o")
    await until(pilot, lambda: isinstance(app.screen, OpenScreen))
    assert isinstance(app.screen, OpenScreen)
    return app.screen


@pytest.mark.slow
async def test_it_stands_at_its_last_step_and_keys_go_to_others(file: Path, corpus: Path) -> None:
    async with opened(file, corpus) as (app, pilot):
        await at_step(app, pilot, 7)
        assert [token.text for token in now(app).main.encoding.tokens] == ["hugs", "pun"]
        seen = screen_text(app)
        assert "2 Tokens" in seen
        assert "end  the last step · 1 token is an orphan" in seen
        assert "step 7, the last" in seen
        assert file.name in seen
        await pilot.press("0")
        await at_step(app, pilot, 0)
        assert [token.text for token in now(app).main.encoding.tokens] == [*"hugs", *"pun"]
        assert now(app).main.at.tokens == now(app).main.at.start_tokens
        seen = screen_text(app)
        assert "next  u+g → ug   merge 1 in the file · 100 places in 3 distinct words of hugs.txt" in seen
        lines = column_why(now(app).main, "text", 200, 1)
        assert "3 distinct words · 10 of 17 ids" in "".join(text for text, _ in lines[0])
        for key, number in (
            ("n", 1), ("right_square_bracket", 2), ("left_square_bracket", 1), ("N", 7), ("b", 6), ("G", 7),
        ):
            await pilot.press(key)
            await at_step(app, pilot, number)
        await pilot.press("0", "space")
        await at_step(app, pilot, 7)
        assert not now(app).running
        await pilot.press("g", *"hugs", "enter")
        await at_step(app, pilot, 4)
        row = now(app).main.at.last
        assert isinstance(row, TokenCandidate)
        assert (row.token, row.parts, row.places, row.place) == (b"hugs", (b"hug", b"s"), 40, "merge 4")
        await pilot.press("g", *"zebra", "enter")
        await settled(pilot)
        assert any("the file has no token" in note for note in notes_of(app))
        assert now(app).main.at.step == 4


@pytest.mark.slow
async def test_the_end_of_another_run_is_not_the_end_of_the_steps(file: Path, corpus: Path) -> None:
    run = Run.of({"merges": 3, "vocab_size": 9})
    wanted = do.Open((str(corpus),), tokenizer=OpenTokenizer(str(file)))
    app = ExplorerApp(
        lambda publish: Session(publish, run=run), begin=lambda session: session.send(wanted),
        run=Run.of({"merges": 3, "vocab_size": 9}),
    )
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.main.opened)
        await at_step(app, pilot, 7)
        assert "step 7, the last" in screen_text(app)
        await pilot.press("0", "G")
        await at_step(app, pilot, 7)


@pytest.mark.slow
async def test_rows_of_both_tables_are_inspected_and_found(file: Path, corpus: Path) -> None:
    async with opened(file, corpus) as (app, pilot):
        app.engine.send(GoTo(2))
        await at_step(app, pilot, 2)
        await pilot.press("2", "enter")
        await until(
            pilot,
            lambda: (
                isinstance(app.screen, InspectScreen) and "step 3, merge 3 in the file" in screen_text(app)
            ),
        )
        await pilot.press("escape", "slash", *"bun", "enter")
        await until(pilot, lambda: app.main.pairs.cursor == 4)
        await pilot.press("3")
        for order, first in (
            ("most used", b"hug"), ("longest", b"orphan"), ("id", b"[UNK]"), ("newest", b"hug"),
        ):
            await until(pilot, lambda order=order: now(app).main.vocabulary.order == order)  # type: ignore[misc]
            assert now(app).main.vocabulary.rows[0].piece == first
            page = now(app).main.vocabulary
            assert page.total - bool(page.folded) + page.folded == now(app).main.at.vocab_size
            await pilot.press("S")
        await until(pilot, lambda: now(app).main.vocabulary.order == "most used")
        app.main.set_viewport(vocabulary_folded=False)
        await until(pilot, lambda: not now(app).main.vocabulary.folded)
        orphan = next(row for row in now(app).main.vocabulary.rows if row.piece == b"orphan")
        pad = next(row for row in now(app).main.vocabulary.rows if row.piece == b"<pad>")
        assert (orphan.kind, orphan.reason) == ("orphan", "no merge leads to it")
        assert (pad.kind, pad.id, pad.uses) == ("special", 16, 20)
        await pilot.press("enter")
        await until(
            pilot, lambda: isinstance(app.screen, InspectScreen) and "made        step 2" in screen_text(app)
        )


@pytest.mark.slow
async def test_its_steps_are_shown_and_a_fresh_one_is_trained_by_the_axes(file: Path, corpus: Path) -> None:
    async with opened(file, corpus) as (app, pilot):
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, RecipeScreen) and app.screen.focused is not None)
        await until(pilot, lambda: "The file's steps" in screen_text(app))
        seen = screen_text(app)
        for said in ("NFC", "Lowercase", "Whitespace", "Digits", "no axis says it", "train afresh"):
            assert said in seen
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert now(app).main.opened is not None
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, RecipeScreen) and app.screen.focused is not None)
        await pilot.press("right", "t")
        await until(pilot, lambda: now(app).main.opened is None and now(app).busy is None)
        assert now(app).corpus.name == "hugs.txt"
        assert now(app).main.objective == "count"


@pytest.mark.slow
async def test_its_facts_its_health_and_what_is_damaged_beside_it(
    file: Path, corpus: Path, tmp_path: Path
) -> None:
    (tmp_path / "bad.json").write_text(
        '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "b"]]}}'
    )
    async with opened(file, corpus, (80, 24)) as (app, pilot):
        await pilot.press("F", "F")
        await until(pilot, lambda: isinstance(app.screen, FactsScreen) and app.screen.answer)
        await until(pilot, lambda: "health" in screen_text(app))
        assert any(word in screen_text(app) for word in ("PASS", "WARN", "FAIL"))
        rows = len(app.screen.query_one("Listing").rows)
        await pilot.press("a")
        await until(pilot, lambda: len(app.screen.query_one("Listing").rows) > rows)
        await pilot.press("end")
        await until(pilot, lambda: "not UTF-8" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        app.engine.send(OpenTokenizer(str(tmp_path / "bad.json")))
        await until(
            pilot, lambda: any("is not in the vocabulary" in note for note in notes_of(app))
        )
        assert now(app).main.opened is not None
        assert now(app).main.opened.path == str(file)  # type: ignore[union-attr]


@pytest.mark.slow
@pytest.mark.parametrize("keys", [(), ("0",), ("0", "n")])
async def test_the_facts_of_a_file_are_those_of_its_last_step(
    file: Path, corpus: Path, keys: tuple[str, ...]
) -> None:
    async with opened(file, corpus, (120, 40)) as (app, pilot):
        await settled(pilot)
        await pilot.press(*keys)
        await settled(pilot)
        await pilot.press("F", "F")
        await until(pilot, lambda: isinstance(app.screen, FactsScreen) and app.screen.answer)
        assert isinstance(app.screen, FactsScreen)
        assert app.screen.answer == examine(load(str(file)))
        assert "the whole file" in screen_text(app)


async def test_o_opens_a_tokenizer_on_the_same_corpus_and_a_corpus_under_the_same_tokenizer(
    file: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "other.txt").write_text("hugs hugs\n")
    app = ExplorerApp(Session, begin=lambda session: session.send(do.Open((str(corpus),))))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        (await opening(app, pilot)).field.value = str(file)
        await until(pilot, lambda: "is a tokenizer: Hugging Face's tokenizer.json" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: now(app).main.opened is not None and now(app).main.at.step == 7)
        assert now(app).corpus.name == "hugs.txt"
        app.engine.send(GoTo(3))
        await at_step(app, pilot, 3)
        (await opening(app, pilot)).field.value = str(tmp_path / "other.txt")
        await pilot.press("enter")
        await until(pilot, lambda: now(app).corpus.name == "other.txt")
        assert (now(app).main.opened is not None, now(app).main.at.step, now(app).main.at.tokens) == (
            True, 3, 4,
        )


@pytest.fixture
def cut(file: Path) -> Path:
    """The first half of a tokenizer file."""
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])
    return file


async def test_a_tokenizer_that_is_cut_off_is_no_corpus(cut: Path, corpus: Path, model: Path) -> None:
    """Open names the fault and its place, and opens nothing. A second enter opens the file as a text.

    The first bytes of a model say what it is; that the rest is missing is found by reading it.
    """
    app = ExplorerApp(Session, typed="", begin=lambda session: session.send(do.Open((str(corpus),))))
    async with app.run_test(size=(160, 30)) as pilot:
        await settled(pilot)
        screen = await opening(app, pilot)
        screen.field.value = str(model)
        await until(pilot, lambda: "is a tokenizer: sentencepiece's .model" in text_of(screen.notice))
        await pilot.press("enter")
        await until(pilot, lambda: any("o with ctrl+t reads it as a text" in note for note in notes_of(app)))
        assert (now(app).corpus.name, now(app).main.opened) == ("hugs.txt", None)
        screen = await opening(app, pilot)
        screen.field.value = str(cut)
        await until(
            pilot, lambda: "tokenizer.json: a damaged tokenizer: not valid JSON" in text_of(screen.notice)
        )
        assert re.search(r"at line \d+, column \d+", text_of(screen.notice))
        await pilot.press("enter")
        await until(pilot, lambda: "enter again: open as a text" in text_of(screen.notice))
        assert "not valid JSON" in screen_text(app)
        assert now(app).corpus.name == "hugs.txt"
        screen.field.value = str(corpus)  # another name: what was said is of no meaning any more
        await until(pilot, lambda: text_of(screen.notice) == "")
        screen.field.value = str(cut)
        await until(pilot, lambda: text_of(screen.notice).startswith("tokenizer.json: a damaged tokenizer"))
        await pilot.press("enter")
        await until(pilot, lambda: "enter again: open as a text" in text_of(screen.notice))
        assert now(app).corpus.name == "hugs.txt"
        await pilot.press("enter")
        await until(pilot, lambda: now(app).corpus.name == "tokenizer.json")
        assert now(app).main.opened is None


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The first half of a sentencepiece model."""
    path = tmp_path / "m.model"
    put(train("sample:hugs", "llama2", merges=9), path, "sentencepiece")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    return path


def test_what_a_file_is(file: Path, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "counts.txt").write_text("the 120\nof 80\nand 70\n")
    (tmp_path / "rows.jsonl").write_text('{"text": "a"}\n{"text": "b"}\n')
    assert recognize(file) is WRITTEN["huggingface"]
    assert recognize(file.parent) is WRITTEN["huggingface"]
    (tmp_path / "texts").mkdir()
    others = (tmp_path / name for name in ("counts.txt", "rows.jsonl", "none", "texts"))
    for name in (corpus, *others):
        assert recognize(name) is None


def test_a_split_may_stand_behind_a_path() -> None:
    assert with_axes("a b/ranks.tiktoken split=cl100k") == ("a b/ranks.tiktoken", "cl100k", "")
    assert with_axes("split=gpt2") == ("split=gpt2", "", "")
    assert with_axes("a file") == ("a file", "", "")


async def test_an_answer_opens_no_dialog_over_one_that_was_opened_meanwhile(file: Path, corpus: Path) -> None:
    async with opened(file, corpus) as (app, pilot):
        main = app.main
        await pilot.press("3", "1")
        main.action_begin_cursor()
        asks = {
            "inspect": main.vocabulary.choose, "token": main.action_inspect_token, "life": main.action_life,
        }
        for name, ask in asks.items():
            for meanwhile in (True, False) if name == "inspect" else (True,):
                ask()
                dialog = Dialog[None](app.engine)
                if meanwhile:
                    app.push_screen(dialog)
                await settled(pilot)
                above = app.screen_stack[1:]
                assert (above == [dialog]) == meanwhile, name
                assert len(above) == 1
                await pilot.press("escape")
                await settled(pilot)
                assert app.screen is main


@pytest.mark.slow
async def test_the_health_of_a_folder_is_that_of_its_files_too(file: Path, corpus: Path) -> None:
    (file.parent / "tokenizer_config.json").write_text('{"bos_token": "<none>"}')
    async with opened(file.parent, corpus) as (app, pilot):
        await pilot.press("F", "F")
        await settled(pilot)
        assert "ids" in [check.name for check in app.screen.answer.checks if check.status == "WARN"]


@pytest.mark.parametrize("model", ["gpt2", "llama", "t5", "rwkv"])
@pytest.mark.first_run(cases=1)
async def test_a_gguf_file(model: str, corpus: Path, tmp_path: Path) -> None:
    """Its last step, its first one, and a merge; the health of it."""
    pieces = [rf"\x{value:02x}" for value in range(256)] if model == "rwkv" else [*"▁Hugspn"]
    joined = ["ug", "ugs", "un"]
    tokens = ["<unk>", "<s>", "</s>", *pieces, *joined]
    kinds = [2, 3, 3, *[1] * (len(tokens) - 3)]
    values = gguf_files.vocabulary(
        model, tokens, kinds, scores=[-float(number) for number in range(len(tokens))], pre="gpt-2",
        merges=["u g", "ug s", "u n"], eos_token_id=2, unknown_token_id=0,
    )
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf_files.gguf(values))
    async with opened(path, corpus) as (app, pilot):
        last = now(app).main.at.step
        assert "ugs" in [token.text for token in now(app).main.encoding.tokens]
        for key, number in (("0", 0), ("n", min(1, last)), ("G", last)):
            await pilot.press(key)
            await at_step(app, pilot, number)
        await pilot.press("F", "F")
        await settled(pilot)
        assert "health" in screen_text(app).lower()
