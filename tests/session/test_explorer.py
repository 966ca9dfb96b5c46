"""The explorer without a screen and without a clock: commands, slices of work, snapshots."""

from __future__ import annotations

from typing import Any

import pytest

from tokentui.learn import start
from tokentui.learn.base import Stops
from tokentui.presets import preset
from tokentui.recipe import Recipe
from tokentui.session import commands as do
from tokentui.session.explorer import Explorer, Prepared, Run, nothing
from tokentui.session.snapshot import VOCABULARY_ORDERS, Look, PairRow, Place
from tokentui.text.corpus import Corpus

TEXT = "the cat sat on the mat, the cat ate the rat and the bat " * 3


def explorer(text: str = TEXT, recipe: Recipe | None = None, **run: Any) -> Explorer:
    """An explorer that stands at the start of a corpus."""
    recipe = recipe or Recipe()
    corpus = Corpus.from_text(text, "test")
    asked = Run.of(run)
    trainer = start(corpus, recipe, first_id=asked.first_id, specials=asked.specials)
    return Explorer(Prepared(corpus, recipe, asked, trainer))


def tell(it: Explorer, command: do.Command) -> list[Any]:
    """Give a command, work until there is nothing to do, and return its answers."""
    answers: list[Any] = []
    it.handle(command, answers.append)
    while it.at_work:
        it.work(0.0)
    return answers


def test_moves() -> None:
    it = explorer()
    assert tell(it, do.Move(3)) == [None]
    assert it.snapshot().step == 3
    tell(it, do.Move(-1))
    assert it.snapshot().step == 2
    tell(it, do.Move(-100))
    assert it.snapshot().step == 0
    it.handle(do.Move(1), lambda _: None)
    it.handle(do.Move(1), lambda _: None)
    while it.at_work:
        it.work(0.0)
    assert it.snapshot().step == 2, "keys that come before the first is done add up"


def test_the_end_of_a_run_is_its_stop_and_a_named_step_may_lie_beyond() -> None:
    it = explorer(merges=4)
    tell(it, do.GoTo(None))
    snapshot = it.snapshot()
    assert (snapshot.step, snapshot.target, snapshot.why.end) == (4, 4, "merges")
    tell(it, do.GoTo(6))
    assert it.snapshot().step == 6
    tell(it, do.GoTo(10**6))
    snapshot = it.snapshot()
    assert snapshot.why.end == "no pair left"
    assert snapshot.why.best is None
    assert snapshot.pairs == ()
    assert snapshot.pairs_total == 0


def test_every_row_belongs_to_the_step() -> None:
    it = explorer(specials=["<|endoftext|>"])
    tell(it, do.Type("the cat"))
    for step in (0, 1, 7, 3, 12, 0):
        tell(it, do.GoTo(step))
        snapshot = it.snapshot()
        other = start(Corpus.from_text(TEXT), Recipe(), specials=("<|endoftext|>",))
        other.jump(step)
        assert [(row.left, row.right, row.count) for row in pairs(it)] == [
            (c.left, c.right, c.count) for c in other.candidates(60)
        ]
        assert snapshot.tokens == other.tokens
        assert snapshot.vocab_size == other.vocab_size
        assert [token.id for token in snapshot.encoded.tokens] == list(other.tokenizer().encode("the cat").ids)
        assert snapshot.why.best == (snapshot.pairs[0] if snapshot.pairs else None)
        assert sum(row.uses or 0 for row in tell_rows(it)) == snapshot.tokens


def tell_rows(it: Explorer) -> Any:
    """All vocabulary rows."""
    it.look = Look(vocabulary_rows=10_000)
    return it.snapshot().vocabulary


def pairs(it: Explorer) -> list[PairRow]:
    """The candidates."""
    return [row for row in it.snapshot().pairs if isinstance(row, PairRow)]


