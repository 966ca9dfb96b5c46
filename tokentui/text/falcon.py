"""Falcon's split: three patterns, one after the other."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tokentui.core.safetext import SURROGATE, to_bytes
from tokentui.text.normalize import BERT_PUNCTUATION

if TYPE_CHECKING:
    import regex


@functools.cache
def _falcon_patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[bytes]]:
    """Return the patterns for runs of punctuation, a digit, and runs of digits. They are compiled at first
    use, which takes a tenth of the start-up time."""
    return (
        re.compile(f"[{BERT_PUNCTUATION}]+|[^{BERT_PUNCTUATION}]+"), re.compile("[0-9\x80-\U0010ffff]"),
        re.compile(
            rb"[0-9]{3}|(?:(?![0-9]{3})[0-9\xb2\xb3\xb9\xbc-\xbe])+|[^0-9\xb2\xb3\xb9\xbc-\xbe]+"
        ),
    )


_CONTINUING = bytes(range(0x80, 0xC0))


def falcon(
    pattern: regex.Pattern[str], text: str, seen: Callable[[str], str]
) -> Iterator[tuple[str, int, int]]:
    """Yield the words with their places: runs of punctuation; between them GPT-2's words; digits in these in
    groups of three.

    Falcon applies the pattern of digits to GPT-2's letters for bytes, where six bytes look like ² ³ ¹ ¼ ½ ¾.
    So words may be cut inside characters. Parts of characters are lone surrogates, as "surrogateescape" makes
    them. `seen` returns what the pattern reads in place of a text, of the same length.
    """
    punctuation_runs, digit, digit_runs = _falcon_patterns()
    at = 0
    for run in punctuation_runs.findall(text):
        for match in pattern.finditer(seen(run)):
            word = run[match.start() : match.end()]
            if not digit.search(word):
                yield word, at, at + len(word)
            else:
                bare = SURROGATE.search(word) is not None  # then a byte may be a character
                characters = enumerate(word, at) if bare else ()
                owners = [n for n, character in characters for _ in to_bytes(character)]
                done, begun = 0, at
                for part in digit_runs.findall(to_bytes(word)):
                    start, end = begun - (part[0] in _CONTINUING), done + len(part)
                    begun += len(part.translate(None, _CONTINUING))
                    span = (owners[done], owners[end - 1] + 1) if bare else (start, begun)
                    yield part.decode("utf-8", "surrogateescape"), *span
                    done = end
            at += len(word)
