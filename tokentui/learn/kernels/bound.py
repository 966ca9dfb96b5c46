"""The loops of `bound_loops.py` as kernels.

Import this module only if `tokentui.core.engines.available` returns true.
"""

from __future__ import annotations

from types import SimpleNamespace

from tokentui.core.native import kernel
from tokentui.learn.kernels import bound_loops

_LOOPS = (
    bound_loops.group, bound_loops.keep, bound_loops.by_place, bound_loops.price, bound_loops.choose,
    bound_loops.direct, bound_loops.average, bound_loops.move, bound_loops.shortest,
)
LOOPS = SimpleNamespace(**{loop.__name__: kernel(loop) for loop in _LOOPS})
"""The functions of that module as kernels, under the same names."""
