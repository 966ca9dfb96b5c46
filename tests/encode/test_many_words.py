"""Many words at once by kernels: the ids are those of each word alone, in plain Python."""

from __future__ import annotations

import importlib
import itertools
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from protomake import message

from tokentui import train
from tokentui.core import memo
from tokentui.core.safetext import SURROGATE
from tokentui.encode import id_tables
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.id_tables import DocumentIdTable, WordIdTable
from tokentui.encode.segment import FUSED, PAIRS, EncodingWay
from tokentui.encode.vocabulary import Vocabulary
from tokentui.formats.sentencepiece.file import SENTENCEPIECE
from tokentui.formats.source import Source
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.pretokenize import Pretokenizer

SCORED = Recipe(
    split="metaspace", unit="char", base="frequency", objective="unigram", tie="shortest",
    pieces="sentencepiece", encode="viterbi", unknown="fused",
)
MERGED = Recipe(split="metaspace", unit="char", base="sorted", unknown="fused")
words = st.lists(
    st.one_of(
        st.text("abé", max_size=12), st.text("ab▁é中😂\u0301", max_size=12), st.text(max_size=4),
        st.text("ab", min_size=40, max_size=120),
    ).filter(lambda word: not SURROGATE.search(word)),
    max_size=8, unique=True,
)
pieces = st.one_of(st.text("abé", min_size=1, max_size=5), st.text("ab▁é中😂", min_size=1, max_size=3))


def compare(encoder: WordEncoder, given: list[str]) -> list[bool]:
    """Both ways come to the same. Returns for each word whether the kernels did it."""
    batch = importlib.import_module("tokentui.encode.kernels.batch").batch
    unit, drops = encoder.pretokenizer.plain_unit, encoder.drops_units
    many = batch(encoder.vocabulary, encoder.merges, encoder.segmenter, unit, drops=drops)
    assert many is not None
    found = many(given)
    for word, ids in zip(given, found, strict=True):
        assert ids is None or ids == encoder.word_ids(word)
        parts = encoder.parts(encoder.pretokenizer.units(word), len(word))
        known = all(part.symbol is not None for part in parts)
        assert known or ids is None
    return [ids is not None for ids in found]


def scored(scores: dict[bytes, float], recipe: Recipe) -> Vocabulary:
    return Vocabulary(recipe, list(scores), ("<unk>",), 0, scores.values())


@pytest.mark.slow
@settings(max_examples=75)
@given(
    scores=st.dictionaries(
        pieces.map(str.encode), st.one_of(st.sampled_from([-1.0, -2.0, -3.0, -4.5]), st.floats(-30, 0)),
        min_size=1, max_size=25,
    ),
    given=words, byte=st.booleans(),
)
def test_by_scores(loaded: None, scores: dict[bytes, float], given: list[str], byte: bool) -> None:
    """Ties, unknown characters, pieces that end inside of a character."""
    if byte:
        scores = {**{piece[:-1]: score for piece, score in scores.items() if piece[1:]}, **scores}
    recipe = SCORED.with_axes(unit="byte") if byte else SCORED
    encoder = WordEncoder(scored(scores, recipe), 0)
    done = compare(encoder, given)
    for word, by_kernels in zip(given, done, strict=True):
        parts = encoder.segmenter.segment(encoder.pretokenizer.units(word), len(word))
        assert by_kernels == all(part.symbol is not None for part in parts)


@settings(max_examples=40)
@given(
    scores=st.dictionaries(
        pieces.map(str.encode), st.sampled_from([-1.0, -2.5, -4.0]), min_size=1, max_size=20
    ),
    given=words, symbol=st.integers(0, 25), limit=st.integers(0, 20),
)
def test_by_scores_of_a_file(
    loaded: None, scores: dict[bytes, float], given: list[str], symbol: int, limit: int
) -> None:
    """A piece that is the unknown token, tokens for some bytes, and pieces that come into use later."""
    vocabulary = scored({**scores, b"<0x61>": -1.0, b"<0xC3>": -1.0, b"<0xA9>": -1.0}, SCORED)
    size = len(vocabulary.pieces)
    fallback = {0x61: size - 3, 0xC3: size - 2, 0xA9: size - 1}
    way = FUSED.with_tables(fallback=fallback, unknown=symbol if symbol < size else None)
    compare(WordEncoder(vocabulary, 0, None, way), given)
    limited = vocabulary.limited(limit, [max(0, n - 3) for n in range(size)])
    compare(WordEncoder(limited, 0, None, way), given)


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("axes", [
    {}, {"unit": "byte", "unknown": "error"}, {"unknown": "drop"}, {"unit": "byte", "unknown": "drop"},
    {"unknown": "byte-fallback"}, {"unknown": "rest-of-word"},
])
@settings(max_examples=40)
@given(given=words, merges=st.integers(0, 40), text=st.text("abé中 ", max_size=60))
def test_by_merges(loaded: None, axes: dict[str, str], given: list[str], merges: int, text: str) -> None:
    corpus = Corpus.from_text(text + " abab baba abé aéaé bab aab")
    tokenizer = train(corpus, MERGED.with_axes(**axes), merges=12, specials=("<unk>",))
    merges = min(merges, len(tokenizer.vocabulary.merges))
    encoder = WordEncoder(tokenizer.vocabulary, merges)
    units, known = encoder.pretokenizer.units, tokenizer.vocabulary.known_units(merges)
    assert compare(encoder, given) == [all(unit in known for unit in units(word)) for word in given]


