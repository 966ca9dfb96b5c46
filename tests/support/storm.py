"""What no user does and every program meets: random keys among bytes that mean nothing, and windows dragged
to any size."""

from __future__ import annotations

import contextlib
import random as randoms
import time
from collections.abc import Iterator
from pathlib import Path

from terminal import Terminal, seen

from tokentui.ui.keymap import all_actions

_NAMED = {
    "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "home": "\x1b[H", "end": "\x1b[F",
    "delete": "\x1b[3~", "pageup": "\x1b[5~", "pagedown": "\x1b[6~", "enter": "\r", "escape": "\x1b",
    "tab": "\t", "shift+tab": "\x1b[Z", "space": " ", "plus": "+", "minus": "-", "equals_sign": "=",
    "greater_than_sign": ">", "less_than_sign": "<", "left_square_bracket": "[", "right_square_bracket": "]",
    "slash": "/", "full_stop": ".", "comma": ",", "question_mark": "?",
}
LEAVE = ("ctrl+c", "ctrl+q", "q", "ctrl+z")
"""Keys that end or stop the program."""
_LEAVING = b"q\x03\x11\x1a\x10:"
"""The same as bytes, and those that open the finder, where words can end it."""
WANDER = (
    "up", "down", "pageup", "pagedown", "home", "end", "tab", "shift+tab", "1", "2", "3", "n", "b", "v", "s",
    "?", "escape", "[", "]",
)
"""Keys that change what is seen, and nothing that is kept."""
NOISE = (
    b"\xff\xfe", b"\xe2\x28", b"\x1b[9999999999A", b"\x1b[57399999u", b"\x1b[48;0;0;0;0t",
    b"\x1b[48;9999;99999;0;0t", b"\x1b[<0;99999;99999M", b"\x1b[<64;-5;3M", b"\x1b[M\xff\xff\xff",
    b"\x1b[200~no end", b"\x1b[201~", b"\x1b]52;c;", b"\x1bP", b"\x1b[?2048;1$y", b"\x1b[0n", b"\x00",
    b"\x1b[1;1R", b"\x1b[I\x1b[O", b"\x1b[?1;2c", b"\x1b[>0;0;0c",
)


def typed(key: str) -> bytes:
    """What a terminal sends for a key, by Textual's name of it."""
    if key.startswith("ctrl+"):
        return bytes([ord(key[-1]) & 31])
    if key[0] == "f" and key[1:].isdigit():
        return b"\x1b[%d~" % (10 + int(key[1:]) + (int(key[1:]) > 5))
    return b"".join(_NAMED.get(one, one).encode() for one in key.split())


def every_key() -> list[bytes]:
    """All keys that do something and do not leave."""
    keys = {key for one in all_actions().values() for key in one.keys}
    return [typed(key) for key in sorted(keys - {*LEAVE, "ctrl+p", "colon"})]


def events(random: randoms.Random, keys: list[bytes], garbage: float = 0.1) -> Iterator[bytes]:
    """What a terminal may send, without end: keys, typed letters, the mouse, pastes, and noise."""
    while True:
        kind = random.random()
        if kind < garbage:
            noise = random.choice(NOISE) if random.random() < 0.6 else random.randbytes(random.randint(1, 8))
            yield bytes(byte for byte in noise if byte not in _LEAVING)
            if b"[200~" in noise:  # else all that follows would be pasted
                yield from (random.choice(keys), b"\x1b[201~")
        elif kind < garbage + 0.05:
            button, way = random.choice((0, 2, 64, 65, 32)), random.choice(b"Mm")
            yield b"\x1b[<%d;%d;%d%c" % (button, random.randint(1, 130), random.randint(1, 45), way)
        elif kind < garbage + 0.08:
            yield random.choice("abcé猫 .-39").encode()
        elif kind < garbage + 0.09:
            yield b"\x1b[200~a paste\n\x1b[31m of\ttwo lines\x1b[201~"
        elif kind < garbage + 0.15:
            yield b"\x1b"  # else it would soon sit in some dialog for good
        else:
            yield random.choice(keys)


def sizes(random: randoms.Random) -> Iterator[tuple[int, int]]:
    """Sizes of a window, without end; the first and many others are as small as can be."""
    while True:
        yield 1, 1
        for _ in range(9):
            small = random.random() < 0.5
            columns, rows = ((1, 12), (1, 9)) if small else ((20, 220), (10, 70))
            yield random.randint(*columns), random.randint(*rows)


def runs(process: int) -> bool:
    """Return whether a thread of a process runs or waits for a processor; False where there is no /proc."""
    for stat in Path(f"/proc/{process}/task").glob("*/stat"):
        with contextlib.suppress(OSError):  # the thread has ended
            if stat.read_text().rpartition(")")[2].split()[0] in "RD":
                return True
    return False


def let_rest(terminal: Terminal, quiet: float) -> None:
    """Read until nothing has come for so many seconds and the program sleeps: one that has nothing to write
    may be waiting for a processor.
    """
    end = time.monotonic() + 60
    while terminal.read(quiet) or runs(terminal.process):
        assert time.monotonic() < end, f"it is never at rest:\n{terminal.text()}"


def rage(
    terminal: Terminal, random: randoms.Random, count: int, keys: list[bytes], *, windows: bool = True
) -> None:
    """Send so many random events, the size of the window now and then among them."""
    stream, windowed = events(random, keys), sizes(random)
    for number in range(count):
        if windows and number % 50 == 49:
            terminal.resize(*next(windowed))
        terminal.press(next(stream))
        if number % 10 == 9:
            while terminal.read(0.002):
                pass
        assert terminal.status is None, f"it ended with {terminal.status}"


def cells(terminal: Terminal) -> list[list[tuple[object, ...]]]:
    """All that is seen: every character with its looks."""
    screen = terminal.screen
    return [[seen(screen.buffer[y][x]) for x in range(screen.columns)] for y in range(screen.lines)]
