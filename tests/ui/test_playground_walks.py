"""Random keys, pastes and sizes in the playground with tokenizers that do not mean well: nothing fails,
nothing acts on the terminal, and the ids are those of `encode`."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hostile import MARKUP_NAMES, TEXTS, tokenizers, written
from screens import screen_text
from textual import events
from waiting import settled, until

import tokentui
from tokentui.axes import preset
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import is_safe
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.playground import Played, PlayStart, preset_played
from tokentui.session.views import ColumnWanted
from tokentui.ui.app import ExplorerApp
from tokentui.ui.play_screen import PlayScreen

HOSTILE: dict[str, tuple[str, dict[str, Any]]] = {
    "names": ("gpt2", {"merges": 30, "specials": [*MARKUP_NAMES, "\u202e", "\x9b31m"]}),
    "lengths": ("sentencepiece-unigram", {"vocab_size": 60}),
    "lost": ("bert", {"merges": 20}),
    "refuses": ("hf-bpe", {"merges": 10}),
}
"""Tokenizers of four kinds: with names that act on a terminal, with a normalization that changes lengths,
with unknown tokens, and one that refuses most characters."""
KEYS = (
    *"ab 1#\u4e2d", "tab", "enter", "backspace", "delete", "left", "right", "up", "down", "pageup",
    "pagedown", "home", "end", "ctrl+u", "ctrl+t", "ctrl+y", "ctrl+f", "ctrl+g", "ctrl+r", "ctrl+n",
    "ctrl+w", "ctrl+k", "ctrl+a", "f1", "f2", "f3", "f6", "f6", "f7", "f8", "f9", "ctrl+o", "escape",
)
SIZES = ((120, 40), (80, 24), (40, 12), (200, 60), (20, 6), (100, 30))
PASTES = [
    *TEXTS, "\0", "\r\n\r\r\n", "12 43 [7]", "[1, 2, 3]", "user: a\nassistant: b", "e\u0301" * 300,
    "x" * 20_001, "\u2028\n" * 50,
]


def hostile_file(kind: str, folder: Path) -> str:
    name, sizes = HOSTILE[kind]
    path = folder / f"[red]{kind}\x1b[31m.json"
    tokentui.train("sample:hugs", name, **sizes).save(str(path))
    return str(path)


@pytest.mark.timeout(600)
@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize(
    ("kind", "keys"), [("names", 25), *((kind, 150) for kind in HOSTILE), ("names", 400)])
async def test_a_walk(kind: str, keys: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # keys may write files by names that they type
    dice, path = random.Random(f"{kind} {keys}"), hostile_file(kind, tmp_path)
    played = Played(ColumnWanted(path=path, name=Path(path).name))
    app = ExplorerApp(
        lambda publish: Session(publish, preset("gpt2")),
        begin=lambda session: session.send(do.Open(("sample:hugs",))),
        playground=PlayStart("hugs \x1b[31m pugs", (played, preset_played("bert")), 3),
    )
    done: list[str] = []
    async with app.run_test(size=(100, 30)) as pilot:
        assert isinstance(app.screen, PlayScreen)
        screen: PlayScreen = app.screen
        await until(pilot, lambda: all(column.open or column.error for column in screen.columns))
        for n in range(keys):
            if screen not in app.screen_stack:
                break
            way = dice.random()
            if way < 0.15:
                paste = dice.choice(PASTES)
                done.append(f"paste {paste[:20]!r}")
                (app.screen.focused or app.screen).post_message(events.Paste(paste))
            elif way < 0.2:
                size = dice.choice(SIZES)
                done.append(f"size {size}")
                await pilot.resize_terminal(*size)
            else:
                key = dice.choice(KEYS)
                done.append(key)
                if key == "escape" and app.screen is screen:
                    continue
                await pilot.press(key)
            if n % 5 == 4:
                await pilot.pause()
                assert is_safe(screen_text(app).replace("\n", "")), done
        while app.screen is not screen:
            await pilot.press("escape")
            await pilot.pause()
        if screen.chat:
            await pilot.press("escape")
        await until(pilot, lambda: screen.shown_text == screen.editor.text)
        await settled(pilot)
        assert is_safe(screen_text(app).replace("\n", "")), done
        column = next((column for column in screen.columns if column.played == played), None)
        if column is not None:
            tokenizer = tokentui.load(path)
            try:
                ids = [*tokenizer.encode(screen.editor.text, allow_special=screen.allow_special).ids]
            except TokentuiError:
                ids = []
            assert bool(column.chips.encoded.error) == (not ids and bool(screen.editor.text)), done
            assert [token.id for token in column.chips.encoded.tokens] == ids, done


@pytest.mark.slow
async def test_a_paste_of_two_megabytes_and_one_of_a_long_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are refused in a line; what was there stays. 900 kB in lines are taken, with the same ids."""
    path = hostile_file("names", tmp_path)
    app = ExplorerApp(
        lambda publish: Session(publish, preset("gpt2")),
        playground=PlayStart("hug", (Played(ColumnWanted(path=path, name="x")),)),
    )
    async with app.run_test(size=(100, 30)) as pilot:
        screen = app.screen
        assert isinstance(screen, PlayScreen)
        await until(pilot, lambda: screen.shown_text == "hug")
        for paste, said in (("hug pug\n" * 250_000, "1,000,000"), ("x" * 30_000, "a line of more than")):
            screen.editor.post_message(events.Paste(paste))
            await settled(pilot)
            assert screen.editor.text == "hug"
            assert said in [*app._notifications][-1].message
        whole = "hug pug\tbun\r\n" * 70_000
        screen.editor.post_message(events.Paste(whole))
        await until(pilot, lambda: screen.shown_text == whole + "hug")
        tokens = screen.columns[0].chips.encoded.tokens
        assert [token.id for token in tokens] == [*tokentui.load(path).encode(whole + "hug").ids]
        await pilot.press("f6", "end", "pageup", "up", "home", "pagedown", "f2")
        await settled(pilot)
        assert is_safe(screen_text(app).replace("\n", ""))


@pytest.mark.slow
async def test_every_hostile_tokenizer_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [*written(tokenizers(), tmp_path).values()]
    app = ExplorerApp(
        lambda publish: Session(publish, preset("gpt2")), playground=PlayStart("hug", (preset_played(),))
    )
    opened = 0
    async with app.run_test(size=(100, 30)) as pilot:
        screen = app.screen
        assert isinstance(screen, PlayScreen)
        await until(pilot, lambda: screen.shown_text == "hug")
        for path in files:
            screen._add(Played(ColumnWanted(path=str(path), name=path.name)))
            await until(pilot, lambda: screen.columns[-1].open or screen.columns[-1].error)
            for text in TEXTS[:: max(1, len(TEXTS) // 8)]:
                screen.editor.post_message(events.Paste(text))
            await pilot.press("f6", "f6", "right", "end")
            await until(pilot, lambda: screen.shown_text == screen.editor.text)
            await settled(pilot)
            assert is_safe(screen_text(app).replace("\n", ""))
            opened += screen.columns[-1].open
            screen.set_focus(screen.editor)
            await pilot.press("f8", "ctrl+u")
            await settled(pilot)
    assert len(files) > 4
    assert opened > 0
