"""What a command costs before it does any work, and what an explorer takes that nobody touches.

Both are whole processes: `--version` beside a bare interpreter, `encode` of one line with a tokenizer.json of
GPT-2's size, and the processor's share of an explorer at rest in a pseudo-terminal.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from harness import (
    ROOT,
    Figures,
    Table,
    apart,
    in_turns,
    installed,
    median,
    megabytes,
    spread,
    version,
    whole,
)

sys.path.insert(0, str(ROOT / "tests" / "support"))

IDS = 50_257
"""As many as GPT-2 has."""
REST_S = 20.0
_SETTLED_S = 3.0
_PEERS = {
    "tokenizers": "import sys; from tokenizers import Tokenizer; "
    "print(Tokenizer.from_file(sys.argv[1]).encode('a line of text').ids)",
    "gigatoken": "import sys; from gigatoken import Tokenizer; "
    "print(Tokenizer(sys.argv[1]).encode('a line of text'))",
}
"""Programs of other libraries that encode a line with a file."""


def write_tokenizer(path: str) -> Figures:
    """Write a tokenizer.json as GPT-2's is: byte-level BPE on its pattern, merges as lines of two names."""
    sys.path.insert(0, str(ROOT))
    from tokentui.formats.tokens import letters

    dice = random.Random(3)
    units = [letters(bytes((value,))) for value in range(256)]
    vocabulary = {name: number for number, name in enumerate(units)}
    made, merges = [*units, *(8 * list("Ġetaoinshrdlu"))], []
    while len(vocabulary) < IDS - 1:
        left, right = dice.choice(made), dice.choice(made)
        if len(left) + len(right) < 12 and left + right not in vocabulary:
            vocabulary[left + right] = len(vocabulary)
            made.append(left + right)
            merges.append(f"{left} {right}")
    vocabulary["<|endoftext|>"] = len(vocabulary)
    special = {
        "id": len(vocabulary) - 1, "content": "<|endoftext|>", "single_word": False, "lstrip": False,
        "rstrip": False, "normalized": False, "special": True,
    }
    step = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    document = {
        "version": "1.0", "added_tokens": [special], "normalizer": None, "pre_tokenizer": step,
        "post_processor": None, "decoder": step,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": merges},
    }
    Path(path).write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return {}


def table(repeats: int) -> Table:
    """Commands that do next to nothing, beside an interpreter that does nothing."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        apart("commands", "write_tokenizer", str(path))
        ours = [sys.executable, "-m", "tokentui"]
        encode = f"encode of a line, a tokenizer.json of {megabytes(path)}"
        commands: dict[str, list[str]] = {
            "a bare interpreter": [sys.executable, "-c", "pass"],
            "tokentui --version": [*ours, "--version"],
            f"tokentui {encode}": [*ours, "encode", "-t", str(path), "a line of text"],
        }
        peers = {name: [sys.executable, "-c", program, str(path)]
                 for name, program in _PEERS.items() if installed(name)}
        commands |= {f"{version(name)}, the same": command for name, command in peers.items()}
        runs: dict[str, Callable[[], Figures]] = {
            name: lambda command=command: whole(command)  # type: ignore[misc]
            for name, command in commands.items()
        }
        found = in_turns(runs, 3 * repeats)
    rows = [
        (name, *spread([run["seconds"] for run in one], 1000, 0), f"{median(one, 'cpu') * 1000:.0f}",
         f"{median(one, 'megabytes'):,.0f}")
        for name, one in found.items()
    ]
    bare, asked, encoded, *others = (median(one) for one in found.values())
    figures = {
        "bare": bare, "version": asked, "encode": encoded, "peers": dict(zip(peers, others, strict=True)),
    }
    heads = ("whole process", "median", "least–most", "CPU", "peak MB")
    return Table("Commands that do next to nothing, milliseconds", heads, rows, figures)


def at_rest(sample: str) -> Figures:
    """The processor's seconds, and the times it was woken, of an explorer that nobody touches."""
    from terminal import Terminal

    def used(process: int) -> tuple[float, int]:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        woken = 0
        for status in Path(f"/proc/{process}/task").glob("*/status"):
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
            woken += int(lines["voluntary_ctxt_switches"])
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), woken

    with Terminal(sample, columns=120, rows=40) as terminal:
        terminal.until(lambda text: "step 0" in text)
        settled = time.perf_counter() + _SETTLED_S
        while time.perf_counter() < settled:
            terminal.read(0.05)
        start, (seconds, woken) = time.perf_counter(), used(terminal.process)
        time.sleep(REST_S)
        lasted, (later, more) = time.perf_counter() - start, used(terminal.process)
        terminal.press("\x03")
        terminal.end()
    return {"share": (later - seconds) / lasted, "woken": more - woken, "seconds": lasted}


def rest_table(repeats: int) -> Table:
    """An explorer at rest. It needs Linux's /proc."""
    if not os.path.isdir("/proc/self/task"):
        raise RuntimeError("only where /proc tells what a process used")
    found = in_turns({"sample:hugs": lambda: apart("commands", "at_rest", "sample:hugs")}, min(3, repeats))
    rows = [
        (name, *spread([run["share"] for run in one], 100, 2), f"{median(one, 'woken'):,.0f}")
        for name, one in found.items()
    ]
    share = median(found["sample:hugs"], "share")
    heads = ("the explorer, nobody touches it", "% of a processor", "least–most", f"woken in {REST_S:.0f} s")
    return Table("At rest", heads, rows, {"share": share})
