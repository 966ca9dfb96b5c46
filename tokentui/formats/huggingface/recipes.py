"""The steps of a `tokenizer.json` that do what the axes of a recipe say.

Patterns are Oniguruma's there: a counted repeat cannot be possessive, and `$` is the end of a line.
"""

from __future__ import annotations

import base64
from typing import Any

from tokentui.formats.body import Refused
from tokentui.formats.charsmap_build import rules_of
from tokentui.formats.oniguruma.known import END, pattern_of
from tokentui.recipe import Recipe
from tokentui.text.split import SPACE_MARK, SPLITS, Splitter

Spec = dict[str, Any]

_PLAIN = {
    "lowercase": "Lowercase", "nfc": "NFC", "nfd": "NFD", "nfkc": "NFKC", "nfkd": "NFKD", "strip-accents": "StripAccents",
}
_ENDS = rf"(?<![\s\S]) | {END}"


def normalizer_of(recipe: Recipe) -> Spec | None:
    """The normalizer of the axis `normalize`, and of the ▁ in front where it stands before every text."""
    steps = [spec for step in recipe.normalize for spec in _normalizer(step)]
    if is_prepended(recipe):
        steps += [{"type": "Prepend", "prepend": SPACE_MARK}] if recipe.spaced else []
        steps += [replaced(" ", SPACE_MARK)]
    return sequence("normalizers", steps)


def is_prepended(recipe: Recipe) -> bool:
    """Whether the normalizer writes ▁ for spaces: where a text gets a ▁ in front even before a space."""
    return recipe.split == "metaspace" and recipe.pieces != "any" and not recipe.normalize and not recipe.symbols


def _normalizer(step: str) -> list[Spec]:
    if step in ("bert-uncased", "bert-cased"):
        lower = step == "bert-uncased"
        return [{"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                 "lowercase": lower}]
    if step == "nmt-nfkc":
        return [precompiled(rules_of((step,))[0]), *squeezed()]
    if step not in _PLAIN:
        raise Refused(f"it normalises text by {step}", "", "no step of Hugging Face's is known to do it")
    return [{"type": _PLAIN[step]}]


def precompiled(blob: bytes) -> Spec:
    """sentencepiece's rules."""
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(blob).decode("ascii")}


def squeezed() -> list[Spec]:
    """What makes one space of many, and none of those at both ends."""
    return [replaced(" {2,}", " "), replaced(_ENDS, "")]


def replaced(pattern: str, content: str) -> Spec:
    """A step that puts a text in place of what a pattern finds."""
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def sequence(name: str, steps: list[Spec]) -> Spec | None:
    """Several steps as one."""
    if len(steps) > 1:
        return {"type": "Sequence", name: steps}
    return steps[0] if steps else None


def _byte_level(use_regex: bool, spaced: bool = False) -> Spec:
    return {"type": "ByteLevel", "add_prefix_space": spaced, "trim_offsets": True, "use_regex": use_regex}


def pre_tokenizer_of(recipe: Recipe) -> Spec | None:
    """The pre-tokenizer of the axes `split` and `unit`.

    Raises:
        Refused: There is none.
    """
    split = recipe.split
    if recipe.unit == "byte" and split == "gpt2":
        return _byte_level(True, recipe.spaced)
    if split == "falcon":
        if recipe.unit != "byte":
            raise Refused("Falcon's split cuts between bytes, and the units are no bytes", "")
        return sequence("pretokenizers", [
            {"type": "Punctuation", "behavior": "Contiguous"}, _byte_level(True), {"type": "Digits", "individual_digits": False},
            {"type": "Split", "pattern": {"Regex": "[0-9][0-9][0-9]"}, "behavior": "Isolated", "invert": False},
        ])
    if recipe.spaced and split != "metaspace":
        raise Refused("a space in front of a text goes with split=gpt2 of bytes, or with split=metaspace", "", "leave it out")
    if is_prepended(recipe):
        return {"type": "Split", "pattern": {"Regex": SPACE_MARK}, "behavior": "MergedWithNext", "invert": False}
    steps = [] if split == "none" else [_cut(split, recipe)]
    return sequence("pretokenizers", steps + ([_byte_level(False)] if recipe.unit == "byte" else []))


def _cut(split: str, recipe: Recipe) -> Spec:
    if split == "whitespace":
        return {"type": "WhitespaceSplit"}
    if split == "space":
        return {"type": "CharDelimiterSplit", "delimiter": " "}
    if split == "bert":
        return {"type": "BertPreTokenizer"}
    if split == "metaspace":
        # What stands between two symbols is a text of its own there: only the first gets a ▁.
        scheme = "never" if not recipe.spaced else "first" if recipe.symbols else "always"
        return {"type": "Metaspace", "replacement": SPACE_MARK, "prepend_scheme": scheme, "split": True}
    if split in SPLITS and SPLITS[split].kind is not Splitter:
        raise Refused(f"split={split} is more than a pattern", "", "no step of Hugging Face's is known to do it")
    keeps = not split.startswith("regex:") and SPLITS[split].keeps_spaces
    # What a pattern's matches do not hold goes; where they hold all of a text there is nothing to go.
    behavior, invert = ("Isolated", False) if keeps else ("Removed", True)
    return {"type": "Split", "pattern": {"Regex": pattern_of(split)}, "behavior": behavior, "invert": invert}


def decoder_of(recipe: Recipe) -> Spec:
    """The decoder that gives the text that the recipe's own rules give."""
    kind, mark = recipe.mark_kind, recipe.mark_text
    if recipe.unit == "byte":
        steps: list[Spec] = [{"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}]
        if kind == "end-suffix":
            steps += [{"type": "Replace", "pattern": {"String": mark}, "content": " "},
                      {"type": "Strip", "content": " ", "start": 0, "stop": 1}]
        return sequence("decoders", steps) or {}
    if kind == "prefix":
        return {"type": "WordPiece", "prefix": mark, "cleanup": False}
    if kind == "end-suffix":
        return {"type": "BPEDecoder", "suffix": mark}
    if recipe.split == "metaspace":
        return metaspace_decoder(recipe.unknown == "byte-fallback", recipe.spaced)
    return {"type": "Fuse"}


def metaspace_decoder(fallback: bool, spaced: bool = True) -> Spec:
    """Spaces for ▁, bytes for byte tokens, and not the space in front, where one was set there."""
    steps: list[Spec] = [{"type": "Replace", "pattern": {"String": SPACE_MARK}, "content": " "}]
    steps += [{"type": "ByteFallback"}] if fallback else []
    steps += [{"type": "Fuse"}, *([{"type": "Strip", "content": " ", "start": 1, "stop": 0}] if spaced else [])]
    return {"type": "Sequence", "decoders": steps}


def around_of(before: tuple[str, ...], after: tuple[str, ...], specials: dict[str, int]) -> Spec | None:
    """The post-processor that puts special tokens around a text."""
    if not before and not after:
        return None

    def pieces(second: bool) -> list[Spec]:
        texts = [("A", 0), *([("B", 1)] if second else [])]
        out: list[Spec] = []
        for n, (text, kind) in enumerate(texts):
            out += [{"SpecialToken": {"id": name, "type_id": 0}} for name in before] if not n else []
            out.append({"Sequence": {"id": text, "type_id": kind}})
            out += [{"SpecialToken": {"id": name, "type_id": kind}} for name in after]
        return out

    named = {name: {"id": name, "ids": [specials[name]], "tokens": [name]} for name in (*before, *after)}
    return {"type": "TemplateProcessing", "single": pieces(False), "pair": pieces(True), "special_tokens": named}
