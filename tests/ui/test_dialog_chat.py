"""The dialog of a chat: the tokens of the typed text or of a file, each with a word for its origin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chats import write_model
from dialogs import FakeEngine, shown, tried_on_all_sizes, typed
from sessions import tell
from textual.pilot import Pilot
from textual.widgets import Static
from waiting import screen_text, settled, text_of, until

import tokentui
from tokentui.analyze.chat.encoded import ChatEncoding, encode_chat
from tokentui.analyze.chat.template import USUAL, Chat, ChatTemplate
from tokentui.axes import preset
from tokentui.core.errors import TokentuiError
from tokentui.recipe import Run
from tokentui.session import commands as do
from tokentui.session.commands import EncodeChat
from tokentui.session.engine.driver import Session
from tokentui.session.engine.state import State
from tokentui.session.training.training import prepare
from tokentui.text.read import read
from tokentui.ui.app import ExplorerApp
from tokentui.ui.dialogs.chat import ChatScreen

TEMPLATE = "<|im_start|>{{ messages[-1].content }}{% if add_generation_prompt %}<|im_end|>{% endif %}"
TOKENIZER = tokentui.train("sample:hugs", "gpt2", merges=3, specials=("<|im_start|>", "<|im_end|>"))


class ChatEngine(FakeEngine):
    """Encodes chats."""

    def __init__(self) -> None:
        super().__init__(answers={EncodeChat: self.answer})
        self.asked: list[EncodeChat] = []

    def answer(self, asked: EncodeChat) -> ChatEncoding:
        self.asked.append(asked)
        if asked.file == "none":
            raise TokentuiError("no such file", "none", "check the name")
        chat = Chat([{"role": "user", "content": asked.file or "hugs<|im_end|>\x1b[31m"}])
        return encode_chat(TOKENIZER, ChatTemplate("t", TEMPLATE, {}), chat,
                           add_generation_prompt=asked.add_generation_prompt)


def rows_of(pilot: Pilot[None], origin: str) -> list[str]:
    """The last word of each row of an origin."""
    return [line.split(origin)[1].strip(" │▐") for line in screen_text(pilot).splitlines()
            if f"  {origin} " in line]


async def test_each_token_has_its_origin_in_a_word() -> None:
    engine = ChatEngine()
    async with shown(ChatScreen(engine), (120, 30)) as (_, pilot):
        await until(pilot, lambda: rows_of(pilot, "special") == ["<|im_start|>", "<|im_end|>"])
        assert engine.asked == [EncodeChat("", True)]
        assert "\x1b" not in screen_text(pilot)
        assert "hugs" in "".join(rows_of(pilot, "content"))
        assert "message 1 (user) spells the special token <|im_end|>" in screen_text(pilot)
        await pilot.press("p")
        await until(pilot, lambda: rows_of(pilot, "special") == ["<|im_start|>"])
        assert engine.asked[-1] == EncodeChat("", False)
        assert "no generation prompt follows: p adds it" in screen_text(pilot)
        for name in (*USUAL, ""):
            await pilot.press("t")
            await until(pilot, lambda name=name: engine.asked[-1] == EncodeChat(  # type: ignore[misc]
                "", False, name))
            assert f"template {name}" in screen_text(pilot) or not name


@pytest.mark.slow
async def test_messages_of_a_file() -> None:
    engine = ChatEngine()
    async with shown(ChatScreen(engine), (100, 30)) as (app, pilot):
        await pilot.press("f")
        await typed(pilot, "pug")
        await pilot.press("enter")
        await until(pilot, lambda: "".join(rows_of(pilot, "content")) == "pug")
        assert engine.asked[-1].file == "pug"
        await pilot.press("f", "escape")
        assert not app.answered
        await pilot.press("f", *["backspace"] * 3)
        await typed(pilot, "none")
        await pilot.press("enter")
        summary = app.screen.query_one(".told", Static)  # the reason is in the place of the answer
        await until(pilot, lambda: "none: no such file (check the name)" in text_of(summary))


@pytest.mark.slow
async def test_on_all_sizes() -> None:
    async with shown(ChatScreen(ChatEngine())) as (_, pilot):
        await until(pilot, lambda: "special" in screen_text(pilot))
        await tried_on_all_sizes(pilot)


@pytest.mark.slow
async def test_the_typed_text_of_an_opened_model(tmp_path: Path) -> None:
    write_model(tmp_path, TEMPLATE)
    chat = tmp_path / "chat.json"
    chat.write_text(json.dumps([{"role": "user", "content": "first"}, {"role": "user", "content": "second"}]))
    app = ExplorerApp(Session, typed="strong",
                      begin=lambda session: session.send(do.OpenTokenizer(str(tmp_path))))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("i", "ctrl+r")
        await until(pilot, lambda: "".join(rows_of(pilot, "content")) == "strong")
        await pilot.press("f")
        await typed(pilot, str(chat))
        await pilot.press("enter")
        await until(pilot, lambda: "".join(rows_of(pilot, "content")) == "second")


def test_a_training_has_no_template_and_is_offered_usual_ones() -> None:
    state = State(prepare(read("sample:hugs"), preset("gpt2"), Run()))
    state.sync.adopt_position(state.main)
    with pytest.raises(TokentuiError, match=r"no chat template \(t renders it by ChatML; : chat"):
        tell(state, EncodeChat())
    for name in USUAL:
        assert tell(state, EncodeChat(template=name))[-1].encoding.text
