"""The figures of `diff`, `languages`, `inspect --budget` and `--glitch`, against plain scripts over the
owners' libraries: on files that they train here, and on published ones."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import owners
import peers
import pytest
from oracle import large, shared

import tokentui
from tokentui.analyze.budget import budget
from tokentui.analyze.diff import diff
from tokentui.analyze.glitches import NEVER, SWALLOWED, glitches
from tokentui.analyze.languages import costs, parallel_corpora
from tokentui.analyze.verify import verify_encoding
from tokentui.analyze.verify.peers import PEERS
from tokentui.formats.files import load
from tokentui.text.split import SPLITS

pytestmark = pytest.mark.peer

LINES = [line for name in ("english", "finnish", "japanese") for line in peers.text(name).split("\n")]


def asked(path: Path) -> Callable[[str], list[int]]:
    """The owner's library on a file."""
    if path.suffix == ".json":
        theirs = pytest.importorskip("tokenizers").Tokenizer.from_file(str(path))
        theirs.no_truncation()
        theirs.no_padding()
        return lambda text: list(theirs.encode(text, add_special_tokens=False).ids)
    if path.suffix == ".tiktoken":
        ranks = owners.ranks_of(path)
        encoding = pytest.importorskip("tiktoken").Encoding(
            "x", pat_str=SPLITS["cl100k"].pattern, mergeable_ranks=ranks, special_tokens={})
        return lambda text: list(encoding.encode_ordinary(text))
    model = pytest.importorskip("sentencepiece").SentencePieceProcessor(model_file=str(path))
    return lambda text: list(model.encode(text))


