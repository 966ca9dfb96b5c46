"""What is published holds everything, and works where there is no checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import tokentui
from tokentui.text.sources import samples

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = ("__pycache__", ".pyc")

pytest.importorskip("build")
pytest.importorskip("hatchling")
pytest.importorskip("pip")


def run(*words: str | Path, cwd: Path, code: int = 0) -> str:
    """Run a program away from the checkout and without its settings.

    Returns what it says on standard output.
    """
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))
    }
    done = subprocess.run(
        list(map(str, words)), cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=300, check=False,
    )
    assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source archive, and the wheel that is made of it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (archive,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    return archive, wheel


@pytest.fixture(scope="module")
def installed(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment that has the wheel; what it depends on comes from this
    one."""
    home = tmp_path_factory.mktemp("installed")
    venv.create(home, with_pip=False)
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    pip = ["-m", "pip", "--python", str(scripts / "python")]
    run(sys.executable, *pip, "install", "-q", "--no-deps", "--no-index", "--no-compile", built[1], cwd=home)
    # A folder named in a .pth file comes after the wheel, and its own .pth files, such as that of an editable
    # install, are not read.
    site = run(
        scripts / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home
    ).strip()
    ours = dict.fromkeys(path for path in sys.path if Path(path).name in ("site-packages", "dist-packages"))
    Path(site, "dependencies.pth").write_text("".join(path + "\n" for path in ours), encoding="utf-8")
    return scripts


def files(folder: str) -> set[str]:
    """The files below a folder of the checkout that belong to the project."""
    found = (path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*") if path.is_file())
    return {name for name in found if not any(part in name for part in LEFT_OUT)}


def test_the_wheel_holds_the_package_and_its_corpora(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as wheel:
        names = set(wheel.namelist())
    information = f"tokentui-{tokentui.__version__}.dist-info/"
    assert f"{information}licenses/LICENSE" in names
    shared = {name.removeprefix("docs/") for name in files("docs/share")}
    expected = files("tokentui") | {f"tokentui/{name}" for name in files("corpora")}
    expected |= {f"tokentui-{tokentui.__version__}.data/data/{name}" for name in shared}
    assert {name for name in names if not name.startswith(information)} == expected


def test_man_page_and_completion_lie_where_they_are_looked_for(installed: Path) -> None:
    shared = installed.parent / "share"
    assert (shared / "man/man1/tokentui.1").read_text(encoding="utf-8").startswith(".TH TOKENTUI 1")
    for place in ("bash-completion/completions/tokentui", "zsh/site-functions/_tokentui",
                  "fish/vendor_completions.d/tokentui.fish"):
        assert "_TOKENTUI_COMPLETE" in (shared / place).read_text(encoding="utf-8"), place


def test_the_source_archive_holds_what_a_test_run_needs(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for folder in ("tokentui", "corpora", "tests", "docs", "benchmarks", ".ci"):
        assert files(folder) <= names, folder
    assert {"pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "Makefile", "CONTRIBUTING.md"} <= names


def test_it_says_its_version(installed: Path, tmp_path: Path) -> None:
    assert run(installed / "tokentui", "--version", cwd=tmp_path).startswith(
        f"tokentui {tokentui.__version__}, "
    )


def test_samples_come_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    code = (
        "import json; from tokentui.text.sources import samples; print(json.dumps([str(one.path) for one "
        "in samples()]))"
    )
    paths = [Path(path) for path in json.loads(run(installed / "python", "-c", code, cwd=tmp_path))]
    assert [path.name for path in paths] == [sample.path.name for sample in samples()]
    for path in paths:
        assert path.is_relative_to(installed.parent)
        assert path.is_file()


def test_it_trains_and_encodes(installed: Path, tmp_path: Path) -> None:
    program = installed / "tokentui"
    trace = run(
        program, "train", "sample:hugs", "-r", "comp336", "--vocab-size", "20", "-o", "hugs.json", "--trace",
        "-", cwd=tmp_path,
    )
    assert json.loads(trace.splitlines()[-1])["end"] == "vocab_size"
    ids = run(program, "encode", "-t", "hugs.json", "hugs hug pugs", cwd=tmp_path)
    assert (
        run(program, "decode", "-t", "hugs.json", *ids.split(), cwd=tmp_path).rstrip("\n") == "hugs hug pugs"
    )


def test_it_splits(installed: Path, tmp_path: Path) -> None:
    row = json.loads(
        run(installed / "tokentui", "split", "-s", "split=gpt2", "--json", "it's two", cwd=tmp_path)
    )
    assert row["pieces"] == ["it", "'s", " two"]


def test_the_screen_is_there(installed: Path, tmp_path: Path) -> None:
    """All of it can be loaded, style sheet included; without a terminal it is refused in one line."""
    code = (
        "import importlib.resources as r, tokentui.ui.app; "
        "print(r.files('tokentui.ui').joinpath('app.tcss').is_file())"
    )
    assert run(installed / "python", "-c", code, cwd=tmp_path).strip() == "True"
    run(installed / "tokentui", cwd=tmp_path, code=2)
