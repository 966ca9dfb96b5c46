"""The first step at which two trainings decide differently."""

from __future__ import annotations

import pytest
from trainers import merge_steps

from tokentui import learn
from tokentui.analyze.compare import check_columns, compare_on
from tokentui.analyze.divergence import Divergence, first_divergences
from tokentui.analyze.metrics import rows_of, tally
from tokentui.analyze.results import DivergenceSide
from tokentui.axes import preset
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import job
from tokentui.learn import MergeStep, PairCandidate, PieceCandidate, Trainer, start
from tokentui.recipe import Recipe, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

HUGS = Corpus.from_counts([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)])


def training(corpus: Corpus, recipe: str | Recipe) -> Trainer:
    return start(corpus, preset(recipe) if isinstance(recipe, str) else recipe)


def first_divergence(a: Trainer, b: Trainer, limit: int | None = None, rows: int = 10) -> Divergence | None:
    """The first step that differs by the meaning of merges."""
    return first_divergences(a, b, limit, rows=rows)[0]


def pairs(side: DivergenceSide) -> list[tuple[bytes, bytes, int]]:
    """The candidates of a side, best first."""
    return [
        (one.left, one.right, one.count) for one in side.candidates.rows if isinstance(one, PairCandidate)
    ]


def test_ties_of_two_libraries() -> None:
    corpus = Corpus.from_text("zy zy ab ab mn mn q")
    found = first_divergence(training(corpus, "hf-bpe"), training(corpus, "subword-nmt"))
    assert found is not None
    assert found.step == 1
    assert pairs(found.a) == [(b"a", b"b", 2), (b"m", b"n", 2), (b"z", b"y", 2)]
    assert pairs(found.b) == [(b"z", b"y</w>", 2), (b"m", b"n</w>", 2), (b"a", b"b</w>", 2)]
    assert [(one.why.tied, one.why.tie_rule) for one in (found.a, found.b)] == [
        (3, "lowest-ids"), (3, "largest-pair"),
    ]


def test_the_second_step_of_the_textbook_is_a_tie() -> None:
    corpus = Corpus.from_text("aaabdaaabac")
    first, largest, smallest = (
        training(corpus, preset("comp336-no-pretokenization", tie=tie))
        for tie in ("first-seen", "largest-pair", "smallest-pair")
    )
    assert first_divergence(first, largest, 3) is None
    found = first_divergence(first, smallest)
    assert found is not None
    assert found.step == 2
    assert (pairs(found.a)[0], pairs(found.b)[0]) == ((b"aa", b"a", 2), (b"a", b"b", 2))
    assert found.a.tokens == found.b.tokens == 9


def test_wordpiece_by_score_against_wordpiece_by_count() -> None:
    by_score = preset("wordpiece", split="none")
    found = first_divergence(training(HUGS, by_score), training(HUGS, preset("bert", split="none")))
    assert found is not None
    assert found.step == 1
    assert pairs(found.a)[0] == (b"##g", b"##s", 5)
    assert [one.score for one in found.a.candidates.rows[:1] if isinstance(one, PairCandidate)] == [0.05]
    assert pairs(found.b)[0] == (b"##u", b"##g", 20)


def test_patterns_part_on_numbers() -> None:
    corpus = Corpus.from_text("12345 12345 12345 x = f(12345)")
    found = first_divergence(training(corpus, "gpt2"), training(corpus, "gpt4"))
    assert found is not None
    assert found.a.step is not None
    assert found.a.step != found.b.step


def test_an_objective_parts_at_once_and_shows_its_own_candidates() -> None:
    corpus = read("sample:sailor")
    found = first_divergence(training(corpus, "sentencepiece-unigram"), training(corpus, "sentencepiece-bpe"))
    assert found is not None
    assert found.step == 1
    assert all(isinstance(one, PieceCandidate) for one in found.a.candidates.rows)
    assert all(isinstance(one, PairCandidate) for one in found.b.candidates.rows)
    assert found.a.candidates.rows


