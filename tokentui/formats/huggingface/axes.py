"""The axes of a recipe and the steps of a `tokenizer.json`, each from the other."""

from __future__ import annotations

import base64
import functools

from tokentui.formats.huggingface import Pattern, steps
from tokentui.formats.huggingface.steps import Decoder, Normalizer, PreTokenizer, decoder, normalizer
from tokentui.formats.oniguruma import END, pattern_of, translated
from tokentui.formats.sentencepiece.charsmap import rules_of
from tokentui.formats.spec import Refused
from tokentui.recipe import Recipe
from tokentui.text.split import SPACE_MARK, SPLITS, Splitter, spaced

# --- normalizers ---


def normalize_of(step: Normalizer | None) -> tuple[str, ...] | None:
    """The value of the axis `normalize` that does the same, None where there is none."""
    if step is None:
        return ()
    if step.kind == "Sequence":
        found = [normalize_of(one) for one in step.steps]
        return None if None in found else tuple(name for one in found for name in one or ())
    if step.kind == "BertNormalizer":
        clean, ideographs, accents, lower = step.given.values()
        if clean and ideographs and accents in (None, lower):
            return ("bert-uncased",) if lower else ("bert-cased",)
    return (steps.PLAIN[step.kind],) if step.kind in steps.PLAIN else None


def normalizer_of(recipe: Recipe) -> Normalizer | None:
    """The normalizer of the axis `normalize`, and of the ▁ in front where it stands before every text.

    Raises:
        Refused: There is none.
    """
    found: list[Normalizer] = []
    for name in recipe.normalize:
        plain = next((type_ for type_, value in steps.PLAIN.items() if value == name), "")
        if name in ("bert-uncased", "bert-cased"):
            found.append(normalizer("BertNormalizer", clean_text=True, handle_chinese_chars=True,
                                    strip_accents=None, lowercase=name == "bert-uncased"))
        elif name == "nmt-nfkc":
            found += [precompiled(rules_of((name,))[0]), *squeezed()]
        elif plain:
            found.append(normalizer(plain))
        else:
            raise Refused(f"it normalises text by {name}", "", "no step of Hugging Face's is known to do it")
    if _is_prepended(recipe):
        found += marked(spaced(recipe))
    return normalized_in_a_row(found)


def _is_prepended(recipe: Recipe) -> bool:
    """Return whether the normalizer writes ▁ for spaces: where a text gets a ▁ in front even before a space.
    """
    plain = not recipe.normalize and not recipe.symbols
    return plain and recipe.split == "metaspace" and recipe.pieces != "any"


def precompiled(blob: bytes) -> Normalizer:
    """sentencepiece's rules."""
    return normalizer("Precompiled", precompiled_charsmap=base64.b64encode(blob).decode("ascii"))


def _replaced(pattern: str, content: str) -> Normalizer:
    return normalizer("Replace", pattern=Pattern("Regex", pattern), content=content)


def squeezed() -> list[Normalizer]:
    """The steps that make one space of many, and none of those at both ends."""
    return [_replaced(" {2,}", " "), _replaced(rf"(?<![\s\S]) | {END}", "")]


def marked(spaced: bool) -> list[Normalizer]:
    """The steps that write ▁ for spaces, and one in front where asked for."""
    return [*([normalizer("Prepend", prepend=SPACE_MARK)] if spaced else []), _replaced(" ", SPACE_MARK)]


def normalized_in_a_row(found: list[Normalizer]) -> Normalizer | None:
    """Several steps as one, None for none."""
    return normalizer("Sequence", normalizers=tuple(found)) if len(found) > 1 else found[0] if found else None


# --- pre-tokenizers ---


def _split_at(pattern: str, behavior: str, invert: bool = False) -> PreTokenizer:
    return steps.pre_tokenizer("Split", pattern=Pattern("Regex", pattern), behavior=behavior, invert=invert)


def _byte_level(use_regex: bool, space: bool = False) -> PreTokenizer:
    return steps.pre_tokenizer("ByteLevel", add_prefix_space=space, trim_offsets=True, use_regex=use_regex)


_FALCON = (
    steps.pre_tokenizer("Punctuation", behavior="Contiguous"), _byte_level(True),
    steps.pre_tokenizer("Digits", individual_digits=False), _split_at("[0-9][0-9][0-9]", "Isolated"),
)


def _parts(step: PreTokenizer | None) -> tuple[PreTokenizer, ...]:
    """The steps of a sequence, or the one step."""
    return () if step is None else step.steps if step.kind == "Sequence" else (step,)


def split_of(step: PreTokenizer | None) -> str | None:
    """The value of the axis `split` that does the same, None where there is none."""
    parts = _parts(step)
    kinds = [one.kind for one in parts]
    if any(one.kind == "ByteLevel" and one.given["add_prefix_space"] for one in parts):
        return None
    cuts = [one.given["use_regex"] for one in parts if one.kind == "ByteLevel"]
    match kinds:
        case []:
            return "none" if step is None else None
        case ["Sequence"]:
            return split_of(parts[0])
        case ["ByteLevel"]:
            return "gpt2" if cuts[0] else "none"
        case ["BertPreTokenizer"]:
            return "bert"
        case ["WhitespaceSplit"]:
            return "whitespace"
        case ["Split", "ByteLevel"] if not cuts[0]:
            name = _known().get(_regex_of(parts[0]) or "")
            # Where a pattern's matches are all of the text, keeping the rest and dropping it are the same.
            return (
                name if name is not None and (SPLITS[name].keeps_spaces or parts[0].given["invert"]) else None
            )
        case ["Punctuation", "ByteLevel", "Digits", "Split"] if cuts[0]:
            return "falcon" if all(one == like or one.kind == "ByteLevel"
                                   for one, like in zip(parts, _FALCON, strict=True)) else None
    return None


