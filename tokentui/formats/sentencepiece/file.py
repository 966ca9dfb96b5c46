"""Read and write sentencepiece's `.model`: pieces with scores, and the normalization of a text.

Source: google/sentencepiece, `sentencepiece_model.proto`, as of 0.2.3.
"""

from __future__ import annotations

import base64
import functools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from tokentui.core.safetext import SURROGATE, to_bytes
from tokentui.encode.names import NameFinder
from tokentui.encode.pipeline import Parents
from tokentui.encode.segment import PIECES, SINGLE, WHOLE, EncodingWay
from tokentui.encode.segment.viterbi import single
from tokentui.encode.tokenizer import Tokenizer, tokenizer_of
from tokentui.encode.vocabulary import Apart, NameDecoder, TokenizerFile
from tokentui.formats import Codec
from tokentui.formats import sentencepiece as spm
from tokentui.formats.huggingface.words import CutBeforeMarks, before_marks
from tokentui.formats.sentencepiece import steps
from tokentui.formats.sentencepiece.charsmap import Charsmap, rules_of
from tokentui.formats.sentencepiece.numbering import number
from tokentui.formats.sentencepiece.preparing import prepared_by
from tokentui.formats.source import Node, Source
from tokentui.formats.spec import FileToken, Fitted, Spec, Unsupported
from tokentui.formats.tokens import ends_in
from tokentui.recipe import Recipe
from tokentui.text.split import SPACE_MARK, own_space, spaced

_SPACE = SPACE_MARK.encode()
_HEAD = 1 << 12
"""Bytes that are inspected to recognize a file."""
_NUMBER_COMMA = re.compile(r"\d,$")
_AVOIDED = 100
"""What a piece loses that the class of a model cuts again, as in the converter of transformers."""


def _read(source: Source) -> Tokenizer:
    """Return the tokenizer of a `.model`.

    Raises:
        TokentuiError: It is damaged, or sentencepiece would refuse it.
    """
    place = Node(None, source.where)
    proto = spm.parse(source.data, place)
    prepare = None
    if (of_class := source.of_class) is not None:
        number(proto, of_class.numbering, of_class.known.named.get("unk", ""), of_class.listed)
        wanted = of_class.known.preparation
        proto.commas = wanted.commas
        prepare = prepared_by(wanted.kind, of_class.settings, dict(wanted.flags))
    rules = place.at("normalizer_spec").at("precompiled_charsmap")
    charsmap = Charsmap(proto.charsmap, rules) if proto.charsmap else None
    file = described(proto)
    source.keeps_split(file.recipe.split)
    words = spm.SentencePieceWords(
        file.recipe, proto, charsmap,
        cut=None if proto.model_type == spm.WORD else cut_words(proto, file.bytes_),
        whole=proto.model_type in (spm.BPE, spm.CHAR), prepare=prepare,
    )
    specials = {piece.text: id_ for id_, piece in zip(proto.ids, proto.pieces, strict=True)
                if piece.kind in (spm.CONTROL, spm.UNKNOWN)}
    unknown = next(piece.text for piece in proto.pieces if piece.kind == spm.UNKNOWN)
    decode = name_decoder(proto, {piece.text: piece.kind for piece in proto.pieces})
    listed = [(id_, piece.text, piece.score) for id_, piece in zip(proto.ids, proto.pieces, strict=True)]
    return tokenizer_of(replace(
        file, specials=specials, unknown=specials[unknown],
        # Of pieces with one id, the first counts: the others are outside the class.
        names={id_: text for id_, text, _ in reversed(listed)}, pretokenizer=words, decoder=decode,
        around=ends_in(specials, "<s>", "</s>"), stages=_stages(proto), content=_content(proto),
        listed=listed,
    ))


