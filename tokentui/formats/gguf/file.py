"""The vocabulary of a GGUF file as a tokenizer that encodes as llama.cpp does.

BPE and WordPiece are read as an equivalent `tokenizer.json`, so that they can be written in other formats. No
other format can express what llama.cpp does with sentencepiece pieces: user-defined tokens are cut out first,
each part between them gets its own ▁ in front, and nothing is normalized before BPE. The types of tokens are
those of the file, although llama.cpp changes a few by name. Of tokens that overlap in a text the leftmost is
found, whereas llama.cpp finds the longest.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

from tokentui.core.safetext import to_bytes
from tokentui.encode.segment import FUSED, TABLE
from tokentui.encode.tokenizer import Tokenizer, tokenizer_of
from tokentui.encode.vocabulary import Apart, NameDecoder, TokenizerFile
from tokentui.formats import Codec, gguf
from tokentui.formats import sentencepiece as spm
from tokentui.formats.gguf.pre import DEFAULT, GPT2, PRE, UNREAD, Pre
from tokentui.formats.huggingface import AlignedText, words
from tokentui.formats.huggingface import file as huggingface
from tokentui.formats.huggingface.decoders import around_json
from tokentui.formats.sentencepiece.charsmap import Charsmap
from tokentui.formats.sentencepiece.file import cut_words, described, name_decoder, recipe_of
from tokentui.formats.source import Node, Source, check_tokens
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import SPACE_MARK, SPLITS
from tokentui.text.stretching import Stretching, marked_words

_ENDLESS = 1 << 31
_CONTROLS = (spm.CONTROL, spm.UNKNOWN)


class _VocabularyKeys(NamedTuple):
    """The keys of a file that describe its vocabulary.

    Attributes:
        values: The metadata.
        place: The place of the file, for errors.
        model: The value of `tokenizer.ggml.model`.
        tokens: The text of each id.
        kinds: The type of each id, numbered as in sentencepiece.
        scores: The score of each id.
    """

    values: Mapping[str, gguf.MetadataValue]
    place: Node
    model: str
    tokens: list[str]
    kinds: list[int]
    scores: list[float]

    def flag(self, name: str, default: bool) -> bool:
        """Return a boolean value of the tokenizer."""
        value: bool = _typed(self.values, self.place, name, bool, default)
        return value

    def id(self, name: str, default: int | None = None) -> int | None:
        """Return the id of a special token, such as `bos`; None if the file has none. As in llama.cpp, an id
        out of range gives the default."""
        number = _typed(self.values, self.place, f"{name}_token_id", int, -1)
        if not 0 <= number < len(self.tokens):
            number = -1 if default is None else default
        return number if 0 <= number < len(self.tokens) else None

    def around(
        self, bos: int | None, eos: int | None, *, add_bos: bool, add_eos: bool
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the names of the tokens before and after a text.

        Args:
            bos: The default id of BOS; None for none.
            eos: The default id of EOS; None for none.
            add_bos: True to add BOS if the file does not say.
            add_eos: True to add EOS if the file does not say.

        Raises:
            TokentuiError: The file asks for a token that it does not define.
        """
        out: list[tuple[str, ...]] = []
        for name, default, adds in (("bos", bos, add_bos), ("eos", eos, add_eos)):
            number = self.id(name, default)
            if not self.flag(f"add_{name}_token", adds):
                out.append(())
            elif number is None:
                raise self.place.at(f"tokenizer.ggml.{name}_token_id").error(
                    f"a text gets a {name.upper()} token, and the file does not name one")
            else:
                out.append((self.tokens[number],))
        return out[0], out[1]

    def specials(self, *names: str) -> dict[str, int]:
        """Return the ids of control and unknown tokens, and of the given special tokens, by name."""
        wanted = set(names)
        rows = enumerate(zip(self.tokens, self.kinds, strict=True))
        return {token: number for number, (token, kind) in rows if kind in _CONTROLS or token in wanted}


def _typed(
    values: Mapping[str, gguf.MetadataValue], place: Node, name: str, kind: type[Any], default: Any
) -> Any:
    """Return the value of a key of the tokenizer, or the default if it is missing.

    Raises:
        TokentuiError: The value has another type.
    """
    key = f"tokenizer.ggml.{name}"
    value = values.get(key)
    if value is None:
        return default
    if type(value) is not kind:
        raise place.at(key).error(f"expected {_WANTED[kind]}", gguf.AGAIN)
    return value


