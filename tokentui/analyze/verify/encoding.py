"""A file encoded here and by another library: the first text that differs, made short, and the stage where
the two part."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tokentui.analyze.verify import Asked, Peer, asking, version_of
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import tick
from tokentui.encode.offsets import WordEncoder
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import letters
from tokentui.formats.files import recognise
from tokentui.text.split import SPLITS, Splitter

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
        able = ", ".join(f"{name} ({one.reads})" for name, one in _readers().items())
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


def _readers() -> dict[str, Peer]:
    from tokentui.analyze.verify import PEERS

    return {name: peer for name, peer in PEERS.items() if peer.reads}


def _batches(documents: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for document in documents:
        for text in _cut(document):
            batch.append(text)
            if len(batch) == _TEXTS:
                yield batch
                batch = []
    if batch:
        yield batch


def _cut(document: str) -> Iterator[str]:
    """A document in texts of some lines each: those are soon encoded, and soon made short."""
    start = 0
    while start < len(document):
        end = document.rfind(
            "\n", start, start + _LONGEST
        ) + 1 if len(document) - start > _LONGEST else len(document)
        end = end if end > start else min(start + _LONGEST, len(document))
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
    ours, theirs = _ours(tokenizer, short), _theirs(
        asked, tokenizer.recipe.unit == "byte" and peer == "tokenizers", short
    )
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
    return letters.spelled(name).decode("utf-8", "surrogateescape") if letters.is_letters(name) else name
