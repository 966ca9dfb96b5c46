"""From the start of the program to its first paint, in a pseudo-terminal, beside a bare Textual app with the
same panes."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time
from collections.abc import Sequence

from harness import HERE, Figures, Table, in_turns, median, spread, surroundings

PATIENCE_S = 60.0
PAINTED, PAIRS = b"Vocabulary", b"step "
"""What the screen shows with its first paint, and with its first pairs."""


def paint(command: Sequence[str], wanted: bytes) -> Figures:
    """Seconds of the wall and of the processor from the start of a program until it has written something;
    then it is ended."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    environment = surroundings(TERM="xterm-256color", COLORTERM="truecolor")
    start = time.perf_counter()
    process = os.posix_spawn(
        command[0], command, environment,
        file_actions=[(os.POSIX_SPAWN_DUP2, slave, number) for number in (0, 1, 2)], setsid=True,
    )
    os.close(slave)
    written = bytearray()
    while wanted not in written:
        if not select.select([master], [], [], PATIENCE_S)[0]:
            raise RuntimeError(f"no paint: {command}")
        written += os.read(master, 1 << 16)
    seconds = time.perf_counter() - start
    os.kill(process, 9)
    _, _, used = os.wait4(process, 0)
    os.close(master)
    return {"seconds": seconds, "cpu": used.ru_utime + used.ru_stime}


def table(repeats: int) -> Table:
    """First paint and first pairs."""
    ours = [sys.executable, "-m", "tokentui"]
    runs = in_turns(
        {
            "tokentui sample:hugs": lambda: paint([*ours, "sample:hugs"], PAINTED),
            "a bare Textual app with the same panes": lambda: paint(
                [sys.executable, str(HERE / "bare.py")], PAINTED
            ),
            "tokentui sample:hugs, to the first pairs": lambda: paint([*ours, "sample:hugs"], PAIRS),
            "tokentui --version": lambda: paint([*ours, "--version"], b"tokentui"),
        },
        3 * repeats,
    )
    walls = {name: [run["seconds"] for run in found] for name, found in runs.items()}
    rows = [
        (name, *spread(walls[name], 1000, 0), f"{median(found, 'cpu') * 1000:.0f}")
        for name, found in runs.items()
    ]
    first, bare = list(runs.values())[:2]
    heads = ("to the first paint of", "median", "least–most", "CPU")
    figures = {"ratio": median(first) / median(bare), "seconds": median(first)}
    return Table("From the start of the program, milliseconds", heads, rows, figures)
