"""What holds for every test: the same surroundings on every machine, and the two profiles of Hypothesis."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import importlib
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import ModuleType

import oracle
import pytest
import soak
import styles
import waiting
from gates import Gates
from sessions import Watched
from textual._compositor import Compositor

from tokentui.core import jit, limits
from tokentui.session import driver

soak.register_profiles()
styles.parse_once()

# Textual and Rich look at these when they are imported, which is before any fixture runs.
_LOOKED_AT = ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "COLUMNS", "LINES")
for _name in [
    name
    for name in os.environ
    if name in _LOOKED_AT or name.startswith("TEXTUAL_") or name == limits.VARIABLE
]:
    del os.environ[_name]


_COMPILE = """
import fcntl, os
lock = open(os.path.join(os.environ["TOKENTUI_HOME"], "lock"), "w")
fcntl.flock(lock, fcntl.LOCK_EX)
from tokentui.core import jit
jit.available() and (jit.compiled() or jit.load())
"""
"""Compiles the kernels where that was not done before; who comes second waits for the first."""


def pytest_configure(config: pytest.Config) -> None:
    """Keep bytecode, in pytest's own cache where the tree is to stay free of it: without it each worker and
    each program that a test starts compiles all that it imports.

    A run in the background of a shell ignores ctrl+c, and so would the programs that tests interrupt.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.cache is not None and os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        sys.dont_write_bytecode = False
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(config.cache.mkdir("bytecode"))


def _compiling(config: pytest.Config) -> tuple[str, subprocess.Popen[bytes]]:
    """The folder that the kernels are kept in, and a process that ends when they are there."""
    assert config.cache is not None
    home = str(config.cache.mkdir("kernels"))
    folder, environment = Path(__file__).parents[1], {**os.environ, "TOKENTUI_HOME": home}
    return home, subprocess.Popen([sys.executable, "-c", _COMPILE], cwd=folder, env=environment)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Begin to compile kernels where a test wants them: the first tests run meanwhile.

    Keep collections from walking all modules and tests again and again: a third of the processor time.
    """
    if any("loaded" in getattr(item, "fixturenames", ()) for item in session.items):
        process = _compiling(session.config)[1]
        session.config.add_cleanup(lambda: process.__exit__(None, None, None))  # waits
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Lengthen the property tests where that is asked for; leave out what reads large files that are absent.
    """
    soak.lengthen(items)
    oracle.leave_out_shared(config, items)


@pytest.fixture(scope="session")
def loaded(pytestconfig: pytest.Config) -> None:
    """The kernels are loaded; a test that wants them is skipped where they cannot be."""
    if not jit.available():
        pytest.skip("Numba is not installed, or switched off")
    with pytest.MonkeyPatch.context() as patch:
        home, process = _compiling(pytestconfig)
        process.wait()
        patch.setenv("TOKENTUI_HOME", home)
        assert jit.load()


@pytest.fixture
async def session() -> AsyncIterator[Watched]:
    """A session that has started and whose snapshots are kept."""
    watched = Watched()
    await watched.start()
    yield watched
    await watched.close()


@pytest.fixture
def kernels_later(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set by a test to let the kernels come that a session has been told to load."""
    came = asyncio.Event()

    async def warm(tell: object) -> bool:
        return await came.wait()

    monkeypatch.setattr(driver, "warm", warm)
    return came


@pytest.fixture
def gates(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gates]:
    """Gates of an opening, all of them open; they are open again when the test ends."""
    held = Gates(monkeypatch)
    yield held
    held.close()


@pytest.fixture
def every_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each frame is drawn, also where no test looks at it."""
    monkeypatch.setattr(Compositor, "render_update", waiting.draw_frame)


@pytest.fixture
def limited() -> Callable[..., None]:
    """Sets limits by their names, until the test ends."""
    return lambda **values: limits.use(dataclasses.replace(limits.now(), **values))


@pytest.fixture(autouse=True)
def _own_limits() -> Iterator[None]:
    """No test sees the limits that another has set."""
    yield
    limits.use(None)


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """New folders' names, one after the other; none of them exists."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def home(_homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own for settings and state, which does not exist yet."""
    folder = next(_homes)
    monkeypatch.setenv("TOKENTUI_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def counting(loaded: None) -> ModuleType:
    """The module `tokentui.text.kernels.count`."""
    return importlib.import_module("tokentui.text.kernels.count")