def test_a_byte_that_stands_for_a_pair_is_that_pair() -> None:
    corpus = Corpus.from_text("ababab cabab abc")
    gage, plain = training(corpus, "gage"), training(corpus, "minbpe-basic")
    assert [bytes(step.left + step.right) for step in _steps_of(gage, 2)] == [b"ab", b"AA"]
    assert [bytes(step.left + step.right) for step in _steps_of(plain, 2)] == [b"ab", b"abab"]
    assert first_divergence(gage, plain, 2) is None


def test_equal_trainings_do_not_part() -> None:
    corpus = read("sample:sailor")
    a, b = training(corpus, "gpt2"), training(corpus, "gpt2")
    assert first_divergence(a, b) is None
    assert a.computed == b.computed > 10
    assert (a.number, b.number) == (0, 0)


def test_an_end_is_a_difference_and_the_limit_is_kept() -> None:
    one, two = (training(Corpus.from_text(text), "hf-bpe") for text in ("ab", "ab abc"))
    found = first_divergence(one, two)
    assert found is not None
    assert (found.step, found.a.step, found.a.why.end, found.a.candidates.rows) == (
        2, None, "no pair left", (),
    )
    assert pairs(found.b) == [(b"ab", b"c", 1)]
    assert first_divergence(one, two, 1) is None
    assert first_divergence(one, two, 0) is None


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_the_trainings_stay_where_they_stand(rows: int) -> None:
    corpus = read("sample:hugs")
    a, b = training(corpus, "hf-bpe"), training(corpus, preset("hf-bpe", tie="first-seen"))
    learn.jump(a, 4)
    learn.jump(b, 2)
    before = a.tokens_at(a.number), b.tokens_at(b.number)
    found = first_divergence(a, b, rows=rows)
    assert found is not None
    assert (a.number, b.number) == (4, 2)
    assert (a.tokens_at(a.number), b.tokens_at(b.number)) == before
    assert max(len(found.a.candidates.rows), len(found.b.candidates.rows)) <= rows
    plain = zip(
        _steps(training(corpus, "hf-bpe")), _steps(training(corpus, preset("hf-bpe", tie="first-seen"))),
        strict=True,
    )
    assert found.step == next(n for n, (left, right) in enumerate(plain, 1) if left != right)


def _steps_of(trainer: Trainer, count: int) -> list[MergeStep]:
    learn.jump(trainer, count)
    return merge_steps(trainer)


def _steps(trainer: Trainer) -> list[tuple[bytes, bytes]]:
    learn.run(trainer, Stops())
    return [(step.left, step.right) for step in merge_steps(trainer)]


def test_searching_is_cancelled_and_tells_how_far_it_is() -> None:
    corpus = read("sample:english")
    a, b = training(corpus, "gpt2"), training(corpus, "gpt2")
    with job(cancel=lambda: True), pytest.raises(Cancelled):
        first_divergence(a, b)
    seen: list[tuple[int, int]] = []
    with job(lambda *now: seen.append(now)):
        first_divergence(a, b, 40)
    assert (40, 40) in seen or seen[-1][0] < 40
    assert all(total in (40, 0) or done <= total for done, total in seen)


def test_a_tokenizer_that_cannot_read_the_corpus_leaves_the_others_agreeing() -> None:
    corpus = read("sample:sailor")
    good = [training(corpus, name).tokenizer() for name in ("gpt2", "bert")]
    refusing = training(Corpus.from_text("a"), "udl-notebook").tokenizer()
    with pytest.raises(TokentuiError, match="is not in the vocabulary"):
        tally(refusing, corpus)
    assert [(pair.a, pair.b) for pair in compare_on([(0, good[0]), (1, refusing), (3, good[1])], corpus)] == [
        (0, 3)
    ]
    rows = rows_of([tally(good[0], corpus), None, tally(good[1], corpus)])
    assert all([figure is None for figure in row.figures] == [False, True, False] for row in rows)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_there_are_two_to_four_columns(count: int) -> None:
    with pytest.raises(TokentuiError, match=f"two to four tokenizers are needed, not {count}"):
        check_columns(count)
