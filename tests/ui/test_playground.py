"""The playground: a text and its tokens by several tokenizers."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from array import array
from pathlib import Path

import pytest
from chats import TEMPLATES, write_model
from screens import screen_text
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.pilot import Pilot
from waiting import settled, until

import tokentui
from tokentui.analyze.chat.encoded import encode_chat
from tokentui.analyze.chat.template import USUAL, Chat, read_template
from tokentui.axes import preset
from tokentui.core.errors import TokentuiError
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.persist.play_file import read_left
from tokentui.session.playground import Played, PlayedText, PlayStart, preset_played
from tokentui.session.views import ColumnWanted
from tokentui.ui.app import ExplorerApp
from tokentui.ui.outside import edited
from tokentui.ui.panes.pane import TITLE_CORNERS
from tokentui.ui.play_screen import PlayColumn, PlayScreen, Price
from tokentui.ui.settings import SETTINGS

TEXTS = {
    "CR LF": "one\r\ntwo\r\n", "lone CR": "one\rtwo\n", "U+2028": "one\u2028two\u2029three\n",
    "NUL": "a\0b\n\0", "tab": "\tif x:\n\t\ty\t\n", "broken UTF-8": "a\udcff\udc80b\n\udce2\udc82",
    "emoji": "\U0001f469\u200d\U0001f469 caf\u00e9 e\u0301\n",
    "NEL and VT": "a\x85b\x0bc\x0cd\x1ce\n", "special": "<|endoftext|> and <s>\n", "empty": "",
}


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A tokenizer file."""
    path = tmp_path / "small.json"
    tokentui.train("sample:hugs", "gpt2", merges=20, specials=["<|endoftext|>"]).save(str(path))
    return str(path)


def playing(text: str | None = "", *tokenizers: Played, offset: int = 0) -> ExplorerApp:
    """An app that begins with the playground."""
    return ExplorerApp(
        lambda publish: Session(publish, preset("gpt2")),
        begin=lambda session: session.send(do.Open(("sample:hugs",))),
        playground=PlayStart(text, tokenizers, offset),
    )


def of_file(path: str) -> Played:
    return Played(ColumnWanted(path=path, name="small.json"))


def screen_of(app: ExplorerApp) -> PlayScreen:
    assert isinstance(app.screen, PlayScreen)
    return app.screen


def ids_of(screen: PlayScreen, column: int = 0) -> list[int | None]:
    return [token.id for token in screen.columns[column].chips.encoded.tokens]


async def encoded(pilot: Pilot[None], screen: PlayScreen) -> None:
    """Wait until the tokens are those of the text."""
    await until(pilot, lambda: all(column.open or column.error for column in screen.columns))
    await until(pilot, lambda: screen.shown_text == screen.editor.text)
    await settled(pilot)


async def test_ids_are_those_of_encode_however_the_text_comes(file: str) -> None:
    """From the command line, by a paste, and typed in after it."""
    tokenizer = tokentui.load(file)
    app = playing(TEXTS["CR LF"], of_file(file))
    async with app.run_test(size=(80, 24)) as pilot:
        screen = screen_of(app)
        await encoded(pilot, screen)
        assert ids_of(screen) == [*tokenizer.encode(TEXTS["CR LF"]).ids]
        for name, text in TEXTS.items():
            screen.editor.action_clear()
            screen.editor.post_message(events.Paste(text))
            await encoded(pilot, screen)
            assert screen.editor.text == text, name
            assert ids_of(screen) == [*tokenizer.encode(text).ids], name
            screen_text(app)
        screen.editor.action_clear()
        await pilot.press("a", "tab", "b", "enter", "c")
        await encoded(pilot, screen)
        assert screen.editor.text == "a\tb\nc"
        # A terminal sends carriage returns for the ends of lines, and then nothing but these.
        screen.editor.action_clear()
        screen.editor.post_message(events.Paste("one\rtwo\r"))
        await encoded(pilot, screen)
        assert screen.editor.text == "one\ntwo\n"


@pytest.mark.slow
async def test_special_tokens_are_text_or_tokens_by_a_key(file: str) -> None:
    text = "a<|endoftext|>b"
    app = playing(text, of_file(file))
    tokenizer = tokentui.load(file)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = screen_of(app)
        await encoded(pilot, screen)
        assert ids_of(screen) == [*tokenizer.encode(text).ids]
        assert "special tokens: as text" in screen_text(app)
        await pilot.press("f2")
        await settled(pilot)
        await until(pilot, lambda: ids_of(screen) == [*tokenizer.encode(text, allow_special=True).ids])
        assert "special tokens: as tokens" in screen_text(app)


