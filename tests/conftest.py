"""What holds for every test: the same surroundings on every machine, and the two profiles of Hypothesis."""

from __future__ import annotations

import dataclasses
import gc
import importlib
import itertools
import os
import random
import signal
import sys
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from pathlib import Path
from types import ModuleType

import first_run
import oracle
import pytest
import raised
import slow
import soak
import styles
import waiting
from _pytest.runner import runtestprotocol
from gates import Gates
from sessions import Watched
from textual._compositor import Compositor

from tokentui.core import engines, limits
from tokentui.core.choices import Refusal
from tokentui.core.errors import TokentuiError

soak.register_profiles()
styles.parse_once()
slow.delay_threads()

_PLAIN = os.environ.get(engines.VARIABLE) == "off"
"""True if this run is one of plain Python."""

# Textual and Rich look at these when they are imported, which is before any fixture runs.
_LOOKED_AT = ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "COLUMNS", "LINES")
for _name in [
    name
    for name in os.environ
    if name in _LOOKED_AT or name.startswith("TEXTUAL_") or name == limits.VARIABLE
]:
    del os.environ[_name]
os.environ["TERM"] = "xterm-256color"  # which decides how tokens are marked


def pytest_configure(config: pytest.Config) -> None:
    """Keep bytecode, in pytest's own cache where the tree is to stay free of it: without it each worker and
    each program that a test starts compiles all that it imports.

    A run in the background of a shell ignores ctrl+c, and so would the programs that tests interrupt.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    cache = getattr(config, "cache", None)  # none with -p no:cacheprovider
    if cache is not None and os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        sys.dont_write_bytecode = False
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(cache.mkdir("bytecode"))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Write down which errors of the package are made, where `TOKENTUI_RAISED` names a file for it."""
    if path := os.environ.get("TOKENTUI_RAISED"):
        for kind in (TokentuiError, Refusal):
            raised.write_down(kind, Path(path))


def pytest_report_header() -> str:
    """Name the seed of a random order: the same one orders the tests alike."""
    seed = os.environ.get("TOKENTUI_ORDER")
    return f"random order: TOKENTUI_ORDER={seed}" if seed else ""


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Keep the garbage collector from walking all modules and tests again and again: a third of the
    processor time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)


def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> list[object] | None:
    """Collect no test in the first run that is marked for another one."""
    if name.lower().startswith("test") and first_run.left_out(obj) and first_run.is_first(collector.config):
        return []
    return None


@pytest.hookimpl(trylast=True)  # when all parameters are known
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Choose the cases of the first run."""
    first_run.choose(metafunc)


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


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> object:
    """Send one short report of a case that passes from a worker, in place of three long ones.

    Only options that list times or cases need those of set-up and tear-down.
    """
    option = item.config.option
    detailed = option.durations is not None or getattr(option, "xmlpath", None) or option.verbose > 0
    if detailed or not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.passed:
            report.keywords = {}
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.fixture(scope="session")
def loaded() -> None:
    """There are kernels; a test that wants them is skipped where there are none."""
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
    """Collects what the test leaves. Not what others left before it: late in a run that takes seconds."""
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
