"""The explorer in a real browser: what is drawn, keys, sizes, emoji, several visitors, and those who go."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from chromium import Tab, browser, children, chromium, served

from tokentui.formats.files import load

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.soak, pytest.mark.browser]
WAIT_S = 60.0


@pytest.fixture(scope="module")
def opened() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture
def novel(tmp_path: Path) -> Path:
    path = tmp_path / "novel.txt"
    path.write_text("the cat and the hat and the bat\n")
    return path


def shows(part: str, text: str) -> bool:
    """True if a part stands in a text."""
    return part in text


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)


def test_panes_keys_sizes_and_a_download(opened: Browser, novel: Path, tmp_path: Path) -> None:
    with served("--corpus", str(novel), "-r", "gpt2") as (url, _):
        tab = Tab(opened, url)
        text = tab.until(lambda text: "step 0" in text and "1 Corpus" in text)
        for pane in ("1 Corpus", "2 Pairs", "3 Vocabulary", "Why", "4 Encode", "Tokens"):
            assert pane in text
        assert "novel.txt" in text
        assert "the·cat·and·the·hat" in text
        tab.press("n", "n", "n")
        tab.until(lambda text: "step 3" in text)
        tab.press("b")
        tab.until(lambda text: "step 2" in text)

        wide = len(tab.text().splitlines())
        tab.page.set_viewport_size({"width": 700, "height": 420})
        tab.until(lambda text: "step 2" in text and len(text.splitlines()) < wide)
        tab.page.set_viewport_size({"width": 1100, "height": 700})
        tab.until(lambda text: "step 2" in text and len(text.splitlines()) == wide)

        tab.press("i", "Control+u")
        tab.page.keyboard.insert_text("crowd 👩‍👩‍👧 naïve 日本")
        tab.until(lambda text: "naïve" in text and "日本" in text and "👩" in text)
        tab.press("Escape")
        tab.until(lambda text: "space run" in text)

        tab.press("e")
        tab.press("e")
        tab.until(lambda text: "Download as" in text and "lossless" in text)
        with tab.page.expect_download() as download:
            tab.press("Enter")
        assert download.value.suggested_filename == "novel.json"
        download.value.save_as(tmp_path / "got.json")
        assert load(tmp_path / "got.json").vocab_size == 258
        assert tab.errors == []


def test_it_is_drawn(opened: Browser, novel: Path) -> None:
    """Cells have colors: what the page shows is no empty rectangle."""
    with served("--corpus", str(novel)) as (url, _):
        tab = Tab(opened, url)
        tab.until(lambda text: "step 0" in text)
        blank = len(opened.new_page().screenshot())
        until(lambda: len(tab.page.screenshot()) > 4 * blank)


def test_files_of_the_machine_are_hidden(opened: Browser, novel: Path) -> None:
    with served("--corpus", str(novel)) as (url, _):
        tab = Tab(opened, url)
        tab.until(lambda text: "step 0" in text)
        tab.press("o")
        listed = tab.until(lambda text: "Served here" in text)
        assert "novel.txt" in listed
        assert "english" in listed
        for path in ("/etc/passwd", "../", "/proc/self/environ", "~/", "*"):
            tab.press("Control+u")
            tab.page.keyboard.insert_text(path)
            tab.until(partial(shows, f"> {path}"))
            tab.press("Enter")
            tab.until(partial(shows, "not one of the served files"))
        tab.press("Control+u")
        tab.page.keyboard.insert_text("sample:hugs")
        tab.press("Enter")
        tab.until(lambda text: "hugs ·" in text)


def test_two_visitors_and_no_room_for_a_third(opened: Browser, novel: Path) -> None:
    with served("--corpus", str(novel), "--visitors", "2") as (url, process):
        one, two = Tab(opened, url), Tab(opened, url)
        one.until(lambda text: "step 0" in text)
        two.until(lambda text: "step 0" in text)
        one.press("n", "n")
        one.until(lambda text: "step 2" in text)
        assert "step 0" in two.text()
        three = Tab(opened, url)
        three.until(lambda text: "The server is full" in text)
        until(lambda: three.ended)
        assert len(children(process)) == 2

        one.page.context.close()  # who vanishes leaves room
        until(lambda: len(children(process)) == 1)
        assert "step 0" in two.text()
        three.page.get_by_role("button", name="Begin again").click()
        three.until(lambda text: "step 0" in text)

        two.press("q")
        until(lambda: two.ended)


def test_what_is_missing_is_told() -> None:
    """A run without a browser says so: it skips, and does not pass."""
    assert chromium()
