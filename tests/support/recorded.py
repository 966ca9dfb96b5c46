"""Key walks through the explorer and Compare, and what the screen shows after each key.

A walk is a line: its name, the words of the command line, the size of the terminal and the keys. `TEXT:…`
types a text.
"""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from running_cli import done
from screens import screen_text
from textual.pilot import Pilot

from tokentui.cli import explore
from tokentui.ui.app import ExplorerApp

PATIENCE_S = 60.0
"""How long an app may take to come to rest."""
_SAME = 12
"""How many looks in a row show the same screen when it is at rest: what is answered by a job comes within
that."""


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk.

    Attributes:
        name: The name of its recording.
        words: The words of the command line.
        keys: The keys, by Textual's names, with blanks between; `TEXT:…` types a text, `_` for a blank in it.
        size: Columns and rows.
    """

    name: str
    words: tuple[str, ...]
    keys: str
    size: tuple[int, int] = (120, 40)


def _walk(name: str, words: str, keys: str, size: tuple[int, int] = (120, 40)) -> Walk:
    return Walk(name, tuple(words.split()), keys, size)


SMALL = (80, 24)
WALKS: tuple[Walk, ...] = (
    _walk("gpt2-steps", "sample:english -r gpt2", "n n n b ] ] [ N B G b 0 n"),
    _walk("gpt2-small", "sample:english -r gpt2 --merges 100", "n ] 2 3 1 4 escape G b", SMALL),
    _walk(
        "gpt2-panes", "sample:english -r gpt2 --merges 60",
        "G 2 down down pagedown enter escape 3 S S S S end enter escape 1 down pagedown s v v v v",
    ),
    _walk(
        "goto", "sample:english -r gpt2 --merges 200",
        "g TEXT:50 enter g TEXT:the enter g TEXT:10% enter g TEXT:nonsense enter escape",
    ),
    _walk(
        "find", "sample:english -r gpt2 --merges 80",
        "G 1 slash TEXT:the enter full_stop full_stop comma 2 slash TEXT:a enter full_stop 3 slash TEXT:e "
        "enter",
    ),
    _walk(
        "typed", "sample:english -r gpt2 --merges 120",
        "G i ctrl+u TEXT:unbelievable_words escape b b i TEXT:_again backspace escape",
    ),
    _walk(
        "wordpiece", "sample:english -r wordpiece --merges 60",
        "n n ] 2 down enter escape 3 S G b u tab escape",
    ),
    _walk("wordpiece-small", "sample:sailor -r wordpiece", "n n n 2 enter escape 3 G b", SMALL),
    _walk(
        "unigram", "sample:english -r sentencepiece-unigram --vocab-size 300",
        "n n n l l h L b n 2 down enter escape 3 S G",
    ),
    _walk(
        "unigram-small", "sample:english -r sentencepiece-unigram --vocab-size 300", "n n n l 2 3 G", SMALL
    ),
    _walk("gage", "sample:gage -r gage", "n n n z tab escape b z escape G"),
    _walk(
        "bert", "sample:english -r bert --vocab-size 200", "n ] i ctrl+u TEXT:the_old_woman,_paused! escape G"
    ),
    _walk("llama2", "sample:python -r llama2 --merges 60", "n ] 3 S G 2"),
    _walk(
        "recipe", "sample:english -r gpt2 --merges 30",
        "a down down down ctrl+t escape a tab down right down enter escape",
    ),
    _walk("recipe-small", "sample:english -r gpt2 --merges 30", "a tab down down enter escape escape", SMALL),
    _walk("change", "sample:english -r gpt2 --merges 30", "G a down down enter n b"),
    _walk("pieces", "sample:english -r gpt4 --merges 30", "n p down pagedown escape"),
    _walk("questions", "sample:english -r gpt2 --merges 60", "G u right right right escape"),
    _walk("facts", "sample:english -r gpt2 --merges 60", "G F down down tab escape"),
    _walk("facts-small", "sample:english -r bert --merges 60", "G F down pagedown escape", SMALL),
    _walk("export", "sample:english -r gpt2 --merges 60", "G e down down down escape"),
    _walk(
        "help", "sample:english -r gpt2 --merges 60", "question_mark pagedown slash TEXT:step escape escape"
    ),
    _walk("open", "sample:english -r gpt2 --merges 60", "o down down down TEXT:sailor enter n n"),
    _walk("edit", "sample:hugs -r gpt2 --merges 20", "t TEXT:_hugs_hugs escape n n b"),
    _walk("scripts", "sample:hindi -r gpt2 --merges 60", "n ] v v v v G", SMALL),
    _walk("emoji", "sample:emoji -r gpt4o --merges 60", "n ] 2 enter escape 3 G", SMALL),
    _walk(
        "compare", "sample:english -r gpt2 -r wordpiece --merges 60", "n n N b I I I d 2 3 4 5 6 7 1 Z Z A"
    ),
    _walk("compare-small", "sample:english -r gpt2 -r bert --merges 40", "n n G 2 3 4 5 6 7 1", SMALL),
    _walk(
        "compare-three", "sample:english -r gpt2 -r llama2 -r sentencepiece-unigram --merges 40",
        "n n A d 4 J J K 5 M 7 right right",
    ),
    _walk("compare-change", "sample:english -r gpt2 -r bert --merges 40", "n delete escape c escape"),
    _walk("tokenizer", "-t TOKENIZER sample:english", "0 n n ] 2 enter escape 3 F escape G b"),
    _walk("tokenizer-small", "-t TOKENIZER sample:english", "0 n n 3 enter escape G", SMALL),
)


@contextlib.asynccontextmanager
async def opened(walk: Walk, app: ExplorerApp) -> AsyncIterator[Pilot[Any]]:
    """The app of a walk, at rest."""
    async with app.run_test(size=walk.size, notifications=False) as pilot:
        await rest(app, pilot)
        yield pilot


def sessions(app: ExplorerApp) -> Iterator[Any]:
    """The sessions that are open; None for one that is yet to be made."""
    yield getattr(app.session, "_session", app.session)


async def rest(app: ExplorerApp, pilot: Pilot[Any]) -> str:
    """Wait until no session has anything to do and the screen stays as it is. Returns the screen."""
    end = time.monotonic() + PATIENCE_S
    last, same = "", 0
    while same < _SAME:
        assert time.monotonic() < end, f"no rest:\n{last}"
        await pilot.pause()
        await asyncio.sleep(0.02)
        idle = all(session is not None and session.idle.is_set() for session in sessions(app))
        text = screen_text(app)
        same = same + 1 if idle and text == last else 0
        last = text
    return last


def pressed(keys: str) -> Iterator[tuple[str, list[str]]]:
    """The keys of a walk, one group after the other, each with what it is called."""
    for word in keys.split():
        if word.startswith("TEXT:"):
            text = word[5:].replace("_", " ")
            yield (
                word,
                [
                    {" ": "space", ",": "comma", "!": "exclamation_mark", "%": "percent_sign"}.get(c, c)
                    for c in text
                ],
            )
        else:
            yield word, [word]


async def recorded(walk: Walk, app: ExplorerApp) -> str:
    """The screen of a walk at its start, and after each key the rows that changed."""
    out = []
    async with opened(walk, app) as pilot:
        before = (await rest(app, pilot)).splitlines()
        out += [f"== {' '.join(walk.words)} at {walk.size[0]}x{walk.size[1]}", *before]
        for name, keys in pressed(walk.keys):
            await pilot.press(*keys)
            now = (await rest(app, pilot)).splitlines()
            out.append(f"== {name}")
            out += [f"{n:3} {row}" for n, row in enumerate(now) if n >= len(before) or row != before[n]]
            before = now
    return "\n".join(out) + "\n"


def differs(one: str, other: str) -> str:
    """The first difference between two recordings, as a unified diff."""
    rows = difflib.unified_diff(one.splitlines(), other.splitlines(), "recorded", "now", lineterm="", n=1)
    return "\n".join(list(rows)[:60])


def app_of(walk: Walk, tokenizer: str, monkeypatch: pytest.MonkeyPatch) -> ExplorerApp:
    """The app that the words of a walk open, with the plain engine; it is yet to be run."""
    held: list[ExplorerApp] = []

    def keep(app: ExplorerApp) -> int:
        held.append(app)
        return 0

    monkeypatch.setenv("TOKENTUI_ENGINE", "plain")
    monkeypatch.setattr(ExplorerApp, "run_on_terminal", keep)
    monkeypatch.setattr(explore, "_check_terminal", lambda sources: None)
    done(*(tokenizer if word == "TOKENIZER" else word for word in walk.words))
    return held[0]