_WANTED = {bool: "true or false", int: "a whole number", str: "a string", list: "an array", bytes: "bytes"}


def _strings(values: Mapping[str, gguf.MetadataValue], place: Node, name: str) -> list[str]:
    """Return an array of strings.

    Raises:
        TokentuiError: It is missing, or has another type.
    """
    strings: list[str] = _typed(values, place, name, list, None)
    if strings is None or not all(type(string) is str for string in strings[:1]):
        at = place.at(f"tokenizer.ggml.{name}")
        raise at.error("missing" if strings is None else "expected an array of strings", gguf.AGAIN)
    return strings


def _numbers(
    values: Mapping[str, gguf.MetadataValue], place: Node, name: str, size: int, default: Any
) -> list[Any]:
    """Return an array of numbers, one per token, or the default for each if it is missing.

    Raises:
        TokentuiError: It has another length or type.
    """
    numbers: list[Any] | None = _typed(values, place, name, list, None)
    if numbers is None:
        return [default] * size
    at = place.at(f"tokenizer.ggml.{name}")
    if len(numbers) < size:
        raise at.error(f"{len(numbers):,} numbers for {size:,} tokens", gguf.AGAIN)
    if numbers and type(numbers[0]) not in (int, float):
        raise at.error("expected an array of numbers", gguf.AGAIN)
    return numbers[:size]


def _vocabulary(source: Source) -> _VocabularyKeys:
    """Return the vocabulary of a file.

    Raises:
        TokentuiError: It is damaged, has no vocabulary, or two tokens are equal.
    """
    place = Node(None, source.where)
    values = gguf.parse(source.data, source.where).values
    model = _typed(values, place, "model", str, "")
    if not model:
        raise place.error("contains no tokenizer", "use a GGUF file of a language model")
    if model not in _MODELS:
        at = place.at("tokenizer.ggml.model")
        raise at.error(f"the model {model[:40]!r} is not read", f"one of: {', '.join(_MODELS)}")
    tokens = _strings(values, place, "tokens")  # llama.cpp takes each up to a NUL
    tokens = [token.partition("\0")[0] or f"[EMPTY_{number}]" for number, token in enumerate(tokens)]
    at = place.at("tokenizer.ggml.tokens")
    check_tokens(map(len, tokens), at)
    if not tokens:
        raise at.error("no tokens", gguf.AGAIN)
    if len(set(tokens)) < len(tokens):
        twice = next(token for token, times in Counter(tokens).items() if times > 1)
        raise at.error(f"{twice[:40]!r} is there twice", "llama.cpp refuses it too: convert the model again")
    scores = [float(score) for score in _numbers(values, place, "scores", len(tokens), 0.0)]
    if any(score != score or abs(score) > 1e300 for score in scores):
        raise place.at("tokenizer.ggml.scores").error("a score is not a number", gguf.AGAIN)
    kinds = [kind if 1 <= kind <= spm.BYTE else spm.UNUSED
             for kind in _numbers(values, place, "token_type", len(tokens), spm.NORMAL)]
    return _VocabularyKeys(values, place, model, tokens, kinds, scores)


def _remarks(vocabulary: _VocabularyKeys) -> list[str]:
    """Return notes that apply to files of all models."""
    template = vocabulary.values.get("tokenizer.chat_template")
    if not isinstance(template, str):
        return []
    return [f"the file has a chat template of {len(template):,} characters, which encode --chat applies"]


def _cut_out(vocabulary: _VocabularyKeys, specials: Mapping[str, int]) -> dict[str, words.Added]:
    """Return the tokens that are cut out of a text before anything else, by name."""
    return {
        token: words.Added(number, token, token in specials, False)
        for number, (token, kind) in enumerate(zip(vocabulary.tokens, vocabulary.kinds, strict=True))
        if token in specials or kind == spm.USER_DEFINED
    }


def _step(kind: str, **keys: object) -> dict[str, object]:
    return {"type": kind, **keys}


# --- BPE ---


_OTHER_IDS = "expect other ids than the model's tokenizer gives"


