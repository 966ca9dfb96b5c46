"""Entry point of the process that runs a student's Python file. It reads a request of JSON from standard
input, and writes a line of JSON for each case.

Nothing of this package is imported here. The limits stop accidents, not attacks: a file that wants to do
harm can. What the file prints goes to standard error. The request has `code`, `name`, `limits` and `cases`;
a case has the text of its corpus, a call with its arguments, and texts to encode.
"""

from __future__ import annotations

import inspect
import io
import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any

NAME = "submission"
MOST_DEPTH = 12
_STARTS = ("os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.exec", "os.system", "subprocess.Popen")
_ABROAD = ("socket.connect", "socket.bind", "socket.getaddrinfo", "urllib.Request")


class LimitError(Exception):
    """A limit of the exercise was reached."""


def limit(limits: Mapping[str, int]) -> None:
    """Set the limits of memory, file size, processor time and processes of this process. A limit that the
    system refuses is skipped; Windows has none of them."""
    try:
        import resource
    except ImportError:
        return
    memory, size, seconds = limits["memory_mb"] << 20, limits["file_mb"] << 20, limits["seconds"] + 1
    wanted = {"RLIMIT_AS": memory, "RLIMIT_FSIZE": size, "RLIMIT_CPU": seconds, "RLIMIT_CORE": 0}
    if not limits["processes"]:
        wanted["RLIMIT_NPROC"] = 0
    for name, value in wanted.items():
        with suppress(OSError, ValueError, AttributeError):  # a system may have another limit, or none
            # At its soft limit of time a process gets a signal that tells it, at the hard one it is killed.
            hard = value + 5 if name == "RLIMIT_CPU" else value
            resource.setrlimit(getattr(resource, name), (value, hard))


def watch(limits: Mapping[str, int]) -> None:
    """Raise `LimitError` in this process when it starts a process, unless the exercise allows it, or uses the
    network. The hook stays until the process ends."""
    refused = _ABROAD if limits["processes"] else (*_STARTS, *_ABROAD)

    def hook(event: str, _: object) -> None:
        if event in refused:
            what = "use the network" if event in _ABROAD else "start a process"
            raise LimitError(f"the exercise does not let a function {what}")

    sys.addaudithook(hook)


# ---- values