def described(proto: spm.Proto) -> TokenizerFile:
    """Return the symbols of a model in the order in which they are made, with its recipe and its way."""
    pieces = proto.pieces
    spelled = [to_bytes(piece.text) for piece in pieces]
    known = {piece: n for n, piece in enumerate(spelled) if pieces[n].kind in spm.SPELLED}
    in_order = _made(proto, known) if proto.model_type == spm.BPE else []
    merged = set(in_order)
    roots = [n for n in range(len(pieces)) if n not in merged]
    # Characters that are no pieces but occur in pieces merge, and are unknown if they remain.
    spelling = [piece.text for piece in pieces if piece.kind in spm.SPELLED]
    characters = dict.fromkeys("".join(spelling) if proto.model_type == spm.BPE else "")
    hidden = [character for character in map(to_bytes, characters) if character not in known]
    unknown = next(proto.ids[n] for n, piece in enumerate(pieces) if piece.kind == spm.UNKNOWN)
    rows = [*((spelled[n], proto.ids[n], pieces[n]) for n in roots),
            *((character, unknown, spm.Piece(kind=spm.UNKNOWN)) for character in hidden),
            *((spelled[n], proto.ids[n], pieces[n]) for n in in_order)]
    base = len(rows) - len(in_order)
    symbols, ids, of = [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]
    hidden_symbols = range(len(roots), base)
    table = {piece: symbol for symbol, piece in enumerate(symbols) if of[symbol].kind in spm.SPELLED}
    bytes_ = {int(piece.text[3:5], 16): symbol for symbol, piece in enumerate(of) if piece.kind == spm.BYTE}
    return TokenizerFile(
        "sentencepiece", recipe_of(proto), symbols, ids,
        Parents(symbols, table, base, _characters) if merged else (),
        {piece: symbol for symbol, piece in enumerate(symbols[:base])
         if symbol in hidden_symbols or of[symbol].kind in spm.SPELLED},
        bytes_, [_score(proto, piece) for piece in of] if proto.model_type == spm.UNIGRAM else (),
        frozenset(symbol for symbol, piece in enumerate(of)
                  if piece.kind not in (spm.NORMAL, spm.USER_DEFINED)),
        way=_way(proto, of, table, hidden_symbols, bytes_), policy="fused",
        notes=("rules that change text after decoding are not applied",) if proto.denormalizes else (),
    )


def _score(proto: spm.Proto, piece: spm.Piece) -> float:
    """Return the score used for segmentation. A user-defined piece scores above 0, so that it is always
    chosen."""
    if piece.kind == spm.USER_DEFINED:
        return single(0.1 * (len(to_bytes(piece.text)) - 1))
    if proto.commas and _NUMBER_COMMA.search(piece.text):
        return single(piece.score - _AVOIDED)
    return piece.score


def cut_words(proto: spm.Proto, bytes_: Mapping[int, int]) -> CutBeforeMarks | None:
    """Return a step that cuts words before runs of ▁; None if that may change ids."""
    if not proto.escape or not any(piece.text == SPACE_MARK for piece in proto.pieces):
        return None
    spelled = (piece.text for piece in proto.pieces if piece.kind in spm.SPELLED)
    merges = proto.model_type in (spm.BPE, spm.CHAR)
    return before_marks(spelled, None, spells_bytes=merges and len(bytes_) == 256)


def recipe_of(proto: spm.Proto) -> Recipe:
    """Return the recipe that describes a model as well as the axes can."""
    axes: dict[str, Any] = {
        "normalize": ("nmt-nfkc",) if proto.name == "nmt_nfkc" and proto.squeeze else (),
        "split": "metaspace", "unit": "char", "base": "frequency", "tie": "shortest",
        "pieces": "sentencepiece-digits" if proto.digits else "sentencepiece",
        "unknown": "byte-fallback" if proto.byte_fallback else "fused",
    }
    if proto.model_type == spm.UNIGRAM:
        axes |= {"objective": "unigram", "encode": "viterbi"}
    elif proto.model_type in (spm.WORD, spm.CHAR):
        axes["encode"] = "longest-match"
    if 0 < proto.coverage < 1:
        axes["coverage"] = float(f"{proto.coverage:.7g}")  # the file has single precision
    return Recipe(**axes, prefix_space=own_space(axes["split"], proto.dummy_prefix))


