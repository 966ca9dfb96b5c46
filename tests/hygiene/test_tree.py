"""What no file of the project holds, and what its documents say of it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "tokentui"

# Written in pieces, so that this file does not hold what it looks for.
MACHINE = re.compile(
    "(?<![A-Za-z0-9_.])/(?:" + "|".join(["work", "farm", "root", "opt", "Users", "home/[a-z]"]) + r")\b"
)
SCRATCH = re.compile("/" + r"tmp/[A-Za-z]")
HOSTS = re.compile(
    "|".join(["py" + r"pi\.org", "python" + r"hosted\.org", "index" + "-url", "find" + "-links"])
)


def tracked() -> list[Path]:
    """The files that git holds or would take in."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


@pytest.mark.slow
def test_no_file_names_a_machine() -> None:
    found = []
    for path in tracked():
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if any(pattern.search(line) for pattern in (MACHINE, SCRATCH, HOSTS)):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert found == []


@pytest.mark.parametrize(
    "line", ["cd /" + "opt/x", "open('/" + "tmp/some.txt')", "https://py" + "pi.org/simple"]
)
def test_such_lines_would_be_found(line: str) -> None:
    assert any(pattern.search(line) for pattern in (MACHINE, SCRATCH, HOSTS))


def test_the_plan_of_the_house_names_every_room() -> None:
    plan = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = {path.name + "/" for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    rooms |= {path.name for path in PACKAGE.glob("*.py") if not path.name.startswith("__")}
    assert {room for room in rooms if f"`{room}`" not in plan} == set()
    named = set(re.findall(r"`([a-z_./]+(?:\.py|/))`", plan))
    assert {name for name in named if not (PACKAGE / name).exists() and not (ROOT / name).exists()} == set()


def test_the_documents_name_tests_that_are_there() -> None:
    for folder in ("docs", "benchmarks"):
        for path in (ROOT / folder).glob("*.md"):
            named = re.findall(r"\btests/[\w/.]*\w", path.read_text(encoding="utf-8"))
            assert [one for one in named if not (ROOT / one).exists()] == [], path.name


def test_the_glossary_has_each_word_once_and_in_order() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| \*\*(.+?)\*\* \|", text, re.M)
    assert len(words) > 20
    assert words == sorted(set(words))


def test_the_readme_holds_the_two_commands() -> None:
    """How to open it and how to test it; `.ci/run` takes the second from there."""
    lines = [line.strip() for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()]
    environment = "python3 -m venv .venv && .venv/bin/pip install -q"
    assert f"{environment} . && .venv/bin/tokentui" in lines
    assert f"{environment} -e '.[dev]' && .venv/bin/python -m pytest" in lines
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (pattern,) = re.findall(r"grep -m 1 -e '(.+)' README\.md", script)
    taken = [line for line in lines if re.search(pattern, line)]
    assert taken == [f"{environment} -e '.[dev]' && .venv/bin/python -m pytest"]


def test_the_root_holds_no_file_but_the_project_s_own() -> None:
    """A test or a script that runs in the root may leave files there."""
    own = {
        ".gitattributes", ".gitignore", ".pre-commit-config.yaml", "CHANGELOG.md", "CONTRIBUTING.md",
        "LICENSE", "Makefile", "README.md", "hatch_build.py", "pyproject.toml",
    }
    assert {path.name for path in tracked() if path.parent == ROOT} == own
