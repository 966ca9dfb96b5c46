"""A sealed process reads what is served and nothing else: no path that a visitor types reaches the disk."""

from __future__ import annotations

import ast
import builtins
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dialogs import FakeEngine, shown, typed
from hypothesis import given
from hypothesis import strategies as st
from sessions import Watched
from waiting import screen_text, until

import tokentui
from tokentui.core import sandbox
from tokentui.core.errors import TokentuiError
from tokentui.core.files import read_regular, write_together, write_whole
from tokentui.formats.files import load, mistaken, recognize
from tokentui.recipe import Recipe, read_recipe
from tokentui.session import commands as do
from tokentui.session.persist.session_file import keep_state, offered, recent, remember
from tokentui.session.persist.settings_file import read_settings
from tokentui.session.views import ColumnWanted
from tokentui.text.read import read
from tokentui.text.sources import samples
from tokentui.tours.parser import read_tour
from tokentui.ui.dialogs.open import AddScreen, OpenScreen

PACKAGE = Path(tokentui.__file__).parent
SECRET = "a secret of the machine"


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of links such as `serve` makes, in which this process stands, sealed. Beside it lies what must
    not be read."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key.txt").write_text(SECRET)
    (secret / "recipe.toml").write_text('split = "gpt2"\n')
    books = tmp_path / "class"
    (books / "inner").mkdir(parents=True)
    (books / "one.txt").write_text("one one two")
    (books / "inner" / "two.txt").write_text("two two one")
    (books / "out.txt").symlink_to(secret / "key.txt")
    (books / "away").symlink_to(secret)
    (tmp_path / "novel.txt").write_text("the cat and the hat")
    place = tmp_path / "served"
    place.mkdir()
    (place / "novel.txt").symlink_to(tmp_path / "novel.txt")
    (place / "books").symlink_to(books)
    (place / "unnamed.txt").write_text(SECRET)  # it is there, and is not among the names
    monkeypatch.chdir(place)
    sandbox.seal(["novel.txt", "books"], {str(one.path.parent) for one in samples()})
    yield place
    sandbox.unseal()


def hostile(place: Path) -> tuple[str, ...]:
    """Paths that a visitor may type."""
    secret = place.parent / "secret"
    return (
        str(secret / "key.txt"), "../secret/key.txt", "books/../../secret/key.txt", "./../secret/key.txt",
        "novel.txt/../../secret/key.txt", "../", "..", ".", "/", "", "-", "unnamed.txt", "./novel.txt",
        "books//one.txt", "books/./one.txt", "*", "**", "../secret/*", "[k]ey.txt", "*.txt", "~", "~/",
        "~root/.bashrc", "/etc/passwd", "/proc/self/environ", "/proc/self/fd/0", "/dev/stdin", "/dev/zero",
        "/dev/tty", "https://example.org/x", "file:///etc/passwd", "s3://bucket/x", "hf://gpt2/x", "hf:gpt2",
        "novel.txt\0", "\0", "\ud800", "NOVEL.TXT", "novel.txt ", "books/away/key.txt", "books/out.txt",
        str(secret / "recipe.toml"), "../secret/recipe.toml", str(place), f"{place}/novel.txt",
        f"corpora:en={secret / 'key.txt'}", "corpora:en=../secret/key.txt,hi=novel.txt",
        f"{samples()[0].path.parent}/../pyproject.toml", f"{samples()[0].path.parent}x/y",
    )


LINKED = ("books/away/key.txt", "books/out.txt")
"""Paths below a folder that is served: links there have to be looked at to be refused."""


