"""The dialog that writes a tokenizer: what each format would lose, the path, and what comes of trying."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from dialogs import FakeEngine, shown, tried_on_all_sizes, typed
from screens import snapshot
from waiting import PATIENCE, screen_text, settled, text_of, until

from tokentui.core.errors import TokentuiError
from tokentui.formats import WRITTEN
from tokentui.formats.files import recognize
from tokentui.formats.proof import ExportReport
from tokentui.formats.spec import Loss
from tokentui.recipe import Recipe
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.ui.dialogs import FindScreen
from tokentui.ui.dialogs.export import ExportScreen

REPORTS = (
    ExportReport("tokentui", "the project's own", ("tokenizer.json",)),
    ExportReport(
        "tiktoken", "tiktoken's ranks", ("ranks.tiktoken",),
        (
            Loss("pattern", "the file does not say how text is cut", "-s split=\x1b[31m"),
            Loss("specials", "they are not named"),
        ),
    ),
    ExportReport("bert", "BERT's vocab.txt", ("vocab.txt",), refused="it is encoded with merges"),
    ExportReport("gpt2", "two of them", ("vocab.json", "merges.txt")),
)


class Writer(FakeEngine):
    """Takes what is asked for, and answers as it is told."""

    def __init__(self, *answers: ExportReport | TokentuiError) -> None:
        now = snapshot(step=1234, corpus_name="novel.txt")
        super().__init__(now, {do.Formats: REPORTS, do.Export: lambda command: self.write(command)})
        self.coming = list(answers)

    @property
    def asked(self) -> list[tuple[str, str, bool]]:
        """What was to be written."""
        return [(one.path, one.format, one.overwrite) for one in self.of(do.Export)]

    async def write(self, command: do.Export) -> ExportReport:
        answer = self.coming.pop(0)
        if isinstance(answer, TokentuiError):
            raise answer
        return answer


def dialog(writer: Writer) -> ExportScreen:
    return ExportScreen(writer)


async def test_the_keys_that_are_named_are_those_of_the_focus() -> None:
    async with shown(dialog(Writer())) as (_app, pilot):
        keys = "enter write │ ↑↓ format  tab path  / find  & filter │ esc back"
        await until(pilot, lambda: keys in screen_text(pilot))
        await pilot.press("tab")
        await until(pilot, lambda: "enter write │ tab formats │ esc back" in screen_text(pilot))


async def test_the_list_takes_no_focus_that_has_moved_on() -> None:
    class Typed(ExportScreen):
        """Type into the path as soon as the input line is mounted."""

        def on_mount(self) -> None:
            self.call_next(self.type_into, self.field, "a")

    screen = Typed(Writer())
    async with shown(screen) as (_, pilot):
        await until(pilot, lambda: screen.field.value == "a")
        assert screen.focused is screen.field


async def test_the_formats_and_what_each_loses() -> None:
    screen = dialog(Writer())
    async with shown(screen, (100, 30)) as (_, pilot):
        await settled(pilot)
        text = screen_text(pilot)
        assert "lossless" in text
        assert "Export the tokenizer of step 1,234" in text
        assert "loses pattern, specials" in text
        assert "not possible: it is encoded with m" in text
        assert screen.field.value == "novel.json"
        await pilot.press("down")
        await until(
            pilot,
            lambda: (
                "pattern: the file does not say how text is cut (-s split=\\x1b[31m)" in screen_text(pilot)
            ),
        )
        assert screen.field.value == "ranks.tiktoken"
        await pilot.press("down", "down")
        await until(pilot, lambda: "Two files: vocab.json and merges.txt" in screen_text(pilot))
        await tried_on_all_sizes(pilot)


async def test_enter_writes_to_the_path_that_was_typed() -> None:
    writer = Writer(REPORTS[1])
    screen = dialog(writer)
    async with shown(screen) as (app, pilot):
        await until(pilot, lambda: "lossless" in screen_text(pilot))
        await pilot.press("tab", "ctrl+u")
        await typed(pilot, "a/b.json")
        await pilot.press("tab", "down")
        assert screen.field.value == "a/b.json"  # the typed text is not replaced by another usual name
        await pilot.press("enter")
        await until(pilot, lambda: app.answered)
    assert writer.asked == [("a/b.json", "tiktoken", False)]
    assert writer.said == ["a/b.json: written as tiktoken"]


async def test_a_file_that_is_there_is_written_over_on_the_second_enter_only() -> None:
    there = TokentuiError("the file exists already", "novel.json", "press enter again to overwrite it")
    writer = Writer(there, there, REPORTS[0])
    screen = dialog(writer)
    async with shown(screen) as (app, pilot):
        await until(pilot, lambda: "lossless" in screen_text(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: "press enter again to overwrite it" in screen_text(pilot))
        await pilot.press("tab", "end", "x", "enter")  # another path: asked anew
        await until(pilot, lambda: len(writer.asked) == 2 and "enter again" in screen_text(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: app.answered)
    assert [overwrite for _, _, overwrite in writer.asked] == [False, False, True]


async def test_what_cannot_be_written_says_why_and_stays() -> None:
    refused = ExportReport(
        "tokentui", "the project's own", ("tokenizer.json",), refused="it would encode 'a' as 'b', not as 'a'"
    )
    writer = Writer(
        refused, TokentuiError("cannot be written: no such folder", "novel.json", "make it first")
    )
    screen = dialog(writer)
    async with shown(screen) as (app, pilot):
        await until(pilot, lambda: "lossless" in screen_text(pilot))
        await pilot.press("down", "down", "enter")
        answer = "bert cannot store it: it is encoded with merges"
        await until(pilot, lambda: text_of(screen.notice) == answer)
        await pilot.press("up", "up", "enter")
        await until(pilot, lambda: "nothing was written: it would encode" in text_of(screen.notice))
        assert writer.asked == [("novel.json", "tokentui", False)]
        await pilot.press("escape")
        await until(pilot, lambda: app.answered)
    assert app.result is None


async def test_a_session_writes_the_tokenizer_of_its_step(tmp_path: Path) -> None:
    session = Session(lambda snapshot: None, Recipe())
    await session.start()
    try:
        await session.send(do.Open(("sample:english",)))
        await session.send(do.GoTo(40))
        await session.idle.wait()
        reports = await session.send(do.Formats())
        assert [report.format for report in reports if not report.refused] == [
            "tokentui", "huggingface", "tiktoken", "gpt2", "minbpe", "tekken",
        ]
        path = tmp_path / "x.tiktoken"
        report = await asyncio.wait_for(session.send(do.Export(str(path), "tiktoken")), PATIENCE)
        assert report.checked > 60
        assert path.read_bytes().count(b"\n") == 256 + 40
        with pytest.raises(TokentuiError, match="exists already"):
            await session.send(do.Export(str(path), "tiktoken"))
        assert (await session.send(do.Export(str(path), "tiktoken", overwrite=True))).refused == ""
        assert (await session.send(do.Export(str(tmp_path / "v"), "bert"))).refused.startswith(
            "it is encoded with merges"
        )
        assert not (tmp_path / "v").exists()
    finally:
        await session.close()


async def test_a_name_of_another_format_is_asked_about_once(tmp_path: Path) -> None:
    session = Session(lambda _: None, Recipe())
    await session.start()
    try:
        await session.send(do.Open(("sample:hugs",)))
        for name, format, other in (
            ("a.tiktoken", "tokentui", "tiktoken"), ("vocab.txt", "tiktoken", "bert"),
        ):
            path = str(tmp_path / name)
            with pytest.raises(TokentuiError) as raised:
                await session.send(do.Export(path, format))
            assert raised.value.what == f"this file name belongs to {other}, not to {format}"
            assert "enter again" in raised.value.hint
            assert recognize(path) is None
            assert (await session.send(do.Export(path, format, overwrite=True))).refused == ""
            assert recognize(path) is WRITTEN[format]
            with pytest.raises(TokentuiError, match="the file exists already; this file name belongs to"):
                await session.send(do.Export(path, format))
        for name, format in (
            ("x.unknown", "tiktoken"), ("tokenizer.json", "huggingface"), ("y.json", "huggingface"),
        ):
            assert (await session.send(do.Export(str(tmp_path / name), format))).refused == ""
    finally:
        await session.close()


async def test_formats_are_found_and_filtered_and_the_path_keeps_its_slashes() -> None:
    writer = Writer()
    async with shown(dialog(writer), (100, 30)) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, ExportScreen)
        await until(pilot, lambda: screen.chosen is not None)
        await pilot.press("slash", "ampersand")
        assert [type(screen) for screen in writer.pushed] == [FindScreen, FindScreen]
        screen.formats.find = "bert"
        screen.action_find_again(1)
        await until(pilot, lambda: screen.chosen is not None and screen.chosen.format == "bert")
        screen.formats.filter("ranks")
        await until(pilot, lambda: [row.key for row in screen.formats.rows] == ["tiktoken"])
        await pilot.press("escape")
        assert len(screen.formats.rows) == len(REPORTS)
        await pilot.press("tab", "home", "slash", "ampersand")
        assert screen.field.value.startswith("/&")
        await pilot.press("escape")
        await until(pilot, lambda: app.answered)
