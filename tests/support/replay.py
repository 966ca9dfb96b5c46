"""Record calls of kernels on this machine, and replay them through the library of another system.

    make kernels-arm64

The recorder wraps the kernels of the package while small trainings and encodings run. Of each call it writes
the arguments, the arrays before the call, the result, and the arrays after it. `replay.c` makes the same
calls through another library and compares. For Linux, arm64, Zig compiles it and QEMU runs it.

The format, little-endian: the number of kernels (uint32); of each kernel its name, the kind of its result and
the kinds of its parameters; then the calls, each with the number of the kernel (uint8), the arrays before,
the arguments, the result and the arrays after. Byte 255 ends the file. An array is a part of a region of
memory; arrays that overlap share a region. Of a region only the blocks are written that changed since the
recording last described it.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO
from unittest import mock

import tokentui
from tokentui.analyze.bound import BoundedCorpus
from tokentui.core import arrays, native
from tokentui.core.arrays import Row
from tokentui.core.errors import TokentuiError
from tokentui.core.native import FLAG, FLOAT, INT, NOTHING, Flat, Kernel, Tuple
from tokentui.encode import decode, id_tables
from tokentui.encode.id_texts import IdTexts, Spelling
from tokentui.formats import tokens
from tokentui.formats.pairs import Pairs, read_names
from tokentui.formats.source import Node
from tokentui.learn import compiled
from tokentui.learn.kernels import order
from tokentui.learn.unigram import lattice
from tokentui.text.corpus import Corpus

SYSTEM, TARGET = "linux-aarch64", "aarch64-linux-gnu"
"""The system whose library is tried, and its name for the C compiler."""
QEMU = "qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"
"""The emulator, with the folder of the C library for that system."""
DRIVER = Path(__file__).with_suffix(".c")
LEAST_CALLS = 10_000
"""The least number of calls of a complete recording."""
MOST_CALLS = 2_000
"""The most calls that are recorded of a kernel: half of them as they come, then fewer and fewer."""
BLOCK = 64
"""The most bytes of a block of a region that is written as a whole."""
_ARGUMENTS, _DOUBLES = 32, 4
"""The most whole numbers and addresses, and the most floating-point numbers, that the driver passes."""
_END = b"\xff"
_NO_ARRAY = 0xFFFFFFFF


# ---- recording


def changes(before: memoryview, after: memoryview, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield the blocks in which two contents of one size differ, each with its place."""
    if before == after:
        return
    if len(after) <= BLOCK:
        yield start, bytes(after)
        return
    middle = len(after) // 2
    yield from changes(before[:middle], after[:middle], start)
    yield from changes(before[middle:], after[middle:], start + middle)


def _written(before: bytes, after: bytes) -> bytes:
    """Return the changes between two contents as the file has them."""
    runs = list(changes(memoryview(before), memoryview(after)))
    return b"".join([
        struct.pack("<I", len(runs)), *(struct.pack("<II", at, len(run)) + run for at, run in runs)
    ])


