"""The documents: what is made is what the scripts make, links lead somewhere, and commands run."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from tokentui.cli.main import COMMANDS, EXPLORE, program
from tokentui.ui.bindings import key_name
from tokentui.ui.keymap import all_actions

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
LINK = re.compile(r"!?\[[^\]\n]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def script(name: str) -> dict[str, Any]:
    """A script of the documents: what it defines."""
    return runpy.run_path(str(DOCS / "scripts" / f"{name}.py"))


HOWTO = script("howto")


def test_every_key_of_the_screens_has_a_heading() -> None:
    keys = (DOCS / "reference" / "keys.md").read_text(encoding="utf-8")
    for action in all_actions().values():
        assert all(f"`{key_name(key)}`" in keys for key in action.keys), action.id


def test_a_link_leads_to_a_file_of_the_site() -> None:
    """The site checks anchors as well, where it is built."""
    wrong = []
    for page in PAGES:
        text = FENCED.sub("", page.read_text(encoding="utf-8"))
        for link in (link.partition("#")[0] for link in LINK.findall(text) if "://" not in link):
            path = page.parent / link
            if link and not (path.is_file() and path.resolve().is_relative_to(DOCS)):
                wrong.append((str(page.relative_to(DOCS)), link))
    assert wrong == []


def test_the_site_has_every_page_once() -> None:
    text = (DOCS / "scripts" / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r": ([\w/-]+\.md)$", text, re.MULTILINE)
    assert sorted(named) == [path.relative_to(DOCS).as_posix() for path in PAGES]


def test_every_picture_is_shown_and_drawn() -> None:
    drawn = {scene.path for scene in script("pictures")["SCENES"]} | {*script("pictures")["gallery"]()}
    drawn.add("pictures/film.svg")
    there = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.svg")}
    text = "".join(path.read_text(encoding="utf-8") for path in [*PAGES, ROOT / "README.md"])
    assert drawn == there
    assert [path for path in drawn if path.rpartition("/")[2] not in text] == []


def test_the_words_of_each_command_are_known() -> None:
    """Of those that are run, and of those in the text."""
    lines = [line for page in HOWTO["pages"]() for line in HOWTO["commands"](page.read_text("utf-8"))]
    for page in [ROOT / "README.md", *PAGES]:
        if page.parent.name != "reference":
            text = FENCED.sub("", page.read_text(encoding="utf-8"))
            lines += re.findall(r"^    (tokentui .*)$|`(tokentui [^`\n]*)`", text, re.MULTILINE)
    words = [shlex.split(line if isinstance(line, str) else "".join(line)) for line in lines]
    tried = [one[1:] for one in words if one[:1] == ["tokentui"] and len(one) > 1]
    assert len(tried) > 60
    for one in tried:
        end = next((n for n, word in enumerate(one) if word in (">", "|", "<", ";") or word[-1:] == ";"),
                   len(one))
        command = COMMANDS.get(one[0], EXPLORE).load()
        known = {name for part in (command, program) for param in part.params
                 for name in (*param.opts, *param.secondary_opts)} | {"--help"}
        options = [word.partition("=")[0].rstrip(";") for word in one[:end] if re.match(r"--?[a-z]", word)]
        assert [word for word in options if word not in known] == [], one
        assert isinstance(command, click.Command)


@pytest.mark.soak
@pytest.mark.parametrize("page", HOWTO["pages"](), ids=lambda path: str(path.relative_to(DOCS)))
def test_the_commands_print_what_the_page_says(page: Path) -> None:
    """`python docs/scripts/howto.py` writes the pages anew."""
    text = page.read_text(encoding="utf-8")
    assert HOWTO["made"](text) == text


def check_in_a_process(code: str, path: str) -> None:
    """Run code about a picture in a process of its own: tests draw no frames without a terminal."""
    done = subprocess.run(
        [sys.executable, "-c", code, path], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", sorted({scene.path for scene in script("pictures")["SCENES"]},
    key=lambda path: (path != "pictures/start.svg", path)))
@pytest.mark.slow
def test_a_picture_is_that_of_the_running_program(path: str) -> None:
    """`make pictures` draws them anew."""
    code = (
        "import sys, runpy; made = runpy.run_path('docs/scripts/pictures.py')\n"
        "(scene,) = [one for one in made['SCENES'] if one.path == sys.argv[1]]\n"
        "sys.exit((made['DOCS'] / scene.path).read_text('utf-8') != made['drawn'](scene))"
    )
    check_in_a_process(code, path)


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(script("pictures")["gallery"]()))
def test_a_picture_of_the_gallery_is_that_of_its_command(path: str) -> None:
    code = (
        "import sys, runpy; made = runpy.run_path('docs/scripts/pictures.py')\n"
        "words = made['gallery']()[sys.argv[1]]\n"
        "sys.exit((made['DOCS'] / sys.argv[1]).read_text('utf-8') != made['drawn_by'](words))"
    )
    check_in_a_process(code, path)


@pytest.mark.slow
def test_the_film_is_current() -> None:
    """The SVG that moves and the recording are made from a tour, and what the tour says is true."""
    for words in (["docs/scripts/film.py", "--check"],
                  ["-m", "tokentui", "tour", "docs/scripts/film.toml", "--check"]):
        done = subprocess.run(
            [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_gallery_has_ten_pictures() -> None:
    assert len(script("pictures")["gallery"]()) == 10


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_man_page_has_no_warning() -> None:
    page = DOCS / "share" / "man" / "man1" / "tokentui.1"
    words = ["groff", "-man", "-Tutf8", "-ww", "-z", str(page)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_by_the_file(tmp_path: Path) -> None:
    """Words of the program and names of files, side by side."""
    file = DOCS / "share" / "bash-completion" / "completions" / "tokentui"
    code = (
        f"source {shlex.quote(str(file))}; compopt() {{ :; }}; COMP_WORDS=(tokentui com); COMP_CWORD=1; "
        "_tokentui_completion tokentui; printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    (tmp_path / "comedy of errors.txt").touch()
    path = f"{HOWTO['program'](str(tmp_path))}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path,
                          env=os.environ | {"PATH": path})
    assert done.stdout.splitlines() == ["compare", "comedy of errors.txt"], done.stderr


def test_the_menu_of_the_site_names_each_page_by_its_title() -> None:
    menu = (DOCS / "scripts" / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    entries = re.findall(r"^ +- (.+): (\S+\.md)$", menu, re.MULTILINE)
    assert len(entries) == len(PAGES)
    for title, path in entries:
        assert (DOCS / path).read_text(encoding="utf-8").splitlines()[0] == f"# {title}"