def test_changes_say_what_the_last_step_did() -> None:
    it = explorer()
    before = {(row.left, row.right): row.count for row in pairs(it)}
    tell(it, do.Move(1))
    rows = pairs(it)
    assert any(row.new for row in rows)
    assert any(row.change < 0 for row in rows)
    for row in rows:
        if (row.left, row.right) in before:
            assert row.new is False
            assert row.count - row.change == before[row.left, row.right]
    tied = [row for row in rows if row.tied]
    assert tied
    counts = [row.count for row in rows]
    assert all(counts.count(row.count) > 1 for row in tied[:-1])


def test_windows_are_the_rows_asked_for() -> None:
    it = explorer()
    tell(it, do.Move(5))
    whole = it.snapshot()
    tell(it, do.See(Look(pairs_top=4, pairs_rows=3, vocabulary_top=2, vocabulary_rows=2)))
    part = it.snapshot()
    assert part.pairs == whole.pairs[4:7]
    assert part.pairs_top == 4
    assert part.vocabulary == whole.vocabulary[2:4]
    tell(it, do.See(Look(pairs_top=10**6, vocabulary_top=10**6)))
    end = it.snapshot()
    assert end.pairs == whole.pairs[-1:] or end.pairs_top == whole.pairs_total - 1
    assert end.vocabulary_top == end.vocab_size - 1


@pytest.mark.parametrize("order", VOCABULARY_ORDERS)
def test_orders_of_the_vocabulary(order: str) -> None:
    it = explorer(specials=["<s>"])
    tell(it, do.Move(8))
    it.look = Look(vocabulary_order=order, vocabulary_rows=1000)
    rows = it.snapshot().vocabulary
    assert len(rows) == it.snapshot().vocab_size == 256 + 8 + 1
    assert len({row.id for row in rows}) == len(rows)
    if order == "newest":
        assert [row.step for row in rows[:8]] == [8, 7, 6, 5, 4, 3, 2, 1]
    if order == "id":
        ids = [row.id for row in rows if row.id is not None]
        assert ids == sorted(ids)
    if order == "most used":
        uses = [row.uses for row in rows if row.uses is not None]
        assert uses == sorted(uses, reverse=True)
    if order == "longest":
        assert len(rows[0].piece) == max(len(row.piece) for row in rows if row.kind != "special")


def test_playing_keeps_to_its_speed() -> None:
    it = explorer("".join(f"word{n} other{n * 7} " for n in range(300)))
    it.handle(do.Speed(-len(do.SPEEDS)), lambda _: None)
    it.handle(do.Speed(2), lambda _: None)
    assert it.speed == 5
    it.handle(do.Play(True), lambda _: None)
    since = it._played_from[0]
    wait = it.work(since)
    assert it.snapshot().step == 0
    assert wait == pytest.approx(0.2)
    it.work(since + 1.01)
    assert it.snapshot().step == 5
    assert it.snapshot().running
    it.handle(do.Play(), lambda _: None)
    assert not it.at_work
    assert not it.snapshot().running


def test_playing_stops_at_the_end() -> None:
    it = explorer("ab ab")
    it.handle(do.Speed(99), lambda _: None)
    assert it.speed is None
    tell(it, do.Play(True))
    assert it.snapshot().why.end == "no pair left"
    tell(it, do.Play(True))
    assert not it.snapshot().running


def test_going_to_a_token() -> None:
    it = explorer()
    assert tell(it, do.GoToToken("·the")) == [it.snapshot().step]
    step = it.snapshot().step
    assert it.snapshot().last is not None
    assert it.trainer.vocabulary.pieces[-1] == b" the" or step < it.trainer.known
    tell(it, do.GoTo(0))
    assert tell(it, do.GoToToken(" the")) == [step]
    assert it.snapshot().step == step
    assert tell(it, do.GoToToken("t")) == [0]
    assert it.snapshot().step == 0
    assert tell(it, do.GoToToken("zebra")) == [None]
    assert it.snapshot().step == 0, "one that never comes leaves you where you were"


