#!/usr/bin/env python3
"""The checklist of a release: `make release-check`, or `python .ci/release.py [--quick]`.

Each line is a check, and the exit code is 1 where one does not hold. `--quick` leaves the whole tests out.
With RELEASE=1 in the environment the changelog has to have a dated entry of the version, and all has to be
committed.
The checks run in fresh folders and environments; the interpreter needs the extras `dev` and `docs`, and the
package index is asked for what the wheel depends on.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Callable
from email import message_from_bytes
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = sorted((ROOT / "tokentui/core/libraries").glob("libtokentui-*"))
"""The libraries of kernels, one for each system that has any."""
CHECKS: list[tuple[str, Callable[[], str]]] = []
"""Each check with its title: it returns what it found, and raises where it does not hold."""
QUICK = "--quick" in sys.argv[1:]
RELEASE = bool(os.environ.get("RELEASE"))


def check(title: str) -> Callable[[Callable[[], str]], Callable[[], str]]:
    """Add a function to the checks."""

    def add(function: Callable[[], str]) -> Callable[[], str]:
        CHECKS.append((title, function))
        return function

    return add


def run(*words: str | Path, cwd: Path = ROOT, **variables: str) -> str:
    """Run a program with variables of the environment, away from the settings of Python and pip. Returns what
    it prints.

    Raises:
        AssertionError: It ends with another code than 0.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(list(map(str, words)), cwd=cwd, env=kept | {"PYTHON": sys.executable} | variables,
                          text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    tail = "\n".join(done.stdout.splitlines()[-15:])
    assert done.returncode == 0, f"{' '.join(map(str, words))} ended with {done.returncode}\n{tail}"
    return done.stdout


def version() -> str:
    """The version, which stands in one place."""
    return re.findall(r'^__version__ = "(.+)"$', (ROOT / "tokentui/__init__.py").read_text("utf-8"), re.M)[0]


@check("the version stands in one place")
def _version() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["dynamic"] == ["readme", "version"], "pyproject.toml has its own version"
    assert project["tool"]["hatch"]["version"]["path"] == "tokentui/__init__.py"
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version()), version()
    return version()


@check("the changelog has an entry")
def _changelog() -> str:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    dated = re.search(rf"^## {re.escape(version())} - \d{{4}}-\d\d-\d\d$", text, re.M)
    assert dated or not RELEASE, f"write: ## {version()} - and the date, over what is Unreleased"
    assert dated or "## Unreleased\n" in text, "no entry of the version, and none that is unreleased"
    return dated[0] if dated else "unreleased"


@check("all is committed")
def _committed() -> str:
    left = run("git", "status", "--porcelain").splitlines()
    assert not (left and RELEASE), "\n".join(left)
    return f"{len(left)} files are not" if left else "yes"


@check("style, types and imports")
def _lint() -> str:
    run(".ci/lint")
    return "clean"


@check("the tests")
def _tests() -> str:
    if QUICK:
        return "left out"
    return run(sys.executable, "-m", "pytest", "-q").splitlines()[-1]


@check("the pages are those of the records")
def _pages() -> str:
    return run(sys.executable, "-m", "pytest", "-q", "-n", "0", "tests/hygiene").splitlines()[-1]


@check("the commands of the documents run as they stand")
def _howtos() -> str:
    run(sys.executable, "docs/scripts/howto.py", "--check")
    return "and print what the pages say"


@check("the site has no warning")
def _site() -> str:
    run(".ci/docs")
    return f"{sum(1 for _ in (ROOT / 'build/site').rglob('*.html'))} pages"


@check("the kernels are those of the locked tools")
def _kernels() -> str:
    code = "from tokentui.core.provenance import problems; print(*problems(), sep='\\n')"
    wrong = run(sys.executable, "-c", code).strip()
    assert not wrong, wrong
    manifest = json.loads((ROOT / "tokentui/core/libraries/manifest.json").read_bytes())
    assert not manifest.get("local"), "the library was built locally: run make kernels"
    assert set(manifest["files"]) == {path.name for path in LIBRARIES}
    return f"{len(manifest['files'])} libraries"


@check("the source archive and the wheels are built")
def _build() -> str:
    """The wheels of the systems that have kernels, and one without kernels for all others."""
    run(sys.executable, "-m", "build", "--sdist", "--outdir", DIST, ROOT)
    for system in ("any", *(path.stem.removeprefix("libtokentui-") for path in LIBRARIES)):
        run(sys.executable, "-m", "build", "--wheel", "--outdir", DIST, ROOT, TOKENTUI_WHEEL=system)
    return ", ".join(sorted(path.name for path in DIST.iterdir()))


