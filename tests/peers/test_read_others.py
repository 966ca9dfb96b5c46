"""Rank files against tiktoken, codes against subword-nmt: the same ids or pieces, live."""

from __future__ import annotations

import functools
import io
from pathlib import Path

import owners
import peers
import pytest
from oracle import large, shared
from texts import FEW, TEXTS

from tokentui.formats.files import load
from tokentui.formats.published import OPENAI
from tokentui.text.split import SPLITS

pytestmark = pytest.mark.peer
RANKS = "trained/ranks/r.tiktoken"


def test_ranks(tmp_path: Path) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    path, ours = owners.path_of(RANKS, tmp_path), owners.read(RANKS, tmp_path)
    pattern = SPLITS[owners.RANKS_SPLIT].pattern
    theirs = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=owners.ranks_of(path), special_tokens={})
    assert ours.vocab_size == theirs.n_vocab
    for text in TEXTS:
        assert list(ours.encode(text).ids) == theirs.encode_ordinary(text), text
        assert ours.decode(theirs.encode_ordinary(text)) == text


def test_published_specials(monkeypatch: pytest.MonkeyPatch) -> None:
    openai_public = pytest.importorskip("tiktoken_ext.openai_public")
    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda *args, **kwargs: {})  # it would fetch them
    assert OPENAI.keys() == openai_public.ENCODING_CONSTRUCTORS.keys() - {"gpt2"}  # it has two files
    for name, one in OPENAI.items():
        assert getattr(openai_public, name)()["special_tokens"] == dict(one.encoding.specials)


@pytest.mark.parametrize("texts", [FEW, pytest.param(TEXTS, marks=pytest.mark.soak)], ids=["few", "all"])
@pytest.mark.parametrize("name", [*large("cl100k_base"), *large("o200k_base", marks=[pytest.mark.soak])])
def test_published_ranks(name: str, texts: tuple[str, ...]) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    openai_public = pytest.importorskip("tiktoken_ext.openai_public")
    load_module = pytest.importorskip("tiktoken.load")
    path = shared(f"tokenizers/tiktoken_{name}/{name}.tiktoken")
    ours = load(path)
    ranks = load_module.load_tiktoken_bpe(str(path))
    with pytest.MonkeyPatch.context() as patch:  # its own function would fetch the file
        patch.setattr(openai_public, "load_tiktoken_bpe", lambda *args, **kwargs: ranks)
        theirs = tiktoken.Encoding(**getattr(openai_public, name)())
    assert ours.vocabulary.specials == tuple(
        sorted(theirs._special_tokens, key=theirs._special_tokens.__getitem__)
    )
    for text in texts:
        assert list(ours.encode(text).ids) == theirs.encode(text, disallowed_special=()), text
        assert list(ours.encode(text, allow_special=True).ids) == theirs.encode(
            text, allowed_special="all"
        ), text
        assert ours.decode(theirs.encode(text, disallowed_special=())) == text


@functools.cache
def learned_codes() -> str:
    """Codes that subword-nmt, which is slow, learns on the beginnings of all the corpora."""
    learn_bpe = pytest.importorskip("subword_nmt.learn_bpe")
    codes = io.StringIO()
    learn_bpe.learn_bpe(io.StringIO("\n".join(peers.text(name)[:900] for name in peers.CORPORA)), codes, 300)
    return codes.getvalue()


@pytest.mark.parametrize("version", ["0.2", "0.1"])
def test_codes(tmp_path: Path, version: str) -> None:
    apply_bpe = pytest.importorskip("subword_nmt.apply_bpe")
    text = learned_codes()
    if version == "0.1":  # the same merges with the mark as a unit of its own, the way it was learned before
        rows = [row.replace("</w>", "") for row in text.splitlines()[1:] if "</w>" not in row]
        text = "\n".join([*rows, "e </w>", "n </w>", ". </w>"]) + "\n"
    path = tmp_path / "codes"
    path.write_text(text, "utf-8")
    theirs, ours = apply_bpe.BPE(io.StringIO(text)), load(path)
    for line in (part for whole in FEW for part in whole.replace("\r", "").split("\n")):
        words = [word for word in line.strip().split(" ") if word]
        encoding = ours.encode(" ".join(words))
        shown = []
        for n, (token, word) in enumerate(zip(encoding.tokens, encoding.words, strict=True), 1):
            bare = token if word in encoding.words[n : n + 1] else token.removesuffix("</w>")
            if bare:
                shown.append((word, bare))
        last = {word: n for n, (word, _) in enumerate(shown)}
        joined = [bare + ("" if last[word] == n else "@@") for n, (word, bare) in enumerate(shown)]
        assert joined == theirs.segment_tokens(words), line
