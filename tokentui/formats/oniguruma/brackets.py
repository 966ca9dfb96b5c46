"""The letters of a pattern: what follows a backslash, and what stands in brackets."""

from __future__ import annotations

import re

import regex

from tokentui.formats.oniguruma.classes import Class, both, in_brackets, of_name, of_posix, of_type
from tokentui.formats.oniguruma.nodes import Untranslated

_SIGNS = {"t": "\t", "v": "\v", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_PROPERTY = re.compile(r"\{(\^?)([^(){}|]*)\}")
_POSIX = re.compile(r":(\^?)([a-z]+):\]")
_LIKE_POSIX = re.compile(r":[^:\]\\]{0,20}:\]")
_BRACED = {"x": re.compile(r"\{([0-9A-Fa-f]{1,8})\}"), "o": re.compile(r"\{([0-7]{1,11})\}")}
_CRUDE = {"x": re.compile(r"[0-9A-Fa-f]{0,2}"), "0": re.compile("[0-7]{0,2}")}
_AGAIN = {"x": re.compile(r"\\x([0-9A-Fa-f]{1,2})"), "0": re.compile(r"\\([0-7]{1,3})")}


_BEYOND_ASCII = "".join(map(chr, range(0x80, 0x3000)))


class Brackets:
    """A pattern and the place that is read next."""

    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.at = 0

    def took(self, sign: str) -> bool:
        """Whether a sign stands at the place; then it is passed."""
        if self.text.startswith(sign, self.at):
            self.at += len(sign)
            return True
        return False

    def escape(self) -> str:
        """The letter after a backslash."""
        if self.at == len(self.text):
            raise Untranslated("a backslash at the end")
        self.at += 1
        return self.text[self.at - 1]

    def property_(self, letter: str) -> tuple[str, bool]:
        """The name of the property after a `\\p` or `\\P`, and whether it is negated."""
        negated = letter == "P"
        if not self.text.startswith("{", self.at):
            raise Untranslated(rf"\{letter} without braces, which versions of Oniguruma read in two ways")
        match = _PROPERTY.match(self.text, self.at)
        if match is None:
            raise Untranslated(rf"\{letter} with a broken name")
        self.at = match.end()
        return match[2], negated != bool(match[1])

    def literal(self, letter: str) -> str:
        """The character that stands for a backslash and this letter."""
        if letter in _SIGNS:
            return _SIGNS[letter]
        if letter in "xo" and self.text.startswith("{", self.at):
            match = _BRACED[letter].match(self.text, self.at)
            if match is None:
                raise Untranslated(rf"\{letter}{{ with other than one code point")
            self.at = match.end()
            return _character(int(match[1], 16 if letter == "x" else 8))
        if letter == "u":
            digits = self.text[self.at : self.at + 4]
            if not re.fullmatch("[0-9A-Fa-f]{4}", digits):
                raise Untranslated(r"\u without four digits")
            self.at += 4
            return _character(int(digits, 16))
        if letter == "x" or letter in "01234567":
            return self._crude(letter)
        if letter in "cCM":
            raise Untranslated(rf"\{letter}, a control or meta character")
        return letter

    def _crude(self, letter: str) -> str:
        """A character that is written by its bytes, each in two hexadecimal digits or three octal ones."""
        kind, base = ("x", 16) if letter == "x" else ("0", 8)
        if kind == "0" and letter != "0":
            self.at -= 1
            match = re.compile("[0-7]{1,3}").match(self.text, self.at)
        else:
            match = _CRUDE[kind].match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        value = int(match[0] or "0", base)
        data = bytearray()
        while value < 256:
            data.append(value)
            try:
                return data.decode("utf-8")
            except UnicodeDecodeError as error:
                following = _AGAIN[kind].match(self.text, self.at)
                if error.reason != "unexpected end of data" or following is None:
                    break
                self.at = following.end()
                value = int(following[1], base)
        raise Untranslated("bytes that are no UTF-8")

    # --- brackets ---

    def brackets(self, depth: int = 0) -> Class:
        """The class of what follows a `[`."""
        if depth > 20:
            raise Untranslated("brackets too deep in one another")
        negated = self.took("^")
        classes = [Class()]
        first: str | None = None
        start = True
        if self.text.startswith("]", self.at) and not re.search(r"\]", self.text[self.at + 1 :]):
            raise Untranslated("empty brackets")
        while True:
            if self.at == len(self.text):
                raise Untranslated("[ without ]")
            if not start and self.took("]"):
                break
            if self.took("&&"):
                classes.append(Class())
                first = None
                start = False
                continue
            start = False
            now = classes[-1]
            if first is not None and self._is_range():
                self.at += 1
                last = self._member(depth)
                if isinstance(last, Class):
                    raise Untranslated("a range that ends in no character")
                if first > last:
                    raise Untranslated("a range whose end comes before its begin")
                now.items = f"{now.items.removesuffix(in_brackets(first))}{in_brackets(first)}-{in_brackets(last)}"
                first = None
                continue
            one = self._member(depth)
            if isinstance(one, Class):
                now.add(one)
                first = None
            else:
                now.items += in_brackets(one)
                first = one
        made = classes[0] if len(classes) == 1 else both(classes)
        if not negated:
            return made
        return Class(made.items, made.others, True) if not made.negated else Class(others=[made.written()], negated=True)

    def _is_range(self) -> bool:
        """Whether a hyphen at the place makes a range: it does not before the end and before `&&`."""
        return self.text.startswith("-", self.at) and not self.text.startswith(("-]", "-&&"), self.at)

    def _member(self, depth: int) -> Class | str:
        """The next character or class in brackets."""
        sign = self.text[self.at : self.at + 1]
        self.at += 1
        if sign == "[":
            match = _POSIX.match(self.text, self.at)
            if match:
                self.at = match.end()
                return of_posix(match[2], bool(match[1]))
            if _LIKE_POSIX.match(self.text, self.at):
                raise Untranslated("[: with a name that is not known")
            inner = self.brackets(depth + 1)
            if inner.negated and not regex.search(inner.written(), _BEYOND_ASCII):
                raise Untranslated("brackets in brackets that hold no character beyond ASCII")
            return inner
        if sign != "\\":
            if not sign:
                raise Untranslated("[ without ]")
            return sign
        letter = self.escape()
        if letter in "wWdDsShH":
            return of_type(letter, bare=False)
        if letter in "pP":
            return of_name(*self.property_(letter))
        if letter == "b":
            return "\b"
        return letter if letter in "89" else self.literal(letter)


def _character(code: int) -> str:
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise Untranslated(f"U+{code:04X}, which is no character")
    return chr(code)
