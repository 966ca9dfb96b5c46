"""Opened tokenizers, token by token: what the file cut to its first k tokens gives, and what a recount gives.
"""

from __future__ import annotations

import base64
import itertools
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import owners
import pytest
from cancelling import checks_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import large
from trainers import merge_steps

from tokentui import learn, train
from tokentui.axes import preset
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import job
from tokentui.encode import pretokens as pretokens_of_text
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.names import Special
from tokentui.encode.pretokens import Item, Pretokens
from tokentui.encode.segment.merges import Merging
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import load
from tokentui.learn import Changed, Made, MergeStep, Query, Size, Span, Stop, TokenCandidate, Word
from tokentui.learn.replay import ReplayTrainer
from tokentui.learn.replay.segmentations import TokenOrder
from tokentui.recipe import Run, Stops
from tokentui.session.training.training import prepare_tokenizer
from tokentui.text.corpus import Corpus
from tokentui.text.pretokenize import PreToken

SMALL = (
    "bert-base-uncased/vocab.txt", "gpt2/vocab.json", "hw-doc-summarizer/tokenizer.json",
    "spm-test/test_ja_model.model", "spm-test/test_model.model", "sqlpilot/tokenizer.json",
)
LARGE = (
    "bert-base-uncased/tokenizer.json", "falcon/tokenizer.json", "gpt2/merges.txt", "gpt2/tokenizer.json",
    "llama2/tokenizer.json", "openai-gpt/merges.txt", "openai-gpt/tokenizer.json", "openai-gpt/vocab.json",
    "spm-llama2/tokenizer.model", "spm-xlnet-base-cased/spiece.model", "t5-small/tokenizer.json",
    "tiktoken_cl100k_base/cl100k_base.tiktoken", "tiktoken_o200k_base/o200k_base.tiktoken",
)
FILES = [*owners.TRAINED, *large(*SMALL), *large(*LARGE, marks=[pytest.mark.soak])]
TEXT = (
    "The tokenization of unhappiness in the street, naïve and 12345 times over.\n\n"
    "  def run(self):\n\treturn self.__dict__  # größer, 東京タワー, привет, 🙂🙂\n"
    "Dear <|endoftext|> </s> [MASK] reader: aaaaaaa bbbbb, hug pug pun bun hugs!\n"
)


def opened(tokenizer: Tokenizer, text: str) -> ReplayTrainer:
    trainer = prepare_tokenizer(Corpus.from_text(text), tokenizer, Run()).trainer
    assert isinstance(trainer, ReplayTrainer)
    return trainer


def recount(trainer: ReplayTrainer, steps: int) -> tuple[int, Counter[int]]:
    """The corpus in tokens and the uses of each symbol, encoded anew by a tokenizer of so many steps. At its
    own step the trainer cuts each word so."""
    now = trainer.order.tokenizer(steps)
    encoder = WordEncoder(now.vocabulary, now.merges)
    tokens, uses = sum(trainer.fixed.values()), Counter[int]()
    for word, times in zip(trainer.words.words, trainer.words.counts, strict=True):
        parts = encoder.parts(encoder.pretokenizer.units(word), len(word))
        tokens += len(parts) * times
        if trainer.number == steps:
            spans = [(one.start, one.end, -1 if one.symbol is None else one.symbol) for one in parts]
            assert trainer.segment(Word(word)) == spans
        for part in parts:
            if part.symbol is not None:
                uses[part.symbol] += times
    return tokens, uses


def check_steps(trainer: ReplayTrainer, steps: Iterator[int]) -> None:
    """At each of these steps, reached from the one before, all figures are those of a recount."""
    for number in steps:
        learn.jump(trainer, number)
        tokens, uses = recount(trainer, number)
        assert (trainer.number, trainer.tokens_at(trainer.number)) == (number, tokens)
        assert Counter({symbol: count for symbol, count in enumerate(trainer.uses) if count}) == uses
        assert trainer.size_at(trainer.number) == trainer.tokenizer().vocab_size
        if number:
            new = trainer.taken(number)
            assert new.places == uses[new.symbol], "what is new now was not there before"


@pytest.mark.parametrize("name", FILES)
@pytest.mark.first_run(cases=1)
def test_files_at_their_last_step_and_before(name: str, tmp_path: Path) -> None:
    tokenizer = owners.read(name, tmp_path)
    trainer = opened(tokenizer, TEXT)
    learn.jump(trainer, trainer.computed)
    assert trainer.tokenizer().encode(TEXT) == tokenizer.encode(TEXT)
    assert trainer.tokens_at(trainer.number) == len(tokenizer.encode(TEXT))
    assert trainer.size_at(trainer.number) == tokenizer.vocab_size
    some = random.Random(name)
    check_steps(
        trainer, iter([0, *(some.randrange(trainer.computed) for _ in range(3)), 1, trainer.computed])
    )


