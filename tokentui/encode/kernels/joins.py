"""The pairs of characters that tokens have side by side, as a table for the scanner.

A merge makes a token, and a token is its characters side by side. So between two characters that no token has
side by side nothing ever joins, and the tokens of both sides do not depend on each other.

Check `tokentui.core.engines.available` before you import this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tokentui.core.arrays import flat
from tokentui.core.jobs import check
from tokentui.core.native import SPREAD
from tokentui.encode.segment import UNKNOWN, Segmenter
from tokentui.encode.segment.merges import Merging
from tokentui.encode.vocabulary import Vocabulary
from tokentui.text.kernels import scan_count
from tokentui.text.kernels.count import PAD, bounds_of
from tokentui.text.kernels.scan_count import Bigrams
from tokentui.text.split import SPACE_MARK

CODES = 1 << 21
"""More than the code points that UTF-8 can spell."""
_CODE_BITS = 21
_LEAST_BITS, _MOST_BITS = 14, 21
_SPARSE = 2
"""The free bits of the table of pairs: four times as many places as tokens."""
_BYTE_TOKEN = re.compile(rb"<0x[0-9A-F]{2}>")
_BYTES = frozenset(range(256)) - {0xC0, 0xC1, *range(0xF5, 0x100)}
"""The bytes that UTF-8 has."""
_CHECK_EVERY = 4096
_REPLACED = 0xFFFD


def bigrams_of(
    vocabulary: Vocabulary, segmenter: Segmenter | None, names: Iterable[str], *, marks: bool
) -> Bigrams | None:
    """Return the pairs of characters that may be side by side in a token.

    Args:
        vocabulary: The vocabulary. Its units are characters without marks.
        segmenter: Its way of encoding.
        names: Names that are searched for in a text.
        marks: True if spaces become ▁.

    Returns:
        The table; None if characters that no token has side by side may affect each other.
    """
    if not isinstance(segmenter, Merging) or not segmenter.plain or segmenter.makes_whole_words:
        return None
    bytes_, pieces = segmenter.byte_symbols, vocabulary.pieces
    complete = bytes_.keys() >= _BYTES
    if bytes_ and not (complete and len(_BYTE_TOKEN.findall(b"\n".join(pieces))) == len(bytes_)):
        return None  # some bytes are unknown, or byte tokens merge
    check()
    policy = UNKNOWN.of(vocabulary.file.policy or vocabulary.recipe.unknown)
    if not complete and policy.ignores_rest and not policy.is_error:
        return None
    bits = min(max(len(pieces).bit_length() + _SPARSE, _LEAST_BITS), _MOST_BITS)
    known = flat("uint8", 0 if complete else CODES)
    bigrams = Bigrams(flat("uint8", 1 << 14), flat("uint8", 1 << bits), 64 - bits, known)
    texts = [*pieces, *(name.encode("utf-8", "surrogatepass") for name in names)]
    joined, bounds = b"".join((*texts, PAD)), bounds_of(texts)
    check()
    scan_count.put_bigrams(joined, bounds, bigrams)
    check()
    if not complete:
        known_characters = [text for text, symbol in segmenter.characters().items() if symbol >= 0]
        _note_known(bigrams, known_characters, marks)
    return bigrams


def _note_known(bigrams: Bigrams, characters: Iterable[str], marks: bool) -> None:
    """Note which characters have tokens. The others join with each of their neighbors."""
    known, low = bigrams.known, bigrams.low
    for character in characters:
        known[ord(character)] = 1
    space, mark = ord(" "), ord(SPACE_MARK)
    known[space] = known[mark] if marks else known[space] & known[mark]
    for code in range(128):
        if not known[code]:
            low[code << 7 : (code + 1) << 7] = bytes([1]) * 128
            for left in range(128):
                low[left << 7 | code] = 1


def cut_of(bigrams: Bigrams, text: str, at: int) -> int:
    """Return the first place from `at` on, except 0, where a text may be cut; its length if there is none."""
    low, others, shift, known = bigrams.low, bigrams.others, bigrams.shift, bigrams.known
    left = _code(text, max(at, 1) - 1) if text else 0
    for place in range(max(at, 1), len(text)):
        if place % _CHECK_EVERY == 0:
            check()
        code = _code(text, place)
        if left | code < 0x80:
            joined = low[left << 7 | code]
        else:
            key = (left << _CODE_BITS | code) * SPREAD & 0xFFFFFFFFFFFFFFFF
            joined = others[key >> shift] or (len(known) and not (known[left] and known[code]))
        if not joined:
            return place
        left = code
    return len(text)


def _code(text: str, at: int) -> int:
    """Return the code point of a character as the table counts it. A lone surrogate is read as U+FFFD."""
    code = ord(text[at])
    if 0xD800 <= code < 0xE000:
        return _REPLACED
    return ord(" ") if code == ord(SPACE_MARK) else code
