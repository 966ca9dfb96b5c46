"""Opening a corpus: completion, the list, and names that do not mean well."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from dialogs import FakeEngine, assert_safe, pasted, shown, tried_on_all_sizes, typed
from screens import snapshot
from textual.pilot import Pilot
from textual.widgets import Input
from waiting import screen_text, settled, text_of, until

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe, Run
from tokentui.session.commands import Open, OpenTokenizer, Recognize
from tokentui.session.persist.session_file import state_dir
from tokentui.session.views import ColumnWanted
from tokentui.text.read import read
from tokentui.text.sources import samples
from tokentui.ui.dialogs import open as opening
from tokentui.ui.dialogs import picker
from tokentui.ui.dialogs.open import AS_LEFT, AddScreen, OpenScreen, with_axes
from tokentui.ui.dialogs.picker import MOST_ENTRIES, Entry, Listed, in_thread, list_folder, look_at, parts
from tokentui.ui.draw.figures import size

HOSTILE = (
    "\x1b]0;title\x07.txt", "line\nbreak.txt", "[\\].txt", "[bold]x", "\u202egpj.exe", "\x9b31m",
    "tab\t.txt", "\udcff.txt",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "one.txt").write_text("one")
    (tmp_path / "books" / "one.more.txt").write_text("one more")
    (tmp_path / "corpus.txt").write_text("text")
    (tmp_path / ".hidden").write_text("text")
    return tmp_path


def opened_before(*sources: str) -> OpenScreen:
    """The dialog of a user who opened these before, the newest first."""
    recent = state_dir() / "recent.json"
    recent.parent.mkdir(parents=True, exist_ok=True)
    recent.write_text(json.dumps(sources))
    return OpenScreen(FakeEngine())


async def _listed(pilot: Pilot[Any], dialog: OpenScreen, name: str) -> None:
    await until(
        pilot, lambda: any(isinstance(row.key, tuple) and row.key[1] == name for row in dialog.listing.rows)
    )


@pytest.mark.slow
@pytest.mark.parametrize("source", ["sample:parallel", "corpora:en=corpus.txt,de=b.txt"])
async def test_named_corpora_are_opened_by_their_word(folder: Path, source: str) -> None:
    async with shown(OpenScreen(FakeEngine())) as (app, pilot):
        await typed(pilot, source)
        await pilot.press("enter")
        await until(pilot, lambda: app.result == Open((source,)))


async def test_named_corpora_are_opened_and_those_that_are_none_are_a_line(folder: Path) -> None:
    dialog = OpenScreen(FakeEngine())
    async with shown(dialog) as (app, pilot):
        await pasted(pilot, "corpora:en")
        await pilot.press("enter")
        await until(pilot, lambda: "not NAME=SOURCE" in screen_text(pilot))
        assert not app.answered
        await pasted(pilot, "=~/corpus.txt,de=b.txt")
        await pilot.press("enter")
        await until(pilot, lambda: app.result == Open((f"corpora:en={folder}/corpus.txt,de=b.txt",)))


async def test_a_path_goes_on_as_shown_and_tab_writes_what_names_have_in_common(folder: Path) -> None:
    dialog = OpenScreen(FakeEngine())
    async with shown(dialog) as (app, pilot):
        await typed(pilot, "b")
        await _listed(pilot, dialog, "books/")
        await pilot.press("tab")
        await until(pilot, lambda: dialog.field.value == "books/")
        await _listed(pilot, dialog, "books/one.txt")
        await pilot.press("tab")
        await until(pilot, lambda: dialog.field.value == "books/one.")
        await until(pilot, lambda: len([row for row in dialog.listing.rows if row.key]) == 2)
        await pilot.press("tab")  # nothing more in common: on to the list
        await until(pilot, lambda: dialog.listing.has_focus)
        await pilot.press("tab")
        await until(pilot, lambda: dialog.field.has_focus)
        dialog.field.put("books/one.")
        await pilot.press("m")
        await until(pilot, lambda: "> books/one.more.txt" in screen_text(pilot))
        await pilot.press("right")
        await until(pilot, lambda: dialog.field.value == "books/one.more.txt")
        dialog.field.put("~/cor")  # home is put in its place
        await _listed(pilot, dialog, "~/corpus.txt")
        await pilot.press("tab", "enter")
        await until(pilot, lambda: app.result == Open((str(folder / "corpus.txt"),)))


async def test_enter_takes_the_one_name_that_begins_like_it(folder: Path) -> None:
    dialog = OpenScreen(FakeEngine())
    async with shown(dialog) as (app, pilot):
        await typed(pilot, "boo")
        await pilot.press("enter")
        await until(pilot, lambda: dialog.field.value == "books/")
        assert not app.answered
        await pilot.press("ctrl+u")
        await pasted(pilot, "corpus.t")
        await pilot.press("enter")
        await until(pilot, lambda: app.result == Open(("corpus.txt",)))


async def test_into_a_folder_and_out_again_or_it_is_a_corpus_itself(folder: Path) -> None:
    dialog = OpenScreen(FakeEngine())
    async with shown(dialog) as (app, pilot):
        await typed(pilot, "book")
        await _listed(pilot, dialog, "books/")
        await pilot.press("down", "enter")
        await until(pilot, lambda: dialog.field.value == "books/")
        await _listed(pilot, dialog, "books/one.txt")
        rows = dialog.listing.rows
        dialog.listing.move_to(next(n for n, row in enumerate(rows) if row.key == ("enter", "")))
        await pilot.press("enter")
        await until(pilot, lambda: dialog.field.value == "")
        assert not app.answered
        dialog.field.value = "books/"
        await _listed(pilot, dialog, "books/one.txt")
        index = dialog.listing.index_of(("open", "books/"))
        assert index is not None
        dialog.listing.focus()
        dialog.listing.move_to(index)
        await pilot.press("enter")
        await until(pilot, lambda: app.result == Open(("books/",)))


async def test_recent_ones_first_then_samples_then_the_folder_and_a_text_narrows_all(folder: Path) -> None:
    dialog = opened_before("/far/away.txt", "sample:gage")
    async with shown(dialog) as (app, pilot):
        await _listed(pilot, dialog, "corpus.txt")
        rows = dialog.listing.rows
        places = [
            dialog.listing.index_of(("open", name))
            for name in ("/far/away.txt", "sample:english", "corpus.txt")
        ]
        assert None not in places
        assert places == sorted(n for n in places if n is not None)
        assert [row.cells[0][0][0] for row in rows if row.key is None] == ["Recent", "Built in", "Folder"]
        assert ("open", ".hidden") not in [row.key for row in rows]
        header = {f"sample:{sample.name}": size(read(f"sample:{sample.name}").size) for sample in samples()}
        await until(pilot, lambda: header["sample:gage"] in str(dialog.listing.rows))
        assert {
            row.key[1]: row.cells[2][0][0] for row in rows_of(dialog) if row.key[1] in header and row.cells[2]
        } == header
        await typed(pilot, "GAGE")
        wanted = [None, ("open", "sample:gage"), None, ("open", "sample:gage")]
        await until(pilot, lambda: [row.key for row in dialog.listing.rows] == wanted)
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.result == Open(("sample:gage",)))


def rows_of(dialog: OpenScreen | AddScreen) -> list[Any]:
    return [row for row in dialog.listing.rows if isinstance(row.key, tuple)]


def marked(dialog: OpenScreen | AddScreen) -> Any:
    """What the row that is told from the others stands for, None where none is."""
    return dialog.listing.cursor_key if dialog.listing.marked else None


@pytest.mark.parametrize(
    ("text", "row", "opens"),
    [
        ("sailor", ("open", "sample:sailor"), "sample:sailor"),
        ("wood", ("open", "sample:woodchuck"), "sample:woodchuck"),
        ("sample:engl", ("open", "sample:english"), "sample:english"),
        ("away", ("open", "/far/away.txt"), "/far/away.txt"),
        ("corp", ("open", "corpus.txt"), "corpus.txt"),
        ("corpus.txt", ("open", "corpus.txt"), "corpus.txt"),
        ("books/", ("open", "books/"), "books/"),
        ("books/one.m", ("open", "books/one.more.txt"), "books/one.more.txt"),
        ("books", None, "books"),
        ("books/*.txt", None, "books/*.txt"),
        ("corpus.txt split=gpt2", None, "corpus.txt"),
        (".", None, "."),
    ],
)
@pytest.mark.first_run(cases=2)
async def test_the_row_that_is_marked_is_the_one_that_enter_takes(
    folder: Path, text: str, row: Any, opens: str
) -> None:
    (folder / "far").mkdir()
    (folder / "far" / "away.txt").write_text("far")
    dialog = opened_before(str(folder / "far" / "away.txt"))
    opens, row = (
        (str(folder) + opens, ("open", str(folder) + opens)) if opens == "/far/away.txt" else (opens, row)
    )
    async with shown(dialog) as (app, pilot):
        assert marked(dialog) is None
        await typed(pilot, text)
        assert await dialog.listed(text)
        await until(pilot, lambda: marked(dialog) == row)
        await pilot.press("enter")
        await until(pilot, lambda: app.answered)
        assert app.result is not None
        split = with_axes(text)[1]
        assert app.result == (OpenTokenizer(opens, split) if split else Open((opens,)))


def test_a_comparison_that_was_left_is_offered_with_all_its_columns() -> None:
    now = dataclasses.replace(snapshot(), parked=1)  # the first column stays on the main screen
    first = next(AddScreen(FakeEngine(now), "Add a column", Recipe()).rows(""))
    assert (first.key, first.cells[1]) == (("left", AS_LEFT.name), (("2 columns", "muted"),))


async def test_the_row_that_is_marked_is_taken_as_a_column() -> None:
    dialog = AddScreen(FakeEngine(), "Add a column", Recipe())
    async with shown(dialog) as (app, pilot):
        await typed(pilot, "ber")
        await until(pilot, lambda: marked(dialog) == ("preset", "bert"))
        keys = [row.key[1] for row in rows_of(dialog)]
        assert keys[:2] == ["bert", "albert"], "names that begin so, then those that hold it"
        await pilot.press("enter")
        await until(pilot, lambda: app.answered)
        assert app.result == ColumnWanted(PRESETS["bert"].recipe, Run(), name="bert")


@pytest.mark.parametrize(("text", "keys", "wanted"), [
    ("gpt", ("down", "down", "enter"), ("gpt4", PRESETS["gpt4"].recipe, "", "")),
    ("corpus.json", ("ctrl+t", "enter"), ("", None, "corpus.json", "none")),
    ("own.toml", ("enter",), ("", Recipe(), "", "")),
    ("./corpus.j", ("tab", "enter"), ("", None, "./corpus.json", "")),
    ("./corpus.j", ("down", "end", "enter"), ("", None, "./corpus.json", "")),
])
async def test_a_column_is_a_preset_a_recipe_or_a_file(
    folder: Path, text: str, keys: tuple[str, ...], wanted: tuple[object, ...]
) -> None:
    (folder / "corpus.json").write_text("{}")
    (folder / "own.toml").write_text(Recipe().to_toml())
    dialog = AddScreen(FakeEngine(), "Add a column", Recipe())
    async with shown(dialog) as (app, pilot):
        dialog.field.put(text)
        assert await dialog.listed(text)
        await pilot.press(*keys)
        await until(pilot, lambda: app.answered)
        column = app.result
        assert (column.name, column.recipe, column.path, column.split) == wanted


async def test_a_row_that_is_gone_is_said_to_be(folder: Path) -> None:
    dialog = opened_before("/far/away.txt")
    async with shown(dialog) as (app, pilot):
        await typed(pilot, "away")
        await until(pilot, lambda: marked(dialog) == ("open", "/far/away.txt"))
        await pilot.press("enter")
        await until(pilot, lambda: "/far/away.txt: no such file" in text_of(dialog.notice))
        dialog.field.value = "/far/away.txt"
        assert await dialog.listed("/far/away.txt")
        await pilot.press("enter")
        await until(pilot, lambda: "/far/away.txt: no such file" in text_of(dialog.notice))
        assert not app.answered


@pytest.mark.parametrize(("line", "answer"), [
    ("/far/away.txt", "/far/away.txt: no such file"), ("hf:far/away", "the server does not respond"),
])
async def test_a_late_listing_does_not_hide_what_enter_told(
    line: str, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    late, release = threading.Event(), threading.Event()

    def first_is_late(folder: str, prefix: str, cancel: Any) -> Listed:
        if folder.endswith("far/") and not late.is_set():
            late.set()
            assert release.wait(10)
        return list_folder(folder, prefix, cancel)

    def recognize(command: Recognize) -> str:
        raise TokentuiError("the server does not respond", command.path)

    monkeypatch.setattr(picker, "list_folder", first_is_late)
    dialog = OpenScreen(FakeEngine(answers={Recognize: recognize}))
    async with shown(dialog) as (app, pilot):
        dialog.field.value = line
        await until(pilot, late.is_set)
        await pilot.press("enter")
        await until(pilot, lambda: answer in text_of(dialog.notice))
        release.set()
        await settled(pilot)
        assert answer in text_of(dialog.notice)
        assert not app.answered


async def test_enter_takes_the_row_that_it_was_pressed_on(folder: Path) -> None:
    """Also where others are listed meanwhile."""
    dialog = OpenScreen(FakeEngine())
    async with shown(dialog) as (app, pilot):
        dialog.action_to_list()
        dialog.listing.move_to(dialog.listing.index_of(("open", "sample:hugs")) or 0)
        dialog.listing.choose()
        dialog.listing.show(dialog.listing.rows[::-1])
        await until(pilot, lambda: app.result == Open(("sample:hugs",)))


class Recognizing(FakeEngine):
    """Tells what a file is when the test lets it; of two questions the newer takes the place of the older,
    as in a session."""

    def __init__(self) -> None:
        super().__init__(answers={Recognize: self._recognize})
        self.asked: list[asyncio.Future[str]] = []

    async def _recognize(self, command: Recognize) -> str:
        for earlier in self.asked:
            if not earlier.done():
                earlier.set_exception(Cancelled())
        self.asked.append(asyncio.get_running_loop().create_future())
        return await self.asked[-1]


async def test_what_is_told_of_a_file_takes_nothing_from_the_question_of_enter(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a tokenizer would be opened as a text."""
    let, looks = asyncio.Event(), list[str]()

    async def first_is_late(path: str) -> os.stat_result:
        looks.append(path)
        if len(looks) == 1:
            await let.wait()
        return await look_at(path)

    monkeypatch.setattr(opening, "look_at", first_is_late)
    face = Recognizing()
    dialog = OpenScreen(face)
    async with shown(dialog) as (app, pilot):
        dialog.field.put("corpus.txt")
        await pilot.press("enter")
        await until(pilot, lambda: face.asked)
        let.set()
        await pilot.pause()
        dialog.post_message(Input.Changed(dialog.field, "corpus.txt"))  # which the line may send late
        await pilot.pause()
        face.asked[0].set_result("a tokenizer")
        await until(pilot, lambda: app.result == OpenTokenizer("corpus.txt", ""))


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("line", ["", "sample:hugs", "books/one.txt"])
async def test_nothing_is_told_of_a_file_that_is_named_no_more(folder: Path, line: str) -> None:
    face = Recognizing()
    dialog = OpenScreen(face)
    async with shown(dialog) as (_, pilot):
        dialog.field.put("corpus.txt")
        await until(pilot, lambda: face.asked)
        dialog.field.put(line)
        await pilot.pause()
        if not face.asked[0].done():
            face.asked[0].set_result("a tokenizer")
        await pilot.pause()
        assert "corpus.txt is a tokenizer" not in text_of(dialog.notice)


