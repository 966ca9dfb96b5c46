"""The explorer without a screen and without a clock: commands, slices of work, snapshots."""

from __future__ import annotations

import time
from typing import Any

import pytest
from sessions import settle, tell
from trainers import best

from tokentui import learn
from tokentui.axes import preset
from tokentui.core.errors import TokentuiError
from tokentui.learn import PairCandidate, start
from tokentui.recipe import Recipe, Run, Stops
from tokentui.session import commands as do
from tokentui.session.engine.state import State
from tokentui.session.training.training import empty_training, prepare
from tokentui.session.views import SPEEDS, VOCABULARY_ORDERS, CorpusPlace, Found, Viewport
from tokentui.text.corpus import Corpus

TEXT = "the cat sat on the mat, the cat ate the rat and the bat " * 3


def explorer(text: str = TEXT, recipe: Recipe | None = None, **run: Any) -> State:
    """An explorer that stands at the start of a corpus."""
    recipe = recipe or Recipe()
    return State(prepare(Corpus.from_text(text, "test"), recipe, Run.of(run)))


def test_moves() -> None:
    it = explorer()
    assert tell(it, do.Move(3)) == [None]
    assert it.snapshot().main.at.step == 3
    tell(it, do.Move(-1))
    assert it.snapshot().main.at.step == 2
    tell(it, do.Move(-100))
    assert it.snapshot().main.at.step == 0
    do.perform(do.Move(1), it, lambda _: None)
    do.perform(do.Move(1), it, lambda _: None)
    settle(it)
    assert it.snapshot().main.at.step == 2, "keys that come before the first is done add up"


def test_the_end_of_a_run_is_its_stop_and_a_named_step_may_lie_beyond() -> None:
    it = explorer(merges=4)
    tell(it, do.GoTo(None))
    snapshot = it.snapshot()
    assert (snapshot.main.at.step, snapshot.main.at.end.step, snapshot.main.why.end) == (4, 4, "merges")
    tell(it, do.GoTo(6))
    assert it.snapshot().main.at.step == 6
    tell(it, do.GoTo(10**6))
    snapshot = it.snapshot()
    assert snapshot.main.why.end == "no pair left"
    assert snapshot.main.why.best is None
    assert snapshot.main.candidates.rows == ()
    assert snapshot.main.candidates.total == 0


def test_every_row_belongs_to_the_step() -> None:
    it = explorer(specials=["<|endoftext|>"])
    tell(it, do.SetInput("the cat"))
    for step in (0, 1, 7, 3, 12, 0):
        tell(it, do.GoTo(step))
        snapshot = it.snapshot()
        other = start(Corpus.from_text(TEXT), Recipe(), Run(specials=("<|endoftext|>",)))
        learn.jump(other, step)
        assert [(row.left, row.right, row.count) for row in pairs(it)] == [
            (c.left, c.right, c.count) for c in best(other, 60)
        ]
        assert snapshot.main.at.tokens == other.tokens_at(other.number)
        assert snapshot.main.at.vocab_size == other.size_at(other.number)
        assert [token.id for token in snapshot.main.encoding.tokens] == list(
            other.tokenizer().encode("the cat").ids
        )
        assert snapshot.main.why.best == (
            snapshot.main.candidates.rows[0] if snapshot.main.candidates.rows else None
        )
        assert sum(row.uses or 0 for row in tell_rows(it)) == snapshot.main.at.tokens


def tell_rows(it: State) -> Any:
    """All vocabulary rows."""
    it.view = Viewport(vocabulary_rows=10_000, vocabulary_folded=False)
    return it.snapshot().main.vocabulary.rows


def pairs(it: State) -> list[PairCandidate]:
    """The candidates."""
    return [row for row in it.snapshot().main.candidates.rows if isinstance(row, PairCandidate)]


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
    tell(
        it, do.SetViewport(Viewport(candidates_top=4, candidates_rows=3, vocabulary_top=2, vocabulary_rows=2,
            vocabulary_folded=False))
    )
    part = it.snapshot()
    assert part.main.candidates.rows == whole.main.candidates.rows[4:7]
    assert part.main.candidates.top == 4
    assert part.main.vocabulary.rows == whole.main.vocabulary.rows[2:4]
    tell(it, do.SetViewport(Viewport(candidates_top=10**6, vocabulary_top=10**6, vocabulary_folded=False)))
    end = it.snapshot()
    page, last = end.main.candidates, whole.main.candidates
    assert page.rows == last.rows[-1:] or page.top == last.total - 1
    assert end.main.vocabulary.top == end.main.at.vocab_size - 1


