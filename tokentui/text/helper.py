"""A helper process that counts a share of a corpus.

A plain child process with pipes of its own, because a pool of `multiprocessing` cannot start inside a running Textual app
(it hands the child the file number of a standard error that has none). What goes through the pipes is JSON, which can be
nothing but data, but for the texts of a task, which follow it as they are.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from tokentui.core import children, limits
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer


class Helper:
    """A running helper.

    Args:
        recipe: Whose normalisation and split are used.
        chunks: The texts to count, and of each whether a document starts with it.
    """

    def __init__(self, recipe: Recipe, chunks: Sequence[tuple[str, bool]]) -> None:
        self._answer = b""
        self._process = subprocess.Popen(
            children.command("tokentui.text.helper"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=children.surroundings(),
            cwd=children.FOLDER,
        )
        texts = [text.encode("utf-8", "surrogatepass") for text, _ in chunks]
        sizes = [(len(data), first) for data, (_, first) in zip(texts, chunks, strict=True)]
        head = json.dumps((recipe.to_dict() | recipe.shape, sizes, limits.now().pattern_seconds)).encode()
        task = b"".join((head, b"\n", *texts))
        self._thread = threading.Thread(target=self._talk, args=(task,), daemon=True)
        self._thread.start()

    def _talk(self, task: bytes) -> None:
        # In one call each: between two of them this thread would wait for the one that counts.
        with contextlib.suppress(OSError, ValueError), self._process as process:  # it may be stopped meanwhile
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(task)
            process.stdin.close()
            self._answer = process.stdout.read()

    def result(self, cancel: Callable[[], bool] | None = None) -> dict[str, int]:
        """The counts, in order of first appearance. Waits for them.

        Raises:
            TokentuiError: What the helper met, or that it died.
        """
        while self._thread.is_alive():
            self._thread.join(0.05)
            if cancel is not None and cancel():
                raise Cancelled
        if self._process.returncode != 0 or not self._answer:
            what = "a helper process ended before it had counted its share"
            raise TokentuiError(what, "count", "try again with more free memory")
        answer: dict[str, Any] = json.loads(self._answer)
        if "error" in answer:
            raise TokentuiError(*answer["error"])
        counts: dict[str, int] = answer["counts"]
        return counts

    def stop(self) -> None:
        """End the process if it still runs, and take it off the system's list."""
        if self._process.poll() is None:
            self._process.kill()
        self._thread.join()
        self._process.wait()


def main() -> None:
    """Read a task from standard input, write its counts to standard output."""
    axes, sizes, seconds = json.loads(sys.stdin.buffer.readline())
    limits.use(dataclasses.replace(limits.now(), pattern_seconds=seconds))
    counts: Counter[str] = Counter()
    try:
        words = Pretokenizer(Recipe.from_dict(axes)).words
        for size, first in sizes:
            counts.update(words(str(sys.stdin.buffer.read(size), "utf-8", "surrogatepass"), first=first))
        answer: dict[str, Any] = {"counts": dict(counts)}
    except TokentuiError as error:
        answer = {"error": (error.what, error.where, error.hint)}
    sys.stdout.buffer.write(json.dumps(answer).encode())


if __name__ == "__main__":
    main()
