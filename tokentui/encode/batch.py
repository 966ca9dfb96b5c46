"""Encode many texts: in as many threads as pay off, and short texts by one kernel call."""

from __future__ import annotations

import contextlib
import functools
import itertools
from array import array
from bisect import bisect_left
from collections.abc import Sequence

from tokentui.core import native
from tokentui.core.jobs import check
from tokentui.encode import id_tables
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.encoding import Encoding, joined, packed
from tokentui.encode.segment import UnknownUnit

CALL_CHARS = 1 << 16
"""Characters of short texts that are encoded by one kernel call."""


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
    encoder: WordEncoder, texts: Sequence[str | bytes], *, special_tokens: bool = False,
    allow_special: bool = False, threads: int | None = None,
) -> list[Encoding]:
    """Encode texts, each as `WordEncoder.encode` does. The arguments are described there.

    Raises:
        TokentuiError, Cancelled: As `encode` does, for the first text that fails.
    """
    encode = functools.partial(
        encoder.encode, special_tokens=special_tokens, allow_special=allow_special, threads=threads
    )
    if not encoder.id_table.threads(sum(map(len, texts))):
        return list(map(encode, texts))
    special_id, names = encoder.vocabulary.special_id, encoder.vocabulary.specials if allow_special else ()
    before, after = (packed(map(special_id, ends)) if special_tokens else array("i")
                     for ends in encoder.around)
    encodings: list[Encoding] = []
    short: list[str] = []

    def encode_short() -> None:
        """Encode the texts in `short` and empty it."""
        ids_of_texts = None
        if len(short) > 1:
            check()
            with native.rescued(), contextlib.suppress(UnknownUnit):
                ids_of_texts = encoder.id_table.ids_of_texts(short)
        if ids_of_texts is None:  # one text at a time says which is wrong, and where
            encodings.extend(map(encode, short))
        else:
            for text, ids in zip(short, ids_of_texts, strict=True):
                placed = functools.partial(encoder.placed_tokens, text, special_tokens, allow_special)
                whole = joined(joined(before[:], ids), after) if before or after else ids
                encodings.append(Encoding.later(text, whole, placed))
        short.clear()

    size = 0
    for given in texts:
        text = given.decode("utf-8", "surrogateescape") if isinstance(given, bytes) else given
        if (
            len(text) >= id_tables.KERNEL_CHARS or any(map(text.__contains__, names))
            or not encoder.splits_plainly(text)
        ):
            encode_short()
            encodings.append(encode(text))
            size = 0
            continue
        short.append(text)
        size += len(text)
        if size >= CALL_CHARS:
            encode_short()
            size = 0
    encode_short()
    return encodings
