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
TASKS = sorted(
    path.stem for path in (ROOT / "tokentui").glob("*/kernels/*.py") if path.stem != "__init__"
)
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
importlib.import_module = damaged
print(jit.compiled(), jit.load(compiling=False), jit.compiled(), jit.engine())
"""
    assert run(tmp_path, code) == ["True False False plain Python, kernels not compiled yet"]


@pytest.mark.skipif(not jit.available(), reason="Numba is not installed, or switched off")
def test_what_another_machine_compiled_stays(tmp_path: Path) -> None:
    """The folder is shared by machines of several processors, which have kernels of their own in it."""
    code = """
import importlib
from tokentui.core import jit
jit.mark_filled()
kept = jit.folder() / "kernel"
kept.touch()
def lacking(name):
    raise jit.NotKept
importlib.import_module = lacking
print(jit.load(compiling=False), jit.compiled(), kept.exists(), jit.engine())
"""
    assert run(tmp_path, code) == ["False False True plain Python, kernels not compiled yet"]


@pytest.mark.skipif(not jit.available(), reason="Numba is not installed, or switched off")
def test_nothing_is_compiled_in_vain(tmp_path: Path) -> None:
    """A child compiles for others: not where nothing can be kept, and no more where a disk is full."""
    code = """
import errno, importlib
from tokentui.core import jit
asked = []
def full(name):
    asked.append(name)
    raise OSError(errno.ENOSPC, "No space left on device")
importlib.import_module = full
print(jit.compile_kept(), len(asked), jit.compiled())
"""
    assert run(tmp_path, code) == ["False 2 False"]
    home = tmp_path / "home"
    home.write_text("a file")
    assert run(home, code) == ["False 0 False"]


@pytest.mark.skipif(not jit.available(), reason="Numba is not installed, or switched off")
def test_threads_load_one_after_the_other(tmp_path: Path) -> None:
    """Numba's folder and what is told of a compilation are one for all threads."""
    code = f"tasks = {TASKS[:8]}" + """
import importlib, sys, threading
from tokentui.core import jit
sys.setswitchinterval(1e-6)
inside, overlaps, start = [], [], threading.Barrier(8)
def importing(name):
    overlaps.extend(inside)
    inside.append(name)
    sum(range(100_000))
    inside.remove(name)
    sys.modules[name] = sys
importlib.import_module = importing
def loads(task):
    start.wait()
    jit.load(task, compiling=True)
threads = [threading.Thread(target=loads, args=(task,)) for task in tasks]
for one in threads: one.start()
for one in threads: one.join()
print(overlaps)
"""
    assert run(tmp_path, code) == ["[]"]


@pytest.mark.skipif(not jit.available(), reason="Numba is not installed, or switched off")
@pytest.mark.parametrize("meanwhile", [
    "threading.Thread(target=asks).start()",
    "threading.Thread(target=lambda: os.fork() or asks()).start()",
    "signal.signal(signal.SIGUSR1, lambda *_: asks()); signal.raise_signal(signal.SIGUSR1)",
], ids=["thread", "child", "signal"])
def test_kernels_that_are_loaded_wait_for_no_others(meanwhile: str, tmp_path: Path) -> None:
    """A child of this process can load more of them as well."""
    code = f"""
import importlib, os, signal, sys, threading
from tokentui.core import jit
def found(name):
    return sys.modules.setdefault(name, sys)
def never_found(name):
    {meanwhile}
    threading.Event().wait()
def asks():
    importlib.import_module = found
    signal.alarm(30)
    there = jit.loaded("count"), os.getpid() == parent or jit.load("pairs")
    os.write(1, f"{{there}}\\n".encode())
    os.kill(parent, signal.SIGKILL)
    os._exit(0)
parent = os.getpid()
importlib.import_module = found
jit.load("count")
importlib.import_module = never_found
jit.load("encode")
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False,
        timeout=100, env={**os.environ, "NUMBA_DISABLE_JIT": "0", "TOKENTUI_HOME": str(tmp_path)},
    )
    assert (done.stdout, done.stderr) == ("(True, True)\n", "")


@pytest.mark.parametrize(("code", "answer"), [
    pytest.param(
        "from tokentui.core import jit; print(jit.compiled(), jit.folder())", "False None",
        marks=pytest.mark.skipif(not jit.available(), reason="Numba is not installed, or switched off"),
    ),
    ("from tokentui.session import saved; print(saved.recent() == (), saved.keep_account(ValueError()))",
        "True None"),
])
def test_a_user_without_a_home(tmp_path: Path, code: str, answer: str) -> None:
    without = """
import platformdirs
def none(*_, **__):
    raise RuntimeError("could not determine the home directory")
platformdirs.user_cache_path = platformdirs.user_state_path = none
"""
    assert run(tmp_path, without + code, TOKENTUI_HOME="") == [answer]


def test_each_module_of_kernels_has_a_name_of_its_own() -> None:
    """A task is named as the module that its caller imports."""
    assert sorted(set(TASKS)) == TASKS
    assert {"count", "encode", "pairs", "score", "unigram"} <= set(TASKS)


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