async def test_names_of_samples_are_completed_and_checked() -> None:
    dialog = OpenScreen(FakeEngine())
    async with shown(dialog) as (app, pilot):
        await pasted(pilot, "sample:engl")
        await pilot.press("tab")
        await until(pilot, lambda: dialog.field.value == "sample:english")
        await typed(pilot, "x")
        await pilot.press("enter")
        await until(pilot, lambda: "no such sample" in text_of(dialog.notice))
        assert "english" in text_of(dialog.notice)
        await pilot.press("backspace", "enter")
        await until(pilot, lambda: app.result == Open(("sample:english",)))


async def test_the_way_to_read_goes_round(folder: Path) -> None:
    dialog = OpenScreen(FakeEngine())
    async with shown(dialog) as (app, pilot):
        for way in ("text", "lines", "jsonl", "counts", "auto", "text", "lines"):
            await pilot.press("ctrl+t")
            await until(pilot, lambda way=way: f"read as: {way}" in str(dialog.box.border_subtitle))  # type: ignore[misc]
        assert "read as: lines" in screen_text(pilot)
        await typed(pilot, "corpus.txt")
        await pilot.press("enter")
        await until(pilot, lambda: app.result == Open(("corpus.txt",), "lines"))


async def test_what_cannot_be_opened_is_said_in_place_and_nothing_goes_to_the_list(folder: Path) -> None:
    dialog = OpenScreen(FakeEngine())
    async with shown(dialog) as (app, pilot):
        dialog.field.value = "/no/such\x1b/"
        await until(pilot, lambda: "no such file or directory" in text_of(dialog.notice))
        assert_safe(pilot)
        for text, words in (
            ("absent.txt", "absent.txt: no such file"), ("corpus.txt/x", "not a directory"),
            ("-", "standard input is the keyboard"),
        ):
            dialog.field.put("")
            await pasted(pilot, text)
            await pilot.press("enter")
            await until(pilot, lambda words=words: words in text_of(dialog.notice))  # type: ignore[misc]
            assert not app.answered
        await pilot.press("ctrl+u", "enter")
        await until(pilot, lambda: dialog.listing.has_focus)
        await pilot.press("escape")
        await until(pilot, lambda: app.answered)
        assert app.result is None


