"""Each file of the hostile set by itself: the real program opens it in a terminal of 80 columns and is walked
through."""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import hostile
import pytest
import watched_program
from grammar import is_clean, parse
from terminal import Terminal, assert_restored

pytestmark = pytest.mark.pty
ROOT = Path(__file__).resolve().parents[2]

CORPORA = functools.cache(hostile.corpora)
TOKENIZERS = functools.cache(hostile.tokenizers)
DIALOGS = (("g", "Go to"), ("FF", "Facts"), ("u", "Questions"), ("p", "Pre-tokens"), ("ee", "Export"))
"""Keys of the main screen and the headings that they bring."""


class Visit:
    """The program on one file, in a folder of its own, and what has to hold in the end.

    Args:
        folder: A new folder. Only `home` in it may be written to.
        name: The name of the file, `data` what it holds.
        before: The words of the command line before the file, `after` those behind it.
    """

    def __init__(
        self, folder: Path, name: str, data: bytes, before: tuple[str, ...], after: tuple[str, ...]
    ) -> None:
        self.folder, self.home, self.log = folder, folder / "home", folder.with_name(folder.name + ".log")
        for one in ("home", "here", "user", "temp"):
            (folder / one).mkdir(parents=True)
        path = folder / "here" / name
        path.write_bytes(data)
        self.was = self.tree()
        environment = {
            "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "TOKENTUI_HOME": str(self.home),
            "HOME": str(folder / "user"), "TMPDIR": str(folder / "temp"), "LANG": "C.UTF-8",
        }
        program = ("-P", str(watched_program.__file__), str(self.log), str(self.home))
        words = (*before, str(path), *after)
        self.terminal = Terminal(*words, environment=environment, program=program, folder=folder / "here")

    def tree(self) -> Mapping[str, str]:
        """All that stands in the folder but for the home, with what it holds."""
        return dict(self._files())

    def _files(self) -> Iterator[tuple[str, str]]:
        for place, folders, files in os.walk(self.folder):
            if place == str(self.folder):
                folders.remove("home")
            yield from ((os.path.join(place, one), "a folder") for one in folders)
            for one in files:
                path = Path(place, one)
                yield str(path), hashlib.sha256(path.read_bytes()).hexdigest()

    def walk(self, typed: str) -> None:
        """Steps, the dialogs that show most of the data, a search, and text that is typed."""
        terminal = self.terminal
        terminal.until(lambda text: "4 Encode" in text and "step" in text)
        terminal.press("nnvbn")
        for key, heading in DIALOGS:
            terminal.press(key)
            terminal.until(lambda text, heading=heading: f"─ {heading}" in text)  # type: ignore[misc]
            if heading == "Go to":
                terminal.press("3\r")
            else:
                terminal.press("\x1b[B\x1b[B\x1b[F\x1b")
            terminal.until(lambda text, heading=heading: f"─ {heading}" not in text)  # type: ignore[misc]
        terminal.press("3/")
        terminal.until(lambda text: "find in " in text)
        terminal.press(f"\x1b[200~{typed}\x1b[201~\r")
        terminal.until(lambda text: "find in " not in text)
        terminal.press("i")
        terminal.until(lambda text: "esc done" in text)
        terminal.press(f"\x15\x1b[200~{typed}\x1b[201~")
        terminal.press("\x1b")
        terminal.until(lambda text: "esc done" not in text)
        terminal.press("vv")

    def leave(self) -> None:
        """Quit; then nothing may be left of it but what stands in its home."""
        terminal = self.terminal
        terminal.press("q")
        assert terminal.end() == 0, terminal.text()
        _, copied = parse(bytes(terminal.written))
        assert not copied
        assert_restored(terminal)
        assert all(is_clean(line) for line in terminal.text().split("\n"))
        assert not (self.home / "crash.txt").exists()
        assert self.log.read_text() == ""
        assert self.tree() == self.was


def harmless(data: bytes) -> str:
    """What one can type of a text: its characters that a keyboard has."""
    text = data.decode("utf-8", "replace")[:400]
    return "".join(one for one in text if one.isprintable())[:30] or "x"


def visit(folder: Path, name: str, data: bytes, before: tuple[str, ...], after: tuple[str, ...]) -> None:
    one = Visit(folder, name, data, before, after)
    with one.terminal:
        one.walk(harmless(data))
        one.leave()


@pytest.mark.first_run(cases=4)
@pytest.mark.parametrize(
    "line",
    [
        "open('here', 'w')", "os.open('here', os.O_RDWR | os.O_CREAT)", "os.mkdir('here')",
        "os.rename('home/a', 'here')", "os.symlink('x', 'here')", "os.system('true')",
        "subprocess.run(['true'])", "os.remove('home/../there')",
    ],
)
def test_what_is_written_or_started_is_seen(line: str, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "a").touch()
    (tmp_path / "there").touch()
    code = (
        "import os, subprocess, watched_program; watched_program.watch('log', os.path.realpath('home')); "
        "open('home/b', 'w').close(); "
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(watched_program.__file__).parent)}
    subprocess.run(
        [sys.executable, "-P", "-c", code + line], cwd=tmp_path, env=environment, check=True, timeout=300
    )
    assert (tmp_path / "log").read_text().count("\n") >= 1
    assert "home/b" not in (tmp_path / "log").read_text()


@pytest.mark.soak
@pytest.mark.parametrize("name", CORPORA())
def test_each_corpus(name: str, tmp_path: Path) -> None:
    visit(tmp_path / "alone", name, CORPORA()[name], (), ("-r", "gpt2"))


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[] if name == "bpe.json" else [pytest.mark.soak]) for name in TOKENIZERS()
])
@pytest.mark.slow
def test_each_tokenizer(name: str, tmp_path: Path) -> None:
    corpus = tmp_path / "control.txt"
    corpus.write_bytes(CORPORA()[corpus.name])
    visit(tmp_path / "alone", name, TOKENIZERS()[name], (str(corpus), "-t"), ("-s", "split=gpt2"))
