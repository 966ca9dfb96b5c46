"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tokentui.errors import TokentuiError
from tokentui.formats import write_together, write_whole


def refuse(number: int) -> Callable[..., None]:
    def call(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return call


@pytest.mark.parametrize(
    ("name", "number"), [("replace", errno.EACCES), ("fsync", errno.ENOSPC), ("fchmod", errno.EPERM)]
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


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "file.json", b"new")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_flushed_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_what_is_no_plain_file_is_written_to_as_it_is(tmp_path: Path) -> None:
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


# Two files that belong together.

PAIR = ("vocab.json", "merges.txt")


def _write(folder: Path, content: bytes) -> None:
    write_together([(str(folder / name), content) for name in PAIR])


def _held(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_two_files_are_written_and_written_over(tmp_path: Path) -> None:
    _write(tmp_path, b"one")
    (tmp_path / PAIR[1]).chmod(0o640)
    _write(tmp_path, b"two")
    assert _held(tmp_path) == dict.fromkeys(PAIR, b"two")
    assert stat.S_IMODE((tmp_path / PAIR[1]).stat().st_mode) == 0o640


@pytest.mark.parametrize("old", [(), PAIR, PAIR[:1], PAIR[1:]])
@pytest.mark.parametrize("error", [OSError(errno.EIO, "no"), OSError(errno.ENOSPC, "no"), KeyboardInterrupt()])
@pytest.mark.parametrize("name", ["replace", "fsync", "open"])
def test_a_failure_anywhere_leaves_both_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, error: BaseException, old: tuple[str, ...]
) -> None:
    """Whichever call fails: the n-th one, for every n that there is."""
    real, failures = getattr(os, name), 0
    for nth in range(40):
        for path in tmp_path.iterdir():
            path.unlink()
        for one in old:
            (tmp_path / one).write_bytes(b"old")
        calls = 0

        def fail(*given: object, nth: int = nth, **named: object) -> object:
            nonlocal calls
            calls += 1
            if calls == nth + 1:
                raise error
            return real(*given, **named)

        failed = False
        with monkeypatch.context() as patch:
            patch.setattr(os, name, fail)
            try:
                _write(tmp_path, b"new")
            except (TokentuiError, KeyboardInterrupt):
                failed = True
        assert _held(tmp_path) == (dict.fromkeys(old, b"old") if failed else dict.fromkeys(PAIR, b"new"))
        failures += failed
        if calls <= nth:
            break
    assert failures >= 2


def test_a_kill_at_any_moment_never_leaves_a_mixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands under the two names after each single step: both old, both new, or one of them missing."""
    for name in PAIR:
        (tmp_path / name).write_bytes(b"old")
    real, seen = os.replace, []

    def watched(source: str, target: str) -> None:
        real(source, target)
        seen.append(tuple((tmp_path / name).read_bytes() if (tmp_path / name).exists() else None for name in PAIR))

    monkeypatch.setattr(os, "replace", watched)
    _write(tmp_path, b"new")
    assert seen[-1] == (b"new", b"new")
    assert not {(b"new", b"old"), (b"old", b"new")}.intersection(seen)
