"""A changed vocabulary: added tokens, and removed tokens that a corpus does not use.

A tokenizer that was read from a file of Hugging Face tokenizers, sentencepiece or tiktoken is changed in the
shape of that file, and read again. One that was trained here is built again from the merges that are kept.

If a token is kept, so are all tokens that it is made of, by the list of merges and by encoding it alone. So a
text whose tokens are all kept still merges to them.
"""

from __future__ import annotations

import copy
import json
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from tokentui.analyze import export
from tokentui.analyze.report import Column, Report, Row, Section, Span, Target, as_row, data, muted, strong
from tokentui.analyze.shapes import GONE, in_shape, moves, read_again, renumbered, shape_of
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check, each, tick
from tokentui.core.table import escaped, plural
from tokentui.encode.decode import spelled_units
from tokentui.encode.tokenizer import TokenEntry, Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.formats import WRITTEN, Format
from tokentui.formats.proof import ExportReport
from tokentui.formats.sentencepiece import CONTROL, USER_DEFINED
from tokentui.formats.spec import FileToken, Fitted, Loss, Spec
from tokentui.text.corpus import Corpus

_NPY = b"\x93NUMPY\x01\x00"
"""The first bytes of a file of NumPy's: its name, and version 1.0."""
STOPS = ("merges", "vocab_size", "min_count", "max_length")
"""The parameters of a run that end it. A changed tokenizer has none of them: it did not end by them."""


class Added(NamedTuple):
    """A token that was added.

    Attributes:
        id: Its id.
        text: Its text.
        special: Whether it is a special token.
        does: How the library that reads the file treats it, in a sentence.
    """

    id: int
    text: str
    special: bool
    does: str


@dataclass(frozen=True)
class Pruned:
    """The number of removed tokens, and the documents that have other tokens since.

    Attributes:
        kept: The number of ids that are left.
        gone: The number of tokens that were removed.
        unused: The number of those that the corpus does not use.
        documents: The number of documents.
        refused: The numbers of the documents that the tokenizer refused before, from 1.
        changed: The numbers of the other documents with other tokens now, from 1.
    """

    kept: int
    gone: int
    unused: int
    documents: int
    refused: tuple[int, ...] = ()
    changed: tuple[int, ...] = ()


@dataclass(frozen=True)
class Grown:
    """The merges that further training appended.

    Attributes:
        merges: The number of the new merges.
        words: The number of distinct pre-tokens that they were trained on.
        before, after: The tokens of the corpus without the new merges, and with them.
        unlike: The pre-tokens that the tokenizer encodes differently from the training.
    """

    merges: int
    words: int
    before: int
    after: int
    unlike: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edit:
    """A changed tokenizer.

    Attributes:
        tokenizer: The tokenizer.
        ids: The new id of each old id, in order of the old ids from 0; `GONE` if there is none.
        losses: What a conversion to another format and a merge of tokenizers lost.
        added: The tokens that were added.
        pruned: The result of pruning; None if the vocabulary was not pruned.
        grown: The result of continued training; None if it was not requested.
    """

    tokenizer: Tokenizer
    ids: tuple[int, ...]
    losses: tuple[Loss, ...] = ()
    added: tuple[Added, ...] = ()
    pruned: Pruned | None = None
    grown: Grown | None = None


def unchanged(tokenizer: Tokenizer) -> Edit:
    """Return an edit that changes nothing."""
    return Edit(tokenizer, _listed({entry.id: entry.id for entry in tokenizer.entries()}))


def changes(edit: Edit, before: Tokenizer) -> tuple[list[TokenEntry], list[TokenEntry]]:
    """Return the tokens that were removed and the tokens that were added, each in order of their ids. A token
    that only has another id is in neither.

    Args:
        edit: The edit.
        before: The tokenizer that it began with.
    """
    kept = {old for old, new in enumerate(edit.ids) if new != GONE}
    there = set(edit.ids)
    removed = [entry for entry in each(before.entries()) if entry.id not in kept]
    return removed, [entry for entry in each(edit.tokenizer.entries()) if entry.id not in there]


