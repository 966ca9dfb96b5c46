"""Counting shared with another process gives what one process counts, in the same order."""

from __future__ import annotations

import pytest

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.recipe import Recipe
from tokentui.text import count as module
from tokentui.text.corpus import Corpus
from tokentui.text.count import count
from tokentui.text.helper import Helper

TEXTS = ("one two  two\n\nthree é \udc80\ud800 three's 12 \U0001f600 " * 40, "", " four", "one\u2028five\r\n" * 90)


def corpus() -> Corpus:
    return Corpus.from_lines(TEXTS)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK_CHARS", 64)
    monkeypatch.setattr(module.chunks, "__defaults__", (64,))


@pytest.mark.parametrize("start", [0, 700, 1 << 20])
def test_shared_out_it_is_the_same(start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "START_CHARS", start)
    seen: list[tuple[int, int]] = []
    shared = count(corpus(), Recipe(), processes=2, progress=lambda done, total: seen.append((done, total)))
    alone = count(corpus(), Recipe(), processes=1)
    assert (shared.words, shared.counts) == (alone.words, alone.counts)
    assert seen == sorted(seen)
    assert seen[-1] == (sum(map(len, TEXTS)),) * 2


def test_nothing_to_share() -> None:
    assert count(Corpus.from_lines([]), Recipe(), processes=2).words == ()
    assert count(Corpus.from_lines(["a"]), Recipe(), processes=2).counts == (1,)


def test_a_helper_that_dies_is_no_count() -> None:
    helper = Helper(Recipe(), [("a", True)])
    helper._process.kill()
    with pytest.raises(TokentuiError, match="ended before"):
        helper.result()
    helper.stop()


def test_cancelled() -> None:
    with pytest.raises(Cancelled):
        count(corpus(), Recipe(), processes=2, cancel=lambda: True)
