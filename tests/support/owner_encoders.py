"""The owners' libraries on files as they are written: what each makes of a text."""

from __future__ import annotations

import base64
import io
import itertools
import json
from collections.abc import Callable, Sequence

import pytest
import regex

from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import to_bytes
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.spec import Fitted, pattern_of
from tokentui.formats.tokens import letters

Owner = Callable[[str], Sequence[object] | None]
"""What the owner's library makes of a text; None where it cannot be asked."""


def huggingface(tokenizer: Tokenizer, files: tuple[bytes, ...]) -> Owner:
    theirs = pytest.importorskip("tokenizers").Tokenizer.from_str(files[0].decode())
    theirs.no_truncation()
    theirs.no_padding()
    theirs.encode_special_tokens = True
    return lambda text: list(theirs.encode(text, add_special_tokens=False).ids)


def tiktoken(tokenizer: Tokenizer, files: tuple[bytes, ...]) -> Owner:
    module = pytest.importorskip("tiktoken")
    ranks = {
        base64.b64decode(code): int(rank) for code, rank in (line.split() for line in files[0].splitlines())
    }
    theirs = module.Encoding(
        "x", pat_str=pattern_of(tokenizer.recipe), mergeable_ranks=ranks, special_tokens={}
    )
    return lambda text: list(theirs.encode_ordinary(text))


def sentencepiece(tokenizer: Tokenizer, files: tuple[bytes, ...]) -> Owner:
    theirs = pytest.importorskip("sentencepiece").SentencePieceProcessor(model_proto=files[0])

    def encode(text: str) -> Sequence[int] | None:
        # Its own C strings end at a NUL; and what it does with a space in front is told as a loss.
        told = (
            tokenizer.recipe.normalize == ()
            and text.startswith((" ", "▁"))
            and not hasattr(tokenizer.vocabulary, "pipeline")
        )
        return None if "\0" in text or told else list(theirs.encode(text))

    return encode


def gpt2(tokenizer: Tokenizer, files: tuple[bytes, ...]) -> Owner:
    """Hugging Face's BPE of the two files, on the words and units that the recipe makes."""
    tokenizers = pytest.importorskip("tokenizers")
    recipe = tokenizer.recipe
    names = json.loads(files[0])
    merges = [tuple(line.split(" ")) for line in files[1].decode().split("\n")[1:-1]]
    said = {
        "end_of_word_suffix": recipe.mark_text,
        "unk_token": "<unk>" if "<unk>" in names and recipe.unit == "char" else "",
    }
    model = tokenizers.models.BPE(names, merges, **{key: value for key, value in said.items() if value})
    words = WordEncoder(tokenizer.vocabulary, tokenizer.merges).pretokenizer

    def encode(text: str) -> Sequence[int]:
        spelled = words.words(text)
        named = [letters(to_bytes(word)) if recipe.unit == "byte" else word for word in spelled]
        return [token.id for word in named for token in model.tokenize(word)]

    return encode


def bert(tokenizer: Tokenizer, files: tuple[bytes, ...]) -> Owner:
    tokenizers = pytest.importorskip("tokenizers")
    names = {name: n for n, name in enumerate(files[0].decode().split("\n")[:-1])}
    model = tokenizers.models.WordPiece(names, unk_token="[UNK]", max_input_chars_per_word=100)
    words = WordEncoder(tokenizer.vocabulary, tokenizer.merges).pretokenizer
    return lambda text: [token.id for word in words.words(text) for token in model.tokenize(word)]


def minbpe(tokenizer: Tokenizer, files: tuple[bytes, ...]) -> Owner:
    """A reader by hand, as minbpe's `load` and `encode_ordinary` have it."""
    lines = files[0].decode().split("\n")
    assert lines[0] == "minbpe v1"
    pattern, count = lines[1].strip(), int(lines[2])
    for row in lines[3 : 3 + count]:
        _, number = row.strip().split()
        assert int(number) >= 256
    rows = [tuple(map(int, line.split())) for line in lines[3 + count :] if line]
    merges = {pair: 256 + n for n, pair in enumerate(rows)}

    def chunk(data: bytes) -> list[int]:
        ids = list(data)
        while len(ids) >= 2:
            pair = min(itertools.pairwise(ids), key=lambda one: merges.get(one, 1 << 40))
            if pair not in merges:
                break
            out: list[int] = []
            while ids:
                if tuple(ids[:2]) == pair:
                    out.append(merges[pair])
                    ids = ids[2:]
                else:
                    out.append(ids[0])
                    ids = ids[1:]
            ids = out
        return ids

    pieces = {n: bytes((n,)) for n in range(256)}
    for (left, right), made in merges.items():
        pieces[made] = pieces[left] + pieces[right]
    return lambda text: [
        pieces[one]
        for part in (regex.findall(pattern, text) if pattern else [text])
        for one in chunk(part.encode())
    ]


def tekken(tokenizer: Tokenizer, files: tuple[bytes, ...]) -> Owner:
    """A reader by hand, as mistral-common's `Tekkenizer` has it, on tiktoken's own engine."""
    module = pytest.importorskip("tiktoken")
    document = json.loads(files[0])
    config, vocabulary = document["config"], document["vocab"]
    assert len(vocabulary) == config["num_vocab_tokens"]
    first = config["default_num_special_tokens"]
    assert [row["rank"] for row in document["special_tokens"]] == list(range(first))
    ranks = {}
    for n, row in enumerate(vocabulary[: config["default_vocab_size"] - first]):
        data = base64.b64decode(row["token_bytes"])
        assert row["rank"] == n
        assert n >= 256 or data == bytes((n,))
        ranks[data] = n
    theirs = module.Encoding("x", pat_str=config["pattern"], mergeable_ranks=ranks, special_tokens={})
    back = {n: data for data, n in ranks.items()}
    return lambda text: [back[one] for one in theirs.encode_ordinary(text)]


def codes(tokenizer: Tokenizer, files: tuple[bytes, ...]) -> Owner:
    """subword-nmt's pieces of each word, its marker taken for what it stands for."""
    apply_bpe = pytest.importorskip("subword_nmt.apply_bpe")
    theirs = apply_bpe.BPE(io.StringIO(files[0].decode()))
    words = WordEncoder(tokenizer.vocabulary, tokenizer.merges).pretokenizer

    def encode(text: str) -> Sequence[str]:
        out: list[str] = []
        for word in words.words(text):
            pieces = theirs.segment_tokens([word])
            out += [one.removesuffix("@@") for one in pieces]
        return out

    return encode


OWNERS: dict[str, Callable[[Tokenizer, tuple[bytes, ...]], Owner]] = {
    "huggingface": huggingface, "tiktoken": tiktoken, "sentencepiece": sentencepiece, "gpt2": gpt2,
    "bert": bert,
    "minbpe": minbpe,
    "tekken": tekken, "subword-nmt": codes,
}


def promised(tokenizer: Tokenizer, format: str, fit: Fitted, text: str) -> list[object] | None:
    """What the owner has to give; None where nothing was promised."""
    try:
        found = tokenizer.encode(text)
    except TokentuiError:
        return None
    if fit.excused(text) or (found.unknown and not fit.keeps_unknown):
        return None
    if format == "subword-nmt":
        bare = [token.removesuffix("</w>") for token in found.tokens]
        return [token for token in bare if token]
    return list(found.ids) if fit.keeps_ids and format not in ("minbpe", "tekken") else list(found.pieces)