def _listed(ids: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(ids.get(number, GONE) for number in range(max(ids, default=-1) + 1))


def followed(first: tuple[int, ...], then: Mapping[int, int]) -> tuple[int, ...]:
    """Compose two maps of ids: `first` by position, then `then`. An id that either lacks becomes `GONE`."""
    return tuple(then.get(number, GONE) for number in first)


def id_map(path: str, ids: Sequence[int]) -> bytes:
    """Return a map from old to new ids as the bytes of a file. The extension selects the format: `.json` is a
    list with the new id of each old id; `.npy` is the same as little-endian int64.

    Raises:
        TokentuiError: The name has another extension.
    """
    if path.lower().endswith(".json"):
        return json.dumps(list(ids)).encode() + b"\n"
    if not path.lower().endswith(".npy"):
        raise TokentuiError("unknown file extension", path[:80], "use .json or .npy")
    about = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({len(ids)},), }}".encode()
    about += b" " * (-(len(_NPY) + 2 + len(about) + 1) % 64) + b"\n"
    return _NPY + struct.pack("<H", len(about)) + about + struct.pack(f"<{len(ids)}q", *ids)


class NewId(NamedTuple):
    """A new id, with the old ids of its text. Its row of an embedding can start as the mean of their rows.

    Attributes:
        id: The new id.
        text: The token for people.
        old: The ids of the text in the old tokenizer, in order, without tokens that have no id.
    """

    id: int
    text: str
    old: tuple[int, ...]


def new_ids(edit: Edit, before: Tokenizer) -> list[NewId]:
    """Return each added id, in order, with the old ids of its text.

    The old tokenizer encodes the units of a token as a part of a word, marks included, and a special token as
    a text. A special token that it refuses has no old ids.

    Args:
        edit: The edit.
        before: The tokenizer that it began with.
    """
    _, came = changes(edit, before)
    return [NewId(entry.id, entry.text, _old_ids(edit.tokenizer, before, entry)) for entry in came]


def _old_ids(now: Tokenizer, before: Tokenizer, entry: TokenEntry) -> tuple[int, ...]:
    """Return the ids under which the earlier tokenizer encodes the text of a new entry, without tokens that
    have no id."""
    if entry.symbol is None:
        return tuple(number for number in _encoded(before, entry.text) or () if number >= 0)
    vocabulary, units = before.vocabulary, spelled_units(now.encoder, entry.symbol)
    parts = before.encoder.parts(list(units), len(entry.text))
    ids = [
        vocabulary.id_of(part.symbol, before.merges) if part.symbol is not None
        else vocabulary.unknown_id if part.byte is None
        else vocabulary.byte_id(part.byte)
        for part in parts
    ]
    return tuple(number for number in ids if number is not None)


def init_file(path: str, rows: Sequence[NewId]) -> bytes:
    """Return new ids with the old ids of their texts as the bytes of a file. The extension selects the
    format: `.json` is a list of objects; `.tsv` has a row for each, with spaces between the old ids, and with
    tabs, line ends and backslashes of the text escaped.

    Raises:
        TokentuiError: The name has another extension.
    """
    if path.lower().endswith(".json"):
        return json.dumps([row._asdict() for row in rows], ensure_ascii=False, indent=1).encode(
            "utf-8", "replace"
        ) + b"\n"
    if not path.lower().endswith(".tsv"):
        raise TokentuiError("unknown file extension", path[:80], "use .json or .tsv")
    lines = ["id\ttext\told"]
    lines += [f"{row.id}\t{escaped(row.text)}\t{' '.join(map(str, row.old))}" for row in rows]
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


# --- tokens that are added ---