def _pre(vocabulary: _VocabularyKeys) -> tuple[Pre, list[str]]:
    """Return how llama.cpp cuts a text, and notes on doubts.

    Raises:
        TokentuiError: The split is known but not supported.
    """
    name = _typed(vocabulary.values, vocabulary.place, "pre", str, "")
    name = vocabulary.model if vocabulary.model == _GEMMA4 else name
    if name in UNREAD:
        at = vocabulary.place.at("tokenizer.ggml.pre")
        raise at.error(f"the split {name} is not supported", "use the tokenizer.json of the model")
    pre = PRE.get(name or DEFAULT)
    if pre is None:
        what = f"pre={name[:40]}: unknown split; text is split as with pre={DEFAULT}"
        return PRE[DEFAULT], [f"{what}, and llama.cpp may refuse the file: {_OTHER_IDS}"]
    if name in ("", DEFAULT):
        what = f"pre={DEFAULT}" if name else f"the file has no pre: split as by pre={DEFAULT}"
        return pre, [f"{what}, which is no model's own split: {_OTHER_IDS}"]
    more = f"; {pre.remark}" if pre.remark else ""
    return pre, [f"pre={name}: text is split as llama.cpp does it under that name{more}"]


def _read_bpe(vocabulary: _VocabularyKeys, source: Source) -> Tokenizer:
    """Return the tokenizer of a file with merges."""
    pre, notes = _pre(vocabulary)
    default = None if vocabulary.model == _GEMMA4 else _BPE_DEFAULT
    around = vocabulary.around(default, default, add_bos=pre.bos, add_eos=False)
    specials = vocabulary.specials(*around[0], *around[1])
    rows = dict.fromkeys(_strings(vocabulary.values, vocabulary.place, "merges"))  # the first row counts
    gpt2 = _step("ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=True)
    if pre.cuts == (GPT2,):
        splitting = gpt2
    else:
        patterns = [SPLITS[GPT2].pattern if cut == GPT2 else cut for cut in pre.cuts]
        cuts = [
            _step("Split", pattern={"Regex": source_}, behavior="Isolated", invert=False)
            for source_ in patterns
        ]
        if not pre.marked:
            cuts.append({**gpt2, "use_regex": False})
        if pre.begins:
            cuts.append(_step("Metaspace", replacement=SPACE_MARK, prepend_scheme="always", split=True))
        splitting = _step("Sequence", pretokenizers=cuts)
    normalizer, decoder = None, gpt2
    if pre.marked:
        normalizer = _step("Replace", pattern={"String": " "}, content=SPACE_MARK)
        spaces = _step("Replace", pattern={"String": SPACE_MARK}, content=" ")
        decoder = _step("Sequence", decoders=[spaces, _step("ByteFallback"), _step("Fuse")])
    if pre.newlines:  # they are cut out first: the ids are the same
        kinds = [spm.USER_DEFINED if not token.strip("\n") else kind
                 for token, kind in zip(vocabulary.tokens, vocabulary.kinds, strict=True)]
        vocabulary = vocabulary._replace(kinds=kinds)
    model = {
        "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
        "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": pre.marked,
        "ignore_merges": pre.whole,
        "vocab": {token: number for number, token in enumerate(vocabulary.tokens)},
        "merges": _merges(list(rows)),
    }
    return _of_document(vocabulary, source, specials, around, notes, normalizer, splitting, decoder, model)


def _merges(rows: list[str]) -> list[str] | list[list[str]]:
    """Return merges as in a `tokenizer.json`: pairs of tokens, or the unchanged rows, which is faster.

    A row without a space behind its first character is left out.
    """
    if all(row.count(" ") == 1 and not row.startswith((" ", "#version")) for row in rows):
        return rows
    cuts = ((row, row.find(" ", 1)) for row in rows)
    return [[row[:cut], row[cut + 1 :]] for row, cut in cuts if cut > 0]


_GEMMA4 = "gemma4"
"""A model that is also the name of a split."""
_BPE_DEFAULT = 11
"""The id of BOS and EOS that llama.cpp uses if a BPE file names none."""


def _of_document(
    vocabulary: _VocabularyKeys, source: Source, specials: dict[str, int],
    around: tuple[tuple[str, ...], tuple[str, ...]], notes: list[str],
    normalizer: object, splitting: object, decoder: object, model: Mapping[str, object],
) -> Tokenizer:
    """Return the tokenizer of an equivalent `tokenizer.json`."""
    added = [asdict(token) for token in _cut_out(vocabulary, specials).values()]
    document = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
        "normalizer": normalizer, "pre_tokenizer": splitting, "decoder": decoder, "model": model,
        "post_processor": around_json(*around, specials),
    }
    return huggingface.read_document(Node(document, source.where), source, [*notes, *_remarks(vocabulary)])


