"""Convert between the axes of a recipe and the steps of a `tokenizer.json`.

Steps are JSON values here.
"""

from __future__ import annotations

import base64
import functools

from tokentui.formats.huggingface import Pattern
from tokentui.formats.huggingface.steps import PLAIN, NormalizerStep, PreTokenizerStep, read_step
from tokentui.formats.source import Node
from tokentui.formats.spec import Unsupported
from tokentui.recipe import Recipe
from tokentui.text.split import SPACE_MARK, SPLITS, spaced

Json = dict[str, object]


def _step(kind: str, **keys: object) -> Json:
    return {"type": kind, **keys}


def in_a_row(stage: str, steps: list[Json]) -> Json | None:
    """Return several steps as one sequence; a single step unchanged; None for none."""
    return _step("Sequence", **{stage: steps}) if len(steps) > 1 else steps[0] if steps else None


# --- normalizers ---

_BERT = _step("BertNormalizer", clean_text=True, handle_chinese_chars=True, strip_accents=None)
_NORMALIZERS: dict[str, Json] = {
    **{value: _step(kind) for kind, value in PLAIN.items()},
    "bert-uncased": {**_BERT, "lowercase": True}, "bert-cased": {**_BERT, "lowercase": False},
}
"""The values of the axis `normalize` that are one normalizer. Accents are stripped with the case unless the
file says otherwise."""


def normalize_of(step: NormalizerStep | None) -> tuple[str, ...] | None:
    """Return the value of the axis `normalize` that equals a step, or None."""
    if step is None:
        return ()
    if step.kind == "Sequence":
        values = [normalize_of(part) for part in step.steps]
        return None if None in values else tuple(name for names in values for name in names or ())
    as_json = {"type": step.kind, **step.parameters}
    if "strip_accents" in as_json and as_json["strip_accents"] == as_json["lowercase"]:
        as_json["strip_accents"] = None
    return next(((name,) for name, json in _NORMALIZERS.items() if json == as_json), None)


def normalizer_of(recipe: Recipe) -> Json | None:
    """Return the normalizer for the axis `normalize` of a recipe, including a ▁ in front of each text.

    Raises:
        Unsupported: No normalizer does the same.
    """
    steps: list[Json] = []
    for name in recipe.normalize:
        if name == "nmt-nfkc":
            from tokentui.formats.sentencepiece.charsmap import rules_of  # only writing needs it

            steps += [precompiled(rules_of((name,))[0]), *squeezed()]
        elif name in _NORMALIZERS:
            steps.append(_NORMALIZERS[name])
        else:
            raise Unsupported(
                f"it normalizes text with {name}", "", "Hugging Face has no step for it"
            )
    if _is_prepended(recipe):
        steps += marked(spaced(recipe))
    return in_a_row("normalizers", steps)


def _is_prepended(recipe: Recipe) -> bool:
    """Return whether the normalizer writes ▁ for spaces, because a text gets a ▁ in front even before a
    space."""
    plain = not recipe.normalize and not recipe.symbols
    return plain and recipe.split == "metaspace" and recipe.pieces != "any"


def precompiled(blob: bytes) -> Json:
    """Return the step for sentencepiece's precompiled rules."""
    return _step("Precompiled", precompiled_charsmap=base64.b64encode(blob).decode("ascii"))


def _replaced(pattern: str, content: str, kind: str = "Regex") -> Json:
    return _step("Replace", pattern={kind: pattern}, content=content)


def squeezed() -> list[Json]:
    """Return the steps that reduce runs of spaces to one and remove spaces at both ends."""
    from tokentui.formats.oniguruma import END

    return [_replaced(" {2,}", " "), _replaced(rf"(?<![\s\S]) | {END}", "")]


def marked(spaced: bool) -> list[Json]:
    """Return the steps that write ▁ for spaces. If `spaced`, the text also gets a ▁ in front."""
    return [*([_step("Prepend", prepend=SPACE_MARK)] if spaced else []), _replaced(" ", SPACE_MARK)]


