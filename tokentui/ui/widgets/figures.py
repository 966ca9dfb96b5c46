"""Numbers and bars as text."""

from __future__ import annotations

from collections.abc import Sequence

_ACROSS = " ▏▎▍▌▋▊▉█"
_UP = " ▁▂▃▄▅▆▇█"


def number(value: int) -> str:
    """`1,234`, with a real minus sign."""
    return f"{value:,}".replace("-", "−")


def signed(value: int) -> str:
    """`+12`, `−3`; nothing for 0."""
    return f"{value:+,}".replace("-", "−") if value else ""


def size(count: int) -> str:
    """Bytes in the unit that a reader would take: `512 B`, `1.2 MB` (powers of ten)."""
    if count < 1000:
        return f"{count} B"
    value = float(count)
    for unit in ("kB", "MB", "GB", "TB"):
        value /= 1000
        if value < 999.5:
            return f"{value:.1f} {unit}" if value < 99.95 else f"{value:.0f} {unit}"
    return f"{value:.0f} TB"


def plural(count: int, one: str, many: str = "") -> str:
    """`1 token`, `2 tokens`."""
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def bar(value: float, whole: float, width: int) -> str:
    """A bar across, in eighths of a cell; something is seen of everything above 0."""
    if whole <= 0 or value <= 0 or width <= 0:
        return ""
    eighths = max(1, min(8 * width, round(8 * width * value / whole)))
    return _ACROSS[8] * (eighths // 8) + _ACROSS[eighths % 8].strip()


def column(value: float, whole: float) -> str:
    """A bar upright, one cell wide, in eighths."""
    if whole <= 0 or value <= 0:
        return " "
    return _UP[max(1, min(8, round(8 * value / whole)))]


def at(values: Sequence[int], end: int, step: float) -> float:
    """The value at a step, of values that stand at evenly spread steps from 0 to `end`."""
    if not values:
        return 0.0
    if len(values) == 1 or end <= 0:
        return float(values[0])
    place = min(max(step / end, 0.0), 1.0) * (len(values) - 1)
    left = min(int(place), len(values) - 2)
    return values[left] + (values[left + 1] - values[left]) * (place - left)
