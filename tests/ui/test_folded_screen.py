"""What is out of use is folded on the screen, line ends are said once, the sample can be encoded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from screens import screen_text
from waiting import settled, until

from tokentui import train
from tokentui.axes import preset
from tokentui.recipe import Recipe
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.snapshot import Snapshot
from tokentui.text.corpus import Corpus
from tokentui.ui.app import ExplorerApp

SENTENCE = "The crowd in the street"


def app_on(corpus: Path, recipe: str = "gpt2", typed: str = "") -> ExplorerApp:
    """The explorer on a corpus."""
    wanted: Recipe = preset(recipe)
    return ExplorerApp(
        lambda publish: Session(publish, wanted), typed=typed,
        begin=lambda session: session.send(do.Open((str(corpus),))),
    )


@pytest.fixture
def novel(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a corpus."""

    def write(text: str) -> Path:
        (tmp_path / "novel.txt").write_bytes(text.encode())
        return tmp_path / "novel.txt"

    return write


def now(app: ExplorerApp) -> Snapshot:
    assert app.main.snapshot is not None
    return app.main.snapshot


async def test_bytes_out_of_use_are_a_row_that_enter_or_a_match_unfolds(novel: Callable[[str], Path]) -> None:
    app = app_on(novel("hug pug hugs"))
    async with app.run_test(size=(119, 40)) as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.main.snapshot and now(app).main.vocabulary.folded)
        unused = 256 - len(set(b"hug pug hugs"))
        assert now(app).main.vocabulary.folded == unused
        await until(pilot, lambda: f"{unused} bytes unused ▸" in screen_text(app))
        assert "newest · 256" in screen_text(app) or "tokens: 256" in screen_text(app)
        await pilot.press("3", "end")
        await until(pilot, lambda: app.main.vocabulary.cursor == now(app).main.vocabulary.total - 1)
        await pilot.press("enter")
        await until(pilot, lambda: now(app).main.vocabulary.total == 256)
        await pilot.press("S", "S", "S", "S")  # through all orders, to the first one
        await until(pilot, lambda: now(app).main.vocabulary.folded == unused)
        await pilot.press("slash", "Z", "enter")
        await until(
            pilot,
            lambda: getattr(app.main.vocabulary.held_at(app.main.vocabulary.cursor), "piece", b"") == b"Z",
        )


@pytest.mark.slow
async def test_a_file_begins_with_what_the_corpus_uses(novel: Callable[[str], Path], tmp_path: Path) -> None:
    train(Corpus.from_text("zebra zebras hug hug"), "gpt2", merges=8).save(tmp_path / "file.json")
    app = app_on(novel("hug hug hug pug"))
    async with app.run_test(size=(119, 40)) as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.main.snapshot and now(app).main.vocabulary.rows)
        app.engine.send(do.OpenTokenizer(str(tmp_path / "file.json")))
        await until(
            pilot, lambda: now(app).main.opened is not None and now(app).main.vocabulary.order == "most used"
        )
        rows = now(app).main.vocabulary.rows
        assert all(row.uses for row in rows[:-1])
        assert rows[-1].kind == "folded"
        await until(pilot, lambda: "not used here ▸" in screen_text(app))
        app.engine.send(do.SetRecipe(preset("gpt2")))
        await until(pilot, lambda: now(app).main.opened is None)
        await until(pilot, lambda: now(app).main.vocabulary.order == "newest")


async def test_line_ends_of_two_characters_are_said_once(novel: Callable[[str], Path]) -> None:
    app = app_on(novel("one\r\ntwo é\r\nthree\rfour\r\n"))
    async with app.run_test(size=(119, 40)) as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.main.snapshot and now(app).main.corpus.parts)
        await until(pilot, lambda: "CR LF" in app.main.corpus.titles[1])
        pane = [line[:50] for line in screen_text(app).splitlines()[2:28]]
        assert "".join(pane).count("␍") == 1  # the one that ends no line
        await pilot.press("v", "v")
        await until(pilot, lambda: r"\r\n" in screen_text(app).replace("│", ""))
        assert "CR LF" not in screen_text(app)


async def test_the_sample_is_a_text_that_can_be_encoded_and_a_text_of_the_user_stays(
    novel: Callable[[str], Path]
) -> None:
    app = app_on(novel("лес лес поле река лес"), "wordpiece", SENTENCE)
    async with app.run_test(size=(119, 40)) as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.main.snapshot and now(app).main.encoding.text.startswith("лес"))
        assert app.main.encode.line.value == "лес лес поле река лес"
        assert all(token.piece is not None for token in now(app).main.encoding.tokens)
        app.main.encode.line.value = "crowd"
        await until(pilot, lambda: now(app).main.encoding.text == "crowd")
        await pilot.press("n")
        await until(pilot, lambda: now(app).main.at.step == 1)
        assert app.main.encode.line.value == "crowd"
