"""No code of the current folder is run, and the children of a process run the files that it runs itself."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from terminal import Terminal

from tokentui.cli.main import COMMANDS
from tokentui.core import children

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = "import sys\nfrom tokentui.__main__ import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
"""What an installer writes as the program `tokentui`."""
LINES = """
import json, sys
from tokentui.__main__ import main
if __name__ == '__main__':
    for words in json.loads(sys.argv[1]):
        sys.argv[1:] = words
        print("========", *words[:1], main(), flush=True)
"""
"""The same for some lines of words, one after the other: what a start costs is not what is tested."""
PROBE = """
import json, os, sys
import tokentui
json.dump({"package": tokentui.__file__, "path": sys.path, "folder": os.getcwd()}, sys.stdout)
"""


def environment(**more: str) -> dict[str, str]:
    """This one's, with the checkout on Python's path, wherever the program is started."""
    paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **more}


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program as an installer writes it."""
    path = tmp_path_factory.mktemp("bin") / "tokentui"
    path.write_text(SCRIPT)
    return str(path)


def before_our_first_line() -> set[str]:
    """Modules that `python -m tokentui` may look for in the current folder before any line of ours."""
    code = "import runpy, pkgutil, sys, tokentui.__main__; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], env=environment(), capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in done.stdout.split()}


@pytest.fixture
def traps(tmp_path: Path) -> Path:
    """A folder in which every module that can be imported here has a namesake, which leaves a mark when it is
    imported."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    names = {
        *importlib.metadata.packages_distributions(), *sys.stdlib_module_names, "sitecustomize",
        "usercustomize",
    }
    for name in names - {"tokentui", "tests"}:
        if name.isidentifier():
            (folder / f"{name}.py").write_text(
                f"open({str(tmp_path / 'marks')!r}, 'a').write({name!r} + '\\n')\n"
            )
    for name in ("numba", "numpy", "textual", "regex"):
        (folder / f"{name}.py").rename(folder / "package.py")
        (folder / name).mkdir()
        (folder / "package.py").rename(folder / name / "__init__.py")
    text = (ROOT / "corpora" / "english.txt").read_text()
    (folder / "corpus.txt").write_text(text)
    return folder


def sprung(folder: Path) -> list[str]:
    """The traps that were executed."""
    marks = folder.parent / "marks"
    return sorted(set(marks.read_text().split())) if marks.exists() else []


WORDS = {
    "train": ("train", "corpus.txt", "-r", "gpt2", "--merges", "3", "-o", "made.json", "-q"),
    "encode": ("encode", "corpus.txt", "-t", "made.json"),
    "decode": ("decode", "-t", "made.json", "64", "65"),
    "split": ("split", "corpus.txt", "-r", "gpt2"),
    "compare": ("compare", "corpus.txt", "-r", "gpt2", "-r", "bert", "--merges", "3"),
    "languages": ("languages", "-t", "made.json", "corpus.txt"),
    "budget": ("budget", "-t", "made.json", "corpus.txt"), "diff": ("diff", "made.json", "made.json"),
    "edit": ("edit", "made.json", "edited.json", "--add", "zebra", "-q"),
    "inspect": ("inspect", "-t", "made.json"), "pin": ("pin", "-t", "made.json", "-o", "golden.json"),
    "check": ("check", "-t", "made.json", "golden.json"),
    "convert": ("convert", "made.json", "tokenizer.json", "--to", "huggingface"),
    "verify": ("verify", "corpus.txt", "-r", "hf-bpe", "--against", "tokenizers", "--merges", "3"),
    "picture": ("picture", "corpus.txt", "--size", "80x24", "-o", "made.svg"),
    "serve": ("serve", "--help"),  # it would run until it is ended
    "recipes": ("recipes",), "tour": ("tour",),
    "count": ("count", "corpus.txt", "-r", "gpt2", "-o", "words.tsv", "-q"),
    "quiz": ("quiz", "corpus.txt", "-r", "gpt2", "--count", "3"),
    "bound": ("bound", "corpus.txt", "-t", "made.json"),
    "mixture": ("mixture", "-t", "made.json", "--corpus", "own=corpus.txt", "--corpus", "en=sample:english"),
    "grade": ("grade", "jurafsky"), "practice": ("practice", "--help"),  # it would run until it is ended
    "play": ("play", "--help"),  # so would this
}


def test_every_command_is_tried() -> None:
    assert set(WORDS) == set(COMMANDS)


@pytest.mark.slow
def test_no_command_runs_code_of_the_current_folder(traps: Path, tmp_path: Path) -> None:
    program = tmp_path / "lines.py"
    program.write_text(LINES)
    lines = [*(WORDS[name] for name in COMMANDS), ("--version",)]
    done = subprocess.run(
        [sys.executable, str(program), json.dumps(lines)], cwd=traps, env=environment(),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True,
    )
    assert sprung(traps) == []
    codes = re.findall("^======== (\\S+) (\\d+)$", done.stdout, re.MULTILINE)
    assert [name for name, _ in codes] == [*COMMANDS, "--version"]
    assert {code for _, code in codes} <= {"0", "1"}, f"{done.stdout[-300:]} {done.stderr}"


@pytest.mark.soak
@pytest.mark.parametrize("way", ["script", "module"])
def test_no_command_by_itself_runs_code_of_the_current_folder(traps: Path, script: str, way: str) -> None:
    begin = [sys.executable, script] if way == "script" else [sys.executable, "-m", "tokentui"]
    if way == "module":
        for name in before_our_first_line():
            (traps / f"{name}.py").unlink(missing_ok=True)
    for name in COMMANDS if way == "script" else ("train", "verify"):  # verify starts a child
        done = subprocess.run(
            [*begin, *WORDS[name]], cwd=traps, env=environment(TOKENTUI_KERNELS="off"),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )
        assert sprung(traps) == [], name
        assert done.returncode in (0, 1), f"{name}: {done.stdout[-300:]} {done.stderr}"


@pytest.mark.pty
@pytest.mark.parametrize("way", ["script", pytest.param("module", marks=pytest.mark.soak)])
@pytest.mark.slow
def test_the_explorer_runs_no_code_of_the_current_folder(
    traps: Path, script: str, home: Path, way: str
) -> None:
    if way == "module":
        for name in before_our_first_line():
            (traps / f"{name}.py").unlink(missing_ok=True)
    more = {"PYTHONPATH": environment()["PYTHONPATH"], "TOKENTUI_HOME": str(home), "TOKENTUI_KERNELS": ""}
    program = (script,) if way == "script" else ("-m", "tokentui")
    with Terminal("corpus.txt", "-r", "gpt2", program=program, folder=traps, environment=more) as terminal:
        terminal.until(lambda text: "pairs: " in text or bool(sprung(traps)))
        assert sprung(traps) == []
        terminal.press("q")
        assert terminal.end() == 0


def probed(folder: Path, code: str, **more: str) -> dict[str, object]:
    """What a child says of itself whose parent runs some code in a folder."""
    (folder / "probe.py").write_text(PROBE)
    code = f"""
