"""Writing a sentencepiece `.model`. Source: google/sentencepiece, `sentencepiece_model.proto`, as of 0.2.3."""

from __future__ import annotations

import base64
import itertools
import re
from typing import TypeAlias

from tokentui.formats import protobuf
from tokentui.formats.body import Body, Fit, Refused, Table, Token, contiguous, numbered
from tokentui.formats.charsmap_build import rules_of
from tokentui.formats.report import Loss
from tokentui.formats.sentencepiece.normalizing import SentencePieceWords
from tokentui.formats.sentencepiece.proto import BPE, BYTE, CONTROL, NORMAL, UNIGRAM, UNKNOWN, UNUSED, USER_DEFINED, Proto
from tokentui.text.split import SPACE_MARK

_UNK = "<unk>"
_NO_PIECE = re.compile("[\0\ud800-\udfff]")
_MALFORMED = re.compile("[\ud800-\udfff]")
_SPLITS = ("metaspace", "none")
_Fields: TypeAlias = list[tuple[int, bytes | str | int | float]]


def spec_of(body: Body) -> Proto | None:
    """The message of a tokenizer that was read from such a file."""
    words = body.pretokenizer
    return words.proto if isinstance(words, SentencePieceWords) else None


def fit(body: Body) -> Fit:
    """A tokenizer as a `.model` holds it.

    Raises:
        Refused: It cannot.
    """
    if body.came_from("sentencepiece"):
        return Fit(listed(body))
    body.needs("merges", "ranks", "viterbi")
    recipe = body.recipe
    if body.staged:
        raise Refused("what is done to a text is more than the axes say", "", "sentencepiece has rules of its own only")
    if recipe.unit != "char" or recipe.mark_kind != "none":
        raise Refused("its units are not characters without a mark", "", "sentencepiece's are")
    if recipe.spaced and recipe.split != "metaspace":
        raise Refused("it sets a space in front of a text that keeps its spaces", "", "sentencepiece sets a ▁ there")
    if recipe.split not in _SPLITS:
        raise Refused(f"it cuts text by split={recipe.split}", "", "sentencepiece knows " + " and ".join(_SPLITS))
    charsmap, squeeze = rules_of(recipe.normalize)
    losses: list[Loss] = []
    unigram = body.way == "viterbi"
    bytes_ = {entry.id for entry in body.entries if entry.kind == "byte"}
    ranks = {made: -float(rank) for rank, (_, _, made) in enumerate(body.births)}
    after = len(ranks)
    tokens: list[Token] = []
    kinds: dict[str, int] = {}
    for entry in body.entries:
        name = entry.piece.decode("utf-8", "surrogateescape")
        if not name or _NO_PIECE.search(name):
            raise Refused(f"the token {name[:40]!r} is no text that it holds", "", "sentencepiece's pieces are UTF-8 without NUL")
        score = 0.0
        if entry.kind in ("special", "unknown"):
            symbol = USER_DEFINED if name in recipe.symbols else CONTROL
            kinds[str(len(tokens))] = UNKNOWN if entry.kind == "unknown" else symbol
        elif entry.id in bytes_:
            kinds[str(len(tokens))] = BYTE
        elif unigram:
            score = entry.score or 0.0
        elif entry.piece in ranks:
            score = ranks[entry.piece]
        else:
            score, after = -float(after), after + 1
        tokens.append(Token(entry.id, name, entry.piece, score))
    if len({token.name for token in tokens}) < len(tokens):
        raise Refused("two tokens are spelled alike", "", "sentencepiece tells pieces by their text")
    if not body.unknown:
        if any(token.name == _UNK for token in tokens):
            raise Refused(f"a token is spelled {_UNK}", "", "sentencepiece needs that name for the unknown piece")
        kinds[str(len(tokens))] = UNKNOWN
        tokens.append(Token(max((token.id for token in tokens), default=-1) + 1, _UNK, _UNK.encode(), 0.0))
    keeps_ids = contiguous([token.id for token in tokens])
    if not keeps_ids:
        was = {token.name: token.id for token in tokens}
        tokens = [token._replace(id=n) for n, token in enumerate(tokens)]
        losses.append(numbered({token.name: token.id for token in tokens}, was))
    keeps_unknown = recipe.unknown == "byte-fallback" or (recipe.unknown == "fused" and bool(body.unknown))
    if not keeps_unknown:
        losses.append(Loss("unknown units", f"unknown={recipe.unknown} becomes: a run of them is one {body.unknown or _UNK}"))
    marked = recipe.split == "metaspace"
    said = {"kinds": kinds, "fields": [
        [2, _packed([(3, UNIGRAM if unigram else BPE), (4, len(tokens)), (10, recipe.coverage),
                     (25, int(recipe.pieces == "sentencepiece-digits")), *((31, name) for name in recipe.symbols),
                     (35, int(recipe.unknown == "byte-fallback")), (45, body.unknown or _UNK)])],
        [3, _packed([(1, "nmt_nfkc" if recipe.normalize == ("nmt-nfkc",) else "identity" if not charsmap else "user_defined"),
                     (2, charsmap), (3, int(recipe.spaced)), (4, int(squeeze)), (5, int(marked))])],
    ]}
    fitted = Fit(Table(recipe, tokens, [], dict(body.specials), said), losses, keeps_ids=keeps_ids, keeps_unknown=keeps_unknown)
    always = recipe.pieces != "any" or bool(recipe.symbols) or not recipe.spaced
    if marked and not squeeze and not always:
        losses.append(Loss("a space in front", "a text that begins with a space gets a ▁ in front of it too", "' a' becomes ▁▁a"))
    if charsmap:
        losses.append(Loss("malformed bytes", "what is not UTF-8 is not normalised: it stays U+FFFD", "byte FF"))
    fitted.excused = lambda text: (marked and not squeeze and not always and text.startswith((" ", SPACE_MARK))) or (
        bool(charsmap) and _MALFORMED.search(text) is not None)
    return fitted


def _packed(fields: _Fields) -> str:
    return base64.b64encode(protobuf.message(fields)).decode("ascii")


def listed(body: Body) -> Table:
    """The table of a tokenizer that was read from such a file, as the file has it."""
    assert body.origin is not None
    tokens = [Token(number, name, name.encode(), score) for number, name, score in body.origin.listed]
    vocabulary = body.vocabulary
    # A piece that is not used is cut again into what it was merged from: as if it were not there, and the ids stay.
    there = set(body.symbols.values())
    unborn = {str(number): UNUSED for number in map(vocabulary.id_of, range(len(vocabulary.pieces)), itertools.repeat(0))
              if number not in there}
    said = dict(body.origin.said)
    return Table(body.recipe, tokens, [], dict(body.specials), said | {"kinds": {**said["kinds"], **unborn}})


def write(table: Table) -> tuple[bytes, ...]:
    """The bytes of the file."""
    kinds = table.said["kinds"]
    fields: _Fields = []
    for n, token in enumerate(table.tokens):
        piece: _Fields = [(1, token.name), (2, float(token.score or 0.0))]
        kind = kinds.get(str(n), NORMAL)
        fields.append((1, protobuf.message([*piece, (3, kind)] if kind != NORMAL else piece)))
    fields += [(number, base64.b64decode(data)) for number, data in table.said["fields"]]
    return (protobuf.message(fields),)
