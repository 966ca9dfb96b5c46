"""The steps of an opened tokenizer in the order of encoding, each in a line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from tokentui.encode.segment import ENCODING_WAYS
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.replay.segmentations import ORDER_SENTENCES, TokenOrder
from tokentui.session.views import OpenedView, StageView
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.remote import base_name, is_remote, is_url
from tokentui.text.unicode import TABLES

_NAMES = {
    "normalizer": "normalizer", "pre_tokenizer": "pre-tokenizer", "model": "model",
    "post_processor": "post-processor", "decoder": "decoder", "truncation": "truncation",
    "padding": "padding", "sentencepiece": "sentencepiece",
}
"""The steps of a file, as people call them."""
_COMMON = frozenset(
    {
        "tokenizer.json", "tokenizer.model", "spiece.model", "sentencepiece.model", "vocab.json", "vocab.txt",
        "vocab.bpe", "encoder.json", "merges.txt", "tekken.json",
    }
)
_INNER = ("normalizers", "pretokenizers", "processors", "decoders")
_RULES = "precompiled_charsmap"
_UNAPPLIED = ("truncation", "padding")
_BY_PATTERN = frozenset({"Regex", "ByteLevel", "Whitespace", "Digits"})
_BY_TABLE = frozenset({"NFC", "NFD", "NFKC", "NFKD", "StripAccents", "Lowercase", "BertNormalizer"})
_LONGEST = 100


def opened_view(tokenizer: Tokenizer, order: TokenOrder, path: str) -> OpenedView:
    """Return the view of an opened tokenizer.

    Args:
        tokenizer: The tokenizer.
        order: Its merge order.
        path: Its file.
    """
    return OpenedView(
        name=_name(path), path=path, order=ORDER_SENTENCES[order.kind], steps=len(order.tokens),
        size=order.size(len(order.tokens)), stages=tuple(stages(tokenizer)), notes=tokenizer.notes,
    )


def _name(path: str) -> str:
    """Return the name of a file, with its folder's if all files of the kind have that name."""
    if is_remote(path):
        return base_name(path) if is_url(path) else path
    name = os.path.basename(path)
    folder = os.path.basename(os.path.dirname(os.path.abspath(path)))
    return f"{folder}/{name}" if name in _COMMON and folder else name or "a tokenizer"


def stages(tokenizer: Tokenizer) -> Iterator[StageView]:
    """Yield the stages that an opened tokenizer takes a text through, in order: special tokens read from the
    text, normalization, split, model, and those that only its file has. After the model, a note says whose
    Unicode tables they use. A value of an axis is exact or, marked with ≈, the nearest."""
    vocabulary, recipe = tokenizer.vocabulary, tokenizer.recipe
    spec, pretokenizer = vocabulary.file.stages, vocabulary.file.pretokenizer
    exact = pretokenizer is None or type(pretokenizer) is Pretokenizer
    normalize, split = f"normalize={','.join(recipe.normalize) or 'none'}", f"split={recipe.split}"
    if not exact:
        split = f"split≈{recipe.split}"
    if vocabulary.specials:
        names = " ".join(vocabulary.specials[:6]) + (" …" if len(vocabulary.specials) > 6 else "")
        yield StageView("tokens by name", f"{len(vocabulary.specials):,}: {names}")
    if "sentencepiece" in spec:
        yield from _sentencepiece(spec["sentencepiece"], split)
    else:
        yield from _steps("normalizer", spec.get("normalizer"), normalize if exact else "")
        yield from _steps("pre_tokenizer", spec.get("pre_tokenizer"), split)
        if not spec:
            yield StageView(_NAMES["normalizer"], ", ".join(recipe.normalize) or "none", axis=normalize)
            yield StageView(_NAMES["pre_tokenizer"], recipe.split, axis=split)
    model = dict(spec.get("model") or {})
    what = [str(model.pop("type", "") or ENCODING_WAYS.of(recipe.encode).how), *_worded(model)]
    yield StageView("model", _short(", ".join(what)), axis=f"encode={recipe.encode} unknown={recipe.unknown}")
    versions = _versions(spec)
    if versions:
        yield StageView("Unicode", versions)
    for name in ("post_processor", "decoder", *_UNAPPLIED):
        for stage in _steps(name, spec.get(name), ""):
            yield stage if name not in _UNAPPLIED else StageView(stage.name, f"{stage.what} (not applied)")


