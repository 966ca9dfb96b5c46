"""The program of a process of its own: another library, asked by lines of JSON on standard input and
answering the same way.

Nothing of this package is imported here, and the libraries only when they are asked. What they print goes to
standard error.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

MEMORY = 12 << 30
"""Bytes of address space that a library may take; much of it is never touched."""
_PART = 1 << 16


def limit() -> None:
    """Take away what a library that goes wrong would need to take the machine with it."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    for what, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(what)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))


def spread(asked: dict[str, Any]) -> Iterator[str]:
    """Each word as often as it stands in the corpus."""
    for word, count in zip(asked["words"], asked["counts"], strict=True):
        for _ in range(count):
            yield word


def joined(asked: dict[str, Any]) -> Iterator[str]:
    """The words with the delimiter between them, in parts of some size."""
    part: list[str] = []
    size = 0
    for word in spread(asked):
        part.append(word)
        size += len(word) + 1
        if size > _PART:
            yield asked["delimiter"].join(part)
            part, size = [], 0
    if part:
        yield asked["delimiter"].join(part)


def train_tokenizers(asked: dict[str, Any]) -> list[list[str]]:
    """The (left, right) of each merge, by name."""
    import tokenizers

    one = tokenizers.Tokenizer(tokenizers.models.BPE())
    one.pre_tokenizer = tokenizers.pre_tokenizers.CharDelimiterSplit(asked["delimiter"])
    size = asked["base"] + asked["merges"]
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=size, min_frequency=0, show_progress=False, initial_alphabet=asked["alphabet"]
    )
    one.train_from_iterator(joined(asked), trainer)
    return [list(row) for row in json.loads(one.to_str())["model"]["merges"]]


def train_rustbpe(asked: dict[str, Any]) -> list[list[str]]:
    """Each token made, in hex."""
    import rustbpe

    one = rustbpe.Tokenizer()
    one.train_from_iterator(spread(asked), 256 + asked["merges"], pattern=r"(?s).+")
    ranks = sorted(one.get_mergeable_ranks(), key=lambda row: row[1])
    return [[bytes(token).hex()] for token, _ in ranks[256:]]


def train_tiktoken(asked: dict[str, Any]) -> list[list[str]]:
    """Each token made, in hex, by the library's educational module."""
    from tiktoken._educational import bpe_train

    pattern = f"[^{asked['delimiter']}]+"
    ranks = bpe_train(asked["delimiter"].join(spread(asked)), 256 + asked["merges"], pattern, visualise=None)
    return [[token.hex()] for token in sorted(ranks, key=ranks.__getitem__)[256:]]


def train_subword_nmt(asked: dict[str, Any]) -> list[list[str]]:
    """The (left, right) of each merge, by name."""
    from subword_nmt.learn_bpe import learn_bpe

    rows = io.StringIO(
        "".join(f"{word} {count}\n" for word, count in zip(asked["words"], asked["counts"], strict=True))
    )
    codes = io.StringIO()
    learn_bpe(rows, codes, asked["merges"], min_frequency=1, is_dict=True)
    return [row.split(" ") for row in codes.getvalue().splitlines()[1:]]


def train_sentencepiece(asked: dict[str, Any]) -> list[list[str]]:
    """Each piece made, in hex; it normalises and cuts the documents itself."""
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(asked["documents"]), model_writer=model, model_type="bpe",
        vocab_size=asked["size"],
        character_coverage=asked["coverage"], byte_fallback=asked["fallback"], split_digits=asked["digits"],
        user_defined_symbols=asked["symbols"], add_dummy_prefix=asked["prefix"],
        max_sentence_length=asked["longest"],
        normalization_rule_name=asked["rule"], remove_extra_whitespaces=asked["squeeze"], minloglevel=2,
    )
    one = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    first = 3 + len(asked["symbols"]) + 256 * asked["fallback"]
    return [[one.id_to_piece(number).encode().hex()] for number in range(first, first + asked["merges"])]