# --- WordPiece ---


def _read_wordpiece(vocabulary: _VocabularyKeys, source: Source) -> Tokenizer:
    """Return a WordPiece tokenizer. In the file ▁ begins a word, and tokens that continue a word have no
    mark.

    Raises:
        TokentuiError: A token is missing or invalid.
    """
    place = vocabulary.place.at("tokenizer.ggml.tokens")
    unknown = vocabulary.id("unknown", 100)
    if unknown is None:
        raise place.error("no unknown token", gguf.AGAIN)
    before, after = vocabulary.id("bos", 101), vocabulary.id("seperator", 102)
    if before is None or after is None:
        raise place.error("no token before or after a text", gguf.AGAIN)
    around = (vocabulary.tokens[before],), (vocabulary.tokens[after],)
    specials = vocabulary.specials(*around[0], *around[1], vocabulary.tokens[unknown])
    named: dict[str, int] = {}
    for number, token in enumerate(vocabulary.tokens):
        name = token.removeprefix(SPACE_MARK)
        if token in specials or vocabulary.kinds[number] == spm.USER_DEFINED:
            name = token
        elif name == token:
            name = f"##{token}"
        if name in named or not name:
            raise place.at(number).error(f"{token[:40]!r} is not a BERT token, or occurs twice", gguf.AGAIN)
        named[name] = number
    lower = vocabulary.flag("normalizer.lowercase", True)
    normalizer = _step("BertNormalizer", clean_text=True, handle_chinese_chars=True, lowercase=lower,
                       strip_accents=vocabulary.flag("normalizer.strip_accents", lower))
    model = {"type": "WordPiece", "unk_token": vocabulary.tokens[unknown], "continuing_subword_prefix": "##",
             "max_input_chars_per_word": _ENDLESS, "vocab": named}
    decoder = _step("WordPiece", prefix="##", cleanup=True)
    notes = [
        "tokens that go on with a word are shown with ##, as in BERT's vocab.txt; the file has no mark",
        "text is normalized as in BERT; llama.cpp keeps only the first part of what it decomposes "
        "(가 becomes ᄀ), drops all marks, and takes U+0085 for a space and a typed ▁ for a word's begin",
    ]
    return _of_document(vocabulary, source, specials, around, notes, normalizer,
                        _step("BertPreTokenizer"), decoder, model)


# --- sentencepiece pieces ---


def _proto(vocabulary: _VocabularyKeys, unknown: int, **rules: Any) -> spm.Proto:
    """Return the sentencepiece message with the same pieces.

    llama.cpp merges to any token, even a control token. Such tokens are ordinary pieces here.
    """
    spelled = {token for token, kind in zip(vocabulary.tokens, vocabulary.kinds, strict=True)
               if kind not in (*_CONTROLS, spm.BYTE)}
    pieces = []
    for number, (token, kind, score) in enumerate(
        zip(vocabulary.tokens, vocabulary.kinds, vocabulary.scores, strict=True)
    ):
        if number == unknown:
            kind = spm.UNKNOWN
        elif kind in _CONTROLS:
            cuts = range(1, len(token)) if vocabulary.model == "llama" else ()
            reached = any(token[:cut] in spelled and token[cut:] in spelled for cut in cuts)
            kind = spm.NORMAL if reached else spm.CONTROL
        elif kind == spm.USER_DEFINED:
            kind, score = spm.NORMAL, 0.0 if vocabulary.model == "t5" else score
        elif kind == spm.UNUSED:
            kind = spm.NORMAL
        elif kind == spm.BYTE and not spm.BYTE_PIECE.fullmatch(token):
            kind = spm.UNUSED
        pieces.append(spm.Piece(token, score, kind))
    return spm.Proto(pieces=pieces, unknown_surface=vocabulary.tokens[unknown], **rules)


