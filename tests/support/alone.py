"""Run each test in a fork of the process that collected it: a test that needs what another one made fails.

Use it as a plugin: `pytest -n 0 -p alone`. `make test-alone` does so.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Generator

import pytest
from _pytest.runner import runtestprotocol


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool:
    """Run a test in a fork, and report here what it reported there."""
    hook = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _reports(item):
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _reports(item: pytest.Item) -> Generator[pytest.TestReport]:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            reports = runtestprotocol(item, log=False)
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump([report._to_json() for report in reports], pipe)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        sent = pipe.read()
    _, status = os.waitpid(child, 0)
    if not sent:
        yield pytest.TestReport(item.nodeid, item.location, {}, "failed", f"exit status {status}", "call")
        return
    for data in pickle.loads(sent):
        yield pytest.TestReport._from_json(data)