# --- pre-tokenizers ---


def _split_at(pattern: str, behavior: str, invert: bool = False) -> Json:
    return _step("Split", pattern={"Regex": pattern}, behavior=behavior, invert=invert)


def _byte_level(use_regex: bool, space: bool = False) -> Json:
    return _step("ByteLevel", add_prefix_space=space, trim_offsets=True, use_regex=use_regex)


_FALCON = [
    _step("Punctuation", behavior="Contiguous"), _byte_level(True),
    _step("Digits", individual_digits=False), _split_at("[0-9][0-9][0-9]", "Isolated"),
]
_ALONE = {"whitespace": _step("WhitespaceSplit"), "bert": _step("BertPreTokenizer"),
          "space": _step("CharDelimiterSplit", delimiter=" ")}
"""The splits that have a step of their own."""


def _parts(step: PreTokenizerStep | None) -> tuple[PreTokenizerStep, ...]:
    """Return the steps of a sequence, or the one step."""
    return () if step is None else step.steps if step.kind == "Sequence" else (step,)


def split_of(step: PreTokenizerStep | None) -> str | None:
    """Return the value of the axis `split` that equals a step, or None."""
    parts = _parts(step)
    levels = [part.parameters for part in parts if part.kind == "ByteLevel"]
    if any(level["add_prefix_space"] for level in levels):
        return None
    cuts = any(level["use_regex"] for level in levels)
    match [part.kind for part in parts]:
        case []:
            return "none" if step is None else None
        case ["Sequence"]:
            return split_of(parts[0])
        case ["ByteLevel"]:
            return "gpt2" if cuts else "none"
        case ["BertPreTokenizer"]:
            return "bert"
        case ["WhitespaceSplit"]:
            return "whitespace"
        case ["Split", "ByteLevel"] if not cuts:
            name = _known().get(_regex_of(parts[0]) or "")
            # If the matches of a pattern cover all of a text, keeping the rest and dropping it are the same.
            known = name is not None and (SPLITS[name].keeps_spaces or parts[0].parameters["invert"])
            return name if known else None
        case ["Punctuation", "ByteLevel", "Digits", "Split"] if cuts:
            falcon: PreTokenizerStep = read_step(
                Node(in_a_row("pretokenizers", _FALCON), ""), "pretokenizers"
            )
            same = zip(parts, falcon.steps, strict=True)
            return "falcon" if all(part == like or part.kind == "ByteLevel" for part, like in same) else None
    return None


_OTHER_STEPS = ("none", "whitespace", "words")
"""Splits that are not a pattern in such a file: no step, `WhitespaceSplit` and `Whitespace`."""


@functools.cache
def _known() -> dict[str, str]:
    """Return the splits that are a single pattern, by the translations of their patterns."""
    from tokentui.formats.oniguruma import pattern_of, translated

    return {translated(pattern_of(split.name)): split.name for split in SPLITS.values()
            if split.is_pattern and split.pattern and not split.plain and split.name not in _OTHER_STEPS}


def _regex_of(cut: PreTokenizerStep) -> str | None:
    """Return the pattern of a `Split` step, translated for `regex`, if its matches are the words.

    Returns None for literal text and an empty pattern; for each behavior but Isolated and Removed; for
    Isolated with `invert`, and for Removed without it, as both keep something else than the matches.
    """
    behavior, pattern = cut.parameters["behavior"], cut.parameters["pattern"]
    keeps = behavior in ("Isolated", "Removed") and (behavior == "Removed") == cut.parameters["invert"]
    if not isinstance(pattern, Pattern) or pattern.kind != "Regex" or not pattern.text or not keeps:
        return None
    from tokentui.formats.oniguruma import translated

    return translated(pattern.text)