def _way(
    proto: spm.Proto, of: Sequence[spm.Piece], table: Mapping[bytes, int], hidden: range,
    bytes_: Mapping[int, int],
) -> EncodingWay:
    """Return the way of encoding.

    Args:
        proto: The model.
        of: The piece of each symbol.
        table: The symbol of each piece that a text may become.
        hidden: The symbols of characters that are no pieces.
        bytes_: The symbol of each byte-fallback token by its byte.
    """
    if proto.model_type == spm.UNIGRAM:
        least = min((piece.score for piece in proto.pieces if piece.kind == spm.NORMAL),
                    default=3.4028234663852886e38)
        return SINGLE.with_tables(least=least, bytes_=bytes_)
    if proto.model_type == spm.WORD:
        return WHOLE.with_tables(start=_SPACE, bytes_=bytes_)
    frozen, unused = (frozenset(n for n, piece in enumerate(of) if piece.kind == kind)
                      for kind in (spm.USER_DEFINED, spm.UNUSED))
    merging = PIECES.with_tables(frozen=frozen, unused=unused, hidden=hidden, bytes_=bytes_)
    if proto.model_type == spm.CHAR:
        return merging.with_tables(table={})
    levels = sorted({-piece.score for piece in of})
    ranks = {level: rank for rank, level in enumerate(levels)}
    return merging.with_tables(table=table, order=[ranks[-piece.score] for piece in of])


def _made(proto: spm.Proto, known: Mapping[bytes, int]) -> list[int]:
    """Return the pieces that two earlier ones spell, in the order in which they are merged."""
    pieces = proto.pieces
    ordered = sorted(known.items(), key=lambda item: (-pieces[item[1]].score, item[1]))
    earlier = {piece: n for piece, n in ordered
               if len(pieces[n].text) == 1 or pieces[n].kind == spm.USER_DEFINED}
    merged = []
    for piece, n in ordered:
        if piece not in earlier:
            if Parents.has(piece, earlier):
                merged.append(n)
            earlier[piece] = n
    return merged


def _characters(piece: bytes) -> list[bytes]:
    return list(map(to_bytes, piece.decode("utf-8")))


def name_decoder(proto: spm.Proto, kinds: Mapping[str, int]) -> NameDecoder:
    """Return the decoder of pieces, by the kind of each. A control symbol decodes to its name, the unknown
    piece to its surface."""
    return NameDecoder(functools.partial(_decoded, proto, kinds), functools.partial(_apart, proto, kinds))


def _decoded(proto: spm.Proto, kinds: Mapping[str, int], names: Sequence[str]) -> bytes:
    """Join the texts of the pieces. Until one writes text, each is spelled as the first of a text."""
    out = bytearray()
    for at, name in enumerate(names, 1):
        text, begun = _first_text_of(name, proto, kinds)
        out += text
        if begun:  # from here on a piece has the same text wherever it is
            rest = names[at:]
            texts = {piece: _text_of(piece, proto, kinds) for piece in set(rest)}
            return bytes(out) + b"".join(map(texts.__getitem__, rest))
    return bytes(out)


def _apart(proto: spm.Proto, kinds: Mapping[str, int]) -> Apart:
    """Return the spelling of pieces one by one; None for a first one that writes nothing."""
    def spell(names: Sequence[str]) -> list[bytes | None]:
        text, begun = _first_text_of(names[0], proto, kinds)
        return [text if begun else None, *(_text_of(name, proto, kinds) for name in names[1:])]

    return Apart(spell)


