"""Kernels in shared libraries: a process opens a complete library and no other."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest

from tokentui.core import arrays, engines, native
from tokentui.text.kernels import rules

ROOT = Path(__file__).resolve().parents[2]
COUNT = """
import sys
from tokentui.core import engines, library, native
library.FOLDER = sys.argv[1]
at_once = library.engine_at_once()
import tokentui
found = tokentui.train("sample:english", "gpt2", merges=40)
assert engines.failed or at_once == engines.engine(), at_once
print(engines.engine())
print(*found.encode_ids("the crowd in the street " * 300)[:12], found.vocab_size)
"""


def run(folder: Path, **environment: str) -> list[str]:
    """Return the engine, and some ids of a tokenizer that was trained with the libraries of a folder."""
    done = subprocess.run(
        [sys.executable, "-c", COUNT, str(folder)], cwd=ROOT, capture_output=True, text=True, timeout=500,
        env={**os.environ, engines.VARIABLE: "", engines.TEST_VARIABLE: "", **environment}, check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def expected() -> str:
    """The ids that plain Python finds."""
    engine, ids = run(Path(native.FOLDER), **{engines.VARIABLE: "off"})
    assert engine == engines.PLAIN
    return ids


def test_the_manifest_lists_every_kernel(loaded: None) -> None:
    package = ROOT / "tokentui"
    for path in package.glob("*/kernels/*.py"):
        importlib.import_module(".".join(("tokentui", *path.relative_to(package).with_suffix("").parts)))
    assert {name: one.signature for name, one in native.KERNELS.items()} == native.manifest()["kernels"]


@pytest.mark.slow
def test_the_shipped_tables_are_those_of_the_installed_regex_if_it_takes_them() -> None:
    """All code points are compared. A new `regex` with other classes does not take the tables and passes."""
    shipped = json.loads((Path(native.FOLDER) / "classes.json").read_text())
    made = json.loads(rules.as_json())
    agrees = rules.agrees(rules.runs_of(rules._letters()), rules._folds())
    assert agrees, "the check refuses the tables of the installed regex"
    if rules._shipped():
        assert {**shipped, "regex": ""} == {**made, "regex": ""}
    else:
        assert shipped["tables"] != made["tables"] or shipped["folds"] != made["folds"]


@pytest.mark.parametrize(("code", "name"), [
    (ord("a"), rules.UPPER), (ord("a"), rules.SIGN), (0x10FFFF - 0x30000, rules.SIGN), (0x4E2D, rules.LOWER),
    (0x0378, rules.EITHER), (0x1FFFD, rules.EITHER), (0x31000, rules.SIGN), (0xE0100, rules.SIGN),
    (ord("%"), rules.SPACING), (0x20, rules.SIGN), (ord("5"), rules.SIGN), (0xD800, rules.NUMBER),
])
@pytest.mark.first_run(cases=2)
def test_tables_with_one_other_class_do_not_agree(code: int, name: int) -> None:
    """Also inside a run of a class, where a new version of Unicode assigns characters."""
    table = rules._letters()
    high = memoryview(table.high).cast("H")
    classes = bytearray(b"".join(table.low[row << 7 : (row + 1) << 7] for row in high))
    changed = classes[code] != name
    classes[code] = name
    assert rules.agrees(rules.runs_of(rules._folded(classes)), rules._folds()) is not changed


def test_tables_with_other_folds_do_not_agree() -> None:
    assert not rules.agrees(rules.runs_of(rules._letters()), ())
    assert not rules.agrees(rules.runs_of(rules._letters()), (*rules._folds(), (0x212A, ord("k"))))


@pytest.mark.slow
def test_tables_of_another_regex_are_not_taken(tmp_path: Path, expected: str) -> None:
    folder = shutil.copytree(Path(native.FOLDER), tmp_path / "libraries")
    shipped = json.loads((folder / "classes.json").read_text())
    tables = {**shipped["tables"], "letters": shipped["tables"]["bert"]}
    other = json.dumps({**shipped, "regex": "0", "tables": tables})
    shorter = json.dumps({**shipped, "regex": "0", "runs": ["", ""]})
    damaged = '{"regex": 1, "tables": {"letters": ["", ""]}, "folds": []}'
    for content in ('{"regex": "0"}', "[]", "", damaged, other, shorter):
        (folder / "classes.json").write_text(content)
        assert run(folder)[1] == expected


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def swap(path: Path) -> None:
    others = [other for other in sorted(path.parent.glob("libtokentui-*")) if other != path]
    path.write_bytes(others[0].read_bytes() if others else b"\x7fELF")  # a local build has no other


def cut_manifest(path: Path) -> None:
    cut(path.with_name("manifest.json"))
    cut(path.with_name("manifest.json"))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def other_manifest(content: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.with_name("manifest.json").write_text(content)

    return write


DAMAGED = "plain Python, the library of kernels is damaged"
NO_MANIFEST = "plain Python, the manifest of kernels is damaged"
NO_KERNELS = "plain Python, this installation has no kernels"


@pytest.mark.parametrize(("damage", "engine"), [
    (cut_manifest, NO_MANIFEST), (cut, DAMAGED), (flip, DAMAGED), (swap, DAMAGED), (empty, DAMAGED),
    (Path.unlink, "plain Python, the library of kernels cannot be opened"),
    (other_manifest('{"files": {"a": 1}, "kernels": {}}'), NO_MANIFEST),
    (other_manifest("nonsense"), NO_MANIFEST), (other_manifest("[]"), NO_MANIFEST),
    (other_manifest("{}"), NO_MANIFEST),
    (other_manifest('{"files": {}, "kernels": {}}'), f"plain Python, no kernels for {native.system()}"),
    (lambda path: path.with_name("manifest.json").unlink(), NO_KERNELS),
    (lambda path: shutil.rmtree(path.parent), NO_KERNELS),
])
@pytest.mark.first_run(cases=1)
def test_plain_python_replaces_a_damaged_library(
    damage: Callable[[Path], None], engine: str, loaded: None, tmp_path: Path, expected: str
) -> None:
    """The results are the same."""
    folder = shutil.copytree(Path(native.FOLDER), tmp_path / "libraries")
    damage(folder / native.library_of(native.system()))
    assert run(folder) == [engine, expected]


@pytest.mark.slow
def test_plain_python_replaces_a_library_with_other_signatures(
    loaded: None, tmp_path: Path, expected: str
) -> None:
    """A warning reports the failure. The results are the same."""
    folder = shutil.copytree(Path(native.FOLDER), tmp_path / "libraries")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["kernels"] = dict.fromkeys(manifest["kernels"], "void <- int64")
    (folder / "manifest.json").write_text(json.dumps(manifest))
    code = f"import warnings; warnings.simplefilter('ignore')\n{COUNT}"
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], cwd=ROOT, capture_output=True, text=True, timeout=300,
        env={**os.environ, engines.VARIABLE: "", engines.TEST_VARIABLE: ""}, check=True,
    )
    assert done.stdout.splitlines() == [engines.FAILED, expected]


@pytest.mark.slow
def test_a_library_opens_from_a_read_only_folder(loaded: None, tmp_path: Path, expected: str) -> None:
    """It needs no home either."""
    folder = shutil.copytree(Path(native.FOLDER), tmp_path / "libraries")
    folder.chmod(0o500)
    home = tmp_path / "home"
    home.write_text("a file")
    assert run(folder, TOKENTUI_HOME=str(home)) == [engines.COMPILED, expected]
    assert sorted(home.parent.iterdir()) == sorted([folder, home])


@pytest.mark.soak
@pytest.mark.timeout(600)  # Numba compiles meanwhile
def test_the_sources_do_the_same_as_numba_compiles_them_here(expected: str) -> None:
    pytest.importorskip("numba")
    assert run(Path(native.FOLDER), **{engines.TEST_VARIABLE: "numba"}) == [engines.COMPILED, expected]


def test_every_array_kind_has_its_width() -> None:
    widths = {kind: array(letter).itemsize for kind, letter in arrays.FORMATS.items()}
    assert widths == arrays.WIDTHS


@pytest.mark.parametrize("size", [0, 1, 5, 600_000])
def test_arrays_begin_with_noughts_and_grow(size: int) -> None:
    row = arrays.Row((("left", "int32"), ("right", "int32")))
    made = arrays.flat(row, size)
    assert (len(made), made.nbytes, any(made)) == (2 * size, arrays.width_of(row) * size, False)
    made[:] = memoryview(bytearray(b"\1" * made.nbytes)).cast("i")
    grown = arrays.larger(made, row, size + 3)
    assert (grown[: len(made)].tolist(), grown[len(made) :].tolist()) == (made.tolist(), [0] * 6)
    assert arrays.larger(grown, row, size) is grown
    address, length = native.buffer_of(made)
    assert length == made.nbytes
    assert address or not length


def test_no_two_kernels_have_one_name() -> None:
    names = [path.stem for path in (ROOT / "tokentui").glob("*/kernels/*.py") if path.stem != "__init__"]
    assert sorted(set(names)) == sorted(names)
