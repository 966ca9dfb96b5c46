"""Read and write a whole `tokenizer.json`: its model, its added tokens, and its steps."""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tokentui.core.jobs import check
from tokentui.core.safetext import SURROGATE, to_bytes
from tokentui.encode.pipeline import ImportedVocabulary
from tokentui.encode.segment import MAX_CHARACTERS
from tokentui.encode.tokenizer import Tokenizer, tokenizer_of
from tokentui.encode.vocabulary import TokenizerFile
from tokentui.formats import Codec
from tokentui.formats.huggingface import OWNER, AlignedText, axes, own_pattern, words
from tokentui.formats.huggingface.decoders import around_json, name_decoder, read_around
from tokentui.formats.huggingface.models import read_model, type_of
from tokentui.formats.huggingface.steps import NormalizerStep, PreTokenizerStep, check_steps, read_optional
from tokentui.formats.huggingface.stretching import stretching_of
from tokentui.formats.source import Node, Source
from tokentui.formats.spec import FileToken, Fitted, Spec, Unsupported, json_bytes
from tokentui.formats.tokens import letters, name_of
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import SPACE_MARK, spaced

_VERSION = "1.0"
_STEPS = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "truncation", "padding")


def _sniff(source: Source) -> bool:
    """Return whether the file is a JSON object with a model that has a vocabulary."""
    model = source.document.get("model")
    return isinstance(model, dict) and "vocab" in model


def _read(source: Source) -> Tokenizer:
    """Return the tokenizer of a `tokenizer.json`.

    Raises:
        TokentuiError: It is damaged, or has an unknown step. The message has the place.
    """
    return read_document(source.root, source)


def read_document(root: Node, source: Source, remarks: Sequence[str] = ()) -> Tokenizer:
    """Return the tokenizer of a document with the content of a `tokenizer.json`.

    Args:
        root: The document.
        source: The file of the document, or from which the document was made.
        remarks: Notes of the reader that made the document.

    Raises:
        TokentuiError: As reading a `tokenizer.json`.
    """
    if "version" in root and root["version"].value != _VERSION:
        raise root["version"].error(f"{str(root['version'].value)[:40]!r} is not {_VERSION!r}",
                                    "update tokentui")
    for name in _STEPS:
        check_steps(root[name])
    normalizer: NormalizerStep | None = read_optional(root["normalizer"], "normalizers")
    splitting: PreTokenizerStep | None = read_optional(root["pre_tokenizer"], "pretokenizers")
    model = read_model(root["model"], _makes_letters(normalizer) or _makes_letters(splitting))
    check()
    kind = type_of(root["model"])
    listed = root["model"]["vocab"].value
    vocabulary = listed if isinstance(listed, dict) else dict(zip(model.tokens, model.ids, strict=True))
    unknown = ""
    if model.unknown is not None:
        in_a_row = kind == "Unigram"
        unknown = model.tokens[model.unknown] if in_a_row else root["model"]["unk_token"].text()
    added, notes = words.read_added(root["added_tokens"], vocabulary)
    before, after, doubts = read_around(root["post_processor"])
    specials = {token.content: token.id for token in added}
    for name in (*before, *after, unknown):
        if name and name in vocabulary:
            specials.setdefault(name, vocabulary[name])
        elif name and name not in specials:
            raise root["post_processor"].error(f"{name[:40]!r} is not in the vocabulary")
    del vocabulary, listed  # many megabytes, which what follows takes again
    notes = [*remarks, *model.notes, *notes, *doubts]
    if root["truncation"].value is not None or root["padding"].value is not None:
        notes.append("truncation and padding are not applied")
    if source.where.endswith((".model", ".spm")):
        what = "the file has a name as sentencepiece's have"
        notes.append(f"{what}; it is Hugging Face's tokenizer.json, and read as that")
    check()
    late = normalizer is not None and any(token.normalized for token in added)
    recipe, pretokenizer = _pretokenizer(root, model, normalizer, splitting, late)
    source.keeps_split(recipe.split)
    decoder = name_decoder(read_optional(root["decoder"], "decoders"))
    of_model = {name: value for name, value in root["model"].mapping().items()
                if name not in ("vocab", "merges")}
    content = {**root.mapping(), "model": {"type": kind, **of_model}}
    # Tokens that are searched for after normalization are normalized themselves.
    names = {token.id: token.content for token in added}
    if normalizer:
        names |= {
            token.id: normalizer(AlignedText.typed(token.content)).text for token in added if token.normalized
        }
        notes += words.doubts(names, added)
    staged = isinstance(pretokenizer, words.StagedPretokenizer)
    sections = words.AddedSections(
        pretokenizer, normalizer if staged else None,
        words.Finder({token.content: token for token in added if not token.normalized}),
        words.Finder({names[token.id]: token for token in added if token.normalized}),
    )
    cut = axes.split_of(splitting) or ""
    check()
    return tokenizer_of(replace(
        model, recipe=recipe, specials=specials, unknown=specials[unknown] if unknown else None, names=names,
        pretokenizer=pretokenizer, sections=sections, decoder=decoder, around=(before, after),
        near=staged and not recipe.split.startswith("regex:") and recipe.split != cut, notes=tuple(notes),
        stages=content, content=content, extras=_extras(root, added),
    ))


