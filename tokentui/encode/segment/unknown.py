"""Unknown units: the treatment of the parts of a word that the vocabulary lacks.

Each value of the axis `unknown` has one record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tokentui.core.choices import Axis, Choice, Refusal
from tokentui.encode.segment.parts import Part
from tokentui.recipe import Recipe

Bare = Callable[[bytes], bytes]
"""A unit without its mark."""
Policy = Callable[[list[Part], Sequence[bytes], Bare], list[Part]]


def _keep(parts: list[Part], units: Sequence[bytes], bare: Bare) -> list[Part]:
    return parts


def _drop(parts: list[Part], units: Sequence[bytes], bare: Bare) -> list[Part]:
    return [part for part in parts if not part.unknown]


def _fused(parts: list[Part], units: Sequence[bytes], bare: Bare) -> list[Part]:
    fused: list[Part] = []
    for part in parts:
        if part.unknown and fused and fused[-1].unknown:
            fused[-1] = fused[-1]._replace(end=part.end)
        else:
            fused.append(part)
    return fused


def _rest_of_word(parts: list[Part], units: Sequence[bytes], bare: Bare) -> list[Part]:
    for n, part in enumerate(parts):
        if part.unknown:
            return [*parts[:n], Part(part.start, len(units))]
    return parts


def _whole_word(parts: list[Part], units: Sequence[bytes], bare: Bare) -> list[Part]:
    return [Part(0, len(units))] if any(part.unknown for part in parts) else parts


def _byte_fallback(parts: list[Part], units: Sequence[bytes], bare: Bare) -> list[Part]:
    spelled: list[Part] = []
    for part in parts:
        if part.unknown:
            for at in range(part.start, part.end):
                spelled += [Part(at, at + 1, byte=value) for value in bare(units[at])]
        else:
            spelled.append(part)
    return spelled


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(Choice):
    """A treatment of the parts of a word that the vocabulary lacks.

    Attributes:
        policy: Returns the parts to use, by the parts of a word, its units and a function that removes a
            unit's mark.
        refused: True if a text with an unknown unit is an error. The caller raises it: it knows the place.
        sure: True if no unit is ever unknown.
        first: True if the rest of a word after its first unknown place is ignored.
        drops: True if unknown units are dropped before a word is cut, so that their neighbours meet.
        keeps: True if an unknown part stays in the output unchanged, without an id.
        spells: True if the vocabulary has a token for each byte, `<0x41>`, which spell unknown units.
    """

    policy: Policy = _keep
    refused: bool = False
    sure: bool = False
    first: bool = False
    drops: bool = False
    keeps: bool = False
    spells: bool = False


def _of_characters(recipe: Recipe) -> Refusal | None:
    if recipe.unit == "byte":
        takes = ("base=bytes with unknown=never", "unknown=never", "unit=char")
        return Refusal("unknown", "the units are bytes already", takes)
    return None


def _of_merges(recipe: Recipe) -> Refusal | None:
    if recipe.encode != "merges":
        what = "only merges leave a piece without an id as it is"
        return Refusal("unknown", what, ("unknown=error", "encode=merges"))
    return None


def _of_bytes(recipe: Recipe) -> Refusal | None:
    if recipe.base not in ("bytes", "gpt2-bytes"):
        takes = ("unknown=error", "unit=byte with base=bytes")
        return Refusal("unknown", "a unit that the corpus lacks can come", takes)
    return None


UNKNOWN = Axis(
    "unknown", "what becomes of a unit that the vocabulary lacks",
    Unknown("never", "cannot happen: every byte is there", refused=True, sure=True, first=True, refuses=_of_bytes),
    Unknown("error", "an error that names it", refused=True, first=True),
    Unknown("drop", "it is left out", policy=_drop, drops=True),
    Unknown("per-unit", "one unknown token each"),
    Unknown("fused", "one unknown token for a run of them", policy=_fused),
    Unknown("rest-of-word", "one unknown token for it and the rest of its word", policy=_rest_of_word, first=True),
    Unknown("whole-word", "one unknown token for the whole word", policy=_whole_word, first=True),
    Unknown("byte-fallback", "its bytes, as tokens <0xNN>", policy=_byte_fallback, spells=True, refuses=_of_characters),
    Unknown("pass-through", "it stands in the output as it is, without an id", keeps=True, refuses=_of_merges),
)
"""The ways to treat unknown units, by name."""