@settings(max_examples=40)
@given(
    rows=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=20, unique=True),
    given=words, drop=st.booleans(), whole=st.sets(st.integers(0, 12)),
)
def test_by_rows_of_pairs(
    loaded: None, rows: list[tuple[int, int]], given: list[str], drop: bool, whole: set[int]
) -> None:
    """A token in several rows, tokens for bytes, words that are a token at once."""
    base = [b"a", b"b", "é".encode(), b"<0xE4>", b"<0xB8>", b"<0xAD>"]
    vocabulary, table = Vocabulary(MERGED, base, ("<unk>",), 0), dict[tuple[int, int], int]()
    makes: list[int] = []
    known = {piece: n for n, piece in enumerate(base)}
    for left, right in rows:
        if max(left, right) < len(known):
            piece = vocabulary.join(left, right)
            if piece not in known:
                known[piece] = len(known)
                vocabulary.add(left, right, 1)
            table[left, right] = len(makes)
            makes.append(known[piece])
    names = list(vocabulary.pieces)
    way: EncodingWay = PAIRS.with_tables(
        rows={left * len(names) + right: row for (left, right), row in table.items()}, makes=makes,
        whole={names[n]: n for n in whole if n < len(names)}, drop=drop, fused=True,
        fallback={0xE4: 3, 0xB8: 4, 0xAD: 5},
    )
    for merges in range(len(vocabulary.merges) + 1):
        compare(WordEncoder(vocabulary, merges, None, way), given)


@pytest.mark.slow
@settings(max_examples=60)
@given(
    listed=st.dictionaries(
        st.text("ab▁é", min_size=1, max_size=4),
        st.tuples(st.one_of(st.sampled_from([-1.0, -2.0, -9.0]), st.floats(-30, 0, width=32)),
                  st.sampled_from([1, 1, 1, 4, 5])),
        min_size=1, max_size=25,
    ),
    given=words, bytes_=st.sampled_from([0, 256]), kinds=st.booleans(), steps=st.integers(0, 25),
)
def test_by_pieces_of_sentencepiece(
    loaded: None, listed: dict[str, tuple[float, int]], given: list[str], bytes_: int, kinds: bool, steps: int
) -> None:
    """Pieces of one score, tokens for bytes, characters that are no pieces, and pieces that merge with
    nothing. Where a piece is cut again kernels do nothing."""
    rows = [("<unk>", 0.0, 2), *((f"<0x{value:02X}>", 0.0, 6) for value in range(bytes_))]
    rows += [(text, score, kind if kinds else 1) for text, (score, kind) in listed.items()]
    data = message([
        *((1, message([(1, text.encode()), (2, score), (3, kind)])) for text, score, kind in rows),
        (2, message([(3, 2), (35, int(bytes_ > 0))])), (3, message([(1, b"identity")])),
    ])
    tokenizer = SENTENCEPIECE.read(Source("a.model", data))
    for merges in (len(tokenizer.vocabulary.merges), min(steps, len(tokenizer.vocabulary.merges))):
        encoder = WordEncoder(tokenizer.vocabulary, merges)
        unit = encoder.pretokenizer.plain_unit
        if any(kind == 5 for _, _, kind in rows):
            batch = importlib.import_module("tokentui.encode.kernels.batch").batch
            assert batch(encoder.vocabulary, merges, encoder.segmenter, unit, drops=False) is None
        elif unit:
            compare(encoder, given)


