"""Unknown units, special tokens, refusals, the cache and cancelling."""

from __future__ import annotations

import contextlib
import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokentui
from tokentui.axes import preset
from tokentui.core import engines
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import EACH, each, job
from tokentui.encode import id_tables
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.names import NameFinder
from tokentui.encode.segment import ENCODING_WAYS, UNKNOWN
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary, quoted
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe

RECIPE = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")
LETTERS = [b"a", b"b", b"c"]


def tokenizer(unknown: str, specials: tuple[str, ...] = ("<unk>",), **axes: str) -> Tokenizer:
    vocabulary = Vocabulary(RECIPE.with_axes(unknown=unknown, **axes), LETTERS, specials)
    vocabulary.add(0, 1, 1)  # ab
    vocabulary.add(3, 2, 1)  # abc
    return Tokenizer(vocabulary)


@pytest.mark.parametrize("way", ["merges", "longest-match"])
@pytest.mark.parametrize(
    ("unknown", "pieces", "offsets"),
    [
        ("drop", [b"ab", b"ab"], [(0, 4), (4, 6)]),
        ("per-unit", [b"a", None, None, b"b", b"ab"], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 6)]),
        ("fused", [b"a", None, b"b", b"ab"], [(0, 1), (1, 3), (3, 4), (4, 6)]),
        ("rest-of-word", [b"a", None], [(0, 1), (1, 6)]),
        ("whole-word", [None], [(0, 6)]),
        ("byte-fallback", [b"a", b"<0xC3>", b"<0xA9>", b"<0x5A>", b"b", b"ab"],
         [(0, 1), (1, 2), (1, 2), (2, 3), (3, 4), (4, 6)]),
    ],
)
def test_policies(way: str, unknown: str, pieces: list[bytes | None], offsets: list[tuple[int, int]]) -> None:
    encoding = tokenizer(unknown, encode=way).encode("aéZbab")
    assert list(encoding.pieces) == pieces
    assert list(encoding.offsets) == offsets
    assert list(encoding.unknown) == [n for n, piece in enumerate(pieces) if piece is None]
    assert [encoding.ids[at] for at in encoding.unknown] == [0] * len(encoding.unknown)


def test_unknown_without_an_unknown_token_has_no_id() -> None:
    encoding = tokenizer("fused", ()).encode("aZZ")
    assert encoding.ids == (0, None)
    assert encoding.tokens == ("a", "<unk>")
    assert encoding.hex == ("61", None)


def test_pass_through_keeps_the_text_of_an_unknown_unit() -> None:
    encoding = tokenizer("pass-through").encode("abZ\u202eab")
    assert encoding.pieces == (b"ab", b"Z", "\u202e".encode(), b"ab")
    assert encoding.ids == (4, None, None, 4)
    assert encoding.unknown == (1, 2)


@pytest.mark.parametrize(
    ("text", "named", "place"),
    [("ab Z", "'Z'", 3), ("a\u202e", r"'\u202e'", 1), ("\udcff", "'\ufffd'", 0)],
)
def test_refusal_names_the_unit_and_its_place(text: str, named: str, place: int) -> None:
    with pytest.raises(TokentuiError) as raised:
        tokenizer("error").encode(text)
    assert str(raised.value).startswith(f"offset {place}: {named} is not in the vocabulary")


def test_refusal_behind_a_special_counts_from_the_start() -> None:
    with pytest.raises(TokentuiError, match=r"^offset 6: 'Z'"):
        tokenizer("error").encode("<unk>aZ", allow_special=True)


def test_longest_match_gives_up_a_word_of_more_than_100_characters() -> None:
    assert tokenizer("per-unit", encode="longest-match").encode("a" * 100).ids == (1,) * 100
    assert tokenizer("per-unit", encode="longest-match").encode("a" * 101).ids == (0,)
    assert tokenizer("drop", encode="longest-match").encode("a" * 101).ids == ()
    with pytest.raises(TokentuiError, match="more than 100 characters"):
        tokenizer("error", encode="longest-match").encode("a" * 101)
    assert tokenizer("whole-word", encode="longest-match").explain("a" * 101)[0].steps == ()


TEXTS = (
    "Z" * 101, "ab" + "Z" * 98 + "abc", "ab " + "Z" * 101 + " abc", "Z" * 100, "abc" * 40, "ab" + "Z" * 99,
    "Z" * 3000 + "ab", ("Z" * 101 + " ab ") * 60,
)
"""Words below, at and over the limit of longest match, with unknown units everywhere, somewhere, nowhere."""