def test_find() -> None:
    it = explorer()
    tell(it, do.Move(10))
    (row,) = tell(it, do.Find("vocabulary", "·the", 0))
    it.look = Look(vocabulary_top=row)
    assert b" the" in it.snapshot().vocabulary[0].piece
    (pair,) = tell(it, do.Find("pairs", "at", 0, backward=True))
    it.look = Look(pairs_top=pair)
    assert b"at" in pairs(it)[0].token
    assert tell(it, do.Find("corpus", "mat", Place())) == [Place(0, TEXT.index("mat"))]
    assert tell(it, do.Find("pairs", "☃", 0)) == [None]
    assert tell(it, do.Find("vocabulary", "", 0)) == [None]


def test_follow_goes_where_the_last_merge_happened() -> None:
    it = explorer()
    assert tell(it, do.Follow(Place())) == [None]
    tell(it, do.Move(1))
    (place,) = tell(it, do.Follow(Place()))
    it.look = Look(corpus=place, corpus_before=0)
    part = next(part for part in it.snapshot().corpus.parts if part.place == place)
    assert any(span.fresh for span in part.tokens)


def test_nothing_open_shows_nothing_to_merge() -> None:
    it = Explorer(nothing(Recipe()))
    snapshot = it.snapshot()
    assert snapshot.why.end == "no pair left"
    assert snapshot.corpus.parts == ()
    assert tell(it, do.Move(3)) == [None]
    assert tell(it, do.Find("corpus", "a", Place())) == [None]
    assert it.snapshot().step == 0


def test_what_cannot_be_encoded_says_why() -> None:
    it = explorer("ab ab", preset("comp336"))
    tell(it, do.Type("abz"))
    encoded = it.snapshot().encoded
    assert encoded.tokens == ()
    assert encoded.error is not None
    assert "z" in encoded.error
    assert "\n" not in encoded.error


def test_the_curve_falls_from_the_start_to_the_furthest_step() -> None:
    it = explorer(merges=20)
    tell(it, do.GoTo(None))
    snapshot = it.snapshot()
    assert snapshot.curve[0] == snapshot.start_tokens
    assert snapshot.curve[-1] == snapshot.tokens
    assert list(snapshot.curve) == sorted(snapshot.curve, reverse=True)
    assert len(snapshot.curve) == it.look.curve_points
    tell(it, do.GoTo(5))
    assert it.snapshot().curve == snapshot.curve


def test_installing_another_recipe_walks_to_the_place() -> None:
    it = explorer()
    tell(it, do.Move(7))
    corpus, recipe = it.prepared.corpus, preset("udl-notebook")
    it.install(Prepared(corpus, recipe, Run(Stops()), start(corpus, recipe)), it.stand)
    while it.at_work:
        it.work(0.0)
    assert (it.snapshot().step, it.snapshot().preset) == (7, "udl-notebook")


def test_what_was_noticed_of_a_corpus_is_seen() -> None:
    corpus = Corpus.from_text(b"\xef\xbb\xbfa cat \xff", "c.txt")
    notes = Explorer(Prepared(corpus, Recipe(), Run(), start(corpus, Recipe()))).snapshot().notes
    assert any("byte order mark" in note for note in notes)
    assert any("not UTF-8" in note for note in notes)


def test_what_decoding_gives_back_is_seen_beside_what_is_lost() -> None:
    it = explorer("the old woman paused , ! " * 3, preset("bert"))
    tell(it, do.Type("the old woman, paused!"))
    seen = it.snapshot().encoded
    assert seen.back == "the old woman , paused !"
    assert seen.lost == ("white space is added in 2 places: mark=prefix:##",)
    tell(it, do.Type("the old woman"))
    assert (it.snapshot().encoded.back, it.snapshot().encoded.lost) == ("", ())
