"""Writing a `tokenizer.json`: the model with the ids that it has, and steps that do what the recipe or the file said."""

from __future__ import annotations

import json
import re
from typing import Any

import regex

from tokentui.encode.imported import ImportedVocabulary
from tokentui.encode.segment.parts import MAX_CHARACTERS
from tokentui.formats.body import Body, Fit, Refused, Table, Token, contiguous, numbered, spelled
from tokentui.formats.clip_words import ClipWords, differs
from tokentui.formats.huggingface.recipes import (
    Spec,
    around_of,
    decoder_of,
    metaspace_decoder,
    normalizer_of,
    pre_tokenizer_of,
    precompiled,
    replaced,
    sequence,
    squeezed,
)
from tokentui.formats.report import Loss
from tokentui.formats.sentencepiece.writing import spec_of
from tokentui.recipe import Recipe
from tokentui.text.split import SPACE_MARK

_HALF = re.compile("[\ud800-\udfff]")
_CLUSTER = regex.compile(r"\X")
_ENDLESS = 1 << 31
_POLICIES = {
    "BPE": ("never", "drop", "per-unit", "fused", "byte-fallback"), "WordPiece": ("never", "whole-word"),
    "Unigram": ("never", "fused", "byte-fallback"),
}
"""What becomes of unknown units, as each model can do it."""
_NAMELESS = ("never", "drop", "byte-fallback")
"""Of these, what needs no unknown token."""


def fit(body: Body) -> Fit:
    """A tokenizer as a `tokenizer.json` holds it.

    Raises:
        Refused: It cannot.
    """
    if body.came_from("huggingface"):
        return Fit(listed(body))
    body.needs("merges", "ranks", "viterbi", "longest match")
    recipe = body.recipe
    kind = {"viterbi": "Unigram", "longest match": "WordPiece"}.get(body.way, "BPE")
    losses: list[Loss] = []
    steps = _steps(body, losses)
    mark = _mark(recipe, kind)
    byte_level = recipe.unit == "byte"
    tokens = [Token(one.id, spelled(one.piece, byte_level), one.piece, one.score) for one in body.ordinary]
    specials = dict(body.specials)
    taken = {token.name: token.id for token in tokens}
    for name, number in specials.items():
        if taken.get(name, number) != number:
            what = f"the special token {name[:40]!r} is spelled as another token is"
            raise Refused(what, "", "Hugging Face's files tell tokens by their names")
        if _HALF.search(name):
            raise Refused("the name of a special token is no text", "", "it holds half a surrogate pair")
    if len(taken) < len(tokens):
        raise Refused("two tokens are spelled alike", "", "Hugging Face's files tell tokens by their names")
    tokens += [Token(number, name, name.encode()) for name, number in specials.items() if name not in taken]
    tokens.sort()
    keeps = recipe.unknown in _POLICIES[kind] and (bool(body.unknown) or recipe.unknown in _NAMELESS)
    if not keeps:
        losses.append(_unknown(recipe, kind, body.unknown))
    model: Spec = {"type": kind}
    fitted = Fit(Table(recipe, tokens, [], specials), losses, keeps_unknown=keeps)
    if kind == "Unigram":
        _unigram(fitted, body, model)
    elif kind == "WordPiece":
        model |= {"unk_token": body.unknown or "[UNK]", "continuing_subword_prefix": mark,
                  "max_input_chars_per_word": _ENDLESS if recipe.unknown == "never" else MAX_CHARACTERS}
    else:
        known = {token.name for token in tokens}
        rows = [tuple(spelled(part, byte_level) for part in row) for row in body.rows]
        fitted.table.rows = [(left, right, made) for left, right, made in rows if {left, right, made} <= known]
        model |= {
            "dropout": None,
            "unk_token": body.unknown or None if recipe.unknown in ("per-unit", "fused", "byte-fallback") else None,
            "continuing_subword_prefix": mark if recipe.mark_kind == "prefix" else None,
            "end_of_word_suffix": mark if recipe.mark_kind == "end-suffix" else None,
            "fuse_unk": recipe.unknown in ("fused", "byte-fallback"), "byte_fallback": recipe.unknown == "byte-fallback",
            "ignore_merges": body.whole,
        }
    table = fitted.table
    added = [
        {"id": number, "content": name, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": name in recipe.symbols, "special": name not in recipe.symbols}
        for name, number in sorted(table.specials.items(), key=lambda item: item[1]) if name
    ]
    around = around_of(body.before, body.after, table.specials)
    table.said = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
                  "normalizer": steps[0], "pre_tokenizer": steps[1], "post_processor": around, "decoder": steps[2],
                  "model": model}
    names = [name for name in body.specials if name] if kind != "BPE" else []
    if names:
        consequence = "they are tokens of the model: text that spells one is it, wherever it stands"
        losses.append(Loss("special names", consequence, names[0]))
    symbols = recipe.symbols
    if symbols:
        if any(SPACE_MARK in name for name in symbols):
            raise Refused("a symbol holds a space", "", "Hugging Face looks for symbols before it writes ▁ for spaces")
        if recipe.spaced:
            what = "a text that begins with one, with a space or with what normalising takes away gets no ▁ in front"
            losses.append(Loss("symbols", what, symbols[0]))
    spec = spec_of(body)
    marks = SPACE_MARK if spec is not None and spec.squeeze else ""
    if marks:
        losses.append(Loss("▁ in a text", "sentencepiece takes what is typed so for a space at the ends, here it is none", "a▁"))
    by_cluster = "nmt-nfkc" in recipe.normalize or (spec is not None and bool(spec.charsmap))
    if by_cluster:
        consequence = "rules are looked up by what a reader calls a character: one with several marks may differ"
        losses.append(Loss("normaliser", consequence, "e with two marks"))
    clip = isinstance(body.pretokenizer, ClipWords)
    if clip:
        consequence = "HTML's character references stay, and a Σ that ends a word becomes σ"
        losses.append(Loss("normaliser", consequence, "&amp; ΣΑΣ"))
    spelled_names = [*names, *marks]
    begins = (*symbols, " ", SPACE_MARK) if symbols and recipe.spaced else ()
    fitted.excused = lambda text: (
        (by_cluster and _combines(text)) or (clip and differs(text)) or any(name in text for name in spelled_names)
        or (bool(begins) and (text.startswith(begins) or not body.pretokenizer.normalized(text).startswith(text[:1])))
    )
    return fitted


