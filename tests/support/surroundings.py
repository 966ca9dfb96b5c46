"""What holds for every test: the same surroundings on every machine, and the two profiles of Hypothesis."""

from __future__ import annotations

import dataclasses
import gc
import importlib
import itertools
import os
import random
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import ModuleType

import oracle
import pytest
import raised
import slow
import soak
import styles
import waiting
from gates import Gates
from sessions import Watched
from textual._compositor import Compositor

from tokentui.core import engines, limits
from tokentui.core.choices import Refusal
from tokentui.core.errors import TokentuiError
from tokentui.session.engine import driver

soak.register_profiles()
styles.parse_once()
slow.delay_threads()
driver.YIELD_S = 0  # no screen draws what most sessions publish

_PLAIN = os.environ.get(engines.VARIABLE) == "off"
"""True if this run is one of plain Python."""


def pytest_sessionstart(session: pytest.Session) -> None:
    """Write down which errors of the package are made, where `TOKENTUI_RAISED` names a file for it."""
    if path := os.environ.get("TOKENTUI_RAISED"):
        for kind in (TokentuiError, Refusal):
            raised.write_down(kind, Path(path))


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Set how many examples property tests try, leave out what reads large files that are absent, and order
    the tests at random where `TOKENTUI_ORDER` names a seed.
    """
    soak.lengthen(items)
    if "not slow" in config.option.markexpr:
        soak.shorten(items)
    oracle.leave_out_shared(config, items)
    if seed := os.environ.get("TOKENTUI_ORDER"):
        random.Random(seed).shuffle(items)  # the same order in each worker


@pytest.fixture(scope="session")
def loaded() -> None:
    """Skip the test if kernels are missing or switched off."""
    if _PLAIN or engines.trouble():
        pytest.skip("there are no kernels here, or they are switched off")


@pytest.fixture
async def session() -> AsyncIterator[Watched]:
    """A session that has started and whose snapshots are kept."""
    watched = Watched()
    await watched.start()
    yield watched
    await watched.close()


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
def collect() -> Callable[[], object]:
    """Return a function that collects the garbage of this test only: that of all tests takes seconds."""
    gc.freeze()
    return gc.collect


@pytest.fixture
def limited() -> Callable[..., None]:
    """Sets limits by their names, until the test ends."""
    return lambda **values: limits.use(dataclasses.replace(limits.now(), **values))


@pytest.fixture(autouse=True)
def _own_limits() -> Iterator[None]:
    """No test sees the limits that another has set."""
    yield
    limits.use(None)


@pytest.fixture(scope="session", autouse=True)
def _here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests run in a new folder: files that they write by relative names do not reach the checkout."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("here"))
    yield
    os.chdir(before)


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