@pytest.mark.first_run(cases=4)
@pytest.mark.parametrize("way", [name for name, way in ENCODING_WAYS.items() if way.needs != "scores"])
@pytest.mark.parametrize("unknown", UNKNOWN)
def test_no_long_word_of_unknown_units_is_a_fault(
    way: str, unknown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(id_tables, "KERNEL_CHARS", 1)
    monkeypatch.setattr(engines, "tell", lambda failure: pytest.fail(str(failure)))
    try:
        made = tokenizer(unknown, encode=way)
    except TokentuiError:
        pytest.skip("no recipe")
    for text in TEXTS:
        try:
            encoding = made.encode(text)
            rows = made.encoder.placed_tokens(text, special_tokens=False, allow_special=False)
        except TokentuiError:
            assert unknown in ("error", "never")
            continue
        assert list(encoding.ids) == [row.id for row in rows]
        assert unknown != "drop" or None not in encoding.ids
        made.explain(text[:300])
    assert not engines.failed


@pytest.mark.slow
@pytest.mark.parametrize("name", PRESETS)
def test_no_preset_with_long_words_of_unknown_units_is_a_fault(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "tell", lambda failure: pytest.fail(str(failure)))
    for way, unknown in itertools.product(ENCODING_WAYS, UNKNOWN):
        with contextlib.suppress(TokentuiError):
            trainer = tokentui.Trainer("sample:hugs", preset(name, encode=way, unknown=unknown))
            trainer.run(merges=3)
            made = trainer.tokenizer()
            for text in TEXTS:
                with contextlib.suppress(TokentuiError):
                    made.encode(text.replace("ab", "hug"))
                    made.explain(text[:300])
    assert not engines.failed


def test_a_long_word_whose_units_are_all_dropped_has_no_tokens() -> None:
    assert tokenizer("drop", encode="longest-match").encode("Z" * 101).ids == ()
    assert tokenizer("drop", encode="longest-match").encode("ab " + "Z" * 101 + " ab").ids == (4, 4)


def test_longest_match_over_all_bytes_gives_up_nothing() -> None:
    recipe = Recipe(split="none", base="bytes", encode="longest-match")
    vocabulary = Vocabulary(recipe, [bytes((value,)) for value in range(256)])
    vocabulary.add(97, 97, 1)
    made = Tokenizer(vocabulary)
    assert made.encode("a" * 501).ids == (256,) * 250 + (97,)
    assert made.explain("a" * 501)[0].after(250)[:2] == (b"aa", b"aa")


def test_longest_match_of_a_prefix_of_the_merges() -> None:
    made = tokenizer("error", encode="longest-match")
    assert made.encode("abc").tokens == ("abc",)
    assert made.at(1).encode("abc").tokens == ("ab", "c")
    assert made.at(0).encode("abc").tokens == ("a", "b", "c")


def test_a_literal_mark_is_not_a_continuation() -> None:
    recipe = RECIPE.with_axes(mark="prefix:##", encode="longest-match")
    vocabulary = Vocabulary(recipe, [b"#", b"###", b"##a", b"x"])
    vocabulary.add(0, 1, 1)  # the two characters ## at the start of a word
    vocabulary.add(4, 2, 1)  # ##a there: spelled as the unit ##a
    made = Tokenizer(vocabulary)
    assert made.encode("xa").ids == (3, 2)
    assert made.encode("##a").ids == (5,)
    assert made.decode((3, 2)) == "xa"
    assert made.decode((3, 5)) == "x ##a"


def test_specials_in_text() -> None:
    vocabulary = Vocabulary(RECIPE.with_axes(unknown="per-unit"), LETTERS, ("<unk>", "<s>", "<s>>"))
    made = Tokenizer(vocabulary)
    assert made.encode("a<s>", allow_special=False).ids == (3, 0, 0, 0)
    encoding = made.encode("a<s>>b<s> <unk>c", allow_special=True)
    assert encoding.ids == (3, 2, 4, 1, 0, 5)
    assert encoding.tokens == ("a", "<s>>", "b", "<s>", "<unk>", "c")
    assert encoding.offsets == ((0, 1), (1, 5), (5, 6), (6, 9), (10, 15), (15, 16))
    assert encoding.words == (0, -1, 1, -1, -1, 2)
    assert encoding.unknown == ()


def test_special_tokens_begin_and_end() -> None:
    made = Tokenizer(Vocabulary(RECIPE, LETTERS, ("[UNK]", "[CLS]", "[SEP]")))
    encoding = made.encode("a b", special_tokens=True)
    assert encoding.tokens == ("[CLS]", "a", "b", "[SEP]")
    assert encoding.offsets == ((0, 0), (0, 1), (2, 3), (3, 3))
    assert made.encode("a b").tokens == ("a", "b")


def test_a_merge_that_spells_a_special_gives_its_id() -> None:
    vocabulary = Vocabulary(RECIPE, LETTERS, ("ab",))
    vocabulary.add(0, 1, 1)
    vocabulary.add(3, 2, 1)
    made = Tokenizer(vocabulary)
    assert made.encode("ab abc").ids == (0, 4)
    assert made.decode((0, 4)) == "ababc"
    assert [entry.id for entry in made.entries()] == list(range(made.vocab_size))


def test_the_end_symbol_is_at_the_end_of_its_word() -> None:
    recipe = RECIPE.with_axes(mark="end-symbol:</w>")
    encoding = Tokenizer(Vocabulary(recipe, [*LETTERS, b"</w>"])).encode("ab c")
    assert encoding.tokens == ("a", "b", "</w>", "c", "</w>")
    assert encoding.offsets == ((0, 1), (1, 2), (2, 2), (3, 4), (4, 4))
    assert encoding.words == (0, 0, 0, 1, 1)


def test_an_encoder_keeps_its_number_of_merges() -> None:
    made = tokenizer("error")
    one = WordEncoder(made.vocabulary, 1)
    assert one.encode("abc").tokens == ("ab", "c")
    assert one.at_merges(2).encode("abc").tokens == ("abc",)
    made.vocabulary.add(4, 4, 1)
    assert one.encode("abc abc").tokens == ("ab", "c", "ab", "c")
    assert made.encode("abcabc").tokens == ("abc", "abc")


def test_cancel_and_progress() -> None:
    seen: list[tuple[int, int]] = []
    made = tokenizer("error")
    made.encode("a " * 100_000, progress=lambda done, total: seen.append((done, total)))
    done = [done for done, total in seen if total == 200_000]
    assert done[0] == 0
    assert len(done) == len(seen) > 1
    assert done == sorted(set(done))
    with pytest.raises(Cancelled):
        made.encode("a", cancel=lambda: True)


def test_a_short_text_reports_no_progress_inside_a_batch() -> None:
    seen: list[tuple[int, int]] = []
    made = tokenizer("error")
    with job(lambda done, total: seen.append((done, total))):
        for _ in each(range(300), 300):
            made.encode("a " * 1024)
    assert seen == [(done, 300) for done in range(0, 300, EACH)]


@given(st.lists(st.text("ab ▁", max_size=4)), st.text("ab ▁", max_size=40))
def test_names_are_found_as_a_pattern_of_all_of_them_finds_them(names: list[str], text: str) -> None:
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")
    finder = NameFinder(names)
    assert list(finder.spans(text)) == [one.span() for one in pattern.finditer(text)]
    assert finder.is_in(text) == bool(pattern.search(text))


def test_empty_text() -> None:
    encoding = tokenizer("error").encode("")
    assert (encoding.ids, encoding.tokens, encoding.hex, len(encoding)) == ((), (), (), 0)
    assert tokenizer("error").explain("") == ()


def test_an_axis_value_without_an_encoder_is_one_line() -> None:
    recipe = RECIPE.with_axes(objective="unigram", encode="viterbi", base="frequency")
    with pytest.raises(TokentuiError, match="encode=viterbi"):
        Tokenizer(Vocabulary(recipe, LETTERS)).encode("a")


def test_more_merges_than_there_are() -> None:
    with pytest.raises(TokentuiError, match="has 2 merges"):
        tokenizer("error").at(3)


def test_a_word_that_is_refused_is_quoted() -> None:
    with pytest.raises(TokentuiError) as raised:
        tokenizer("error").encoder.word_ids("Z\x1b[2J" + "a" * 30)
    assert str(raised.value) == f"{quoted('Z' + chr(27) + '[2J' + 'a' * 30)}: an unknown unit"
    assert "\x1b" not in str(raised.value)
