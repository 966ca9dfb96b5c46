"""A whole `tokenizer.json`: its model, its added tokens, and the steps around them."""

from __future__ import annotations

import itertools
import re
from typing import Any

from tokentui.encode.imported import ImportedScores, ImportedVocabulary, Origin, Pipeline
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.huggingface import normalizers, pre_tokenizers
from tokentui.formats.huggingface.added import Added, Finder, Stretches, read_added
from tokentui.formats.huggingface.decoders import decoder
from tokentui.formats.huggingface.models import Model, read_model
from tokentui.formats.huggingface.processors import around
from tokentui.formats.huggingface.strings import Normalizer, Splitting, Text
from tokentui.formats.huggingface.words import StagedPretokenizer, holds_byte_level
from tokentui.formats.limits import check_steps
from tokentui.formats.source import Source
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import PreToken, Pretokenizer
from tokentui.text.split import SPACE_MARK

VERSION = "1.0"
_STEPS = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "truncation", "padding")


def is_tokenizer(source: Source) -> bool:
    """Whether it is a JSON object with a model that holds a vocabulary."""
    model = source.document.get("model")
    return isinstance(model, dict) and "vocab" in model


def read(source: Source) -> Tokenizer:
    """The tokenizer of a `tokenizer.json`.

    Raises:
        TokentuiError: It is damaged, or holds a step that is not known; it says where.
    """
    document, place = source.document, source.place
    if document.get("version", VERSION) != VERSION:
        raise place.key("version").error(f"{str(document['version'])[:40]!r} is not {VERSION!r}", "update tokentui")
    specs = {name: document.get(name) for name in _STEPS}
    for name, step in specs.items():
        check_steps(step, place.key(name))
    spec = specs["normalizer"]
    normalize = None if spec is None else normalizers.normalizer(spec, place.key("normalizer"))
    spec = specs["pre_tokenizer"]
    splitting = None if spec is None else pre_tokenizers.pre_tokenizer(spec, place.key("pre_tokenizer"))
    byte_level = holds_byte_level(specs["normalizer"]) or holds_byte_level(specs["pre_tokenizer"])
    model = read_model(document.get("model"), place.key("model"), byte_level)
    vocabulary = dict(zip(model.tokens, model.ids, strict=True))
    added, notes = read_added(document.get("added_tokens"), place.key("added_tokens"), vocabulary)
    before, after, more = around(specs["post_processor"], place.key("post_processor"))
    specials = {token.content: token.id for token in added}
    for name in (*before, *after, model.unknown):
        if name and name in vocabulary:
            specials.setdefault(name, vocabulary[name])
        elif name and name not in specials:
            raise place.key("post_processor").error(f"{name[:40]!r} is not in the vocabulary")
    if specs["truncation"] is not None or specs["padding"] is not None:
        more.append("truncation and padding are not applied")
    if source.where.endswith((".model", ".spm")):
        more.append("the file has a name as sentencepiece's have; it is Hugging Face's tokenizer.json, and read as that")
    late = normalize is not None and any(token.normalized for token in added)
    recipe, pretokenizer = _pretokenizer(model, specs, normalize, splitting, byte_level, late)
    if source.split and source.split != recipe.split:
        raise place.error(f"the split cannot be changed to {source.split}", f"the file holds its split: {recipe.split}")
    decode = decoder(specs["decoder"], place.key("decoder"))
    stages: dict[str, Any] = {name: spec for name, spec in specs.items() if spec is not None}
    stages["model"] = {name: value for name, value in document["model"].items() if name not in ("vocab", "merges")}
    said = {**document, "model": {"type": model.kind, **stages["model"]}}
    stretches = _stretches(added, normalize, pretokenizer)
    pipeline = Pipeline(
        model.segmenter, pretokenizer, stretches, decode, (before, after), stages, (*model.notes, *notes, *more), model.policy,
        Origin("huggingface", said), stretches.bare, near=_is_near(specs, recipe, pretokenizer),
    )
    names = dict(zip(model.ids, model.tokens, strict=True))
    names |= {token.id: _normal(token, normalize) for token in added}
    made = ImportedScores if model.scores else ImportedVocabulary
    return Tokenizer(made(
        recipe, model.pieces, model.ids, model.merges, units=model.units, pipeline=pipeline,
        specials=dict(sorted(specials.items(), key=lambda item: item[1])),
        unknown=specials[model.unknown] if model.unknown else None, names=names, bytes_=model.bytes_,
        scores=model.scores, never=model.never,
    ))


