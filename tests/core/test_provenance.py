"""Whether the compiled kernels in the package come from the sources and tools beside them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tokentui.core import provenance

SOURCES = [
    *(path.relative_to(provenance.PACKAGE).as_posix() for path in provenance.PACKAGE.glob("*/kernels/*.py")),
    *provenance.LOADER,
]
MANIFEST_PATH = provenance.PACKAGE / provenance.LIBRARIES / "manifest.json"
if not MANIFEST_PATH.is_file():
    pytest.skip("this source has no kernels", allow_module_level=True)
MANIFEST = json.loads(MANIFEST_PATH.read_bytes())


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of all files that the check reads."""
    package = tmp_path_factory.mktemp("copied") / "tokentui"
    for name in (*SOURCES, provenance.LOCK):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(provenance.PACKAGE / name, package / name)
    shutil.copytree(provenance.PACKAGE / provenance.LIBRARIES, package / provenance.LIBRARIES)
    return package


@pytest.fixture
def package(copied: Path) -> Iterator[Path]:
    """The copy, which is as it was after the test."""
    before = {path: path.read_bytes() for path in copied.rglob("*") if path.is_file()}
    yield copied
    for path in [path for path in copied.rglob("*") if path.is_file()]:
        if path not in before:
            path.unlink()
    for path, content in before.items():
        path.write_bytes(content)


def test_the_libraries_come_from_these_sources_and_tools() -> None:
    """After a change to a kernel or to the lock file: `make kernels`."""
    assert provenance.problems() == []


def test_the_check_accepts_an_exact_copy(package: Path) -> None:
    assert provenance.problems(package) == []


@pytest.mark.parametrize("name", MANIFEST["files"])
def test_a_flipped_byte_fails_even_with_a_new_crc(name: str, package: Path) -> None:
    path = package / provenance.LIBRARIES / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    facts = {**provenance.facts_of(content), "sha256": MANIFEST["files"][name]["sha256"]}
    files = {**MANIFEST["files"], name: facts}
    path.with_name("manifest.json").write_text(json.dumps({**MANIFEST, "files": files}))
    assert provenance.problems(package) == [f"{name} is not the file in manifest.json: run make kernels"]


@pytest.mark.parametrize("name", MANIFEST["files"])
def test_a_missing_library_fails(name: str, package: Path) -> None:
    (package / provenance.LIBRARIES / name).unlink()
    assert provenance.problems(package) == [f"{name} is missing: run make kernels"]


def test_a_library_that_the_manifest_does_not_list_fails(package: Path) -> None:
    (package / provenance.LIBRARIES / "other.so").write_bytes(b"")
    assert provenance.problems(package) == ["other.so is not in manifest.json: delete it"]


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize("name", SOURCES)
def test_a_changed_source_fails(name: str, package: Path) -> None:
    with (package / name).open("a", encoding="utf-8") as file:
        file.write("ADDED = 1\n")
    assert provenance.problems(package) == [
        "the sources changed after the libraries were compiled: run make kernels"
    ]


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize("name", SOURCES)
def test_a_comment_or_docstring_in_a_source_changes_nothing(name: str, package: Path) -> None:
    with (package / name).open("a", encoding="utf-8") as file:
        file.write('# a comment\n"""A docstring."""\n')
    assert provenance.problems(package) == []


def write_manifest(package: Path, **facts: object) -> None:
    """Change facts of the manifest of a package."""
    path = package / provenance.LIBRARIES / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **facts}))


def test_a_library_that_was_built_locally_needs_no_locked_tools(package: Path) -> None:
    """It needs these sources all the same."""
    write_manifest(package, local=True, toolchain={"numba": "0.0.1", "cc": "cc"})
    assert provenance.problems(package) == []
    write_manifest(package, sources="0")
    assert provenance.problems(package) == [
        "the sources changed after the libraries were compiled: run make kernels"
    ]


@pytest.mark.parametrize("tool", provenance.locked())
def test_another_version_in_the_lock_fails(tool: str, package: Path) -> None:
    write_manifest(package, local=False, toolchain=provenance.locked(package))
    path, version = package / provenance.LOCK, provenance.locked()[tool]
    path.write_text(path.read_text("utf-8").replace(f"{tool}=={version}", f"{tool}==0.0.1"), "utf-8")
    assert provenance.problems(package) == [
        f"manifest.json has {tool} {version}, toolchain.lock has 0.0.1"
    ]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"files": 1}'])
def test_a_damaged_manifest_fails(content: str, package: Path) -> None:
    (package / provenance.LIBRARIES / "manifest.json").write_text(content)
    (problem,) = provenance.problems(package)
    assert problem.startswith("manifest.json cannot be read")


def test_the_lock_names_every_tool() -> None:
    assert list(provenance.locked()) == ["python", "numba", "llvmlite", "numpy", "ziglang"]
