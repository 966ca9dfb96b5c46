"""GPT-2's alphabet: the 256 letters that stand for bytes in files of byte-level tokenizers."""

from __future__ import annotations

from tokentui.text.split import to_bytes

_PRINTED = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [value for value in range(256) if value not in _PRINTED]

LETTERS: tuple[str, ...] = tuple(
    chr(value) if value in _PRINTED else chr(0x100 + _OTHERS.index(value)) for value in range(256)
)
"""The letter of each byte: printable Latin-1 stands for itself, the other 68 are U+0100 and on."""

ORDER: tuple[int, ...] = tuple(sorted(range(256), key=LETTERS.__getitem__))
"""The bytes in order of their letters, as GPT-2 numbers them."""

_TO_BYTES: dict[int, int | str] = {ord(letter): value for value, letter in enumerate(LETTERS)}
# A character below U+0100 that is no letter must not be taken for the byte of its number.
_TO_BYTES |= {value: "\uffff" for value in range(256) if value not in _TO_BYTES}
_TO_LETTERS = dict(enumerate(LETTERS))


def spelled(token: str) -> bytes:
    """The bytes that a token of letters stands for; one that holds other characters stands for itself, as
    UTF-8.
    """
    try:
        return token.translate(_TO_BYTES).encode("latin-1")
    except UnicodeEncodeError:
        return to_bytes(token)


def is_letters(token: str) -> bool:
    """Return whether all characters of a token are letters for bytes."""
    try:
        token.translate(_TO_BYTES).encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True


def letters(data: bytes) -> str:
    """The letters of bytes."""
    return data.decode("latin-1").translate(_TO_LETTERS)