def _first_text_of(name: str, proto: spm.Proto, kinds: Mapping[str, int]) -> tuple[bytes, bool]:
    """Return the text of a piece that no text is before, and whether the text begins with it."""
    kind = kinds.get(name, spm.NORMAL)
    if kind in (spm.BYTE, spm.CONTROL, spm.UNKNOWN):
        begins = kind == spm.BYTE or (kind == spm.UNKNOWN and bool(proto.unknown_surface))
        return _text_of(name, proto, kinds), begins
    head = (proto.dummy_prefix or proto.squeeze) and name.startswith(SPACE_MARK)
    text = name[1:] if head else name
    return _text_of(text, proto, {}), bool(text) or (head and not proto.squeeze)


def _text_of(name: str, proto: spm.Proto, kinds: Mapping[str, int]) -> bytes:
    """Return the text of a piece that is not at the start of a text."""
    match kinds.get(name, spm.NORMAL):
        case spm.BYTE:
            return bytes((int(name[3:5], 16),))
        case spm.CONTROL:
            return to_bytes(name)
        case spm.UNKNOWN:
            return to_bytes(proto.unknown_surface)
        case _:
            return to_bytes(name.replace(SPACE_MARK, " "))


def _stages(proto: spm.Proto) -> dict[str, object]:
    """Return the settings that the axes cannot express, as JSON values."""
    return {"sentencepiece": {
        "normalization": proto.name, "precompiled_charsmap": base64.b64encode(proto.charsmap).decode("ascii"),
        "add_dummy_prefix": proto.dummy_prefix, "remove_extra_whitespaces": proto.squeeze,
        "escape_whitespaces": proto.escape,
        "treat_whitespace_as_suffix": bool(proto.treat_whitespace_as_suffix),
        **({"trained_with": proto.other_training_options} if proto.other_training_options else {}),
    }}


def _content(proto: spm.Proto) -> dict[str, object]:
    """Return the content of the file without its tokens."""
    return {
        "kinds": {str(n): piece.kind or spm.CONTROL for n, piece in enumerate(proto.pieces)
                  if piece.kind != spm.NORMAL},
        "fields": [[number, base64.b64encode(data).decode("ascii")] for number, data in proto.others],
    }


# --- writing ---

_UNK = "<unk>"
_NO_PIECE = re.compile("[\0\ud800-\udfff]")
_RUNS = re.compile("  +")
_Fields: TypeAlias = list[tuple[int, bytes | str | int | float]]


