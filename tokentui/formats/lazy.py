"""What a format does, found when it is asked for: a program that reads or writes one format does not import the others."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


def later(place: str) -> Callable[..., Any]:
    """A function of a module of this room, such as `tiktoken.read`, which is imported when it is called."""
    module, _, name = place.rpartition(".")

    def call(*arguments: Any) -> Any:
        return getattr(importlib.import_module(f"tokentui.formats.{module}"), name)(*arguments)

    return call