def _pretokenizer(
    root: Node, model: TokenizerFile, normalizer: NormalizerStep | None, splitting: PreTokenizerStep | None,
    late: bool
) -> tuple[Recipe, Pretokenizer]:
    """Return the recipe, and a pretokenizer with the steps if the axes cannot express all of them.

    Args:
        late: True if some tokens are cut out after normalization.
    """
    normalize, cut = axes.normalize_of(normalizer), axes.split_of(splitting)
    byte_level = _makes_letters(splitting)
    # If the normalizer makes byte letters, or units have marks on both sides, the axes would mean something
    # else.
    suffix = model.recipe.mark_text if model.recipe.mark_kind == "end-suffix" else ""
    prefix = root["model"]["continuing_subword_prefix"].text("") if suffix else model.recipe.mark_text
    both = (prefix and suffix) or (_makes_letters(normalizer) and not byte_level)
    exact = normalize is not None and cut is not None and not both and not late
    split = cut if exact and cut else _near(root, splitting, cut)
    recipe = replace(model.recipe.with_axes(normalize=normalize or (), split=split), unicode=OWNER.name)
    cut_words = _cut_words(root["model"], model, splitting)
    if exact and not cut_words:
        return recipe, Pretokenizer(recipe)
    of_letters = byte_level or _makes_letters(normalizer)
    pretokenizer = words.StagedPretokenizer(
        recipe, normalizer, cut_words or splitting, byte_level=of_letters, prefix=prefix, suffix=suffix
    )
    plain = not (of_letters or prefix or suffix)
    pretokenizer.find_stretching = functools.partial(
        stretching_of, normalizer, splitting, copy.copy(pretokenizer).words_of_each, plain=plain
    )
    return recipe, pretokenizer


def _makes_letters(step: NormalizerStep | PreTokenizerStep | None) -> bool:
    """Return whether a step turns bytes into byte letters."""
    return step is not None and step.has("ByteLevel")


def _cut_words(
    node: Node, model: TokenizerFile, splitting: PreTokenizerStep | None
) -> words.CutBeforeMarks | None:
    """Return a step that also cuts words before runs of ▁; None if that may change ids."""
    marked = node["ignore_merges"].flag(False) or model.recipe.mark_text
    if type_of(node) != "BPE" or marked or SPACE_MARK.encode() not in model.units:
        return None
    return words.before_marks(model.tokens, splitting, spells_bytes=len(model.bytes_) == 256)


