"""How tests are chosen, started and reported. What holds for every test is in `support/surroundings.py`."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import sys
import sysconfig
from collections.abc import Generator
from pathlib import Path

import first_run
import pytest
from _pytest.runner import runtestprotocol

from tokentui.core import limits

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
        folder = cache.mkdir("bytecode")
        if not any(folder.iterdir()):
            _link_compiled(folder)
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(folder)
    # The controller of xdist runs no test. Importing what tests need would delay its workers.
    if hasattr(config, "workerinput") or config.option.dist == "no":
        config.pluginmanager.register(importlib.import_module("surroundings"))


def _link_compiled(folder: Path) -> None:
    """Link the bytecode of installed packages into the folder that `sys.pycache_prefix` names.

    Python then reads bytecode only from there, and each worker would compile these packages again.
    """
    for root in {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}:
        for place, folders, files in os.walk(root):
            folders[:] = [name for name in folders if name not in {"site-packages", "test", "tests"}]
            if os.path.basename(place) == "__pycache__":
                linked = folder / os.path.dirname(place).lstrip(os.sep)
                linked.mkdir(parents=True, exist_ok=True)
                with contextlib.suppress(OSError):  # another file system
                    for name in files:
                        os.link(os.path.join(place, name), linked / name)


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