@pytest.mark.parametrize("order", VOCABULARY_ORDERS)
def test_orders_of_the_vocabulary(order: str) -> None:
    it = explorer(specials=["<s>"])
    tell(it, do.Move(8))
    it.view = Viewport(vocabulary_order=order, vocabulary_rows=1000, vocabulary_folded=False)
    rows = it.snapshot().main.vocabulary.rows
    assert len(rows) == it.snapshot().main.at.vocab_size == 256 + 8 + 1
    assert len({row.id for row in rows}) == len(rows)
    if order == "newest":
        assert [row.made for row in rows[:8]] == [8, 7, 6, 5, 4, 3, 2, 1]
        # What no step made comes behind, the most used first, so that nothing begins with unused bytes.
        units = [row.uses for row in rows[8:] if row.uses is not None]
        assert units == sorted(units, reverse=True)
        assert units[0] > units[-1] == 0
    if order == "id":
        ids = [row.id for row in rows if row.id is not None]
        assert ids == sorted(ids)
    if order == "most used":
        uses = [row.uses for row in rows if row.uses is not None]
        assert uses == sorted(uses, reverse=True)
    if order == "longest":
        assert len(rows[0].piece) == max(len(row.piece) for row in rows if row.kind != "special")


def test_playing_keeps_to_its_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    it = explorer("".join(f"word{n} other{n * 7} " for n in range(300)))
    do.perform(do.Speed(-len(SPEEDS)), it, lambda _: None)
    do.perform(do.Speed(2), it, lambda _: None)
    assert it.sync.speed == 5
    since = 100.0
    with monkeypatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: since)
        do.perform(do.Play(True), it, lambda _: None)
    wait = it.sync.work(since, 60.0)
    assert it.snapshot().main.at.step == 0
    assert wait == pytest.approx(0.1)  # what the step merges is shown in the second half of a pause
    it.sync.work(since + 1.01, 60.0)
    assert it.snapshot().main.at.step == 5
    assert it.snapshot().running
    # The machine was suspended for a minute: the run goes on at its speed, and does not catch up.
    it.sync.work(since + 61.01, 60.0)
    assert it.snapshot().main.at.step == 10
    it.sync.work(since + 61.01 + 1.01, 60.0)
    assert it.snapshot().main.at.step == 15
    do.perform(do.Play(), it, lambda _: None)
    assert not it.sync.has_work
    assert not it.snapshot().running


def test_playing_stops_at_the_end() -> None:
    it = explorer("ab ab")
    do.perform(do.Speed(99), it, lambda _: None)
    assert it.sync.speed is None
    tell(it, do.Play(True))
    assert it.snapshot().main.why.end == "no pair left"
    tell(it, do.Play(True))
    assert not it.snapshot().running


