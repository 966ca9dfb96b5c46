"""Texts of whole characters that contain some bytes, such as those of a token that is part of a character."""

from __future__ import annotations

import functools
import itertools
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

_LEADS = {2: bytes(range(0xC2, 0xE0)), 3: bytes(range(0xE0, 0xF0)), 4: bytes(range(0xF0, 0xF5))}
"""The first bytes of the characters of each size in bytes."""
_REST = bytes(range(0x80, 0xC0))
_ALL = bytes(range(256))
_SECOND = {
    0xE0: _REST[0x20:], 0xED: _REST[:0x20], 0xF0: _REST[0x10:], 0xF4: _REST[:0x10],
}
"""The second bytes of characters, where they are not all of `_REST`, by the first byte (RFC 3629)."""


class Allowed(NamedTuple):
    """The bytes that a completion may add.

    Attributes:
        first: Those that may begin a word.
        inner: Those that may stand elsewhere.
        last: Those that may end a word.
    """

    first: bytes = _ALL
    inner: bytes = _ALL
    last: bytes = _ALL


ALL = Allowed()


def completions(data: bytes, allowed: Allowed = ALL) -> Iterator[str]:
    """Yield texts of whole characters that contain these bytes, with as few other characters as possible.

    >>> next(completions(b"\\x80")), next(completions(b"t\\xc3")), list(completions(b"\\xff"))
    ('\\x80', 'tÀ', [])
    >>> list(completions(b"\\xa9", Allowed(b"\\xc3\\xe2", b"\\x9f", b"")))
    ['é', '⟩']

    Args:
        data: The bytes, at least one.
        allowed: The bytes that the text may have beside them.
    """
    rest, part = _cut(data)
    if rest == data:
        for size in _LEADS:
            for after in range(size - len(data)):  # this many bytes of the character are after it
                yield from _around(data, size - len(data) - after, after, allowed)
        return
    try:
        data[len(rest) : len(data) - len(part)].decode()
    except UnicodeDecodeError:
        return
    for head in _heads(rest, allowed):
        for tail in _tails(part, allowed):
            yield (head + data + tail).decode()


def varied(data: bytes, allowed: Allowed = ALL) -> Iterator[str]:
    """Yield those of the completions that differ much: for each general category and each byte next to the
    data, the first character.

    A split tells characters apart by their category, and tokens that take a byte of the data away have the
    byte next to it.

    Args:
        data: The bytes, at least one.
        allowed: The bytes that the text may have beside them.
    """
    rest, part = _cut(data)
    if rest == data:
        seen = set()
        for text in completions(data, allowed):
            key = unicodedata.category(text), text.encode().partition(data)[0][-1:]
            if key not in seen:
                seen.add(key)
                yield text
        return
    if next(completions(data), None) is None:
        return
    heads, tails = _varied_heads(rest, allowed), _varied_tails(part, allowed)
    for total in range(len(heads) + len(tails) - 1):
        for n in range(max(0, total - len(tails) + 1), min(total + 1, len(heads))):
            yield (heads[n] + data + tails[total - n]).decode()


def _cut(data: bytes) -> tuple[bytes, bytes]:
    """Return the bytes at the start that end a character, and those at the end that begin one."""
    rest = data[: len(data) - len(data.lstrip(_REST))]
    for size in range(1, min(3, len(data) - len(rest)) + 1):
        if (lead := data[-size]) >= 0xC2:
            whole = next((whole for whole, leads in _LEADS.items() if lead in leads), size)
            return rest, data[-size:] if whole > size else b""
    return rest, b""


@functools.lru_cache(64)
def _varied_heads(rest: bytes, allowed: Allowed) -> list[bytes]:
    found: dict[tuple[str, bytes], bytes] = {}
    for head in _heads(rest, allowed):
        found.setdefault((unicodedata.category((head + rest).decode()) if rest else "", head[-1:]), head)
    return list(found.values())


@functools.lru_cache(64)
def _varied_tails(part: bytes, allowed: Allowed) -> list[bytes]:
    found: dict[tuple[str, bytes], bytes] = {}
    for tail in _tails(part, allowed):
        found.setdefault((unicodedata.category((part + tail).decode()) if part else "", tail[:1]), tail)
    return list(found.values())


def _heads(rest: bytes, allowed: Allowed) -> Iterator[bytes]:
    """Yield bytes that make a character with the bytes at its end; nothing alone if there are none."""
    if not rest:
        yield b""
        return
    for size in _LEADS:
        if size > len(rest):
            for text in _around(rest, size - len(rest), 0, allowed):
                yield text.encode()[: -len(rest)]


def _around(rest: bytes, before: int, after: int, allowed: Allowed) -> Iterator[str]:
    """Yield the characters with this many bytes before and after some of their bytes."""
    inner = _only(_REST, allowed.inner)
    for lead in _only(_LEADS[before + len(rest) + after], allowed.first):
        second = _SECOND.get(lead, _REST)
        if before == 1 and rest[0] not in second:
            continue
        fillings = [_only(second, inner), *[inner] * (before - 2)] if before > 1 else []
        for head in itertools.product(*fillings):
            for tail in itertools.product(*_tail(after, inner, allowed)):
                yield bytes((lead, *head, *rest, *tail)).decode()


def _tails(part: bytes, allowed: Allowed) -> Iterator[bytes]:
    """Yield the bytes that complete the first bytes of a character; nothing alone if there are none."""
    if not part:
        yield b""
        return
    missing = next(size for size, leads in _LEADS.items() if part[0] in leads) - len(part)
    inner = _only(_REST, allowed.inner)
    second = _SECOND.get(part[0], _REST)
    if part[1:].strip(_REST) or (len(part) > 1 and part[1] not in second):
        return
    fillings = _tail(missing, inner, allowed)
    if len(part) == 1:
        fillings[0] = _only(second, fillings[0])
    yield from map(bytes, itertools.product(*fillings))


def _tail(size: int, inner: bytes, allowed: Allowed) -> list[bytes]:
    """Return the values of each of the last bytes of a character."""
    return [*[inner] * (size - 1), _only(_REST, allowed.last)] if size else []


def _only(values: bytes, allowed: bytes) -> bytes:
    return values if allowed is _ALL else bytes(value for value in values if value in allowed)