async def test_a_glob_is_let_through(folder: Path) -> None:
    dialog = OpenScreen(FakeEngine())
    async with shown(dialog) as (app, pilot):
        dialog.field.value = "books/*.txt"
        await pilot.press("enter")
        await until(pilot, lambda: app.result == Open(("books/*.txt",)))


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.first_run(cases=2)
async def test_hostile_names_are_shown_safely_and_opened_exactly(folder: Path, name: str) -> None:
    (folder / "pit").mkdir()
    (folder / "pit" / name).write_text("x")
    dialog = opened_before(os.path.join("/gone", name))
    async with shown(dialog) as (app, pilot):
        dialog.field.value = "pit/"
        await _listed(pilot, dialog, f"pit/{name}")
        assert_safe(pilot)
        index = dialog.listing.index_of(("open", f"pit/{name}"))
        assert index is not None
        dialog.field.value = f"pit/{name}"  # as if pasted or completed
        await until(pilot, lambda: dialog.field.value == f"pit/{name}")
        await pilot.pause(0)
        assert_safe(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: app.result == Open((f"pit/{name}",)))


@pytest.mark.slow
async def test_hostile_names_on_all_sizes(folder: Path) -> None:
    for name in HOSTILE:
        (folder / name).mkdir()
    dialog = opened_before(*HOSTILE, "x" * 5000)
    async with shown(dialog) as (_, pilot):
        await _listed(pilot, dialog, "\x9b31m/")
        await tried_on_all_sizes(pilot)