@settings(max_examples=150)
@given(
    listed=st.dictionaries(
        st.text("ab▁é中", min_size=1, max_size=4),
        st.one_of(st.sampled_from([-1.0, -2.0, -4e4, 3e4]), st.floats(-30, 0, width=32)),
        min_size=1, max_size=20,
    ),
    given=st.lists(st.text("ab éc中😂\u0301", max_size=16), max_size=12), bytes_=st.sampled_from([0, 256]),
    block=st.integers(1, 5), squeeze=st.booleans(),
)
@pytest.mark.slow
def test_a_text_in_single_precision(
    loaded: None, listed: dict[str, float], given: list[str], bytes_: int, block: int, squeeze: bool
) -> None:
    """Words after sums that grow, and begin again where they are too large; ties that rounding decides."""
    rows = [("<unk>", 0.0, 2), *((f"<0x{value:02X}>", 0.0, 6) for value in range(bytes_))]
    rows += [(text, score, 1) for text, score in listed.items()]
    data = message([
        *((1, message([(1, text.encode()), (2, score), (3, kind)])) for text, score, kind in rows),
        (2, message([(3, 1), (35, int(bytes_ > 0))])),
        (3, message([(1, b"identity"), (4, int(squeeze))])),
    ])
    text = " ".join(given * 6)
    plain, quick = (SENTENCEPIECE.read(Source("a.model", data)).encoder for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(id_tables, "KERNEL_CHARS", len(text) * 4 + 9)
        wanted = plain.ids(text)
        patch.setattr(id_tables, "KERNEL_CHARS", 0)
        patch.setattr(id_tables, "_BLOCK_WORDS", block)
        patch.setattr(quick, "follower", lambda: pytest.fail("without kernels"))
        assert quick.ids(text) == wanted
    assert isinstance(plain.id_table, DocumentIdTable)
    assert plain.id_table._kernels is None
    assert isinstance(quick.id_table, DocumentIdTable)
    assert quick.way.scope == "document"
    assert not text or quick.id_table._kernels is not None


def test_a_text_by_pieces_goes_through_kernels(loaded: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words with a line end too, whose bytes are tokens."""
    rows = [("<unk>", 0.0, 2), *((f"<0x{value:02X}>", 0.0, 6) for value in range(256))]
    rows += [(text, -float(n), 1) for n, text in enumerate(("▁a", "ab", "a", "b", "c", "▁", "▁▁"), 1)]
    data = message([
        *((1, message([(1, text.encode()), (2, score), (3, kind)])) for text, score, kind in rows),
        (2, message([(3, 2), (35, 1)])), (3, message([(1, b"identity")])),
    ])
    text = " ".join("".join(letters) for letters in itertools.product("abc\n", repeat=5))
    other = SENTENCEPIECE.read(Source("a.model", data)).encoder
    expected = [row.id for row in other.placed_tokens(text, False, False)]  # word by word
    encoder = SENTENCEPIECE.read(Source("a.model", data)).encoder
    monkeypatch.setattr(id_tables, "MANY_WORDS", 1)
    monkeypatch.setattr(encoder, "word_ids", lambda word: pytest.fail(repr(word)))
    assert list(encoder.ids(text)) == expected


def test_the_cache_of_words_is_bounded(loaded: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of words without end as many are remembered as of other texts, and long ones not at all."""
    monkeypatch.setattr(id_tables, "MANY_WORDS", 0)
    monkeypatch.setattr(id_tables, "_BLOCK_WORDS", 20)
    monkeypatch.setattr(memo, "KEPT", 50)
    tokenizer = train(Corpus.from_text("ab ba aab bba"), MERGED, merges=3, specials=("<unk>",))
    encoder = WordEncoder(tokenizer.vocabulary, 3)
    listed = ["▁" + "".join(word) for size in range(1, 7) for word in itertools.product("ab", repeat=size)]
    listed.append("ab" * 200)
    found = encoder.id_table.ids(listed)
    assert found.tolist() == [number for word in listed for number in encoder.word_ids(word)]
    assert isinstance(encoder.id_table, WordIdTable)
    assert encoder.id_table._many._word_kernels is not None
    assert 0 < len(encoder.id_table.known) <= 50
    assert listed[-1] not in encoder.id_table.known


def test_words_with_marks_go_another_way(loaded: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(id_tables, "MANY_WORDS", 0)
    for axes in ({"mark": "end-suffix:</w>"}, {"mark": "prefix:##"}, {"unit": "grapheme"}):
        recipe = replace(MERGED, split="whitespace").with_axes(**axes)
        assert Pretokenizer(recipe).plain_unit == ""
        tokenizer = train(Corpus.from_text("ab ba aab bba"), recipe, merges=3, specials=("<unk>",))
        encoder, listed = WordEncoder(tokenizer.vocabulary, 3), ["ab", "ba", "abba", "bab"]
        found: Any = encoder.id_table.ids(listed)
        assert found.tolist() == [number for word in listed for number in encoder.word_ids(word)]
