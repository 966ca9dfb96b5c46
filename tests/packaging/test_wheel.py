"""What is published holds everything, and works where there is no checkout."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import venv
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

import tokentui
from tokentui.core import native
from tokentui.text.sources import samples

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = ("__pycache__", ".pyc")
TAGS = {
    "linux-x86_64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_2_x86_64",
    "linux-aarch64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_2_aarch64",
    "darwin-x86_64": "macosx_11_0_x86_64",
    "darwin-arm64": "macosx_11_0_arm64",
}
"""The platform of the wheel for each system that has kernels."""
NAME = f"tokentui-{tokentui.__version__}"

pytestmark = pytest.mark.slow
pytest.importorskip("build")
pytest.importorskip("hatchling")
pytest.importorskip("pip")


def run(*words: str | Path, cwd: Path, code: int = 0, **variables: str) -> str:
    """Run a program away from the checkout and without its settings.

    Returns what it says on standard output.
    """
    environment = {
        name: value for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "PIP_", "TOKENTUI_"))
    }
    done = subprocess.run(
        list(map(str, words)), cwd=cwd, env=environment | variables, stdin=subprocess.DEVNULL,
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


def wheel_of(source: Path, folder: Path, system: str = "") -> Path:
    """Build the wheel of a source for a system; for this one if none is named."""
    words = ("-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    run(sys.executable, *words, cwd=source, TOKENTUI_WHEEL=system)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def own_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the checkout for this system."""
    return wheel_of(ROOT, tmp_path_factory.mktemp("own"))


