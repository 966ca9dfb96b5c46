#!/usr/bin/env python3
"""The checklist of a release: `make release-check`, or `python .ci/release.py [--quick]`.

It prints a line per check, and exits with 1 if a check fails. `--quick` skips the test run. With RELEASE=1 in
the environment, the changelog needs a dated entry for the version, and everything has to be committed.

The checks run in fresh folders and environments. The interpreter needs the extras `dev` and `docs`, and pip
needs a package index.
"""

from __future__ import annotations

import json
import os
import re
import shutil
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
"""The kernel libraries, one per system."""
CHECKS: list[tuple[str, Callable[[], str]]] = []
"""The checks with their titles. A check returns a result to print, and raises an error if it fails."""
QUICK = "--quick" in sys.argv[1:]
RELEASE = bool(os.environ.get("RELEASE"))
MINORS = range(11, 15)
"""The minor versions of CPython 3 that the package supports, as its classifiers say."""


def check(title: str) -> Callable[[Callable[[], str]], Callable[[], str]]:
    """Add a function to the checks."""

    def add(function: Callable[[], str]) -> Callable[[], str]:
        CHECKS.append((title, function))
        return function

    return add


def run(*words: str | Path, cwd: Path = ROOT, **variables: str) -> str:
    """Run a program without the PYTHON… variables of the environment, and return its output.

    Raises:
        AssertionError: The exit code is not 0.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"PYTHON": sys.executable} | variables
    process = subprocess.run(list(map(str, words)), cwd=cwd, env=environment, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             check=False)
    tail = "\n".join(process.stdout.splitlines()[-15:])
    assert process.returncode == 0, f"{' '.join(map(str, words))} exited with {process.returncode}\n{tail}"
    return process.stdout


def version() -> str:
    """Return the version of the package."""
    return re.findall(r'^__version__ = "(.+)"$', (ROOT / "tokentui/__init__.py").read_text("utf-8"), re.M)[0]


@check("the version is in one file")
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
    assert dated or not RELEASE, f"replace \"## Unreleased\" by \"## {version()} - \" and the date"
    assert dated or "## Unreleased\n" in text, "no entry for the version, and no ## Unreleased"
    return dated[0] if dated else "unreleased"


@check("everything is committed")
def _committed() -> str:
    changed = run("git", "status", "--porcelain").splitlines()
    assert not (changed and RELEASE), "\n".join(changed)
    return f"no, {len(changed)} files are not" if changed else "yes"


@check("style, types and imports")
def _lint() -> str:
    run(".ci/lint")
    return "clean"


@check("the tests")
def _tests() -> str:
    if QUICK:
        return "skipped"
    return run(sys.executable, "-m", "pytest", "-q").splitlines()[-1]


@check("the generated pages are current")
def _pages() -> str:
    return run(sys.executable, "-m", "pytest", "-q", "-n", "0", "tests/hygiene").splitlines()[-1]


@check("the commands in the documents run")
def _howtos() -> str:
    run(sys.executable, "docs/scripts/howto.py", "--check")
    return "with the output that the pages show"


@check("the site builds without a warning")
def _site() -> str:
    run(".ci/docs")
    return f"{sum(1 for _ in (ROOT / 'build/site').rglob('*.html'))} pages"


@check("the kernels were built by the locked tools")
def _kernels() -> str:
    code = "from tokentui.core.provenance import problems; print(*problems(), sep='\\n')"
    problems = run(sys.executable, "-c", code).strip()
    assert not problems, problems
    manifest = json.loads((ROOT / "tokentui/core/libraries/manifest.json").read_bytes())
    assert not manifest.get("local"), "the library was built by make kernels-local; run make kernels"
    assert set(manifest["files"]) == {path.name for path in LIBRARIES}
    return f"{len(manifest['files'])} libraries"


@check("the source archive and the wheels build")
def _build() -> str:
    """Build a wheel per system with kernels, and one without kernels for all others."""
    run(sys.executable, "-m", "build", "--sdist", "--outdir", DIST, ROOT)
    for system in ("any", *(path.stem.removeprefix("libtokentui-") for path in LIBRARIES)):
        run(sys.executable, "-m", "build", "--wheel", "--outdir", DIST, ROOT, TOKENTUI_WHEEL=system)
    return ", ".join(sorted(path.name for path in DIST.iterdir()))


@check("their names and metadata are right")
def _metadata() -> str:
    """Check what a package index would check."""
    name = f"tokentui-{version()}"
    wheels = sorted(DIST.glob("*.whl"))
    assert len(wheels) == len(LIBRARIES) + 1, [path.name for path in wheels]
    about = set()
    for path in wheels:
        with zipfile.ZipFile(path) as wheel:
            assert wheel.testzip() is None
            libraries = [file for file in wheel.namelist() if file.endswith((".so", ".dylib"))]
            about.add(tuple(
                wheel.read(f"{name}.dist-info/{file}") for file in ("METADATA", "entry_points.txt")
            ))
        assert len(libraries) == (0 if path.stem.endswith("-any") else 1), (path.name, libraries)
    ((first, entries),) = about
    metadata, scripts = message_from_bytes(first), entries.decode()
    with tarfile.open(DIST / f"{name}.tar.gz") as archive:
        assert not [file for file in archive.getnames() if file.endswith((".so", ".dylib"))]
        info = archive.extractfile(f"{name}/PKG-INFO")
        assert info is not None
        source_metadata = message_from_bytes(info.read())
    for fields in (metadata, source_metadata):
        expected = {"Name": "tokentui", "Version": version(), "License-Expression": "MIT",
                  "Requires-Python": ">=3.11", "Description-Content-Type": "text/markdown"}
        assert {key: fields[key] for key in expected} == expected
        assert re.fullmatch(r".{1,512}", fields["Summary"])
        description = str(fields.get_payload())
        assert description.lstrip().startswith("# tokentui"), "the description is not the README"
        assert not re.search(r"\]\((?!https://)", description), "a link is relative"
    assert "tokentui = tokentui.__main__:main" in scripts
    requirements, extras = metadata.get_all("Requires-Dist", []), metadata.get_all("Provides-Extra", [])
    return f"{len(requirements)} requirements, {len(extras)} extras"


@check("twine accepts them")
def _twine() -> str:
    home = DIST.parent / "twine"
    run(sys.executable, "-m", "venv", home)
    run(home / "bin/python", "-m", "pip", "install", "-q", "twine>=6.1")
    run(home / "bin/python", "-m", "twine", "check", "--strict", *sorted(DIST.iterdir()))
    return f"{len(list(DIST.iterdir()))} files"


@check("they install in fresh environments, and run")
def _install() -> str:
    lines = [_install_one(sys.executable, path)
             for path in (next(DIST.glob("*.tar.gz")), next(DIST.glob("*-any.whl")), own_wheel())]
    versions, engines = zip(*(line.split(", engine: ") for line in lines), strict=True)
    assert len(set(versions)) == 1, lines
    assert own_wheel().stem.endswith("-any") or engines[-1] == "compiled", lines
    return f"{versions[0]}; {', '.join(engines)}"


@check("the wheel installs on each CPython from 3.11 on, and runs")
def _interpreters() -> str:
    """Use the interpreters of the path and of pyenv. Say which are not installed."""
    results = []
    for minor in MINORS:
        pyenv = sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"))
        interpreter = str(pyenv[-1]) if pyenv else shutil.which(f"python3.{minor}")
        if interpreter is None:
            results.append(f"3.{minor} is not installed")
            continue
        line = _install_one(interpreter, own_wheel())
        assert f"CPython 3.{minor}." in line, line
        results.append(f"3.{minor} ok")
    return ", ".join(results)


def _install_one(interpreter: str, path: Path) -> str:
    """Install a file in a fresh environment, use the program, and return its `--version` line."""
    home = DIST.parent / f"fresh-{Path(interpreter).name}-{path.name}"
    shutil.rmtree(home, ignore_errors=True)
    run(interpreter, "-m", "venv", home)
    run(home / "bin/python", "-m", "pip", "install", "-q", path)
    line = _works(home / "bin/tokentui")
    assert (home / "share/man/man1/tokentui.1").is_file()
    assert run(home / "bin/python", "-m", "pip", "check").strip() == "No broken requirements found."
    return line


def own_wheel() -> Path:
    """Return the wheel that pip would choose on this system."""
    machine = os.uname().machine
    system = "macosx" if sys.platform == "darwin" else "manylinux"
    return next(DIST.glob(f"*{system}*_{machine}*.whl"), next(DIST.glob("*-any.whl")))


def _works(program: Path) -> str:
    """Train and encode with an installed program in a temporary folder, and return its `--version` line."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        words = ("-r", "gpt2", "--vocab-size", "300", "-q", "-o", "t.json")
        run(program, "train", "sample:english", *words, cwd=here)
        assert run(program, "encode", "-t", "t.json", "the lamp", cwd=here).split()
        return run(program, "--version", cwd=here).strip()


