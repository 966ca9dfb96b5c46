"""A session that others follow: its address, and what goes over the line.

Whoever follows says a line, `tokentui follow 1 TOKEN`, and nothing more: what else comes is not read. The
session answers by a line for each picture of its screen, as JSON: the size, the cursor, and the rows that
have changed since the last one. The first has all rows. No escape sequence goes over the line; a follower
draws the cells by itself.
"""

from __future__ import annotations

import json
import re
import secrets
import socket
from dataclasses import dataclass
from typing import NamedTuple

from tokentui.core.errors import TokentuiError

VERSION = 1
MOST_COLUMNS, MOST_ROWS = 1000, 1000
LONGEST = 1 << 24
"""Bytes of a line that a follower takes."""
PATIENCE_S = 10.0
"""Seconds that the two ends wait for each other at the beginning."""
_ADDRESS = re.compile(r"(?:(?:\[([0-9A-Fa-f:.]+)\]|([^][/:\s]+)):)?([0-9]{1,5})(?:/([A-Za-z0-9_-]{8,64}))?")
_FORM = "HOST:PORT/TOKEN, such as 127.0.0.1:8765/our-lesson"
_COLOUR = re.compile(r"[34]8;5;([0-9]{1,3})|[34]8;2;([0-9]{1,3});([0-9]{1,3});([0-9]{1,3})|([349]|10)([0-7])")
_LONGEST_CELL = 256


@dataclass(frozen=True, slots=True)
class Address:
    """Where a session is followed.

    Attributes:
        host: The name or number of the machine.
        port: The port; 0 for any that is free.
        token: The secret that a follower has to know.
    """

    host: str
    port: int
    token: str

    @classmethod
    def of(cls, text: str, *, made: bool = False) -> Address:
        """The address of a text.

        Args:
            text: `HOST:PORT/TOKEN`.
            made: True to take this machine where no host is named, and a new secret where no token is.

        Raises:
            TokentuiError: It is none.
        """
        found = _ADDRESS.fullmatch(text)
        if found is None or int(found[3]) > 65535 or not (made or (found[4] and (found[1] or found[2]))):
            form = "[HOST:]PORT[/TOKEN], such as 8765; a token has 8 to 64 letters, digits, - and _"
            raise TokentuiError("not an address", text, form if made else _FORM)
        host = found[1] or found[2] or "127.0.0.1"
        return cls(host, int(found[3]), found[4] or secrets.token_urlsafe(12))

    def __str__(self) -> str:
        """The text that `of` reads."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}/{self.token}"

    def listen(self) -> tuple[socket.socket, Address]:
        """Listen there. Returns the socket, and the address with the port that it has.

        Raises:
            TokentuiError: Nothing can listen there.
        """
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            made = socket.create_server((self.host, self.port), family=family)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            where = f"{self.host}:{self.port}"
            raise TokentuiError(f"cannot listen: {why}", where, "take another port") from None
        return made, Address(self.host, made.getsockname()[1], self.token)

    def follow(self) -> socket.socket:
        """Ask to follow the session there. Returns the line, on which pictures come.

        Raises:
            TokentuiError: No session is there, or the token is wrong.
        """
        where = f"{self.host}:{self.port}"
        try:
            line = socket.create_connection((self.host, self.port), PATIENCE_S)
        except OSError as error:
            why = (error.strerror or str(error) or "no answer").lower()
            hint = "its teacher runs tokentui --share"
            raise TokentuiError(f"cannot be followed: {why}", where, hint) from None
        try:
            line.sendall(asking(self.token))
            answer = line.recv(len(READY), socket.MSG_WAITALL)
        except OSError:
            answer = b""
        if answer != READY:
            line.close()
            what = "cannot be followed: it is no session, or has another token"
            raise TokentuiError(what, where, "copy the whole address that it shows")
        line.settimeout(None)
        return line


READY = b"tokentui session 1\n"
"""The first line that a follower gets."""


def asking(token: str) -> bytes:
    """The line by which one asks to follow."""
    return f"tokentui follow {VERSION} {token}\n".encode("ascii")


class Colour(NamedTuple):
    """A colour: a number of the terminal's palette, or three shares of 0 to 255 each where it is -1."""

    number: int = -1
    red: int = 0
    green: int = 0
    blue: int = 0


def colour_of(parameters: str) -> Colour | None:
    """The colour that a terminal's parameters set; None for the terminal's own.

    Raises:
        ValueError: They set none.
    """
    if not parameters:
        return None
    found = _COLOUR.fullmatch(parameters)
    if found is None or any(int(one) > 255 for one in found.groups()[:4] if one is not None):
        raise ValueError(parameters)
    if found[1] is not None:
        return Colour(int(found[1]))
    if found[5] is not None:
        return Colour(int(found[6]) + 8 * (found[5] in ("9", "10")))
    return Colour(-1, int(found[2]), int(found[3]), int(found[4]))


class Cells(NamedTuple):
    """Neighbouring cells of one style: what each shows, empty in the later cells of a cluster; a bit for each
    attribute, and the parameters that set the two colours."""

    texts: tuple[str, ...]
    attributes: int
    ink: str
    ground: str


class Frame(NamedTuple):
    """A picture, or what has changed of it: the size, the cursor, and rows by their numbers."""

    columns: int
    rows: int
    cursor: tuple[int, int]
    changed: dict[int, tuple[Cells, ...]]


def frame_of(line: bytes) -> Frame:
    """The frame of a line. Nothing of it is trusted but its form.

    Raises:
        TokentuiError: It is none.
    """
    try:
        said = json.loads(line)
        columns, rows = map(_number, said["size"])
        x, y = map(_number, said["cursor"])
        if not (0 < columns <= MOST_COLUMNS and 0 < rows <= MOST_ROWS):
            raise ValueError(said["size"])
        changed = {int(place): tuple(map(_cells, runs)) for place, runs in said["rows"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise TokentuiError("what comes is no picture of a session", "follow", "update tokentui") from None
    return Frame(columns, rows, (x, y), {y: runs for y, runs in changed.items() if 0 <= y < rows})


def _number(value: object) -> int:
    if type(value) is not int:
        raise TypeError(value)
    return value


def _cells(run: object) -> Cells:
    match run:
        case [list(texts), int(attributes), str(ink), str(ground)]:
            if not all(isinstance(one, str) and len(one) <= _LONGEST_CELL for one in texts):
                raise TypeError(run)
            colour_of(ink), colour_of(ground)
            return Cells(tuple(texts[:MOST_COLUMNS]), attributes, ink, ground)
    raise TypeError(run)
