"""On PYTHONPATH: every Python process is one without the extra `fast`, whatever is installed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder


class Absent(MetaPathFinder):
    """Finds no NumPy. It is kept out of `sys.modules`, where Hypothesis looks for it."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: object = None) -> None:
        """Nothing, of all other modules; NumPy is refused."""
        if name.partition(".")[0] == "numpy":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())
for module in ("numba", "llvmlite"):
    sys.modules[module] = None  # type: ignore[assignment]  # the import system's word for what is not to be had