def _pretokenizer(
    model: Model, specs: dict[str, Any], normalize: Normalizer | None, splitting: Splitting | None, byte_level: bool, late: bool
) -> tuple[Recipe, Pretokenizer]:
    """What the axes can say, and the steps where they cannot say all of it; `late` is whether tokens are cut out in between."""
    spec = specs["pre_tokenizer"]
    said, cut = normalizers.axis_of(specs["normalizer"]), pre_tokenizers.axis_of(spec)
    # With a step that makes letters in the normalizer, or marks on both sides of a unit, the axes say something else.
    exact = said is not None and cut is not None and not (model.prefix and model.suffix)
    exact = exact and byte_level == holds_byte_level(spec) and not late
    axes: dict[str, Any] = {**model.axes, "normalize": said or (), "split": cut if exact and cut else _near(specs, cut)}
    recipe = Recipe(**axes)
    if exact and not _cuts(model):
        return recipe, Pretokenizer(recipe)
    if _cuts(model):
        splitting = _cut_words(splitting)
    return recipe, StagedPretokenizer(
        recipe, normalize, splitting, byte_level=byte_level, prefix=model.prefix, suffix=model.suffix
    )


def _cuts(model: Model) -> bool:
    """Whether words may be cut before a ▁ that no ▁ stands before: there is one, and no token goes across.

    The ids are the same, and a word of a text is known again when it comes back.
    """
    if model.kind != "BPE" or model.whole or model.prefix or model.suffix or SPACE_MARK.encode() not in model.units:
        return False
    return not any(SPACE_MARK in name and _ACROSS.search(name) for name in model.tokens)


_ACROSS = re.compile(f"[^{SPACE_MARK}]{SPACE_MARK}")


def _cut_words(splitting: Splitting | None) -> Splitting:
    def run(text: Text) -> list[Text]:
        words: list[Text] = []
        for part in splitting(text) if splitting else [text]:
            cuts = [0, *(match.start() + 1 for match in _ACROSS.finditer(part.text)), len(part.text)]
            words += [part.part(start, end) for start, end in itertools.pairwise(cuts)]
        return words

    return run


def _near(specs: dict[str, Any], cut: str | None) -> str:
    """The nearest value of the axis `split`, where none says exactly what the file does."""
    if cut not in (None, "none"):
        return str(cut)
    alone = pre_tokenizers.pattern_alone(specs["pre_tokenizer"])
    if alone is not None:
        return alone
    text = str(specs["pre_tokenizer"]) + str(specs["normalizer"])[:1000]
    return "metaspace" if "▁" in text else "words" if "'Whitespace'" in text else "gpt2" if "ByteLevel" in text else "none"


def _is_near(specs: dict[str, Any], recipe: Recipe, pretokenizer: Pretokenizer) -> bool:
    """Whether the axis `split` says no more than what is nearest to the steps of the file."""
    if not isinstance(pretokenizer, StagedPretokenizer) or recipe.split.startswith("regex:"):
        return False
    return recipe.split != (pre_tokenizers.axis_of(specs["pre_tokenizer"]) or "")


def _stretches(added: list[Added], normalize: Normalizer | None, pretokenizer: Pretokenizer) -> Stretches:
    """Cuts a text at the added tokens."""
    plain = [token for token in added if not token.normalized]
    others = [token for token in added if token.normalized]
    if not isinstance(pretokenizer, StagedPretokenizer):
        finder = Finder(added, lambda token: token.content)
        return Stretches(finder, Finder((), str), None, lambda part: _moved(pretokenizer, part),
                         lambda part: pretokenizer.words(part.text))
    return Stretches(
        Finder(plain, lambda token: token.content), Finder(others, lambda token: _normal(token, normalize)), normalize,
        pretokenizer.of, pretokenizer.spelled, pretokenizer.typed,
    )


def _normal(token: Added, normalize: Normalizer | None) -> str:
    return normalize(Text.typed(token.content)).text if token.normalized and normalize else token.content


def _moved(pretokenizer: Pretokenizer, part: Text) -> list[PreToken]:
    return [pretoken.moved(part.starts[0]) for pretoken in pretokenizer.pretokens(part.text)]
