"""`tokentui picture`: screens without a terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from running_cli import cli, done, refused

from tokentui.cli.commands.picture import OF_COMPARE, SCREENS
from tokentui.ui.keymap import all_actions

HUGS = "picture", "sample:hugs", "-r", "comp336", "--size", "80x24"


def test_a_screen_as_text_and_as_svg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("TERM", raising=False)
    before = dict(os.environ)
    text = done(*HUGS, "--step", "2", "--text", "hugs", "--format", "text")
    assert len(text.splitlines()) == 24
    assert "> hugs" in text
    assert "step 2" in text.splitlines()[-2]
    done(*HUGS, "--theme", "tokentui-light", "-o", str(tmp_path / "hugs.svg"))
    svg = (tmp_path / "hugs.svg").read_text("utf-8")
    assert "#eeeeee" in svg
    assert ElementTree.fromstring(svg).attrib["viewBox"] == "0 0 688 474"
    assert dict(os.environ) == before


def test_the_help_names_screens_that_there_are() -> None:
    text = done("picture", "--help")
    assert all(name in text for name in (*SCREENS, *OF_COMPARE))
    assert {*SCREENS, *OF_COMPARE} <= all_actions().keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SCREENS, *OF_COMPARE])
def test_each_screen_that_the_help_names_differs_from_the_first(name: str) -> None:
    recipes = ("-r", "comp336", *(("-r", "gpt2", "-r", "bert") if name in OF_COMPARE else ()))
    words = ("picture", "sample:hugs", *recipes, "--merges", "3", "--step", "2", "--format", "text")
    assert done(*words, "--screen", name) != done(*words)


@pytest.mark.slow
def test_screens_keys_and_compare() -> None:
    text = done("picture", "sample:hugs", "-r", "comp336", "--screen", "facts", "--format", "text")
    assert "Facts" in text.splitlines()[0]
    text = done("picture", "sample:hugs", "-r", "comp336", "--keys", "3 enter", "--format", "text")
    assert "as token" in text or "id" in text
    text = done("picture", "sample:hugs", "-r", "comp336", "-r", "gpt2", "--keys", "G", "--format", "text")
    assert "A comp336" in text
    assert "B gpt2" in text


@pytest.mark.slow
def test_a_picture_adds_no_recent_source(home: Path) -> None:
    done(*HUGS, "--format", "text")
    assert not home.exists() or not [path for path in home.rglob("*") if path.is_file()]


STUCK = """
import asyncio, sys
from tokentui.cli.main import run
from tokentui.ui import unattended

async def still(*_):
    print("waits", file=sys.stderr, flush=True)
    await asyncio.sleep(60)

unattended._wait_until_still = still
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_command_at_once(number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", STUCK, *HUGS], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True,
                          preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL)) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "waits\n"  # empty where the command ends instead
        process.send_signal(number)
        assert process.wait(30) in (-number, 128 + number)


@pytest.mark.slow
def test_a_png(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    done(*HUGS, "-o", str(tmp_path / "hugs.png"))
    assert (tmp_path / "hugs.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_refused(tmp_path: Path) -> None:
    assert "from 20x8 to 400x200" in refused("picture", "sample:hugs", "--size", "9x9")
    assert "such as 100x30" in refused("picture", "sample:hugs", "--size", "wide")
    assert "no such file" in refused("picture", str(tmp_path / "none.txt"))
    assert "no such folder" in refused("picture", "-o", str(tmp_path / "none" / "a.svg"))


@pytest.mark.slow
def test_what_is_refused_once_the_screen_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no such theme" in refused("picture", "sample:hugs", "--theme", "darkest")
    assert "did you mean facts?" in refused("picture", "sample:hugs", "--screen", "fact")
    assert "a dialog is open" in refused("picture", "sample:hugs", "--screen", "facts", "--screen", "facts")
    monkeypatch.setattr("tokentui.ui.draw.picture.find_spec", lambda name: None)
    assert "tokentui[png]" in refused("picture", "sample:hugs", "--format", "png")


def test_a_file_of_the_name_is_opened_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command comes first."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "picture").write_text("low lower lowest")
    result = cli("./picture")
    assert "terminal" in result.stderr
    assert "no such" not in result.stderr
