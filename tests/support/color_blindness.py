"""Colors as color-blind people see them."""

from __future__ import annotations

from tokentui.core.colors import channels, distance, linear

_SEEN = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900)),
}
"""The matrices for full severity of Machado, Oliveira and Fernandes: A physiologically-based model for
simulation of color vision deficiency (2009)."""


def seen(color: str, kind: str) -> str:
    """Return the color that people with full color vision see as people of this kind see `color`."""
    light = [linear(channel) for channel in channels(color)]
    out = []
    for row in _SEEN[kind]:
        share = min(1.0, max(0.0, sum(a * b for a, b in zip(row, light, strict=True))))
        out.append(round(255 * (12.92 * share if share <= 0.0031308 else 1.055 * share ** (1 / 2.4) - 0.055)))
    return "#" + "".join(f"{channel:02x}" for channel in out)


def least_distance(first: str, second: str) -> float:
    """Return the least distance of two colors for any kind of color blindness."""
    return min(distance(seen(first, kind), seen(second, kind)) for kind in _SEEN)
