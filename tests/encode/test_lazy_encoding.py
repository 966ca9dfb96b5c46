"""An encoding of which only the ids are worked out at once is the same value as one that was worked out
whole."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import owners
import pytest
from cancelling import cancel_at
from hypothesis import given
from hypothesis import strategies as st

import tokentui
from tokentui.core import jobs
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import job
from tokentui.encode import batch, encoder
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.encoding import Encoding
from tokentui.encode.tokenizer import Tokenizer

RECIPES = ("gpt2", "bert", "llama2", "sentencepiece-unigram", "gpt1")
BYTES = ("gpt2", "llama2")
TEXTS = st.text(st.sampled_from("hugspn  ▁\n'é́Ⅳ!?<unk>😀가\udc80"), max_size=60)


@pytest.fixture(scope="module")
def made() -> list[Tokenizer]:
    """Trained tokenizers of each way of encoding."""
    unknown = ("pass-through", "byte-fallback", "drop")
    return [
        *(
            tokentui.train("sample:hugs", name, vocab_size=400 if name in BYTES else 24, specials=["<unk>"])
            for name in RECIPES
        ),
        *(
            tokentui.train("sample:hugs", "subword-nmt", merges=5, specials=["<unk>"], unknown=one)
            for one in unknown
        ),
    ]


def eager(own: WordEncoder, text: str, allow_special: bool = False) -> Encoding:
    """The encoding of a text, all of it worked out at once."""
    return Encoding.of(text, own.placed_tokens(text, False, allow_special))


@pytest.mark.slow
@pytest.mark.parametrize("many", [0, 1 << 12])
@given(text=TEXTS, allow=st.booleans())
def test_later_equals_at_once(made: list[Tokenizer], many: int, text: str, allow: bool) -> None:
    """Also where the names of many tokens are looked up by their ids."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoder, "_MANY_IDS", many)
        check_each_field(made, text, allow)


def check_each_field(made: list[Tokenizer], text: str, allow: bool) -> None:
    for tokenizer in made:
        want = eager(tokenizer.encoder, text, allow)
        for name in (field.name for field in dataclasses.fields(Encoding)):
            # each field is the first to be asked for, once
            assert getattr(tokenizer.encode(text, allow_special=allow), name) == getattr(want, name)
        found = tokenizer.encode(text, allow_special=allow)
        assert (found, hash(found), repr(found)) == (want, hash(want), repr(want))
        assert found.rows == want.rows
        assert list(tokenizer.encode_ids(text, allow_special=allow)) == [
            -1 if number is None else number for number in want.ids
        ]


@pytest.mark.parametrize("name", sorted(owners.TRAINED))
@given(text=TEXTS)
@pytest.mark.slow
def test_later_equals_at_once_for_files(
    name: str, text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tokenizer = _read(name, tmp_path_factory)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoder, "_MANY_IDS", 0)
        for allow in (False, True):
            found, wanted = tokenizer.encode(text, allow_special=allow), eager(tokenizer.encoder, text, allow)
            assert (found.tokens, found.pieces) == (wanted.tokens, wanted.pieces)
            assert found.unknown == wanted.unknown
            assert found == wanted


def test_names_of_many_tokens_do_not_encode_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = tokentui.train("sample:hugs", "gpt2", merges=6)
    encoding = tokenizer.encode("hugs pugs " * 2000)
    monkeypatch.setattr(WordEncoder, "placed_tokens", lambda *_: pytest.fail("it encodes again"))
    assert encoding.tokens[:2] == ("hug", "s")
    assert (encoding.pieces[1], encoding.unknown) == (b"s", ())


def test_names_can_be_cancelled_between_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "BLOCK", 1000)
    encoding = tokentui.train("sample:hugs", "gpt2", merges=6).encode("hugs pugs " * 2000)
    cancel_at(5, lambda: encoding.tokens)
    assert encoding.tokens[:2] == ("hug", "s")


_KNOWN: dict[str, Tokenizer] = {}


def _read(name: str, folders: pytest.TempPathFactory) -> Tokenizer:
    if name not in _KNOWN:
        folder: Path = folders.mktemp("files")
        _KNOWN[name] = owners.read(name, folder)
    return _KNOWN[name]


def test_a_value_stays_a_value(made: list[Tokenizer]) -> None:
    text = "hugs pugs"
    want = eager(made[0].encoder, text)
    assert copy.copy(made[0].encode(text)) == want
    assert copy.deepcopy(made[0].encode(text)) == want
    assert pickle.loads(pickle.dumps(made[0].encode(text))) == want
    assert dataclasses.replace(made[0].encode(text), text="other").pieces == want.pieces
    assert dataclasses.asdict(made[0].encode(text)) == dataclasses.asdict(want)
    one = made[0].encode(text)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.ids = ()  # type: ignore[misc]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        one.nothing  # noqa: B018
    assert len(one) == len(want.ids)


def test_later_merges_do_not_change_an_encoding() -> None:
    tokenizer = tokentui.train("sample:hugs", "gpt2", merges=2)
    trainer = tokentui.Trainer("sample:hugs", "gpt2")
    trainer.run(merges=2)
    before = trainer.tokenizer().encode("hugs pugs bugs")
    trainer.run(merges=8)
    assert before == tokenizer.encode("hugs pugs bugs")


def test_refused_text_is_refused_before_places_are_computed() -> None:
    tokenizer = tokentui.train("sample:hugs", "subword-nmt", merges=5, unknown="error")
    with pytest.raises(TokentuiError, match="offset 4"):
        tokenizer.encode("hugX pugs"[:3] + " X")


def test_an_outer_job_does_not_cancel_lazily_computed_places(made: list[Tokenizer]) -> None:
    seen: list[tuple[int, int]] = []
    encoding = made[0].encode("hugs " * 3000)
    with job(lambda done, total: seen.append((done, total)), lambda: True):
        with pytest.raises(Cancelled):
            made[0].encode("hugs")
        assert encoding.offsets[-1] == (14_999, 15_000)
    assert seen == []


def test_threads_that_ask_at_once_get_the_same_result(made: list[Tokenizer]) -> None:
    encoding = made[0].encode("hugs pugs " * 500)
    want = eager(made[0].encoder, encoding.text)
    names = ("offsets", "pieces", "ids", "words") * 2
    with ThreadPoolExecutor(len(names)) as pool:
        found = list(pool.map(lambda name: getattr(encoding, name), names))
    assert found == [getattr(want, name) for name in names]


def test_a_batch_in_threads_is_that_of_one(made: list[Tokenizer], monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [slice(0, 2), slice(2, 3), slice(3, 7)]
    monkeypatch.setattr("tokentui.encode.tokenizer.slices", lambda encoder, sizes: parts)
    texts = ["hugs", "", "pugs hugs", "bun", "pun", "hug", "bugs"]
    for tokenizer in made:
        assert tokenizer.encode_batch(texts) == [eager(tokenizer.encoder, text) for text in texts]
    refusing = tokentui.train("sample:hugs", "subword-nmt", merges=5, unknown="error")
    texts[2], texts[5] = "hugs X", "Y"
    with pytest.raises(TokentuiError, match="X"):  # of the first text that it raises for
        refusing.encode_batch(texts)
    with job(cancel=lambda: True), pytest.raises(Cancelled):
        made[0].encode_batch(texts)


@given(sizes=st.lists(st.integers(0, 5_000_000), max_size=8))
def test_packed_runs_store_each_text_once(made: list[Tokenizer], sizes: list[int]) -> None:
    runs = batch.slices(made[0].encoder, sizes)
    assert [n for run in runs for n in range(len(sizes))[run]] == list(range(len(sizes)))
