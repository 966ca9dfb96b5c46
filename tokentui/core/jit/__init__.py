"""Compiled kernels, where Numba is installed: the extra `tokentui[fast]`.

Kernels lie in the folders `kernels` of the rooms. A task is named as the module that its caller imports:
`pairs` is the module `pairs` of one of these folders. Nothing of Numba is imported when the program starts:
`available` finds the extra without importing it, `load` imports the kernels, and every caller goes on with
plain Python where either says no.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path

ENGINE = "TOKENTUI_ENGINE"
"""The variable of the environment that forces an engine: `plain`, or `compiled` where that can be had."""

COMPILED, PLAIN = "compiled", "plain Python"
"""The two engines, as `engine` calls them."""

LOAD_CHARS = 3_000_000
"""Plain Python counts so many characters in about the time that it takes to load the kernels."""

_state: bool | None = None
_here = True


def compile_elsewhere() -> None:
    """From now on only load kernels in this process, unless `load` is asked to compile them: a screen must
    not wait."""
    global _here
    _here = False


def available() -> bool:
    """Return whether kernels may be loaded here: Numba and NumPy are installed, and nothing forbids them.

    `TOKENTUI_ENGINE=plain` and `NUMBA_DISABLE_JIT=1` do.
    """
    if os.environ.get(ENGINE) == "plain" or os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return False
    return _installed()


@functools.cache
def _installed() -> bool:
    return sys.byteorder == "little" and all(importlib.util.find_spec(name) for name in ("numba", "numpy"))


def compiled() -> bool:
    """Return whether `load` finds kernels that were compiled before, and so takes less than a second."""
    if not available():
        return False
    from tokentui.core.jit.cache import is_filled

    return is_filled()


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


def engine() -> str:
    """Name the engine in a few words: `compiled (Numba 0.62.0)`, or `plain Python` and why."""
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
    if _state is None or not all(module in sys.modules for module in wanted):
        found = _load(wanted, compiling)
        _state = found if found or compiling else None
    return bool(_state)


@functools.cache
def _modules() -> dict[str, str]:
    """Every module in a folder of kernels by its own name."""
    package = Path(__file__).parents[2]
    paths = sorted(path.relative_to(package).with_suffix("") for path in package.glob("*/kernels/*.py"))
    return {path.name: ".".join(("tokentui", *path.parts)) for path in paths if path.name != "__init__"}


def _load(modules: Sequence[str], compiling: bool) -> bool:
    from tokentui.core.jit import cache

    for before_next_attempt in (cache.empty, cache.use_none, None):
        try:
            with contextlib.nullcontext() if compiling else cache.only_kept():
                for module in modules:
                    importlib.import_module(module)
        # a damaged cache, or an installation that does not fit together: Numba raises anything
        except Exception:
            if before_next_attempt is not None:
                before_next_attempt()
            if not compiling:
                return False
        else:
            if all(module in sys.modules for module in _modules().values()):
                cache.mark_filled()
            return True
    return False