class Spy:
    """Notes each path that the disk is asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        for where, name in (
            (os, "stat"), (os, "lstat"), (os, "open"), (os, "scandir"), (os, "listdir"), (os, "readlink"),
            (os, "access"), (builtins, "open"), (io, "open"),
        ):
            self._watch(monkeypatch, where, name)

    def _watch(self, monkeypatch: pytest.MonkeyPatch, where: Any, name: str) -> None:
        real: Callable[..., Any] = getattr(where, name)

        def watched(path: Any = ".", *words: Any, **more: Any) -> Any:
            if isinstance(path, str | bytes | os.PathLike):
                self.asked.append(os.fsdecode(path))
            return real(path, *words, **more)

        monkeypatch.setattr(where, name, watched)

    def reached(self, path: str) -> list[str]:
        """What of a path the disk was asked for."""
        return [one for one in self.asked if one == path or (len(path) > 3 and path in one)]


READERS: tuple[Callable[[str], object], ...] = (
    read, load, read_recipe, read_regular, read_tour, lambda path: read(path, as_="text"),
    lambda path: read(path, as_="lines"), lambda path: read(["sample:hugs", path]),
)


def test_no_reader_asks_the_disk_for_a_path_that_is_not_served(
    served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spy = Spy(monkeypatch)
    for path in hostile(served):
        for reader in READERS:
            with pytest.raises(TokentuiError) as told:
                reader(path)
            assert SECRET not in str(told.value)
            assert "\n" not in str(told.value)
        assert recognize(path) is None
        assert mistaken(path) is None
        if path not in LINKED:
            assert spy.reached(path) == [], path
        spy.asked.clear()


def test_a_sealed_process_reads_served_files(served: Path) -> None:
    assert "".join(map(str, read("novel.txt").documents)) == "the cat and the hat"
    assert "".join(map(str, read("books/inner/two.txt").documents)) == "two two one"
    assert read("sample:hugs").name == "hugs"
    folder = read("books")
    assert SECRET not in "".join(map(str, folder.documents))
    assert sorted(map(str, folder.documents)) == ["one one two", "two two one"]
    assert any("link" in note for note in folder.noticed)


def test_a_sealed_process_writes_nothing(served: Path) -> None:
    before = sorted(os.listdir(served))
    with pytest.raises(TokentuiError, match="writing to the disk is not allowed"):
        write_whole("x.txt", b"x")
    with pytest.raises(TokentuiError, match="writing to the disk is not allowed"):
        write_together([("a", b""), ("b", b"")])
    remember("novel.txt")
    assert keep_state("x", b"x") is None
    assert sorted(os.listdir(served)) == before


def test_files_opened_by_others_are_not_shown(tmp_path: Path, home: Path) -> None:
    remember("a-book-of-mine.txt")
    keep_state("settings.toml", b'typed = "mine"\n')
    assert recent()
    assert read_settings()[0]
    sandbox.seal([])
    try:
        assert recent() == ()
        assert read_settings() == ({}, "")
        assert offered() is None
    finally:
        sandbox.unseal()


async def test_a_session_refuses_files_that_are_not_served(
    served: Path, session: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    await session.send(do.Open(("novel.txt",)))
    spy = Spy(monkeypatch)
    for path in hostile(served):
        asked: list[do.Command[Any]] = [do.Open((path,)), do.OpenTokenizer(path),
            do.Export(path, "tokentui", True), do.Open(("novel.txt",), None, "text", do.OpenTokenizer(path))]
        if path:  # without a source it measures on none
            asked += [do.HoldOut(path), do.HoldOut(path, "text")]
        for command in asked:
            with pytest.raises(TokentuiError) as told:
                await session.send(command)
            assert SECRET not in str(told.value)
        assert await session.send(do.Recognize(path)) == ""
        if path not in LINKED:
            assert spy.reached(path) == [], path
        spy.asked.clear()
    assert session.last.corpus.name == "novel.txt"


async def test_a_column_of_a_file_that_is_not_served_fails_alone(served: Path, session: Watched) -> None:
    await session.send(do.Open(("novel.txt",)))
    columns = (ColumnWanted(Recipe()), ColumnWanted(path="/etc/passwd"))
    await session.send(do.Compare(columns))
    snapshot = await session.until(lambda now: any(one.error for one in now.columns))
    assert sandbox.REFUSED in next(one.error for one in snapshot.columns if one.error)


async def test_a_tokenizer_is_handed_out_in_place_of_a_file(served: Path, session: Watched) -> None:
    await session.send(do.Open(("novel.txt",)))
    await session.send(do.Move(3))
    report, (data,) = await session.send(do.Contents("tokentui"))
    assert not report.refused
    sandbox.unseal()
    (served / "made.json").write_bytes(data)
    assert load(served / "made.json").vocab_size == 259


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../secret/", "~/", "~root/", "/proc/self/environ", "*", ".."]
)
async def test_the_dialogs_refuse_it(served: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    for dialog in (OpenScreen(FakeEngine()), AddScreen(FakeEngine(), "Add", Recipe())):
        async with shown(dialog) as (app, pilot):
            await until(pilot, lambda: "novel.txt" in screen_text(pilot))  # what is served stands there
            assert "unnamed.txt" not in screen_text(pilot)
            spy = Spy(monkeypatch)
            dialog.field.put(path)
            dialog.field.focus()
            await pilot.press("enter")
            await until(pilot, lambda: "not one of the served files" in screen_text(pilot))
            assert not app.answered
            assert spy.reached(path) == []
            monkeypatch.undo()


async def test_the_open_dialog_opens_served_files(served: Path) -> None:
    async with shown(OpenScreen(FakeEngine())) as (app, pilot):
        await typed(pilot, "novel.txt")
        await pilot.press("enter")
        await until(pilot, lambda: app.result == do.Open(("novel.txt",)))


@given(st.text(alphabet="novel.txbks/~*-\0", max_size=12))
def test_only_served_names_and_files_below_served_folders_are_allowed(path: str) -> None:
    held = sandbox.ReadablePaths(frozenset(["novel.txt", "books"])).holds(path)
    parts = path.split("/")
    if held:
        assert path in ("novel.txt", "books") or (
            parts[0] == "books" and not {"", ".", ".."} & {*parts[1:]} and "\0" not in path
        )


ASKS = {
    "stat", "lstat", "open", "scandir", "listdir", "walk", "exists", "lexists", "isfile", "isdir", "islink",
    "getsize", "expanduser", "iglob", "glob", "access", "read_bytes", "read_text", "write_bytes",
    "write_text", "unlink", "rename", "replace", "mkdir", "touch",
}
"""Calls that take a path to the disk, by their last names."""
DOORS = {
    "core/files.py", "core/sandbox.py",  # the doors themselves
    "core/streams.py", "text/tally.py",  # writes where it may, and its own temporary files
    "building.py", "core/children.py", "core/forks.py", "core/library.py", "core/provenance.py",
    "core/runtime.py", "text/kernels/rules.py", "text/sources.py", "formats/oniguruma/classes.py",
    "analyze/verify/peers.py", "analyze/verify/child.py",  # a process of another library
    "analyze/grading/child.py",  # a process of a student's program
    "analyze/verify/environments.py",  # environments in the cache
    # paths of the program's own, which nobody types
    "session/persist/session_file.py", "session/persist/settings_file.py",
}
"""Files that may make them."""
ASKED_FIRST = {
    "text/files.py": {"open", "stat"},
    "text/read.py": {"isdir", "iglob", "isfile", "walk", "islink", "stat", "scandir"},
    "formats/files.py": {"getsize", "isdir", "isfile", "exists"}, "formats/source.py": {"scandir"},
    "core/toml.py": {"lexists", "read_text"}, "session/commands/export.py": {"lexists"},
    "session/commands/edit.py": {"lexists"}, "ui/dialogs/saving.py": {"expanduser", "lexists"},
    "formats/weights.py": {"isdir"}, "ui/dialogs/finder.py": {"read_text"},  # a built-in text
    "session/persist/play_file.py": {"exists"}, "ui/outside.py": {"open"},
    "ui/tour_writer.py": {"expanduser", "lexists"}, "ui/dialogs/picker.py": {"scandir", "stat"},
    "text/unicode.py": {"open"},  # tables that ship with the program
}
"""Calls of other files, each made once the door has been asked, or where nothing is sealed."""


def disk_calls(source: str) -> set[str]:
    """The calls of a module that take a path to the disk."""
    found: set[str] = set()
    if not any(f"{name}(" in source for name in ASKS):
        return found
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id == "open":
            found.add("open")
        elif isinstance(node.func, ast.Attribute) and node.func.attr in ASKS:
            owner = ast.unparse(node.func.value)
            plain = node.func.attr.endswith(("_bytes", "_text"))
            if plain or owner in ("os", "os.path", "glob", "io", "shutil"):
                found.add(node.func.attr)
    return found - {"replace"} if "os.replace" not in source else found


@pytest.mark.slow
def test_no_other_module_uses_the_disk() -> None:
    """A new reader goes through `core/files.py`, or asks `core/sandbox.py` and is named above."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith("cli/") or name in DOORS:
            continue  # commands read what their own user names
        if calls := disk_calls(path.read_text(encoding="utf-8")) - ASKED_FIRST.get(name, set()):
            found[name] = sorted(calls)
    assert found == {}


@pytest.mark.parametrize(
    "line", ["open(x)", "os.stat(x)", "os.path.exists(x)", "glob.glob(x)", "p.read_bytes()"]
)
def test_the_search_for_disk_calls_finds_examples(line: str) -> None:
    assert disk_calls(line)