def _fit(spec: Spec) -> Fitted:
    """Convert a tokenizer to a `.model`.

    Raises:
        Unsupported: The format cannot represent the tokenizer.
    """
    if spec.came_from("sentencepiece"):
        return _listed(spec)
    recipe = spec.recipe
    fitted = Fitted(recipe, specials=dict(spec.specials))
    if spec.staged:
        if not spec.came_from("huggingface"):
            raise Unsupported("the axes do not describe all of its text processing", "",
                              "sentencepiece only has its own rules")
        rules, marked = steps.text_rules(spec), True
        ranks = {} if spec.way == "viterbi" else steps.piece_scores(spec)
        symbols = steps.user_defined(spec)
    else:
        if spaced(recipe) and recipe.split != "metaspace":
            raise Unsupported("it adds a space before a text that keeps its spaces", "",
                              "sentencepiece adds ▁ there")
        charsmap, squeeze = rules_of(recipe.normalize)
        rules, marked = steps.TextRules(charsmap, spaced(recipe), squeeze), recipe.split == "metaspace"
        ranks = {made: -float(rank) for rank, (_, _, made) in enumerate(spec.merges)}
        symbols = frozenset(recipe.symbols)
    kinds = _pieces(fitted, spec, ranks, symbols)
    fitted.renumber()
    if recipe.unknown != "byte-fallback" and not (recipe.unknown == "fused" and spec.unknown):
        fitted.lose_unknown(f"unknown={recipe.unknown} becomes: a run of them is one {spec.unknown or _UNK}")
    name = "nmt_nfkc" if recipe.normalize == ("nmt-nfkc",) else (
        "user_defined" if rules.charsmap else "identity")
    ends = [(number, names[0]) for number, names in ((46, spec.before), (47, spec.after)) if names]
    fitted.metadata = {"kinds": kinds, "fields": [
        [2, _packed([(3, spm.UNIGRAM if spec.way == "viterbi" else spm.BPE), (4, len(fitted.tokens)),
                     (10, recipe.coverage), (25, int(recipe.pieces == "sentencepiece-digits")),
                     *((31, name) for name in recipe.symbols),
                     (35, int(recipe.unknown == "byte-fallback")), (45, spec.unknown or _UNK),
                     *(ends if spec.staged else ())])],
        [3, _packed([(1, name), (2, rules.charsmap), (3, int(rules.prefix)), (4, int(rules.squeeze)),
                     (5, int(marked))])],
    ]}
    if spec.staged:
        if rules.prefix and symbols:
            fitted.lose("added tokens", "no ▁ is added before the text after it", min(symbols),
                        _spells(symbols))
        if spec.way == "viterbi" and spec.specials:
            fitted.lose("special tokens in plain text", "text that spells one is split like other text",
                        next(iter(spec.specials)), _spells(spec.specials))
        if spec.way == "viterbi":
            fitted.lose("ties",
                "of two nearly equally probable segmentations, sentencepiece may choose the other")
        if rules.once:
            fitted.lose("a typed ▁", "it counts as a space", "▁", lambda text: SPACE_MARK in text)
        if rules.whitespace:
            fitted.lose("whitespace", "what the rules leave of it is no space", "U+0085", lambda text: any(
                char.isspace() and char != " " for char in spec.pretokenizer.analyze(text).normalized))
        if rules.charsmap:
            fitted.lose("clusters of marks", "the longest rule counts in them, not the first",
                        "o with U+0308 and U+0304", _normalized_otherwise(spec, rules.charsmap))
    elif marked and not rules.squeeze and rules.prefix and recipe.pieces == "any" and not recipe.symbols:
        fitted.lose("a leading space", "a text that begins with a space also gets a leading ▁",
                    "' a' becomes ▁▁a", lambda text: text.startswith((" ", SPACE_MARK)))
    if rules.charsmap:
        fitted.lose("malformed bytes", "invalid UTF-8 is not normalized: it stays U+FFFD", "byte FF",
                    lambda text: SURROGATE.search(text) is not None)
    return fitted


def _spells(names: Collection[str]) -> Callable[[str], bool]:
    """Return what finds texts that spell one of some tokens."""
    finder = NameFinder(names)
    return lambda text: any(True for _ in finder.spans(text))


def _normalized_otherwise(spec: Spec, charsmap: bytes) -> Callable[[str], bool]:
    """Return a predicate for texts that a `tokenizer.json` normalizes differently by the same rules: it
    applies them to each grapheme cluster, and uses the first one that matches."""
    table = Charsmap(charsmap, Node(None, ""))
    words = spm.SentencePieceWords(spec.recipe, spm.Proto(charsmap=charsmap), table, cut=None, whole=False)

    def spaced_alike(text: str) -> str:
        return _RUNS.sub(" ", text.replace(SPACE_MARK, " ")).strip(" ")

    def differs(text: str) -> bool:
        rewritten = "".join(made for made, _, _ in words.rewritten(text))
        return spaced_alike(rewritten) != spaced_alike(spec.pretokenizer.analyze(text).normalized)

    return differs