def add(edit: Edit, texts: Sequence[tuple[str, bool]]) -> Edit:
    """Add tokens after the last id. Without texts, return the edit unchanged. A tokenizer whose format holds
    no added tokens is converted first.

    Args:
        edit: The tokenizer so far.
        texts: The text of each token, and whether it is a special one.

    Raises:
        TokentuiError: A text is empty, has a lone surrogate, is a token already or named twice, or no format
            holds the tokenizer with it.
    """
    if not texts:
        return edit
    tokenizer_before = edit.tokenizer
    for number, (text, special) in enumerate(texts):
        where = f"--{'special' if special else 'add'} {text[:40]}"
        _check_text(tokenizer_before, text, where)
        if text in [earlier for earlier, _ in texts[:number]]:
            raise TokentuiError("named twice", where, "name it once")
    tokenizer, format, losses = in_shape(tokenizer_before, "--add", ranks=False)
    before = {entry.id: entry for entry in tokenizer.entries()}
    moved = moves(tokenizer_before, tokenizer) if losses else {number: number for number in before}
    last = max(before, default=-1)
    fitted = format.codec.to_format(Spec(tokenizer))
    added: list[Added] = []
    for number, (text, special) in enumerate(texts, last + 1):
        place = _add_piece if format.name == "sentencepiece" else _add_listed
        added.append(Added(number, text, special, place(fitted, number, text, special)))
    extended = read_again(format, fitted)
    there = {entry.id: entry.piece for entry in extended.entries()}
    for token in added:
        if there.get(token.id) != _spelled(format, token.text, token.special).encode():
            where = f"--add {token.text[:40]}"
            raise TokentuiError(f"its id would not be {token.id}", where, "prune it first")
    return replace(edit, tokenizer=extended, ids=followed(edit.ids, moved), losses=edit.losses + losses,
                   added=edit.added + tuple(added))


def _check_text(tokenizer: Tokenizer, text: str, where: str) -> None:
    """Check that a text can be a new token.

    Raises:
        TokentuiError: It is empty, has a lone surrogate, or is a token or the name of one already.
    """
    try:
        code = text.encode()
    except UnicodeEncodeError:
        raise TokentuiError("a lone surrogate is not valid text", where, "use another text") from None
    if not text:
        raise TokentuiError("a token cannot be empty", where, "use another text")
    taken = tokenizer.token_to_id(code)
    taken = tokenizer.vocabulary.special_id(text) if text in tokenizer.vocabulary.specials else taken
    if taken is None:
        taken = {name: number for number, name in tokenizer.vocabulary.names.items()}.get(text)
    if taken is not None:
        raise TokentuiError(f"already a token, with id {taken}", where, "leave it out")


def _spelled(format: Format, text: str, special: bool) -> str:
    """Return the name of an added token as a file of the format spells it."""
    return text.replace(" ", "▁") if format.name == "sentencepiece" and not special else text


def _add_listed(fitted: Fitted, number: int, text: str, special: bool) -> str:
    """Add a token to the contents of a `tokenizer.json`. Return a sentence on how tokenizers treats it."""
    listed = fitted.metadata.get("added_tokens")
    row = {"id": number, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
           "normalized": False, "special": special}
    fitted.metadata["added_tokens"] = [*(listed if isinstance(listed, list) else ()), row]
    fitted.specials[text] = number
    how = "tokenizers matches it in the text as typed, before splitting and merging"
    return how + ("; decoding omits it by default" if special else "")


def _add_piece(fitted: Fitted, number: int, text: str, special: bool) -> str:
    """Add a piece to the contents of a sentencepiece model. Return a sentence on how sentencepiece treats it.
    """
    kinds = fitted.metadata["kinds"]
    assert isinstance(kinds, dict)
    name = _spelled(WRITTEN["sentencepiece"], text, special)
    fitted.metadata["kinds"] = {**kinds, str(len(fitted.tokens)): CONTROL if special else USER_DEFINED}
    fitted.tokens.append(FileToken(number, name, name.encode(), 0.0))
    if special:
        return "sentencepiece never matches it in text: a program inserts its id, and decoding omits it"
    return "sentencepiece matches it in the normalized text, before pieces are merged"


# --- tokens that are removed ---


