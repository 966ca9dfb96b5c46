"""Published files that were pruned, trained on and added to, in every format that holds them: the owner's
library gives the ids that we give, and texts are encoded as before where that is promised."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import owners
import peers
import pytest
from exporting import HOSTILE
from oracle import large
from owner_encoders import OWNERS, promised

from tokentui.analyze.edit import Edit, add, prune, unchanged
from tokentui.analyze.grow import extend, merge
from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import WRITTEN
from tokentui.formats.proof import contents
from tokentui.formats.spec import Spec
from tokentui.text.corpus import Corpus

pytestmark = pytest.mark.peer

MORE = 120
"""Merges that are put behind those of the file."""
NEW = ("zq#token", "<|reader|>")
"""A token that is added, and a special one."""
_LINES = [line for name in peers.CORPORA for line in peers.text(name).split("\n") if line]
_ADDED = tuple(f"a {NEW[0]} b{n}, {NEW[0]}s" for n in range(10))
TEXTS = (*dict.fromkeys((*HOSTILE, *_ADDED, *_LINES[::2], *_LINES)),)[:300]
"""300 texts: lines of several languages, hostile ones, and ones that hold the token that is added."""
_MERGES = {  # the formats that hold what becomes of each file
    "gpt2/tokenizer.json": {"huggingface", "tiktoken", "tekken", "gpt2"},
    "falcon/tokenizer.json": {"huggingface"},
    "llama2/tokenizer.json": {"huggingface"},
    "openai-gpt/vocab.json": {"huggingface", "gpt2"},
    "spm-llama2/tokenizer.model": {"sentencepiece", "huggingface"},
    "tiktoken_cl100k_base/cl100k_base.tiktoken": {"tiktoken", "huggingface", "tekken"},
    "tiktoken_o200k_base/o200k_base.tiktoken": {"tiktoken", "huggingface", "tekken"},
    "hw-doc-summarizer/tokenizer.json": {"huggingface"},
    "sqlpilot/tokenizer.json": {"huggingface"},
}
_OTHERS = {
    "bert-base-uncased/vocab.txt": {"bert", "huggingface"},
    "bert-base-uncased/tokenizer.json": {"bert", "huggingface"},
    "t5-small/tokenizer.json": {"huggingface"},
    "spm-xlnet-base-cased/spiece.model": {"sentencepiece"},
}


def owners_give_the_same(tokenizer: Tokenizer, texts: Sequence[str]) -> set[str]:
    """Ask each owner's library about a tokenizer. Returns the formats that hold it."""
    held = set()
    for name, owner_of in OWNERS.items():
        format = WRITTEN[name]
        report, files = contents(tokenizer, format)
        if report.refused:
            continue
        fit = format.codec.to_format(Spec(tokenizer))
        owner, asked = owner_of(tokenizer, files), 0
        for text in texts:
            want = promised(tokenizer, name, fit, text)
            if want is not None and (got := owner(text)) is not None:
                asked += 1
                assert list(got) == want, (name, text)
        assert asked >= min(100, len(texts) // 3), name
        held.add(name)
    return held


def pruned(edit: Edit, texts: Sequence[str]) -> Edit:
    """Without the tokens that texts do not use. Each text has the tokens that it had."""
    before = edit.tokenizer
    small = prune(edit, Corpus("texts", tuple(texts)))
    assert small.pruned is not None
    assert small.pruned.changed == ()
    for number, text in enumerate(texts, 1):
        if number not in small.pruned.refused:
            want = [small.ids[one] if one >= 0 else one for one in before.encode_ids(text)]
            assert list(small.tokenizer.encode_ids(text)) == want, text
    return small


@pytest.mark.parametrize("name", [
    *large("hw-doc-summarizer/tokenizer.json"),
    *large(*(one for one in _MERGES if not one.startswith("hw-")), marks=[pytest.mark.soak]),
    *(pytest.param(one, marks=[pytest.mark.soak]) for one in (
        "trained/gpt2/tokenizer.json", "trained/spm-bpe/m.model", "trained/ranks/r.tiktoken",
        "trained/gpt1/vocab.json", "trained/falcon/tokenizer.json")),
])
def test_a_file_of_merges(name: str, tmp_path: Path) -> None:
    """Pruned to texts, trained on with them, and added to."""
    assert len(TEXTS) == 300
    tokenizer, corpus = owners.read(name, tmp_path), Corpus("texts", TEXTS)
    small = pruned(unchanged(tokenizer), TEXTS)
    held = owners_give_the_same(small.tokenizer, TEXTS)
    size = small.tokenizer.vocab_size + MORE
    grown = extend(small, corpus, size)
    assert grown.grown is not None
    assert (grown.grown.merges, grown.grown.unlike) == (MORE, ())
    assert grown.tokenizer.vocab_size == size
    assert grown.grown.after < grown.grown.before
    assert held <= owners_give_the_same(grown.tokenizer, TEXTS) | {"tiktoken", "tekken"}
    more = add(grown, [(NEW[0], False), (NEW[1], True)])
    held |= owners_give_the_same(more.tokenizer, TEXTS)
    assert _MERGES.get(name, held) <= held
    for old, new in enumerate(more.ids):
        if new >= 0 and (piece := tokenizer.id_to_token(old)) is not None:
            assert more.tokenizer.id_to_token(new) == piece


@pytest.mark.parametrize("name", [
    *large(*_OTHERS, marks=[pytest.mark.soak]), "trained/spm-unigram/m.model",
    pytest.param("trained/bert/vocab.txt", marks=[pytest.mark.soak]),
])
@pytest.mark.slow
def test_a_file_without_merges(name: str, tmp_path: Path) -> None:
    """Pruned to texts, and added to; no merge can be put behind its tokens."""
    tokenizer = owners.read(name, tmp_path)
    small = pruned(unchanged(tokenizer), TEXTS)
    # Where one character is repeated, sums of scores are equal but for rounding, and libraries differ.
    texts = [text for text in TEXTS if len(text) < 60 or len(set(text)) > 1]
    held = owners_give_the_same(small.tokenizer, texts)
    held |= owners_give_the_same(add(small, [(NEW[0], False), (NEW[1], True)]).tokenizer, texts)
    assert _OTHERS.get(name, held) <= held
    with pytest.raises(TokentuiError, match="an added merge has no effect"):
        extend(small, Corpus("texts", TEXTS), small.tokenizer.vocab_size + 1)


@pytest.mark.parametrize(("name", "other"), [
    ("trained/gpt2/tokenizer.json", "trained/falcon/tokenizer.json"),
    ("trained/ranks/r.tiktoken", "trained/gpt2/tokenizer.json"),
    *(pytest.param(*pair, marks=[pytest.mark.shared, pytest.mark.soak]) for pair in (
        ("gpt2/tokenizer.json", "falcon/tokenizer.json"),
        ("gpt2/tokenizer.json", "tiktoken_cl100k_base/cl100k_base.tiktoken"),
    )),
])
@pytest.mark.slow
def test_the_merges_of_another_file_follow(name: str, other: str, tmp_path: Path) -> None:
    """Each token of the other one is there, those of the first keep their ids, and its owner agrees."""
    tokenizer, second = (owners.read(one, tmp_path) for one in (name, other))
    both = merge(unchanged(tokenizer), second)
    moved = {old: new for old, new in enumerate(both.ids) if new not in (old, -1)}
    assert not moved
    there = {entry.piece for entry in both.tokenizer.entries()}
    assert {entry.piece for entry in second.entries() if entry.kind == "merge"} <= there
    assert owners_give_the_same(both.tokenizer, TEXTS)
