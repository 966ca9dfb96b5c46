"""Kernels are never in the way: not where there are none, not where nothing can be written, not where the
cache is damaged."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tokentui.core import jit

ROOT = Path(__file__).resolve().parents[2]
COUNT = """
import sys
from tokentui.core import jit
print(jit.available(), jit.compiled(), sys.modules.get("numba") is not None)
if jit.load():
    from tokentui.text.kernels.count import count
    print(list(count(["a b a"], "gpt2")), jit.compiled())
"""


def run(home: Path, code: str = COUNT, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "0", "TOKENTUI_HOME": str(home), **environment},
        capture_output=True, text=True, timeout=1000, check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_switched_off(tmp_path: Path) -> None:
    assert run(tmp_path, NUMBA_DISABLE_JIT="1") == ["False False False"]
    assert list(tmp_path.iterdir()) == []


def test_not_installed(tmp_path: Path) -> None:
    code = "import sys; sys.modules['numba'] = None\n" + COUNT
    assert run(tmp_path, code) == ["False False False"]


def test_an_installation_that_does_not_fit_together(tmp_path: Path) -> None:
    (tmp_path / "numba.py").write_text("raise ImportError('Numba needs another NumPy')")
    (tmp_path / "numpy.py").write_text("")
    lines = run(
        tmp_path / "home", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + COUNT, PYTHONPATH=""
    )
    assert lines == ["True False False"]


@pytest.mark.skipif(not jit.available(), reason="Numba is not installed, or switched off")
def test_what_another_version_kept_is_not_taken(tmp_path: Path) -> None:
    other = tmp_path / "cache" / "kernels-0123456789abcdef"
    other.mkdir(parents=True)
    (other / "complete").touch()
    assert run(tmp_path, "from tokentui.core import jit\nprint(jit.compiled(), jit.engine())") == [
        "False plain Python, kernels not compiled yet"
    ]


@pytest.mark.skipif(not jit.available(), reason="Numba is not installed, or switched off")
def test_what_is_damaged_is_removed_and_not_compiled_where_that_would_be_in_the_way(tmp_path: Path) -> None:
    code = """
import importlib
from tokentui.core import jit
jit.mark_filled()
def damaged(name):
    raise EOFError(name)
importlib.import_module, before = damaged, importlib.import_module
print(jit.compiled(), jit.load(compiling=False), jit.compiled(), jit.engine())
"""
    assert run(tmp_path, code) == ["True False False plain Python, kernels not compiled yet"]


def test_each_module_of_kernels_has_a_name_of_its_own() -> None:
    """A task is named as the module that its caller imports."""
    names = [path.stem for path in (ROOT / "tokentui").glob("*/kernels/*.py") if path.stem != "__init__"]
    assert sorted(names) == sorted(set(names))
    assert {"count", "encode", "pairs", "score", "unigram"} <= set(names)


@pytest.mark.skipif(not jit.available(), reason="Numba is not installed, or switched off")
def test_each_task_loads_its_own_kernels(tmp_path: Path) -> None:
    code = """
import importlib, sys
from tokentui.core import jit
asked = []
importlib.import_module = lambda name: (
    asked.append(name.rpartition(".")[2]) or sys.modules.setdefault(name, sys)
)
print(jit.loaded("pairs"), jit.load("count"), jit.loaded(), jit.compiled(), *asked)
print(jit.loaded("pairs"), jit.compiled(), *asked)
print(jit.load(), jit.compiled(), {"score", "encode", "unigram_passes"} <= set(asked))
"""
    assert run(tmp_path, code) == ["False True True False count", "True False count pairs", "True True True"]


@pytest.mark.soak
@pytest.mark.skipif(not jit.available(), reason="Numba is not installed, or switched off")
def test_compiled_code_is_kept_and_a_damaged_one_is_made_again(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert run(home) == ["True False False", "['a', ' b', ' a'] True"]
    assert run(home) == ["True True False", "['a', ' b', ' a'] True"]
    (folder,) = (home / "cache").iterdir()
    kept = [path for path in folder.rglob("*") if path.suffix in (".nbi", ".nbc")]
    assert len(kept) >= 8
    for damage in (b"", b"\x80\x04nonsense"):
        for path in kept:
            path.write_bytes(damage)
        assert run(home)[1] == "['a', ' b', ' a'] True"
        assert all(path.stat().st_size > 500 for path in kept)
    assert not [path for path in (ROOT / "tokentui").rglob("*") if path.suffix in (".nbi", ".nbc")]


@pytest.mark.soak
@pytest.mark.skipif(not jit.available(), reason="Numba is not installed, or switched off")
def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("a file")
    assert run(home, NUMBA_CACHE_DIR=str(home)) == ["True False False", "['a', ' b', ' a'] False"]
