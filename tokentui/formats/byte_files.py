"""Files of tokens that are bytes: tiktoken's ranks, Mistral's `tekken.json`, and minbpe's `.model`.

A rank is the id of a token and its priority. A line of tiktoken's files is a token in base64 and its rank.
The files contain neither the pattern nor the specials. Those of published files are known (`published.py`);
for others the user names the pattern. A `tekken.json` has the pattern and the specials, which take the first
ids; the id of a token is its rank after them. minbpe's `.model` has a pattern, special tokens with their ids,
and merges with ids from 256. Sources: tiktoken 0.14, `load.py`; mistral-common, `tekken.py`; karpathy/minbpe,
`base.py`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from tokentui.encode.pipeline import Parents
from tokentui.encode.segment import PAIRS, RANKS
from tokentui.encode.tokenizer import Tokenizer, tokenizer_of
from tokentui.encode.vocabulary import TokenizerFile
from tokentui.formats import Codec
from tokentui.formats.published import PublishedEncoding, model_of, openai_of
from tokentui.formats.source import (
    LARGEST_ID,
    LONGEST_MARK,
    NO_SPECIALS,
    NeedsSplit,
    Node,
    Source,
    check_number,
    check_tokens,
)
from tokentui.formats.spec import FileToken, Fitted, Spec, Unsupported, json_bytes, pattern_of, split_of
from tokentui.formats.tokens import ORDER, ends_in
from tokentui.recipe import Recipe
from tokentui.text.sets import expanded
from tokentui.text.split import compile_pattern

_LINE = re.compile(rb"([A-Za-z0-9+/]{2,}={0,2}) ([0-9]{1,10})\r?")
_SNIFFED = 8
_ID = re.compile("0|[1-9][0-9]{0,9}")
_CONFIG = "tokenizer_config.json"


def _sniff(source: Source) -> bool:
    """Return whether the first lines are base64 and a number."""
    lines = [line for line in source.data[:65536].split(b"\n")[:_SNIFFED] if line.strip()]
    whole = lines[: max(1, len(lines) - 1)]
    return bool(lines) and all((m := _LINE.fullmatch(line)) and len(m[1]) % 4 == 0 for line in whole)


def _read(source: Source) -> Tokenizer:
    """Return the tokenizer of a tiktoken file.

    Raises:
        TokentuiError: It is damaged.
        NeedsSplit: It is not a published file, and no split was named.
    """
    ranks, empty = _ranks(source)
    encoding = openai_of(source.data, source.encoding) or model_of(ranks, source.split)
    if encoding is None and not source.split:
        raise NeedsSplit("a rank file does not store a pattern", source.where,
            "name it, such as -s split=cl100k")
    notes = [] if empty is None else [
        f"the token of id {empty} is empty: no text becomes it, and it is left out"
    ]
    split, specials, normalize = source.split, dict[str, int](), tuple[str, ...]()
    if encoding is None:
        notes.append(NO_SPECIALS)
    else:
        split, normalize = source.split or encoding.split, encoding.normalize
        specials = _named_specials(source, encoding)
        if split != encoding.split:
            other = f"split={split} gives other ids"
            notes.append(f"the file is {encoding.name}, whose split is {encoding.split}: {other}")
    if source.known is not None:
        specials, normalize = dict(source.known.specials), source.known.recipe.normalize
    return build(ranks, split, specials, Node(None, source.where), notes, normalize=normalize)


def _named_specials(source: Source, encoding: PublishedEncoding) -> dict[str, int]:
    """Return the special tokens of an encoding. The settings file next to it may name reserved ones.

    Raises:
        TokentuiError: Two special tokens have the same name.
    """
    specials = dict(encoding.specials)
    if not encoding.reserved or source.known is not None:
        return specials
    near = next((file for file in source.neighbors((_CONFIG,), ()) if file.where.endswith(_CONFIG)), None)
    rows = {} if near is None else near.root["added_tokens_decoder"].mapping({})
    for number in sorted({*specials.values()} & {int(key) for key in rows if _ID.fullmatch(key)}):
        assert near is not None
        name = near.root["added_tokens_decoder"][str(number)]["content"].text(most=LONGEST_MARK)
        if name in specials:
            raise near.error(f"two special tokens are named {name[:40]!r}")
        del specials[encoding.reserved.format(number)]
        specials[name] = number
    return dict(sorted(specials.items(), key=lambda special: special[1]))


def _of_base64(code: bytes | str) -> bytes | None:
    try:
        return binascii.a2b_base64(code, strict_mode=True)
    except (binascii.Error, ValueError):
        return None


def _ranks(source: Source) -> tuple[dict[bytes, int], int | None]:
    """Return the tokens with their ranks, without the empty token, and the rank of the empty token or None.

    Only Whisper's file has an empty token. Empty lines are skipped.

    Raises:
        TokentuiError: A line is damaged, or a token or rank occurs twice.
    """
    ranks_: dict[bytes, int] = {}
    taken: set[int] = set()
    for number, line in enumerate(source.data.split(b"\n")):
        if not line or line == b"\r":
            continue
        code, _, digits = line.partition(b" ")
        piece = b"" if code == b"=" else _of_base64(code or b"-")
        rank = int(digits) if digits.strip().isdigit() and len(digits) < 12 else LARGEST_ID + 1
        if piece is None or rank > LARGEST_ID:
            raise source.line(number).error("not a token in base64 and its rank", "fix the line")
        if piece in ranks_:
            raise source.line(number).error("the token is on two lines", "tokens must be unique")
        if rank in taken:
            raise source.line(number).error(f"rank {rank} is on two lines", "ranks must be unique")
        ranks_[piece] = rank
        taken.add(rank)
    return ranks_, ranks_.pop(b"", None)


def build(
    ranks: dict[bytes, int], split: str, specials: Mapping[str, int], place: Node, notes: Sequence[str] = (),
    content: Mapping[str, object] | None = None, *, normalize: tuple[str, ...] = (),
) -> Tokenizer:
    """Return the tokenizer of a table of ranks.

    Args:
        ranks: The rank of each token, which is its id.
        split: A value of that axis.
        specials: The special tokens with their ids.
        place: The file, for errors.
        notes: Sentences on assumptions.
        content: The content of a `tekken.json` besides the ranks; None for a tiktoken file.
        normalize: A value of that axis.

    Raises:
        TokentuiError: The split is invalid.
    """
    check_tokens(map(len, ranks), place)
    notes = list(notes)
    single = sorted((piece for piece in ranks if len(piece) == 1), key=ranks.__getitem__)
    earlier: dict[bytes, None] = dict.fromkeys(single)
    merged: list[bytes] = []
    orphans: list[bytes] = []
    for piece in sorted(ranks, key=ranks.__getitem__):
        if len(piece) > 1:
            (merged if Parents.has(piece, earlier) else orphans).append(piece)
            earlier[piece] = None
    pieces = single + orphans + merged
    table = {piece: symbol for symbol, piece in enumerate(pieces)}
    ids = [ranks[piece] for piece in pieces]
    order = [piece[0] for piece in single]
    values = list(range(256))
    base = "bytes" if order == values else "gpt2-bytes" if sorted(order) == values else "first-seen"
    if base == "gpt2-bytes" and order != list(ORDER):
        notes.append("the 256 bytes have their own order")
    if base == "first-seen":
        notes.append(f"{256 - len(single)} of the 256 bytes have no token: text with them is refused")
    if orphans:
        notes.append(f"{len(orphans)} of the tokens are spelled by no two earlier ones")
    unknown = "error" if base == "first-seen" else "never"
    return tokenizer_of(TokenizerFile(
        "tiktoken" if content is None else "tekken",
        Recipe(normalize, split, base=base, unknown=unknown, unicode="tiktoken"), pieces, ids,
        Parents(pieces, table, len(single) + len(orphans)), {piece: table[piece] for piece in single},
        specials=specials, way=RANKS.with_tables(table=table, order=ids, whole=table),
        around=ends_in(specials, "<s>", "</s>"), notes=tuple(notes), content=content or {},
    ))


def check_bytes(spec: Spec) -> None:
    """Raise for a vocabulary that lacks one of the 256 bytes, or has two tokens with equal bytes.

    Raises:
        Unsupported: The vocabulary is refused.
    """
    pieces = {entry.piece for entry in spec.ordinary}
    lacking = 256 - sum(len(piece) == 1 for piece in pieces)
    if lacking:
        raise Unsupported(f"{lacking} of the 256 bytes have no token", "",
                      "the format's owner fails on text with them")
    if len(pieces) < len(spec.ordinary):
        raise Unsupported("two tokens have the same bytes", "", "tokens must be unique")


def _ranked(spec: Spec) -> list[FileToken]:
    """Return the tokens in the order in which they merge.

    Raises:
        Unsupported: As `check_bytes`.
    """
    check_bytes(spec)
    tokens = spec.tokens(byte_level=True)
    if spec.way == "ranks":
        return tokens
    order = {result: n for n, (_, _, result) in enumerate(spec.merges)}
    return sorted(tokens, key=lambda token: (order.get(token.piece, -1), token.id))


def _fit(spec: Spec) -> Fitted:
    """Convert a tokenizer to a file of tiktoken.

    Raises:
        Unsupported: The format cannot represent the tokenizer.
    """
    fitted = Fitted(spec.recipe, _ranked(spec), specials=dict(spec.specials))
    merged = [token.id for token in fitted.tokens if len(token.piece) > 1]
    if any(left > right for left, right in pairwise(merged)):
        fitted.renumber()
    fitted.tokens.sort()
    return fitted


def _write(fitted: Fitted) -> tuple[bytes, ...]:
    """Return the bytes of a tiktoken file."""
    return (b"".join(base64.b64encode(token.piece) + b" %d\n" % token.id for token in fitted.tokens),)


TIKTOKEN = Codec(_sniff, _read, _fit, _write)


# --- tekken.json ---

_UNNAMED = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]",
    "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
)
"""The first special tokens of files without names for them: those of version 3."""


def _sniff_tekken(source: Source) -> bool:
    """Return whether the file is a JSON object with a pattern and a list of ranks."""
    config, vocabulary = source.document.get("config"), source.document.get("vocab")
    return isinstance(config, dict) and "pattern" in config and isinstance(vocabulary, list)


def _read_tekken(source: Source) -> Tokenizer:
    """Return the tokenizer of a `tekken.json`.

    Raises:
        TokentuiError: It is damaged.
    """
    document = source.root
    config = document["config"]
    pattern = config["pattern"].text()
    first = config["default_num_special_tokens"].number(0)
    size = config["default_vocab_size"].number(1 << 31)
    if first > 1 << 20 or size < first:
        raise config.error("there are more special tokens than tokens", "download the file again")
    split = split_of(pattern)
    source.keeps_split(split)
    rows = list(document["vocab"].rows())
    ranks = _tekken_ranks(rows[: size - first], first)
    specials, named = _specials(document["special_tokens"], first)
    notes = [] if named else [
        f"the file does not name its {first} special tokens: they are named as its owner names them"
    ]
    if left := len(rows) - len(ranks):
        beyond = f"{left} tokens lie beyond the size of the vocabulary"
        notes.append(f"{beyond} and are left out, as its owner does it")
    content = {name: value for name, value in source.document.items() if name != "vocab"}
    return build(ranks, split, specials, document, notes, content)


def _tekken_ranks(rows: Sequence[Node], first: int) -> dict[bytes, int]:
    """Return the id of each token: its rank plus `first`.

    Raises:
        TokentuiError: A rank is out of order, or a token is empty, not base64, or occurs twice.
    """
    ranks_: dict[bytes, int] = {}
    for row in rows:
        rank, piece = row["rank"].number(), _of_base64(row["token_bytes"].text())
        if piece is None:
            raise row.error("token_bytes is not base64")
        if rank != len(ranks_):
            raise row.error(f"rank {rank} where {len(ranks_)} belongs", "ranks increase by one")
        if not piece or piece in ranks_:
            raise row.error("the token is empty or occurs twice", "tokens must be unique")
        ranks_[piece] = rank + first
    return ranks_


def _specials(rows: Node, first: int) -> tuple[dict[str, int], bool]:
    """Return the special tokens with their ids, padded to `first`, and whether the file names any.

    Args:
        rows: The list of special tokens, perhaps null.
        first: The number of special tokens.

    Raises:
        TokentuiError: A rank occurs twice or is too large.
    """
    has_specials = rows.value is not None
    named: dict[int, str] = {} if has_specials else dict(enumerate(_UNNAMED[:first]))
    for row in rows.rows() if has_specials else ():
        rank, name = row["rank"].number(), row["token_str"].text()
        if rank >= first or rank in named or name in named.values():
            raise row.error(f"special token {rank} occurs twice or is beyond the first {first}",
                            "ranks increase by one")
        named[rank] = name
    return {named.get(rank, f"<SPECIAL_{rank}>"): rank for rank in range(first)}, has_specials or not first


def _fit_tekken(spec: Spec) -> Fitted:
    """Convert a tokenizer to a `tekken.json`: specials, the bytes in order of value, then the others.

    Raises:
        Unsupported: The format cannot represent the tokenizer.
    """
    tokens = sorted(_ranked(spec), key=lambda token: token.piece if len(token.piece) == 1 else b"\xff\xff")
    names = sorted(spec.specials, key=spec.specials.__getitem__)
    fitted = Fitted(spec.recipe, tokens, specials={name: n for n, name in enumerate(names)})
    fitted.renumber(len(names), spec.specials)
    fitted.metadata = {
        "config": {"pattern": pattern_of(spec.recipe), "num_vocab_tokens": len(tokens),
                   "default_vocab_size": len(names) + len(tokens),
                   "default_num_special_tokens": len(names), "version": "v3"},
        "special_tokens": [{"rank": n, "token_str": name, "is_control": True}
                           for n, name in enumerate(names)],
    }
    whole = spec.tokenizer.merges == len(spec.vocabulary.merges)
    if whole and spec.came_from("tekken"):
        fitted.metadata = dict(spec.file.content)
    return fitted


def _write_tekken(fitted: Fitted) -> tuple[bytes, ...]:
    """Return the bytes of a `tekken.json`."""
    first = len(fitted.specials)
    rows = []
    for token in fitted.tokens:
        try:
            text = token.piece.decode()
        except UnicodeDecodeError:
            text = None
        code = base64.b64encode(token.piece).decode("ascii")
        rows.append({"rank": token.id - first, "token_bytes": code, "token_str": text})
    return (json_bytes({"config": fitted.metadata["config"], "vocab": rows, **fitted.metadata}),)


TEKKEN = Codec(_sniff_tekken, _read_tekken, _fit_tekken, _write_tekken)


# --- minbpe's .model ---

_HEADER = "minbpe v1"
_LARGEST_BYTES = 1 << 26
"""Upper bound for the bytes of all tokens together, since each merge may double the longest token."""
_MERGE_LINE = re.compile(r"\s*([0-9]{1,9})\s+([0-9]{1,9})\s*")
_SPECIAL_LINE = re.compile(r"(.+?)\s+([0-9]{1,9})")
_SPACE = re.compile(r"\s")
_LINE_END = re.compile(r"[\n\r]")


def _sniff_minbpe(source: Source) -> bool:
    """Return whether the first line is the header."""
    return source.data.split(b"\n", 1)[0].strip() == _HEADER.encode()


def _read_minbpe(source: Source) -> Tokenizer:
    """Return the tokenizer of a minbpe `.model`.

    Raises:
        TokentuiError: It is damaged.
    """
    lines = source.lines
    if source.text is None:
        raise source.error("not UTF-8")
    if len(lines) < 3 or not re.fullmatch("[0-9]{1,9}", lines[2].strip()):
        raise source.line(2).error("expected the number of special tokens")
    check_number(256 + len(lines) - 3, Node(None, source.where))
    pattern, count = lines[1].strip(), int(lines[2])
    specials: dict[str, int] = {}
    for number in range(3, 3 + count):
        row = _SPECIAL_LINE.fullmatch(lines[number].strip()) if number < len(lines) else None
        if row is None or row[1] in specials:
            raise source.line(number).error("expected a special token and its id, each once",
                                            "fix the line")
        specials[row[1]] = int(row[2])
    pieces = [bytes((value,)) for value in range(256)]
    pairs: list[tuple[int, int]] = []
    size = 0
    for number in range(3 + count, len(lines)):
        row = _MERGE_LINE.fullmatch(lines[number])
        if row is None or int(row[1]) >= len(pieces) or int(row[2]) >= len(pieces):
            raise source.line(number).error("not a merge of two earlier ids",
                                            "fix the line")
        pairs.append((int(row[1]), int(row[2])))
        pieces.append(pieces[pairs[-1][0]] + pieces[pairs[-1][1]])
        size += len(pieces[-1])
        if size > _LARGEST_BYTES:
            raise source.line(number).error("the tokens are longer than in any real tokenizer",
                                            "fix the line")
    taken = {number: name for name, number in specials.items()}
    clash = next((name for number, name in taken.items() if number < len(pieces)), None)
    if clash is not None or len(taken) < len(specials):
        raise source.error(f"the special token {clash or '…'!r} has the id of another token",
                           "ids must be unique")
    recipe = Recipe(split=split_of(pattern) if pattern else "none", base="bytes", tie="first-seen")
    source.keeps_split(recipe.split)
    width = len(pieces)
    rows = {left * width + right: row for row, (left, right) in enumerate(pairs)}
    twice = len(pairs) - len(rows)
    notes = (f"{twice} pairs are on two lines: the last line of a pair counts",) if twice else ()
    return tokenizer_of(TokenizerFile(
        "minbpe", recipe, pieces, list(range(width)), pairs,
        {piece: value for value, piece in enumerate(pieces[:256])}, specials=specials,
        way=PAIRS.with_tables(rows=rows, makes=range(256, width)), around=((), ()), notes=notes,
    ))


def _fit_minbpe(spec: Spec) -> Fitted:
    """Convert a tokenizer to the contents of a `.model` of minbpe: bytes have their values as ids, the tokens
    of merges the ids from 256 on, in order.

    A special token keeps its id if no token has it; otherwise it gets the next id after all others. Special
    tokens whose names are empty or have whitespace are left out. The result lists both as losses, and each
    token whose id changes.

    Raises:
        Unsupported: The tokenizer is not byte-level, a token is not made by a merge, or the pattern does not
            fit into a line or has groups or set operations.
    """
    check_bytes(spec)
    pattern = "" if spec.recipe.split == "none" else pattern_of(spec.recipe)
    if expanded(pattern) != pattern:
        raise Unsupported("its pattern has a set operation", "", "minbpe reads && as two characters")
    if pattern != pattern.strip() or _LINE_END.search(pattern) or (
        pattern and compile_pattern(pattern).groups
    ):
        raise Unsupported("its pattern has groups, newlines, or spaces at the ends", "",
                      "the file stores the pattern on one line")
    fitted = Fitted(spec.recipe, [FileToken(value, str(value), bytes((value,))) for value in range(256)],
                    metadata={"pattern": pattern})
    tokens = fitted.tokens
    ids = {token.piece: token.id for token in tokens}
    for left, right, result in spec.merges:
        if result not in ids:
            fitted.rows.append((str(ids[left]), str(ids[right]), str(len(tokens))))
            ids[result] = len(tokens)
            tokens.append(FileToken(len(tokens), str(len(tokens)), result))
    orphans = [entry.text for entry in spec.ordinary if entry.piece not in ids]
    if orphans:
        what = f"{len(orphans)} of its tokens are made by no merge, such as {orphans[0][:40]!r}"
        raise Unsupported(what, "", "the file lists merges")
    left_out = [name for name in spec.specials if _SPACE.search(name) or not name]
    if left_out:
        fitted.lose("specials", "names with whitespace are left out", left_out[0])
    following = max([len(tokens) - 1, *spec.specials.values()]) + 1
    for name, number in spec.specials.items():
        if name not in left_out:
            fitted.specials[name] = number if number >= len(tokens) else following
            following += fitted.specials[name] == following
    now = {entry.text: ids[entry.piece] for entry in spec.ordinary} | fitted.specials
    keeps_ids = all(ids[entry.piece] == entry.id for entry in spec.ordinary)
    if not keeps_ids or any(spec.specials[name] != number for name, number in fitted.specials.items()):
        fitted.lose_ids(now, {entry.text: entry.id for entry in spec.ordinary} | spec.specials)
    return fitted


def _write_minbpe(fitted: Fitted) -> tuple[bytes, ...]:
    """Return the bytes of a minbpe `.model`."""
    specials = sorted(fitted.specials.items(), key=lambda item: item[1])
    lines = [_HEADER, str(fitted.metadata["pattern"]), str(len(specials)),
             *(f"{name} {number}" for name, number in specials)]
    lines += [f"{left} {right}" for left, right, _ in fitted.rows]
    return (("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"),)


MINBPE = Codec(_sniff_minbpe, _read_minbpe, _fit_minbpe, _write_minbpe)