@pytest.mark.parametrize("merges", [None, 9])
def test_a_share_of_a_run_is_taken_from_its_end(merges: int | None) -> None:
    ended, it = explorer(merges=merges), explorer(merges=merges)
    tell(ended, do.GoTo(None))
    last = ended.snapshot().main.at.step
    tell(it, do.GoToShare(50))
    assert (it.snapshot().main.at.step, it.snapshot().main.at.computed) == (last // 2, last)
    tell(it, do.GoToShare(100))
    assert it.snapshot().main.at.step == last
    tell(it, do.GoToShare(0))
    assert it.snapshot().main.at.step == 0


def test_a_step_that_is_asked_for_later_replaces_a_share() -> None:
    it = explorer()
    do.perform(do.GoToShare(50), it, lambda _: None)
    tell(it, do.GoTo(3))
    assert it.snapshot().main.at.step == 3


def test_going_to_a_token() -> None:
    it = explorer()
    assert tell(it, do.GoToToken("·the")) == [it.snapshot().main.at.step]
    step = it.snapshot().main.at.step
    assert it.snapshot().main.at.last is not None
    assert it.snapshot().main.vocabulary.rows[0].piece == b" the" or step < it.main.trainer.computed
    tell(it, do.GoTo(0))
    assert tell(it, do.GoToToken(" the")) == [step]
    assert it.snapshot().main.at.step == step
    assert tell(it, do.GoToToken("t")) == [0]
    assert it.snapshot().main.at.step == 0
    assert tell(it, do.GoToToken("zebra")) == [None]
    assert it.snapshot().main.at.step == 0, "one that never comes leaves you where you were"


def test_find() -> None:
    it = explorer()
    tell(it, do.Move(10))
    (row,) = tell(it, do.Find("vocabulary", "·the", 0))
    it.view = Viewport(vocabulary_top=row.at, vocabulary_folded=False)
    assert b" the" in it.snapshot().main.vocabulary.rows[0].piece
    (pair,) = tell(it, do.Find("pairs", "at", 0, backward=True))
    it.view = Viewport(candidates_top=pair.at)
    assert b"at" in pairs(it)[0].token
    assert tell(it, do.Find("corpus", "mat", CorpusPlace())) == [
        Found(CorpusPlace(0, TEXT.index("mat")), 1, TEXT.count("mat"))
    ]
    assert tell(it, do.Find("pairs", "☃", 0)) == [None]
    assert tell(it, do.Find("vocabulary", "", 0)) == [None]


def test_follow_goes_where_the_last_merge_happened() -> None:
    it = explorer()
    assert tell(it, do.FindChanged(CorpusPlace())) == [None]
    tell(it, do.Move(1))
    (place,) = tell(it, do.FindChanged(CorpusPlace()))
    it.view = Viewport(corpus=place, corpus_before=0)
    part = next(part for part in it.snapshot().main.corpus.parts if part.place == place)
    assert any(span.fresh for span in part.tokens)


def test_nothing_open_shows_nothing_to_merge() -> None:
    it = State(empty_training(Recipe()))
    snapshot = it.snapshot()
    assert snapshot.main.why.end == "no pair left"
    assert snapshot.main.corpus.parts == ()
    with pytest.raises(TokentuiError, match="nothing is open"):
        tell(it, do.Move(3))
    assert tell(it, do.Find("corpus", "a", CorpusPlace())) == [None]
    assert it.snapshot().main.at.step == 0


def test_what_cannot_be_encoded_says_why() -> None:
    it = explorer("ab ab", preset("comp336"))
    tell(it, do.SetInput("abz"))
    encoded = it.snapshot().main.encoding
    assert encoded.tokens == ()
    assert encoded.error is not None
    assert "z" in encoded.error
    assert "\n" not in encoded.error


def test_the_curve_falls_from_the_start_to_the_furthest_step() -> None:
    it = explorer(merges=20)
    tell(it, do.GoTo(None))
    snapshot = it.snapshot()
    assert snapshot.main.curve.points[0] == snapshot.main.at.start_tokens
    assert snapshot.main.curve.points[-1] == snapshot.main.at.tokens
    assert list(snapshot.main.curve.points) == sorted(snapshot.main.curve.points, reverse=True)
    assert len(snapshot.main.curve.points) == it.view.curve_points
    tell(it, do.GoTo(5))
    assert it.snapshot().main.curve.points == snapshot.main.curve.points


def test_installing_another_recipe_walks_to_the_place() -> None:
    it = explorer()
    tell(it, do.Move(7))
    corpus, recipe = it.main.training.corpus, preset("udl-notebook")
    it.install(prepare(corpus, recipe, Run(Stops())), keeps_place=True)
    settle(it)
    assert (it.snapshot().main.at.step, it.snapshot().main.preset) == (7, "udl-notebook")


def test_what_was_noticed_of_a_corpus_is_seen() -> None:
    corpus = Corpus.from_text(b"\xef\xbb\xbfa cat \xff", "c.txt")
    notes = State(prepare(corpus, Recipe(), Run())).snapshot().corpus.notes
    assert any("byte order mark" in note for note in notes)
    assert any("not UTF-8" in note for note in notes)


def test_what_decoding_gives_back_is_seen_beside_what_is_lost() -> None:
    it = explorer("the old woman paused , ! " * 3, preset("bert"))
    tell(it, do.SetInput("the old woman, paused!"))
    seen = it.snapshot().main.encoding
    assert seen.back == "the old woman , paused !"
    assert seen.lost == ("whitespace is added in 2 places: mark=prefix:##",)
    tell(it, do.SetInput("the old woman"))
    assert (it.snapshot().main.encoding.back, it.snapshot().main.encoding.lost) == ("", ())


@pytest.mark.parametrize(("length", "lost"), [(4_000, True), (4_001, False)])
def test_losses_are_looked_for_in_a_text_of_4000_characters(length: int, lost: bool) -> None:
    it = explorer("the old woman paused , ! " * 3, preset("bert"))
    tell(it, do.SetInput(("the old woman, paused! " * length)[:length]))
    assert bool(it.snapshot().main.encoding.lost) == lost


@pytest.mark.parametrize(("changes", "name"), [
    (("1:leave-out",), "without step 1"),
    (("1:leave-out", "2:forbid:o+l"), "without step 1, without o+l"),
    (("1:leave-out", "2:forbid:o+l", "3:forbid:l+d"), "without step 1, without o+l and 1 more"),
])
def test_a_column_is_named_for_its_first_two_what_ifs(changes: tuple[str, ...], name: str) -> None:
    it = explorer("the old woman paused , ! " * 3, preset("gpt2").with_axes(what_if=changes))
    assert it.snapshot().main.name == name


def test_another_corpus_is_shown_from_its_beginning_and_the_same_one_where_it_is() -> None:
    one, other = Corpus.from_lines(["hug pug"]), Corpus.from_lines(["pun bun"])
    state = State(prepare(one, preset("gpt2"), Run()))
    look = Viewport(corpus=CorpusPlace(0, 3), candidates_top=2, vocabulary_top=5)
    for corpus, seen in ((one, look), (other, Viewport())):
        state.view = look
        state.install(prepare(corpus, preset("wordpiece"), Run()))
        assert state.view == seen
