"""Comparison with other libraries, each in a process of its own.

The libraries are never imported here: each runs in a process of its own, with limits, since it sees files
that are not checked and may end in ways that no caller can catch.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import itertools
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tokentui.core import children
from tokentui.core.errors import Cancelled, TokentuiError, nearest
from tokentui.core.jobs import check, tick
from tokentui.encode.offsets import WordEncoder
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import recognise
from tokentui.formats.tokens import is_letters, spelled
from tokentui.text.split import SPLITS, Splitter

_CHILD = Path(__file__).with_name("child.py")
_LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class Peer:
    """A library.

    Attributes:
        name: Its name for `--against`.
        module: The module that it is imported as.
        package: Its name in a package index.
        trains: The models it trains, in a few words; empty for none.
        reads: The files that it encodes with, empty for none.
        format: The name of their format in `tokentui.formats`.
        specials: True if it can find special tokens in a text by their names.
    """

    name: str
    module: str
    package: str
    trains: str = ""
    reads: str = ""
    format: str = ""
    specials: bool = False


PEERS: dict[str, Peer] = {peer.name: peer for peer in (
    Peer("tokenizers", "tokenizers", "tokenizers", "bytes or characters without marks", "tokenizer.json",
         "huggingface", specials=True),
    Peer("sentencepiece", "sentencepiece", "sentencepiece", "pieces=sentencepiece", ".model",
         "sentencepiece"),
    Peer("tiktoken", "tiktoken", "tiktoken", "bytes, a few merges", "rank files", "tiktoken", specials=True),
    Peer("rustbpe", "rustbpe", "rustbpe", "bytes"),
    Peer("subword-nmt", "subword_nmt", "subword-nmt", "characters with mark=end-suffix:</w>"),
)}
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
        hint = f"pip install {peer.package}"
        raise TokentuiError("the library is not installed", f"--against {peer.name}", hint)
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
        errors: Takes what it prints on standard error.
        thread: Writes the requests and reads the answers.
    """

    def __init__(self, peer: Peer, errors: IO[bytes], thread: ThreadPoolExecutor) -> None:
        self._peer, self._errors, self._thread = peer, errors, thread
        self._process = subprocess.Popen(
            children.command_of_file(str(_CHILD)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._errors, start_new_session=True, cwd=children.FOLDER,
            env={
                **children.surroundings(), "TOKENIZERS_PARALLELISM": "true", "PYTHONWARNINGS": "ignore",
                "TIKTOKEN_CACHE_DIR": "",  # else a file that was changed is as it was when it was read first
            },
        )

    def ask(self, seconds: float, **request: object) -> dict[str, Any]:
        """The answer to a request.

        Args:
            seconds: The longest time it may take, in seconds.
            request: The request.

        Raises:
            TokentuiError: The library refuses, fails, or takes too long.
            Cancelled: The job is cancelled.
        """
        end, name = time.monotonic() + seconds, self._peer.name
        data = json.dumps(request | {"peer": name}).encode("ascii") + b"\n"
        line = self._thread.submit(self._exchange, data)
        while not wait([line], _LOOK_S).done:
            check()
            if time.monotonic() > end:
                raise TokentuiError(f"the library took more than {seconds:.0f} s", name, "take less of it")
        if not line.result():
            raise self._gone()
        answer: dict[str, Any] = json.loads(line.result())
        if "error" in answer:
            what = f"the library refuses: {answer['error']}"
            raise TokentuiError(what, name, "take another file or corpus")
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._thread.shutdown()
        self._process.communicate()

    def _exchange(self, data: bytes) -> bytes:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(data)
            self._process.stdin.flush()
        return self._process.stdout.readline()

    def _gone(self) -> TokentuiError:
        """The error of a process that ended without an answer."""
        code = self._process.wait()
        self._errors.seek(0)
        lines = map(str.strip, self._errors.read().decode("utf-8", "replace").splitlines())
        said = [line for line in lines if line and not line.startswith(("note:", "stack ", "at "))]
        how = f"signal {-code}" if code < 0 else f"code {code}"
        what = f"the library ended with {how}" + (f": {said[-1][:200]}" if said else "")
        return TokentuiError(what, self._peer.name, "take another file or corpus")


@contextlib.contextmanager
def asking(peer: Peer) -> Iterator[Asked]:
    """A library in a process that ends in the end."""
    with tempfile.TemporaryFile() as errors, ThreadPoolExecutor(1) as thread:
        asked = Asked(peer, errors, thread)
        try:
            yield asked
        finally:
            asked.close()


# A file encoded here and by another library: the first text that differs, made short, and the stage where


SECONDS = 120.0
"""The time that a library may take for one request, in seconds."""
_TEXTS = 64
_LONGEST = 4000
_TRIES = 600


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text on its way to ids, in one of the two.

    Attributes:
        normalized: The text after normalisation, None where that is not told.
        words: Its pre-tokens, None where these are not told.
        tokens: Its tokens, empty where it is refused.
        ids: Their ids.
        refused: Why it is refused, empty where it is not.
    """

    normalized: str | None
    words: tuple[str, ...] | None
    tokens: tuple[str, ...]
    ids: tuple[int | None, ...]
    refused: str = ""


@dataclass(frozen=True, slots=True)
class TextDifference:
    """The first text that is encoded differently.

    Attributes:
        number: The number of the text, from 1.
        specials: True if special tokens were found in it by their names; else all of it is plain text.
        text: The shortest part of it that was found to differ.
        stage: Where the two part: `normalized text`, `pre-tokens` or `ids`.
        ours, theirs: The results of that stage for that part.
    """

    number: int
    text: str
    stage: str
    ours: Encoded
    theirs: Encoded
    specials: bool = False


@dataclass(frozen=True, slots=True)
class EncodingReport:
    """The result: how many texts and tokens are alike, and the first text that is not."""

    peer: str
    version: str
    texts: int
    tokens: int
    difference: TextDifference | None


def verify_encoding(tokenizer: Tokenizer, path: str, peer: Peer, documents: Sequence[str]) -> EncodingReport:
    """Encode documents, cut at line ends, with a file here and there.

    Args:
        tokenizer: The tokenizer of the file.
        path: The file, which the library reads itself.
        peer: The library.
        documents: The documents, encoded as plain text. Those with the name of a special token are also
            encoded with special tokens found, unless the library never does that.

    Raises:
        TokentuiError: The library does not read such files, refuses, or fails.
    """
    if not peer.reads:
        able = ", ".join(f"{name} ({one.reads})" for name, one in PEERS.items() if one.reads)
        raise TokentuiError(f"{peer.name} reads no file of ids", "--against", f"take {able}")
    _check_file(path, peer)
    pattern = _pattern(tokenizer, peer)
    vocabulary = tokenizer.vocabulary
    named = {name: vocabulary.special_id(name) for name in vocabulary.specials} if peer.specials else {}
    total, done, texts, tokens = sum(map(len, documents)), 0, 0, 0
    with asking(peer) as asked:
        asked.ask(SECONDS, do="load", path=os.path.abspath(path), pattern=pattern, specials=named)
        for batch in _batches(documents):
            tick(done, total)
            plain = asked.ask(SECONDS, do="encode", texts=batch, specials=False)["ids"]
            holding = [text for text in batch if any(name in text for name in named)]
            found = asked.ask(SECONDS, do="encode", texts=holding, specials=True)["ids"] if holding else []
            with_specials = dict(zip(holding, found, strict=True))
            for text, theirs in zip(batch, plain, strict=True):
                texts += 1
                ours = _ids(tokenizer, text)
                specials = False
                if not _differ(ours, theirs) and text in with_specials:
                    specials, theirs = True, with_specials[text]
                    ours = _ids(tokenizer, text, specials=True)
                if _differ(ours, theirs):
                    difference = _difference(tokenizer, peer.name, asked, texts, text, specials)
                    return EncodingReport(peer.name, version_of(peer), texts - 1, tokens, difference)
                tokens += len(ours) if isinstance(ours, list) else 0
            done += sum(map(len, batch))
    return EncodingReport(peer.name, version_of(peer), texts, tokens, None)


def _batches(documents: Sequence[str]) -> Iterator[list[str]]:
    texts = (text for document in documents for text in _cut(document))
    while batch := list(itertools.islice(texts, _TEXTS)):
        yield batch


def _cut(document: str) -> Iterator[str]:
    """A document in texts of some lines each: those are soon encoded, and soon made short."""
    start = 0
    while start < len(document):
        end = len(document)
        if end - start > _LONGEST:
            end = document.rfind("\n", start, start + _LONGEST) + 1 or start + _LONGEST
        yield document[start:end]
        start = end


def _check_file(path: str, peer: Peer) -> None:
    """Refuse a file of a format that a library does not read, in place of its parse error.

    Raises:
        TokentuiError: It is one.
    """
    found = recognise(path)
    if found is None or found.name != peer.format:
        what = f"{peer.name} reads {peer.reads}, not {found.about if found else 'this file'}"
        raise TokentuiError(what, path, f"tokentui convert FILE OUT --to {peer.format}, and verify OUT")


def _pattern(tokenizer: Tokenizer, peer: Peer) -> str:
    """The pattern of a file that holds none, empty for a library whose files do.

    Raises:
        TokentuiError: The split is no single pattern.
    """
    split = tokenizer.recipe.split
    if peer.name != "tiktoken":
        return ""
    if split.startswith("regex:"):
        return split.removeprefix("regex:")
    entry = SPLITS[split]
    if entry.kind.prepare is not Splitter.prepare or entry.kind.spans is not Splitter.spans:
        what = f"{peer.name} cannot cut with split={split}: it is more than a pattern"
        raise TokentuiError(what, "-s split", "such as split=gpt2")
    return entry.pattern


def _differ(ours: list[int | None] | str, theirs: list[int | None] | str) -> bool:
    """Return whether two gave other ids, or one of them refused."""
    return ours != theirs and not (isinstance(ours, str) and isinstance(theirs, str))


def _ids(tokenizer: Tokenizer, text: str, specials: bool = False) -> list[int | None] | str:
    """The ids of a text, or why there are none."""
    try:
        return list(tokenizer.encode(text, allow_special=specials).ids)
    except Cancelled:
        raise
    except TokentuiError as error:
        return str(error)


def _difference(
    tokenizer: Tokenizer, peer: str, asked: Asked, number: int, text: str, specials: bool
) -> TextDifference:
    def differs(part: str) -> bool:
        theirs = asked.ask(SECONDS, do="encode", texts=[part], specials=specials)["ids"][0]
        return _differ(_ids(tokenizer, part, specials), theirs)

    short = shorten(text, differs)
    if specials:
        found = asked.ask(SECONDS, do="encode", texts=[short], specials=True)["ids"][0]
        ours, theirs = _as_named(tokenizer, _ids(tokenizer, short, specials)), _as_named(tokenizer, found)
        return TextDifference(
            number, short, "ids, with special tokens found by their names", ours, theirs, specials
        )
    in_letters = tokenizer.recipe.unit == "byte" and peer == "tokenizers"
    ours, theirs = _ours(tokenizer, short), _theirs(asked, in_letters, short)
    stage = "ids"
    if None not in (ours.words, theirs.words) and ours.words != theirs.words:
        stage = "pre-tokens"
    if None not in (ours.normalized, theirs.normalized) and ours.normalized != theirs.normalized:
        stage = "normalized text"
    return TextDifference(number, short, stage, ours, theirs)


def shorten(text: str, differs: Callable[[str], bool], tries: int = _TRIES) -> str:
    """The shortest part of a text that was found for which something holds, by leaving out less and less of
    it.

    Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002, without the
    tests of subsets.
    """
    size = max(1, len(text) // 2)
    while tries > 0:
        at = 0
        left_out = False
        while at < len(text) and tries > 0:
            shorter = text[:at] + text[at + size :]
            tries -= 1
            if shorter and differs(shorter):
                text, left_out = shorter, True
            else:
                at += size
        if size == 1 and not left_out:
            break
        size = max(1, size // 2)
    return text


def _as_named(tokenizer: Tokenizer, ids: list[int | None] | str) -> Encoded:
    """The ids that either gave, with the tokens that the file has for them."""
    if isinstance(ids, str):
        return Encoded(None, None, (), (), ids)
    tokens = ("null" if number is None else tokenizer.id_to_token(number) or "?" for number in ids)
    return Encoded(None, None, tuple(tokens), tuple(ids))


def _ours(tokenizer: Tokenizer, text: str) -> Encoded:
    analysis = WordEncoder(tokenizer.vocabulary, tokenizer.merges).pretokenizer.analyse(text)
    words = tuple(pretoken.text for pretoken in analysis.pretokens)
    try:
        encoding = tokenizer.encode(text)
    except TokentuiError as error:
        return Encoded(analysis.normalized, words, (), (), str(error))
    return Encoded(analysis.normalized, words, encoding.tokens, encoding.ids)


def _theirs(asked: Asked, letters_: bool, text: str) -> Encoded:
    ids = asked.ask(SECONDS, do="encode", texts=[text], specials=False)["ids"][0]
    if isinstance(ids, str):
        return Encoded(None, None, (), (), ids)
    told = asked.ask(SECONDS, do="stages", text=text)
    words, tokens = told["words"], told["tokens"]
    if letters_:
        words = None if words is None else [_plain(word) for word in words]
        tokens = [_plain(token) for token in tokens]
    return Encoded(told["normalized"], None if words is None else tuple(words), tuple(tokens), tuple(ids))


def _plain(name: str) -> str:
    """A word of letters for bytes as the text that it stands for; one that is none as it is."""
    return spelled(name).decode("utf-8", "surrogateescape") if is_letters(name) else name