TRAIN: dict[str, Callable[[dict[str, Any]], list[list[str]]]] = {
    "tokenizers": train_tokenizers, "rustbpe": train_rustbpe, "tiktoken": train_tiktoken,
    "subword-nmt": train_subword_nmt, "sentencepiece": train_sentencepiece,
}


class HuggingFace:
    """A `tokenizer.json`."""

    def __init__(self, asked: dict[str, Any]) -> None:
        import tokenizers

        self._one = tokenizers.Tokenizer.from_file(asked["path"])
        self._one.no_truncation()
        self._one.no_padding()

    def ids(self, text: str, specials: bool = False) -> list[int]:
        self._one.encode_special_tokens = not specials
        return list(self._one.encode(text, add_special_tokens=False).ids)

    def stages(self, text: str) -> dict[str, Any]:
        one = self._one
        one.encode_special_tokens = True
        normal = one.normalizer.normalize_str(text) if one.normalizer else text
        words = [
            word for word, _ in one.pre_tokenizer.pre_tokenize_str(normal)
        ] if one.pre_tokenizer else [normal]
        return {
            "normalized": normal, "words": words, "tokens": one.encode(text, add_special_tokens=False).tokens
        }


class SentencePiece:
    """A `.model`."""

    def __init__(self, asked: dict[str, Any]) -> None:
        import sentencepiece

        self._one = sentencepiece.SentencePieceProcessor(model_file=asked["path"])

    def ids(self, text: str, specials: bool = False) -> list[int]:
        return list(self._one.encode(text))

    def stages(self, text: str) -> dict[str, Any]:
        return {
            "normalized": self._one.normalize(text), "words": None,
            "tokens": self._one.encode(text, out_type=str)
        }


class TikToken:
    """A rank file, with the pattern that it does not hold."""

    def __init__(self, asked: dict[str, Any]) -> None:
        import tiktoken
        from tiktoken.load import load_tiktoken_bpe

        self._pattern = asked["pattern"]
        ranks = load_tiktoken_bpe(asked["path"])
        self._one = tiktoken.Encoding(
            "one", pat_str=self._pattern, mergeable_ranks=ranks, special_tokens=asked["specials"]
        )

    def ids(self, text: str, specials: bool = False) -> list[int]:
        return list(
            self._one.encode(text, allowed_special="all") if specials else self._one.encode_ordinary(text)
        )

    def stages(self, text: str) -> dict[str, Any]:
        import regex

        tokens = [
            self._one.decode_single_token_bytes(number).decode(
                "utf-8", "replace"
            ) for number in self.ids(text)
        ]
        return {"normalized": text, "words": regex.findall(self._pattern, text), "tokens": tokens}


ENCODE: dict[str, Any] = {"tokenizers": HuggingFace, "sentencepiece": SentencePiece, "tiktoken": TikToken}


def tried(ids: Callable[[str, bool], list[int]], text: str, specials: bool) -> list[int] | str:
    """The ids of a text, or why there are none."""
    try:
        return ids(text, specials)
    except Exception as error:
        return _line(error)


def main() -> None:
    """Answer until there is nothing more to answer."""
    limit()
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    loaded: Any = None
    for line in sys.stdin:
        asked = json.loads(line)
        reply: dict[str, Any]
        try:
            if asked["do"] == "train":
                reply = {"made": TRAIN[asked["peer"]](asked)}
            elif asked["do"] == "load":
                loaded = ENCODE[asked["peer"]](asked)
                reply = {}
            elif asked["do"] == "encode":
                reply = {"ids": [tried(loaded.ids, text, asked["specials"]) for text in asked["texts"]]}
            else:
                reply = loaded.stages(asked["text"])
        except BaseException as error:  # a panic of Rust is no Exception
            reply = {"error": _line(error)}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]


if __name__ == "__main__":
    main()
