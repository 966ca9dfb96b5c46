"""Find for each token a text that becomes it, or the reason why no text does.

Two things can prevent a token: the encoder (its own units become other tokens), or the steps before it
(normalization and split never leave its units side by side in a word). The first is decided exactly: context
never changes how the units inside a token join. The second is tested in a few contexts, and the reason says
which.
"""

from __future__ import annotations

import heapq
import itertools
import weakref
from collections.abc import Iterator, Sequence

from tokentui.core.jobs import each
from tokentui.core.safetext import to_bytes
from tokentui.encode.completions import ALL, Allowed, completions, varied
from tokentui.encode.decode import bare, spelled_units
from tokentui.encode.names import NameFinder
from tokentui.encode.results import Reachability
from tokentui.encode.segment import UNKNOWN
from tokentui.encode.tokenizer import TokenEntry, Tokenizer
from tokentui.encode.why_not import Case, reason_of, shortest_word
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import MARKS

_CONTEXTS = ("{}", "a{}", "{}a", "a{}a", " {}", "1{}", "{}1", "1{}1", "'{}", "a {}", "{} ")
_NEIGHBORS = 128
"""The number of units, and of longest tokens, that are put next to a token that alone becomes other tokens.
"""
_MOST_TRIED = 1 << 15
"""The most texts that are tried for a byte-fallback token."""
_FIRST_TRIED, _MOST_VARIED = 1 << 7, 1 << 11
"""The texts that are tried for a token that is part of a character: the shortest, then all with others."""
_MOST_OPENINGS = 1 << 12
"""The most texts that are tried in front of a token that is nearly as long as the longest word."""
_UNKNOWN = ("\u0378", "☃", "\ue000", "\U0010fffd", "\x01", "a" * 200)
"""Texts that a vocabulary may lack."""


