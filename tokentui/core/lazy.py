"""References to what another module holds, imported when it is first used, so that tables of records import
light."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Ref:
    """A function, class or value of a module, such as `Ref("tokentui.formats.tiktoken:read")`.

    A call imports the module and calls what it refers to. A test resolves every reference of the package.

    Attributes:
        target: The module and the name in it, with a colon between them.
    """

    target: str

    def resolve(self) -> Any:
        """Import the module and return what the name stands for."""
        module, _, name = self.target.partition(":")
        return getattr(importlib.import_module(module), name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.resolve()(*arguments, **named)