def pattern_alone(step: PreTokenizerStep | None) -> str | None:
    """Return `regex:` and the pattern, if the pre-tokenizer cuts by a single pattern; else None."""
    cutting = [part for part in _parts(step) if part.kind != "ByteLevel" or part.parameters["use_regex"]
               or part.parameters["add_prefix_space"]]
    pattern = _regex_of(cutting[0]) if [part.kind for part in cutting] == ["Split"] else None
    return f"regex:{pattern}" if pattern else None


def pre_tokenizer_of(recipe: Recipe) -> Json | None:
    """Return the pre-tokenizer for the axes `split` and `unit` of a recipe.

    Raises:
        Unsupported: No pre-tokenizer does the same.
    """
    cut, byte_level = recipe.split, recipe.unit == "byte"
    if byte_level and cut == "gpt2":
        return _byte_level(True, spaced(recipe))
    if cut == "falcon":
        if not byte_level:
            raise Unsupported("Falcon's split cuts between bytes, and the units are not bytes", "")
        return in_a_row("pretokenizers", _FALCON)
    if spaced(recipe) and cut != "metaspace":
        raise Unsupported(
            "a space before the text needs split=gpt2 with bytes, or split=metaspace", "",
            "leave it out",
        )
    if _is_prepended(recipe):
        return _split_at(SPACE_MARK, "MergedWithNext")
    steps = [] if cut == "none" else [_cut(cut, recipe)]
    return in_a_row("pretokenizers", [*steps, _byte_level(False)] if byte_level else steps)


def _cut(name: str, recipe: Recipe) -> Json:
    """Return the pre-tokenizer step for a split.

    Raises:
        Unsupported: The split is more than a pattern.
    """
    if name in _ALONE:
        return _ALONE[name]
    if name == "metaspace":
        # There, each text between two symbols is separate, and only the first one gets a ▁.
        scheme = "never" if not spaced(recipe) else "first" if recipe.symbols else "always"
        return _step("Metaspace", replacement=SPACE_MARK, prepend_scheme=scheme, split=True)
    if name in SPLITS and not SPLITS[name].is_pattern:
        raise Unsupported(f"split={name} is more than a pattern", "",
                      "Hugging Face has no step for it")
    from tokentui.formats.oniguruma import pattern_of

    keeps = not name.startswith("regex:") and SPLITS[name].keeps_spaces
    # Text outside the matches is removed. A pattern that keeps spaces matches all of a text.
    return _split_at(pattern_of(name), "Isolated" if keeps else "Removed", not keeps)


# --- decoders ---


def decoder_of(recipe: Recipe) -> Json:
    """Return a decoder that gives the same text as the rules of the recipe."""
    mark = recipe.mark_text
    if recipe.unit == "byte":
        bytes_ = _step("ByteLevel", add_prefix_space=True, trim_offsets=True, use_regex=True)
        if recipe.mark_kind != "end-suffix":
            return bytes_
        return _step("Sequence", decoders=[bytes_, _replaced(mark, " ", "String"), _stripped(0, 1)])
    if recipe.mark_kind == "prefix":
        return _step("WordPiece", prefix=mark, cleanup=False)
    if recipe.mark_kind == "end-suffix":
        return _step("BPEDecoder", suffix=mark)
    if recipe.split == "metaspace":
        return decoder_of_marks(recipe.unknown == "byte-fallback", spaced(recipe))
    return _step("Fuse")


def _stripped(start: int, stop: int) -> Json:
    return _step("Strip", content=" ", start=start, stop=stop)


def decoder_of_marks(fallback: bool, spaced: bool = True) -> Json:
    """Return a decoder for ▁ as spaces and for byte tokens.

    Args:
        fallback: True for byte tokens.
        spaced: True to remove the leading space that encoding added.
    """
    steps = [_replaced(SPACE_MARK, " ", "String"), *([_step("ByteFallback")] if fallback else []),
             _step("Fuse"), *([_stripped(1, 0)] if spaced else [])]
    return _step("Sequence", decoders=steps)