def _versions(steps: Mapping[str, object]) -> str:
    """Return the Unicode tables that the steps of a `tokenizer.json` use, in words; empty if none uses
    any."""
    kinds = set(_kinds(steps.get("normalizer"))) | set(_kinds(steps.get("pre_tokenizer")))
    return TABLES["tokenizers"].described if kinds & (_BY_PATTERN | _BY_TABLE) else ""


def _kinds(spec: object) -> Iterator[str]:
    """Yield the types of a step and of all steps in it, and `Regex` for each pattern."""
    if not isinstance(spec, Mapping):
        return
    yield str(spec.get("type"))
    pattern = spec.get("pattern")
    if isinstance(pattern, Mapping) and "Regex" in pattern:
        yield "Regex"
    for step in [inner for key in _INNER if isinstance(spec.get(key), list) for inner in spec[key]]:
        yield from _kinds(step)


def _steps(name: str, spec: object, axis: str) -> Iterator[StageView]:
    """Yield a step of a `tokenizer.json` or, for a sequence, each step in it; nothing if `spec` is not an
    object. The axis goes to the first one."""
    if not isinstance(spec, dict):
        return
    inner = next((spec[key] for key in _INNER if isinstance(spec.get(key), list)), None)
    if inner is not None:
        for step in inner:
            yield from _steps(name, step, axis)
            axis = ""
        return
    rules = spec.get(_RULES)
    kind = str(spec.get("type", ""))
    if rules:
        yield StageView(
            _NAMES[name], f"{kind}: {_bytes_of(rules):,} bytes of rules, applied exactly", True, axis
        )
        return
    rest = {key: value for key, value in spec.items() if key not in ("type", "special_tokens", "pair")}
    yield StageView(_NAMES[name], _short(", ".join([kind, *_worded(rest)])), False, axis)


def _sentencepiece(spec: Mapping[str, Any], split: str) -> Iterator[StageView]:
    """Yield the stages of a sentencepiece `.model`: its normalizer, training options, and treatment of
    spaces."""
    rules = spec.get(_RULES)
    name = str(spec.get("normalization") or "rules")
    if rules:
        yield StageView(
            "normalizer", f"{name}: {_bytes_of(rules):,} bytes of rules, applied exactly", True
        )
    else:
        yield StageView("normalizer", name)
    for option, value in (spec.get("trained_with") or {}).items():
        yield StageView("training", _short(f"{option}={value}: training by the axes leaves it out"))
    kept = {key: value for key, value in spec.items() if key not in (_RULES, "normalization", "trained_with")}
    yield StageView("spaces", _short(", ".join(_worded(kept))), axis=split)


def _worded(spec: Mapping[str, object]) -> Iterator[str]:
    """Yield the settings of a step in words, such as `lowercase` for true and `no lowercase` for false. Null
    and empty values are left out."""
    for key, value in spec.items():
        if value is None or value == "" or value == [] or value == {}:
            continue
        if value is True:
            yield key
        elif value is False:
            yield f"no {key}"
        elif isinstance(value, dict) and len(value) == 1:
            yield f"{key} {next(iter(value.values()))}"
        elif isinstance(value, list):
            yield f"{key} {' '.join(map(_item, value))}"
        else:
            yield f"{key} {value}"


def _item(value: object) -> str:
    while isinstance(value, dict):
        value = value.get("id", next(iter(value.values()), ""))
    return str(value)


def _bytes_of(rules: str) -> int:
    return len(rules) * 3 // 4 - rules[-2:].count("=")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
