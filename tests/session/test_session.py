"""The async session: commands in, snapshots out, nothing lost on the way."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import made_up_words
import pytest
from gates import LAYING_OUT, PART, READING, Gates
from sessions import Watched
from waiting import PATIENCE

import tokentui
from tokentui.analyze.results import VocabularyReport
from tokentui.axes import preset
from tokentui.core import engines
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.encode.pretokens import Pretokens
from tokentui.recipe import Recipe, Run
from tokentui.session import commands as do
from tokentui.session.engine import driver
from tokentui.session.engine.driver import Session
from tokentui.session.snapshot import PreviewView, Snapshot
from tokentui.session.training import training as opening
from tokentui.session.views import Viewport
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words


@pytest.fixture(scope="module")
def novel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text of half a megabyte, with enough different words."""
    path = tmp_path_factory.mktemp("novel") / "novel.txt"
    path.write_text(made_up_words.novel(7_000))
    return path


async def test_it_opens_and_steps(session: Watched) -> None:
    await session.send(do.Open(("sample:sailor",)))
    snapshot = await session.settle()
    assert (snapshot.main.at.step, snapshot.main.partial, snapshot.busy) == (0, False, None)
    assert snapshot.main.candidates.rows
    for _ in range(5):
        session.send(do.Move(1))
    assert (await session.settle()).main.at.step == 5
    session.send(do.Move(-2))
    assert (await session.settle()).main.at.step == 3
    session.send(do.SetInput("see"))
    assert (await session.settle()).main.encoding.text == "see"
    versions = [snapshot.version for snapshot in session.snapshots]
    assert versions == sorted(set(versions))


async def test_the_snapshot_of_a_turn_is_published_before_its_answer_is_handled(session: Watched) -> None:
    await session.send(do.Open(("sample:sailor",)))
    await session.settle()
    published = list[object]()
    answer = session.send(do.SetInput("see"))
    answer.add_done_callback(lambda _: published.append(session.last.main.encoding.text))
    await answer
    count = len(session.snapshots)
    question = session.send(do.ListSteps())
    question.add_done_callback(lambda _: published.append(len(session.snapshots) > count))
    await question
    assert published == ["see", True]


