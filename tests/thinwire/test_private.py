"""Each private part of Textual and Rich that the driver uses still exists and does what it is used for."""

from __future__ import annotations

import gc
import importlib
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
import rich.cells
from rich._unicode_data import load
from rich.cells import cell_len
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.binding import Binding
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Region
from textual.strip import Strip

from tokentui.thinwire import private
from tokentui.thinwire.widths import correct_widths


class Bound(App[None]):
    """An app with a priority key and another one."""

    BINDINGS = [Binding("ctrl+x", "quit", "Quit", priority=True), Binding("n", "quit", "Quit")]


@pytest.mark.parametrize(
    ("owner", "name"), [(owner, name) for owner, parts in private.OVERRIDDEN.items() for name in parts]
)
async def test_a_part_exists(owner: str, name: str) -> None:
    module, _, title = owner.partition(":")
    kind = getattr(importlib.import_module(module), title)
    instance: Any = kind
    if not hasattr(kind, name):
        async with App[None]().run_test() as pilot:
            instances = [pilot.app, LinuxDriver(pilot.app)]
            instance = next(made for made in instances if isinstance(made, kind))
    assert hasattr(instance, name), f"{owner} has no {name} any more: it {private.OVERRIDDEN[owner][name]}"


async def test_an_app_knows_its_terminal_and_its_priority_keys() -> None:
    app = Bound()
    async with app.run_test():
        assert isinstance(private.color_system(app), ColorSystem)
        assert private.supports_synchronized_output(app) in (True, False)
        assert private.has_priority_binding(app, "ctrl+x")
        assert not private.has_priority_binding(app, "n")


def test_attributes_that_are_off_do_not_count() -> None:
    assert private.attribute_bits(Style(bold=True, italic=False)) == 1
    assert private.attribute_bits(Style(reverse=True)) == 1 << 6


def test_an_escape_waits_for_what_may_follow() -> None:
    parser = private.XTermParser()
    assert private.escape_timeout(parser) is None
    assert list(parser.feed("\x1b")) == []
    assert (private.escape_timeout(parser) or 0) > 0


@pytest.fixture
def kept_tables() -> Iterator[None]:
    """Let Rich measure as before once the test has replaced its table."""
    table = load("auto")
    module = sys.modules[f"rich._unicode_data.unicode{table.unicode_version.replace('.', '-')}"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rich.cells, "_cell_len", rich.cells._cell_len)
        patch.setattr(rich.cells, "split_graphemes", rich.cells.split_graphemes)
        patch.setattr(module, "cell_table", table)
        yield
    for cached in (load, rich.cells.get_character_cell_size, rich.cells.cached_cell_len):
        cached.cache_clear()


def test_the_width_table_of_rich_is_replaced(kept_tables: None) -> None:
    correct_widths()
    assert cell_len("\u093f") == 1
    private.replace_width_table(lambda widths: [*widths], lambda text: text.replace("x", "語"))
    assert cell_len("x") == 2


def test_an_update_of_the_screen_has_the_fields_that_are_read() -> None:
    update = private.ChopsUpdate([], [], [])
    assert (update.chops, update.spans, update.chop_ends) == ([], [], [])
    layout = private.LayoutUpdate([], Region(1, 2, 3, 4))
    assert (list(layout.strips), layout.region.x) == ([], 1)


def test_keys_are_read_from_bytes() -> None:
    keys = [event.key for event in private.XTermParser().feed("\x1b[A") if hasattr(event, "key")]
    assert keys == ["up"]


class _Watched(Strip):
    """A strip that can be referred to weakly."""


def test_a_strip_is_freed_with_its_last_use() -> None:
    private.free_strips()
    private.free_strips()
    was = gc.isenabled()
    gc.disable()
    try:
        strip = _Watched([Segment("four")], 4)
        assert list(strip.divide([4])) == [strip]
        assert strip.crop_extend(0, 4, None) is strip
        assert [part.text for part in strip.divide([1, 4])] == ["f", "our"]
        assert strip.crop_extend(0, 2, None).text == "fo"
        freed = weakref.ref(strip)
        del strip
        assert freed() is None
    finally:
        if was:
            gc.enable()
