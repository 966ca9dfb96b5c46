"""Numbers and bars as text."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from tokentui.recipe import Ending

_ACROSS = " ▏▎▍▌▋▊▉█"
_UP = " ▁▂▃▄▅▆▇█"


def number(value: int) -> str:
    """Return a number as text: `1,234`, with a real minus sign."""
    return f"{value:,}".replace("-", "−")


def place_of(step: int, known: int, end: Ending) -> str:
    """Return the text after a step number that says where the run ends, such as ` of 1,000`, ` of about 31`
    or `, the last`; ` of 1,000+` or nothing if that is not known.

    Args:
        step: The step.
        known: The furthest step trained so far.
        end: The end of the run.
    """
    if end.step is None:
        return f" of {number(known)}+" if known > step else ""
    if not end.exact:
        return f" of {end.kind} {number(end.step)}" if step < end.step else ""
    if step > end.step:
        return f", past the stop at {number(end.step)}"
    return ", the last" if step == end.step and end.kind == "last" else f" of {number(end.step)}"


def step_of(end: Ending) -> str:
    """Return where a run ends, as in `step 1,387`, `step 1,000 at most` or `about step 31`. The end must be
    known."""
    step = f"step {number(end.step or 0)}"
    return f"{step} at most" if end.kind == "at most" else f"about {step}" if end.kind == "about" else step


def signed(value: int) -> str:
    """Return a change as text, as in `+12` or `−3`; "" for 0."""
    return f"{value:+,}".replace("-", "−") if value else ""


def size(count: int) -> str:
    """Return bytes in a readable unit: `512 B`, `1.2 MB` (powers of ten)."""
    if count < 1000:
        return f"{count} B"
    value = float(count)
    for unit in ("kB", "MB", "GB", "TB"):
        value /= 1000
        if value < 999.5:
            return f"{value:.1f} {unit}" if value < 99.95 else f"{value:.0f} {unit}"
    return f"{value:.0f} TB"


def bar(value: float, whole: float, width: int) -> str:
    """Return a horizontal bar for a value, drawn in eighths of a cell.

    Bars start at zero: the length is proportional to `value`, to the nearest eighth. A value above zero
    gets an eighth at least. The empty string stands for zero.

    Args:
        value: The value.
        whole: The value of a full bar. Larger values are drawn as full.
        width: The cells of a full bar.
    """
    if whole <= 0 or value <= 0 or width <= 0:
        return ""
    eighths = max(1, min(8 * width, round(8 * width * value / whole)))
    return _ACROSS[8] * (eighths // 8) + _ACROSS[eighths % 8].strip()


def is_bar(text: str) -> bool:
    """Return whether a text is a bar as `bar` draws it; False for an empty text."""
    return bool(text) and set(text) <= set(_ACROSS[1:])


def upright(values: Iterable[float], whole: float) -> str:
    """Return a vertical bar for each value, one cell wide and up to one cell high.

    Bars start at zero, as in `bar`; a value of zero is a blank.
    """
    return "".join([
        _UP[max(1, min(8, round(8 * value / whole)))] if whole > 0 < value else " " for value in values
    ])


def between(steps: Sequence[int], values: Sequence[float], places: Iterable[float]) -> list[float | None]:
    """Interpolate values at some places between ascending known steps; None outside of these."""
    found: list[float | None] = []
    for place in places:
        right = bisect_left(steps, place)
        if right < len(steps) and steps[right] == place:
            found.append(values[right])
        elif 0 < right < len(steps):
            low, high = steps[right - 1], steps[right]
            rise = values[right] - values[right - 1]
            found.append(values[right - 1] + rise * (place - low) / (high - low))
        else:
            found.append(None)
    return found


def decimal(value: float, width: int) -> str:
    """Return a number with as many digits as fit into `width` columns, as in `0.0038112`, `3.8112e-6` or `∞`.
    A minus sign is counted too."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    plain = value == 0 or abs(value) >= 1e-3
    for places in range(width, -1, -1):
        text = f"{value:.{places}f}" if plain else f"{value:.{places}e}".replace("e-0", "e-")
        if len(text) <= width:
            break
    return text.replace("-", "−", 1) if value < 0 else text


def behind(value: float, best: float) -> str:
    """Return by how much a value is less than the best, in percent of the best, as in `12 %` or `0.03 %`; ""
    if it is not less or the best is not positive."""
    if best <= 0 or value >= best:
        return ""
    percent = 100 * (1 - value / best)
    if percent < 0.01:
        return "<0.01 %"
    if percent > 99.9:
        return ">99.9 %"
    return f"{percent:.{2 if percent < 1 else 1 if percent < 10 or percent >= 99 else 0}f} %"


def amount(value: float) -> str:
    """Return a fractional count as text: `1,234`, with one decimal below a hundred (`0.4`)."""
    return f"{value:,.1f}" if value < 99.95 else f"{value:,.0f}"


def kind_name(kind: str) -> str:
    """Return the word for a kind of entry: `unit` for `base`, otherwise the kind itself."""
    return "unit" if kind == "base" else kind