def _of_pieces(
    vocabulary: _VocabularyKeys, source: Source, unknown: int, proto: spm.Proto,
    around: tuple[tuple[str, ...], tuple[str, ...]], normalizer: Callable[[AlignedText], AlignedText],
    notes: Sequence[str] = (), stretching: Stretching | None = None,
) -> Tokenizer:
    """Return the tokenizer of a sentencepiece message. User-defined tokens are cut out first, and each part
    between them is a text. `stretching` is that of the normalizer."""
    file = described(proto)
    recipe = file.recipe
    source.keeps_split(recipe.split)
    unigram = proto.model_type == spm.UNIGRAM
    normal = (score for score, kind in zip(vocabulary.scores, vocabulary.kinds, strict=True)
              if kind == spm.NORMAL)
    least = min(normal, default=0.0)
    way = FUSED.with_tables(fallback={}, unknown=None, least=least) if unigram else file.way
    pretokenizer = words.StagedPretokenizer(
        recipe, normalizer, None if unigram else cut_words(proto, file.bytes_), byte_level=False
    )
    pretokenizer.stretching = stretching
    name = vocabulary.tokens[unknown]
    specials = vocabulary.specials(*around[0], *around[1], name)
    added = _cut_out(vocabulary, specials)
    sections = words.AddedSections(pretokenizer, normalizer, words.Finder(added))
    kinds = {piece.text: piece.kind for piece in proto.pieces} | dict.fromkeys(specials, spm.CONTROL)
    decode = name_decoder(proto, {**kinds, name: spm.UNKNOWN})
    return tokenizer_of(replace(
        file, format="gguf", specials={token: added_token.id for token, added_token in added.items()},
        unknown=unknown, names=dict(enumerate(vocabulary.tokens)), way=way, pretokenizer=pretokenizer,
        sections=sections, decoder=decode, around=around, notes=(*notes, *_remarks(vocabulary)),
        stages={"gguf": {"model": vocabulary.model}},
    ))


def _read_spm(vocabulary: _VocabularyKeys, source: Source) -> Tokenizer:
    """Return the tokenizer of a file with scored pieces that merge.

    Raises:
        TokentuiError: The unknown token is missing.
    """
    unknown = vocabulary.id("unknown", 0)
    if unknown is None:
        raise vocabulary.place.at("tokenizer.ggml.tokens").error("no unknown token", gguf.AGAIN)
    prefix = vocabulary.flag("add_space_prefix", True)
    proto = _proto(vocabulary, unknown, model_type=spm.BPE, byte_fallback=True, dummy_prefix=prefix,
                   squeeze=False, coverage=0.0)

    def marked(text: AlignedText) -> AlignedText:
        if not text.text:
            return text
        text = text.respelled(text.text.replace(" ", SPACE_MARK))
        return text.prepended(SPACE_MARK) if prefix else text

    missing = 256 - sum(piece.kind == spm.BYTE for piece in proto.pieces)
    what = f"{missing} of the 256 byte tokens are missing: llama.cpp fails where a text needs one"
    around = vocabulary.around(1, 2, add_bos=True, add_eos=False)
    return _of_pieces(
        vocabulary, source, unknown, proto, around, marked, [what] if missing else [],
        Stretching("", marked_words, " " if prefix else ""),
    )


def _read_unigram(vocabulary: _VocabularyKeys, source: Source) -> Tokenizer:
    """Return the tokenizer of a file with Unigram pieces, which normalizes as llama.cpp does.

    By default the unknown token is id 2 and the end token is id 1, which is added after a text. The file may
    name others, say that spaces are prefixed or squeezed, and hold a character map.

    Raises:
        TokentuiError: The unknown token is missing, or the character map or a flag is invalid.
    """
    unknown = vocabulary.id("unknown", 2)
    if unknown is None:
        raise vocabulary.place.at("tokenizer.ggml.tokens").error("no unknown token", gguf.AGAIN)
    rules: bytes = _typed(vocabulary.values, vocabulary.place, "precompiled_charsmap", bytes, b"")
    place = vocabulary.place.at("tokenizer.ggml.precompiled_charsmap")
    prefix = vocabulary.flag("add_space_prefix", False)
    squeeze = vocabulary.flag("remove_extra_whitespaces", False)
    proto = _proto(vocabulary, unknown, model_type=spm.UNIGRAM, byte_fallback=False, coverage=0.0,
                   dummy_prefix=prefix or squeeze, squeeze=squeeze)
    charsmap = Charsmap(rules, place) if rules else None
    recipe = recipe_of(proto)
    mapped = spm.SentencePieceWords(recipe, proto, charsmap, cut=None, whole=False).rewritten

    def marked(text: AlignedText) -> AlignedText:
        """Return a text with ▁ in front of words for spaces, squeezed if the file says so."""
        pieces_: list[tuple[str, int, int]] = []
        begun = inside = False
        for piece, start, end in mapped(text.text):
            out = ""
            for character in piece:
                if character != " ":
                    out += SPACE_MARK if not inside and (squeeze or (prefix and not begun)) else ""
                    begun = inside = True
                    out += character
                else:
                    inside = False
                    out += "" if squeeze else SPACE_MARK
            if out:
                pieces_.append((out, start, end))
        return text.edited("".join(piece for piece, _, _ in pieces_), lambda: pieces_)

    around = vocabulary.around(None, 1, add_bos=False, add_eos=True)
    notes = []
    if number := vocabulary.kinds.count(spm.BYTE):
        name = vocabulary.tokens[unknown]
        notes = [f"llama.cpp gives {name} for what no piece spells, and never the byte tokens "
                 f"({number:,} are there), which sentencepiece gives"]
    return _of_pieces(vocabulary, source, unknown, proto, around, marked, notes)


