"""A vocabulary that was pruned and added to gives the same ids in its owner's library."""

from __future__ import annotations

from pathlib import Path

import owners
import pytest

from tokentui.analyze.edit import Edit, add, prune, unchanged
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import export
from tokentui.text.corpus import Corpus
from tokentui.text.sources import find_sample
from tokentui.text.split import SPLITS

pytestmark = pytest.mark.peer

TEXTS = tuple(Path(find_sample("english").path).read_text(encoding="utf-8").splitlines()[:30])
MORE = (*TEXTS[:5], "a zq#token b", "zq#token", "xzq#tokenx", "<|user|>hello", "ordinary, other text 1234")
HF = ("gpt2", "falcon", "gpt1", "bert", "t5")
PUBLISHED = ("gpt2", "bert-base-uncased", "t5-small", "falcon", "llama2", "openai-gpt")


def edited(tokenizer: Tokenizer) -> Edit:
    """Pruned to the texts, with a token and a special one added."""
    small = prune(unchanged(tokenizer), Corpus("texts", TEXTS))
    assert small.pruned is not None
    assert small.pruned.changed == ()
    for text in TEXTS:
        ids = [small.ids[one] for one in tokenizer.encode_ids(text) if one >= 0]
        assert ids == [one for one in small.tokenizer.encode_ids(text) if one >= 0]
    made = add(small, [("zq#token", False), ("<|user|>", True)])
    last = max(entry.id for entry in small.tokenizer.entries())
    assert [one.id for one in made.added] == [last + 1, last + 2]
    return made


@pytest.mark.parametrize("name", [
    *(f"trained/{name}/tokenizer.json" for name in HF),
    *(pytest.param(f"{name}/tokenizer.json", marks=pytest.mark.shared) for name in PUBLISHED),
])
@pytest.mark.slow
def test_hugging_face_gives_the_same_ids(name: str, tmp_path: Path) -> None:
    library = pytest.importorskip("tokenizers")
    out = tmp_path / "edited.json"
    made = edited(owners.read(name, tmp_path)).tokenizer
    export(made, out, "huggingface")
    owners.same_as_hugging_face(made, library.Tokenizer.from_file(str(out)), (*TEXTS, *MORE))


@pytest.mark.slow
@pytest.mark.parametrize("name", [
    "trained/spm-bpe/m.model", "trained/spm-unigram/m.model",
    *(pytest.param(name, marks=pytest.mark.shared) for name in (
        "spm-llama2/tokenizer.model", "spm-xlnet-base-cased/spiece.model")),
])
def test_sentencepiece_gives_the_same_ids(name: str, tmp_path: Path) -> None:
    library = pytest.importorskip("sentencepiece")
    out = tmp_path / "edited.model"
    made = edited(owners.read(name, tmp_path)).tokenizer
    export(made, out, "sentencepiece")
    theirs = library.SentencePieceProcessor(model_file=str(out))
    for text in (*TEXTS, *MORE):
        assert list(made.encode_ids(text)) == theirs.encode(text), text


@pytest.mark.parametrize("name", [
    "trained/ranks/r.tiktoken",
    pytest.param("tiktoken_cl100k_base/cl100k_base.tiktoken", marks=pytest.mark.shared),
])
def test_tiktoken_gives_the_same_ids(name: str, tmp_path: Path) -> None:
    library, out = pytest.importorskip("tiktoken"), tmp_path / "edited.tiktoken"
    made = prune(unchanged(owners.read(name, tmp_path)), Corpus("texts", TEXTS)).tokenizer
    export(made, out, "tiktoken")
    theirs = library.Encoding(
        "edited", pat_str=SPLITS[owners.RANKS_SPLIT].pattern,
        mergeable_ranks=owners.ranks_of(out), special_tokens={},
    )
    for text in (*TEXTS, *MORE):
        assert list(made.encode_ids(text)) == theirs.encode_ordinary(text), text