def _combines(text: str) -> bool:
    return any(len(cluster) > 1 for cluster in _CLUSTER.findall(text))


def _steps(body: Body, losses: list[Loss]) -> tuple[Spec | None, Spec | None, Spec | None]:
    """Normalizer, pre-tokenizer and decoder."""
    if not body.staged:
        return normalizer_of(body.recipe), pre_tokenizer_of(body.recipe), decoder_of(body.recipe)
    spec = spec_of(body)
    if spec is not None and spec.escape and not spec.suffix:
        steps = [precompiled(spec.charsmap)] if spec.charsmap else []
        steps += squeezed() if spec.squeeze else []
        steps += [{"type": "Prepend", "prepend": SPACE_MARK}] if spec.dummy_prefix else []
        steps += [replaced(" ", SPACE_MARK)]
        return sequence("normalizers", steps), None, metaspace_decoder(spec.byte_fallback)
    raise Refused("what is done to a text is more than the axes say", "", "no steps of Hugging Face's are known to do it")


def _mark(recipe: Recipe, kind: str) -> str:
    """The mark as the model takes it.

    Raises:
        Refused: It knows no such mark.
    """
    if recipe.mark_kind == "end-symbol":
        raise Refused(f"the mark {recipe.mark_text!r} is a unit of its own", "", "Hugging Face's models glue it to the last one")
    if recipe.mark_kind == "end-suffix" and kind != "BPE":
        raise Refused("a mark at the end of words", "", "only its BPE has one")
    if recipe.mark_kind == "prefix" and kind == "Unigram":
        raise Refused("a mark inside words", "", "its Unigram has none")
    if not recipe.mark_text.isascii() and recipe.unit == "byte":
        raise Refused("a mark that is not ASCII among letters for bytes", "", "take an ASCII mark")
    return recipe.mark_text


def _unknown(recipe: Recipe, kind: str, unknown: str) -> Loss:
    theirs = {"BPE": "the unit is left out", "WordPiece": "the whole word is unknown", "Unigram": "a run of them is one token"}
    if kind != "BPE" and not unknown:
        consequence = "encoding such a text fails"
    else:
        consequence = theirs[kind]
    return Loss("unknown units", f"unknown={recipe.unknown} becomes: {consequence}")


def _unigram(fitted: Fit, body: Body, model: Spec) -> None:
    """Ids are places in the list: specials and byte tokens stand there with a score of 0."""
    table = fitted.table
    if not contiguous([token.id for token in table.tokens]):
        ids = {token.name: n for n, token in enumerate(table.tokens)}
        fitted.losses.append(numbered(ids, {token.name: token.id for token in table.tokens}))
        table.tokens = [token._replace(id=n) for n, token in enumerate(table.tokens)]
        table.specials = {name: ids[name] for name in table.specials}
        fitted.keeps_ids = False
    model |= {"unk_id": table.specials[body.unknown] if body.unknown else None,
              "byte_fallback": body.recipe.unknown == "byte-fallback"}


def listed(body: Body) -> Table:
    """The table of a tokenizer that was read from such a file, as the file has it.

    Raises:
        Refused: Two of its tokens have one id.
    """
    vocabulary = body.vocabulary
    assert isinstance(vocabulary, ImportedVocabulary)
    assert body.origin is not None
    ids = body.symbols
    own = set(ids.values())
    if len(own) < len(ids):
        raise Refused("two tokens have the same id", "", "keep the file that it was read from")
    # A token of the model that was added as well may have another name where it is looked for: normalised.
    names = {number: vocabulary.names[number] for number in own}
    names |= {number: name for name, number in body.specials.items() if number in own}
    pieces, scores = vocabulary.pieces, vocabulary.scores
    tokens = [Token(number, names[number], pieces[n], scores[n] if scores else None) for n, number in ids.items()]
    if len(ids) < len(pieces) and scores:
        raise Refused("only a part of its pieces counts", "", "their ids are their places in the list")
    if len(ids) < len(pieces):  # added tokens are numbered on behind the model's own, of which some are gone
        tokens += [Token(number, name, name.encode()) for name, number in body.specials.items() if number not in own]
    rows = [(names[ids[left]], names[ids[right]], names[ids[made]]) for left, right, made in body.pairs]
    return Table(body.recipe, sorted(tokens), rows, dict(body.specials), dict(body.origin.said))


def write(table: Table) -> tuple[bytes, ...]:
    """The bytes of the file."""
    document: dict[str, Any] = dict(table.said)
    model = dict(document["model"])
    if model["type"] == "Unigram":
        model["vocab"] = [[token.name, token.score or 0.0] for token in table.tokens]
    else:
        model["vocab"] = {token.name: token.id for token in table.tokens}
        if model["type"] == "BPE":
            model["merges"] = [[left, right] for left, right, _ in table.rows]
    document["model"] = model
    return (json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1).encode("utf-8", "surrogatepass"),)
