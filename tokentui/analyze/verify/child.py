"""Entry point of the process that runs another library. It reads one JSON request per line from standard
input: the name of a function of this file, or of a method of the last opened object, and its arguments by
name. The answer is a line with the returned value, or an error.

Nothing of this package is imported here, and the libraries only when they are asked. What they print goes to
standard error.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from typing import Any, ClassVar, Protocol

MEMORY = 12 << 30
"""Bytes of address space that a library may take; much of it is never touched."""


def limit() -> None:
    """Bound the memory of this process to `MEMORY`, or to its hard limit if that is less, and write no core
    file. Does nothing on Windows."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    for what, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(what)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))


def spread(words: list[str], counts: list[int]) -> Iterator[str]:
    """Yield each word `count` times."""
    for word, count in zip(words, counts, strict=True):
        for _ in range(count):
            yield word


class NoTrainerError(Exception):
    """This release of a library has no trainer."""


# Trainings: the (left, right) of each merge by name, or each token made.


def train_tokenizers(
    words: list[str], counts: list[int], alphabet: list[str], marks: dict[str, Any], marked: list[str],
    merges: int, parity: dict[str, Any] | None = None, **languages: Any,
) -> list[list[str]]:
    """Train by Hugging Face tokenizers; with `parity`, the options of its parity-aware trainer, on the words
    of each language.

    Its alphabet is in code point order, and the units with a mark follow in an order that differs each time.
    Both are given to it as special tokens, which get the first ids, so that the order is that of `marked`.
    """
    import tokenizers

    trainers = getattr(tokenizers, "trainers", None)  # 1.0 has none
    wanted = "BpeTrainer" if parity is None else "ParityBpeTrainer"
    if trainers is None or not hasattr(trainers, wanted):
        raise NoTrainerError
    units = list(dict.fromkeys([*sorted({*alphabet, *"".join(words)}), *marked]))
    size = {"vocab_size": len(units) + merges} if parity is None else {"num_merges": merges, **parity}
    trainer = getattr(trainers, wanted)(
        min_frequency=0, show_progress=False, initial_alphabet=alphabet, special_tokens=units, **size, **marks
    )
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    if parity is None:
        tokenizer.train_from_iterator(spread(words, counts), trainer)
    else:
        sides = [
            None if side is None else [spread(*counted) for counted in side]
            for side in (languages["languages"], languages["developments"])
        ]
        trainer.train_from_iterator(tokenizer, *sides, ratio=languages["ratio"])
    return [list(row) for row in json.loads(tokenizer.to_str())["model"]["merges"]]


def train_rustbpe(words: list[str], counts: list[int], merges: int, **_: object) -> list[list[str]]:
    """Train with rustbpe. Return a list with the token of each merge."""
    import rustbpe

    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator(spread(words, counts), 256 + merges, pattern=r"(?s).+")
    ranks = sorted(tokenizer.get_mergeable_ranks(), key=lambda row: row[1])
    return [[_text(bytes(token))] for token, _ in ranks[256:]]


def train_tiktoken(
    words: list[str], counts: list[int], delimiter: str, merges: int, **_: object
) -> list[list[str]]:
    """Train by the educational module of tiktoken."""
    from tiktoken._educational import bpe_train

    text = delimiter.join(spread(words, counts))
    ranks = bpe_train(text, 256 + merges, f"[^{delimiter}]+", visualise=None)
    return [[_text(token)] for token in sorted(ranks, key=ranks.__getitem__)[256:]]


def train_subword_nmt(words: list[str], counts: list[int], merges: int, **_: object) -> list[list[str]]:
    """Train by subword-nmt."""
    from subword_nmt.learn_bpe import learn_bpe

    rows = io.StringIO("".join(f"{word} {count}\n" for word, count in zip(words, counts, strict=True)))
    codes = io.StringIO()
    learn_bpe(rows, codes, merges, min_frequency=1, is_dict=True)
    return [row.split(" ") for row in codes.getvalue().splitlines()[1:]]