# --- RWKV ---

_ESCAPE = re.compile(rb"\\(?:x(..)|(.))", re.DOTALL)
_ESCAPED = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}


def _unescaped(token: str) -> bytes:
    """Return the bytes of a token with Python's backslash escapes; empty if an escape is invalid."""
    def byte(match: re.Match[bytes]) -> bytes:
        digits, other = match.groups()
        return bytes((int(digits, 16),)) if digits else _ESCAPED.get(other, other)

    try:
        return _ESCAPE.sub(byte, to_bytes(token))
    except ValueError:
        return b""


def _read_rwkv(vocabulary: _VocabularyKeys, source: Source) -> Tokenizer:
    """Return a tokenizer that takes the longest token from the left, without splitting into words.

    Raises:
        TokentuiError: A token is invalid, or a byte is missing.
    """
    place = vocabulary.place.at("tokenizer.ggml.tokens")
    pieces = list(map(_unescaped, vocabulary.tokens))
    if b"" in pieces:
        number = pieces.index(b"")
        what = f"{vocabulary.tokens[number][:40]!r} is not written as bytes"
        raise place.at(number).error(what, gguf.AGAIN)
    table = {piece: number for number, piece in enumerate(pieces)}  # of tokens that are alike the last counts
    if missing := sum(bytes((value,)) not in table for value in range(256)):
        raise place.error(f"{missing} of the 256 bytes are not tokens, and llama.cpp needs them all")
    recipe = Recipe(split="none", unit="byte", base="bytes", encode="longest-match", unknown="never")
    source.keeps_split(recipe.split)
    specials = vocabulary.specials()
    alone = frozenset(number for number, piece in enumerate(pieces) if table[piece] != number)
    added = _cut_out(vocabulary, specials)
    pretokenizer = Pretokenizer(recipe)
    sections = words.AddedSections(pretokenizer, None, words.Finder(added))
    spelled = dict(zip(vocabulary.tokens, pieces, strict=True))
    decode = NameDecoder(functools.partial(_joined, spelled), functools.partial(_apart, spelled))
    return tokenizer_of(TokenizerFile(
        "gguf", recipe, pieces, list(range(len(pieces))), units=table, never=alone,
        specials={token: added_token.id for token, added_token in added.items()}, tokens=vocabulary.tokens,
        way=TABLE.with_tables(limit=None), pretokenizer=pretokenizer, sections=sections, decoder=decode,
        around=((), ()), notes=tuple(_remarks(vocabulary)), stages={"gguf": {"model": vocabulary.model}},
    ))


def _joined(pieces: Mapping[str, bytes], names: Sequence[str]) -> bytes:
    return b"".join(map(pieces.__getitem__, names))


def _apart(pieces: Mapping[str, bytes]) -> Apart:
    return Apart(lambda names: list(map(pieces.__getitem__, names)))


_MODELS = {"gpt2": _read_bpe, _GEMMA4: _read_bpe, "llama": _read_spm, "bert": _read_wordpiece,
           "t5": _read_unigram, "rwkv": _read_rwkv}
"""Readers by the value of `tokenizer.ggml.model`."""


def _read(source: Source) -> Tokenizer:
    """Return the tokenizer of a GGUF file.

    Raises:
        TokentuiError: It is damaged, or its tokenizer is not supported. The message has the reason.
    """
    vocabulary = _vocabulary(source)
    return _MODELS[vocabulary.model](vocabulary, source)


GGUF = Codec(lambda source: source.data.startswith(gguf.MAGIC), _read)