def prune(edit: Edit, corpus: Corpus, keep: int | None = None) -> Edit:
    """Remove the tokens that a corpus does not use. The remaining ids are renumbered in their old order.

    Base units, byte tokens and specials stay, and each token that another one is made of. If the format of
    the file cannot be pruned, the tokenizer is converted first. The report of the result lists, by number
    from 1, the documents whose tokens change, and those that cannot be encoded, which do not count as use of
    any token. The current job ticks twice per document: when it is counted, and when it is encoded again.

    Args:
        edit: The tokenizer so far.
        corpus: The corpus: documents.
        keep: The maximum number of ids to keep, those of the most used tokens; None for all used ones. A
            token that does not fit with all its parts is left out, and a rarer one that fits is kept.

    Raises:
        TokentuiError: The corpus is one of counted words, the ids that always stay are more than `keep`, or
            the tokenizer is of a kind that cannot be pruned.
    """
    tokenizer, losses = edit.tokenizer, edit.losses
    vocabulary, format = tokenizer.vocabulary, shape_of(tokenizer)
    if not vocabulary.plain_merges:
        what = f"objective={tokenizer.recipe.objective} encodes by all of its steps: none can be removed"
        raise TokentuiError(what, "--prune", "use a tokenizer with merges")
    if corpus.counts is not None:
        raise TokentuiError("counted words are not documents", "--prune", "use a text corpus")
    first = {entry.id: entry.id for entry in tokenizer.entries()}
    if vocabulary.imported and format is None:
        read, format, lost = in_shape(tokenizer, "--prune")
        first, tokenizer, losses = moves(tokenizer, read), read, losses + lost
    uses: Counter[int] = Counter()
    encoded = []
    for number, text in enumerate(corpus.documents):
        tick(number, 2 * len(corpus.documents))
        ids = _encoded(tokenizer, text)
        uses.update(ids or ())
        encoded.append(ids)
    spec = Spec(tokenizer)
    kept = _kept(spec, uses, keep)
    pruned_tokenizer, moved = _remade(spec, kept) if format is None else _shortened(spec, format, kept)
    changed = []
    for number, text in enumerate(corpus.documents):
        tick(len(encoded) + number, 2 * len(encoded))
        ids = encoded[number]
        if ids is None:
            continue
        expected = [moved.get(token_id, token_id if token_id < 0 else GONE - 1) for token_id in ids]
        if expected != _encoded(pruned_tokenizer, text):
            changed.append(number + 1)
    gone = [entry.id for entry in spec.entries if entry.id not in moved]
    pruned = Pruned(len(moved), len(gone), sum(not uses[token_id] for token_id in gone), len(encoded),
                  tuple(n for n, ids in enumerate(encoded, 1) if ids is None), tuple(changed))
    numbers = followed(followed(edit.ids, first), moved)
    return replace(edit, tokenizer=pruned_tokenizer, ids=numbers, losses=losses, pruned=pruned)


def _encoded(tokenizer: Tokenizer, text: str) -> list[int] | None:
    """Return the ids of a text, with `GONE` for tokens without an id; None if it cannot be encoded."""
    try:
        return list(tokenizer.encode_ids(text))
    except TokentuiError:
        return None


def _kept(spec: Spec, uses: Counter[int], keep: int | None) -> set[int]:
    """Return the ids to keep: those that always stay, then the most used tokens, each with its parts.

    Raises:
        TokentuiError: The tokens that always stay are more than `keep`.
    """
    kept = {entry.id for entry in spec.entries if _stays(entry)} | set(spec.specials.values())
    if keep is not None and keep < len(kept):
        what = f"base units and specials alone are {len(kept):,} ids"
        raise TokentuiError(what, f"--keep {keep}", f"use {len(kept)} or more")
    parts = _Parts(spec)
    order = sorted((entry for entry in spec.entries if uses[entry.id]),
                   key=lambda entry: (-uses[entry.id], entry.id))
    for n, entry in enumerate(order):
        if n % 256 == 0:
            check()
        extended = kept | parts.of(entry) | {entry.id} if entry.id not in kept else kept
        if keep is None or len(extended) <= keep:
            kept = extended
    return kept


def _stays(entry: TokenEntry) -> bool:
    """Return whether a token is always kept: anything but merges and longer pieces."""
    if entry.kind in ("merge", "orphan"):
        return False
    return entry.kind != "piece" or len(entry.piece.decode("utf-8", "replace")) <= 1


