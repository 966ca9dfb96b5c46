"""The steps of a `tokenizer.json` as the rules of a `.model`, where the two say the same.

Converters made such files from models of sentencepiece: Llama 2, Gemma, T5. A `.model` holds a table of
normalization rules, three settings of spaces, and a score for each piece. It ranks pieces where
`tokenizer.json` ranks pairs.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tokentui.core.jobs import each
from tokentui.formats.spec import Spec, Unsupported
from tokentui.text.split import SPACE_MARK

_HINT = "sentencepiece has a table of normalization rules, and settings of spaces"
_MANY = " {2,}"


class TextRules(NamedTuple):
    """The normalization of a `.model`.

    Attributes:
        charsmap: The table of its rules; empty for none.
        prefix: Whether a ▁ is set in front of a text.
        squeeze: Whether spaces at the ends go, and runs of them become one.
        whitespace: Whether all whitespace that the table leaves counts as spaces. A `.model` cannot say it.
        once: Whether a text that begins with ▁ gets no other one. A `.model` cannot say it.
    """

    charsmap: bytes
    prefix: bool
    squeeze: bool
    whitespace: bool = False
    once: bool = False


def text_rules(spec: Spec) -> TextRules:
    """Return the rules that do what the steps of a `tokenizer.json` do.

    Raises:
        Unsupported: A step does more; it names the step.
    """
    stages = spec.vocabulary.file.stages
    charsmap, prefix, squeeze, marked, whitespace, once = b"", False, False, False, False, False
    for step in _steps(stages.get("normalizer"), "normalizers"):
        kind, pattern, content = step.get("type"), step.get("pattern"), step.get("content")
        if kind == "Precompiled" and not marked and not charsmap:
            charsmap = base64.b64decode(str(step.get("precompiled_charsmap") or ""))
        elif kind == "Prepend" and step.get("prepend") == SPACE_MARK and not prefix:
            prefix = True
        elif kind == "Replace" and pattern == {"String": " "} and content == SPACE_MARK:
            marked = True
        elif _squeezes(step):
            squeeze = True
        else:
            raise Unsupported(f"its normalizer {_named(step)} cannot be stored", "", _HINT)
    for step in _steps(stages.get("pre_tokenizer"), "pretokenizers"):
        kind = step.get("type")
        if kind == "WhitespaceSplit" and not marked:
            squeeze = whitespace = True
        elif kind == "Metaspace" and step.get("replacement") == SPACE_MARK and not marked:
            scheme = step.get("prepend_scheme", "always" if step.get("add_prefix_space", True) else "never")
            marked = once = True
            prefix = prefix or scheme != "never"
        elif kind == "Split" and step.get("pattern") == {"String": " "} and marked:
            pass  # no space is left
        else:
            raise Unsupported(f"its pre-tokenizer {_named(step)} cannot be stored", "", _HINT)
    if not marked:
        raise Unsupported("its spaces are not written as ▁", "", "sentencepiece needs ▁")
    return TextRules(charsmap, prefix, squeeze, whitespace, once)


def _squeezes(step: Mapping[str, object]) -> bool:
    """Return whether a normalizer takes spaces away from the ends, or from runs."""
    if step.get("type") == "Strip":
        return step.get("strip_right") is True
    many = step.get("type") == "Replace" and step.get("pattern") == {"Regex": _MANY}
    return many and step.get("content") in (" ", SPACE_MARK)


def _steps(step: object, inner: str) -> Iterator[Mapping[str, object]]:
    """Yield the steps of a sequence, also of one inside another."""
    if isinstance(step, Mapping):
        rows = step.get(inner)
        if step.get("type") == "Sequence" and isinstance(rows, list):
            for row in rows:
                yield from _steps(row, inner)
        else:
            yield step


def _named(step: Mapping[str, object]) -> str:
    pattern = step.get("pattern")
    shown = next(iter(pattern.values()), "") if isinstance(pattern, Mapping) else ""
    return f"{str(step.get('type'))[:40]}" + (f" of {str(shown)[:40]!r}" if shown else "")


def user_defined(spec: Spec) -> frozenset[str]:
    """Return the added tokens of a `tokenizer.json` that plain text can spell."""
    rows = spec.vocabulary.file.stages.get("added_tokens")
    rows = rows if isinstance(rows, list) else []
    return frozenset(str(row.get("content")) for row in rows
                     if isinstance(row, Mapping) and row.get("special") is not True)


def piece_scores(spec: Spec) -> dict[bytes, float]:
    """Return a score for each token that merges make, so that sentencepiece merges in the same order.

    Raises:
        Unsupported: The order of the merges is not an order of tokens, or sentencepiece would merge a pair
            that is no merge of the file.
    """
    if spec.whole:
        raise Unsupported("a word that is a token is not merged (ignore_merges)", "",
                          "sentencepiece always merges")
    rank: dict[bytes, int] = {}
    pairs: set[tuple[bytes, bytes]] = set()
    before = b""
    for left, right, made in spec.rows:
        if made != before and made in rank:
            what = f"the merges of {_shown(made)} are not one after the other"
            raise Unsupported(what, "", "sentencepiece ranks tokens, not pairs")
        rank.setdefault(made, len(rank))
        pairs.add((left, right))
        before = made
    parts = {entry.piece for entry in spec.ordinary if entry.kind != "byte"}
    for piece in each(parts):
        text = piece.decode("utf-8", "surrogateescape")
        for at in range(1, len(text)):
            left, right = (part.encode("utf-8", "surrogateescape") for part in (text[:at], text[at:]))
            if left in parts and right in parts and (left, right) not in pairs:
                what = f"{_shown(left)} and {_shown(right)} are not a merge of the file"
                raise Unsupported(what, "", "sentencepiece merges any two pieces that make a piece")
    return {piece: -float(number) for piece, number in rank.items()}


def _shown(piece: bytes) -> str:
    return repr(piece.decode("utf-8", "replace")[:40])
