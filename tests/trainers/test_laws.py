"""The laws of a trainer, on one whose steps choose among several corpora.

Its worked examples are those of the paper's description; each was checked there against the reference
code.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parity import parity
from plain_words import EventTrainer, counted

from tokentui.core.errors import TokentuiError
from tokentui.encode.events import LEAVING, MAKING, Event, EventVocabulary, Kind
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import NO_ID
from tokentui.learn.objectives import Material, Part
from tokentui.learn.rows import Query
from tokentui.learn.trainer import Made, Size, Tokens
from tokentui.learn.values import Stop, Word
from tokentui.recipe import Recipe, Stops, WhatIf

WORDS = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
GERMAN = {"tief": 2, "tiefer": 2, "neueste": 3, "weiteste": 2}
DEVELOPMENT = [{"low": 1, "newest": 1, "lower": 1}, {"tief": 1, "neueste": 1, "tiefer": 1}]


def languages(english: dict[str, int], german: dict[str, int]) -> Material:
    """The material of two languages, each with the text that it is judged by."""
    names = zip(("english", "german"), (english, german), DEVELOPMENT, strict=True)
    parts = tuple(Part(name, counted(words), counted(judged)) for name, words, judged in names)
    return Material(parts, Recipe(tie="largest-pair"))


LANGUAGES = languages(WORDS, GERMAN)
SHARED = languages(WORDS, {**GERMAN, "low": 4, "newest": 1})
TRAINERS: dict[str, Callable[[], EventTrainer]] = {
    "parity": lambda: parity(LANGUAGES),
    "parity after three": lambda: parity(LANGUAGES, 3),
    "parity with shared words": lambda: parity(SHARED),
}
EXAMPLES = {
    "parity": "te ste ti st est tie ow tief low",
}
NONE = Stops()


def made(trainer: EventTrainer, number: int) -> str:
    """What a step made first."""
    return trainer.pieces[trainer.step_at(number).events[0].symbol].decode()


def digest(trainer: EventTrainer) -> object:
    """All that can be asked at a step."""
    words = [word for names in trainer.engine.corpus.names for word in names]
    return (
        trainer.number, trainer.tokens_at(trainer.number), trainer.engine.corpus.tokens(),
        trainer.size_at(trainer.number), trainer.candidates(Query(rows=50)),
        [trainer.segment(Word(word)) for word in words], trainer.changed(), trainer.engine.method.size,
        [trainer.life(word) for word in words],
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_steps_of_the_examples(name: str) -> None:
    trainer = TRAINERS[name]()
    wanted = EXAMPLES[name].split()
    trainer.advance(len(wanted), NONE, math.inf)
    assert [made(trainer, number) for number in range(1, trainer.number + 1)] == wanted


def test_a_language_is_chosen_at_each_step() -> None:
    trainer = TRAINERS["parity"]()
    trainer.advance(9, NONE, math.inf)
    assert [trainer.step_at(number).part for number in range(1, 10)] == [1, 1, 1, 0, 0, 1, 0, 1, 0]
    assert trainer.step_at(9).lengths[2:] == (8, 9)


@pytest.mark.parametrize("name", TRAINERS)
@settings(max_examples=4)
@given(walk=st.lists(st.integers(0, 9), max_size=3))
def test_a_step_is_the_same_however_one_comes_to_it(name: str, walk: list[int]) -> None:
    """Forward, back and forward again: everything that can be asked is what a training straight to that step
    gives."""
    trainer = TRAINERS[name]()
    for number in walk:
        ended = trainer.advance(number, NONE, math.inf)
        straight = TRAINERS[name]()
        assert straight.advance(number, NONE, math.inf) == ended
        assert digest(trainer) == digest(straight)


@pytest.mark.parametrize("name", TRAINERS)
def test_a_step_takes_the_first_candidate(name: str) -> None:
    trainer = TRAINERS[name]()
    while (page := trainer.candidates(Query(rows=1))).rows:
        before = trainer.number
        trainer.advance(before + 1, NONE, math.inf)
        assert made(trainer, trainer.number).encode() == page.rows[0].token
        assert trainer.taken(trainer.number).worth == page.rows[0].worth
        if trainer.number == 20:
            break
    else:
        assert trainer.advance(None, NONE, math.inf) is Stop.NO_PAIR


@pytest.mark.parametrize("name", TRAINERS)
def test_words_are_cut_as_the_corpus_is(name: str) -> None:
    """The events alone, applied to a word, give what the engine has; what changed is told."""
    trainer = TRAINERS[name]()
    for number in range(1, 13):
        if trainer.advance(number, NONE, math.inf) is not Stop.MERGES:
            break
        for word, symbols in zip(trainer.engine.corpus.names[0], trainer.engine.corpus.words[0], strict=True):
            assert [span.symbol for span in trainer.segment(Word(word))] == symbols
            lives = trainer.life(word)
            pieces = trainer.pieces
            assert lives[-1].pieces == tuple(pieces[symbol] for symbol in symbols)
            assert (lives[-1].number == number) == (
                trainer.words.words.index(word) in trainer.changed().words
            )


@pytest.mark.parametrize("name", TRAINERS)
def test_the_vocabulary_is_read_at_a_number(name: str) -> None:
    """What is there at a step follows from the events up to it; what words hold is there, and has one id."""
    trainer = TRAINERS[name]()
    vocabulary = trainer.engine.vocabulary
    for number in range(13):
        if trainer.advance(number, NONE, math.inf) is not Stop.MERGES:
            break
        there = set(range(vocabulary.base_size))
        for event in vocabulary.events:
            if event.kind in (*MAKING, *LEAVING):
                (there.add if event.kind in MAKING else there.discard)(event.symbol)
        held = {symbol for word in trainer.engine.corpus.words[0] for symbol in word}
        assert held <= there
        tokenizer = Tokenizer(vocabulary, number)
        assert len(tokenizer) == len(there) == vocabulary.sizes[number]
        assert trainer.size_at(number) - len(there) == trainer.size_at(0) - vocabulary.base_size
        assert [entry.piece for entry in tokenizer.entries()] == [
            vocabulary.pieces[symbol] for symbol in sorted(there, key=vocabulary.order.__getitem__)
        ]
        ids = vocabulary.ids(number)
        for word in trainer.engine.corpus.words[0]:
            spelled = b"".join(vocabulary.pieces[symbol] for symbol in word)
            assert tokenizer.decode_bytes([ids[symbol] for symbol in word]) == spelled
        corpus = trainer.engine.corpus
        for text, word in zip(corpus.names[0], corpus.words[0], strict=True):
            assert [token.symbol for token in tokenizer.encoder.word(text)] == word
            assert tokenizer.decode_bytes(tokenizer.encode_ids(text)) == text.encode()
    kept = vocabulary.copy(trainer.number)  # what no event has made is named anew
    size = len(kept.pieces)
    assert (kept.pieces, kept.order, kept.sizes, kept.events) == (
        vocabulary.pieces[:size], vocabulary.order[:size], vocabulary.sizes, vocabulary.events
    )
    assert set(vocabulary.order[size:]) <= {NO_ID}


def test_a_symbol_comes_back_of_other_parts() -> None:
    """Its id is its first; it has two makings, one of them of three parts."""
    vocabulary = EventVocabulary(Recipe(), [b"e", b"s", b"t"])
    es, est = vocabulary.named(b"es"), vocabulary.named(b"est")
    vocabulary.step([Event(Kind.MERGE, est, (0, 1, 2))])
    vocabulary.step([Event(Kind.MERGE, es, (0, 1)), Event(Kind.REMOVE, est)])
    vocabulary.step([Event(Kind.MERGE, est, (es, 2)), Event(Kind.SPLIT, es, (0, 1))])
    there = [[one for one in (es, est) if vocabulary.is_there(one, number)] for number in range(4)]
    assert there == [[], [est], [es], [est]]
    assert vocabulary.sizes == [3, 4, 4, 4]
    assert (vocabulary.id_of(est, 3), vocabulary.id_of(es, 3)) == (3, 4)
    assert [one.parts for one in vocabulary.events if one.symbol == est] == [(0, 1, 2), (), (es, 2)]
    assert (vocabulary.parts(est), vocabulary.made_at(est), vocabulary.made_at(es)) == ((0, 1, 2), 1, 2)
    assert list(vocabulary.makings(3)) == [(est, (0, 1, 2)), (est, (es, 2))]
    assert Tokenizer(vocabulary, 2).token_to_id(b"est") is None
    assert Tokenizer(vocabulary, 3).token_to_id(b"est") == 3


def test_a_symbol_that_was_never_there_takes_no_id() -> None:
    vocabulary = EventVocabulary(Recipe(), [b"e", b"s", b"t"])
    never, es = vocabulary.named(b"never"), vocabulary.named(b"es")
    vocabulary.step([Event(Kind.REMOVE, never), Event(Kind.MERGE, es, (0, 1))])
    assert (vocabulary.id_of(never, 1), vocabulary.id_of(es, 1)) == (NO_ID, 3)


def test_a_vocabulary_of_events_says_what_it_cannot() -> None:
    with pytest.raises(TokentuiError, match="base=frequency"):
        EventVocabulary(Recipe(base="frequency"), [b"e", b"s", b"t"])


@pytest.mark.parametrize("name", TRAINERS)
def test_goals_are_found_among_the_steps(name: str) -> None:
    trainer = TRAINERS[name]()
    trainer.advance(8, NONE, math.inf)
    last = trainer.number
    for number in range(1, last + 1):
        found = trainer.find(Size(trainer.size_at(number)))
        assert found is not None
        assert found <= number
        shorter = trainer.find(Tokens(trainer.tokens_at(number)))
        assert shorter is not None
        assert trainer.tokens_at(shorter) <= trainer.tokens_at(number)
        assert trainer.find(Made(frozenset({made(trainer, number).encode()}))) is not None
    assert trainer.find(Size(10**6)) is None
    assert trainer.find(Made(frozenset({b"never"}))) is None


@pytest.mark.parametrize("name", TRAINERS)
def test_a_fork_under_what_ifs_is_a_training_under_them(name: str) -> None:
    """The first half is shared; what comes after is what a training from the start gives that is told the
    same."""
    trainer = TRAINERS[name]()
    trainer.advance(2, NONE, math.inf)
    best = trainer.candidates(Query(rows=1)).rows[0]
    before = copy.deepcopy(digest(trainer))
    change = WhatIf(3, "forbid", best.parts)
    fork = trainer.fork(2, (change,))
    fresh = TRAINERS[name]()
    fresh.what_if = (change,)
    assert fork.advance(5, NONE, math.inf) == fresh.advance(5, NONE, math.inf)
    assert digest(fork) == digest(fresh)
    assert best.token not in {made(fork, number).encode() for number in range(3, fork.number + 1)}
    assert digest(trainer) == before
