"""Files that belong together are all the old ones or all the new ones, or a reader is told."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from exporting import preset
from failing_calls import CALLS, Killed, failing

from tokentui.core.errors import TokentuiError
from tokentui.core.files import check_whole, write_together
from tokentui.formats.files import export, load

PAIR = ("vocab.json", "merges.txt")
OLD = [PAIR, (), *(pytest.param(one, marks=pytest.mark.soak) for one in (PAIR[:1], PAIR[1:]))]
"""The files that were there before."""


def put(folder: Path, content: bytes) -> None:
    write_together([(str(folder / name), content + name.encode()) for name in PAIR])


def held(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def content(of: bytes, names: tuple[str, ...] = PAIR) -> dict[str, bytes]:
    return {name: of + name.encode() for name in names}


def begin(folder: Path, old: tuple[str, ...]) -> None:
    for path in folder.iterdir():
        path.unlink()
    for name, data in content(b"old ", old).items():
        (folder / name).write_bytes(data)


def told(folder: Path) -> list[str]:
    """Which of the files a reader is told about."""
    lines = {}
    for name in PAIR:
        try:
            check_whole(str(folder / name))
        except TokentuiError as error:
            lines[name] = str(error)
    assert all("an export was interrupted" in line and "\n" not in line for line in lines.values())
    return list(lines)


def test_two_files_are_written_and_written_over(tmp_path: Path) -> None:
    put(tmp_path, b"one ")
    (tmp_path / PAIR[1]).chmod(0o640)
    put(tmp_path, b"two ")
    assert held(tmp_path) == content(b"two ")
    assert stat.S_IMODE((tmp_path / PAIR[1]).stat().st_mode) == 0o640


@pytest.mark.first_run(cases=6)
@pytest.mark.parametrize("old", OLD)
@pytest.mark.parametrize("name", CALLS)
def test_an_error_at_any_call_leaves_all_files_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, old: tuple[str, ...]
) -> None:
    failures = 0
    for nth in range(1, 60):
        begin(tmp_path, old)
        error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        what = ""
        with failing(monkeypatch, name, nth, error) as calls:
            try:
                put(tmp_path, b"new ")
            except TokentuiError as refused:
                what = refused.what
        failed = bool(what)
        assert not failed or what.startswith("cannot be written: ")
        found = held(tmp_path)
        expected = content(b"old ", old) if failed else content(b"new ")
        assert {one: data for one, data in found.items() if one in PAIR} == expected
        assert told(tmp_path) == []
        if name != "unlink":  # what cannot be removed stays until the next time
            assert set(found) == (set(old) if failed else set(PAIR))
        put(tmp_path, b"next ")
        assert held(tmp_path) == content(b"next ")
        failures += failed
        if calls[0] < nth:
            break
    else:
        pytest.fail("there are more calls than were tried")
    assert failures or name in ("fchmod", "unlink")


@pytest.mark.first_run(cases=17)
@pytest.mark.parametrize("old", OLD)
@pytest.mark.parametrize("error", [Killed, KeyboardInterrupt])
@pytest.mark.parametrize("name", CALLS)
def test_a_kill_at_any_call_leaves_old_or_new_files_and_reports_a_mixture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, error: type[BaseException],
    old: tuple[str, ...],
) -> None:
    before = {one: content(b"old ").get(one) if one in old else None for one in PAIR}
    after = dict(content(b"new "))
    mixtures = 0
    for nth in range(1, 60):
        begin(tmp_path, old)
        with failing(monkeypatch, name, nth, error()) as calls, contextlib.suppress(error):
            put(tmp_path, b"new ")
        found = held(tmp_path)
        for one in PAIR:
            assert found.get(one) in (before[one], after[one]), "neither the old file nor the new one"
        mixed = {one: found.get(one) for one in PAIR} not in (before, after)
        assert (error is Killed) or not mixed, "an interrupt puts back what was there"
        assert bool(told(tmp_path)) == mixed
        assert not any(one.endswith(".old") for one in found)
        mixtures += mixed
        put(tmp_path, b"next ")
        assert held(tmp_path) == content(b"next "), "nothing is left of it after the next export"
        assert told(tmp_path) == []
        if calls[0] < nth:
            break
    else:
        pytest.fail("there are more calls than were tried")
    assert mixtures or name != "replace" or error is KeyboardInterrupt


def test_a_kill_while_a_mixture_is_written_over_does_not_hide_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(tmp_path, PAIR)
    with failing(monkeypatch, "replace", 3, Killed()), contextlib.suppress(Killed):
        put(tmp_path, b"new ")
    mixed = {one: held(tmp_path)[one] for one in PAIR}
    assert mixed == {PAIR[0]: b"new vocab.json", PAIR[1]: b"old merges.txt"}
    for error in (Killed(), OSError(errno.EIO, "no")):
        for nth in (1, 2):
            with failing(monkeypatch, "replace", nth, error), contextlib.suppress(Killed, TokentuiError):
                put(tmp_path, b"third ")
            assert {one: held(tmp_path)[one] for one in PAIR} == mixed
            assert told(tmp_path) == list(PAIR)
    put(tmp_path, b"third ")
    assert (held(tmp_path), told(tmp_path)) == (content(b"third "), [])


def test_files_changed_since_are_not_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(tmp_path, PAIR)
    with failing(monkeypatch, "replace", 3, Killed()), contextlib.suppress(Killed):
        put(tmp_path, b"new ")
    assert told(tmp_path) == list(PAIR)
    moved = tmp_path.rename(tmp_path.with_name("moved"))
    assert told(moved) == list(PAIR)
    (moved / PAIR[1]).write_bytes(b"fetched from elsewhere")
    assert told(moved) == []


def test_a_folder_without_links_gets_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(tmp_path, PAIR)
    real, replaced = os.replace, [0]

    def replace(source: str, target: str) -> None:
        if os.path.basename(target) == PAIR[1] and not replaced[0]:
            replaced[0] = 1
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(source, target)

    monkeypatch.setattr(os, "link", failing_link)
    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(TokentuiError, match="cannot be written"):
        put(tmp_path, b"new ")
    assert held(tmp_path) == content(b"old ")
    put(tmp_path, b"new ")
    assert held(tmp_path) == content(b"new ")


def test_after_an_error_the_very_files_are_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With their numbers and their other names, and none of them was copied."""
    begin(tmp_path, PAIR)
    for name in PAIR:
        os.link(tmp_path / name, tmp_path / f"other {name}")
    numbers = {path.name: path.stat().st_ino for path in tmp_path.iterdir()}
    written: list[bytes] = []
    real = os.write

    def write(to: int, data: bytes) -> int:
        written.append(bytes(data))
        return real(to, data)

    monkeypatch.setattr(os, "write", write)
    with failing(monkeypatch, "replace", 3, OSError(errno.EIO, "no")), pytest.raises(TokentuiError):
        put(tmp_path, b"new ")
    assert {path.name: path.stat().st_ino for path in tmp_path.iterdir()} == numbers
    assert not any(data.startswith(b"old ") for data in written)


