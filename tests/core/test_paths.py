"""Where things live, and what was opened last."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tokentui.session.persist import session_file as saved


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv("TOKENTUI_HOME", str(folder))
    return folder


def test_one_variable_moves_everything(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert saved.state_dir() == home
    monkeypatch.delenv("TOKENTUI_HOME")
    assert saved.state_dir().name == "tokentui"


def test_newest_first_without_repeats(home: Path) -> None:
    assert saved.recent() == ()
    for source in ("/a", "/b", "sample:gage", "/a"):
        saved.remember(source)
    assert saved.recent() == ("/a", "sample:gage", "/b")


def test_only_the_most_recent_are_kept(home: Path) -> None:
    for number in range(25):
        saved.remember(f"/{number}")
    assert saved.recent() == tuple(f"/{number}" for number in reversed(range(5, 25)))


def test_paths_are_kept_absolute_and_standard_input_is_not(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/somewhere")
    for source in ("-", "", "near.txt", "~/far.txt"):
        saved.remember(source)
    assert saved.recent() == ("/somewhere/far.txt", os.path.join(os.getcwd(), "near.txt"))


def test_names_that_are_no_utf8_come_back(home: Path) -> None:
    name = os.fsdecode(b"/tmp/\xff\x1b[31m\n.txt")
    saved.remember(name)
    assert saved.recent() == (name,)


_DAMAGED = [b"", b"{", b'{"a": 1}', b"\xff\xfe", b"[" * 100_000, b'[1, null, "", "/kept", "/kept"]']


@pytest.mark.parametrize("held", _DAMAGED)
def test_a_damaged_file_is_no_failure(home: Path, held: bytes) -> None:
    home.mkdir()
    (home / "recent.json").write_bytes(held)
    assert saved.recent() == (("/kept",) if b"kept" in held else ())
    saved.remember("/new")
    assert saved.recent()[0] == "/new"
    assert isinstance(json.loads((home / "recent.json").read_bytes()), list)


def test_an_unwritable_place_is_ignored_silently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("TOKENTUI_HOME", str(tmp_path / "file" / "below"))
    saved.remember("/a")
    saved.remember("/nul\0")
    assert saved.recent() == ()
