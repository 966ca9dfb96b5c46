"""Tokenizer files as their owners' libraries write them: trained on the built-in corpora, or published.

A name that begins with `trained/` is made here, by the library; every other one is that of a large file.
"""

from __future__ import annotations

import base64
import functools
import io
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import oracle
import peers
import pytest

from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import load
from tokentui.text.split import SPLITS

SIZE = 1_500
"""Ids that each is trained to have, or nearly."""
RANKS_SPLIT = "cl100k"
"""The pattern of the rank file, which holds none itself."""


def _lines(*, prose: bool = False) -> list[str]:
    names = [name for name in peers.CORPORA if not prose or name != "python"]
    return [line for name in names for line in peers.text(name).split("\n") if line]


def _hugging_face() -> Any:
    return pytest.importorskip("tokenizers")


def _trained(tokenizer: Any, trainer: Any, *, prose: bool = False) -> Any:
    tokenizer.train_from_iterator(_lines(prose=prose), trainer)
    return tokenizer


@functools.cache
def _gpt2() -> Any:
    """Without indented code in its corpus, so that it knows no runs of spaces, as the published one."""
    hf = _hugging_face()
    tokenizer = hf.Tokenizer(hf.models.BPE())
    tokenizer.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = hf.decoders.ByteLevel()
    tokenizer.post_processor = hf.processors.ByteLevel(trim_offsets=False)
    alphabet = hf.pre_tokenizers.ByteLevel.alphabet()
    trainer = hf.trainers.BpeTrainer(
        vocab_size=SIZE, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet, show_progress=False)
    return _trained(tokenizer, trainer, prose=True)


@functools.cache
def _falcon() -> Any:
    hf = _hugging_face()
    tokenizer = hf.Tokenizer(hf.models.BPE())
    threes = hf.pre_tokenizers.Split(hf.Regex("[0-9][0-9][0-9]"), "isolated")
    tokenizer.pre_tokenizer = hf.pre_tokenizers.Sequence([
        hf.pre_tokenizers.Punctuation("contiguous"), hf.pre_tokenizers.ByteLevel(add_prefix_space=False),
        hf.pre_tokenizers.Digits(individual_digits=False), threes])
    tokenizer.decoder = hf.decoders.ByteLevel()
    alphabet, specials = hf.pre_tokenizers.ByteLevel.alphabet(), [">>TITLE<<", "<|endoftext|>"]
    return _trained(tokenizer, hf.trainers.BpeTrainer(
        vocab_size=SIZE, special_tokens=specials, initial_alphabet=alphabet, show_progress=False))


