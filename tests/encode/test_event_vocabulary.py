"""The vocabulary of a training whose steps are events."""

from __future__ import annotations

import pytest

from tokentui.core.errors import TokentuiError
from tokentui.encode.events import Event, EventKind, EventVocabulary
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import NO_ID
from tokentui.recipe import Recipe


def test_a_symbol_can_be_made_again_of_other_parts() -> None:
    """Its id is its first; it has two makings, one of them of three parts."""
    vocabulary = EventVocabulary(Recipe(), [b"e", b"s", b"t"])
    es, est = vocabulary.named(b"es"), vocabulary.named(b"est")
    vocabulary.step([Event(EventKind.MERGE, est, (0, 1, 2))])
    vocabulary.step([Event(EventKind.MERGE, es, (0, 1)), Event(EventKind.REMOVE, est)])
    vocabulary.step([Event(EventKind.MERGE, est, (es, 2)), Event(EventKind.SPLIT, es, (0, 1))])
    there = [[one for one in (es, est) if vocabulary.is_present(one, number)] for number in range(4)]
    assert there == [[], [est], [es], [est]]
    assert vocabulary.sizes == [3, 4, 4, 4]
    assert (vocabulary.id_of(est, 3), vocabulary.id_of(es, 3)) == (3, 4)
    assert [one.parts for one in vocabulary.events if one.symbol == est] == [(0, 1, 2), (), (es, 2)]
    assert (vocabulary.parts(est), vocabulary.made_at(est), vocabulary.made_at(es)) == ((0, 1, 2), 1, 2)
    assert list(vocabulary.makings(3)) == [(est, (0, 1, 2)), (est, (es, 2))]
    assert Tokenizer(vocabulary, 2).token_to_id(b"est") is None
    assert Tokenizer(vocabulary, 3).token_to_id(b"est") == 3


def test_a_symbol_that_was_never_a_token_has_no_id() -> None:
    vocabulary = EventVocabulary(Recipe(), [b"e", b"s", b"t"])
    never, es = vocabulary.named(b"never"), vocabulary.named(b"es")
    vocabulary.step([Event(EventKind.REMOVE, never), Event(EventKind.MERGE, es, (0, 1))])
    assert (vocabulary.id_of(never, 1), vocabulary.id_of(es, 1)) == (NO_ID, 3)


def test_a_vocabulary_of_events_refuses_unsupported_operations() -> None:
    with pytest.raises(TokentuiError, match="base=frequency"):
        EventVocabulary(Recipe(base="frequency"), [b"e", b"s", b"t"])