class Recorder:
    """Writes calls of kernels to a file, while it is in a `with` statement.

    Attributes:
        calls: The number of recorded calls of each kernel.
    """

    def __init__(self, file: BinaryIO) -> None:
        package = Path(native.__file__).parents[1]
        for path in package.glob("*/kernels/*.py"):
            importlib.import_module(".".join(("tokentui", *path.relative_to(package).with_suffix("").parts)))
        self._file, self._lock = file, threading.Lock()
        self._kernels = dict(sorted(native.KERNELS.items()))
        self._regions: dict[int, tuple[int, bytes]] = {}  # by address: number and last contents
        self._seen: Counter[str] = Counter()
        self.calls: Counter[str] = Counter(dict.fromkeys(self._kernels, 0))
        file.write(struct.pack("<I", len(self._kernels)))
        for kernel in self._kernels.values():
            file.write(_described(kernel))

    def __enter__(self) -> Recorder:
        for number, kernel in enumerate(self._kernels.values()):
            vars(kernel)["_code"] = self._recorded(number, kernel, native.open_library()(kernel))
        return self

    def __exit__(self, *_: object) -> None:
        for kernel in self._kernels.values():
            del vars(kernel)["_code"]
        self._file.write(_END)

    def _recorded(self, number: int, kernel: Kernel, code: native.Code) -> native.Code:
        def call(*arguments: Any) -> Any:
            with self._lock:  # no other thread changes what two kernels share
                self._seen[kernel.name] += 1
                seen, half = self._seen[kernel.name], MOST_CALLS // 2
                if seen > half and (seen % (seen // half) or self.calls[kernel.name] >= MOST_CALLS):
                    return code(*arguments)
                spans = sorted(_spans(kernel.takes, arguments))
                regions = _merged(spans)
                self._file.write(struct.pack("<BB", number, len(regions)))
                for start, size in regions:
                    self._before(start, size)
                self._file.write(b"".join(self._given(kernel.takes, arguments, regions)))
                result = code(*arguments)
                self._file.write(_packed(kernel, result))
                for start, size in regions:
                    self._after(start, size)
                self.calls[kernel.name] += 1
                return result

        return call

    def _before(self, start: int, size: int) -> None:
        contents = ctypes.string_at(start, size)
        region, last = self._regions.get(start, (len(self._regions), b""))
        self._regions[start] = region, contents
        self._file.write(struct.pack("<IIB", region, size, start % 64))
        self._file.write(_written(last if len(last) == size else bytes(size), contents))

    def _after(self, start: int, size: int) -> None:
        contents = ctypes.string_at(start, size)
        region, last = self._regions[start]
        self._regions[start] = region, contents
        self._file.write(_written(last, contents))

    def _given(self, kinds: Any, values: Any, regions: list[tuple[int, int]]) -> Iterator[bytes]:
        """Yield the arguments of a call: numbers, and the place of each array in a region with its length."""
        for kind, value in zip(kinds, values, strict=True):
            if isinstance(kind, Tuple):
                yield from self._given(kind.kinds, value, regions)
            elif isinstance(kind, Flat):
                address, size = native.buffer_of(value)
                _, length = native.argument_words(kind, value)
                region, at = _NO_ARRAY, 0
                if size:
                    start = next(start for start, room in regions if start <= address < start + room)
                    region, at = self._regions[start][0], address - start
                yield struct.pack("<IIIq", region, at, size, length)
            else:
                yield struct.pack("<d" if kind == FLOAT else "<q", value)


def _spans(kinds: Any, values: Any) -> Iterator[tuple[int, int]]:
    """Yield address and size of each array among some values."""
    for kind, value in zip(kinds, values, strict=True):
        if isinstance(kind, Tuple):
            yield from _spans(kind.kinds, value)
        elif isinstance(kind, Flat) and (place := native.buffer_of(value))[1]:
            yield place


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return sorted spans of memory with those that overlap as one."""
    regions: list[tuple[int, int]] = []
    for start, size in spans:
        if regions and start < sum(regions[-1]):
            first, before = regions[-1]
            regions[-1] = first, max(before, start + size - first)
        else:
            regions.append((start, size))
    return regions


def _described(kernel: Kernel) -> bytes:
    """Return a kernel as the file describes it."""
    returns, name = kernel.returns, kernel.name.encode()
    kind = {NOTHING: b"v", FLOAT: b"f", INT: b"i", FLAG: b"i"}[returns] if isinstance(returns, str) else (
        bytes([len(returns.kinds)]) if isinstance(returns, Tuple) else b""
    )
    parameters = list(_parameters(kernel.takes))
    assert kernel.takes.count(FLOAT) <= _DOUBLES
    assert sum(2 if isinstance(of, Flat) else 1 for of in kernel.takes) < _ARGUMENTS
    return b"".join([bytes([len(name)]), name, kind, bytes([len(parameters)]), *parameters])


def _parameters(kinds: Any, inside: bool = False) -> Iterator[bytes]:
    """Yield kind, size and floating-point fields of each parameter; the fields of a tuple follow it."""
    for kind in kinds:
        if isinstance(kind, Tuple):
            if not inside:
                yield bytes([3, _words(kind), 0])
            yield from _parameters(kind.kinds, inside=True)
        elif isinstance(kind, Flat):
            floats, at = [], 0
            row = kind.row.fields if isinstance(kind.row, Row) else (("", kind.row),)
            for _, of in row:
                if of.startswith("float"):
                    floats.append(bytes([at, arrays.WIDTHS[of]]))
                at += arrays.WIDTHS[of]
            yield bytes([2, kind.step or kind.size, len(floats)]) + b"".join(floats)
        else:
            yield bytes([1 if kind == FLOAT else 0, 0, 0])


def _words(kind: native.Kind) -> int:
    """Return how many words of memory a field of a tuple takes."""
    if isinstance(kind, Tuple):
        return sum(map(_words, kind.kinds))
    return 2 if isinstance(kind, Flat) else 1


def _packed(kernel: Kernel, result: Any) -> bytes:
    """Return a result as the file has it."""
    if isinstance(kernel.returns, Tuple):
        return struct.pack(f"<{len(result)}q", *result)
    if kernel.returns == NOTHING:
        return b""
    return struct.pack("<d" if kernel.returns == FLOAT else "<q", result)


# ---- what is recorded

_CHANGES = "2:forbid:%20%20", "3:forbid:e+r", "4:leave-out", "9:force:i+n", "20:forbid:in"
TRAININGS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in (
        "gpt2", "gpt4o", "llama3", "llama2", "falcon", "bert", "wordpiece", "subword-nmt",
        "sentencepiece-bpe", "minbpe-basic", "comp336", "sentencepiece-unigram", "albert",
    )),
    *(("gpt2", {"tie": tie}) for tie in ("first-seen", "lowest-ids", "shortest", "smallest-pair")),
    *(("wordpiece", {"tie": tie}) for tie in ("first-seen", "shortest", "largest-pair")),
    *((name, {"what_if": _CHANGES, **axes}) for name, axes in (
        ("gpt2", {}), ("gpt2", {"tie": "shortest"}), ("bert", {}), ("wordpiece", {"tie": "first-seen"}),
    )),
    ("superbpe", {"objective": "superbpe:at=40,within=gpt2"}),
    ("gpt2", {"unit": "grapheme", "base": "sorted", "unknown": "error"}),
    ("gpt2", {"split": r"regex:\w+|\W+"}),  # a split without kernels: words are encoded many at a time
    ("sentencepiece-unigram", {"split": "none"}),  # one long word: probabilities become logarithms
]
"""Presets with changes of their axes, so that trainings and encodings by them call every kernel."""
SAMPLES = "english", "hindi", "python", "emoji"
EXCERPT, ENCODED = 1200, 5000
"""The characters that a training reads, and that an encoding reads."""
STEPS, PIECES, ROUNDS = 120, 100, 10
"""The most steps of a training by merges, the tokens that a pruning ends with beyond the units, and the
rounds of the search for a bound."""
SMALL: dict[tuple[Any, str], float] = {
    (compiled, "SLICE"): 100, (compiled, "FIRST_STEPS"): 32, (compiled, "LEAST_BETWEEN"): 300,
    (id_tables, "MANY_WORDS"): 8, (decode, "MANY_IDS"): 0, (lattice, "_SAFE_NATS"): 40.0,
}
"""Sizes that are smaller than in a process of a user, so that small corpora call all kernels, and often."""


def work(samples: Sequence[str] = SAMPLES) -> None:
    """Train, walk back and forth, look at candidates, encode. Each time the calls are the same."""
    texts = {sample: tokentui.read(f"sample:{sample}").documents[0][:EXCERPT] for sample in samples}
    with contextlib.ExitStack() as stack:
        for (module, name), size in SMALL.items():
            stack.enter_context(mock.patch.object(module, name, size))
        for text in texts.values():
            for preset, axes in TRAININGS:
                _use(tokentui.Trainer(None, preset, texts=[text], **axes), text)
            trainer = tokentui.Trainer(None, "gpt2", texts=[text])
            trainer.run(merges=STEPS)
            BoundedCorpus(trainer.tokenizer(), Corpus.from_text(text, "text")).bounds(rounds=ROUNDS)
        named = tokentui.read({name: Corpus.from_text(text, name) for name, text in texts.items()})
        for variant in ("base", "window"):
            _use(tokentui.Trainer(named, "gpt2", objective=f"parity:variant={variant}"), texts[samples[0]])
    random_numbers = random.Random(1)
    words = " ".join(f"{random_numbers.getrandbits(60):x}" for _ in range(2500))
    tokentui.Trainer(None, "gpt2", texts=[words])  # the table of words grows
    for bits in random_numbers.choices((3, 20, 31, 40, 62), k=500):
        numbers = [random_numbers.getrandbits(bits) for _ in range(6)]
        order.compare_products(*numbers)
        order.compare_products(*numbers[:3], *reversed(numbers[:3]))
    table = IdTexts.of(Spelling(range(300), lambda ids: [b"%d" % n for n in ids], {n: n for n in range(256)}))
    assert table is not None
    for kind in "iHq":  # byte tokens at random: most runs are not UTF-8
        for known in ((97, 0xE2, 0x82, 0xAC), range(300), (256, 0xC3, 0xA9, 0xF0)):
            for every in (False, True):
                numbers = random_numbers.choices(known, k=60)
                table.joined(array(kind, numbers), every=every)
                table.joined(numbers, every=every)
    pieces = ["a", "b", "\n", '"', "aa", "ab", "ba", "bb", "a\n", '"a', "aba"]
    names = json.dumps({name: n for n, name in enumerate(pieces)}, indent=1).encode()
    rows = [["a", "ba"], ["a", "b"], ["b", "a"], ["a", "a"], ["b", "b"], ["a", "\n"], ['"', "a"], ["ab", "a"]]
    for part in (rows[1:5], rows):
        for listed in (part, [" ".join(row) for row in part]):
            found = read_names(names, 1)
            assert found is not None
            pairs = Pairs(found.ids)
            assert pairs.read(json.dumps(listed, indent=1).encode(), 1, found.table) is not None
            with mock.patch.object(tokens, "MANY_ROWS", 0):
                tokens.in_merge_order(found.ids, pairs, Node(None, "a file").at)


def _use(trainer: tokentui.Trainer, text: str) -> None:
    traits = trainer._engine.traits
    if traits.shrinks:
        trainer.run(vocab_size=traits.least_size + PIECES)
    else:
        trainer.run(merges=STEPS)
    last = trainer.number
    for number in (0, last // 2, last, last // 3, last // 3 + 1, last, 1, last):
        trainer.jump(number)
        trainer.candidates(20)
        trainer._engine.changed()
    tokenizer = trainer.tokenizer()
    long = text * (1 + ENCODED // len(text))
    ids = tokenizer.encode_ids(long)
    tokenizer.decode(ids)
    tokenizer.encode_batch([long[at : at + 50] for at in range(0, len(long), 50)])
    short = text[:99], text[99::-1]  # with known words and with new ones
    for one in short:
        with contextlib.suppress(TokentuiError):  # graphemes of the second one may be unknown
            tokenizer.encode_ids(one)
    if tokenizer.recipe.split == "metaspace":
        with tempfile.TemporaryDirectory() as folder:
            # A file of sentencepiece carries sums over words, or is cut between characters that never join.
            tokenizer.save(Path(folder, "one.model"))
            of_file = tokentui.load(Path(folder, "one.model"))
            of_file.encode_ids(long)
            of_file.encode_batch([long[at : at + 50] for at in range(0, len(long), 50)])
            list(map(of_file.encode_ids, short))


# ---- replaying


def build_driver(folder: Path, compiler: Sequence[str]) -> Path:
    """Compile the driver in a folder by a C compiler."""
    path = folder / "replay"
    subprocess.run([*compiler, "-O2", "-o", str(path), str(DRIVER), "-ldl", "-lm"], check=True)
    return path


def replay(driver: Sequence[str | Path], library: Path, calls: Path) -> subprocess.CompletedProcess[str]:
    """Replay calls through a library. The driver is a program with the words in front of it that run it."""
    words = [*map(str, driver), str(library), str(calls)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def main() -> None:
    """Record calls here, and replay them through the library for Linux, arm64, under QEMU."""
    if not shutil.which(QEMU[0]) or not Path(QEMU[-1]).is_dir():
        sys.exit(f"the replay needs {QEMU[0]} and {QEMU[-1]} (Debian: qemu-user and libc6-arm64-cross)")
    with tempfile.TemporaryDirectory() as folder:
        calls = Path(folder, "calls")
        with calls.open("wb") as file, Recorder(file) as recorder:
            work()
        driver = build_driver(Path(folder), [sys.executable, "-m", "ziglang", "cc", "-target", TARGET])
        done = replay([*QEMU, driver], Path(native.FOLDER) / native.library_of(SYSTEM), calls)
    if done.returncode:
        sys.exit(f"{SYSTEM}: {done.stderr.strip() or f'the replay ended with {done.returncode}'}")
    for line in ("kernel calls rounded float64 float32", *done.stdout.splitlines()):
        name, *figures = line.split()
        print(f"{name:32}", *(f"{figure:>9}" for figure in figures), sep="")  # noqa: T201
    total, never = recorder.calls.total(), [name for name, calls in recorder.calls.items() if not calls]
    if never or total < LEAST_CALLS:
        sys.exit(f"{total:,} calls, at least {LEAST_CALLS:,} are wanted; never called: {never}")
    print(f"{SYSTEM} gives the same in {total:,} calls of {len(recorder.calls)} kernels")  # noqa: T201


if __name__ == "__main__":
    main()
