"""Encode many texts: in as many threads as pay off, and short texts by one kernel call."""

from __future__ import annotations

import contextlib
import functools
import itertools
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence

from tokentui.core import engines
from tokentui.core.jobs import check
from tokentui.core.safetext import SURROGATE
from tokentui.encode import id_tables
from tokentui.encode.encoder import TokenSource, WordEncoder
from tokentui.encode.encoding import Encoding, joined, packed
from tokentui.encode.segment import UnknownUnit

CALL_CHARS = 1 << 17
"""Characters of short texts that are encoded by one kernel call."""
_TEXT_CHARS = 8
"""Starting a text costs plain Python about as much as encoding this many characters."""


def slices(encoder: WordEncoder, sizes: Sequence[int]) -> list[slice]:
    """Split texts into slices of about equal length in characters, one per thread that speeds up the work.

    Kernels run without the interpreter's lock. Plain Python does not, and gets one slice. Without texts there
    is one empty slice.

    Args:
        encoder: The encoder of the texts.
        sizes: The length of each text, in characters.
    """
    total = sum(sizes)
    threads = encoder.id_table.threads(total) or 1
    before = list(itertools.accumulate(sizes, initial=0))
    cuts = sorted({0, len(sizes), *(bisect_left(before, total * n // threads) for n in range(1, threads))})
    return [slice(start, end) for start, end in itertools.pairwise(cuts)] or [slice(0, 0)]


def encode_batch(
    encoder: WordEncoder, texts: Sequence[str], *, special_tokens: bool = False,
    allow_special: bool = False, threads: int | None = None,
) -> list[Encoding]:
    """Encode texts, each as `WordEncoder.encode` does. The arguments are described there.

    Raises:
        TokentuiError, Cancelled: As `encode` does, for the first text that fails.
    """
    encode = functools.partial(
        encoder.encode, special_tokens=special_tokens, allow_special=allow_special, threads=threads
    )
    sizes = list(map(len, texts))
    if not (texts and encoder.id_table.threads(sum(sizes) + _TEXT_CHARS * len(sizes))):
        return list(map(encode, texts))
    special_id = encoder.vocabulary.special_id
    before, after = (packed(map(special_id, ends)) if special_tokens else array("i")
                     for ends in encoder.around)
    source = TokenSource(encoder, special_tokens, allow_special)
    encodings: list[Encoding] = []
    size_before, longest = list(itertools.accumulate(sizes, initial=0)), id_tables.KERNEL_CHARS
    alone = set(encoder.texts_alone(texts, allow_special))
    if max(sizes) >= longest:
        alone.update(number for number, size in enumerate(sizes) if size >= longest)
    first = 0
    for last in (*sorted(alone), len(texts)):
        while first < last:
            end = min(bisect_left(size_before, size_before[first] + CALL_CHARS, first + 1), last)
            encodings += _together(texts[first:end], source, before, after, encode)
            first = end
        encodings.extend(map(encode, texts[last : last + 1]))
        first = last + 1
    return encodings


def _together(
    texts: Sequence[str], source: TokenSource, before: array[int], after: array[int],
    encode: Callable[[str], Encoding],
) -> list[Encoding]:
    """Encode some short texts by one call of the kernels.

    Args:
        texts: The texts.
        source: Computes their tokens.
        before, after: The ids before and after those of each text.
        encode: Encodes a text by itself. It takes those that kernels do not.
    """
    found = None
    if len(texts) > 1:
        check()
        with engines.rescued(), contextlib.suppress(UnknownUnit):
            found = source.encoder.id_table.ids_of_texts(texts)
    if found is not None:
        return Encoding.each_later(texts, *_surrounded(*found, before, after), source)
    if len(texts) < 2 or not SURROGATE.search("".join(texts)):
        return list(map(encode, texts))  # one text at a time says which is wrong, and where
    encodings: list[Encoding] = []
    for lone, group in itertools.groupby(texts, lambda text: SURROGATE.search(text) is not None):
        some = list(group)  # kernels take none with a lone surrogate
        encodings += map(encode, some) if lone else _together(some, source, before, after, encode)
    return encodings


def _surrounded(
    ids: array[int], stops: array[int], before: array[int], after: array[int]
) -> tuple[array[int], array[int]]:
    """Put ids before and after those of each text. `stops` are those of `IdTable.ids_of_texts`."""
    if not (before or after):
        return ids, stops
    whole, ends = array("i"), array("q", (0,))
    for start, stop in itertools.pairwise(stops):
        for more in (before, ids[start:stop], after):
            whole = joined(whole, more)
        ends.append(len(whole))
    return whole, ends