async def test_a_large_corpus_shows_its_first_pairs_before_it_is_whole(
    session: Watched, novel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(engines.VARIABLE, "off")  # the other one has it whole at once
    await session.send(do.Open((str(novel),)))
    await session.settle()
    partial = [snapshot for snapshot in session.snapshots if snapshot.main.partial]
    assert partial
    assert partial[0].main.candidates.rows
    assert any(snapshot.busy for snapshot in session.snapshots)
    assert not session.last.main.partial
    assert session.last.main.at.occurrences > partial[0].main.at.occurrences


@pytest.mark.slow
async def test_a_walk_is_shown_ten_times_a_second(
    session: Watched, novel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(engines.VARIABLE, "off")  # the other one is at the end before it is shown
    await session.send(do.Open((str(novel),)))
    await session.settle()
    now, times, publish = time.monotonic(), list[float](), session.take

    def monotonic() -> float:
        nonlocal now
        now += 1 / 32
        return now

    def take(snapshot: Snapshot) -> None:
        if 0 < snapshot.main.at.step < 3_000:
            times.append(now)
        publish(snapshot)

    monkeypatch.setattr(driver, "time", SimpleNamespace(monotonic=monotonic))
    monkeypatch.setattr(driver, "SLICE_S", 0.001)  # many turns, however fast the machine is
    monkeypatch.setattr(session, "_publish", take)
    await session.send(do.GoTo(3_000))
    await session.settle()
    assert len(times) > 3
    waits = {after - before for before, after in itertools.pairwise(times[1:])}
    assert waits == {4 / 32}, "the first turn that begins 0.1 seconds after the last snapshot"


async def test_running_publishes_and_stops_where_it_is(
    session: Watched, novel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(engines.VARIABLE, "off")  # the other one is at the end before it is shown
    await session.send(do.Open((str(novel),)))
    await session.settle()
    session.send(do.Speed(99))
    session.send(do.Play(True))
    assert (await session.until(lambda snapshot: snapshot.main.at.step > 0)).running
    session.send(do.Play(False))
    snapshot = await session.settle()
    assert not snapshot.running
    assert snapshot.main.at.step > 0
    session.send(do.GoTo(200))
    assert (await session.settle()).main.at.step == 200
    session.send(do.GoTo(3))
    assert (await session.settle()).main.at.step == 3


async def test_a_recipe_keeps_corpus_text_and_place_and_comes_back_at_once(session: Watched) -> None:
    await session.send(do.Open(("sample:english",)))
    session.send(do.SetInput("the"))
    session.send(do.GoTo(40))
    was = await session.settle()
    await session.send(do.SetRecipe(preset("udl-notebook")))
    now = await session.settle()
    main = now.main
    assert (main.at.step, main.preset, now.corpus.name, main.encoding.text) == (
        40, "udl-notebook", was.corpus.name, "the",
    )
    trainer = session.state.main.trainer
    await session.send(do.SetRecipe(Recipe(), Run.of({"merges": 100})))
    back = await session.settle()
    assert (back.main.at.step, back.main.candidates.rows, back.main.at.end.step) == (
        40, was.main.candidates.rows, 100,
    )
    await session.send(do.SetRecipe(preset("udl-notebook")))
    assert session.state.main.trainer is trainer, "a recipe that was trained is not trained again"


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (do.Open(("/no/such/file.txt",)), "no such file"),
        (do.SetRecipe(Recipe(split=r"regex:(\p{L}*)*$|(a|a)*\d")), None),
    ],
    ids=["missing", "odd pattern"],
)
async def test_what_fails_leaves_all_as_it_was(
    session: Watched, command: do.Command[object], says: str | None
) -> None:
    await session.send(do.Open(("sample:hugs",)))
    session.send(do.Move(2))
    before = await session.settle()
    if says is None:
        await session.send(command)
        assert (await session.settle()).busy is None
        return
    with pytest.raises(TokentuiError, match=says):
        await session.send(command)
    after = await session.settle()
    assert (after.corpus.name, after.main.at.step, after.busy) == (before.corpus.name, 2, None)
    assert after.main.candidates.rows == before.main.candidates.rows
    session.send(do.Move(1))
    assert (await session.settle()).main.at.step == 3


async def test_another_recipe_is_previewed_beside_the_training(session: Watched) -> None:
    await session.send(do.Open(("sample:english",)))
    session.send(do.GoTo(5))
    was = await session.settle()
    first = await session.send(do.Preview(preset("wordpiece")))
    assert isinstance(first, PreviewView)
    assert (len(first.pairs), first.end, first.error) == (10, "", "")
    assert all(0 < row.worth <= 1 for row in first.pairs)
    assert not first.sample
    rounds = await session.send(do.Preview(preset("t5")))
    assert (rounds.pairs, rounds.lines[0][:12]) == ((), "round 1, em:")
    least = await session.send(do.Preview(preset("wordpiece"), Run.of({"min_count": 20})))
    assert all(row.places >= 20 for row in least.pairs)
    slow = await session.send(do.Preview(Recipe(split="regex:(a|a|aa)+(?=\\d)"), steps=3))
    assert slow.error or slow.end == "no pair left"
    now = await session.settle()
    assert (now.main.at, now.main.recipe, now.main.candidates) == (
        was.main.at, was.main.recipe, was.main.candidates,
    )


async def test_a_preview_on_a_part_of_the_corpus_says_so(session: Watched) -> None:
    await session.send(do.TrainOnText("some more words " * 2_000))
    assert (await session.send(do.Preview(preset("wordpiece")))).sample


async def test_a_later_preview_takes_the_place_of_an_earlier_one(session: Watched) -> None:
    await session.send(do.Open(("sample:english",)))
    asked = [session.send(do.Preview(preset(name))) for name in ("gpt2", "bert", "t5", "gage", "minbpe")]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert isinstance(answers[-1], PreviewView)
    assert all(isinstance(answer, PreviewView | Cancelled) for answer in answers)


async def test_questions_are_answered_about_one_step_while_it_runs(session: Watched) -> None:
    await session.send(do.TrainOnText(made_up_words.novel(1_500)))
    await session.settle()
    session.send(do.SetInput("strongest"))
    session.send(do.GoTo(300))
    answers = await session.send(do.AnalyzeVocabulary())
    assert isinstance(answers, VocabularyReport)
    assert answers.step <= 300
    assert answers.used + len(answers.unused) == answers.vocab_size
    assert answers.exhausted is None
    assert [way.word for way in answers.ways] == ["strongest"]
    assert (await session.settle()).main.at.step == 300
    last = await session.send(do.AnalyzeVocabulary("unable", exhaust=True))
    assert (last.step, last.tokens) == (300, session.last.main.at.tokens)
    assert last.exhausted is not None
    assert last.exhausted.end == "no pair left"
    assert last.exhausted.whole == last.exhausted.distinct
    assert [way.word for way in last.ways] == ["unable"]


async def test_closing_gives_up_what_is_asked_beside(novel: Path) -> None:
    watched = Watched()
    await watched.start()
    await watched.send(do.Open((str(novel),)))
    asked = watched.send(do.AnalyzeVocabulary(exhaust=True))
    previewed = watched.send(do.Preview(preset("jurassic")))
    await watched.close()
    answers = await asyncio.gather(asked, previewed, return_exceptions=True)
    assert all(isinstance(answer, BaseException | VocabularyReport | PreviewView) for answer in answers)


@pytest.mark.parametrize("name", ["wordpiece", "sentencepiece-unigram", "gage"])
async def test_every_objective_is_swapped_for_and_back(session: Watched, name: str) -> None:
    await session.send(do.Open(("sample:english",)))
    session.send(do.GoTo(12))
    was = await session.settle()
    await session.send(do.SetRecipe(preset(name)))
    now = await session.settle()
    assert (now.main.preset, now.main.at.step) == (name, 0 if name == "sentencepiece-unigram" else 12)
    session.send(do.Move(1))
    await session.settle()
    await session.send(do.SetRecipe(Recipe()))
    back = await session.settle()
    assert back.main.at.step == (12 if name == "sentencepiece-unigram" else 13)
    assert back.main.candidates.rows != was.main.candidates.rows or back.main.at.step == 12
    await session.send(do.SetRecipe(preset(name)))
    again = await session.settle()
    assert again.main.at.step == (1 if name == "sentencepiece-unigram" else 13), "where it was left"


async def test_a_trainer_made_under_another_least_count_is_not_taken_for_this_one(session: Watched) -> None:
    await session.send(do.Open(("sample:english",)))
    await session.send(do.SetRecipe(preset("wordpiece"), Run.of({"min_count": 30})))
    session.send(do.GoTo(5))
    few = await session.settle()
    await session.send(do.SetRecipe(preset("wordpiece"), Run()))
    every = await session.settle()
    assert every.main.at.step == 5
    assert every.main.vocabulary.rows != few.main.vocabulary.rows
    await session.send(do.SetRecipe(preset("wordpiece"), Run.of({"min_count": 30})))
    assert (await session.settle()).main.vocabulary.rows == few.main.vocabulary.rows


async def test_a_text_that_is_typed_is_trained_on_at_the_same_place(session: Watched) -> None:
    await session.send(do.Open(("sample:sailor",)))
    session.send(do.GoTo(6))
    was = await session.settle()
    text = await session.send(do.CorpusText())
    await session.send(do.TrainOnText(text))
    same = await session.settle()
    assert (same.main.at.step, same.main.candidates.rows, same.corpus.name) == (
        6, was.main.candidates.rows, "scratch",
    )
    typed = [session.send(do.TrainOnText(text[:size])) for size in range(0, len(text), 7)]
    last = session.send(do.TrainOnText(text + " sea sea sea"))
    answers = await asyncio.gather(*typed, last, return_exceptions=True)
    assert answers[-1] is None
    assert all(answer is None or isinstance(answer, Cancelled) for answer in answers)
    now = await session.settle()
    assert (now.main.at.step, now.corpus.bytes) == (6, len(text) + 12)


async def test_text_that_the_split_leaves_out_is_noted(
    session: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gates: Gates
) -> None:
    recipe = replace(preset("minbpe-basic"), split=r"regex:\p{L}+")
    path, file = tmp_path / "text.txt", tmp_path / "words.json"
    path.write_text("hugs 1234hugs\n" * 40)
    tokenizer = tokentui.train(str(path), recipe, merges=1)
    tokenizer.save(str(file))
    note = "the split leaves out 240 of 560 characters: its pattern does not match them"
    await session.send(do.Open((str(path),)))
    assert (await session.settle()).corpus.notes == ()
    await session.send(do.SetRecipe(recipe, Run()))
    assert (await session.settle()).corpus.notes == (note,)
    await session.send(do.SetRecipe(preset("gpt2"), Run()))
    assert (await session.settle()).corpus.notes == ()
    # A file is shown by a part of the corpus first.
    monkeypatch.setattr(opening, "FIRST_LOOK_OPENED", 20)
    gates.close(PART)
    opened = session.send(do.OpenTokenizer(str(file)))
    await session.until(lambda snapshot: snapshot.main.partial)
    gates.close()
    await opened
    assert (await session.settle()).corpus.notes == (note,)


async def test_what_cannot_be_edited_says_so(session: Watched, tmp_path: Path) -> None:
    await session.send(do.Open(("sample:hai",)))
    with pytest.raises(TokentuiError, match="counted words"):
        await session.send(do.CorpusText())
    path = tmp_path / "large.txt"
    path.write_text("word " * 210_000)
    await session.send(do.Open((str(path),)))
    with pytest.raises(TokentuiError, match="cannot be edited"):
        await session.send(do.CorpusText())


async def test_a_pipe_that_never_answers_is_cancelled(session: Watched, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    await session.send(do.Open(("sample:hugs",)))
    await session.settle()
    opening = session.send(do.Open((str(pipe),), "text"))
    await session.until(lambda snapshot: snapshot.busy is not None)
    waits = session.send(do.Move(1))
    await session.until(lambda snapshot: snapshot.waiting == "a step on")
    session.send(do.CancelWork())
    with pytest.raises(Cancelled):
        await asyncio.wait_for(opening, PATIENCE)
    with pytest.raises(TokentuiError, match="dropped: a step on"):
        await waits
    snapshot = await session.settle()
    assert (snapshot.busy, snapshot.waiting, snapshot.main.at.step) == (None, "", 0)
    session.send(do.Move(1))
    assert (await session.settle()).main.at.step == 1


@pytest.mark.slow
async def test_a_pattern_that_would_run_for_minutes_is_stopped(
    session: Watched, limited: Callable[..., None], tmp_path: Path
) -> None:
    limited(pattern_seconds=0.2)
    path = tmp_path / "long.txt"
    path.write_text("a" * 5000)
    await session.send(do.Open((str(path),)))
    await session.settle()
    with pytest.raises(TokentuiError, match="too long"):
        await session.send(do.SetRecipe(Recipe(split=r"regex:(a|a|aa)+(?=b)")))
    assert (await session.settle()).main.recipe == Recipe()


async def test_another_opening_takes_the_place_of_one_under_way(session: Watched, novel: Path) -> None:
    first = session.send(do.Open((str(novel),)))
    second = session.send(do.Open(("sample:hugs",)))
    with pytest.raises(Cancelled):
        await first
    await second
    assert (await session.settle()).main.at.distinct < 50


async def test_it_begins_with_the_recipe_and_the_run_that_were_asked_for() -> None:
    watched = Watched(preset("udl-notebook"), Run.of({"merges": 12, "specials": ["<s>"]}))
    await watched.start()
    await watched.send(do.Open(("sample:sailor",)))
    watched.send(do.GoTo(None))
    snapshot = await watched.settle()
    main = snapshot.main
    assert (main.preset, main.at.step, main.at.end.step, main.why.end) == ("udl-notebook", 12, 12, "merges")
    assert [row.kind for row in snapshot.main.vocabulary.rows].count("special") == 1
    await watched.close()


async def test_closing_in_the_middle_of_everything(novel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(engines.VARIABLE, "off")
    interval = sys.getswitchinterval()
    watched = Watched()
    await watched.start()
    watched.send(do.Open((str(novel),)))
    await watched.until(lambda snapshot: snapshot.main.partial)
    watched.send(do.GoTo(None))
    await watched.close()
    assert sys.getswitchinterval() == interval


async def test_an_empty_corpus_opens(session: Watched, tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.write_bytes(b"")
    await session.send(do.Open((str(path),)))
    snapshot = await session.settle()
    assert (snapshot.corpus.name, snapshot.main.why.end) == ("empty.txt", "no pair left")


async def test_a_text_that_is_typed_is_shown_once_and_at_the_step_that_is_kept(
    session: Watched, loaded: None, novel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(engines.VARIABLE, "on")
    text = await asyncio.to_thread(novel.read_text, encoding="utf-8")
    await session.send(do.TrainOnText(text))
    await session.send(do.GoTo(300))
    await session.send(do.SetViewport(Viewport(candidates_top=20)))
    await session.settle()
    before = len(session.snapshots)
    await session.send(do.TrainOnText(text + " and more"))
    await session.settle()
    (shown,) = session.snapshots[before:]
    assert (shown.main.at.step, shown.main.partial, shown.busy, shown.main.candidates.top) == (
        300, False, None, 20,
    )
    assert shown.corpus.bytes == len((text + " and more").encode())


async def test_a_recipe_that_is_sent_at_once_after_a_text_trains_that_text(session: Watched) -> None:
    session.send(do.TrainOnText("hug pug hug hug"))
    await session.settle()
    session.send(do.TrainOnText("bun bun bun"))
    recipe = session.last.main.recipe.with_axes(tie="first-seen")
    await session.send(do.SetRecipe(recipe, Run()))
    snapshot = await session.settle()
    assert (snapshot.main.recipe, snapshot.main.at.occurrences) == (recipe, 3)


async def test_a_failure_of_the_engine_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    told: asyncio.Queue[dict[str, object]] = asyncio.Queue()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.put_nowait(context))
    session = Watched()
    await session.start()
    await session.until(lambda snapshot: snapshot.main.at.step == 0)

    def fail(pause: object) -> Snapshot:
        raise IndexError("in the engine")

    monkeypatch.setattr(session.state, "snapshot", fail)
    session.send(do.Move(1))
    assert isinstance((await asyncio.wait_for(told.get(), PATIENCE))["exception"], IndexError)
    await session.close()


async def test_what_is_sent_after_the_end_is_given_up(collect: Callable[[], object]) -> None:
    failures: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
    ended = Session(lambda snapshot: None)
    await ended.start()
    await ended.close()
    for command in (
        do.Move(1), do.Open(("sample:hugs",)), do.SetRecipe(Recipe()), do.Fingerprint(), do.CancelWork(),
    ):
        answer = ended.send(command)
        await asyncio.wait([answer], timeout=PATIENCE)
        assert answer.cancelled(), command
    collect()
    assert failures == []


async def test_no_answer_is_left_open_when_it_ends_amid_an_opening(novel: Path) -> None:
    begun = asyncio.Event()
    ended = Session(lambda snapshot: begun.set() if snapshot.busy is not None else None)
    await ended.start()
    opening = ended.send(do.Open((str(novel),)))
    await asyncio.wait_for(begun.wait(), PATIENCE)
    await ended.close()
    await asyncio.wait([opening], timeout=PATIENCE)
    assert opening.done()


async def test_the_trainings_that_were_left_last_are_kept(
    session: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipes = [preset(name) for name in ("gpt2", "bert", "wordpiece")]
    await session.send(do.Open(("sample:sailor",)))
    sizes: list[int] = []
    for recipe in recipes:  # there is room for all of them
        await session.send(do.SetRecipe(recipe))
        for step in (9, 0):
            session.send(do.GoTo(step))
            seen = await session.settle()
        assert seen.main.at.computed == 9
        sizes.append(seen.main.at.memory)
    monkeypatch.setattr(opening, "KEPT_BYTES", sizes[1] + sizes[2])

    async def computed(recipe: Recipe) -> int:
        """The steps that are known when one goes back to a recipe: 0 if it is trained anew."""
        await session.send(do.SetRecipe(recipe))
        return (await session.settle()).main.at.computed

    assert [await computed(recipes[n]) for n in (1, 2, 1, 0)] == [9, 9, 9, 0]


async def test_progress_is_shown_sooner_for_a_corpus_than_for_a_recipe(
    session: Watched, gates: Gates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await session.send(do.Open(("sample:sailor",)))
    monkeypatch.setattr(driver, "PUBLISH_S", 0.0)
    monkeypatch.setattr(driver, "QUIET_S", 3600.0)
    gates.close(LAYING_OUT)
    session.send(do.SetRecipe(preset("bert")))
    await gates.until(LAYING_OUT)
    await session.send(do.SetInput("a"))
    assert (await session.until(lambda seen: seen.main.encoding.text == "a")).busy is None
    gates.close()
    await session.settle()
    gates.close(READING)
    session.send(do.Open(("sample:hugs",)))
    await gates.until(READING)
    busy = (await session.until(lambda seen: seen.busy)).busy
    assert busy is not None
    assert busy.what == "opening sample:hugs"


async def test_the_first_screen_of_a_file_needs_no_more_than_a_part_of_the_text(
    session: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, file = tmp_path / "text.txt", tmp_path / "tokenizer.json"
    path.write_text("hugs and pugs in the street\n" * 2_000)
    tokentui.train(str(path), "llama2", merges=20).save(str(file))
    seen, sizes, count, published = threading.Event(), list[int](), Pretokens.count, list[bool]()
    monkeypatch.setattr(driver, "DRAWN_S", 60)

    def counted(pretokens: Pretokens, corpus: Corpus) -> tuple[Words, dict[str, int]]:
        sizes.append(corpus.characters)
        published.append(any(snapshot.main.partial for snapshot in session.snapshots))
        if len(sizes) == 2:
            assert seen.wait(60), "the part is not shown before the whole text is read"
        return count(pretokens, corpus)

    monkeypatch.setattr(Pretokens, "count", counted)
    opened = session.send(do.Open((str(path),), tokenizer=do.OpenTokenizer(str(file))))
    part = (await session.until(lambda snapshot: snapshot.main.partial)).main
    assert part.corpus.parts
    assert part.candidates.rows
    seen.set()
    await opened
    assert not (await session.settle()).main.partial
    first, *others = sizes
    assert first <= opening.FIRST_LOOK_OPENED
    assert others == [28 * 2_000]
    assert published == [False, True]  # the rest does not compete with what draws the part