class _Parts:
    """The tokens that others are made of.

    Args:
        spec: The tokenizer.
    """

    def __init__(self, spec: Spec) -> None:
        self._vocabulary, self._ids = spec.vocabulary, spec.symbols
        self._ranks: dict[tuple[int, int], tuple[int, int]] = {}
        for rank, (left, right, made) in enumerate(spec.pairs):
            self._ranks.setdefault((left, right), (rank, made))

    def of(self, entry: TokenEntry) -> set[int]:
        """Return the ids of all tokens that a token is made of, its own among them.

        They are found by the list of merges and by encoding its text. Empty for a token without a symbol.
        """
        if entry.symbol is None:
            return set()
        units: list[int] = []
        symbols, stack, base = set(), [entry.symbol], self._vocabulary.base_size
        while stack:
            symbol = stack.pop()
            symbols.add(symbol)
            if symbol < base or symbol - base >= len(self._vocabulary.merges):
                units.append(symbol)
            else:
                left, right = self._vocabulary.merges[symbol - base]
                stack += [right, left]
        last = len(self._ranks), 0
        while len(units) > 1:
            ranked = ((*self._ranks.get(pair, last), n) for n, pair in enumerate(pairwise(units)))
            rank, joined, at = min(ranked)
            if rank == last[0]:
                break
            units[at : at + 2] = [joined]
            symbols.add(joined)
        return {self._ids[symbol] for symbol in symbols if symbol in self._ids}


def _remade(spec: Spec, kept: set[int]) -> tuple[Tokenizer, dict[int, int]]:
    """Return a tokenizer that tokentui trained with only the kept tokens, and the new id of each kept id.
    Stops of its run are dropped."""
    old, merges, recipe = spec.vocabulary, spec.tokenizer.merges, spec.recipe
    ids = old.ids(merges)
    stays = [symbol for symbol in range(old.base_size) if ids[symbol] in kept]
    specials = [name for name in old.specials if name not in recipe.symbols]
    scores = [old.scores[symbol] for symbol in stays] if old.scores else ()
    new = Vocabulary(recipe, [old.pieces[symbol] for symbol in stays], specials, old.first_id, scores)
    symbols = {symbol: rank for rank, symbol in enumerate(stays)}
    for rank, (left, right) in enumerate(old.merges[:merges]):
        if ids[old.base_size + rank] in kept and {left, right} <= symbols.keys():
            symbols[old.base_size + rank] = new.add(symbols[left], symbols[right], old.counts[rank])
    run = {key: value for key, value in spec.tokenizer.run.items() if key not in STOPS}
    remade = Tokenizer(new, None, run)
    moved = {ids[symbol]: new.id_of(other, remade.merges) for symbol, other in symbols.items()}
    moved |= {entry.id: entry.id for entry in spec.entries if entry.symbol is None}
    return remade, moved


def _shortened(spec: Spec, format: Format, kept: set[int]) -> tuple[Tokenizer, dict[int, int]]:
    """Return the tokenizer of a file with only the kept tokens, and the new id of each kept id."""
    fitted = copy.copy(format.codec.to_format(spec))
    numbers = sorted({token.id for token in fitted.tokens if token.id in kept} | {*fitted.specials.values()})
    moved = {number: n for n, number in enumerate(numbers)}
    places = {n: token.id for n, token in enumerate(fitted.tokens)}
    fitted.tokens = [token._replace(id=moved[token.id]) for token in fitted.tokens if token.id in moved]
    names = {token.name for token in fitted.tokens}
    fitted.rows = [row for row in fitted.rows if names.issuperset(row)]
    fitted.specials = {name: moved[number] for name, number in fitted.specials.items()}
    kinds = fitted.metadata.get("kinds")
    if isinstance(kinds, dict):
        moves = {str(n): str(moved[number]) for n, number in places.items() if number in moved}
        moved_kinds = {moves[n]: kind for n, kind in kinds.items() if n in moves}
        fitted.metadata = {**fitted.metadata, "kinds": moved_kinds}
    if format.name == "huggingface":
        fitted.metadata = {name: renumbered(value, moved) for name, value in fitted.metadata.items()}
    return read_again(format, fitted), moved