@pytest.mark.parametrize("named", ["/dev/zero", "pipe", "folder", "nul\0", "locked"])
def test_a_journal_that_names_no_plain_file_reports_nothing(tmp_path: Path, named: str) -> None:
    (tmp_path / "file").write_bytes(b"a text")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "locked").symlink_to("locked")
    rows = [{"path": str(tmp_path / one), "old": "", "new": ""} for one in (named, "file")]
    journal = tmp_path / f".{PAIR[0]}.tokentui-pending"
    journal.write_text(json.dumps({"journal": str(journal), "mixed": True, "files": rows}))
    check_whole(str(tmp_path / "file"))
    put(tmp_path, b"new ")
    assert not journal.exists()


def failing_link(*_: Any, **__: Any) -> None:
    raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))


def test_two_writers_do_not_mix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second is refused while the first one renames."""
    refusals: list[str] = []
    real = os.replace

    def replace(source: str, target: str) -> None:
        real(source, target)
        if os.path.basename(target) == PAIR[0] and not refusals:
            refusals.append("")
            with pytest.raises(TokentuiError, match="another program is writing these files"):
                put(tmp_path, b"two ")

    monkeypatch.setattr(os, "replace", replace)
    put(tmp_path, b"one ")
    assert refusals
    assert held(tmp_path) == content(b"one ")


def test_paths_that_are_no_files_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / PAIR[1])
    with pytest.raises(TokentuiError, match="cannot be written: not a file"):
        put(tmp_path, b"new ")
    assert [path.name for path in tmp_path.iterdir()] == [PAIR[1]]


@pytest.mark.slow
@pytest.mark.parametrize("named", PAIR)
def test_a_tokenizer_of_two_exports_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    """The vocabulary of one export and the merges of another, which fit each other."""
    export(preset("gpt4"), tmp_path, "gpt2")
    with failing(monkeypatch, "replace", 3, Killed()), contextlib.suppress(Killed):
        export(preset("gpt2"), tmp_path, "gpt2")
    with pytest.raises(
        TokentuiError,
        match=r"an export was interrupted: vocab.json is new, merges.txt is old \(export them again",
    ):
        load(tmp_path / named)
    export(preset("gpt2"), tmp_path, "gpt2")
    assert load(tmp_path / named).encode("the crowd").ids == preset("gpt2").encode("the crowd").ids


_KILL = """
import os, signal, sys
calls, last = 0, int(sys.argv.pop(1))
def count(name):
    real = getattr(os, name)
    def call(*given, **named):
        global calls
        if any(str(one).startswith(sys.argv[3]) for one in given) or name in ("fsync", "write"):
            calls += 1
            if calls == last:
                os.kill(os.getpid(), signal.SIGKILL)
        return real(*given, **named)
    return call
for name in ("open", "fsync", "fchmod", "write", "replace", "link", "unlink"):
    setattr(os, name, count(name))
from tokentui.cli.main import run
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.soak
def test_convert_killed_at_every_call(tmp_path: Path) -> None:
    """The program itself, killed by the system: each file is the old one or the new one, and a mixture is
    refused."""
    source, other, out = tmp_path / "a.json", tmp_path / "b.json", tmp_path / "out"
    export(preset("gpt2"), source)
    export(preset("gpt4"), other)
    out.mkdir()
    export(preset("gpt4"), out, "gpt2")
    old = {name: (out / name).read_bytes() for name in PAIR}
    export(preset("gpt2"), out, "gpt2")
    new = {name: (out / name).read_bytes() for name in PAIR}
    kills = mixtures = 0
    for nth in range(1, 100):
        for name in PAIR:
            (out / name).write_bytes(old[name])
        line = [sys.executable, "-c", _KILL, str(nth), "convert", str(source), str(out), "--to", "gpt2"]
        code = subprocess.run(line, capture_output=True, check=False).returncode
        found = {name: (out / name).read_bytes() for name in PAIR}
        assert all(found[name] in (old[name], new[name]) for name in PAIR)
        if code == 0:
            break
        assert code == -signal.SIGKILL
        kills += 1
        if found not in (old, new):
            mixtures += 1
            with pytest.raises(TokentuiError, match="an export was interrupted"):
                load(out / PAIR[0])
        else:
            load(out / PAIR[0])
    assert code == 0
    assert kills > 10
    assert mixtures
    assert sorted(path.name for path in out.iterdir()) == sorted(PAIR)
