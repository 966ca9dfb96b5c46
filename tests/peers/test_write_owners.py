"""What is written loads in its owner's library and encodes the same there: presets on hostile texts, and
every published file."""

from __future__ import annotations

import base64
import io
import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import owners
import pytest
import regex
from exporting import HOLD, HOSTILE, bytes_of, fitted, preset
from oracle import large

from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import to_bytes
from tokentui.encode.offsets import WordEncoder
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.spec import Fitted, pattern_of
from tokentui.formats.tokens import letters

pytestmark = pytest.mark.peer

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
_QUICK = {
    "huggingface": {"gpt2", "gpt4o", "llama2", "bert", "gpt1"}, "tiktoken": {"gpt4o"},
    "sentencepiece": {"t5"}, "gpt2": {"gpt2"}, "bert": {"bert"}, "minbpe": {"minbpe-basic"},
    "tekken": {"gpt2"}, "subword-nmt": {"subword-nmt"},
}
_CASES = [
    pytest.param(format, name, marks=[] if name in _QUICK[format] else [pytest.mark.soak])
    for format in OWNERS for name in sorted(HOLD[format])
]


@pytest.mark.parametrize(("format", "name"), _CASES)
def test_the_owner_encodes_a_preset_alike(format: str, name: str) -> None:
    tokenizer = preset(name)
    files = bytes_of(tokenizer, format)
    owner = OWNERS[format](tokenizer, files)
    fit = fitted(tokenizer, format)
    asked = 0
    for text in HOSTILE:
        want = _ours(tokenizer, format, fit, text)
        if want is None or (got := owner(text)) is None:
            continue
        asked += 1
        assert list(got) == want, text
    assert asked >= (20 if name in _SMALL else 50)


_SMALL = {
    "udl-notebook", "comp336", "comp336-no-spaces", "comp336-no-pretokenization", "wicaksono-bpe",
    "wicaksono-wordpiece", "subword-nmt", "subword-nmt-0.1", "gpt1", "sentencepiece-bpe",
    "sentencepiece-unigram", "t5", "albert", "xlnet",
}
"""Presets that refuse or do not know much of the texts, or whose files are told to differ on some."""


def _ours(tokenizer: Tokenizer, format: str, fit: Fitted, text: str) -> list[object] | None:
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


PUBLISHED = {
    "bert-base-uncased/tokenizer.json": "huggingface", "bert-base-uncased/vocab.txt": "bert",
    "falcon/tokenizer.json": "huggingface",
    "gpt2/tokenizer.json": "huggingface", "gpt2/vocab.json": "gpt2",
    "hw-doc-summarizer/tokenizer.json": "huggingface", "llama2/tokenizer.json": "huggingface",
    "openai-gpt/tokenizer.json": "huggingface", "openai-gpt/vocab.json": "gpt2",
    "spm-llama2/tokenizer.model": "sentencepiece", "spm-test/test_ja_model.model": "sentencepiece",
    "spm-test/test_model.model": "sentencepiece", "spm-xlnet-base-cased/spiece.model": "sentencepiece",
    "sqlpilot/tokenizer.json": "huggingface", "t5-small/tokenizer.json": "huggingface",
    "tiktoken_cl100k_base/cl100k_base.tiktoken": "tiktoken",
    "tiktoken_o200k_base/o200k_base.tiktoken": "tiktoken",
}
_LIGHT = ("hw-doc-summarizer/tokenizer.json", "sqlpilot/tokenizer.json", "spm-test/test_model.model")
TRAINED = {
    "trained/gpt2/tokenizer.json": "huggingface", "trained/gpt2/vocab.json": "gpt2",
    "trained/falcon/tokenizer.json": "huggingface",
    "trained/gpt1/tokenizer.json": "huggingface", "trained/gpt1/vocab.json": "gpt2",
    "trained/bert/tokenizer.json": "huggingface", "trained/bert/vocab.txt": "bert",
    "trained/t5/tokenizer.json": "huggingface",
    "trained/spm-bpe/m.model": "sentencepiece", "trained/spm-unigram/m.model": "sentencepiece",
    "trained/ranks/r.tiktoken": "tiktoken",
}
_TWINS = ("trained/gpt2/vocab.json", "trained/gpt1/tokenizer.json")
"""Files whose format and whose tokenizer another one here has as well."""


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=[pytest.mark.soak] if name in _TWINS else []) for name in TRAINED),
        *large(*_LIGHT),
        *large(*(name for name in PUBLISHED if name not in _LIGHT), marks=[pytest.mark.soak]),
    ],
)
def test_a_file_is_written_again_as_its_owner_has_it(name: str, tmp_path: Path) -> None:
    path = owners.path_of(name, tmp_path)
    format = (PUBLISHED | TRAINED)[name]
    tokenizer = owners.read(name, tmp_path)
    files = bytes_of(tokenizer, format)
    both = _both(path)
    was, now = OWNERS[format](tokenizer, both), OWNERS[format](tokenizer, files)
    assert len(HOSTILE) >= 50
    for text in HOSTILE:
        assert now(text) == was(text), text
    if format == "sentencepiece":
        assert len(files[0]) - len(both[0]) in range(32)  # defaults that sentencepiece leaves out are said


def _both(path: Path) -> tuple[bytes, ...]:
    merges = path.with_name("merges.txt")
    return (path.read_bytes(), merges.read_bytes()) if path.name == "vocab.json" else (path.read_bytes(),)