def train_sentencepiece(
    documents: list[str], first: int, byte_fallback: bool, merges: int, base: int, size: int,
    **options: Any,
) -> list[list[str]]:
    """Train by sentencepiece, which normalizes and cuts the documents itself."""
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(documents), model_writer=model, model_type="bpe", vocab_size=size,
        byte_fallback=byte_fallback, minloglevel=2, **options,
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    first += 256 * byte_fallback
    return [[processor.id_to_piece(number)] for number in range(first, first + merges)]


def train_sentencepiece_pieces(
    documents: list[str], first: int, size: int, **options: Any
) -> list[list[str | float]]:
    """Train a unigram model by sentencepiece, in one thread, at most to a size. Return the pieces, without
    specials, symbols and bytes, with their scores."""
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(documents), model_writer=model, model_type="unigram", vocab_size=size,
        hard_vocab_limit=False, num_threads=1, minloglevel=2, **options,
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    first += 256 * options["byte_fallback"]
    return [[processor.id_to_piece(number), processor.get_score(number)]
            for number in range(first, processor.get_piece_size())]


# Files: what opens one, and then encodes with it.


class Opened(Protocol):
    """A file, opened by its owner's library."""

    def ids(self, text: str, specials: bool) -> list[int]:
        """Return the ids of a text. With `specials`, the name of a special token in it becomes that token.
        None is added around the text."""

    def stages(self, text: str) -> dict[str, object]:
        """Return the stages of a text in which no special token is read or added.

        Returns:
            `normalized`: the normalized text, or None. `words`: the pre-tokens, or None. `tokens`: the tokens
            as the library shows them. A stage is None if the library does not report it.
        """


class HuggingFace(Opened):
    """A `tokenizer.json`, opened by `tokenizers`.

    Each call sets whether the names of special tokens are read; both calls do so before they encode. The
    words of a tokenizer without a pre-tokenizer are the one normalized text. From 1.0 on, the library has no
    such setting, but an argument, and does not tell its stages.
    """

    _PLAIN: ClassVar[dict[str, Any]] = {"add_special_tokens": False, "padding": None, "truncation": None}

    def __init__(self, path: str, **_: object) -> None:
        import tokenizers

        self._opened: Any = tokenizers.Tokenizer.from_file(path)
        if hasattr(self._opened, "no_truncation"):
            self._opened.no_truncation()
            self._opened.no_padding()

    def ids(self, text: str, specials: bool) -> list[int]:
        if not hasattr(self._opened, "no_truncation"):
            return list(self._opened.encode(text, encode_special_tokens=not specials, **self._PLAIN).ids)
        self._opened.encode_special_tokens = not specials
        return list(self._opened.encode(text, add_special_tokens=False).ids)

    def stages(self, text: str) -> dict[str, object]:
        """Return the normalized text, words and tokens, without special tokens around.

        Normalized text and words are None where the library only tokenizes.
        """
        tokenizer = self._opened
        if not hasattr(tokenizer, "no_truncation"):
            tokens = tokenizer.tokenize(text, encode_special_tokens=True, **self._PLAIN)
            return {"normalized": None, "words": None, "tokens": tokens}
        tokenizer.encode_special_tokens = True
        normalized = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
        words = [(normalized, None)]
        if tokenizer.pre_tokenizer:
            words = tokenizer.pre_tokenizer.pre_tokenize_str(normalized)
        tokens = tokenizer.encode(text, add_special_tokens=False).tokens
        return {"normalized": normalized, "words": [word for word, _ in words], "tokens": tokens}


class Transformers(HuggingFace):
    """A model folder, as `AutoTokenizer` loads it. No code of the folder runs.

    A model of sentencepiece is read by sentencepiece, not by its conversion, which is another tokenizer.
    """

    def __init__(self, path: str, **_: object) -> None:
        os.environ["HF_HUB_OFFLINE"] = "1"  # read when the library is imported
        from transformers import AutoTokenizer

        names = os.listdir(path)
        fast = "tokenizer.json" in names or not any(name.endswith((".model", ".spm")) for name in names)
        self._auto = AutoTokenizer.from_pretrained(
            path, local_files_only=True, trust_remote_code=False, use_fast=fast
        )
        if (backend := getattr(self._auto, "backend_tokenizer", None)) is not None:
            self._opened = backend

    def ids(self, text: str, specials: bool) -> list[int]:
        whole = self._auto(text, add_special_tokens=False, split_special_tokens=not specials)
        return list(whole["input_ids"])

    def stages(self, text: str) -> dict[str, object]:
        if hasattr(self, "_opened"):
            return super().stages(text)
        return {"normalized": None, "words": None, "tokens": self._auto.tokenize(text)}


