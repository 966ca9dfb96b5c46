"""Bombs, holes, endless streams and enormous words: one line and little memory, or a result; and Escape
meanwhile."""

from __future__ import annotations

import asyncio
import bz2
import gzip
import json
import lzma
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tokentui.axes import preset
from tokentui.core.errors import Cancelled
from tokentui.recipe import Recipe
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session

ROOT = Path(__file__).resolve().parents[2]
MOST_MB = 300
"""What a refusal may take of memory."""
AT_ONCE_S = 0.25
"""How long Escape may take on a machine that does other work as well; 0.1 on one that does not."""
TRAIN = ("-r", "gpt2", "--merges", "5", "-q")

# A child that runs the program and says how much memory it took: of this process the most of all children is
# known only.
CHILD = """
import json, resource, subprocess, sys
source, *words = sys.argv[1:]
feed = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE) if source else None
done = subprocess.run([sys.executable, "-m", "tokentui", *words],
                      stdin=feed.stdout if feed else subprocess.DEVNULL,
                      capture_output=True, text=True)
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
if feed:
    feed.kill()
    feed.communicate()
print(json.dumps([done.returncode, done.stdout, done.stderr, most // 1024]))
"""


def ran(*words: str, feed: str = "") -> tuple[int, str, str, int]:
    """The exit code, the two outputs, and the most memory in MB, of a line of words with something fed to it.
    """
    done = subprocess.run(
        [sys.executable, "-c", CHILD, feed, *words], cwd=ROOT, capture_output=True, text=True, check=True,
        timeout=600,
    )
    code, out, err, most = json.loads(done.stdout)
    return code, out, err, most


def refused(*words: str, feed: str = "") -> str:
    """The one line of a refusal, which took little memory."""
    code, out, err, most = ran(*words, feed=feed)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert most <= MOST_MB
    return err


def parts(size: int) -> Iterator[bytes]:
    for _ in range(size >> 20):
        yield bytes(1 << 20)


def packed(path: Path, method: str, size: int) -> Path:
    opens: dict[str, Any] = {"gzip": gzip.GzipFile, "bzip2": bz2.BZ2File, "xz": lzma.LZMAFile}
    quickly = {"preset": 0} if method == "xz" else {"compresslevel": 1}
    with opens[method](path, "wb", **quickly) as file:
        for part in parts(size):
            file.write(part)
    return path


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("method", "size"), [("gzip", 2 << 30), ("bzip2", 1 << 29), ("xz", 1 << 29)])
def test_a_bomb_of_zeros(tmp_path: Path, method: str, size: int) -> None:
    path = str(packed(tmp_path / "bomb", method, size))
    assert "200 times" in refused("train", path, *TRAIN)
    if method == "gzip":
        assert "200 times" in refused("inspect", "-t", path)


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("size", [200 << 20, 1 << 30, 8 << 30])
def test_a_file_of_holes(tmp_path: Path, size: int) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(size)
    for words in (
        ("train", str(path), *TRAIN), ("inspect", "-t", str(path)), ("train", "sample:hugs", "-r", str(path)),
    ):
        refused(*words)


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "what", ["b'the quick brown\\n'", "bytes(999)", "b'\\x1f\\x8b\\x08\\x08' + b'x' * 99"]
)
def test_an_endless_stream(tmp_path: Path, what: str) -> None:
    feed = f"import sys\nwhile True: sys.stdout.buffer.write({what} * 1000)"
    assert "--limit stream-bytes=" in refused("train", "-", *TRAIN, feed=feed)
    refused("split", "-s", "split=gpt2", feed=feed)
    refused("encode", "-t", "/dev/zero", feed=feed)


def fibonacci(size: int) -> str:
    before, word = "a", "ab"
    while len(word) < size:
        before, word = word, word + before
    return word[:size]


ENORMOUS: dict[str, Callable[[], str]] = {
    "equal": lambda: "a" * 10_000_000,
    "spaces": lambda: " " * 1_000_000,
    "fibonacci": lambda: fibonacci(1_000_000),
    "distinct": lambda: " ".join(f"w{number:x}" for number in range(400_000)),
}


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("recipe", ["gpt2", "wordpiece", "llama2"])
@pytest.mark.parametrize("name", ENORMOUS)
def test_enormous_words_give_a_result(tmp_path: Path, name: str, recipe: str) -> None:
    path, made = tmp_path / "text", tmp_path / "made.json"
    path.write_text(ENORMOUS[name]())
    code, _, err, _ = ran("train", str(path), "-r", recipe, "--merges", "20", "-q", "-o", str(made))
    assert (code, err) == (0, "")
    code, out, err, _ = ran("encode", "-t", str(made), "-q", feed=f"print(open({str(path)!r}).read(300_000))")
    assert (code, err) == (0, "")
    assert out.strip() or name == "spaces"


SLOW = Recipe(split=r"regex:(?:x|xx)+y|[^x]")


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("text", "command"),
    [
        (lambda: fibonacci(1_000_000), do.SetRecipe(preset("sentencepiece-unigram"))),
        (lambda: fibonacci(1_000_000), do.SetRecipe(preset("bert"))),
        (lambda: "abc " * 50_000 + "x" * 60, do.SetRecipe(SLOW)),
        (lambda: fibonacci(1_000_000), do.AnalyzeVocabulary("", True)),
        (lambda: fibonacci(1_000_000), do.ExamineHealth()),
        (ENORMOUS["distinct"], do.Formats()),
        (ENORMOUS["distinct"], do.GoTo(None)),
        (ENORMOUS["distinct"], do.GoToToken("zzzz")),
    ],
    ids=["unigram", "bert", "regex", "questions", "facts", "formats", "end", "token"],
)
async def test_escape_while_it_works(
    tmp_path: Path, text: Callable[[], str], command: do.Command[object]
) -> None:
    path = tmp_path / "text"
    path.write_text(text())
    session = Session(lambda snapshot: None, Recipe(split="whitespace"))
    await session.start()
    await session.send(do.Open((str(path),)))
    await session.idle.wait()
    took = []
    for wait in (0.02, 0.1, 0.3, 0.6, 1.0):
        future = session.send(command)
        await asyncio.wait([future], timeout=wait)
        begun = time.perf_counter()
        if command.lane is do.Lane.JOB:
            future.cancel()
        await asyncio.wait([session.send(do.CancelWork())])
        if command.lane is not do.Lane.JOB:
            await asyncio.wait([future])
        took.append(time.perf_counter() - begun)
        if not future.cancelled() and isinstance(error := future.exception(), Exception):
            assert isinstance(error, Cancelled)
        await session.idle.wait()
        while left := [one for one in threading.enumerate() if one.name.startswith("tokentui-loader")][:-1]:
            await asyncio.to_thread(left[0].join)  # one Escape at a time
    # shown by pytest -rP
    sys.stdout.write(f"{type(command).__name__}: {[round(1000 * one) for one in took]} ms\n")
    assert sorted(took)[len(took) // 2] <= AT_ONCE_S
    await session.close()