def runs_counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often a word is segmented, and merged with its history, from now on."""
    asked: Counter[str] = Counter()
    for name in ("segment", "history"):
        whole = getattr(Merging, name)

        def counted(self: Any, *words: Any, name: str = name, whole: Any = whole) -> Any:
            asked[name] += 1
            return whole(self, *words)

        monkeypatch.setattr(Merging, name, counted)
    return asked


def test_a_step_changes_a_long_text_only_where_the_parts_of_its_token_meet(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that encodes whole texts is cut once; every step, forward and back, is that of a recount."""
    corpus = Corpus.from_text(TEXT * 4)
    tokenizer = train(corpus, preset("gpt2").with_axes(split="none"), merges=60)
    trainer = prepare_tokenizer(corpus, tokenizer, Run()).trainer
    assert isinstance(trainer, ReplayTrainer)
    lengths = [trainer.tokens_at(number) for number in range(trainer.computed + 1)]
    asked = runs_counted(monkeypatch)
    for number in [*range(61), *range(60, -1, -1)]:
        learn.jump(trainer, number)
        assert len(trainer.segment(Word(trainer.words.words[0]))) == lengths[number]
    assert asked == {"history": 1}
    monkeypatch.undo()
    check_steps(trainer, iter([*range(0, 61, 7), *range(60, -1, -9)]))


# Small files of every kind, cut.

WORDS = st.text("abcd ", min_size=1, max_size=60)
Cut = Callable[[int], Tokenizer]


def file_of(path: Path, data: Any) -> Tokenizer:
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    return load(path, "none" if isinstance(data, bytes) else "")


def tokens_of(tokenizer: Tokenizer, text: str) -> list[str]:
    return list(tokenizer.encode(text).tokens)