@functools.cache
def _gpt1() -> Any:
    hf = _hugging_face()
    tokenizer = hf.Tokenizer(hf.models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = hf.normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer, tokenizer.decoder = (
        hf.pre_tokenizers.BertPreTokenizer(), hf.decoders.BPEDecoder(),
    )
    return _trained(tokenizer, hf.trainers.BpeTrainer(
        vocab_size=2 * SIZE, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False))


@functools.cache
def _bert() -> Any:
    hf = _hugging_face()
    tokenizer = hf.Tokenizer(hf.models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = hf.normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer, tokenizer.decoder = hf.pre_tokenizers.BertPreTokenizer(), hf.decoders.WordPiece()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    _trained(tokenizer, hf.trainers.WordPieceTrainer(
        vocab_size=2 * SIZE, special_tokens=specials, show_progress=False))
    tokenizer.post_processor = hf.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


@functools.cache
def _t5() -> Any:
    hf = _hugging_face()
    tokenizer = hf.Tokenizer(hf.models.Unigram())
    tokenizer.normalizer = hf.normalizers.Sequence([
        hf.normalizers.NFKC(), hf.normalizers.Replace(hf.Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer, tokenizer.decoder = hf.pre_tokenizers.Metaspace(), hf.decoders.Metaspace()
    return _trained(tokenizer, hf.trainers.UnigramTrainer(
        vocab_size=SIZE, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False))


def _document(made: Callable[[], Any]) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        made().save(str(path))

    return write


def _parts(made: Callable[[], Any]) -> Callable[[Path], object]:
    """`vocab.json` and `merges.txt`, or `vocab.txt`."""

    def write(path: Path) -> None:
        made().model.save(str(path.parent))

    return write


def _sentencepiece(**options: Any) -> Callable[[Path], object]:
    @functools.cache
    def data() -> bytes:
        library, out = pytest.importorskip("sentencepiece"), io.BytesIO()
        hard = options.get("model_type") == "bpe"
        given = {"vocab_size": SIZE, "hard_vocab_limit": hard, "num_threads": 1, "minloglevel": 2} | options
        library.SentencePieceTrainer.train(sentence_iterator=iter(_lines()), model_writer=out, **given)
        return out.getvalue()

    return lambda path: path.write_bytes(data())


@functools.cache
def _ranks() -> bytes:
    trainer = pytest.importorskip("rustbpe").Tokenizer()
    trainer.train_from_iterator(_lines(), SIZE, pattern=SPLITS[RANKS_SPLIT].pattern)
    rows = trainer.get_mergeable_ranks()
    return b"".join(base64.b64encode(bytes(piece)) + b" %d\n" % rank for piece, rank in rows)


TRAINED: dict[str, Callable[[Path], object]] = {
    "trained/gpt2/tokenizer.json": _document(_gpt2), "trained/gpt2/vocab.json": _parts(_gpt2),
    "trained/falcon/tokenizer.json": _document(_falcon),
    "trained/gpt1/tokenizer.json": _document(_gpt1), "trained/gpt1/vocab.json": _parts(_gpt1),
    "trained/bert/tokenizer.json": _document(_bert), "trained/bert/vocab.txt": _parts(_bert),
    "trained/t5/tokenizer.json": _document(_t5),
    "trained/spm-bpe/m.model": _sentencepiece(
        model_type="bpe", byte_fallback=True, split_digits=True, vocab_size=2 * SIZE,
        normalization_rule_name="identity", remove_extra_whitespaces=False),
    "trained/spm-unigram/m.model": _sentencepiece(),
    "trained/ranks/r.tiktoken": lambda path: path.write_bytes(_ranks()),
}
"""What writes each file that is made here, with the files that belong to it beside it."""


def path_of(name: str, folder: Path) -> Path:
    """The file of a name; one that is trained here is written below the folder."""
    if name not in TRAINED:
        return oracle.shared(f"tokenizers/{name}")
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    TRAINED[name](path)
    return path


def read(name: str, folder: Path) -> Tokenizer:
    """The tokenizer of a name, read here."""
    return load(path_of(name, folder), RANKS_SPLIT if name == "trained/ranks/r.tiktoken" else "")


class Owner(NamedTuple):
    """A tokenizer as its owner's library has it: texts to ids, ids to a text, and the size of its vocabulary.
    """

    encode: Callable[[str], list[int]]
    decode: Callable[[list[int]], str]
    size: int


_MADE = {"gpt2": _gpt2, "falcon": _falcon, "gpt1": _gpt1, "bert": _bert, "t5": _t5}


def owner_of(name: str, folder: Path) -> Owner:
    """Return the tokenizer of a name in its owner's library."""
    if name.endswith(".model"):
        library = pytest.importorskip("sentencepiece")
        theirs = library.SentencePieceProcessor(model_file=str(path_of(name, folder)))
        return Owner(theirs.encode, theirs.decode, len(theirs))
    if name.endswith(".tiktoken"):
        ranks, pattern = ranks_of(path_of(name, folder)), SPLITS[RANKS_SPLIT].pattern
        theirs = pytest.importorskip("tiktoken").Encoding(
            "x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        return Owner(theirs.encode_ordinary, theirs.decode, theirs.n_vocab)
    made = _MADE.get(name.split("/")[1]) if name in TRAINED else None
    theirs = made() if made else _hugging_face().Tokenizer.from_file(str(path_of(name, folder)))
    return Owner(
        lambda text: list(theirs.encode(text, add_special_tokens=False).ids),
        lambda ids: str(theirs.decode(ids, skip_special_tokens=False)), theirs.get_vocab_size(),
    )


def ranks_of(path: Path) -> dict[bytes, int]:
    """The rows of a rank file."""
    rows = map(bytes.split, path.read_bytes().splitlines())
    return {base64.b64decode(piece): int(rank) for piece, rank in rows}


def drawn_ids(tokenizer: Tokenizer, *left_out: str) -> Iterator[list[int]]:
    """Yield lists of up to 30 ids that no text needs to become, the same lists each time.

    Args:
        tokenizer: The tokenizer.
        left_out: The kinds of entries to leave out.
    """
    drawn = random.Random(0)
    known = [entry.id for entry in tokenizer.entries() if entry.kind not in left_out]
    for _ in range(60):
        yield drawn.choices(known, k=drawn.randrange(30))


def same_as_hugging_face(ours: Tokenizer, theirs: Any, texts: tuple[str, ...]) -> None:
    """Encode as Hugging Face's library does: the same ids with and without special tokens, with places and
    alone, the same text back, and the same text of any ids.
    """
    theirs.no_truncation()
    theirs.no_padding()
    seen: dict[str, list[int]] = {}
    for special in (True, False):
        theirs.encode_special_tokens = not special
        for text in texts:
            want = theirs.encode(text, add_special_tokens=special).ids
            alone = ours.encode_ids(text, special_tokens=special, allow_special=special)
            assert list(alone) == want, text
            if seen.setdefault(text, want) is not want and seen[text] == want:
                continue  # no special token is told apart in it
            found = ours.encode(text, special_tokens=special, allow_special=special)
            assert list(found.ids) == want, text
            assert ours.decode(want) == theirs.decode(want, skip_special_tokens=False), text
    # Of a run of byte tokens that is not UTF-8 the library shows no character that is whole.
    for ids in drawn_ids(ours, "special", "unknown", "byte"):
        assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False), ids
