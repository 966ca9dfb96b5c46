"""Kernels for the tests, compiled once and kept where pytest keeps what it knows."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def counting(loaded: None) -> ModuleType:
    """The module `tokentui.fast.counting`."""
    return importlib.import_module("tokentui.fast.counting")