def packed(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON: bytes as ["b", hex], containers as a list with a letter in front.

    Raises:
        LimitError: It holds something that is no text, number or container, or is too deep.
    """
    if value is None or isinstance(value, bool | float):
        return ["n", value if not isinstance(value,
            float) or (value == value and abs(value) < 1e300) else None]
    if isinstance(value, str):
        return ["s", value]
    if isinstance(value, bytes | bytearray):
        return ["b", bytes(value).hex()]
    if depth > MOST_DEPTH:
        raise LimitError("the returned value is nested too deep")
    if isinstance(value, Mapping):
        return ["d", [[packed(key, depth + 1), packed(item, depth + 1)] for key, item in value.items()]]
    if isinstance(value, list | tuple | set | frozenset) or hasattr(value, "__next__"):
        return ["l", [packed(item, depth + 1) for item in value]]
    try:
        return ["i", int(value.__index__())]
    except AttributeError:
        raise LimitError(f"the returned value holds a {type(value).__name__}") from None


def unpacked(value: Any) -> Any:
    """Return the value that was packed; a list becomes a list, a pair of bytes a tuple."""
    kind, content = value
    if kind == "b":
        return bytes.fromhex(content)
    if kind == "d":
        return {unpacked(key): unpacked(item) for key, item in content}
    if kind == "t":
        return tuple(map(unpacked, content))
    return list(map(unpacked, content)) if kind == "l" else content


# ---- calls


def loaded(code: str, name: str) -> ModuleType:
    """Return the module of a file, which is run once."""
    module = ModuleType(NAME)
    module.__file__ = name
    sys.modules[NAME] = module
    exec(compile(code, name, "exec"), vars(module))
    return module


def found(module: ModuleType, name: str, part: str) -> Callable[..., Any]:
    """Return the function or class `name` of a module, else `run_` and the name, else the only public one of
    its own whose name contains `part`.

    Raises:
        LimitError: There is none, or several contain it.
    """
    own = {
        key: value for key, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", "") == NAME and not key.startswith("_")
    }
    if callable(value := vars(module).get(name)):
        return value  # type: ignore[no-any-return]
    if callable(value := vars(module).get(f"run_{name}")):
        return value  # type: ignore[no-any-return]
    like = [value for key, value in own.items() if part in key.lower()]
    if len(like) == 1:
        return like[0]  # type: ignore[no-any-return]
    raise LimitError(f"there is no function or class {name}; found: {', '.join(sorted(own)[:8]) or 'none'}")


def called(function: Callable[..., Any], arguments: list[Any]) -> Any:
    """Call a function with the arguments of the exercise. What it raises itself passes.

    Raises:
        LimitError: It does not take these arguments.
    """
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as error:
        name = getattr(function, "__name__", "the function")
        raise LimitError(f"{name} is called with {len(arguments)} arguments: {error}") from None
    except ValueError:
        pass
    return function(*arguments)


def trained(module: ModuleType, call: list[Any]) -> tuple[Any, Any]:
    """Call the training of the exercise. Return its result as merges or a vocabulary with merges, and the
    object that can encode afterwards; None if there is none."""
    name, arguments = call[0], [unpacked(value) for value in call[1]]
    maker = found(module, name, "train")
    if inspect.isclass(maker):
        made: Any = maker()
        result = called(made.train, arguments)
        if hasattr(made, "merges"):
            vocabulary = getattr(made, "vocab", None)
            return ({"vocab": vocabulary, "merges": made.merges} if vocabulary else made.merges), made
        return result, made
    result = called(maker, arguments)
    if hasattr(result, "merges"):
        return {"vocab": getattr(result, "vocab", None), "merges": result.merges}, result
    return result, None


def encoded(module: ModuleType, call: list[Any] | None, made: Any, texts: list[str]) -> list[Any]:
    """Return for each text its ids, the text that they decode to, and an error. Ids are None after an error,
    and the text without a function that decodes. Empty if nothing can encode."""
    decode: Callable[..., Any] | None = getattr(made, "decode", None) or vars(module).get("decode")
    if call is not None:
        arguments = [unpacked(value) for value in call[1]]
        maker = found(module, call[0], "encode" if call[0].islower() else "token")
        if inspect.isclass(maker):
            made = called(maker, arguments)
            encode, decode = made.encode, getattr(made, "decode", None)
        else:
            def encode(text: str) -> Any:
                return called(maker, [text if value is None else value for value in arguments])
    else:
        encode = getattr(made, "encode", None) or vars(module).get("encode")
        if encode is None:
            return []
    rows: list[Any] = []
    for text in texts:
        try:
            ids = packed(encode(text))
        except BaseException as error:
            rows.append([None, None, line_of(error)])
            continue
        try:
            rows.append([ids, None if decode is None else packed(decode(unpacked(ids))), ""])
        except BaseException as error:
            rows.append([ids, None, f"decode: {line_of(error)}"])
    return rows


def line_of(error: BaseException) -> str:
    """Return an error as one line, with the line of the file where it was raised."""
    if isinstance(error, LimitError):
        return str(error)[:300]
    if isinstance(error, MemoryError):
        return "the memory limit of the exercise was reached"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(".py")]
    own = [frame for frame in frames if os.path.dirname(frame.filename) == ""]
    at = f"line {own[-1].lineno}: " if own else ""
    return f"{at}{type(error).__name__}: {' '.join(str(error).split())}"[:300]


def main() -> None:
    """Load the code and answer each case of the request, a JSON line each.

    Output of the code goes to stderr, and its input is empty. Errors of the code are answers.
    """
    request = json.loads(sys.stdin.buffer.read())
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    sys.stdin = io.StringIO()
    limit(request["limits"])
    watch(request["limits"])

    def answer(**row: Any) -> None:
        answers.write(json.dumps(row) + "\n")
        answers.flush()

    try:
        module = loaded(request["code"], request["name"])
    except BaseException as error:
        answer(error=line_of(error))
        return
    for case in request["cases"]:
        row: dict[str, Any] = {"result": None, "encoded": [], "error": ""}
        try:
            made = None
            if case["text"] is not None:
                with open("corpus.txt", "wb") as file:
                    file.write(bytes.fromhex(case["text"]))
            if case["call"] is not None:
                result, made = trained(module, case["call"])
                row["result"] = packed(result)
            if case["texts"]:
                row["encoded"] = encoded(module, case["encode_call"], made, case["texts"])
        except BaseException as error:
            row["error"] = line_of(error)
        answer(**row)


if __name__ == "__main__":
    main()