async def test_a_folder_that_never_answers_holds_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    def hang(folder: str, prefix: str, cancel: Any) -> Listed:
        release.wait(60)
        return Listed(folder, prefix)

    monkeypatch.setattr(picker, "list_folder", hang)
    dialog = OpenScreen(FakeEngine())
    async with shown(dialog) as (app, pilot):
        await typed(pilot, "/net/x")
        await until(pilot, lambda: dialog.field.value == "/net/x")
        await pilot.press("escape")
        await until(pilot, lambda: app.answered)
    release.set()


async def test_what_fails_aside_fails_here() -> None:
    def fail() -> None:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        await in_thread(fail)
    assert await in_thread(lambda: 7) == 7


@pytest.mark.slow
def test_a_huge_folder_is_cut_and_says_so(tmp_path: Path) -> None:
    for number in range(MOST_ENTRIES + 50):
        (tmp_path / f"n{number:05}").touch()
    (tmp_path / "zoo").mkdir()
    listed = list_folder(str(tmp_path), "")
    assert listed.more
    assert len(listed.entries) == MOST_ENTRIES
    assert listed.entries[:2] == (Entry("zoo", True), Entry("n00000", False, 0))
    assert listed.beginning(str(tmp_path), "n020") is None
    narrowed = list_folder(str(tmp_path), "n020")
    assert not narrowed.more
    assert [entry.name for entry in narrowed.entries] == [f"n020{n:02}" for n in range(50)]
    within = narrowed.beginning(str(tmp_path), "n0201")
    assert within is not None
    assert [entry.name for entry in within] == [f"n0201{n}" for n in range(10)]