class SentencePiece(Opened):
    """A `.model`."""

    def __init__(self, path: str, **_: object) -> None:
        import sentencepiece

        self._opened = sentencepiece.SentencePieceProcessor(model_file=path)

    def ids(self, text: str, specials: bool) -> list[int]:
        return list(self._opened.encode(_as_bytes(text)))

    def stages(self, text: str) -> dict[str, object]:
        """Return the normalized text and tokens, with invalid UTF-8 replaced; words are None."""
        given = _as_bytes(text)
        tokens = self._opened.encode(given, out_type=str)
        normal = self._opened.normalize(given)
        if isinstance(normal, bytes):
            normal = normal.decode("utf-8", "replace")
        return {"normalized": normal, "words": None, "tokens": list(map(_as_text, tokens))}


def _as_bytes(text: str) -> bytes:
    """Return the bytes that a text was read from: sentencepiece accepts bytes that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def _as_text(token: str | bytes) -> str:
    """Return a token as text: sentencepiece returns bytes for a text of bytes."""
    return token.decode("utf-8", "replace") if isinstance(token, bytes) else token


class GigaToken(Opened):
    """A `tokenizer.json`, opened by gigatoken, which always reads the names of special tokens: for plain text
    it gets a file without these tokens."""

    def __init__(self, path: str, **_: object) -> None:
        import gigatoken

        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        added = document.get("added_tokens") or []
        document["added_tokens"] = [token for token in added if not token["special"]]
        self._opened: Any = gigatoken.Tokenizer(path)
        self._plain: Any = gigatoken.Tokenizer.from_json(json.dumps(document))

    def ids(self, text: str, specials: bool) -> list[int]:
        ids: list[int] = (self._opened if specials else self._plain).encode(text).tolist()
        return ids

    def stages(self, text: str) -> dict[str, object]:
        tokens = [_text(self._plain.decode([number])) for number in self.ids(text, False)]
        return {"normalized": None, "words": None, "tokens": tokens}


class TikToken(Opened):
    """A rank file with a pattern, which the file does not store."""

    def __init__(self, path: str, pattern: str, specials: dict[str, int]) -> None:
        import tiktoken
        from tiktoken.load import load_tiktoken_bpe

        ranks = load_tiktoken_bpe(path)
        self._pattern = pattern
        self._opened = tiktoken.Encoding(
            "one", pat_str=pattern, mergeable_ranks=ranks, special_tokens=specials
        )

    def ids(self, text: str, specials: bool) -> list[int]:
        if specials:
            return list(self._opened.encode(text, allowed_special="all"))
        return list(self._opened.encode_ordinary(text))

    def stages(self, text: str) -> dict[str, object]:
        """Return the words by the pattern, and the tokens with invalid UTF-8 replaced.

        The text is not normalized.
        """
        import regex

        pieces = map(self._opened.decode_single_token_bytes, self.ids(text, False))
        tokens = [piece.decode("utf-8", "replace") for piece in pieces]
        return {"normalized": text, "words": regex.findall(self._pattern, text), "tokens": tokens}


class LlamaCpp(Opened):
    """The vocabulary of a GGUF file, by the C functions of llama.cpp in the package xllamacpp."""

    def __init__(self, path: str, **_: object) -> None:
        import ctypes
        import importlib.util

        spec = importlib.util.find_spec("xllamacpp")
        assert spec is not None
        assert spec.origin is not None
        self._ctypes = ctypes
        # The package is not imported: its parameters cannot ask for the vocabulary alone.
        self._library = library = ctypes.CDLL(os.path.join(os.path.dirname(spec.origin), "xllamacpp.abi3.so"))

        class Parameters(ctypes.Structure):  # at least as large as those of a model
            _fields_ = (("bytes", ctypes.c_ubyte * 512),)

        library.llama_model_default_params.restype = Parameters
        library.llama_model_load_from_file.restype = ctypes.c_void_p
        library.llama_model_load_from_file.argtypes = [ctypes.c_char_p, Parameters]
        library.llama_model_get_vocab.restype = ctypes.c_void_p
        library.llama_model_get_vocab.argtypes = [ctypes.c_void_p]
        library.llama_tokenize.argtypes = [
            ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32, ctypes.c_bool,
            ctypes.c_bool,
        ]
        library.llama_vocab_get_text.restype = ctypes.c_char_p
        library.llama_vocab_get_text.argtypes = [ctypes.c_void_p, ctypes.c_int32]
        parameters = library.llama_model_default_params()
        parameters.bytes[_flag_of_vocabulary(bytes(parameters.bytes))] = 1
        model = library.llama_model_load_from_file(os.fsencode(path), parameters)
        if not model:
            raise ValueError("llama.cpp does not read this file")
        self._vocabulary = library.llama_model_get_vocab(model)

    def ids(self, text: str, specials: bool, around: bool = False) -> list[int]:
        """Return the ids of a text; with `around`, with the special tokens before and after it.

        Raises:
            ValueError: The library does not encode it.
        """
        data = _as_bytes(text)
        ids = (self._ctypes.c_int32 * (2 * len(data) + 16))()
        number = self._library.llama_tokenize(
            self._vocabulary, data, len(data), ids, len(ids), around, specials
        )
        if number < 0:
            raise ValueError("llama.cpp does not encode this text")
        return list(ids[:number])

    def stages(self, text: str) -> dict[str, object]:
        pieces = (self._library.llama_vocab_get_text(self._vocabulary, id_) for id_ in self.ids(text, False))
        return {"normalized": None, "words": None, "tokens": [_as_text(piece or b"") for piece in pieces]}


def _flag_of_vocabulary(parameters: bytes) -> int:
    """Return the index of the byte `vocab_only` in the default parameters of a model: the first of the flags,
    which follow null pointers and zeros, and of which some others are on.

    Only the first half of each 8 bytes is looked at. The second half may be padding, behind a number or the
    last flags, and is then not initialized.

    Raises:
        ValueError: The parameters look different.
    """
    for at in range(32, 256, 8):
        flags = parameters[at : at + 4]
        if any(flags):
            if flags[0] == 0 and max(flags) == 1:
                return at
            break
    raise ValueError("this release of xllamacpp is not known")


READERS = ("HuggingFace", "GigaToken", "Transformers", "SentencePiece", "TikToken", "LlamaCpp")
"""The classes that open a file."""


def tried(opened: Opened, text: str, specials: bool) -> list[int] | str:
    """Return the ids of a text, or the error."""
    try:
        return opened.ids(text, specials)
    except Exception as error:
        return _line(error)


def main() -> None:
    """Answer each line of standard input, a JSON [call, arguments], with a line [value, error], until it
    ends. Any error of a call is an answer, also a panic of Rust; a line that is no JSON ends the process.

    Bounds memory first. Answers go to the former standard output; what libraries print goes to standard
    error.
    """
    limit()
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    opened: Opened | None = None
    for line in sys.stdin:
        call, given = json.loads(line)
        value: object = None
        error = ""
        try:
            if opened is not None and call == "encode":
                value = [tried(opened, text, given["specials"]) for text in given["texts"]]
            elif opened is not None and call == "stages":
                value = opened.stages(**given)
            else:
                result = globals()[call](**given)
                opened, value = (result, None) if call in READERS else (opened, result)
        except BaseException as failure:  # a panic of Rust is no Exception
            error = _line(failure)
        answers.write(json.dumps([value, error]) + "\n")
        answers.flush()


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]


def _text(token: bytes) -> str:
    """Return a token as text for JSON: a byte that is not UTF-8 becomes a lone surrogate."""
    return token.decode("utf-8", "surrogateescape")


if __name__ == "__main__":
    main()
