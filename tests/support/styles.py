"""Style sheets that are parsed once for all the apps of a process.

What is parsed depends on the text, its place and the variables of the theme. Textual keeps it for one app; a
run of the tests has hundreds of them.
"""

from __future__ import annotations

from typing import Any

from textual.cache import LRUCache
from textual.css.stylesheet import Stylesheet

_KEPT: dict[frozenset[tuple[str, str]], LRUCache[Any, Any]] = {}
"""What is parsed, by the variables."""
_init, _set_variables = Stylesheet.__init__, Stylesheet.set_variables


def _share(sheet: Stylesheet) -> None:
    sheet._parse_cache = _KEPT.setdefault(frozenset(sheet._variables.items()), LRUCache(4096))


def _begin(sheet: Stylesheet, *, variables: dict[str, str] | None = None) -> None:
    _init(sheet, variables=variables)
    _share(sheet)


def _change(sheet: Stylesheet, variables: dict[str, str]) -> None:
    sheet._parse_cache = LRUCache(1)  # it clears what it has
    _set_variables(sheet, variables)
    _share(sheet)


def parse_once() -> None:
    """Keep what is parsed for the apps to come."""
    Stylesheet.__init__ = _begin  # type: ignore[assignment, method-assign]
    Stylesheet.set_variables = _change  # type: ignore[assignment, method-assign]