def _pieces(
    fitted: Fitted, spec: Spec, ranks: Mapping[bytes, float], symbols: Collection[str]
) -> dict[str, int]:
    """Add the tokens to a document as pieces.

    Args:
        fitted: The document.
        spec: The tokenizer.
        ranks: The score of each token that merges make.
        symbols: The special tokens that plain text can spell.

    Returns:
        The type of each piece that is not normal, by its id.

    Raises:
        Unsupported: Two pieces have equal text, or one is not UTF-8.
    """
    after = len(ranks)
    tokens = fitted.tokens
    kinds: dict[str, int] = {}
    for entry in spec.entries:
        name = entry.piece.decode("utf-8", "surrogateescape")
        if not name or _NO_PIECE.search(name):
            what = f"the token {name[:40]!r} is not a text that the file can store"
            raise Unsupported(what, "", "sentencepiece's pieces are UTF-8 without NUL")
        score = 0.0
        if entry.kind in ("special", "unknown"):
            symbol = spm.USER_DEFINED if name in symbols else spm.CONTROL
            kinds[str(len(tokens))] = spm.UNKNOWN if entry.kind == "unknown" else symbol
        elif entry.kind == "byte":
            kinds[str(len(tokens))] = spm.BYTE
        elif spec.way == "viterbi":
            score = entry.score or 0.0
        elif entry.piece in ranks:
            score = ranks[entry.piece]
        else:
            score, after = -float(after), after + 1
        tokens.append(FileToken(entry.id, name, entry.piece, score))
    if not spec.unknown:
        kinds[str(len(tokens))] = spm.UNKNOWN
        next_id = max((token.id for token in tokens), default=-1) + 1
        tokens.append(FileToken(next_id, _UNK, _UNK.encode(), 0.0))
    if len({token.name for token in tokens}) < len(tokens):
        what = "two tokens have the same spelling" + f", or one is spelled {_UNK}" * (not spec.unknown)
        raise Unsupported(what, "", "sentencepiece identifies pieces by their text")
    return kinds


def _packed(fields: _Fields) -> str:
    return base64.b64encode(spm.message(fields)).decode("ascii")


def _listed(spec: Spec) -> Fitted:
    """Return a tokenizer that was read from a `.model`, with the content of that file."""
    tokens = [FileToken(id_, name, name.encode(), score) for id_, name, score in spec.file.listed]
    if isinstance(spec.pretokenizer, spm.SentencePieceWords) and spec.pretokenizer.prepare is not None:
        raise Unsupported("the class of the folder changes a text first", "", "the file has no such step")
    if any(token.id != n for n, token in enumerate(tokens)):
        raise Unsupported("the class of the folder numbers its pieces otherwise", "",
                          "in the file, the id of a piece is its index")
    vocabulary = spec.vocabulary
    # An unused piece is split again into its parts. Omit it, and keep the other ids.
    there = set(spec.symbols.values())
    later = {str(number): spm.UNUSED for number in vocabulary.ids(0) if number not in there}
    metadata = dict(spec.file.content)
    fitted = Fitted(spec.recipe, tokens, [], dict(spec.specials), metadata)
    listed = {token.name for token in tokens}
    added = sorted((id_, name) for name, id_ in spec.specials.items() if name not in listed)
    controls = {str(id_): spm.CONTROL for id_, _ in added}
    if [id_ for id_, _ in added] == list(range(len(tokens), len(tokens) + len(added))):
        tokens += [FileToken(id_, name, name.encode("utf-8", "surrogatepass"), 0.0) for id_, name in added]
    else:
        fitted.lose("special tokens", "they are not stored, because ids between them are free", added[0][1])
        controls = {}
    metadata["kinds"] = {**metadata["kinds"], **controls, **later}
    return fitted


def _write(fitted: Fitted) -> tuple[bytes, ...]:
    """Return the bytes of the file."""
    metadata: dict[str, Any] = fitted.metadata
    fields: _Fields = []
    for n, token in enumerate(fitted.tokens):
        piece: _Fields = [(1, token.name), (2, float(token.score or 0.0))]
        kind = metadata["kinds"].get(str(n), spm.NORMAL)
        fields.append((1, spm.message([*piece, (3, kind)] if kind != spm.NORMAL else piece)))
    fields += [(number, base64.b64decode(data)) for number, data in metadata["fields"]]
    return (spm.message(fields),)


SENTENCEPIECE = Codec(lambda source: spm.begins(source.data[:_HEAD]), _read, _fit, _write)