def test_hidden_names_come_when_the_dot_is_typed(folder: Path) -> None:
    listed = list_folder(".", "")
    assert [entry.name for entry in listed.entries] == ["books", "corpus.txt"]
    assert listed.beginning(".", ".") is None
    assert [entry.name for entry in list_folder(".", ".").entries] == [".hidden"]


def test_a_listing_that_is_not_wanted_any_more_stops(folder: Path) -> None:
    assert list_folder(".", "", lambda: True).entries == ()


@pytest.mark.parametrize("path", ["/no/such", "corpus.txt", "nul\0"])
def test_why_a_folder_cannot_be_listed(folder: Path, path: str) -> None:
    assert list_folder(path, "").error


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [("", (".", "")), ("a", (".", "a")), ("a/b", ("a/", "b")), ("/", ("/", "")), ("/x", ("/", "x"))],
)
def test_a_path_in_parts(typed: str, wanted: tuple[str, str]) -> None:
    assert parts(typed) == wanted


@pytest.mark.parametrize(
    ("head", "above"),
    [("", "../"), ("a/", ""), ("a/b/", "a/"), ("/", None), ("/a/", "/"), ("../", "../../"), ("./", "./../"),
     ("~/", "/home/")],
)
def test_the_folder_above(monkeypatch: pytest.MonkeyPatch, head: str, above: str | None) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert picker.folder_above(head) == above


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("line", ["https://host/a.txt", "s3://bucket/*.txt", "hf://datasets/owner/name/a.txt"])
async def test_a_url_is_opened_as_it_is_typed(folder: Path, line: str) -> None:
    async with shown(OpenScreen(FakeEngine())) as (app, pilot):
        await pasted(pilot, line)
        await pilot.press("enter")
        await until(pilot, lambda: app.result == Open((line,)))


async def test_a_tokenizer_of_the_hub_is_opened_as_one(folder: Path) -> None:
    async with shown(OpenScreen(FakeEngine(answers={Recognize: "a tokenizer"}))) as (app, pilot):
        await pasted(pilot, "hf:owner/name")
        await pilot.press("enter")
        await until(pilot, lambda: app.result == OpenTokenizer("hf:owner/name", ""))


async def test_a_place_that_gives_nothing_is_told_and_can_be_left(folder: Path) -> None:
    def answer(command: Recognize) -> str:
        raise TokentuiError("the server does not respond", command.path, "look at the network")

    async with shown(OpenScreen(FakeEngine(answers={Recognize: answer}))) as (_, pilot):
        await pasted(pilot, "hf:owner/name")
        await pilot.press("enter")
        await until(pilot, lambda: "the server does not respond" in screen_text(pilot))