# ---- the report

_FEW = 10


def report(
    before: int, after: int, went: Sequence[TokenEntry], came: Sequence[TokenEntry], *,
    added: Sequence[Added] = (),
    pruned: Pruned | None = None, grown: Grown | None = None, losses: Sequence[Loss] = (),
    written: ExportReport | None = None,
) -> Report:
    """Report on a changed vocabulary: losses, the effect on the corpus, and removed and added tokens.

    Args:
        before, after: The number of ids.
        went, came: The tokens that went, and those that came.
        added: The tokens that were named.
        pruned: The result of pruning; None if there was none.
        grown: The result of training on; None if there was none.
        losses: The losses on the way.
        written: The result of writing it to a file; None before that.
    """
    sections = [Section("ids", f"{before:,} before, {after:,} now")]
    if written is not None:
        sections.insert(0, export.section(written, losses))
    elif losses:
        sections.insert(0, Section("lost", plural(len(losses), "property", "properties"),
                                   export.loss_rows(losses), (Column(),)))
    sections += [] if pruned is None else _pruned_sections(pruned)
    sections += [] if grown is None else _grown_sections(grown)
    # Files list added tokens with special ones, which plain text cannot spell.
    plain = {token.id for token in added if not token.special}
    came = [replace(entry, kind="added") if entry.id in plain and entry.kind == "special" else entry
            for entry in came]
    does = {token.id: token.does for token in added}
    named_first = sorted(came, key=lambda entry: entry.id not in does)
    for title, entries in (("removed", went), ("added", named_first)):
        if entries:
            rows = tuple(_entry_row(entry, title == "removed", does) for entry in entries)
            sections.append(Section(title, plural(len(entries), "token"), rows, few=_FEW))
    value: dict[str, object] = {
        "ids_before": before, "ids": after, "pruned": pruned, "grown": grown,
        "went": [as_row(entry, "id", "piece", "kind") for entry in went],
        "came": [as_row(entry, "id", "piece", "kind") for entry in came],
        "added": added,
    }
    if written is not None:
        value |= as_row(replace(written, losses=(*losses, *written.losses)))
    summary = strong(f"{before:,} → {plural(after, 'id')}")
    return Report("Change the vocabulary", tuple(sections), value, summary)


def _pruned_sections(pruned: Pruned) -> list[Section]:
    """Return how many tokens went, and which documents then have other pieces or are refused."""
    used = f", {pruned.gone - pruned.unused:,} of them used by the corpus"
    summary = f"{plural(pruned.documents, 'document')}: {len(pruned.changed):,} with different pieces"
    summary += f", {len(pruned.refused):,} that cannot be encoded" if pruned.refused else ""
    rows = tuple(Row(("document", f"{number:,}")) for number in pruned.changed)
    style = "warning" if pruned.changed else "success"
    return [Section("pruned", plural(pruned.gone, "token") + used),
            Section("corpus", Span(summary, style), rows, (Column(),), _FEW)]


def _grown_sections(grown: Grown) -> list[Section]:
    """Return how many merges came, which pre-tokens encoding cuts otherwise than training, and the tokens."""
    summary = f"{plural(grown.merges, 'merge')} on {plural(grown.words, 'pre-token')}, "
    summary += f"{len(grown.unlike):,} of them not encoded as trained"
    rows = tuple(Row((data(word),)) for word in grown.unlike)
    return [Section("trained on", summary, rows, few=_FEW),
            Section("tokens", f"{grown.before:,} → {grown.after:,} in this corpus")]


def _entry_row(entry: TokenEntry, gone: bool, does: Mapping[int, str]) -> Row:
    target = Target("token", entry.id) if gone else None
    notes = () if gone or entry.id not in does else (does[entry.id],)
    return Row((f"{entry.id:,}", entry.piece, muted(entry.kind), *notes), target)