def _near(root: Node, splitting: PreTokenizerStep | None, cut: str | None) -> str:
    """Return the nearest value of the axis `split`, if no value equals the steps of the file."""
    if cut not in (None, "none"):
        return str(cut)
    if (alone := axes.pattern_alone(splitting)) is not None:
        return alone
    text = str(root["pre_tokenizer"].value) + str(root["normalizer"].value)[:1000]
    if SPACE_MARK in text:
        return "metaspace"
    return "words" if "'Whitespace'" in text else "gpt2" if "ByteLevel" in text else "none"


def _extras(root: Node, added: list[words.Added]) -> dict[str, str]:
    """Return examples of features that only this format has: flags of added tokens, dropout, truncation,
    padding."""
    examples: dict[str, str] = {}
    for token in added:
        flags = [name for name in ("lstrip", "rstrip", "single_word") if getattr(token, name)]
        flags += [] if token.special else ["plain text"]
        if flags:
            examples.setdefault("flags", f"{token.content}: {', '.join(flags)}")
    if value := root["model"]["dropout"].value:
        examples["dropout"] = f"dropout {value}"
    if named := [name for name in ("truncation", "padding") if root[name].value]:
        examples["lengths"] = " and ".join(named)
    return examples


# --- writing ---


_ENDLESS = 1 << 31
_POLICIES = {
    "BPE": ("never", "drop", "per-unit", "fused", "byte-fallback"), "WordPiece": ("never", "whole-word"),
    "Unigram": ("never", "fused", "byte-fallback"),
}
"""The policies for unknown units that each model supports."""
_NAMELESS = ("never", "drop", "byte-fallback")
"""Policies that need no unknown token."""