@st.composite
def merges(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Merges as a converted file may list them: a token under several pairs, late ones, in any order."""
    known, rows = list("abcd"), []
    for _ in range(draw(st.integers(1, 10))):
        pair = draw(st.sampled_from(known)), draw(st.sampled_from(known))
        if pair not in rows and len("".join(pair)) < 9:
            rows.append(pair)
            known += [] if "".join(pair) in known else ["".join(pair)]
    more = [
        (left, right)
        for left in known
        for right in known
        if left + right in known and (left, right) not in rows
    ]
    extra = draw(st.lists(st.sampled_from(more), unique=True, max_size=4)) if more else []
    return draw(st.permutations(rows + extra)) if draw(st.booleans()) else rows + extra


def bpe(rows: list[tuple[str, str]], names: list[str], whole: bool) -> dict[str, Any]:
    """A `tokenizer.json` of these merges; the ids are the places of the names."""
    model = {
        "type": "BPE", "vocab": {name: number for number, name in enumerate(names)},
        "merges": [list(row) for row in rows], "ignore_merges": whole, "unk_token": None, "fuse_unk": False,
        "byte_fallback": False,
    }
    return {"version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"}, "model": model}


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(merges(), st.booleans(), WORDS)
def test_merges_cut_to_k_steps_are_the_file_cut_to_these(
    tmp_path: Path, rows: list[tuple[str, str]], whole: bool, text: str
) -> None:
    names = list(dict.fromkeys([*"abcd", *("".join(row) for row in rows)]))
    trainer = opened(file_of(tmp_path / "t.json", bpe(rows, names, whole)), text)
    pieces, symbols = trainer.order.vocabulary.pieces, trainer.order.tokens
    check_steps(trainer, iter([*range(trainer.computed + 1), *range(trainer.computed - 1, -1, -1)]))
    for number in range(trainer.computed + 1):
        kept = {*"abcd", *(pieces[symbol].decode() for symbol in symbols[:number])}
        left = [row for row in rows if {*row, "".join(row)} <= kept]
        learn.jump(trainer, number)
        if symbols or not whole:
            cut = file_of(tmp_path / "cut.json", bpe(left, [name for name in names if name in kept], whole))
            assert tokens_of(trainer.tokenizer(), text) == tokens_of(cut, text)


def test_a_word_is_merged_once_where_its_own_tokens_are_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file lists a token again, and all tokens after it are out of order. In one word that matters."""
    letters = "efghijklmnop"
    rows = [("b", "c"), ("a", "b"), ("ab", "c"), ("c", "d"), ("a", "bc")]
    rows += itertools.product(letters, letters)
    names = list(dict.fromkeys([*"abcd", *letters, *("".join(row) for row in rows)]))
    tokenizer = file_of(tmp_path / "t.json", bpe(rows, names, False))
    asked = runs_counted(monkeypatch)
    opened(tokenizer, "hope " * 3 + "life abc coal")
    assert asked == {"history": 4}
    opened(tokenizer, "abcd")
    assert asked["segment"], "a+bc makes the token of an earlier step than c+d"
    monkeypatch.undo()
    trainer = opened(tokenizer, "hope abc abcd dabcdabcab coal")
    check_steps(trainer, iter(range(trainer.computed + 1)))


def test_the_tables_of_a_view_are_computed_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A screen and a cancellation come in between, and a view finds them."""
    monkeypatch.setattr("tokentui.core.jobs.BLOCK", 10)
    rows = [("b", "c"), ("a", "b"), ("ab", "c"), ("a", "bc"), *itertools.product("efgh", "efgh")]
    names = list(dict.fromkeys([*"abcefgh", *("".join(row) for row in rows)]))
    order = TokenOrder.of(file_of(tmp_path / "t.json", bpe(rows, names, False)))
    assert checks_of(order.prepare) > 2 * len(rows) / 10
    assert checks_of(lambda: order.place(3)) == 0
    assert order.place(3) == "merge 3 (of 2 that make it)"


def test_a_long_word_whose_units_are_spelled_in_bytes_or_left_out(tmp_path: Path) -> None:
    """One unit becomes two bytes and another one nothing, so that there are as many cells as units."""
    data = bpe([("a", "b")], [*"ab", "<0xC3>", "<0xA9>", "ab"], False)
    data["model"]["byte_fallback"] = True
    trainer = opened(file_of(tmp_path / "t.json", data), "a" * 10 + "é" + "ab" * 10 + "漢" + "ab" * 15)
    check_steps(trainer, iter((0, 1, 0)))


def test_ranks_of_which_no_merge_makes_one(tmp_path: Path) -> None:
    tokens = [*(bytes((value,)) for value in range(256)), b"aaa"]
    table = b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens))
    trainer = opened(file_of(tmp_path / "t.tiktoken", table), "aaa")
    check_steps(trainer, iter(range(trainer.computed + 1)))


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.text("ab", min_size=2, max_size=5), unique=True, max_size=12), st.text("abab ", max_size=30)
)
def test_ranks_cut_to_k_steps_are_the_file_cut_to_these(
    tmp_path: Path, longer: list[str], text: str
) -> None:
    def ranks(tokens: list[bytes]) -> bytes:
        return b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens))

    single = [bytes((value,)) for value in range(256)]
    trainer = opened(
        file_of(tmp_path / "t.tiktoken", ranks([*single, *(one.encode() for one in longer)])), text
    )
    pieces, symbols = trainer.order.vocabulary.pieces, trainer.order.tokens
    check_steps(trainer, iter(range(trainer.computed + 1)))
    orphans = len(longer) - len(symbols)
    for number in range(trainer.computed + 1 if not orphans else 0):
        cut = file_of(
            tmp_path / "cut.tiktoken", ranks([*single, *(pieces[symbol] for symbol in symbols[:number])])
        )
        learn.jump(trainer, number)
        assert tokens_of(trainer.tokenizer(), text) == tokens_of(cut, text)


def word_piece(names: list[str]) -> dict[str, Any]:
    model = {
        "type": "WordPiece", "vocab": {name: number for number, name in enumerate(names)},
        "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
    }
    return {"version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"}, "model": model}


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.text("abc", min_size=2, max_size=4).flatmap(lambda t: st.sampled_from([t, "##" + t])), unique=True,
        max_size=14,
    ),
    st.lists(st.sampled_from(["b", "##b", "##c"]), unique=True), st.text("abcc ", max_size=40),
)
def test_word_pieces_cut_to_k_steps_are_the_file_cut_to_these(
    tmp_path: Path, longer: list[str], missing: list[str], text: str
) -> None:
    units = [unit for unit in ("a", "b", "c", "##a", "##b", "##c") if unit not in missing]
    trainer = opened(file_of(tmp_path / "t.json", word_piece(["[UNK]", *units, *longer])), text)
    assert trainer.computed == len(longer)
    check_steps(trainer, iter([*range(trainer.computed + 1), 0]))
    for number in range(trainer.computed + 1):
        cut = file_of(tmp_path / "cut.json", word_piece(["[UNK]", *units, *longer[:number]]))
        learn.jump(trainer, number)
        assert tokens_of(trainer.tokenizer(), text) == tokens_of(cut, text)


def unigram(rows: list[tuple[str, float]]) -> dict[str, Any]:
    model = {
        "type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], *map(list, rows)], "byte_fallback": False,
    }
    return {"version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"}, "model": model}


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.text("abc", min_size=2, max_size=5), st.integers(-800, -100), max_size=12),
    st.lists(st.sampled_from("abc"), unique=True, max_size=2), st.text("abcz ", max_size=40),
)
def test_pieces_cut_to_k_steps_are_the_file_cut_to_these(
    tmp_path: Path, longer: dict[str, int], missing: list[str], text: str
) -> None:
    units = [(unit, -9.0 - n / 7) for n, unit in enumerate("abcd") if unit not in missing]
    rows = [(piece, score / 100) for piece, score in longer.items()]
    trainer = opened(file_of(tmp_path / "t.json", unigram(units + rows)), text)
    assert trainer.computed == len(rows)
    order = sorted(rows, key=lambda row: (-row[1], rows.index(row)))
    check_steps(trainer, iter([*range(trainer.computed + 1), 0]))
    for number in range(trainer.computed + 1):
        # The least score is that of `d`, which is always there, so an unknown unit costs the same.
        cut = file_of(tmp_path / "cut.json", unigram(units + order[:number]))
        learn.jump(trainer, number)
        assert tokens_of(trainer.tokenizer(), text) == tokens_of(cut, text)


# The face of a trainer.


@pytest.fixture
def hugs(tmp_path: Path) -> ReplayTrainer:
    rows = [("u", "g"), ("h", "ug"), ("u", "n"), ("hug", "s"), ("ug", "s")]
    names = [*"bghnpsu", "ug", "hug", "un", "hugs", "ugs", "orphan"]
    data = bpe(rows, names, False)
    data["added_tokens"] = [
        {
            "id": 20, "content": "<pad>", "special": False, "single_word": False, "lstrip": False,
            "rstrip": False, "normalized": False,
        }
    ]
    return opened(file_of(tmp_path / "hugs.json", data), "hug hugs pun bun <pad> hugs")


def test_tokens_come_in_the_order_of_their_first_merge(hugs: ReplayTrainer) -> None:
    rows = learn.candidates(hugs, Query()).rows
    assert [one.token for one in rows] == [b"ug", b"hug", b"un", b"hugs", b"ugs"]
    first = learn.candidates(hugs, Query(rows=1)).rows[0]
    assert isinstance(first, TokenCandidate)
    assert (first.parts, first.places, first.words, first.id) == ((b"u", b"g"), 3, 2, 7)
    assert (
        hugs.order.place(4),
        learn.find(hugs, Made(frozenset({b"hugs"}))), learn.find(hugs, Made(frozenset({b"h"}))),
    ) == ("merge 4", 4, 0)
    assert learn.find(hugs, Made(frozenset({b"nothing"}))) is None
    assert hugs.fixed == {"<pad>": 1}


def test_a_walk_to_a_size_to_a_stop_and_to_the_end(hugs: ReplayTrainer) -> None:
    sizes = [hugs.order.size(number) for number in range(hugs.computed + 1)]
    assert sizes == [9, 10, 11, 12, 13, 14], "units, the orphan and the added token are there from the start"
    assert [learn.find(hugs, Size(size)) for size in (9, 10, 14, 15)] == [0, 1, 5, None]
    assert hugs.advance(None, Stops(merges=2)) == "merges"
    assert hugs.number == 2
    assert hugs.advance(None, Stops(vocab_size=1, min_count=99)) == Stop.LAST
    assert (hugs.number, learn.step(hugs), hugs.end(Stops())) == (5, None, Stop.LAST)
    assert hugs.advance(99, Stops()) == Stop.LAST
    step = learn.back(hugs)
    assert isinstance(step, MergeStep)
    assert (step.left, step.right, step.token, step.number, step.tokens) == (
        b"ug", b"s", b"ugs", 5, hugs.tokens_at(5),
    )
    assert [one.token for one in merge_steps(hugs)] == [b"ug", b"hug", b"un", b"hugs"]


def test_the_words_that_the_last_step_changed_are_listed(hugs: ReplayTrainer) -> None:
    learn.jump(hugs, 4)
    newest = hugs.step_at(4).made
    assert [hugs.words.words[word] for word in hugs.changed().words] == ["hugs"]
    assert hugs.order.vocabulary.pieces[newest] == b"hugs"
    assert hugs.segment(Word("hugs")) == [Span(0, 4, newest)]
    assert hugs.segment(Word("never seen in it"))
    learn.jump(hugs, 0)
    assert (hugs.changed(), learn.back(hugs)) == (Changed(), None)
    assert [span.start for span in hugs.segment(Word("hugs", 1, 2))] == [1, 2]


def test_a_step_that_cannot_be_walked_through_is_refused(tmp_path: Path) -> None:
    from tokentui import train

    gage = train(Corpus.from_text("abab abab"), "gage", merges=2)
    with pytest.raises(TokentuiError, match="Gage's compression"):
        TokenOrder.of(gage)


def test_one_that_was_trained_here(tmp_path: Path) -> None:
    from tokentui import train

    text = "hug hug hugs pun bun pug " * 3
    for name in ("gpt2", "wordpiece", "t5"):
        merges, size = (None, 14) if name == "t5" else (6, None)
        tokenizer = train(Corpus.from_text(text), name, merges=merges, vocab_size=size)
        trainer = opened(tokenizer, text)
        check_steps(trainer, iter([trainer.computed, 0, *range(trainer.computed + 1)]))
        assert trainer.computed > 2
        learn.jump(trainer, trainer.computed)
        assert trainer.tokens_at(trainer.number) == len(tokenizer.encode(text))


def test_a_count_can_be_given_up(tmp_path: Path) -> None:
    tokenizer = file_of(tmp_path / "t.json", bpe([("a", "b")], ["a", "b", "ab"], False))
    with job(cancel=lambda: True), pytest.raises(Cancelled):
        prepare_tokenizer(Corpus.from_text("ab " * 100), tokenizer, Run())


# A stretch of a document is cut as the whole is.


def known(item: Item) -> tuple[object, ...]:
    """All of an item but where it stands in a text that was prepared."""
    return (
        (item.text, item.start, item.end, item.unit_spans)
        if isinstance(item, PreToken)
        else (item.name, item.start, item.end)
    )


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("name", [
    "trained/bert/tokenizer.json", "trained/spm-unigram/m.model", "trained/t5/tokenizer.json",
    *large("sqlpilot/tokenizer.json", "spm-test/test_ja_model.model"),
    *large("t5-small/tokenizer.json", "llama2/tokenizer.json", marks=[pytest.mark.soak]),
])
def test_a_stretch_is_cut_as_the_whole_document(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = (TEXT * 3 + "x" * 700 + " Some more words, and\nlines.\r\n") * 3
    pretokens = Pretokens(owners.read(name, tmp_path))
    whole = list(pretokens.of(document))
    for piece in (2 * len(document), 300):  # whole, and piece by piece
        monkeypatch.setattr(pretokens_of_text, "_PIECE", piece)
        words, named = pretokens.count(Corpus.from_text(document))
        assert dict(zip(words.words, words.counts, strict=True)) == Counter(
            one.text for one in whole if isinstance(one, PreToken)
        )
        assert sum(named.values()) == sum(not isinstance(one, PreToken) for one in whole)
    some = random.Random(name)
    for _ in range(12):
        start = some.randrange(len(document))
        end = start + some.randrange(1, 900)
        here = [one for one in whole if one.end > start and one.start < end]
        assert list(map(known, pretokens.overlapping(document, start, end))) == list(map(known, here))


def test_no_step_of_a_file_takes_a_long_text_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other threads wait while it does. An arbitrarily long stretch without a border has to be taken whole.
    pretokens = Pretokens(owners.read("trained/bert/tokenizer.json", tmp_path))
    monkeypatch.setattr(pretokens_of_text, "_PIECE", 2_000)
    cut, sizes, ticks = pretokens.encoder.word_parts, list[int](), list[int]()

    def word_parts(text: str, allow_special: bool = False) -> Iterable[Special | list[str]]:
        sizes.append(len(text))
        return cut(text, allow_special)

    monkeypatch.setattr(pretokens.encoder, "word_parts", word_parts)
    text = TEXT * (100_000 // len(TEXT)) + " [SEP] the end"
    with job(lambda done, total: ticks.append(done)):
        pretokens.count(Corpus.from_text(text))
    assert max(sizes) < 3 * 2_000
    assert len(ticks) > 20
    assert ticks == sorted(ticks)
    sizes.clear()
    pretokens.count(Corpus.from_text("[SEP]" + "x" * 50_000))
    assert max(sizes) == 50_005
