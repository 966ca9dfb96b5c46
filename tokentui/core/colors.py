"""Contrast of two colors, and their distance as people see it. A color is `#rrggbb`."""

from __future__ import annotations

import math
from functools import lru_cache

_WHITE = 0.95047, 1.0, 1.08883
"""The white of daylight (D65), which sRGB uses."""


def channels(color: str) -> tuple[int, int, int]:
    """Return the red, green and blue of a color, 0 to 255."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def linear(channel: float) -> float:
    """Return the light of a channel of sRGB, 0 to 1."""
    share = channel / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


@lru_cache(4096)
def luminance(color: str) -> float:
    """Return the relative luminance of a color, as WCAG 2 defines it."""
    red, green, blue = map(linear, channels(color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    """Return the contrast of two colors, 1 to 21, as WCAG 2 defines it."""
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def mix(color: str, other: str, share: float) -> str:
    """Return a color with a share of another one, 0 to 1."""
    mixed = [round(a + (b - a) * share)
        for a, b in zip(channels(color), channels(other), strict=True)]
    return "#" + "".join([f"{channel:02x}" for channel in mixed])


def _root(share: float) -> float:
    return share ** (1 / 3) if share > 216 / 24389 else (24389 / 27 * share + 16) / 116


@lru_cache(4096)
def lab(color: str) -> tuple[float, float, float]:
    """Return a color in CIELAB."""
    red, green, blue = map(linear, channels(color))
    x = 0.4124564 * red + 0.3575761 * green + 0.1804375 * blue
    y = 0.2126729 * red + 0.7151522 * green + 0.0721750 * blue
    z = 0.0193339 * red + 0.1191920 * green + 0.9503041 * blue
    fx, fy, fz = (_root(value / white) for value, white in zip((x, y, z), _WHITE, strict=True))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def distance(first: str, second: str) -> float:
    """Return the distance of two colors by CIEDE2000; of 1, people just see a difference."""
    return lab_distance(lab(first), lab(second))


def lab_distance(first: tuple[float, float, float], second: tuple[float, float, float]) -> float:
    """Return the distance of two colors in CIELAB by CIEDE2000.

    The formulas and their names are those of Sharma, Wu and Dalal: The CIEDE2000 color-difference formula
    (2005).
    """
    (light_1, a1, b1), (light_2, a2, b2) = first, second
    c7 = ((math.hypot(a1, b1) + math.hypot(a2, b2)) / 2) ** 7
    g = 0.5 * (1 - math.sqrt(c7 / (c7 + 25**7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    delta_h = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    delta_hue = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(delta_h / 2))
    light, chroma, hue = (light_1 + light_2) / 2, (c1 + c2) / 2, h1 + h2
    if c1 * c2:
        hue = hue / 2 if abs(h1 - h2) <= 180 else (hue + 360) / 2 if hue < 360 else (hue - 360) / 2
    t = (1 - 0.17 * _cos(hue - 30) + 0.24 * _cos(2 * hue) + 0.32 * _cos(3 * hue + 6)
        - 0.20 * _cos(4 * hue - 63))
    c7 = chroma**7
    turn = -math.sin(math.radians(60 * math.exp(-(((hue - 275) / 25) ** 2)))) * 2
    turn *= math.sqrt(c7 / (c7 + 25**7))
    by_light = (light_2 - light_1) / (1 + 0.015 * (light - 50) ** 2 / math.sqrt(20 + (light - 50) ** 2))
    by_chroma = (c2 - c1) / (1 + 0.045 * chroma)
    by_hue = delta_hue / (1 + 0.015 * chroma * t)
    return math.sqrt(by_light**2 + by_chroma**2 + by_hue**2 + turn * by_chroma * by_hue)


def _cos(degrees: float) -> float:
    return math.cos(math.radians(degrees))
