"""Batches of one length, against Hugging Face tokenizers and by hand."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokentui
from tokentui.core.errors import TokentuiError
from tokentui.encode.padding import windows


@pytest.fixture(scope="module")
def owners(tmp_path_factory: pytest.TempPathFactory) -> tuple[tokentui.Tokenizer, Any]:
    """A tokenizer with a special token in front of a text, here and in tokenizers."""
    library = pytest.importorskip("tokenizers")
    path = tmp_path_factory.mktemp("padding") / "tokenizer.json"
    tokentui.train("sample:hugs", "gpt2", merges=6, specials=["<s>"]).save(path, "huggingface")
    return tokentui.load(path), library.Tokenizer.from_file(str(path))


def without_padding(ids: list[Any], mask: list[int]) -> list[Any]:
    return [number for number, kept in zip(ids, mask, strict=True) if kept]


TEXTS = st.lists(st.text("hugspn ", max_size=12), min_size=1, max_size=4)
SIDES = st.sampled_from(["right", "left"])


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(TEXTS, st.integers(3, 9), st.none() | st.integers(0, 1), SIDES, SIDES, st.integers(1, 4),
       st.none() | st.integers(1, 12), st.booleans())
def test_rows_are_those_of_tokenizers(
    owners: tuple[tokentui.Tokenizer, Any], texts: list[str], most: int, stride: int | None, side: str,
    truncate: str, multiple: int, length: int | None, special: bool,
) -> None:
    ours, theirs = owners
    theirs.enable_truncation(most, stride=stride or 0, direction=truncate)
    theirs.enable_padding(pad_id=7, direction=side, pad_to_multiple_of=multiple, length=length)
    wanted = []
    for number, encoding in enumerate(theirs.encode_batch(texts, add_special_tokens=special)):
        rows = [encoding, *(encoding.overflowing if stride is not None else ())]
        wanted += [(number, row.ids, row.attention_mask) for row in rows]
    got = ours.encode_padded(texts, pad_id=7, side=side, max_length=most, stride=stride, truncate=truncate,
                             multiple_of=multiple, length=length, special_tokens=special)
    if stride is not None and length is None:  # tokenizers makes these rows as long as those that stay
        bare = [(number, without_padding(ids, mask)) for number, ids, mask in wanted]
        assert bare == list(zip(got.texts, map(without_padding, got.ids, got.mask), strict=True))
    else:
        assert wanted == list(zip(got.texts, got.ids, got.mask, strict=True))


@given(st.integers(0, 30), st.integers(1, 9), st.data())
def test_windows_cover_a_text_and_share_the_stride(size: int, most: int, data: st.DataObject) -> None:
    stride = data.draw(st.integers(0, most - 1))
    for side in ("right", "left"):
        parts = list(windows(size, most, stride, side))
        assert {n for start, end in parts for n in range(start, end)} == set(range(size))
        assert all(end - start <= most for start, end in parts)
        ordered = sorted(parts)
        shared = [one[1] - other[0] for one, other in itertools.pairwise(ordered)]
        assert all(number >= stride for number in shared)


def test_rows_without_padding_and_of_no_text() -> None:
    tokenizer = tokentui.train("sample:hugs", "gpt2", merges=6)
    batch = tokenizer.encode_padded(["hugs", "hugs hugs"], max_length=1)
    assert [len(row) for row in batch.ids] == [1, 1]
    assert tokenizer.encode_padded([], pad_id=0) == ([], [], [])


@pytest.mark.parametrize(("given", "line"), [
    ({"side": "up"}, "side: not a side: 'up' (right or left)"),
    ({"truncate": "LEFT"}, "truncate: not a side: 'LEFT' (right or left)"),
    ({"max_length": 0}, "max_length=0: out of range (use 1 or more)"),
    ({"pad_id": -1}, "pad_id=-1: out of range (use 0 or more)"),
    ({"multiple_of": 0}, "multiple_of=0: out of range (use 1 or more)"),
    ({"max_length": 3, "stride": 3}, "stride=3: no row would have new tokens"),
    ({"stride": 0}, "stride=0: no row would have new tokens"),
])
def test_invalid_padding_arguments_are_refused(given: dict[str, Any], line: str) -> None:
    tokenizer = tokentui.train("sample:hugs", "gpt2", merges=6)
    with pytest.raises(TokentuiError) as raised:
        tokenizer.encode_padded(["hugs"], **given)
    assert str(raised.value).startswith(line)
