"""What becomes of the parts of a word that the vocabulary lacks: one policy a value of the axis `unknown`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tokentui.encode.segment.parts import Marks, Part

Policy = Callable[[list[Part], Sequence[bytes], Marks], list[Part]]


def _keep(parts: list[Part], units: Sequence[bytes], marks: Marks) -> list[Part]:
    return parts


def _drop(parts: list[Part], units: Sequence[bytes], marks: Marks) -> list[Part]:
    return [part for part in parts if not part.unknown]


def _fused(parts: list[Part], units: Sequence[bytes], marks: Marks) -> list[Part]:
    fused: list[Part] = []
    for part in parts:
        if part.unknown and fused and fused[-1].unknown:
            fused[-1] = fused[-1]._replace(end=part.end)
        else:
            fused.append(part)
    return fused


def _rest_of_word(parts: list[Part], units: Sequence[bytes], marks: Marks) -> list[Part]:
    for n, part in enumerate(parts):
        if part.unknown:
            return [*parts[:n], Part(part.start, len(units))]
    return parts


def _whole_word(parts: list[Part], units: Sequence[bytes], marks: Marks) -> list[Part]:
    return [Part(0, len(units))] if any(part.unknown for part in parts) else parts


def _byte_fallback(parts: list[Part], units: Sequence[bytes], marks: Marks) -> list[Part]:
    spelled: list[Part] = []
    for part in parts:
        if part.unknown:
            for at in range(part.start, part.end):
                spelled += [Part(at, at + 1, byte=value) for value in marks.bare(units[at])]
        else:
            spelled.append(part)
    return spelled


POLICIES: dict[str, Policy] = {
    # What `never` and `error` leave is refused by the caller, who knows where it stands.
    "never": _keep,
    "error": _keep,
    "drop": _drop,
    "per-unit": _keep,
    "fused": _fused,
    "rest-of-word": _rest_of_word,
    "whole-word": _whole_word,
    "byte-fallback": _byte_fallback,
    "pass-through": _keep,
}
"""The policies by name: each takes the parts of a word, its units and their marks, and gives the parts that stand."""

REFUSES = frozenset({"never", "error"})
"""The policies by which a text with an unknown unit is refused."""
