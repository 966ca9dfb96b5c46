"""The steps of a `tokenizer.json` that do what the axes of a recipe say.

Patterns are Oniguruma's there: a counted repeat cannot be possessive, and `$` is the end of a line.
"""

from __future__ import annotations

import base64
from typing import Any

from tokentui.formats.body import Refused
from tokentui.formats.charsmap_build import rules_of
from tokentui.recipe import Recipe
from tokentui.text.split import SPACE_MARK, SPLITS

Spec = dict[str, Any]

_PLAIN = {
    "lowercase": "Lowercase", "nfc": "NFC", "nfd": "NFD", "nfkc": "NFKC", "nfkd": "NFKD", "strip-accents": "StripAccents",
}
_END = r"(?![\s\S])"
_ENDS = rf"(?<![\s\S]) | {_END}"


def pattern_of(split: str) -> str:
    """A split's pattern in Oniguruma's syntax."""
    if split.startswith("regex:"):
        return split.removeprefix("regex:")
    return SPLITS[split].pattern.replace("{1,3}+", "{1,3}").replace(r"\s++$", r"\s++" + _END).replace("(?s).+", r"[\s\S]+")


def normalizer_of(recipe: Recipe) -> Spec | None:
    """The normalizer of the axis `normalize`."""
    return sequence("normalizers", [spec for step in recipe.normalize for spec in _normalizer(step)])


def _normalizer(step: str) -> list[Spec]:
    if step in ("bert-uncased", "bert-cased"):
        lower = step == "bert-uncased"
        return [{"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                 "lowercase": lower}]
    if step == "nmt-nfkc":
        return [precompiled(rules_of((step,))[0]), *squeezed()]
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


def _byte_level(use_regex: bool) -> Spec:
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}


def pre_tokenizer_of(recipe: Recipe) -> Spec | None:
    """The pre-tokenizer of the axes `split` and `unit`.

    Raises:
        Refused: There is none.
    """
    split = recipe.split
    if recipe.unit == "byte" and split == "gpt2":
        return _byte_level(True)
    if split == "falcon":
        if recipe.unit != "byte":
            raise Refused("Falcon's split cuts between bytes, and the units are no bytes", "")
        return sequence("pretokenizers", [
            {"type": "Punctuation", "behavior": "Contiguous"}, _byte_level(True), {"type": "Digits", "individual_digits": False},
            {"type": "Split", "pattern": {"Regex": "[0-9][0-9][0-9]"}, "behavior": "Isolated", "invert": False},
        ])
    steps = [] if split == "none" else [_cut(split)]
    return sequence("pretokenizers", steps + ([_byte_level(False)] if recipe.unit == "byte" else []))


def _cut(split: str) -> Spec:
    if split == "whitespace":
        return {"type": "WhitespaceSplit"}
    if split == "space":
        return {"type": "CharDelimiterSplit", "delimiter": " "}
    if split == "bert":
        return {"type": "BertPreTokenizer"}
    if split == "metaspace":
        return {"type": "Metaspace", "replacement": SPACE_MARK, "prepend_scheme": "always", "split": True}
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
        return metaspace_decoder(recipe.unknown == "byte-fallback")
    return {"type": "Fuse"}


def metaspace_decoder(fallback: bool) -> Spec:
    """Spaces for ▁, bytes for byte tokens, and not the space in front."""
    steps: list[Spec] = [{"type": "Replace", "pattern": {"String": SPACE_MARK}, "content": " "}]
    steps += [{"type": "ByteFallback"}] if fallback else []
    steps += [{"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]
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
