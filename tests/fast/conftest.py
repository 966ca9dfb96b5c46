"""Kernels for the tests, compiled once and kept where pytest keeps what it knows."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest

from tokentui import fast


@pytest.fixture(scope="session")
def counting(pytestconfig: pytest.Config) -> ModuleType:
    """The module `tokentui.fast.counting`; the test is skipped where kernels cannot be loaded."""
    if not fast.available():
        pytest.skip("Numba is not installed, or switched off")
    assert pytestconfig.cache is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOKENTUI_HOME", str(pytestconfig.cache.mkdir("kernels")))
        assert fast.load()
    return importlib.import_module("tokentui.fast.counting")