_OTHER_STEPS = ("none", "words")
"""Splits that are no pattern in such a file: no step at all, and the step `Whitespace`."""


@functools.cache
def _known() -> dict[str, str]:
    """The splits that a pattern alone makes, by the translations of their patterns."""
    return {
        translated(pattern_of(one.name)): one.name
        for one in SPLITS.values()
        if one.kind is Splitter and not one.plain and one.name not in _OTHER_STEPS
    }


def _regex_of(cut: PreTokenizer) -> str | None:
    """The translation of a pattern; None for mere text, and where what it finds is joined to others."""
    behavior, pattern = cut.given["behavior"], cut.given["pattern"]
    keeps = behavior in ("Isolated", "Removed") and (behavior == "Removed") == cut.given["invert"]
    if not isinstance(pattern, Pattern) or pattern.kind != "Regex" or not pattern.text or not keeps:
        return None
    return translated(pattern.text)


def pattern_alone(step: PreTokenizer | None) -> str | None:
    """`regex:` and the pattern of the one step that cuts, None where there are others."""
    cutting = [one for one in _parts(step) if one.kind != "ByteLevel" or one.given["use_regex"]
               or one.given["add_prefix_space"]]
    found = _regex_of(cutting[0]) if [one.kind for one in cutting] == ["Split"] else None
    return f"regex:{found}" if found else None


def pre_tokenizer_of(recipe: Recipe) -> PreTokenizer | None:
    """The pre-tokenizer of the axes `split` and `unit`.

    Raises:
        Refused: There is none.
    """
    cut, byte_level = recipe.split, recipe.unit == "byte"
    if byte_level and cut == "gpt2":
        return _byte_level(True, spaced(recipe))
    if cut == "falcon":
        if not byte_level:
            raise Refused("Falcon's split cuts between bytes, and the units are no bytes", "")
        return steps.pre_tokenizer("Sequence", pretokenizers=_FALCON)
    if spaced(recipe) and cut != "metaspace":
        raise Refused("a space in front of a text goes with split=gpt2 of bytes, or with split=metaspace", "",
                      "leave it out")
    if _is_prepended(recipe):
        return _split_at(SPACE_MARK, "MergedWithNext")
    found: list[PreTokenizer] = [] if cut == "none" else [_cut(cut, recipe)]
    found += [_byte_level(False)] if byte_level else []
    return (
        steps.pre_tokenizer("Sequence", pretokenizers=tuple(found))
        if len(found) > 1
        else found[0]
        if found
        else None
    )


def _cut(name: str, recipe: Recipe) -> PreTokenizer:
    if name == "whitespace":
        return steps.pre_tokenizer("WhitespaceSplit")
    if name == "space":
        return steps.pre_tokenizer("CharDelimiterSplit", delimiter=" ")
    if name == "bert":
        return steps.pre_tokenizer("BertPreTokenizer")
    if name == "metaspace":
        # Each text between two symbols is a separate text there: only the first gets a ▁.
        scheme = "never" if not spaced(recipe) else "first" if recipe.symbols else "always"
        return steps.pre_tokenizer("Metaspace", replacement=SPACE_MARK, prepend_scheme=scheme, split=True)
    if name in SPLITS and SPLITS[name].kind is not Splitter:
        raise Refused(f"split={name} is more than a pattern", "",
                      "no step of Hugging Face's is known to do it")
    keeps = not name.startswith("regex:") and SPLITS[name].keeps_spaces
    # Text outside the matches of a pattern is removed; a pattern that keeps spaces matches all of a text.
    return _split_at(pattern_of(name), "Isolated" if keeps else "Removed", not keeps)


# --- decoders ---


def decoder_of(recipe: Recipe) -> Decoder:
    """The decoder that gives the text that the recipe's own rules give."""
    mark = recipe.mark_text
    if recipe.unit == "byte":
        bytes_ = decoder("ByteLevel", add_prefix_space=True, trim_offsets=True, use_regex=True)
        if recipe.mark_kind != "end-suffix":
            return bytes_
        return decoder("Sequence", decoders=(bytes_, _spaces_for(mark), _stripped(0, 1)))
    if recipe.mark_kind == "prefix":
        return decoder("WordPiece", prefix=mark, cleanup=False)
    if recipe.mark_kind == "end-suffix":
        return decoder("BPEDecoder", suffix=mark)
    if recipe.split == "metaspace":
        return decoder_of_marks(recipe.unknown == "byte-fallback", spaced(recipe))
    return decoder("Fuse")


def _spaces_for(mark: str) -> Decoder:
    return decoder("Replace", pattern=Pattern("String", mark), content=" ")


def _stripped(start: int, stop: int) -> Decoder:
    return decoder("Strip", content=" ", start=start, stop=stop)


def decoder_of_marks(fallback: bool, spaced: bool = True) -> Decoder:
    """Spaces for ▁, bytes for byte tokens, and not the space in front, where one was set there."""
    found = [_spaces_for(SPACE_MARK), *([decoder("ByteFallback")] if fallback else []), decoder("Fuse"),
             *([_stripped(1, 0)] if spaced else [])]
    return decoder("Sequence", decoders=tuple(found))