@pytest.mark.slow
async def test_the_cursor_of_the_text_and_of_the_tokens_are_one(file: str) -> None:
    text = "hugs pugs\nhug pun bun\n\nhugging"
    app = playing(text, of_file(file), preset_played("bert"))
    async with app.run_test(size=(120, 30)) as pilot:
        screen = screen_of(app)
        await encoded(pilot, screen)
        first, second = (column.chips for column in screen.columns)
        assert first.cursor == 0
        await pilot.press("down", "right", "right", "right", "right", "right")  # behind "hug p"
        assert screen.editor.offset_of(screen.editor.cursor_location) == 15
        token = first.encoded.tokens[first.cursor or 0]
        assert token.start <= 15 < token.end
        other = second.encoded.tokens[second.cursor or 0]
        assert other.start <= 15 < other.end
        await pilot.press("f6")
        assert first.has_focus
        await pilot.press("right")
        start, end = first.span
        editor, selected = screen.editor, screen.editor.selection
        assert (editor.offset_of(selected.end), editor.offset_of(selected.start)) == (start, end)
        await pilot.press("end")
        assert first.cursor == len(first.encoded.tokens) - 1
        await pilot.press("up", "up")
        assert first.encoded.tokens[first.cursor or 0].start < 22
        await pilot.click(first, offset=(first._rows[0].columns[1], 0))
        assert first.cursor == 1
        assert screen.editor.selected_text == text[first.span[0] : first.span[1]]


async def test_e_g_opens_it_with_the_typed_text_and_brings_it_back() -> None:
    app = ExplorerApp(
        lambda publish: Session(publish, preset("gpt2")), typed="hug",
        begin=lambda session: session.send(do.Open(("sample:hugs",))),
    )
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        app.engine.send(do.GoTo(5))
        await settled(pilot)
        await pilot.press("e", "g")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))
        screen = screen_of(app)
        await encoded(pilot, screen)
        assert app.main.snapshot is not None
        assert ids_of(screen) == [token.id for token in app.main.snapshot.main.encoding.tokens]
        assert "step 5" in screen_text(app)
        await pilot.press("s")
        await encoded(pilot, screen)
        await pilot.press("escape")
        await settled(pilot)
        assert app.screen is app.main
        assert app.main.encode.line.value == "hugs"


@pytest.mark.slow
async def test_a_file_that_cannot_be_read_is_told_of_and_the_others_are_shown(file: str) -> None:
    app = playing("hug", of_file("/no/such/file.json"), of_file(file))
    async with app.run_test(size=(100, 30)) as pilot:
        screen = screen_of(app)
        await until(pilot, lambda: screen.columns[1].open and len(ids_of(screen, 1)))
        await settled(pilot)
        assert "/no/such/file.json: no such" in screen_text(app)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.screen is app.main)
        await settled(pilot)


@pytest.mark.slow
async def test_listed_ids_are_offered_and_become_text_with_a_check(file: str) -> None:
    tokenizer = tokentui.load(file)
    text = "hugs\npugs"
    ids = [*tokenizer.encode(text).ids]
    app = playing(str(ids), of_file(file))
    async with app.run_test(size=(100, 30)) as pilot:
        screen = screen_of(app)
        await encoded(pilot, screen)
        assert ids_of(screen) == [*tokenizer.encode(str(ids)).ids]  # nothing is converted by itself
        await pilot.press("a", "backspace")
        await encoded(pilot, screen)
        assert "these look like ids: f7 decodes them" in screen_text(app)
        await pilot.press("f7")
        await until(pilot, lambda: screen.editor.text == text)
        await encoded(pilot, screen)
        assert ids_of(screen) == ids
        assert "encode gives the same ids" in screen_text(app)
        await pilot.press("ctrl+t")
        await until(pilot, lambda: screen.editor.text == str(ids))
        # Ids that a text does not give: its letters one by one.
        letters = [tokenizer.encode(letter).ids[0] for letter in "hug"]
        screen.editor.load_text(" ".join(map(str, letters)))
        await encoded(pilot, screen)
        await pilot.press("f7")
        await until(pilot, lambda: screen.editor.text == "hug")
        await encoded(pilot, screen)
        assert "encode differs from id 1 on: a merge joins" in screen_text(app)
        screen.editor.load_text("1 999999")
        await encoded(pilot, screen)
        await pilot.press("f7")
        await settled(pilot)
        assert screen.editor.text == "1 999999"
        assert "no such id" in screen_text(app)


