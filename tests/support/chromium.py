"""The served page in a real Chromium without a window, and what its terminal shows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from serve_visitor import needs_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PATIENCE_S = 60.0
# xterm.js keeps its terminal to itself; its public object is the one that gets a core.
_CATCH = """
Object.defineProperty(Object.prototype, "_core", {
  configurable: true,
  set(core) {
    Object.defineProperty(this, "_core", {value: core, writable: true, configurable: true});
    if ("buffer" in this && "cols" in this) window.theTerminal = this;
  },
});
"""
_TEXT = """
() => {
  const terminal = window.theTerminal;
  if (!terminal) return "";
  const buffer = terminal.buffer.active, lines = [];
  for (let y = 0; y < terminal.rows; y++) lines.push(buffer.getLine(y)?.translateToString(true) ?? "");
  return lines.join("\\n");
}
"""


def chromium() -> str:
    """The path of a Chromium; the test is skipped where there is none, or nothing that drives it."""
    needs_server()
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    return found


@contextmanager
def browser() -> Iterator[Browser]:
    """A Chromium without a window."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox"] if os.geteuid() == 0 else []  # its sandbox refuses the superuser
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=[*flags, "--disable-dev-shm-usage"])
        try:
            yield opened
        finally:
            opened.close()


@contextmanager
def served(*words: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`tokentui serve` with these words: the URL of its page, and its process."""
    command = [sys.executable, "-m", "tokentui", "serve", "--port", "0", *words]
    environment = {**os.environ, "TOKENTUI_KERNELS": "off"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.terminate()
            process.wait()


def children(process: subprocess.Popen[str]) -> list[int]:
    """The processes of the visitors of a server."""
    found = []
    for one in Path("/proc").iterdir():
        with suppress(OSError):  # it has ended meanwhile
            told = (one / "stat").read_text() if one.name.isdigit() else ""
            if told and int(told.rpartition(")")[2].split()[1]) == process.pid:
                found.append(int(one.name))
    return found


class Tab:
    """A page of the browser with the terminal in it.

    Attributes:
        page: The page.
        errors: What went wrong in it.
    """

    def __init__(self, opened: Browser, url: str, width: int = 1100, height: int = 700) -> None:
        context = opened.new_context(viewport={"width": width, "height": height}, accept_downloads=True)
        self.page: Page = context.new_page()
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.add_init_script(_CATCH)
        self.page.goto(url)

    def text(self) -> str:
        """What the terminal in the page shows."""
        return str(self.page.evaluate(_TEXT))

    def until(self, holds: Callable[[str], object]) -> str:
        """Wait until something holds for what it shows."""
        deadline = time.monotonic() + PATIENCE_S
        while not holds(text := self.text()):
            assert time.monotonic() < deadline, f"it never came; the terminal shows:\n{text}\n{self.errors}"
            self.page.wait_for_timeout(50)
        return text

    def press(self, *keys: str) -> None:
        """Press keys."""
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def ended(self) -> bool:
        """True if the page says that its session has ended."""
        return bool(self.page.locator("#ended").is_visible())