@check("uv tool install and pipx install it")
def _tools() -> str:
    """Use uv and pipx next to this interpreter or on the path. Say which are not installed."""
    wheel, results = own_wheel(), []
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
            results.append(f"{name} is not installed")
            continue
        _works(home / "bin/tokentui")
        results.append(f"{name} ok")
    return ", ".join(results)


@check("the first command of the README runs")
def _readme() -> str:
    """Run it in a clone, with `--version` instead of a screen. `.ci/run` runs the second, the tests."""
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    command = next(line.strip() for line in lines if line.strip().endswith("&& .venv/bin/tokentui"))
    clone = DIST.parent / "clone"
    run("git", "clone", "--quiet", ROOT, clone)
    return run("bash", "-c", f"{command} --version", cwd=clone).splitlines()[-1]


def main() -> int:
    """Run the checks in order. Returns the exit code."""
    failures = 0
    for title, function in CHECKS:
        try:
            result, mark = function(), "ok"
        except (AssertionError, OSError, StopIteration, KeyError, IndexError) as error:
            result, mark, failures = str(error) or type(error).__name__, "FAIL", failures + 1
        print(f"{mark:4}  {title}: {result}", flush=True)
    print(f"{len(CHECKS) - failures} of {len(CHECKS)} passed")
    return 1 if failures else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        DIST = Path(temporary) / "dist"
        sys.exit(main())