@pytest.fixture(scope="module")
def installed(own_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment that has the wheel for this system."""
    return environment_with(own_wheel, tmp_path_factory.mktemp("installed"))


def environment_with(wheel: Path, home: Path) -> Path:
    """Install a wheel; what it depends on comes from this environment. Returns the folder of the programs."""
    venv.create(home, with_pip=False)
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    pip = ["-m", "pip", "--python", str(scripts / "python")]
    run(sys.executable, *pip, "install", "-q", "--no-deps", "--no-index", "--no-compile", wheel, cwd=home)
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


def is_compiled(name: str) -> bool:
    """Return whether a file is one of compiled kernels: a library, or the manifest of all."""
    return Path(name).match("libraries/libtokentui-*") or Path(name).match("libraries/manifest.json")


def contents(wheel: Path) -> set[str]:
    """Return the files of a wheel, without its information."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def information(wheel: Path, name: str) -> str:
    """Return a file of a wheel's information."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(f"{NAME}.dist-info/{name}").decode()


def expected(libraries: set[str]) -> set[str]:
    """Return the files of a wheel that has some files of compiled kernels."""
    shared = {name.removeprefix("docs/") for name in files("docs/share")}
    names = {name for name in files("tokentui") if not is_compiled(name)}
    names |= {f"tokentui/core/libraries/{name}" for name in libraries}
    return names | {f"tokentui/{name}" for name in files("corpora")} | {
        f"{NAME}.data/data/{name}" for name in shared
    }


@pytest.mark.slow
def test_the_wheel_of_the_archive_has_no_kernels_and_installs_everywhere(built: tuple[Path, Path]) -> None:
    assert built[1].name == f"{NAME}-py3-none-any.whl"
    assert "Root-Is-Purelib: true" in information(built[1], "WHEEL")
    assert information(built[1], "licenses/LICENSE").startswith("MIT License")
    assert contents(built[1]) == expected(set())


@pytest.mark.slow
def test_links_and_pictures_of_the_readme_work_on_a_package_index(built: tuple[Path, Path]) -> None:
    metadata = message_from_string(information(built[1], "METADATA"))
    links = re.findall(r"\]\(([^)]+)\)", str(metadata.get_payload()))
    relative = re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text("utf-8"))
    assert len(links) == len(relative) > 20
    for link, path in zip(links, relative, strict=True):
        assert link.startswith("https://")
        assert link.endswith(path if path.startswith("https://") else f"/v{tokentui.__version__}/{path}")
        assert path.startswith("https://") or (ROOT / path).is_file()
    names = {line.partition(",")[0] for line in metadata.get_all("Project-URL", [])}
    assert names == {"Repository", "Documentation", "Changelog", "Issues"}


def released(system: str) -> Path:
    """Return the library of a system. The test is skipped where the source has not those of a release."""
    path = Path(native.FOLDER) / native.library_of(system)
    if not path.is_file() or native.manifest().get("local"):
        pytest.skip("this source has no libraries, or one that was built locally")
    return path


@pytest.mark.parametrize("system", TAGS)
@pytest.mark.first_run(cases=1)
def test_a_wheel_has_the_kernels_of_its_system_alone(system: str, tmp_path: Path) -> None:
    library = released(system)
    wheel = wheel_of(ROOT, tmp_path, system)
    assert wheel.name == f"{NAME}-py3-none-{TAGS[system]}.whl"
    lines = information(wheel, "WHEEL").splitlines()
    assert "Root-Is-Purelib: false" in lines
    tags = {f"Tag: py3-none-{platform}" for platform in TAGS[system].split(".")}
    assert {line for line in lines if line.startswith("Tag:")} == tags
    assert contents(wheel) == expected({library.name, "manifest.json"})


def test_a_wheel_without_kernels_can_be_asked_for(tmp_path: Path) -> None:
    wheel = wheel_of(ROOT, tmp_path, "any")
    assert (wheel.name, contents(wheel)) == (f"{NAME}-py3-none-any.whl", expected(set()))


def test_a_system_without_kernels_is_refused(tmp_path: Path) -> None:
    words = ("-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path)
    run(sys.executable, *words, cwd=ROOT, code=1, TOKENTUI_WHEEL="linux-z80")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_library_that_was_built_locally_is_for_such_a_system_alone(loaded: None, tmp_path: Path) -> None:
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("tokentui", "corpora", "docs/share"):
        shutil.copytree(ROOT / name, source / name, ignore=ignored)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    manifest = source / "tokentui/core/libraries/manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "local": True}))
    platform = wheel_of(source, tmp_path / "dist").stem.rpartition("-")[2]
    assert platform.startswith(("linux_", "macosx_"))
    assert "." not in platform


@pytest.mark.parametrize("system", ["linux-x86_64", "linux-aarch64"])
def test_a_library_for_linux_depends_on_no_other(system: str) -> None:
    """So it fits every C library, as its tag says."""
    content = released(system).read_bytes()
    (at,), (size, count) = struct.unpack_from("<Q", content, 32), struct.unpack_from("<HH", content, 54)
    headers = [struct.unpack_from("<IIQQQQ", content, at + size * n) for n in range(count)]
    (dynamic,) = [(start, length) for kind, _, start, _, _, length in headers if kind == 2]  # PT_DYNAMIC
    entries = {tag for tag, _ in struct.iter_unpack("<QQ", content[dynamic[0] : sum(dynamic)])}
    assert 5 in entries  # DT_STRTAB: these are the entries
    assert not entries & {1, 0x6FFFFFFE}  # DT_NEEDED, DT_VERNEED


@pytest.mark.parametrize("system", ["darwin-x86_64", "darwin-arm64"])
def test_a_library_for_macos_runs_on_the_version_of_its_tag(system: str) -> None:
    content = released(system).read_bytes()
    (count,), at, versions = struct.unpack_from("<I", content, 16), 32, []
    for _ in range(count):
        kind, size, _, least = struct.unpack_from("<IIII", content, at)
        at += size
        if kind == 0x32:  # LC_BUILD_VERSION
            versions.append((least >> 16, least >> 8 & 0xFF))
    assert versions == [(11, 0)]
    assert f"macosx_{versions[0][0]}_{versions[0][1]}_" in TAGS[system]


@pytest.mark.slow
def test_an_installation_says_whether_it_has_kernels(
    built: tuple[Path, Path], installed: Path, loaded: None, tmp_path: Path
) -> None:
    """The one of the archive trains and encodes as well, in plain Python."""
    code = "from tokentui.core import engines; print(engines.engine())"
    assert run(installed / "python", "-c", code, cwd=tmp_path) == "compiled\n"
    plain = environment_with(built[1], tmp_path / "plain")
    engine = "plain Python, this installation has no kernels\n"
    assert run(plain / "python", "-c", code, cwd=tmp_path) == engine
    code = "import tokentui; print(tokentui.train('sample:hugs', 'gpt2', merges=5).encode_ids('hugs pug'))"
    ids = [run(folder / "python", "-c", code, cwd=tmp_path) for folder in (plain, installed)]
    assert ids[0] == ids[1]


@pytest.mark.slow
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
        assert {name for name in files(folder) if not is_compiled(name)} <= names, folder
    assert not [name for name in names if is_compiled(name) or name.endswith((".so", ".dylib"))]
    assert {
        "pyproject.toml", "hatch_build.py", "README.md", "CHANGELOG.md", "LICENSE", "Makefile",
        "CONTRIBUTING.md",
    } <= names


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_screen_is_there(installed: Path, tmp_path: Path) -> None:
    """All of it can be loaded, style sheet included; without a terminal it is refused in one line."""
    code = (
        "import importlib.resources as r, tokentui.ui.app; "
        "print(r.files('tokentui.ui').joinpath('app.tcss').is_file())"
    )
    assert run(installed / "python", "-c", code, cwd=tmp_path).strip() == "True"
    run(installed / "tokentui", cwd=tmp_path, code=2)
