"""A long document that is kept as UTF-8 gives what the same text gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import scanners
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tokentui import learn
from tokentui.learn import start
from tokentui.recipe import Recipe
from tokentui.session.training.corpus_view import RunningText
from tokentui.session.views import CorpusPlace, Viewport
from tokentui.text import corpus as corpora
from tokentui.text.corpus import Corpus, LazyDocuments, LongText, safe_cut
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.read import read

ENGLISH = "The café's 12 cats,  don't — they  won't!\n\n  日本語 😂😂 x́ 'S\t\n"
texts = st.text(st.sampled_from("ab Té日😂'1.\n"), max_size=60)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents of any length are long, and are decoded a few bytes at a time."""
    monkeypatch.setattr(corpora, "_BLOCK", 5)
    monkeypatch.setattr(corpora, "_STRIDE", 7)
    monkeypatch.setattr(corpora, "LONG_BYTES", 1)


def in_bytes(text: str, at: int) -> int:
    """A place in a text as one in its bytes: a long text counts in bytes."""
    return len(text[:at].encode())


def long(text: str, mark: bytes = b"") -> LongText:
    return LongText(mark + text.encode(), len(mark))


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@given(
    text=texts, start=st.integers(0, 70), stop=st.integers(0, 70),
    wanted=st.text(st.sampled_from("ab é😂"), max_size=4),
)
def test_it_is_measured_cut_and_searched_as_text(
    mark: bytes, text: str, start: int, stop: int, wanted: str
) -> None:
    kept = long(text, mark)
    assert (len(kept), kept.size, kept.whole()) == (len(text), len(text.encode()), text)
    assert kept[start:stop] == text[start:stop]
    assert kept[start:] == text[start:]
    assert kept.find(wanted, start) == text.find(wanted, start)
    assert kept.rfind(wanted, start, stop) == text.rfind(wanted, start, stop)
    assert kept.rfind(wanted) == text.rfind(wanted)
    if wanted:
        assert kept.count(wanted) == text.count(wanted)
        assert Corpus("a", LazyDocuments((kept,))).occurrences(wanted) == text.count(wanted)


@given(text=texts)
def test_borders_are_where_characters_begin(text: str) -> None:
    kept, places = long(text), [len(text[:n].encode()) for n in range(len(text) + 1)]
    for at in range(kept.size + 3):
        assert kept.border(at) == max(place for place in places if place <= at)


@pytest.mark.parametrize("data", [b"ab\xff", b"\x80" * 9, b"abcd\xe6\x97", b"\xed\xa0\x80", b"\xf0\x9f" * 6])
def test_text_that_is_not_utf8_is_refused(data: bytes) -> None:
    with pytest.raises(UnicodeDecodeError):
        LongText(data)


@given(
    text=texts, at=st.integers(0, 70),
    split=st.sampled_from(["gpt2", "cl100k", "whitespace", "none", "metaspace"]),
)
def test_a_safe_cut_is_that_of_the_text(text: str, at: int, split: str) -> None:
    for recipe in (Recipe(split=split), Recipe(split=split, normalize=("nfc",))):
        cut = Pretokenizer(recipe).safe_cut
        assert safe_cut(long(text), in_bytes(text, at), cut) == in_bytes(text, safe_cut(text, at, cut))


def test_a_safe_cut_far_away() -> None:
    text, cut = "é" * 3_000 + " a", Pretokenizer(Recipe()).safe_cut
    for at in (0, 1, 254, 255, 256, 257, 2_999, 3_000, 3_001):
        assert safe_cut(long(text), in_bytes(text, at), cut) == in_bytes(text, cut(text, at))


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("split", scanners.SPLITS)
@settings(max_examples=30)
@example(documents=["1", "111.a a"], threads=3, chunk=1, window=3)  # a later search finds an earlier cut
@given(
    documents=st.lists(texts, max_size=4), threads=st.integers(1, 3), chunk=st.integers(1, 9),
    window=st.integers(1, 5),
)
def test_kernels_count_its_bytes(
    counting: ModuleType, split: str, documents: list[str], threads: int, chunk: int, window: int
) -> None:
    kept = [long(text) if n % 3 else text for n, text in enumerate(documents, 1)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tokentui.text.kernels.count.CHUNK_CHARS", chunk)
        patch.setattr("tokentui.text.corpus.WINDOW", window)
        found = counting.count(kept, split, threads=threads)
    assert list(zip(found.words(), found.counts.tolist(), strict=True)) == scanners.by_pattern(
        documents, split
    )


def pair(folder: Path, text: str) -> Iterator[Corpus]:
    """A corpus that was read, and the same that was typed."""
    path = folder / "text.txt"
    path.write_text(text, encoding="utf-8", newline="")
    yield read(path)
    yield Corpus.from_text(text, "text.txt")


def test_a_corpus_of_long_documents_is_the_same_corpus(tmp_path: Path) -> None:
    kept, typed = pair(tmp_path, ENGLISH)
    assert isinstance(kept.documents, LazyDocuments)
    assert isinstance(kept.texts[0], LongText)
    assert (kept.documents, kept.size, kept.characters) == (typed.documents, typed.size, typed.characters)
    assert kept.sha256 == typed.sha256
    assert (list(kept.documents), kept.documents[:1], len(kept.documents)) == ([ENGLISH], (ENGLISH,), 1)
    assert scanners.plain_count(kept, Recipe()) == scanners.plain_count(typed, Recipe())
    both = read([tmp_path / "text.txt", tmp_path / "text.txt"])
    assert both.documents == (ENGLISH, ENGLISH)
    assert both.size == 2 * typed.size


def test_lines_and_damage_are_read_at_once(tmp_path: Path) -> None:
    kept, _ = pair(tmp_path, ENGLISH)
    lines = read(tmp_path / "text.txt", as_="lines")
    assert lines.documents == tuple(ENGLISH.split("\n")[:-1])
    assert lines.sha256 == kept.sha256
    (tmp_path / "text.txt").write_bytes(b"ab\xff cd")
    damaged = read(tmp_path / "text.txt")
    assert damaged.documents == ("ab\udcff cd",)
    assert damaged.invalid is not None


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize(
    "recipe", [Recipe(), Recipe(split="none"), Recipe(normalize=("nfc",)), Recipe(split="cl100k")]
)
def test_running_text_is_the_same_for_both_kinds_of_corpus(tmp_path: Path, recipe: Recipe) -> None:
    text = ENGLISH * 70
    views = []
    for one in pair(tmp_path, text):
        trainer, running = start(one, recipe), RunningText(one, recipe)
        learn.jump(trainer, 15)
        looks = [
            Viewport(corpus=CorpusPlace(0, at), corpus_chars=90, corpus_before=20)
            for at in range(0, len(text) + 50, 997)
        ]
        sought = [(wanted, backward) for wanted in ("日本", "won't!\n", "?") for backward in (False, True)]
        found = [running.find(wanted, CorpusPlace(0, 5_000), backward) for wanted, backward in sought]
        pieces = [
            list(running.pieces(CorpusPlace(0, at), 60))
            for at in (0, 3_003, len(text) - 9)
        ]
        words = [running.find_word("cats".__contains__, CorpusPlace(0, at)) for at in (0, len(text) - 2)]
        views.append(([running.view(look, trainer) for look in looks], found, pieces, words))
    assert views[0] == views[1]
