"""What is found beside the columns is what counting from scratch gives, and what the command line prints."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from comparisons import Bench, Run
from hypothesis import given, settings
from hypothesis import strategies as st
from running_cli import done
from trainers import trainer_class

from tokentui import learn
from tokentui.analyze.compare import PAIR_MEASURES, cuts
from tokentui.analyze.divergence import evenly, first_divergences
from tokentui.axes import preset
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn import start
from tokentui.recipe import Recipe, Stops
from tokentui.recipe import Run as RunOf
from tokentui.session import commands as do
from tokentui.session.commands import (
    FindDivergence,
    GoToDivergence,
    MeasureUnder,
    RemoveColumn,
    SetViewport,
    ShowPassage,
)
from tokentui.session.compare import jobs as findings
from tokentui.session.engine.jobs import BackgroundQuery
from tokentui.session.snapshot import Curve, SharedTokens, Snapshot
from tokentui.session.training.passages import next_disagreement, text_of
from tokentui.session.views import BETWEEN, Busy, ColumnWanted, Passage, TokenList, Viewport
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

PLAIN = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")
TIES = ("first-seen", "largest-pair", "smallest-pair", "lowest-ids")
texts = st.lists(st.text(alphabet="abc", min_size=1, max_size=7), min_size=1, max_size=9).map(" ".join)


def curve(seen: Snapshot, key: int, held_out: bool = False) -> Curve:
    assert seen.between.curves is not None
    (found,) = [one for one in seen.between.curves.series if (one.key, one.held_out) == (key, held_out)]
    return found


@pytest.mark.slow
@settings(max_examples=30)
@given(texts, st.sampled_from(TIES), st.sampled_from(TIES), st.sampled_from([None, 1, 3]))
def test_columns_part_where_naive_runs_do(text: str, a: str, b: str, merges: int | None) -> None:
    corpus = Corpus.from_text(text)
    first, second = PLAIN.with_axes(tie=a), PLAIN.with_axes(tie=b)
    run, other = Run(corpus, first), Run(corpus, second)
    stop = RunOf.of({"merges": merges})
    bench = Bench(corpus, ColumnWanted(first), ColumnWanted(second, stop))
    (found,) = bench.find().between.divergences
    ours, theirs = run.chosen, other.chosen if merges is None else other.chosen[:merges]
    expected = next(
        (n for n, (x, y) in enumerate(zip(ours, theirs, strict=False), 1) if x[:2] != y[:2]), None
    )
    if expected is None and len(ours) != len(theirs):
        expected = min(len(ours), len(theirs)) + 1
    assert found.done
    assert found.step == expected
    assert found.looked == (min(len(ours), len(theirs)) if expected is None else expected - 1)
    for side, chosen, naive in zip(found.sides, (ours, theirs), (run, other), strict=False):
        at = found.looked
        assert side.tokens == naive.tokens[at]
        assert (side.why.best is None) == (at >= len(chosen)) == (side.why.end is not None)
        if side.why.best is not None:
            assert (*side.why.best.parts, side.why.best.places) == chosen[at]
    assert bench.do(GoToDivergence(2, 1)) == expected
    if expected is not None:
        assert bench.seen.position.value == expected - 1


def test_the_way_to_a_parting_is_found_before_one_goes() -> None:
    bench = Bench(read("sample:english"), preset("wordpiece"), preset("bert"), preset("bert"))
    answers: list[Any] = []
    bench.do(do.GoTo(20))
    do.perform(GoToDivergence(1, 2), bench.state, answers.append)
    do.perform(GoToDivergence(2, 3), bench.state, answers.append)
    assert answers == []
    (job, *rest) = [job for job in bench.state.results.wanted(bench.state.view) if job.key[0] == "divergence"]
    for cancelled in rest:
        bench.state.results.leave(cancelled.key, cancelled.signature)
    (stopped,) = answers
    assert isinstance(stopped, Cancelled)
    bench.state.results.deliver(job, bench.work(job))
    bench.settle()
    assert answers == [stopped, 1]
    assert bench.seen.position.value == 0
    assert list(bench.state.results.wanted(bench.state.view)) == [], (
        "what was given up is not looked for again"
    )
    bench.do(FindDivergence(2, 3))
    same = bench.find().between.divergences[2]
    assert (same.a, same.b, same.step, same.done) == (2, 3, None, True)


def tokens_of(tokenizer: Tokenizer, corpus: Corpus) -> tuple[int, int]:
    """The tokens of a corpus, and how many ids are among them."""
    found = [one for text in corpus.documents for one in tokenizer.encode(text).ids]
    return len(found), len({one for one in found if one is not None})


HELD = Corpus.from_lines(["the newest lowest widen", "lo wi newer", "The ne quiz, low"], "held out")
OWN = Corpus.from_lines(
    ["low low lower lowest newer newest wide wider widest", "the then there The other"] * 3
)


@pytest.mark.first_run(cases=4)
@pytest.mark.parametrize(
    "recipe",
    [
        PLAIN,
        preset("gpt2"),
        preset("bert"),
        preset("wordpiece"),
        preset("subword-nmt"),
        preset("swift-talk-distinct", unknown="per-unit"),
        preset("llama2"),
        preset("udl-notebook", unknown="rest-of-word"),
        preset("sentencepiece-unigram", normalize=()),
        preset("gage", unknown="never"),
    ],
    ids=lambda recipe: f"{recipe.objective}-{recipe.split}-{recipe.encode}-{recipe.unknown}",
)
def test_curves_are_those_of_each_tokenizer_on_the_way(recipe: Recipe) -> None:
    unigram = recipe.objective == "unigram"
    run = RunOf.of({"vocab_size": 40} if unigram else {"merges": 25})
    specials = (
        ("[UNK]",)
        if recipe.unknown in ("whole-word", "rest-of-word", "per-unit", "fused", "byte-fallback")
        else ()
    )
    bench = Bench(OWN, ColumnWanted(recipe, run.with_words(specials=specials)), PLAIN, wants=("curves",))
    bench.state.results.set_held_out(HELD)
    bench.do(do.GoTo(None))
    seen = bench.find()
    trainer = start(OWN, recipe, RunOf(specials=specials))
    learn.run(trainer, Stops(vocab_size=40 if unigram else None, merges=None if unigram else 25))
    for held_out, corpus in ((False, OWN), (True, HELD)):
        found = curve(seen, 1, held_out)
        if held_out and recipe.unknown == "error":
            assert "not in the vocabulary" in found.error
            assert found.steps == ()
            continue
        assert found.error == ""
        assert found.steps[0] == 0
        assert found.steps[-1] == trainer.computed
        for n, step in enumerate(found.steps):
            learn.jump(trainer, step)
            tokens, used = tokens_of(trainer.tokenizer(), corpus)
            if recipe.objective == "gage" and not held_out:
                tokens = trainer.tokens_at(trainer.number)
            assert found.tokens[n] == tokens, f"step {step}"
            assert found.bytes_per_token[n] == corpus.size / tokens
            if found.in_use and recipe.objective != "gage":
                assert found.in_use[n] == pytest.approx(used / trainer.size_at(trainer.number))
        assert found.in_use or (held_out and recipe.unknown == "byte-fallback")


def test_a_curve_grows_with_what_is_known_and_is_drawn_before_it_is_found() -> None:
    bench = Bench(OWN, PLAIN, preset("gpt2"), wants=("curves",))
    bench.do(do.GoTo(6))
    early = curve(bench.seen, 1)
    assert (early.steps, early.in_use) == (tuple(evenly(6, 200)), ())
    assert len(curve(bench.find(), 1).in_use) == 7
    bench.do(do.GoTo(9))
    assert curve(bench.find(), 1).steps[-1] == 9
    assert bench.seen.between.curves is not None
    assert bench.seen.between.curves.marks == ((1, 9), (2, 9))


@pytest.mark.parametrize("points", [2, 5, 200])
def test_curves_end_where_their_columns_do_and_are_exact_where_these_stand(points: int) -> None:
    stopped = ColumnWanted(PLAIN, RunOf.of({"merges": 7}))
    bench = Bench(OWN, stopped, PLAIN, wants=("curves",))
    bench.do(SetViewport(dataclasses.replace(bench.state.view, curve_points=points)))
    first = bench.state.sync.columns[0].trainer
    for step in (15, first.number):
        first.advance(step, Stops())
    assert first.computed == 15, "steps beyond the stop are known"
    for step in (0, 3, 7, 12):
        bench.do(do.GoTo(step))
        for seen in (bench.seen, bench.find()):
            curves = seen.between.curves
            assert curves is not None
            assert curve(seen, 1).steps[-1] <= 7, "the column stops there"
            assert curves.end == max(one.steps[-1] for one in curves.series)
            for column, (key, mark) in zip(bench.state.sync.columns, curves.marks, strict=True):
                drawn = curve(seen, key)
                assert mark in drawn.steps
                assert drawn.tokens[drawn.steps.index(mark)] == column.trainer.tokens_at(mark)


def test_the_uses_are_copied_only_when_a_job_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(OWN, PLAIN, preset("gpt2"), wants=("curves", "vocabularies"))
    bench.do(do.GoTo(6))
    bench.find()
    bench.do(do.GoTo(9))
    kind = trainer_class("gpt2")
    copied, real = list[int](), kind.uses

    def uses(trainer: Any) -> Any:
        copied.append(trainer.number)
        return real.fget(trainer)

    monkeypatch.setattr(kind, "uses", property(uses))
    jobs = [job for job in bench.state.results.wanted(bench.state.view) if job.key[0] != "divergence"]
    assert {job.key[0] for job in jobs} == {"curve", "vocabulary"}
    assert not copied
    assert len(curve(bench.find(), 1).in_use) == 10
    assert len(copied) == 4  # of two columns, for the curve and for the vocabularies
    list(bench.state.results.wanted(bench.state.view))
    assert len(copied) == 4


def values(rows: Any) -> list[tuple[str, dict[str, str], list[Any]]]:
    return [
        (row.measure.name, dict(row.conventions), [one and one.value for one in row.figures]) for row in rows
    ]


@pytest.mark.slow
def test_measures_are_those_of_the_command_line(tmp_path: Path) -> None:
    out, corpus = str(tmp_path / "tokenizer.json"), tmp_path / "some.txt"
    corpus.write_text(read("sample:english").documents[0][:2_500])
    done("train", str(corpus), "-r", "udl-notebook", "--merges", "30", "-o", out, "-q")
    words = ["-t", out, "-r", "gpt2", "-r", "bert", "--merges", "40", str(corpus)]
    printed = json.loads(done("compare", *words, "--json", "--words", "words", "--alpha", "2"))
    run = RunOf.of({"merges": 40})
    bench = Bench(
        read(str(corpus)), ColumnWanted(path=out), ColumnWanted(preset("gpt2"), run),
        ColumnWanted(preset("bert"), run),
        wants=BETWEEN,
    )
    bench.do(MeasureUnder("words", 2.0))
    bench.do(do.GoTo(None))
    seen = bench.find()
    assert seen.between.failed == ()
    assert seen.between.measured is not None
    assert seen.between.measured.at == seen.position
    assert values(seen.between.measured.rows) == [
        (row["name"], row["conventions"], row["values"]) for row in printed["measures"]
    ]
    assert seen.between.agreed is not None
    agreements = [one.agreement for one in seen.between.agreed.pairs]
    assert [[measure.of(one) for measure in PAIR_MEASURES] for one in agreements] == [
        [row[measure.name] for measure in PAIR_MEASURES] for row in printed["agreement"]
    ]
    assert [
        [(part.text, part.count) for part in one.partings] for one in seen.between.agreed.pairs
    ] == [[(part["text"], part["count"]) for part in row["partings"]] for row in printed["agreement"]]
    exact = [row for row in printed["vocabulary"] if row["by"] == "exact"]
    bare = [row for row in printed["vocabulary"] if row["by"] == "bare"]
    for n, rows in enumerate((exact, bare)):
        found = [one.overlaps[n] for one in seen.between.overlaps]
        assert [(*map(len, one), one.jaccard) for one in found] == [
            (row["common"], row["only_a"], row["only_b"], row["jaccard"]) for row in rows
        ]
    steps = {(row["a"], row["b"]): row["step"] for row in printed["first_difference"]}
    assert seen.between.divergences[2].step == steps["B", "C"]


def test_columns_part_by_the_meaning_of_merges_or_as_they_are_spelled() -> None:
    corpus, recipes = read("sample:english"), (preset("gpt2"), preset("sentencepiece-bpe"))
    parted = first_divergences(start(corpus, recipes[0]), start(corpus, recipes[1]))
    meant, spelled = (one.step if one else None for one in parted)
    assert spelled == 1
    assert meant is not None
    assert meant > 1
    bench = Bench(corpus, *recipes)
    (found,) = bench.find().between.divergences
    assert (found.step, found.literal, found.other, found.looked) == (meant, False, spelled, meant - 1)
    assert all(side.why.best for side in found.sides)
    assert bench.do(GoToDivergence(1, 2)) == meant
    assert bench.seen.position.value == meant - 1
    bench.do(SetViewport(dataclasses.replace(bench.state.view, literal=True)))
    (found,) = bench.find().between.divergences
    assert (found.step, found.literal, found.other) == (spelled, True, meant)
    assert [side.why.best.token for side in found.sides if side.why.best] == [b" t", "▁t".encode()]
    assert bench.do(GoToDivergence(1, 2)) == spelled


def test_a_measure_says_where_it_belongs_until_it_is_found_again() -> None:
    bench = Bench(OWN, PLAIN, preset("gpt2"), wants=("measures", "agreement"))
    first = bench.find().between.measured
    bench.do(do.Move(3))
    stale = bench.seen.between.measured
    assert first is not None
    assert stale is not None
    assert (stale.at.value, bench.seen.position.value) == (0, 3)
    fresh = bench.find().between.measured
    assert fresh is not None
    assert fresh.at.value == 3
    bench.do(MeasureUnder("space"))
    assert bench.find().between.measured != fresh


def counts(seen: Snapshot) -> SharedTokens:
    (found,) = seen.between.overlaps
    return found


def test_vocabularies_in_lists_that_can_be_searched() -> None:
    marked = PLAIN.with_axes(mark="end-suffix:</w>")
    run, other = Run(OWN, PLAIN), Run(OWN, marked)
    first, second = (
        ColumnWanted(PLAIN, RunOf.of({"merges": 12})), ColumnWanted(marked, RunOf.of({"merges": 20})),
    )
    bench = Bench(OWN, first, second, wants=("vocabularies",))
    bench.do(do.GoTo(12))
    ours, theirs, whole = set(run.vocabularies[12]), set(other.vocabularies[12]), set(other.vocabularies[20])
    found = counts(bench.find())
    assert tuple(map(len, found.overlaps[0])) == (
        len(ours & theirs), len(ours - theirs), len(theirs - ours),
    )
    assert (found.never_a, found.never_b) == (None, None), "nobody has asked"
    trainer = start(OWN, PLAIN)
    learn.jump(trainer, 12)
    lists = {
        "common": ours & theirs, "only_a": ours - theirs, "only_b": theirs - ours, "never_b": ours - whole,
        "never_a": theirs - ours,
    }
    for part, pieces in lists.items():
        bench.do(SetViewport(Viewport(tokens=TokenList(1, 2, part, rows=100), wants=())))
        rows = bench.find().between.tokens
        assert rows is not None
        assert {row.piece for row in rows.rows} == pieces
        assert rows.total == len(pieces)
        for row in rows.rows:
            assert (row.id_a is None) == (row.piece not in ours)
            assert (row.id_b is None) == (row.piece not in theirs)
            if row.id_a is not None:
                assert row.uses_a == trainer.uses[trainer.tokenizer().vocabulary.pieces.index(row.piece)]
    found = counts(bench.seen)
    assert (found.never_a, found.never_b) == (len(lists["never_a"]), len(lists["never_b"]))
    bench.do(SetViewport(Viewport(tokens=TokenList(2, 1, "only_b", find="e", top=1, rows=2), wants=())))
    rows = bench.find().between.tokens
    assert rows is not None
    assert rows.total == sum(b"e" in piece for piece in ours - theirs)
    assert (len(rows.rows), rows.query.top) == (2, 1)
    assert all(row.id_a is None and row.id_b is not None for row in rows.rows), (
        "the columns are named in the other order"
    )
    bench.do(SetViewport(Viewport(tokens=TokenList(1, 2, "common", bare=True, rows=100), wants=())))
    rows = bench.find().between.tokens
    assert rows is not None
    assert {row.piece for row in rows.rows} == ours & {piece.removesuffix(b"</w>") for piece in theirs}
    with pytest.raises(TokentuiError, match="no such list"):
        bench.do(SetViewport(Viewport(tokens=TokenList(1, 2, "best"))))


def test_lists_are_kept_while_one_scrolls_and_a_walk_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    marked = PLAIN.with_axes(mark="end-suffix:</w>")
    stop = RunOf.of({"merges": 20})
    bench = Bench(OWN, ColumnWanted(PLAIN, stop), ColumnWanted(marked, stop), wants=("vocabularies",))
    bench.do(do.GoTo(12))
    look = TokenList(1, 2, "never_b", rows=2)
    bench.do(SetViewport(Viewport(tokens=look, wants=())))
    bench.find()
    made: list[str] = []
    for name in ("shared", "listed"):
        plain = getattr(findings.Vocabularies, name)

        def counted(*given: Any, name: str = name, plain: Any = plain) -> Any:
            made.append(name)
            return plain(*given)

        monkeypatch.setattr(findings.Vocabularies, name, counted)
    results = bench.state.results
    for top in range(3):
        bench.do(SetViewport(Viewport(tokens=dataclasses.replace(look, top=top), wants=())))
        results.busy = {("whole", (1,)): Busy("walking", top, 9)}
        rows = bench.state.snapshot().between.tokens
        assert rows is not None
        assert rows.query.top == top
    assert made == []
    signature, _ = results._found["whole", (2,)]
    results._found["whole", (2,)] = signature, frozenset[bytes]()
    found = bench.state.snapshot().between
    ours = len(Run(OWN, PLAIN).vocabularies[12])
    assert found.tokens is not None
    assert (found.overlaps[0].never_b, found.tokens.total) == (
        len(found.overlaps[0].overlaps[0][1]),
    ) * 2, "another run of the same column makes another list"
    assert found.tokens.total <= ours
    assert made == ["shared", "listed"]


def test_encodings_of_what_is_typed_and_of_passages() -> None:
    corpus = read("sample:english")
    bench = Bench(corpus, preset("gpt2"), preset("bert"), typed="unhappiness 東京 é🤗")
    bench.do(do.GoTo(300))
    seen = bench.seen.between.aligned
    assert seen.alignment is not None
    assert seen.keys == (1, 2)
    assert seen.bytes == len(seen.text.encode())
    for key, row in zip(seen.keys, seen.tokens, strict=True):
        trainer = start(corpus, preset("gpt2" if key == 1 else "bert"))
        learn.jump(trainer, 300)
        encoding = trainer.tokenizer().encode(seen.text)
        assert [(one.id, one.piece, (one.start, one.end)) for one in row] == list(
            zip(encoding.ids, encoding.pieces, encoding.offsets, strict=True)
        )
    (pair,) = seen.pairs
    assert pair.agreement.tokens_a == len(seen.tokens[0])
    assert pair.agreement.shared == sum(len(mark.rows) == 2 for mark in seen.alignment.ruler)
    bench.do(ShowPassage(Passage(0, 57, 90)))
    shown = bench.seen.between.aligned
    assert shown.passage is not None
    start_, text = shown.passage.start, corpus.documents[0]
    assert shown.text == text[start_ : start_ + shown.passage.length]
    assert start_ <= 57
    assert text[start_ - 1].isspace()
    assert text[start_ + shown.passage.length].isspace()
    bench.do(do.SetInput("back"))
    assert (bench.seen.between.aligned.text, bench.seen.between.aligned.passage) == ("back", None)


def test_the_agreement_does_not_wait_for_the_measures() -> None:
    bench = Bench(read("sample:hugs"), preset("gpt2"), preset("bert"), wants=("agreement",))
    seen = bench.find().between
    assert seen.agreed is not None
    assert [(pair.a, pair.b) for pair in seen.agreed.pairs] == [(1, 2)]
    assert seen.measured is None


def test_measures_arrive_by_column_and_belong_to_one_position() -> None:
    bench = Bench(
        read("sample:hugs"), preset("gpt2"), preset("bert"), preset("gpt2", tie="first-seen"),
        wants=("measures",),
    )
    bench.do(do.GoTo(4))

    def measure() -> BackgroundQuery:
        """Deliver one query. Return it."""
        query = next(one for one in bench.state.results.wanted(bench.state.view) if one.key[0] == "measures")
        bench.state.results.deliver(query, bench.work(query))
        return query

    def shown() -> tuple[int, tuple[int, ...]]:
        """Return the step and the columns of the measures that are shown."""
        found = bench.seen.between.measured
        assert found is not None
        assert all(len(row.figures) == len(found.keys) for row in found.rows)
        return found.at.value, found.keys

    first = measure()
    assert shown() == (4, (1,))
    measure()
    assert shown() == (4, (1, 2))
    measure()
    assert shown() == (4, (1, 2, 3))
    bench.do(do.GoTo(5))
    assert measure().signature != first.signature
    assert shown() == (4, (1, 2, 3)), "no figures of two positions side by side"
    bench.find()
    assert shown() == (5, (1, 2, 3))
    bench.do(do.GoTo(4))
    assert shown() == (5, (1, 2, 3))


@pytest.mark.slow
def test_one_column_that_fails_leaves_the_others_working(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"format": "tokentui", "version": 1')
    narrow = str(tmp_path / "narrow.json")
    done("train", "sample:sailor", "-r", "udl-notebook", "--merges", "20", "-o", narrow, "-q")
    bench = Bench(
        read("sample:english"), ColumnWanted(path=str(broken)), preset("gpt2"), ColumnWanted(path=narrow),
        preset("bert"), wants=BETWEEN, typed="Quartz",
    )
    bench.do(do.Move(4))
    seen = bench.find()
    assert "broken.json" in seen.columns[0].error
    assert "\n" not in seen.columns[0].error
    assert not seen.columns[0].in_sync
    assert [column.at.step for column in seen.columns if column.in_sync] == [24, 20, 24], (
        "a file opens at its end"
    )
    assert [(one.a, one.b) for one in seen.between.divergences] == [(2, 3), (2, 4), (3, 4)]
    assert [key for key, _ in seen.between.aligned.refused] == [3], "what the file does not know it refuses"
    assert seen.between.measured is not None
    assert [key for key, _ in seen.between.measured.errors] == [3]
    assert all(row.figures[1] is None for row in seen.between.measured.rows)
    assert seen.between.agreed is not None
    assert [(one.a, one.b) for one in seen.between.agreed.pairs] == [(2, 4)]
    with pytest.raises(TokentuiError, match="cannot be compared"):
        bench.do(GoToDivergence(1, 2))
    bench.do(RemoveColumn(1))
    assert [column.key for column in bench.find().columns] == [2, 3, 4]


def test_files_alone_are_shown_whole(tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in ("a.json", "b.json")]
    for path, merges in zip(paths, ("12", "30"), strict=True):
        done("train", "sample:english", "-r", "gpt2", "--merges", merges, "-o", path, "-q")
    bench = Bench(read("sample:english"), *(ColumnWanted(path=path) for path in paths))
    assert [column.at.step for column in bench.seen.columns if column.in_sync] == [12, 30]
    assert bench.seen.between.ended
    (parting,) = bench.find().between.divergences
    assert (parting.step, parting.sides[0].why.best) == (13, None), "the shorter one has ended"
    trained = Bench(read("sample:english"), ColumnWanted(path=paths[0]), preset("gpt2"))
    assert trained.seen.position.value == 12, "a file is shown whole"
    (parting,) = trained.find().between.divergences
    assert parting.step == 13


LINES = Corpus.from_lines(["hug pug hugs bun", "xy zw", "a hug of hugs " * 9, ""])
WORDS = Corpus.from_counts([("hugs", 3), ("xy", 2), ("pug", 9)])


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("corpus", [LINES, WORDS, Corpus.from_lines([])], ids=["lines", "words", "nothing"])
def test_the_passages_that_are_cut_otherwise_go_round(corpus: Corpus, backward: bool) -> None:
    trainer = start(LINES, preset("gpt2"))
    learn.jump(trainer, 9)
    ones = [trainer.tokenizer(0), trainer.tokenizer(9)]
    seen: list[Passage] = []
    here = next_disagreement(corpus, ones, None, 20, backward)
    while here is not None and here not in seen:
        seen.append(here)
        here = next_disagreement(corpus, ones, here, 20, backward)
    assert not seen or here == seen[0], "round the end"
    places = [(one.document, one.start) for one in seen]
    assert places == sorted(places, reverse=backward)
    for one in seen:
        first, second = (cuts(tokenizer.encode(text_of(corpus, one))) for tokenizer in ones)
        assert first != second
    parted = [
        n for n, text in enumerate(corpus.parts)
        if cuts(ones[0].encode(str(text))) != cuts(ones[1].encode(str(text)))
    ]
    assert {one.document for one in seen} == set(parted)


def test_columns_of_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    corpus, paths = tmp_path / "some.txt", []
    corpus.write_text("low lower lowest newer newest")
    for folder in ("left", "right"):
        (tmp_path / folder).mkdir()
        paths.append(str(tmp_path / folder / "tokenizer.json"))
        done("train", str(corpus), "-r", "gpt2", "--merges", "3", "-o", paths[-1], "-q")
    bench = Bench(OWN, *(ColumnWanted(path=path) for path in paths))
    assert [column.name for column in bench.seen.columns] == ["left/tokenizer.json", "right/tokenizer.json"]
