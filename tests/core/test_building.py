"""A library of kernels that the C compiler of this system links."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tokentui.core import engines, native, provenance
from tokentui.learn.kernels import order

BUILD = """
import sys
from pathlib import Path
from tokentui import building
from tokentui.learn.kernels import order
print(building.build_local(Path(sys.argv[1]), sys.argv[2], [order.compare_products]))
"""


def build(folder: Path, compiler: str) -> subprocess.CompletedProcess[str]:
    """Build one kernel in a process of its own, which has to know of Numba before it imports any kernel."""
    environment = {**os.environ, engines.TEST_VARIABLE: "numba"}
    return subprocess.run(
        [sys.executable, "-c", BUILD, str(folder), compiler], env=environment, capture_output=True, text=True,
        check=False, timeout=300,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if importlib.util.find_spec("numba") is None or shutil.which("cc") is None:
        pytest.skip("there is no Numba, or no C compiler")
    (tmp_path / "libtokentui-other-system.so").write_bytes(b"of other sources")
    return tmp_path


@pytest.mark.slow
def test_a_c_compiler_links_a_library_for_this_system_alone(folder: Path) -> None:
    done = build(folder, "cc -g0")
    library = folder / native.library_of(native.system())
    assert (done.stdout, done.stderr) == (f"{library}\n", "")
    assert sorted(path.name for path in folder.iterdir()) == sorted([library.name, "manifest.json"])
    compare = native._native(ctypes.CDLL(str(library)), order.compare_products)
    assert [compare(2, 3, 5, 5, 3, other) for other in (1, 2, 3)] == [1, 0, -1]
    assert compare(1 << 62, 1 << 62, 7, 1 << 62, 1 << 61, 14) == 0


@pytest.mark.slow
def test_its_manifest_says_that_it_was_built_locally(folder: Path) -> None:
    build(folder, "cc -g0")
    manifest = json.loads((folder / "manifest.json").read_bytes())
    library = native.library_of(native.system())
    assert manifest["local"] is True
    assert manifest["toolchain"]["cc"] == "cc -g0"
    assert manifest["sources"] == provenance.sources()
    assert manifest["files"] == {library: provenance.facts_of((folder / library).read_bytes())}


@pytest.mark.parametrize("compiler", ["no-such-compiler", "false"])
@pytest.mark.slow
def test_a_failing_compiler_leaves_the_folder_unchanged(compiler: str, folder: Path) -> None:
    done = build(folder, compiler)
    assert done.returncode == 1
    assert done.stderr.startswith("the library cannot be linked: ")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in folder.iterdir()] == ["libtokentui-other-system.so"]