@pytest.mark.slow
async def test_texts_tokens_and_ids_are_found(file: str) -> None:
    text = "hug pun\nhugs 12\npugs hug"
    app = playing(text, of_file(file))
    async with app.run_test(size=(100, 30)) as pilot:
        screen = screen_of(app)
        await encoded(pilot, screen)
        chips = screen.columns[0].chips

        async def find(sought: str) -> None:
            await pilot.press("ctrl+f", "ctrl+u", *sought, "enter")
            await settled(pilot)

        await find("hugs")
        assert screen.editor.selected_text == "hugs"
        assert "1 of 1: hugs" in screen_text(app)
        await find("hug")
        seen = {min(screen.editor.selection)}
        for _ in range(3):
            await pilot.press("f3")
            await settled(pilot)
            seen.add(min(screen.editor.selection))
        assert seen == {(0, 0), (1, 0), (2, 5)}
        assert len(chips.matched) == 3
        wanted = chips.encoded.tokens[-1].id
        await find(f"#{wanted}")
        assert chips.encoded.tokens[chips.cursor or 0].id == wanted
        await pilot.press("f6")
        await find("1")
        assert chips.encoded.tokens[chips.cursor or 0].text == "1"
        await find("nowhere")
        assert "not found in small.json: nowhere" in screen_text(app)


def check_saved(ids: list[int | None]) -> None:
    assert Path("prompt.txt").read_bytes() == b"hug\r\n\xffpugs <b>"
    assert json.loads(Path("ids.json").read_text()) == ids
    assert [*array("I", Path("ids.bin").read_bytes())] == ids
    page = Path("tokens.html").read_text()
    assert " ".join(map(str, ids)) in page
    assert "<b>pugs" not in page
    assert Path("playground.svg").read_text().startswith("<svg")