@check("their names and their metadata are right")
def _metadata() -> str:
    """As a package index would ask."""
    name = f"tokentui-{version()}"
    wheels = sorted(DIST.glob("*.whl"))
    assert len(wheels) == len(LIBRARIES) + 1, [path.name for path in wheels]
    about = set()
    for path in wheels:
        with zipfile.ZipFile(path) as wheel:
            assert wheel.testzip() is None
            libraries = [one for one in wheel.namelist() if one.endswith((".so", ".dylib"))]
            about.add(tuple(
                wheel.read(f"{name}.dist-info/{file}") for file in ("METADATA", "entry_points.txt")
            ))
        assert len(libraries) == (0 if path.stem.endswith("-any") else 1), (path.name, libraries)
    ((first, entries),) = about
    metadata, scripts = message_from_bytes(first), entries.decode()
    with tarfile.open(DIST / f"{name}.tar.gz") as archive:
        assert not [one for one in archive.getnames() if one.endswith((".so", ".dylib"))]
        found = archive.extractfile(f"{name}/PKG-INFO")
        assert found is not None
        other = message_from_bytes(found.read())
    for one in (metadata, other):
        wanted = {"Name": "tokentui", "Version": version(), "License-Expression": "MIT",
                  "Requires-Python": ">=3.11", "Description-Content-Type": "text/markdown"}
        assert {key: one[key] for key in wanted} == wanted
        assert re.fullmatch(r".{1,512}", one["Summary"])
        assert str(one.get_payload()).lstrip().startswith("# tokentui"), "the README is not the description"
        assert not re.search(r"\]\((?!https://)", str(one.get_payload())), "a link is relative"
    assert "tokentui = tokentui.__main__:main" in scripts
    needed, extras = metadata.get_all("Requires-Dist", []), metadata.get_all("Provides-Extra", [])
    return f"{len(needed)} requirements, {len(extras)} extras"


@check("twine accepts them")
def _twine() -> str:
    home = DIST.parent / "twine"
    run(sys.executable, "-m", "venv", home)
    run(home / "bin/python", "-m", "pip", "install", "-q", "twine>=6.1")
    run(home / "bin/python", "-m", "twine", "check", "--strict", *sorted(DIST.iterdir()))
    return f"{len(list(DIST.iterdir()))} files"


@check("they install in fresh environments, and run")
def _install() -> str:
    said = []
    for path in (next(DIST.glob("*.tar.gz")), next(DIST.glob("*-any.whl")), own_wheel()):
        home = DIST.parent / f"fresh-{path.name}"
        run(sys.executable, "-m", "venv", home)
        run(home / "bin/python", "-m", "pip", "install", "-q", path)
        said.append(_works(home / "bin/tokentui"))
        assert (home / "share/man/man1/tokentui.1").is_file()
        assert run(home / "bin/python", "-m", "pip", "check").strip() == "No broken requirements found."
    versions, engines = zip(*(line.split(", engine: ") for line in said), strict=True)
    assert len(set(versions)) == 1, said
    assert own_wheel().stem.endswith("-any") or engines[-1] == "compiled", said
    return f"{versions[0]}; {', '.join(engines)}"


def own_wheel() -> Path:
    """Return the wheel that pip takes on this system."""
    machine = os.uname().machine
    system = "macosx" if sys.platform == "darwin" else "manylinux"
    return next(DIST.glob(f"*{system}*_{machine}*.whl"), next(DIST.glob("*-any.whl")))


def _works(program: Path) -> str:
    """Train and encode by an installed program, in a folder of its own. Returns its version."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        words = ("-r", "gpt2", "--vocab-size", "300", "-q", "-o", "t.json")
        run(program, "train", "sample:english", *words, cwd=here)
        assert run(program, "encode", "-t", "t.json", "the lamp", cwd=here).split()
        return run(program, "--version", cwd=here).strip()


@check("uv tool install and pipx install it")
def _tools() -> str:
    """Both from the environment of this interpreter or the path; one that is not there is told."""
    wheel, said = own_wheel(), []
    for name, words in (("uv", ("tool", "install", "--python", sys.executable)), ("pipx", ("install",))):
        beside = Path(sys.executable).with_name(name)
        program = str(beside) if beside.exists() else name
        home = DIST.parent / name
        os.environ |= {"UV_TOOL_DIR": f"{home}/tools", "UV_TOOL_BIN_DIR": f"{home}/bin",
                       "PIPX_HOME": f"{home}/tools", "PIPX_BIN_DIR": f"{home}/bin",
                       "PIPX_MAN_DIR": f"{home}/man"}
        try:
            run(program, *words, wheel)
        except FileNotFoundError:
            said.append(f"{name} is not here")
            continue
        _works(home / "bin/tokentui")
        said.append(f"{name} does")
    return ", ".join(said)


@check("the first command of the README runs as it stands")
def _readme() -> str:
    """In a clone; the explorer is asked for its version in the place of a screen. The tests of the second
    command are those above; `.ci/run` runs that one too."""
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    command = next(line.strip() for line in lines if line.strip().endswith("&& .venv/bin/tokentui"))
    clone = DIST.parent / "clone"
    run("git", "clone", "--quiet", ROOT, clone)
    return run("bash", "-c", f"{command} --version", cwd=clone).splitlines()[-1]


def main() -> int:
    """Run the checks in order. Returns the exit code."""
    wrong = 0
    for title, function in CHECKS:
        try:
            found, mark = function(), "yes"
        except (AssertionError, OSError, StopIteration, KeyError, IndexError) as error:
            found, mark, wrong = str(error) or type(error).__name__, "NO", wrong + 1
        print(f"{mark:3}  {title}: {found}", flush=True)
    print(f"{len(CHECKS) - wrong} of {len(CHECKS)} hold")
    return 1 if wrong else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        DIST = Path(temporary) / "dist"
        sys.exit(main())
