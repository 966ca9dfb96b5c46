"""Each command says what it does."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from tokentui.session import commands as do

DEFINING = {do.Lane.ENGINE: {"apply", "answer"}, do.Lane.JOB: {"apply", "answer"}, do.Lane.LOADER: {"load"}}
"""The methods of which a command of a lane overrides one."""


def kinds() -> list[type[do.Command[object]]]:
    """All command classes of the package."""
    for module in pkgutil.iter_modules(do.__path__, f"{do.__name__}."):
        import_module(module.name)
    return [kind for kind in do.Command.__subclasses__() if kind.__module__.startswith(f"{do.__name__}.")]


def test_each_command_defines_what_it_does() -> None:
    for kind in kinds():
        assert DEFINING[kind.lane] & vars(kind).keys(), f"{kind.__name__} has no apply or answer"


def test_each_command_is_exported() -> None:
    for kind in kinds():
        assert getattr(do, kind.__name__) is kind
        assert kind.__name__ in do.__all__


def test_all_commands_are_walked() -> None:
    assert len(kinds()) > 50