def wordpiece(lowercase: bool) -> Any:
    """A WordPiece vocabulary that keeps capitals, or not, as BERT's two were made."""
    hf = pytest.importorskip("tokenizers")
    tokenizer = hf.Tokenizer(hf.models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = hf.normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer, tokenizer.decoder = hf.pre_tokenizers.BertPreTokenizer(), hf.decoders.WordPiece()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(LINES, hf.trainers.WordPieceTrainer(
        vocab_size=900, special_tokens=specials, show_progress=False))
    return tokenizer


@pytest.mark.slow
def test_a_cased_and_an_uncased_vocabulary(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.json" for name in ("cased", "uncased")]
    theirs = [wordpiece(False), wordpiece(True)]
    for one, path in zip(theirs, paths, strict=True):
        one.save(str(path))
    found = tokentui.diff(paths[0], paths[1], tokentui.Corpus.from_lines(LINES), rows=40)
    a, b = (one.get_vocab() for one in theirs)
    assert {one.piece.decode(): one.id for one in found.went} == {k: a[k] for k in a.keys() - b.keys()}
    assert {one.piece.decode(): one.id for one in found.came} == {k: b[k] for k in b.keys() - a.keys()}
    assert found.moved_count == sum(a[k] != b[k] for k in a.keys() & b.keys())
    rows = [tuple(one.encode(line, add_special_tokens=False) for one in theirs) for line in LINES]
    texts = found.documents
    assert texts is not None
    assert (texts.a, texts.b) == (sum(len(a.ids) for a, _ in rows), sum(len(b.ids) for _, b in rows))
    assert texts.changed == sum(a.ids != b.ids for a, b in rows)
    assert texts.recut == sum(a.tokens != b.tokens for a, b in rows)
    assert texts.grown == sum(len(b.ids) > len(a.ids) for a, b in rows)
    assert [one.where for one in found.steps] == ["normalizer.lowercase"]
    for one in texts.worst:
        pair = rows[one.number - 1]
        assert (one.a, one.b) == (len(pair[0].ids), len(pair[1].ids))
        assert one.place is not None
        at = next(n for n, (x, y) in enumerate(zip(pair[0].tokens, pair[1].tokens, strict=False)) if x != y)
        assert one.place.start == min(pair[0].offsets[at][0], pair[1].offsets[at][0])


TRAINED = ["trained/gpt2/tokenizer.json", "trained/spm-bpe/m.model"]
PUBLISHED = ["gpt2/tokenizer.json", "tiktoken_cl100k_base/cl100k_base.tiktoken", "spm-llama2/tokenizer.model"]
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
"""What the owners' libraries take for no text."""


@pytest.mark.slow
@pytest.mark.parametrize("name", [*TRAINED, *large(*PUBLISHED, marks=[pytest.mark.soak])])
def test_tokens_of_twelve_languages(name: str, tmp_path: Path) -> None:
    path = owners.path_of(name, tmp_path)
    encode, texts = asked(path), parallel_corpora()
    rows = costs(load(path), texts, "sentences").rows
    want = {language: sum(len(encode(line)) for line in text.documents) for language, text in texts.items()}
    assert {one.language: one.tokens for one in rows} == want
    least = min(want.values())
    assert len(want) == 12
    for one in rows:
        if not any(other.unknowns for other in rows):
            assert one.times == pytest.approx(want[one.language] / least)


@pytest.mark.parametrize("name", ["trained/gpt2/tokenizer.json", *large("gpt2/tokenizer.json")])
def test_a_budget_is_that_of_the_first_merges(name: str, tmp_path: Path) -> None:
    hf, path = pytest.importorskip("tokenizers"), owners.path_of(name, tmp_path)
    document = json.loads(path.read_text("utf-8"))["model"]
    merges = [tuple(one.split(" ") if isinstance(one, str) else one) for one in document["merges"]]
    text = peers.text("english")
    found = budget(load(path), [tokentui.Corpus.from_text(text)])
    words = hf.pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(text)
    last = len(found.sizes) - 1
    assert last == len(merges)
    for step in (0, 1, 10, 100, 1000, last):
        model = hf.models.BPE(document["vocab"], merges[:step])
        assert found.curves[0].tokens[step] == sum(len(model.tokenize(word)) for word, _ in words)


@pytest.mark.slow
@pytest.mark.parametrize("name", [
    TRAINED[1], pytest.param(TRAINED[0], marks=[pytest.mark.soak]),
    *large(*PUBLISHED, marks=[pytest.mark.soak]),
])
def test_glitch_tokens(name: str, tmp_path: Path) -> None:
    """The text of each gives its id, there too; one that no text gives does not come of its own text; and the
    corpus has none of those that it swallows."""
    path = owners.path_of(name, tmp_path)
    encode, tokenizer, text = asked(path), load(path), peers.text("english")
    found, used = glitches(tokenizer, tokentui.Corpus.from_text(text)), set(encode(text))
    assert {one.kind for one in found}
    for one in found:
        if one.kind == SWALLOWED:
            assert one.id not in used
            assert one.into
        elif one.kind == NEVER:
            spelled = tokenizer.decode([one.id])
            assert one.id not in encode(spelled)
        elif one.text is not None and not _NO_TEXT.search(one.text):
            assert one.id in encode(one.text), one


def test_two_trainings_that_differ_by_a_document(tmp_path: Path) -> None:
    """By the owner's library: merges, tokens and documents."""
    hf = pytest.importorskip("tokenizers")
    made = []
    for n, texts in enumerate((LINES, LINES[1:] + LINES[:5])):
        one = hf.Tokenizer(hf.models.BPE())
        one.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
        one.decoder = hf.decoders.ByteLevel()
        one.train_from_iterator(texts, hf.trainers.BpeTrainer(
            vocab_size=400, show_progress=False, initial_alphabet=hf.pre_tokenizers.ByteLevel.alphabet()))
        one.save(str(tmp_path / f"{n}.json"))
        made.append(one)
    paths = [tmp_path / f"{n}.json" for n in range(2)]
    lists = [json.loads(path.read_text("utf-8"))["model"]["merges"] for path in paths]
    found = diff(load(paths[0]), load(paths[1]), tokentui.Corpus.from_lines(LINES))
    first = next(n for n, (a, b) in enumerate(zip(*lists, strict=True), 1) if a != b)
    assert found.merges is not None
    assert found.merges.step == first
    assert found.merges.a is not None
    assert found.merges.a.elsewhere == (lists[1].index(lists[0][first - 1]) + 1
                                        if lists[0][first - 1] in lists[1] else None)
    a, b = (one.get_vocab() for one in made)
    assert {one.id for one in found.went} == {a[k] for k in a.keys() - b.keys()}
    rows = [tuple(one.encode(line).ids for one in made) for line in LINES]
    assert found.documents is not None
    assert found.documents.b - found.documents.a == sum(len(y) - len(x) for x, y in rows)
    assert found.documents.changed == sum(x != y for x, y in rows)


@pytest.mark.shared
def test_a_byte_pair_file_is_priced_on_a_book() -> None:
    """The knee lies where the logarithm of the tokens is furthest below its chord, by a plain script."""
    import math

    text = shared("corpora/taylorswift.txt").read_text("utf-8")
    found = budget(load(shared("tokenizers/gpt2/tokenizer.json")), [tokentui.Corpus.from_text(text)])
    curve, sizes = found.curves[0], found.sizes
    logs = [math.log(one) for one in curve.tokens]
    below = [(logs[0] - one) / (logs[0] - logs[-1]) - (size - sizes[0]) / (sizes[-1] - sizes[0])
             for one, size in zip(logs, sizes, strict=True)]
    assert curve.knee == below.index(max(below))
    assert curve.tokens[-1] == len(asked(shared("tokenizers/gpt2/tokenizer.json"))(text))


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("name", [
    "trained/spm-bpe/m.model", "trained/spm-unigram/m.model", *large("spm-llama2/tokenizer.model"),
])
def test_sentencepiece_is_given_bytes_that_are_not_utf8(name: str, tmp_path: Path) -> None:
    pytest.importorskip("sentencepiece")
    path = owners.path_of(name, tmp_path)
    texts = [data.decode("utf-8", "surrogateescape") for data in (b"caf\xbf", b"\xff\xfe ok \xe2\x82")]
    report = verify_encoding(load(path), str(path), PEERS["sentencepiece"], texts)
    assert report.difference is None
