"""Kernels of loops that plain Python runs as they stand: their types are those of the annotations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_type_hints

from tokentui.core.native import FLAG, FLOAT, INT, NOTHING, Flat, Kernel, Tuple, kernel

_SCALARS = {int: INT, float: FLOAT, bool: FLAG, type(None): NOTHING}


def _kind(hint: Any) -> Any:
    """Return the kernel type of a parameter from its annotation."""
    if hint in _SCALARS:
        return _SCALARS[hint]
    if hasattr(hint, "__metadata__"):
        return Flat(hint.__metadata__[0])
    fields = get_type_hints(hint, include_extras=True).values()
    return Tuple(tuple(map(_kind, fields)), hint.__name__, hint)


def compiled(loop: Callable[..., Any]) -> Kernel:
    """Return a loop as a kernel, typed by its annotations."""
    hints = get_type_hints(loop, include_extras=True)
    returns = _kind(hints.pop("return"))
    made: Kernel = kernel(returns, *map(_kind, hints.values()))(loop)
    return made
