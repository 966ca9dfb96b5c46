"""Run a student's Python file in a child process, with limits, in an empty folder, without an environment."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokentui.analyze.grading.exercise import Call, Exercise
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check
from tokentui.core.safetext import to_bytes
from tokentui.text.corpus import Corpus

_CHILD = Path(__file__).with_name("child.py")
_POLL_S = 0.2
_STARTUP_S = 5.0
"""Seconds for the start of the interpreter, beside the time of the exercise."""
_SIGXCPU = getattr(signal, "SIGXCPU", 0)
MOST_OUTPUT = 64 << 20
"""The maximum number of bytes of answers that are read."""


@dataclass(frozen=True)
class Case:
    """A corpus that a file is tried on.

    Attributes:
        corpus: The corpus; None to encode only.
        asked: The number of merges that are asked for.
        vocab_size: The number of ids that are asked for.
        texts: Texts to encode afterwards.
        vocab: The id of each token, for a call that takes it.
        merges: The merges, for a call that takes them.
    """

    corpus: Corpus | None
    asked: int = 0
    vocab_size: int = 0
    texts: tuple[str, ...] = ()
    vocab: Mapping[int, bytes] | None = None
    merges: Sequence[tuple[bytes, bytes]] = ()


@dataclass(frozen=True)
class Answer:
    """What a file answers for a case.

    Attributes:
        result: What the training returned.
        encoded: For each text the ids, the decoded text, and an error.
        error: Why there is no result; empty if there is one.
    """

    result: Any = None
    encoded: tuple[tuple[Any, Any, str], ...] = ()
    error: str = ""


def text_of(corpus: Corpus) -> str:
    """Return a corpus as one text: its documents, or its words as often as they occur."""
    if corpus.counts is not None:
        return " ".join(word for word, times in corpus.counts for _ in range(times))
    return "\n".join(map(str, corpus.documents))


def run_file(code: str, name: str, exercise: Exercise, cases: Sequence[Case]) -> list[Answer]:
    """Run a file on each case, in one child process with the limits of the exercise.

    Args:
        code: The text of the file.
        name: Its name, for errors.
        exercise: The exercise, with its calls and limits.
        cases: The cases.

    Returns:
        An answer for each case, in order. If the process ended early, the cases that are left have an error.

    Raises:
        TokentuiError: The child cannot be started.
        Cancelled: The job is cancelled; the child is ended.
    """
    request = json.dumps({
        "code": code, "name": os.path.basename(name) or "submission.py", "limits": dict(exercise.limits),
        "cases": [_case(case, exercise) for case in cases],
    })
    seconds = exercise.limits["seconds"] + _STARTUP_S
    with tempfile.TemporaryDirectory(prefix="tokentui-grade-", ignore_cleanup_errors=True) as folder:
        output, late = _output(request.encode(), folder, seconds)
    answers: list[Answer] = []
    for line in output.splitlines():
        with contextlib.suppress(ValueError, TypeError, KeyError):
            row = json.loads(line)
            encoded = tuple((unpacked(ids), unpacked(text), error) for ids, text, error in row.get("encoded",
                ()))
            answers.append(Answer(unpacked(row.get("result")), encoded, row["error"]))
    if answers and answers[0].error and len(answers) < len(cases) and not late:
        return [answers[0]] * len(cases)  # the file itself failed
    why = "its process ended without an answer: probably it took more memory than the exercise allows"
    if late:
        why = f"took more than {exercise.limits['seconds']} s"
    return [*answers, *[Answer(error=why)] * (len(cases) - len(answers))]


def unpacked(value: Any) -> Any:
    """Return a value that the child packed: lists as tuples, mappings as dicts.

    Raises:
        ValueError, TypeError: It is none.
    """
    if value is None:
        return None
    kind, content = value
    if kind == "b":
        return bytes.fromhex(content)
    if kind == "d":
        return {unpacked(key): unpacked(item) for key, item in content}
    return tuple(map(unpacked, content)) if kind == "l" else content


def _packed(value: object) -> object:
    """Return a value as JSON with tags for bytes, mappings, tuples, lists and scalars."""
    if isinstance(value, bytes):
        return ["b", value.hex()]
    if isinstance(value, Mapping):
        return ["d", [[_packed(key), _packed(item)] for key, item in value.items()]]
    if isinstance(value, tuple):
        return ["t", [_packed(item) for item in value]]
    return ["l", [_packed(item) for item in value]] if isinstance(value, list) else ["s", value]


def _case(case: Case, exercise: Exercise) -> dict[str, object]:
    """Return the JSON of a case for the child. Without a corpus it has no text and no call to train."""
    corpus = case.corpus
    return {
        "text": None if corpus is None else to_bytes(text_of(corpus)).hex(),
        "call": None if corpus is None else _call(exercise.call, case, exercise),
        "encode_call": _call(exercise.encode_call, case, exercise), "texts": list(case.texts),
    }


def _call(call: Call | None, case: Case, exercise: Exercise) -> list[object] | None:
    """Return the name and the packed arguments of a call, None for None.

    `words` are counted at spaces where the corpus is a text. `text` is None without a corpus.
    """
    if call is None:
        return None
    values: dict[str, object] = {
        "vocab_size": case.vocab_size, "num_merges": case.asked, "special_tokens": list(exercise.specials),
        "input_path": "corpus.txt", "vocab": dict(case.vocab or {}), "merges": list(case.merges),
        "text": None,
        "ranks": {piece: number for number, piece in (case.vocab or {}).items()},
    }
    if (corpus := case.corpus) is not None:
        text = text_of(corpus)
        words = dict(corpus.counts or ()) or {word: text.split().count(word) for word in text.split()}
        values |= {"text": text, "documents": list(map(str, corpus.documents)), "words": words}
    return [call.name, [_packed(values[name]) for name in call.arguments]]


def _output(request: bytes, folder: str, seconds: float) -> tuple[str, bool]:
    """Return what the child answers, and whether it was ended because it took too long. The child and its
    processes are killed in each case. Output beyond `MOST_OUTPUT` is dropped.

    Raises:
        TokentuiError: No process can be started.
        Cancelled: The job is cancelled.
    """
    try:
        child = subprocess.Popen(
            [sys.executable, "-I", "-X", "utf8", str(_CHILD)], cwd=folder, env=_environment(),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )
    except OSError as error:
        raise TokentuiError(f"no process can be started: {error.strerror}", "grade",
            "use --no-code") from None
    given: bytes | None = request
    try:
        for _ in range(int(seconds / _POLL_S) + 1):
            try:
                output, _ = child.communicate(given, timeout=_POLL_S)
                return output[:MOST_OUTPUT].decode("ascii", "replace"), child.returncode == -_SIGXCPU
            except subprocess.TimeoutExpired:
                given = None
            check()
        _end(child)
        output, _ = child.communicate()
        return output[:MOST_OUTPUT].decode("ascii", "replace"), True
    finally:
        _end(child)


def _environment() -> dict[str, str]:
    """Return the environment of the child: what Windows needs to start a program, else nothing."""
    needed: Iterable[str] = ("SYSTEMROOT",) if os.name == "nt" else ()
    return {name: os.environ[name] for name in needed if name in os.environ}


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child and what it has started."""
    with contextlib.suppress(OSError, AttributeError):
        os.killpg(child.pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        child.kill()
    child.wait()