def _fit(spec: Spec) -> Fitted:
    """Convert a tokenizer to a `tokenizer.json`.

    Raises:
        Unsupported: The format cannot represent the tokenizer.
    """
    if spec.came_from("huggingface"):
        return _listed(spec)
    recipe, byte_level = spec.recipe, spec.recipe.unit == "byte"
    kind = {"viterbi": "Unigram", "longest-match": "WordPiece"}.get(spec.way, "BPE")
    fitted = Fitted(recipe, spec.tokens(byte_level), specials=dict(spec.specials))
    normalizer, splitting, decoder = _steps(spec)
    _check_mark(recipe, kind)
    _add_specials(fitted)
    if recipe.unknown not in _POLICIES[kind] or not (spec.unknown or recipe.unknown in _NAMELESS):
        fails = kind != "BPE" and not spec.unknown
        becomes = "encoding such a text fails" if fails else _BECOMES[kind]
        fitted.lose_unknown(f"unknown={recipe.unknown} becomes: {becomes}")
    model: dict[str, object] = {"type": kind}
    if kind == "Unigram":
        fitted.renumber()
        ids = {token.name: token.id for token in fitted.tokens}
        fitted.specials = {name: ids[name] for name in fitted.specials}
        model |= {"unk_id": fitted.specials[spec.unknown] if spec.unknown else None,
                  "byte_fallback": recipe.unknown == "byte-fallback"}
    elif kind == "WordPiece":
        model |= {"unk_token": spec.unknown or "[UNK]", "continuing_subword_prefix": recipe.mark_text,
                  "max_input_chars_per_word": _ENDLESS if recipe.unknown == "never" else MAX_CHARACTERS}
    else:
        known = {token.name for token in fitted.tokens}
        rows = ([name_of(piece, byte_level) for piece in merge] for merge in spec.rows)
        fitted.rows += [
            (left, right, result) for left, right, result in rows if {left, right, result} <= known
        ]
        named = recipe.unknown in ("per-unit", "fused", "byte-fallback")
        model |= {
            "dropout": None, "unk_token": spec.unknown or None if named else None,
            "continuing_subword_prefix": recipe.mark_text if recipe.mark_kind == "prefix" else None,
            "end_of_word_suffix": recipe.mark_text if recipe.mark_kind == "end-suffix" else None,
            "fuse_unk": recipe.unknown in ("fused", "byte-fallback"),
            "byte_fallback": recipe.unknown == "byte-fallback", "ignore_merges": spec.whole,
        }
    added = [
        {"id": number, "content": name, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": name in recipe.symbols, "special": name not in recipe.symbols}
        for name, number in sorted(fitted.specials.items(), key=lambda item: item[1]) if name
    ]
    around = around_json(spec.before, spec.after, fitted.specials)
    fitted.metadata = {"version": _VERSION, "truncation": None, "padding": None, "added_tokens": added,
                   "normalizer": normalizer, "pre_tokenizer": splitting, "post_processor": around,
                   "decoder": decoder, "model": model}
    _tell(fitted, spec, [name for name in spec.specials if name] if kind != "BPE" else [])
    return fitted


def _add_specials(fitted: Fitted) -> None:
    """Add the special tokens to the list of tokens.

    Raises:
        Unsupported: Two tokens have the same name.
    """
    taken = {token.name: token.id for token in fitted.tokens}
    for name, number in fitted.specials.items():
        if taken.get(name, number) != number:
            what = f"the special token {name[:40]!r} is spelled as another token is"
            raise Unsupported(what, "", "Hugging Face files identify tokens by name")
        if SURROGATE.search(name):
            raise Unsupported("the name of a special token is not valid text", "",
                "it contains a lone surrogate")
    if len(taken) < len(fitted.tokens):
        raise Unsupported(
            "two tokens have the same spelling", "", "Hugging Face files identify tokens by name"
        )
    fitted.tokens += [FileToken(number, name, to_bytes(name)) for name, number in fitted.specials.items()
                      if name not in taken]
    fitted.tokens.sort()


def _tell(fitted: Fitted, spec: Spec, names: list[str]) -> None:
    """Record the losses that change the encoding of some texts.

    Args:
        fitted: The converted tokenizer, which records the losses.
        spec: The tokenizer.
        names: The specials that are tokens of the model.

    Raises:
        Unsupported: A symbol contains a space.
    """
    recipe, symbols = spec.recipe, spec.recipe.symbols
    if names:
        fitted.lose("special names",
                    "they are tokens of the model: text that spells one is it, wherever it stands", names[0],
                    lambda text: any(name in text for name in names))
    if any(SPACE_MARK in name for name in symbols):
        raise Unsupported("a symbol contains a space", "",
                      "Hugging Face matches symbols before it replaces spaces by ▁")
    if symbols and spaced(recipe):
        begins = (*symbols, " ", SPACE_MARK)
        with_ = "one, with a space or with what normalizing takes away"
        fitted.lose("symbols", f"a text that begins with {with_} gets no ▁ in front", symbols[0],
                    lambda text: text.startswith(begins)
                    or not spec.pretokenizer.normalized(text).startswith(text[:1]))
    from tokentui.formats.sentencepiece import proto_of  # only writing needs it

    proto = proto_of(spec.pretokenizer)
    if proto is not None and proto.squeeze:
        fitted.lose("▁ in a text",
                    "sentencepiece takes what is typed so for a space at the ends, here it is none", "a▁",
                    lambda text: SPACE_MARK in text)
    if "nmt-nfkc" in recipe.normalize or (proto is not None and proto.charsmap):
        looked = "rules are looked up by what a reader calls a character"
        fitted.lose("normalizer", f"{looked}: one with several marks may differ", "e with two marks",
                    lambda text: any(len(cluster) > 1 for cluster in own_pattern(r"\X").findall(text)))
    if isinstance(spec.pretokenizer, words.ClipWords):
        fitted.lose("normalizer", "HTML's character references stay, and a Σ that ends a word becomes σ",
                    "&amp; ΣΑΣ", words.clip_differs)


def _steps(spec: Spec) -> tuple[axes.Json | None, axes.Json | None, axes.Json]:
    """Return the normalizer, pre-tokenizer and decoder, as JSON.

    Raises:
        Unsupported: The steps of the tokenizer have no equivalent.
    """
    recipe = spec.recipe
    if not spec.staged:
        return axes.normalizer_of(recipe), axes.pre_tokenizer_of(recipe), axes.decoder_of(recipe)
    from tokentui.formats.sentencepiece import proto_of  # only writing needs it

    proto = proto_of(spec.pretokenizer)
    if proto is None or not proto.escape or proto.treat_whitespace_as_suffix:
        raise Unsupported("the axes do not describe all of its text processing", "",
                      "Hugging Face has no steps for it")
    steps = [axes.precompiled(proto.charsmap)] if proto.charsmap else []
    steps += axes.squeezed() if proto.squeeze else []
    steps += axes.marked(proto.dummy_prefix)
    return axes.in_a_row("normalizers", steps), None, axes.decoder_of_marks(proto.byte_fallback)


def _check_mark(recipe: Recipe, kind: str) -> None:
    """Refuse a mark that the model does not support.

    Raises:
        Unsupported: The model does not support the mark.
    """
    if recipe.mark_kind == "end-suffix" and kind != "BPE":
        raise Unsupported("a mark at the end of words", "", "only Hugging Face's BPE supports it")
    if recipe.mark_kind == "prefix" and kind == "Unigram":
        raise Unsupported("a mark inside words", "", "Hugging Face's Unigram does not support it")
    if recipe.unit == "byte" and letters(to_bytes(recipe.mark_text)) != recipe.mark_text:
        what = "a mark of other characters than visible ASCII, among letters for bytes"
        raise Unsupported(what, "", "use another mark, such as ##")


_BECOMES = {"BPE": "the unit is left out", "WordPiece": "the whole word is unknown",
            "Unigram": "a run of them is one token"}


def _listed(spec: Spec) -> Fitted:
    """Return a tokenizer that was read from a `tokenizer.json`, with the content of that file.

    Raises:
        Unsupported: Two tokens have the same id, or it is an earlier step of a Unigram.
    """
    vocabulary = spec.vocabulary
    assert isinstance(vocabulary, ImportedVocabulary)
    ids = spec.symbols
    own = set(ids.values())
    if len(own) < len(ids):
        raise Unsupported("two tokens have the same id", "", "keep the original file")
    # A token of the model that is also an added token may be searched for by another name: its normalized
    # one.
    names = {number: vocabulary.names[number] for number in own}
    names |= {number: name for name, number in spec.specials.items() if number in own}
    pieces, scores = vocabulary.pieces, vocabulary.scores
    tokens = [FileToken(number, names[number], pieces[n], scores[n] if scores else None)
              for n, number in ids.items()]
    if len(ids) < len(pieces):  # added tokens have the ids after the model's, some of which are missing
        tokens += [FileToken(number, name, name.encode()) for name, number in spec.specials.items()
                   if number not in own]
    model = spec.file.content["model"]
    if isinstance(model, Mapping) and model["type"] == "Unigram" and len(ids) < len(pieces):
        raise Unsupported("Unigram ids are list rows, and earlier steps have gaps", "",
                      "export the last step")
    rows = [(names[ids[left]], names[ids[right]], names[ids[result]]) for left, right, result in spec.pairs]
    return Fitted(spec.recipe, sorted(tokens), rows, dict(spec.specials), dict(spec.file.content))


def _write(fitted: Fitted) -> tuple[bytes, ...]:
    """Return the bytes of the file."""
    unfilled = fitted.metadata["model"]
    model = dict(unfilled) if isinstance(unfilled, Mapping) else {}
    if model["type"] == "Unigram":
        model["vocab"] = [[token.name, token.score or 0.0] for token in fitted.tokens]
    else:
        model["vocab"] = {token.name: token.id for token in fitted.tokens}
        if model["type"] == "BPE":
            model["merges"] = [[left, right] for left, right, _ in fitted.rows]
    return (json_bytes({**fitted.metadata, "model": model}),)


HUGGINGFACE = Codec(_sniff, _read, _fit, _write)
