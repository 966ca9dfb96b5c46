"""Compiled kernels, where Numba is installed: the extra `tokentui[fast]`.

Kernels lie in the folders `kernels` of the rooms. A task is named as the module that its caller imports:
`pairs` is the module `pairs` of one of these folders. Nothing of Numba is imported when the program starts:
`available` finds the extra without importing it, `load` imports the kernels, and every caller goes on with
plain Python where either says no. `python -m tokentui.core.jit` compiles them; an explorer starts it as a
child, so that no screen waits.

Compiled kernels are kept in a folder of the user's, never in the package.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.files import own_folder
from tokentui.core.jobs import check_match, tick

ENGINE = "TOKENTUI_ENGINE"
"""The variable of the environment that forces an engine: `plain`, or `compiled` where that can be had."""

COMPILED, PLAIN = "compiled", "plain Python"
"""The two engines, as `engine` calls them."""
FAILED = f"{PLAIN}, kernels failed"
"""The engine after a failure of a kernel."""

failed = False
"""True once a kernel has failed: none is used from then on in this process."""
tell: Callable[[Warning], object] = warnings.warn
"""Told of that failure. The program and a session set ways of their own."""

LOAD_CHARS = 3_000_000
"""Plain Python counts so many characters in about the time that it takes to load the kernels."""

_FILLED = "complete"
_state: bool | None = None
_here = True
_kept = True
_loaded: set[str] = set()
_loading = threading.RLock()  # a handler of a signal may encode meanwhile
# A child has the lock as it was, and not the thread that would let it go.
os.register_at_fork(after_in_child=lambda: globals().update(_loading=threading.RLock()))


def compile_elsewhere() -> None:
    """From now on only load kernels in this process, unless `load` is asked to compile them: a screen must
    not wait."""
    global _here
    _here = False


def available() -> bool:
    """Return whether kernels may be loaded here: Numba and NumPy are installed, and nothing forbids them.

    `TOKENTUI_ENGINE=plain`, `NUMBA_DISABLE_JIT=1` and a kernel that failed do.
    """
    if os.environ.get(ENGINE) == "plain" or os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return False
    return not failed and _installed()


@functools.cache
def _installed() -> bool:
    return sys.byteorder == "little" and all(importlib.util.find_spec(name) for name in ("numba", "numpy"))


def compiled() -> bool:
    """Return whether `load` finds kernels that were compiled before, and so takes less than a second."""
    return available() and (_path() / _FILLED).is_file()


def loaded(task: str = "count") -> bool:
    """Return whether the kernels of a task can be used at once: `load` was called and said yes.

    Kernels of a task that were not asked for before are loaded now, in some hundredths of a second. With
    `TOKENTUI_ENGINE=compiled` they are loaded in any case, and compiled first where that was not done before.

    Args:
        task: The name of a module of kernels, such as `count` (the words of a text) or `encode`.
    """
    if os.environ.get(ENGINE) == "compiled":
        return load(task, compiling=True)
    return bool(_state) and load(task)


def fail(error: Exception) -> bool:
    """Take in what was raised where kernels work. True if they failed: no work begins with kernels from now
    on in this process, which is told once, and plain Python is to do the same work.

    `tell` may raise, as a warning does that is an error: the failure is taken in all the same.
    """
    global failed
    # without memory plain Python, which takes more, would not go on either
    if isinstance(error, (TokentuiError, Cancelled, MemoryError)):
        return False
    frames, calls = traceback.walk_tb(error.__traceback__), (tick.__code__, check_match.__code__)
    if any(frame.f_code in calls for frame, _ in frames):  # it comes from whoever watches the job
        return False
    before, failed = failed, True
    if not before:
        failure = RuntimeWarning(f"kernels failed, plain Python goes on: {type(error).__name__}: {error}")
        failure.__cause__ = error
        tell(failure)
    return True


@contextlib.contextmanager
def rescued(compiled: bool = True) -> Iterator[None]:
    """Leave the work inside where a kernel fails in it: the lines after it do the same in plain Python.

    Args:
        compiled: False if the work has no kernels; then nothing that it raises is taken in.
    """
    try:
        yield
    except Exception as error:
        if not (compiled and fail(error)):
            raise


def engine() -> str:
    """Name the engine in a few words: `compiled (Numba 0.62.0)`, or `plain Python` and why."""
    if failed:
        return FAILED
    if not available():
        return PLAIN + ("" if _installed() else ", without Numba")
    if not (loaded() or compiled()):
        return f"{PLAIN}, kernels not compiled yet"
    import importlib.metadata  # takes a moment, and is not needed at the start

    return f"{COMPILED} (Numba {importlib.metadata.version('numba')})"


def ready(characters: int, task: str = "count") -> bool:
    """Return whether the kernels of a task can be used for so many characters.

    They can if they are loaded, or if loading them takes less time than it saves; then they are loaded.
    """
    if not loaded(task) and characters >= LOAD_CHARS and compiled():
        load(task)
    return loaded(task)


def load(*tasks: str, compiling: bool | None = None) -> bool:
    """Load kernels, and compile them where that was not done before: some seconds, once for each version.

    Args:
        tasks: The tasks whose kernels are loaded, see `loaded`; all where none is named.
        compiling: Whether they may be compiled in this process; if None, they may unless `compile_elsewhere`
            was called. If not, what was kept of them and cannot be loaded is removed.

    Returns:
        Whether they can be used. Whatever keeps Numba from working, the plain engine does the same work.
    """
    global _state
    if not available() or _state is False:
        return False
    compiling = _here if compiling is None else compiling
    wanted = [_modules()[task] for task in tasks or _modules()]
    if _state and _loaded.issuperset(wanted):  # who has them does not wait for who loads others
        return True
    with _loading:  # Numba's settings are one for all threads
        if _state is None or not _loaded.issuperset(wanted):
            found = _load(wanted, compiling)
            _state = found if found or compiling else None
            _loaded.update(wanted if found else ())
        return bool(_state)


def compile_kept() -> bool:
    """Compile all kernels that are not kept yet. Returns whether all are kept; where none can be, nothing is
    compiled."""
    return folder() is not None and _load([*_modules().values()], True, (_remove, None))


@functools.cache
def _modules() -> dict[str, str]:
    """Every module in a folder of kernels by its own name."""
    package = Path(__file__).parents[1]
    paths = sorted(path.relative_to(package).with_suffix("") for path in package.glob("*/kernels/*.py"))
    return {path.name: ".".join(("tokentui", *path.parts)) for path in paths if path.name != "__init__"}


def _load(
    modules: Sequence[str], compiling: bool, attempts: Sequence[Callable[[], None] | None] = ()
) -> bool:
    """Import modules of kernels. After each attempt that fails, one of `attempts` is called before the next;
    None ends them."""
    for before_next_attempt in attempts or (_remove, _keep_none, None):
        try:
            with contextlib.nullcontext() if compiling else _only_kept():
                for module in modules:
                    importlib.import_module(module)
        except NotKept:  # another machine has others in the same folder: they stay
            with suppress(OSError):
                (_path() / _FILLED).unlink()
            return False
        # a damaged cache, or an installation that does not fit together: Numba raises anything
        except Exception:
            if before_next_attempt is not None:
                before_next_attempt()
            if not compiling:
                return False
        else:
            if all(module in sys.modules for module in _modules().values()):
                mark_filled()
            return True
    return False


# ---- the folder of compiled kernels


class NotKept(Exception):
    """A kernel would have to be compiled."""


def folder() -> Path | None:
    """The folder of compiled kernels, made if need be; None where it cannot be written."""
    path = _path()
    return path if _kept and _is_writable(path) else None


def mark_filled() -> None:
    """Note that all kernels of this version are there."""
    path = folder()
    if path is not None:
        with suppress(OSError):
            (path / _FILLED).touch()


def _remove() -> None:
    import shutil  # rarely needed

    shutil.rmtree(_path(), ignore_errors=True)
    _is_writable.cache_clear()


def _keep_none() -> None:
    """Compile without keeping what comes of it, for the rest of this process."""
    global _kept
    _kept = False


@contextlib.contextmanager
def _only_kept() -> Iterator[None]:
    """Compile nothing of ours meanwhile: a kernel that was not kept raises `NotKept`."""
    event: Any = importlib.import_module("numba.core.event")

    class Refusing(event.Listener):  # type: ignore[misc]
        """Told by Numba before it compiles a function."""

        def on_start(self, event: Any) -> None:
            """Refuse a function of ours; what others compile meanwhile is none of our business."""
            if event.data["dispatcher"].py_func.__module__.startswith("tokentui."):
                raise NotKept

        def on_end(self, event: Any) -> None:
            """Nothing."""

    with event.install_listener("numba:compile", Refusing()):
        yield


def _path() -> Path:
    home = os.environ.get("TOKENTUI_HOME")
    return (Path(home) / "cache" if home else own_folder("cache")) / f"kernels-{_digest()}"


@functools.cache
def _digest() -> str:
    """All that the compiled code comes from, so that a kernel never runs with helpers of another version.

    The folder of the sources belongs to it: Numba finds what it kept by the paths of the files, and what was
    compiled for another installation would seem to be there and have to be compiled again.
    """
    import hashlib  # not before kernels are asked for
    import platform

    digest = hashlib.sha256(f"{sys.version} {platform.machine()}\0".encode())
    package = Path(__file__).absolute().parents[1]
    compiler = (Path(__file__).absolute(), package / "core" / "compiling.py")
    sources = [*compiler, *package.glob("*/kernels/*.py")]
    digest.update(os.fsencode(package))
    # Asking importlib.metadata for the versions takes ten times as long as all the rest.
    for path in [*map(_version_file, ("numba", "numpy", "llvmlite")), *sorted(sources)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _version_file(package: str) -> Path:
    """The file of an installed package that says which version it is, found without importing it."""
    spec = importlib.util.find_spec(package)
    main = Path(spec.origin if spec is not None and spec.origin else __file__)
    return next(
        (path for name in ("_version.py", "version.py") if (path := main.with_name(name)).is_file()), main
    )


@functools.cache
def _is_writable(path: Path) -> bool:
    import tempfile  # rarely needed

    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return True
    except OSError:
        return False


if __name__ == "__main__":
    from tokentui.core.jit import compile_kept as compile_all  # of the module that kernels import, no copy

    sys.exit(0 if compile_all() else 1)
