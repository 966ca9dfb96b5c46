"""Comparison with other libraries, each in a process of its own.

The libraries are never imported here: each runs in a process of its own, with limits, since it sees files
that are not checked and may end in ways that no caller can catch.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import os
import selectors
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokentui.core import children
from tokentui.core.arguments import nearest
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check

_CHILD = Path(__file__).with_name("child.py")
_LOOK_S = 0.1
_LAST_WORDS = 4096


@dataclass(frozen=True, slots=True)
class Peer:
    """A library.

    Attributes:
        name: Its name for `--against`.
        module: The module that it is imported as.
        package: Its name in a package index.
        trains: The models it trains, in a few words; empty for none.
        reads: The files that it encodes with, empty for none.
        format: The name of their format in `tokentui.formats.registry`.
        specials: True if it can find special tokens in a text by their names.
    """

    name: str
    module: str
    package: str
    trains: str = ""
    reads: str = ""
    format: str = ""
    specials: bool = False


PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Peer("tokenizers", "tokenizers", "tokenizers", "bytes or characters without marks", "tokenizer.json",
             "huggingface", specials=True),
        Peer("sentencepiece", "sentencepiece", "sentencepiece", "pieces=sentencepiece", ".model",
             "sentencepiece"),
        Peer(
            "tiktoken", "tiktoken", "tiktoken", "bytes, a few merges", "rank files", "tiktoken",
            specials=True
        ),
        Peer("rustbpe", "rustbpe", "rustbpe", "bytes"),
        Peer("subword-nmt", "subword_nmt", "subword-nmt", "characters with mark=end-suffix:</w>"),
    )
}
"""The libraries by name."""
_ALSO = {
    "huggingface": "tokenizers", "hf": "tokenizers", "spm": "sentencepiece", "subword_nmt": "subword-nmt"
}


def peer_of(name: str) -> Peer:
    """The library of a name.

    Raises:
        TokentuiError: There is none, or it is not installed.
    """
    known = _ALSO.get(name.lower(), name.lower())
    if known not in PEERS:
        raise TokentuiError(f"no peer {name[:40]!r}", "--against", nearest(known, PEERS))
    peer = PEERS[known]
    if importlib.util.find_spec(peer.module) is None:
        raise TokentuiError(
            "the library is not installed", f"--against {peer.name}", f"pip install {peer.package}"
        )
    return peer


def version_of(peer: Peer) -> str:
    """The version that is installed, empty where that is not known."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(peer.package)
    return ""


class Asked:
    """A library in a process, asked by requests and answering them in order.

    Args:
        peer: The library.
    """

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._process = subprocess.Popen(
            children.command_of_file(str(_CHILD)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True, cwd=children.FOLDER,
            env={
                **children.surroundings(), "TOKENIZERS_PARALLELISM": "true", "PYTHONWARNINGS": "ignore",
                "TIKTOKEN_CACHE_DIR": "",  # else a file that was changed is as it was when it was read first
            },
        )
        self._last = bytearray()
        self._out = bytearray()

    def ask(self, seconds: float, **request: Any) -> dict[str, Any]:
        """The answer to a request.

        Args:
            seconds: The longest time it may take, in seconds.
            request: The request.

        Raises:
            TokentuiError: The library refuses, fails, or takes too long.
            Cancelled: The job is cancelled.
        """
        line = self._exchange(
            (json.dumps(request | {"peer": self._peer.name}) + "\n").encode("ascii"), seconds
        )
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise TokentuiError(
                f"the library refuses: {answer['error']}", self._peer.name, "take another file or corpus"
            )
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def _exchange(self, data: bytes, seconds: float) -> bytes:
        """Write a line and read one, whatever order the pipes take them in."""
        process, view, left = self._process, memoryview(data), seconds
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        with selectors.DefaultSelector() as ready:
            os.set_blocking(process.stdin.fileno(), False)
            ready.register(process.stdin, selectors.EVENT_WRITE)
            ready.register(process.stdout, selectors.EVENT_READ)
            ready.register(process.stderr, selectors.EVENT_READ)
            while b"\n" not in self._out:
                check()
                events = ready.select(_LOOK_S)
                if not events:
                    left -= _LOOK_S
                    if left <= 0:
                        raise TokentuiError(
                            f"the library took more than {seconds:.0f} s", self._peer.name, "take less of it"
                        )
                for key, _ in events:
                    if key.fileobj is process.stdin:
                        with contextlib.suppress(BrokenPipeError):
                            view = view[os.write(process.stdin.fileno(), view[: 1 << 16]) :]
                        if not view or process.poll() is not None:
                            ready.unregister(process.stdin)
                        continue
                    more = os.read(key.fd, 1 << 16)
                    if key.fileobj is process.stdout:
                        if not more:
                            raise self._gone()
                        self._out += more
                    elif more:
                        self._last = (self._last + more)[-_LAST_WORDS:]
                    else:
                        ready.unregister(process.stderr)
        line, _, rest = bytes(self._out).partition(b"\n")
        self._out = bytearray(rest)
        return line

    def _gone(self) -> TokentuiError:
        """The error of a process that ended without an answer."""
        code = self._process.wait()
        lines = self._last.decode("utf-8", "replace").splitlines()
        said = [
            line.strip() for line in lines if line.strip() and not line.lstrip().startswith(
                ("note:", "stack ", "at ")
            )
        ]
        how = f"signal {-code}" if code < 0 else f"code {code}"
        return TokentuiError(f"the library ended with {how}" + (f": {said[-1][:200]}" if said else ""),
                             self._peer.name, "take another file or corpus")


@contextlib.contextmanager
def asking(peer: Peer) -> Iterator[Asked]:
    """A library in a process that ends in the end."""
    asked = Asked(peer)
    try:
        yield asked
    finally:
        asked.close()