import json, subprocess, sys
{code}
from tokentui.core import children
words = children._started(children._PACKAGE, "probe")
place = json.loads(words[-1])
place[2].append({str(folder)!r})
words[-1] = json.dumps(place)
subprocess.run(words, env=children.child_environment(), cwd=children.FOLDER, check=True)
"""
    begin = [sys.executable, "-c", code]
    done = subprocess.run(
        begin, cwd=folder, env=environment(**more), capture_output=True, text=True, check=True
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def clone(folder: Path) -> Path:
    """A folder that holds the package, as a checkout does."""
    folder.mkdir()
    shutil.copytree(ROOT / "tokentui", folder / "tokentui", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_a_child_runs_the_files_of_its_parent(tmp_path: Path) -> None:
    """Of two packages, one installed and one in the current folder, whichever the parent has."""
    here = clone(tmp_path / "clone")
    installed = probed(here, "sys.path.remove('')")
    assert installed["package"] == str(ROOT / "tokentui" / "__init__.py")
    assert installed["folder"] == children.FOLDER
    checkout = probed(here, "")
    assert checkout["package"] == str(here / "tokentui" / "__init__.py")


def test_a_child_has_the_places_of_its_parent_but_for_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    found = probed(tmp_path, "sys.path.insert(0, 'lib')", PYTHONPATH=os.pathsep.join([str(ROOT), ""]))
    path = found["path"]
    assert isinstance(path, list)
    assert path[0] == str(tmp_path / "lib")
    assert str(ROOT) in path
    assert "" not in path


@pytest.mark.skipif(sys.flags.safe_path, reason="the current folder is not in the import path")
def test_only_the_current_folder_leaves_the_import_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path, left in (
        ([str(tmp_path), "lib"], ["lib"]), (["lib", str(tmp_path)], ["lib", str(tmp_path)]), ([], []),
    ):
        monkeypatch.setattr(sys, "path", path)
        children.leave_current_folder()
        assert path == left
