"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from failing_calls import CALLS, Killed, failing

from tokentui.core.errors import TokentuiError
from tokentui.core.files import read_errors, temporary, write_whole


@pytest.mark.parametrize(("path", "shown"), [("", "''"), ("a\0b", r"a\x00b")])
def test_a_name_that_no_file_can_have_is_shown(path: str, shown: str) -> None:
    with pytest.raises(TokentuiError) as caught:
        write_whole(path, b"")
    assert caught.value.where == shown


def refuse(number: int) -> Callable[..., None]:
    def call(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return call


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path: Path) -> None:
    """A temporary file that a living writer holds stays."""
    path = tmp_path / "file.json"
    left, other = tmp_path / ".file.json.01234567.tmp", tmp_path / ".other.json.01234567.tmp"
    for one in (left, other):
        one.write_bytes(b"half")
    with temporary(str(path), b"held", None) as name:
        write_whole(path, b"new")
        assert sorted(tmp_path.iterdir()) == sorted([path, other, Path(name)])
    write_whole(path, b"newer")
    assert sorted(tmp_path.iterdir()) == sorted([path, other])


def test_a_special_file_is_refused_with_a_hint() -> None:
    """A socket, or the device of a driver that is not there."""
    message = r"no such device or address \(name a file\)"
    with pytest.raises(TokentuiError, match=message), read_errors("socket"):
        refuse(errno.ENXIO)()


def test_a_short_write_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, bytes(data)[:3]))
    write_whole(tmp_path / "file.json", b"0123456789")
    assert (tmp_path / "file.json").read_bytes() == b"0123456789"


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("write", errno.ENOSPC), ("open", errno.EMFILE), ("replace", errno.EACCES), ("fsync", errno.ENOSPC),
        ("fchmod", errno.EPERM),
    ],
)
def test_a_failure_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, number: int
) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, name, refuse(number))
    with pytest.raises(TokentuiError) as raised:
        write_whole(path, b"new")
    assert raised.value.what == f"cannot be written: {os.strerror(number)}"
    assert raised.value.where == str(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupt_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "file.json", b"new")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_flushed_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def only_files(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "no")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    write_whole(tmp_path / "file.json", b"new")
    assert (tmp_path / "file.json").read_bytes() == b"new"


def test_the_mode_is_kept_and_a_new_file_has_the_usual_one(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_whole(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    (tmp_path / "plain").touch()
    write_whole(tmp_path / "fresh", b"new")
    assert (tmp_path / "fresh").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_the_target_of_a_symlink_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "file.json"
    link = tmp_path / "link.json"
    link.symlink_to(target)
    for content in (b"one", b"two"):  # a link to nothing, then to a file
        write_whole(link, content)
        assert link.is_symlink()
        assert target.read_bytes() == content


def test_special_files_are_written_to_directly(tmp_path: Path) -> None:
    write_whole(os.devnull, b"gone")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


@pytest.mark.parametrize("name", ["absent/file.json", "", "a\0b", "x" * 300])
def test_places_that_cannot_be_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(TokentuiError, match="cannot be written"):
        write_whole(str(tmp_path / name) if name else str(tmp_path), b"new")
    assert list(tmp_path.iterdir()) == []


def test_a_long_name_has_room_for_the_temporary_one(tmp_path: Path) -> None:
    write_whole(tmp_path / ("x" * 250), b"new")
    assert (tmp_path / ("x" * 250)).read_bytes() == b"new"


@pytest.mark.first_run(cover=2)
@pytest.mark.parametrize("old", [None, b"old"])
@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "no"), KeyboardInterrupt(), Killed()], ids=["error", "ctrl-c", "kill"]
)
@pytest.mark.parametrize("name", CALLS)
def test_a_file_is_the_old_or_the_new_whichever_call_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, error: BaseException, old: bytes | None
) -> None:
    path = tmp_path / "file.json"
    for nth in range(1, 30):
        for one in tmp_path.iterdir():
            one.unlink()
        if old is not None:
            path.write_bytes(old)
        failed = False
        with failing(monkeypatch, name, nth, error) as calls:
            try:
                write_whole(path, b"new")
            except (TokentuiError, KeyboardInterrupt, Killed):
                failed = True
        found = path.read_bytes() if path.exists() else None
        assert found in (old, b"new")
        if not failed:
            assert found == b"new"
        elif isinstance(error, OSError):
            assert found == old
        write_whole(path, b"next")
        assert [one.name for one in tmp_path.iterdir()] == ["file.json"], (
            "nothing is left after the next write"
        )
        if calls[0] < nth:
            return
    pytest.fail("there are more calls than were tried")