class _Answers:
    """Cached answers about one tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.specials = NameFinder(tokenizer.vocabulary.specials)
        self.allowed = _allowed(tokenizer)
        self.beside = _beside(tokenizer.recipe, self.allowed)
        self.neighbors: tuple[str, ...] | None = None
        self.reached: dict[tuple[int, int | None], Reachability] = {}


_KNOWN: weakref.WeakKeyDictionary[Tokenizer, _Answers] = weakref.WeakKeyDictionary()


def reachability_of_all(tokenizer: Tokenizer) -> Iterator[Reachability]:
    """Yield each token of a vocabulary by id, with a text that becomes it, or the reason why no text does."""
    entries = tuple(tokenizer.entries())
    return (reachability_of(tokenizer, entry) for entry in each(entries, len(entries)))


def neighbors(tokenizer: Tokenizer) -> tuple[str, ...]:
    """Return texts to put next to a token that alone becomes other tokens: long tokens, then units. The
    result is cached."""
    known = _known(tokenizer)
    if known.neighbors is None:
        known.neighbors = _neighbors(tokenizer)
    return known.neighbors


def _known(tokenizer: Tokenizer) -> _Answers:
    known = _KNOWN.get(tokenizer)
    if known is None:
        known = _KNOWN.setdefault(tokenizer, _Answers(tokenizer))
    return known


def _neighbors(tokenizer: Tokenizer) -> tuple[str, ...]:
    """Return texts to try around a token: the longest tokens, then units. Empty ones are left out."""
    vocabulary = tokenizer.vocabulary
    longest = heapq.nlargest(_NEIGHBORS, tokenizer.entries(), key=lambda entry: len(entry.piece))
    long = (typed_text(tokenizer, entry.symbol) for entry in longest if entry.symbol is not None)
    units = (vocabulary.bare(unit).decode("utf-8", "surrogateescape") for unit in vocabulary.units)
    return tuple(filter(None, (*long, *itertools.islice(units, _NEIGHBORS))))


def reachability_of(
    tokenizer: Tokenizer, entry: TokenEntry, others: Sequence[str] | None = None
) -> Reachability:
    """Return a text that becomes a token, or the reason why no text does.

    A token that only invalid UTF-8 becomes has both: a text with lone surrogates, and a reason.

    Args:
        tokenizer: The tokenizer.
        entry: The token.
        others: The texts to put next to a token; None for the `neighbors`, and then the answer is cached.
    """
    if others is not None:
        return _reach(tokenizer, entry, others)
    reached = _known(tokenizer).reached
    key = entry.id, entry.symbol
    answer = reached.get(key)
    if answer is None:
        answer = reached[key] = _reach(tokenizer, entry, None)
    return answer


def _reach(tokenizer: Tokenizer, entry: TokenEntry, others: Sequence[str] | None) -> Reachability:
    """Return how a token is reached: by a text that encodes to it, or why none was found.

    A word is judged by the segmentation of its own units. If that is the token, texts around it are tried:
    its own text in several contexts, then characters that contain its bytes.
    """
    if entry.kind == "byte":
        return _byte(tokenizer, entry)
    encoder, vocabulary, symbol = tokenizer.encoder, tokenizer.vocabulary, entry.symbol
    if symbol is None:
        tried = _UNKNOWN if entry.kind == "unknown" else ()
        candidates = (entry.text, *tried)
        text = next((typed for typed in candidates if encoder.ids_include(typed, entry.id)), None)
        return _answer(tokenizer, entry, text, entry.text)
    piece = vocabulary.spelled(symbol)
    if (text := _whole_word(tokenizer, symbol, piece)) is not None:
        return Reachability(entry.id, piece, text)
    units = spelled_units(encoder, symbol)
    parts = encoder.segmenter.segment(units, shortest_word(vocabulary, symbol))
    own, has_units = typed_text(tokenizer, symbol), False
    if [part.symbol for part in parts] != [symbol]:
        return _answer(tokenizer, entry, None, own)
    if own is None:
        data = bare(tokenizer.recipe, piece)
        for text in itertools.islice(whole_characters(tokenizer, units, data), _MOST_VARIED):
            has_units = True
            if encoder.ids_include(text, entry.id):
                return Reachability(entry.id, piece, text)
        raw = data.decode("utf-8", "surrogateescape")
        raws = (context.replace("{}", raw) for context in _CONTEXTS)
        invalid_text = next((raw for raw in raws if encoder.ids_include(raw, entry.id)), None)
        return _answer(tokenizer, entry, invalid_text, raw, has_units)
    named = _known(tokenizer).specials.is_in(own)
    # Each unit has a byte of the word, except a mark that is a unit of its own. A character that continues a
    # word has another one before it.
    continues = vocabulary.recipe.unit == "char" and vocabulary.unit_continues(units[0])
    least = len(units) + continues - (MARKS.of(vocabulary.recipe.mark).is_unit)
    spelled: dict[str, tuple[bytes, ...]] = {}
    for context in _CONTEXTS:
        text = context.replace("{}", own)
        words = encoder.pretokenizer.words(text)
        for word in words:
            if len(to_bytes(word)) < least:
                continue
            if word not in spelled:
                spelled[word] = tuple(encoder.pretokenizer.units(word))
            if not _contains_run(spelled[word], units):
                continue
            has_units = True
            alone = spelled[word] == units and text == own and not named
            if alone or encoder.ids_include(text, entry.id, words):
                return Reachability(entry.id, piece, text)
    if has_units:
        others = neighbors(tokenizer) if others is None else others
        for other in others:
            for text in (other + own, own + other, other + own + other):
                if encoder.ids_include(text, entry.id):
                    return Reachability(entry.id, piece, text)
        for opening in itertools.islice(_openings(tokenizer, own, others), _MOST_OPENINGS):
            if encoder.ids_include(opening + own, entry.id):
                return Reachability(entry.id, piece, opening + own)
    return _answer(tokenizer, entry, None, own, has_units)


def whole_characters(tokenizer: Tokenizer, units: Sequence[bytes], data: bytes) -> Iterator[str]:
    """Yield texts of whole characters that contain the units of a token side by side, with the marks that
    they have: the shortest ones, then ones that differ much. If unknown units are refused, the bytes beside
    them are known.

    Args:
        tokenizer: The tokenizer.
        units: The units of the token.
        data: Their bytes without marks.
    """
    vocabulary, mark = tokenizer.vocabulary, MARKS.of(tokenizer.recipe.mark)
    continues, ends = vocabulary.unit_continues(units[0]), vocabulary.unit_ends(units[-1])
    allowed = _known(tokenizer).allowed
    around = [*_known(tokenizer).beside, *neighbors(tokenizer)[:2]]
    inside = Allowed(allowed.first + allowed.inner, allowed.inner, allowed.inner + allowed.last)
    added = allowed if allowed is ALL or not (mark.in_front or mark.at_end) else inside
    few = itertools.islice(completions(data, added), _FIRST_TRIED)
    for text in itertools.chain(few, varied(data, added)):
        begun, ended = text.encode().startswith(data), text.encode().endswith(data)
        if (mark.in_front and begun < (not continues)) or (mark.ends_word and ended < ends):
            return  # a byte of its character is on the side where its mark says that no unit is
        if not (mark.in_front and begun and continues) and not (mark.at_end and ended and not ends):
            yield text
        if mark.in_front and begun <= continues:
            yield from (other + text for other in around)
        if mark.at_end and ended <= (not ends):
            yield from (text + other for other in around)


def _beside(recipe: Recipe, allowed: Allowed) -> list[str]:
    """Return characters that may begin a word, if marks are in front, or end one, if they are at the end: one
    letter, digit, space and other character. None for other marks."""
    mark, found = MARKS.of(recipe.mark), dict[tuple[bool, ...], str]()
    values = allowed.first if mark.in_front else allowed.last if mark.at_end else b""
    for value in dict.fromkeys(value for value in (*b"a!1", *values) if value in values):
        for text in itertools.islice(completions(bytes((value,)), allowed), _FIRST_TRIED):
            found.setdefault((text.isalpha(), text.isdigit(), text.isspace()), text)
    return list(found.values())


def _allowed(tokenizer: Tokenizer) -> Allowed:
    """Return the bytes of words that a tokenizer encodes: all, unless it refuses unknown bytes."""
    recipe, encoder = tokenizer.recipe, tokenizer.encoder
    if recipe.unit != "byte" or not UNKNOWN.of(recipe.unknown).is_error or encoder.pretokenizer.symbols:
        return ALL
    known, mark = encoder.vocabulary.known_units(tokenizer.merges), MARKS.of(recipe.mark)
    text = to_bytes(recipe.mark_text)
    front, end = (text if mark.in_front else b""), (text if mark.at_end else b"")
    values = [bytes((value,)) for value in range(256)]
    return Allowed(*(
        b"".join(value for value in values if before + value + after in known)
        for before, after in ((b"", b""), (front, b""), (front, end))
    ))


def _whole_word(tokenizer: Tokenizer, symbol: int, piece: bytes) -> str | None:
    """Return the text of a token that is a word without a mark, if that text becomes the token; else None.

    Most tokens are such words. It does what `_reach` does with the first context, but cuts the units only
    once.
    """
    encoder, vocabulary = tokenizer.encoder, tokenizer.vocabulary
    marked = vocabulary.recipe.mark_kind.startswith("end-") or vocabulary.unit_continues(piece)
    if marked or symbol >= vocabulary.base_size:
        return None
    text = typed_text(tokenizer, symbol)
    if not text or _known(tokenizer).specials.is_in(text) or encoder.pretokenizer.words(text) != [text]:
        return None
    if to_bytes(text) != piece:
        return None
    parts = encoder.segmenter.segment(encoder.pretokenizer.units(text), len(text))
    return text if len(parts) == 1 and parts[0].symbol == symbol else None


def _openings(tokenizer: Tokenizer, own: str, others: Sequence[str]) -> Iterator[str]:
    """Yield short texts to put in front of a token, shortest first, if longer ones would make the word too
    long to be encoded. Each consists of tokens.

    A token that continues a word follows the longest token that begins a word. Only if both together are too
    long do other beginnings matter.
    """
    most = tokenizer.encoder.way.most
    if most is None or all(len(other) + len(own) <= most for other in others):
        return
    room = most - len(own)
    texts = {typed_text(tokenizer, symbol_) for symbol_ in tokenizer.vocabulary.symbols(tokenizer.merges)}
    short = sorted((text for text in texts if text and len(text) <= room), key=lambda text: (len(text), text))
    by_size = [[""]]
    for size in range(1, room + 1):
        longer = (head + text for text in short if len(text) <= size for head in by_size[size - len(text)])
        by_size.append(list(dict.fromkeys(itertools.islice(longer, _MOST_OPENINGS))))
        yield from by_size[size]


def never(tokenizer: Tokenizer, symbol: int) -> str:
    """Return a sentence on why no text, valid or not, becomes the token of a symbol; empty if a text does."""
    vocabulary = tokenizer.vocabulary
    piece, kind = vocabulary.spelled(symbol), vocabulary.kind_of(symbol)
    token_id = vocabulary.id_of(symbol, tokenizer.merges)
    entry = TokenEntry(token_id, piece, piece.decode("utf-8", "replace"), kind, None, symbol)
    answer = reachability_of(tokenizer, entry)
    return answer.sentence if answer.text is None else ""


def typed_text(tokenizer: Tokenizer, symbol: int) -> str | None:
    """Return the text to type for a token, without its mark. None if its bytes are not UTF-8."""
    vocabulary = tokenizer.vocabulary
    piece = vocabulary.spelled(symbol)
    try:
        text = piece.decode()
    except UnicodeDecodeError:
        return None
    if vocabulary.prefix and vocabulary.unit_continues(piece):
        return text.removeprefix(tokenizer.recipe.mark_text)
    return tokenizer.decoder.text_of(vocabulary.id_of(symbol, tokenizer.merges))


def _answer(
    tokenizer: Tokenizer, entry: TokenEntry, text: str | None, own: str | None, has_units: bool = False
) -> Reachability:
    """Return the answer for a token: its text, or the reason why no valid text becomes it.

    Args:
        tokenizer: The tokenizer.
        entry: The token.
        text: A text that becomes it; None if there is none.
        own: The text to type for it; None if its bytes are not UTF-8.
        has_units: Whether words of some texts contain its units side by side.
    """
    piece = entry.piece if entry.symbol is None else tokenizer.vocabulary.spelled(entry.symbol)
    if text is not None and entry.symbol is None:
        return Reachability(entry.id, piece, text)
    shown_text = own if own is not None else piece.decode("utf-8", "surrogateescape")
    reason = reason_of(Case(tokenizer, shown_text, entry=entry, has_units=has_units))
    return Reachability(entry.id, piece, text, reason.reason, reason.sentence, reason.facts)


def _contains_run(units: Sequence[bytes], wanted: Sequence[bytes]) -> bool:
    """Return whether units contain other units side by side, at least one, in this order."""
    if wanted == units:
        return True
    size, first = len(wanted), wanted[0]
    return any(
        units[at] == first and units[at : at + size] == wanted for at in range(len(units) - size + 1)
    )


def _byte(tokenizer: Tokenizer, entry: TokenEntry) -> Reachability:
    """Return the answer for a byte-fallback token."""
    value = int(entry.text[3:5], 16)
    known = tokenizer.vocabulary.units
    for text in _characters(value):
        if text.encode() not in known and tokenizer.encoder.ids_include(text, entry.id):
            return Reachability(entry.id, entry.piece, text)
    reason = reason_of(Case(tokenizer, entry.text, entry=entry, has_units=bool(next(_characters(value), ""))))
    return Reachability(entry.id, entry.piece, None, reason.reason, reason.sentence, reason.facts)


def _characters(value: int) -> Iterator[str]:
    """Yield characters whose UTF-8 contains a byte, beyond ASCII at most _MOST_TRIED."""
    if value < 0x80:
        yield chr(value)
    else:
        yield from itertools.islice(completions(bytes((value,))), _MOST_TRIED)
