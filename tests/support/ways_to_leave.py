"""Moments at which a user leaves the program: a phase of its work, a way to leave, and how long after the
phase has begun."""

from __future__ import annotations

import lzma
import os
import random
import re
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from terminal import Terminal, assert_restored

from tokentui.text.sources import find_sample

CORPUS_CHARS = 6_000_000
"""So much text takes seconds to read, count and lay out."""
AWAITED_S = 45.0
"""How long a phase is waited for; a phase that is over before it is seen is left out of, not waited for."""
KEYS = {"q": b"q", "ctrl+c": b"\x03", "ctrl+q": b"\x11"}
SIGNALS = {name: getattr(signal, f"SIG{name}") for name in ("HUP", "QUIT", "TERM", "INT")}
WAYS = (*KEYS, *SIGNALS)


@dataclass(frozen=True)
class Phase:
    """What the program does when it is left.

    Args:
        words: What it is started with.
        begins: What stands on the screen, a pattern, when the phase begins; it is empty where nothing is
        waited for.
        keys: What is pressed then.
        span: Within how many seconds after that it is left.
        engine: Empty for kernels,
        `plain` for none.
        without: Ways that mean another thing in this phase.
    """

    words: tuple[str, ...]
    begins: str = ""
    keys: tuple[bytes, ...] = ()
    span: float = 0.5
    engine: str = "plain"
    without: tuple[str, ...] = ()


_TYPING = ("q",)
_STEP = r"step [\d,]+"
_OPEN = rf"{_STEP} of|{_STEP}\b(?s:.*)▸"
PHASES: Mapping[str, Phase] = {
    # ctrl+q before the screen takes the keyboard is the terminal's own key, which lets stopped output go on.
    "start": Phase(("sample:english",), span=1.5, without=("ctrl+q",)),
    "start, a corpus": Phase(("{corpus}",), span=3.0, without=("ctrl+q",)),
    "reading": Phase(("{corpus}",), r"reading|opening"),
    "counting": Phase(("{corpus}",), r"counting", span=2.0),
    "laying out": Phase(("{corpus}",), r"laying out"),
    "opening with kernels": Phase(("{corpus}",), r"reading|opening", span=4.0, engine=""),
    "loading kernels": Phase(("{small}",), _OPEN, span=1.5, engine=""),
    "training": Phase(("{small}",), _OPEN, (b" ",), span=1.0),
    "running to the end": Phase(("{small}",), _OPEN, (b"G",), span=1.0),
    "a jump": Phase(("{small}",), _OPEN, (b"g", b"500\r"), span=1.0),
    "unigram": Phase(
        ("{small}", "-r", "sentencepiece-unigram"), r"laying out|counting|opening|seed", span=4.0
    ),
    "unigram steps": Phase(("sample:english", "-r", "sentencepiece-unigram"), _OPEN, (b"nnn",), span=1.0),
    "a recipe": Phase(("{small}",), _OPEN, (b"a", b"\x1b[B\x1b[B", b"\r"), span=1.0, without=_TYPING),
    "a preview": Phase(("{small}",), _OPEN, (b"a", b"\x1b[B", b"\x1b[B"), span=1.0, without=_TYPING),
    "typing a corpus": Phase(("sample:hugs",), _OPEN, (b"t", b"the cat", b" sat"), span=0.6, without=_TYPING),
    "typing": Phase(("{small}",), _OPEN, (b"i", b" and then", b" the end"), span=0.6, without=_TYPING),
    "open": Phase(("sample:english",), _OPEN, (b"o",), span=0.6, without=_TYPING),
    "opening another": Phase(("sample:hugs",), _OPEN, (b"o", b"{corpus}\r"), span=4.0, without=_TYPING),
    "questions": Phase(("{small}",), _OPEN, (b"u",), span=2.0, without=_TYPING),
    "facts": Phase(("{small}",), _OPEN, (b"FF",), span=2.0, without=_TYPING),
    "export": Phase(("{small}",), _OPEN, (b"ee",), span=1.0, without=_TYPING),
    "pieces": Phase(("{small}",), _OPEN, (b"p",), span=0.6, without=_TYPING),
    "inspect": Phase(("{small}",), _OPEN, (b"2", b"\r"), span=0.6, without=_TYPING),
    "help": Phase(("sample:english",), _OPEN, (b"?",), span=0.5, without=_TYPING),
    "palette": Phase(("sample:english",), _OPEN, (b"\x10",), span=0.5, without=_TYPING),
    "compare": Phase(("{small}", "-r", "gpt2", "-r", "bert"), span=5.0, without=("ctrl+q",)),
    "compare on a corpus": Phase(
        ("{corpus}", "-r", "gpt2", "-r", "hf-bpe"), r"reading|opening|counting", span=6.0
    ),
    "compare with kernels": Phase(("{small}", "-r", "gpt2", "-r", "bert"), r"gpt2", span=4.0, engine=""),
    "compare while compiling": Phase(
        ("sample:english", "-r", "gpt2", "-r", "bert"), r"gpt2", span=4.0, engine=""
    ),
    "compare, stepping": Phase(
        ("{small}", "-r", "gpt2", "-r", "bert"), r"merge|parting", (b"nnn", b" "), span=3.0
    ),
    "compare by key": Phase(("{small}",), _OPEN, (b"c", b"\r"), span=3.0, without=_TYPING),
    "a tokenizer": Phase(("{corpus}", "-t", "{tokenizer}"), r"reading|opening|counting|encoding", span=4.0),
    "a tokenizer, open": Phase(("{small}", "-t", "{tokenizer}"), _OPEN, (b"bbb",), span=0.6),
}
"""Every phase, by its name."""


