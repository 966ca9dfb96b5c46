"""Modules that a test imports a second time."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest


def import_again(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let the next import of a module run its code again.

    After the test `monkeypatch` restores the first module, in `sys.modules` and in its package.
    """
    module = import_module(name)
    package, _, attribute = name.rpartition(".")
    monkeypatch.setattr(import_module(package), attribute, module)
    monkeypatch.delitem(sys.modules, name)