@pytest.mark.slow
async def test_what_is_saved(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text, ids, page and picture; an existing file is asked for twice. The command opens the same again."""
    monkeypatch.chdir(tmp_path)
    text, tokenizer = "hug\r\n\udcffpugs <b>", tokentui.load(file)
    ids = [*tokenizer.encode(text).ids]
    app = playing(text, of_file(file), preset_played("gpt2"))
    async with app.run_test(size=(100, 30)) as pilot:
        screen = screen_of(app)
        await encoded(pilot, screen)
        for downs, name in enumerate(("prompt.txt", "ids.json", "ids.bin", "tokens.html", "playground.svg")):
            await pilot.press("f9", *["down"] * downs)
            await settled(pilot)
            await pilot.press("enter")
            written = Path(name)
            await until(pilot, lambda written=written: written.exists() and app.screen is screen)  # type: ignore[misc]
        await pilot.press("f9", "down", "enter")
        await settled(pilot)
        assert "exists already" in screen_text(app)
        await pilot.press("escape", "f9", *["down"] * 5)
        await settled(pilot)
        assert screen.command_line() == f"tokentui play -t {file} -t gpt2 {Path('prompt.txt')}"
        assert "tokentui play -t" in screen_text(app)
    check_saved(ids)


async def test_escape_ends_the_chat_and_asks_before_the_explorer(file: str) -> None:
    app = playing("user: hug", of_file(file))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        screen = screen_of(app)
        await encoded(pilot, screen)
        await pilot.press("ctrl+r")
        assert screen.chat
        await until(pilot, lambda: "(ctrl+r: by ChatML" in screen.columns[0].chips.encoded.error)
        await pilot.press("ctrl+n")
        await until(pilot, lambda: "no ids of " in screen_text(app))
        assert app.clipboard == ""
        for name in USUAL:
            await pilot.press("ctrl+r")
            await until(pilot, lambda name=name: f"by {name}" in screen_text(app)  # type: ignore[misc]
                        and "template" in screen.columns[0].chips.encoded.origins)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: not screen.chat)
        await pilot.press("ctrl+r", "ctrl+r", "escape")
        await until(pilot, lambda: not screen.chat)
        await pilot.press("escape")
        assert app.screen is screen
        assert "the text is kept" in screen_text(app)
        await pilot.press("s", "escape")
        assert app.screen is screen
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await settled(pilot)


async def test_l_goes_to_the_longest_tokens_one_by_one_and_a_number_to_its_id(file: str) -> None:
    app = playing("hugs pug hug hugs", of_file(file))
    async with app.run_test(size=(80, 24)) as pilot:
        screen = screen_of(app)
        await encoded(pilot, screen)
        chips = screen.columns[0].chips
        text, spans = chips.encoded.text, zip(chips.encoded.starts, chips.encoded.ends, strict=True)
        pieces = [text[start:end] for start, end in spans]
        longest = sorted(dict.fromkeys(pieces), key=len, reverse=True)
        await pilot.press("f6")
        for rank, piece in enumerate([*longest, longest[0]]):
            await pilot.press("L")
            await pilot.pause()
            assert chips.cursor == pieces.index(piece)
            assert f"{rank % len(longest) + 1} of {len(longest)} by length" in screen_text(app)
        wanted = next(token.id for token in chips.encoded.tokens if token.text != longest[0])
        await pilot.press("ctrl+f", *str(wanted), "enter")  # no token has this number as its text
        await settled(pilot)
        assert chips.encoded.tokens[chips.cursor or 0].id == wanted


async def test_it_reopens_where_it_was_left(file: str) -> None:
    """A letter replaces the text of the last time, and an arrow key keeps it."""
    app = playing("hug pugs", of_file(file), preset_played("bert"), offset=3)
    async with app.run_test(size=(100, 30)) as pilot:
        screen = screen_of(app)
        await encoded(pilot, screen)
        await pilot.press("f2", "s")
        await encoded(pilot, screen)
        left = screen.left
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.screen is app.main)
        await settled(pilot)
    assert left.text == "hugs pugs"
    assert read_left() == dataclasses.replace(left, tokenizers=tuple(
        dataclasses.replace(one, wanted=dataclasses.replace(one.wanted)) for one in left.tokenizers))
    app = playing(None)
    async with app.run_test(size=(100, 30)) as pilot:
        screen = screen_of(app)
        await encoded(pilot, screen)
        assert screen.left == left
        assert len(ids_of(screen))
        assert len(ids_of(screen, 1))
        assert (screen.editor.text, screen.editor.selected_text) == ("hugs pugs", "hugs pugs")
        assert "the last time: a letter replaces it" in screen_text(app)
        await pilot.press("right")
        await settled(pilot)
        assert screen.editor.selection.is_empty
        assert "of the last time: ctrl+u clears it" in screen_text(app)
        screen.editor.select_all()
        await pilot.press(*"464 4315")
        await encoded(pilot, screen)
        assert screen.editor.text == "464 4315"
        assert "of the last time" not in screen_text(app)
        screen.editor.load_text("--help")  # in a command it is no option
        await encoded(pilot, screen)
        assert screen.command_line() == f"tokentui play -t {file} -t bert -- --help"


@pytest.mark.parametrize(("wide", "shown"), [(27, "models/small.json · 1 token"), (26, "models · 1 token")])
def test_a_title_keeps_a_path_that_just_fits(wide: int, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    column = PlayColumn(Played(ColumnWanted(path="models/small.json")))
    encoding = tokentui.train("sample:hugs", "gpt2").encode("a")
    column.open, column.chips.encoded = True, PlayedText("a", encoding.rows)
    monkeypatch.setattr(PlayColumn, "outer_size", Size(wide + TITLE_CORNERS, 9))
    column.name_it(None)
    assert Content.from_markup(str(column.border_title)).plain == shown


@pytest.mark.slow
async def test_tokenizers_come_and_go(file: str) -> None:
    app = playing("hugs", of_file(file))
    async with app.run_test(size=(120, 30)) as pilot:
        screen = screen_of(app)
        await encoded(pilot, screen)
        await pilot.press("ctrl+o")
        await settled(pilot)
        assert "How to get one" in screen_text(app)
        assert "enter copies the address" in screen_text(app)
        await pilot.press(*"bert", "enter")
        await until(pilot, lambda: len(screen.columns) == 2)
        await encoded(pilot, screen)
        assert ids_of(screen, 1)
        # Underlined where the other one has no token of the same characters.
        assert any("partial-here" in style for _, style in screen.columns[0].chips.painted[0])
        await pilot.press("f8")
        await encoded(pilot, screen)
        assert len(screen.columns) == 1
        assert not any("partial-here" in style for _, style in screen.columns[0].chips.painted[0])
        await pilot.press("f8")
        await settled(pilot)
        assert "one tokenizer stays" in screen_text(app)


@pytest.mark.slow
async def test_a_price_is_shown_if_one_is_set(file: str) -> None:
    app = playing("hugs " * 100, of_file(file))
    async with app.run_test(size=(120, 30)) as pilot:
        screen = screen_of(app)
        await encoded(pilot, screen)
        assert "$" not in screen_text(app)
        app.user_settings.change(SETTINGS["price"], "$2.50")
        await pilot.press("a")
        await encoded(pilot, screen)
        count = len(ids_of(screen))
        assert f"${count * 2.5 / 1e6:.5f}" in screen_text(app)


@pytest.mark.parametrize(("text", "tokens", "shown"), [
    ("2.5", 1_000_000, "2.50"), ("$3", 1_000, "$0.0030"), ("0.15 EUR", 10, "0.0000015 EUR"),
    ("€2", 0, "€0.00"), ("none", 1, None), ("", 1, None), ("1.2.3", 1, None), ("9" * 40, 1, None),
    ("-5", 4_000_000, "-20.00"),
])
def test_prices(text: str, tokens: int, shown: str | None) -> None:
    price = Price.read(text)
    assert (None if price is None else price.of(tokens)) == shown


@pytest.mark.slow
async def test_a_chat_is_rendered_with_the_origin_of_each_token(tmp_path: Path) -> None:
    """Its tokens are those of the command, and a tokenizer without a template says so."""
    path = write_model(tmp_path, TEMPLATES["chatml"].read_text(encoding="utf-8"))
    text = "system: be brief\nuser: hugs and\npugs"
    messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hugs and\npugs"}]
    chat, template = Chat(messages), read_template(path)
    expected = encode_chat(tokentui.load(path), template, chat, add_generation_prompt=True)
    app = playing(text, of_file(path), preset_played())
    async with app.run_test(size=(160, 30)) as pilot:
        screen = screen_of(app)
        await encoded(pilot, screen)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: bool(screen.columns[0].chips.encoded.origins))
        await settled(pilot)
        assert ids_of(screen) == [*expected.encoding.ids]
        assert [*screen.columns[0].chips.encoded.origins] == [*expected.origin]
        assert "a training has no chat template" in screen.columns[1].chips.encoded.error
        await pilot.press("f6")
        seen = set()
        for _ in range(len(expected.origin)):
            seen |= {word for word in ("special", "template", "content") if f"  {word} " in screen_text(app)}
            await pilot.press("right")
            await settled(pilot)
        assert seen == {"special", "template", "content"} & {*expected.origin}
        screen.set_focus(screen.editor)
        screen.editor.load_text(json.dumps(messages))
        await encoded(pilot, screen)
        assert ids_of(screen) == [*expected.encoding.ids]
        screen.editor.load_text('[{"role": 3')
        await until(pilot, lambda: bool(screen.columns[0].chips.encoded.error))
        await pilot.press("escape")
        await encoded(pilot, screen)
        assert ids_of(screen) == [*tokentui.load(path).encode('[{"role": 3').ids]


def test_what_an_editor_wrote_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte for byte; a program that fails, or is not there, leaves the text, and says so in a line."""

    class FakeApp:
        def suspend(self) -> contextlib.AbstractContextManager[None]:
            return contextlib.nullcontext()

    program = tmp_path / "editor.sh"
    program.write_text('#!/bin/sh\nprintf "\\377end\\n" >> "$2"\nexit $1\n')
    program.chmod(0o755)
    monkeypatch.setenv("VISUAL", f"{program} 0")
    assert edited(FakeApp(), "a\r\n\udcfe") == "a\r\n\udcfe\udcffend"  # type: ignore[arg-type]
    assert edited(FakeApp(), "a\n") == "a\n\udcffend\n"  # type: ignore[arg-type]
    for command, said in ((f"{program} 3", "ended with code 3"), ("/no/such/editor", "cannot be run")):
        monkeypatch.setenv("VISUAL", command)
        with pytest.raises(TokentuiError, match=said):
            edited(FakeApp(), "a")  # type: ignore[arg-type]
    monkeypatch.delenv("VISUAL")
    monkeypatch.delenv("EDITOR", raising=False)
    with pytest.raises(TokentuiError, match="no editor is named"):
        edited(FakeApp(), "a")  # type: ignore[arg-type]