@dataclass(frozen=True)
class Moment:
    """When and how it is left."""

    phase: str
    way: str
    after: float

    def __str__(self) -> str:
        return f"{self.phase}, {self.way} after {self.after:.3f} s"


def moment(seed: int, number: int) -> Moment:
    """One of the moments of a seed, always the same one. Phases take turns."""
    dice = random.Random(f"{seed} {number}")
    order = random.Random(seed).sample(sorted(PHASES), len(PHASES))
    name = order[number % len(order)]
    phase = PHASES[name]
    way = dice.choice([way for way in WAYS if way not in phase.without])
    return Moment(name, way, dice.uniform(0.0, phase.span))


class Surroundings:
    """What the moments share: corpora and a tokenizer file in a folder.

    Args:
        folder: Where they are made.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._homes = folder, 0
        self.kept: list[str] = []
        """Accounts of what has failed on the way out."""
        text = find_sample("english").path.read_text()
        copies = (f"{number} {text}\n" for number in range(CORPUS_CHARS // len(text) + 1))
        whole = "".join(copies)
        (folder / "small.txt").write_text(whole[: CORPUS_CHARS // 10])
        (folder / "corpus.txt.xz").write_bytes(lzma.compress(whole.encode(), preset=0))
        self.names = {
            name: str(folder / file)
            for name, file in (
                ("corpus", "corpus.txt.xz"), ("small", "small.txt"), ("tokenizer", "tokenizer.json"),
            )
        }

    def leave(self, moment: Moment) -> list[str]:
        """Start the program, leave it at a moment. Returns what is wrong with how it ended."""
        phase = PHASES[moment.phase]
        self._homes += 1
        home = self._folder / f"home-{self._homes}"
        home.mkdir()
        environment = {
            "TOKENTUI_HOME": str(home), "TOKENTUI_KERNELS": "off" if phase.engine == "plain" else "",
        }
        with Terminal(
            *(word.format(**self.names) for word in phase.words), environment=environment
        ) as terminal:
            begun = not phase.begins or _wait(
                terminal, lambda text: re.search(phase.begins, text) is not None
            )
            for keys in phase.keys if begun else ():
                terminal.press(keys.decode().format(**self.names))
                _wait(terminal, lambda text: False, 0.15)
            _wait(terminal, lambda text: False, moment.after)
            if terminal.status is not None:
                return [f"it ended by itself: {os.waitstatus_to_exitcode(terminal.status)}"]
            # Python itself may lose an interrupt before the first line of the program
            if moment.way in ("INT", "ctrl+c"):
                _wait(
                    terminal, lambda text: not _raises(terminal.process) or b"\x1b[?1049h" in terminal.written
                )
            painted = b"\x1b[?1049h" in terminal.written
            if moment.way in KEYS:
                terminal.press(KEYS[moment.way])
                right = {0} if painted or moment.way != "ctrl+c" else {0, 130, -signal.SIGINT}
            else:
                number = SIGNALS[moment.way]
                os.kill(terminal.process, number)
                right = {128 + number} if painted else {128 + number, -number}
            try:
                code = terminal.end()
            except AssertionError:
                return [f"it does not end; the screen is:\n{terminal.text()}"]
            wrong = [] if code in right else [f"exit code {code}, not {' or '.join(map(str, sorted(right)))}"]
            told = bytes(terminal.written).rsplit(b"\x1b[?1049l", 1)[-1].decode("utf-8", "replace")
            if "Traceback" in told or "should not have happened" in told:
                wrong.append(f"it says: {told[-600:]}")
            if (home / "crash.txt").exists():  # where it belongs, if something fails on the way out
                self.kept.append(f"{moment}: {(home / 'crash.txt').read_text()[-1500:]}")
            try:
                assert_restored(terminal)
            except AssertionError as error:
                wrong.append(f"the terminal is not restored: {error}")
            return wrong


def _raises(process: int) -> bool:
    """Whether Python has taken SIGINT, to raise an exception, as it does when it begins and where it imports
    nothing."""
    with open(f"/proc/{process}/status") as status:
        caught = next(line for line in status if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1)


def _wait(terminal: Terminal, holds: Callable[[str], bool], seconds: float = AWAITED_S) -> bool:
    """Read until something holds for the screen, the program has ended, or so many seconds have passed."""
    deadline = time.monotonic() + seconds
    while terminal.status is None and (left := deadline - time.monotonic()) > 0:
        terminal.read(min(left, 0.05))
        if holds(terminal.text()):
            return True
    return False
