"""What reaches a terminal byte for byte: the explorer in a pseudo-terminal, the frame of its panes, the
clipboard, a crash."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import hostile
import pyte
import pytest
from grammar import is_clean, parse
from hypothesis import given
from hypothesis import strategies as st
from poisoned import Poison
from rich.color import ColorSystem
from screens import explorer
from terminal import Terminal, assert_restored
from textual._compositor import LayoutUpdate
from textual.geometry import Region
from waiting import settled, strips_of, until

from tokentui.session.views import CorpusView, EncodedView
from tokentui.thinwire import DiffWriter, ScreenBuffer, ThinWireDriver
from tokentui.ui.app import ExplorerApp
from tokentui.ui.draw.text import clusters_of
from tokentui.ui.terminal_app import _crash_message


def drive(terminal: Terminal, ready: str) -> None:
    """Steps, every way to write tokens, a row's bytes, the pieces, the facts and the help; then the end."""
    terminal.until(lambda text: ready in text and "2 " in text and "▸ " in text)
    for _ in range(4):
        terminal.press("vv")
    terminal.press("nn")
    terminal.until(lambda text: f"{ready[:-1]}2" in text)
    terminal.press("2")
    terminal.until(lambda text: "enter inspect" in text)
    for key, shown in (("\r", "Inspect"), ("FF", "Facts"), ("?", "Help"), ("o", "Open"), ("ee", "Export")):
        terminal.press(key)
        terminal.until(lambda text, shown=shown: f"─ {shown}" in text)  # type: ignore[misc]
        terminal.press("\x1b")
        terminal.until(lambda text, shown=shown: f"─ {shown}" not in text)  # type: ignore[misc]
    terminal.press("\x03")
    assert terminal.end() == 0
    _, copied = parse(bytes(terminal.written))
    assert not copied
    assert_restored(terminal)


@pytest.mark.pty
@pytest.mark.slow
def test_a_corpus_of_all_texts(tmp_path: Path) -> None:
    folder = tmp_path / "\x1b]0;folder\x07 \u202e[red]"
    path = folder / "a\x1b[2J[red]\u200b.txt"
    folder.mkdir()
    path.write_bytes(b"\n".join(map(hostile.raw, hostile.SHORT)))
    with Terminal(str(path), "-r", "gpt2", "--special", "\x1b[31m[/]", columns=120, rows=40) as terminal:
        drive(terminal, "step 0")


# ---- the grid


EDGES = frozenset("│┌┐└┘├┤▐")


def frame(screen: pyte.Screen) -> list[list[int]]:
    """Where the edges of panes stand, row by row."""
    return [
        [x for x in range(screen.columns) if screen.buffer[y][x].data in EDGES] for y in range(screen.lines)
    ]


@pytest.mark.slow
async def test_the_grid_never_shifts() -> None:
    edges = hostile.FAMILIES["unicode"] + hostile.FAMILIES["encodings"]
    texts = [one for one in edges if not EDGES & set(one)]
    app, session = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        wanted: list[list[int]] = []
        for batch in [["plain ascii"] * 12, *(texts[n : n + 12] for n in range(0, len(texts), 12))]:
            poison = Poison(batch)
            changes = poison.changes(0) | {
                "corpus_name": "a", "encoding": EncodedView("", (), 0), "vocab_size": 12, "pairs_total": 12,
            }
            view = changes["corpus"]
            changes["corpus"] = CorpusView(view.place, view.parts * 9, True, True, 0.0)
            changes["pairs"] = (changes["pairs"] * 12)[:12]
            session.show(**changes)
            await until(
                pilot, lambda: app.main.snapshot is not None and app.main.snapshot.version == session.version
            )
            await pilot.pause()
            terminal = pyte.Screen(80, 24)
            picture = ScreenBuffer(80, 24, ColorSystem.EIGHT_BIT, clusters_of)
            strips = strips_of(app)
            picture.draw(LayoutUpdate([[one] for one in strips], Region(0, 0, 80, 24)))
            pyte.Stream(terminal).feed(DiffWriter().frame(picture, (0, 0)))
            wanted = wanted or frame(terminal)
            assert frame(terminal) == wanted, "\n".join(terminal.display)


# ---- the clipboard, and the end


@given(st.text(st.characters(), max_size=30))
def test_the_clipboard_gets_base64_only(text: str) -> None:
    class Heard(ThinWireDriver):
        def __init__(self) -> None:
            self.heard = ""

        def write(self, data: str) -> None:
            self.heard += data

    app = ExplorerApp(lambda publish: None)  # type: ignore[arg-type, return-value]
    app._driver = driver = Heard()
    app.copy_to_clipboard(text)
    rest, copied = parse(driver.heard)
    assert (rest, copied) == ("", [text.encode("utf-8", "replace")])
    assert base64.b64encode(copied[0]).decode() in driver.heard


@pytest.mark.parametrize("text", [*hostile.SHORT[::20], "\x1b[2J" * 5000, "\n" * 50])
def test_a_crash_is_crash_message_in_a_few_clean_lines(text: str, home: Path) -> None:
    errors: tuple[Exception, ...] = (
        ValueError(text), KeyError(text), OSError(text),
        UnicodeDecodeError("utf-8", hostile.raw(text) or b"x", 0, 1, text),
    )  # fmt: skip
    for error in errors:
        told = _crash_message(error)
        assert 1 <= told.count("\n") <= 10
        for line in told.split("\n"):
            assert is_clean(line)
            assert len(line) <= 300
    for kept in home.rglob("*"):
        if kept.is_file():
            assert all(map(is_clean, kept.read_text().split("\n")))
    assert os.path.isdir(home)
