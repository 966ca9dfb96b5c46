"""A long run really is longer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import soak

SUPPORT = Path(soak.__file__).parent
FACTOR = 3
"""How many times as many examples a long run has here."""

TESTS = """
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

seen = {"plain": 0, "named": 0, "machine": 0}

@given(st.integers())
def test_plain(number):
    seen["plain"] += 1

@pytest.mark.parametrize("way", [1, 2])
@settings(max_examples=3, database=None)
@given(number=st.integers())
def test_named(way, number):
    seen["named"] += 1

class Machine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        seen["machine"] += 1

    @rule()
    def nothing(self):
        pass

TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=2, stateful_step_count=1, database=None)

@pytest.mark.soak
def test_long():
    print("seen", seen)

def test_short():
    print("short")
"""


@pytest.mark.slow
@pytest.mark.parametrize("long", [False, True], ids=["default", "soak"])
def test_profiles(tmp_path: Path, long: bool) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text(
        "import pytest, soak\n"
        f"soak.FACTOR = {FACTOR}\n"
        "soak.register_profiles()\n"
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_collection_modifyitems(items):\n"
        "    soak.lengthen(items)\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = soak: long\naddopts = -m 'not soak'\n")
    more = ["-m", "soak", "--hypothesis-profile=soak"] if long else []
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", "-p", "_hypothesis_pytestplugin",
            *more,
        ],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": str(SUPPORT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    assert done.returncode == 0, done.stdout
    if not long:
        assert "5 passed, 1 deselected" in done.stdout
        assert "seen" not in done.stdout
        return
    assert "5 passed, 1 deselected" in done.stdout
    assert "short" not in done.stdout
    plain, named, machine = (soak.EXAMPLES * FACTOR, 2 * 3 * FACTOR, 2 * FACTOR)
    assert f"seen {{'plain': {plain}, 'named': {named}, 'machine': {machine}}}" in done.stdout


def test_a_daily_run_takes_each_value_of_each_axis() -> None:
    axes = ("abcde", "xy", "123")
    cases = soak.covering(*axes)
    daily = [case.values for case in cases if not case.marks]
    assert (len(cases), len({case.values for case in cases}), len(daily)) == (30, 30, 5)
    assert [set(values) for values in zip(*daily, strict=True)] == [set(axis) for axis in axes]
