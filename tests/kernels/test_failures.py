"""Where a kernel fails, plain Python does the same work: in the library, at the commands, in the jobs of a
session."""

from __future__ import annotations

import contextlib
import pkgutil
import signal
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count as numbers
from pathlib import Path
from typing import Any

import pytest
from running_cli import cli
from sessions import Watched

import tokentui
from tokentui import learn
from tokentui.analyze import divergence
from tokentui.analyze.divergence import first_divergences
from tokentui.axes import preset
from tokentui.core import engines, native
from tokentui.core.errors import Cancelled
from tokentui.core.jobs import job
from tokentui.encode import id_tables
from tokentui.learn import bpe
from tokentui.learn.bpe import PlainPairs
from tokentui.learn.objectives import Material
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.rows import Query
from tokentui.learn.start_pairs import pair_trainer
from tokentui.learn.unigram import UnigramTrainer
from tokentui.recipe import Recipe, Run, Stops
from tokentui.session import commands as do
from tokentui.session.engine.jobs import JobPool
from tokentui.session.engine.state import State
from tokentui.session.snapshot import Snapshot
from tokentui.session.training.training import TrainingCache, prepare
from tokentui.session.views import ColumnWanted, Position
from tokentui.text.corpus import Corpus
from tokentui.text.count import count

CORPUS = Corpus.from_text("low low low lower lowest newer newest wide wider widest don't " * 40)
COUNT = "tokentui.text.kernels.count.count_words"
ENCODE = "tokentui.encode.kernels.encode.Compiled.encode"
LAY_OUT = "tokentui.learn.kernels.layout.pair_up"
WALK = "tokentui.learn.compiled.KernelPairs.walk"
RANK = "tokentui.learn.kernels.order.rank_candidates"
UNIGRAM = Recipe(split="whitespace", unit="char", objective="unigram", encode="viterbi", unknown="fused")


class Failing:
    """Kernels that are used however small a corpus is; those that are named fail.

    Attributes:
        told: The failures that were told.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self.told: list[str] = []
        patch.setattr(engines, "failed", False)
        patch.setattr(engines, "tell", lambda failure: self.told.append(str(failure)))
        patch.setenv(engines.VARIABLE, "on")
        patch.setattr(id_tables, "KERNEL_CHARS", 1)

    def fail(
        self, kernel: str, call: int = 1, error: type[BaseException] = SystemError, late: bool = False
    ) -> None:
        """Let a kernel fail from one of its calls on; after it has done its work if `late`."""
        calls, (place, _, name) = numbers(1), kernel.rpartition(".")
        owner: Any = pkgutil.resolve_name(place)
        works = getattr(owner, name)

        def fails(*arguments: Any, **named: Any) -> Any:
            failing = next(calls) >= call
            done = works(*arguments, **named) if late or not failing else None
            if failing:
                raise error("a kernel")
            return done

        self._patch.setattr(owner, name, fails)


@pytest.fixture
def failing(loaded: None, monkeypatch: pytest.MonkeyPatch) -> Failing:
    return Failing(monkeypatch)


@contextlib.contextmanager
def plain() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(engines.VARIABLE, "off")
        yield


TOLD = ["kernels failed, plain Python goes on: SystemError: a kernel"]


def test_counting(failing: Failing) -> None:
    with plain():
        expected = count(CORPUS, preset("gpt2"))
    failing.fail(COUNT)
    assert count(CORPUS, preset("gpt2")) == expected
    assert (failing.told, engines.engine(), engines.available()) == (TOLD, engines.FAILED, False)
    assert count(CORPUS, preset("gpt2")) == expected
    assert failing.told == TOLD


@pytest.mark.parametrize("error", [MemoryError, Cancelled, KeyboardInterrupt])
def test_what_is_no_failure_of_kernels(failing: Failing, error: type[BaseException]) -> None:
    failing.fail(COUNT, error=error)
    with pytest.raises(error):
        count(CORPUS, preset("gpt2"))
    assert (failing.told, engines.failed) == ([], False)


@pytest.mark.parametrize("cancels", [False, True])
def test_whoever_watches_a_job_may_fail(failing: Failing, cancels: bool) -> None:
    def fails(*_: int) -> bool:
        raise ValueError("not drawn")

    with pytest.raises(ValueError, match="not drawn"), job(*(None, fails) if cancels else (fails,)):
        count(CORPUS, preset("gpt2"))
    assert (failing.told, engines.failed) == ([], False)


class TooLong(Exception):
    """What a handler of a signal raises."""

    def __call__(self, *_: object) -> None:
        raise self

    def heard(self, *_: object) -> None:
        raise self


def too_long(*_: object) -> None:
    raise TooLong


@pytest.mark.parametrize("handler", [too_long, TooLong().heard, TooLong()])
def test_what_a_handler_of_a_signal_raises_is_no_failure_of_kernels(
    handler: Any, failing: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(COUNT, lambda *_, **__: signal.raise_signal(signal.SIGALRM))
    before = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(TooLong):
            count(CORPUS, preset("gpt2"))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert (failing.told, engines.failed) == ([], False)


@pytest.mark.parametrize("place", [
    "tokentui.encode.segment.merges.Merging.segment", "tokentui.encode.encoder.WordEncoder.parts",
    "tokentui.encode.encoder.WordEncoder.word_ids",
])
@pytest.mark.parametrize("error", [IndexError, ValueError, RecursionError])
def test_a_fault_of_the_encoder_is_no_failure_of_kernels(
    place: str, error: type[Exception], failing: Failing
) -> None:
    """No input may turn kernels off: plain Python, which kernels call, would meet it as well."""
    tokenizer = tokentui.train(CORPUS, "hf-bpe", merges=20)
    failing.fail(place, error=error)
    with pytest.raises(error):
        tokenizer.encoder.ids("lowest ☃ snow")
    assert (failing.told, engines.failed) == ([], False)


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't start new thread")])
def test_a_lack_of_memory_is_no_failure_of_kernels(error: Exception, failing: Failing) -> None:
    assert not engines.fail(error)
    assert (failing.told, engines.failed) == ([], False)


@pytest.mark.parametrize("error", [IndexError, BufferError, OverflowError])
def test_what_kernels_raise_is_their_failure(error: type[Exception], failing: Failing) -> None:
    def call(*_: Any) -> None:
        raise error("a kernel")

    code = native.Kernel(call)
    code.__dict__["_code"] = call
    native.KERNELS.pop(code.name)
    with engines.rescued():
        code()
    told = f"kernels failed, plain Python goes on: {error.__name__}: a kernel"
    assert (failing.told, engines.failed) == ([told], True)


def facts(trainer: Any) -> list[object]:
    """All that a training says of itself."""
    page, tokenizer = learn.candidates(trainer, Query(0, 10)), trainer.tokenizer()
    return [
        trainer.number, trainer.computed, page, list(trainer.uses), *learn.steps(trainer),
        tokenizer.encode("the lowest and the newest"), trainer.ending(trainer.limits),
    ]


def walked(recipe: Recipe, failing: Failing | None = None) -> Iterator[list[object]]:
    """The facts of a training on the way, forward and back."""
    trainer = learn.start(CORPUS, recipe)
    if failing:
        assert trainer.traits.engine == engines.COMPILED
    for walk in (
        lambda: learn.run(trainer, Stops(merges=5, vocab_size=40)), lambda: learn.step(trainer),
        lambda: learn.jump(trainer, 2), lambda: learn.jump(trainer, 4), lambda: learn.back(trainer),
        lambda: learn.run(trainer, Stops(max_length=4)),
    ):
        walk()
        yield facts(trainer)
    assert not failing or trainer.traits.engine == engines.PLAIN


KERNELS = [(preset("gpt2"), WALK, call) for call in range(1, 6)]
KERNELS += [(preset("bert"), WALK, call) for call in (1, 4)]
KERNELS += [(preset("bert"), "tokentui.learn.compiled.KernelPairs.best", 1)]
KERNELS += [(UNIGRAM, f"tokentui.learn.kernels.unigram.PASSES.{name}", call) for name, call in (
    ("forward", 2), ("backward", 1), ("maximise", 2), ("losses", 1), ("count_uses", 3),
)]


@pytest.mark.first_run(cases=6)
@pytest.mark.parametrize(("recipe", "kernel", "call"), KERNELS)
def test_walking(recipe: Recipe, kernel: str, call: int, failing: Failing) -> None:
    with plain():
        expected = list(walked(recipe))
    failing.fail(kernel, call, late=call == 2)
    assert list(walked(recipe, failing)) == expected
    assert failing.told == TOLD


@pytest.mark.parametrize("by", ["a job that is cancelled", "a warning that is an error"])
def test_a_change_to_plain_python_that_is_stopped_begins_again(
    by: str, failing: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels that failed have left their arrays in the middle of a step."""
    with plain():
        expected = tokentui.Trainer(CORPUS, "gpt2")
        expected.run(merges=20)
    trainer, calls, walks = tokentui.Trainer(CORPUS, "gpt2"), list[Any](), list[Any]()
    trainer.run(merges=10)
    engine: Any = trainer._engine
    queue, walk = engine.engine._queue, PlainPairs.walk

    def fails(*arguments: Any) -> int:
        calls.append(queue.run(*arguments))
        if len(calls) > 1:
            pytest.fail("what kernels that failed have left is walked with")
        raise SystemError("a kernel")

    def walks_plainly(*arguments: Any) -> None:
        walks.append(arguments)
        walk(*arguments)

    def warns(failure: Warning) -> None:
        raise failure

    monkeypatch.setattr(engine.engine, "_queue", queue._replace(run=fails))
    monkeypatch.setattr(PlainPairs, "walk", walks_plainly)
    monkeypatch.setattr(bpe, "_SLICE", 1)
    monkeypatch.setattr(PairTrainer.advance, "__defaults__", (0.0,))
    if by == "a warning that is an error":
        monkeypatch.setattr(engines, "tell", warns)
        with pytest.raises(RuntimeWarning, match="kernels failed"):
            trainer.run(merges=20)
    else:
        with pytest.raises(Cancelled):
            trainer.run(merges=20, cancel=lambda: bool(walks))
        assert len(walks) == 1, "it is asked at every step"
    assert (trainer.number, trainer.known, engines.failed) == (10, 10, True)
    trainer.run(merges=20)
    assert list(trainer.steps()) == list(expected.steps())
    assert (len(calls), engine.traits.engine) == (1, engines.PLAIN)


def test_no_training_begins_with_kernels_once_they_failed(failing: Failing) -> None:
    trainer = pair_trainer(Material.of(count(CORPUS, preset("gpt2")), preset("gpt2")), compiled=True)
    assert trainer.traits.engine == engines.COMPILED
    engines.fail(SystemError("a kernel"))
    assert trainer.fork(0, ()).traits.engine == engines.PLAIN
    assert learn.step(trainer) is not None
    assert trainer.traits.engine == engines.PLAIN, "others go on without them as well"


SHORT = Stops(vocab_size=40, max_length=4)


@pytest.mark.parametrize("walk", [
    lambda trainer: learn.run(trainer, SHORT), lambda trainer: divergence.walked(trainer, SHORT, [1]),
])
def test_other_limits(walk: Callable[[Any], object], failing: Failing) -> None:
    """They begin a unigram training anew."""
    with plain():
        expected = learn.start(CORPUS, UNIGRAM)
        learn.run(expected, SHORT)
    trainer = learn.start(CORPUS, UNIGRAM)
    learn.run(trainer, Stops(vocab_size=40))
    failing.fail("tokentui.learn.kernels.unigram.PASSES.forward")
    walk(trainer)
    learn.run(trainer, SHORT)
    assert (failing.told, trainer.traits.engine, facts(trainer)) == (TOLD, engines.PLAIN, facts(expected))


@pytest.mark.parametrize(("recipe", "kernel"), [
    (preset("gpt2"), LAY_OUT), (preset("bert"), LAY_OUT),
    (UNIGRAM, "tokentui.learn.kernels.unigram.PASSES.branches"),
    (UNIGRAM, "tokentui.learn.kernels.unigram.PASSES.grow"),
    (UNIGRAM, "tokentui.learn.kernels.unigram.PASSES.forward"),
])
def test_laying_out(recipe: Recipe, kernel: str, failing: Failing) -> None:
    with plain():
        expected = list(walked(recipe))
    failing.fail(kernel)
    assert list(walked(recipe)) == expected
    assert failing.told == TOLD


@pytest.mark.parametrize(("kernel", "short"), [
    (ENCODE, False), ("tokentui.encode.kernels.encode.Merges", False),
    ("tokentui.encode.kernels.encode.Compiled.encode_short", True),
    ("tokentui.encode.kernels.words.encode_text", True),
])
def test_encoding(kernel: str, short: bool, failing: Failing, monkeypatch: pytest.MonkeyPatch) -> None:
    if short:
        monkeypatch.setattr(id_tables, "KERNEL_CHARS", 1 << 20)
        monkeypatch.setattr(id_tables, "MANY_CHARS", 1)
    with plain():
        tokenizer = tokentui.train(CORPUS, "gpt2", merges=20)
        expected = tokenizer.encoder.ids(CORPUS.documents[0])
    failing.fail(kernel)
    assert tokenizer.encoder.ids(CORPUS.documents[0]) == expected
    assert failing.told == TOLD


def test_the_library_warns(failing: Failing, monkeypatch: pytest.MonkeyPatch) -> None:
    with plain():
        expected = tokentui.Trainer(CORPUS, "gpt2")
        expected.run(merges=10)
    monkeypatch.setattr(engines, "tell", warnings.warn)
    trainer = tokentui.Trainer(CORPUS, "gpt2")
    trainer.run(merges=10)
    failing.fail(RANK)
    with pytest.warns(RuntimeWarning, match="kernels failed, plain Python goes on: SystemError: a kernel"):
        assert trainer.candidates(3) == expected.candidates(3)
    assert trainer.why() == expected.why()
    assert trainer.tokenizer().encode("lowest") == expected.tokenizer().encode("lowest")


def test_the_first_step_that_differs(failing: Failing) -> None:
    recipes = preset("gpt2"), preset("gpt2", tie="largest-pair")
    with plain():
        expected = first_divergences(learn.start(CORPUS, recipes[0]), learn.start(CORPUS, recipes[1]))
    first, second = (learn.start(CORPUS, one) for one in recipes)
    failing.fail(WALK, 2)
    assert first_divergences(first, second) == expected
    assert failing.told == TOLD


COMMANDS: dict[str, tuple[str, ...]] = {
    "train": ("train", "sample:sailor", "-r", "gpt2", "--merges", "40", "--trace", "-"),
    "compare": ("compare", "sample:sailor", "-r", "gpt2", "-r", "bert", "--merges", "20", "--json"),
    "unigram": ("train", "sample:sailor", "-r", "xlnet", "--vocab-size", "60", "--trace", "-"),
    "encode": ("encode", "-t", "tokenizer.json"),
    "verify": ("verify", "sample:sailor", "-r", "gpt2", "--against", "tokenizers", "--merges", "20"),
}


@pytest.mark.parametrize(("command", "kernel"), [
    ("train", COUNT), ("train", LAY_OUT), ("train", WALK), ("compare", COUNT), ("compare", WALK),
    ("unigram", "tokentui.learn.kernels.unigram.PASSES.losses"), ("encode", ENCODE),
    pytest.param("verify", WALK, marks=pytest.mark.peer),
])
def test_commands(
    command: str, kernel: str, failing: Failing, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with plain():
        tokentui.train(CORPUS, "gpt2", merges=20).save("tokenizer.json")
        expected = cli(*COMMANDS[command], input=CORPUS.documents[0])
    failing.fail(kernel)
    found = cli(*COMMANDS[command], input=CORPUS.documents[0])
    assert (found.exit_code, found.stdout_bytes) == (expected.exit_code, expected.stdout_bytes), found.output
    assert found.exit_code == 0
    assert found.stderr.splitlines().count(f"tokentui: {TOLD[0]}") == 1


def answers_of(snapshot: Snapshot) -> list[object]:
    """What a session shows at its end, whatever engine it has."""
    return [
        (one.at and (one.at.step, one.at.tokens, one.at.last), one.candidates, one.why, one.vocabulary,
         one.corpus, one.error, one.errors)
        for one in snapshot.columns
    ]


async def shown(*commands: do.Command[Any]) -> tuple[Snapshot, list[object]]:
    """A session that is told some commands, one after the other: its end, and its answers."""
    watched, answers = Watched(preset("gpt2")), []
    await watched.start()
    for command in (do.TrainOnText(CORPUS.documents[0]), do.GoTo(10), *commands):
        answers.append(await watched.send(command))
        await watched.settle()
    seen = watched.last
    await watched.close()
    return seen, answers


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize(("kernel", "call", "commands"), [
    (COUNT, 1, ()),
    (LAY_OUT, 1, ()),
    (RANK, 3, (do.Move(1),)),
    (COUNT, 2, (do.Preview(preset("gpt2", split="gpt2", tie="largest-pair")),)),
    (LAY_OUT, 2, (do.AnalyzeVocabulary("lowest", exhaust=True),)),
    (ENCODE, 1, (do.Export("out.json", "huggingface", overwrite=True),)),
    (RANK, 4, (do.Compare((ColumnWanted(preset("gpt2")), ColumnWanted(preset("bert")))), do.Move(2))),
])
async def test_sessions(
    kernel: str, call: int, commands: tuple[do.Command[Any], ...], failing: Failing,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:
    monkeypatch.setenv("TOKENTUI_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with plain():
        expected, same = await shown(*commands)
    failing.fail(kernel, call)
    seen, answers = await shown(*commands)
    assert (answers_of(seen), answers) == (answers_of(expected), same)
    assert seen.engine == engines.FAILED
    assert "SystemError: a kernel" in (tmp_path / "crash.txt").read_text()


def state_of(recipe: Recipe) -> State:
    """The state of a session with one column that kernels train."""
    state = State(prepare(CORPUS, recipe, Run()))
    assert state.main.training.by_kernels
    return state


def nothing(*_: object) -> None:
    """Take an answer."""


def test_a_fork_for_plain_python_leaves_a_training_its_kernels(failing: Failing) -> None:
    trainer = learn.start(CORPUS, UNIGRAM)
    engines.fail(SystemError("a kernel of a job"))
    assert trainer.fork(0, ()).traits.engine == engines.PLAIN
    assert trainer.traits.engine == engines.COMPILED, "else its own failure is not seen as one of kernels"


def test_a_failed_training_is_not_kept(failing: Failing) -> None:
    with plain():
        good = prepare(CORPUS, preset("gpt2"), Run())
    bad, cache = prepare(CORPUS, preset("gpt2"), Run()), TrainingCache()
    cache.keep(good)
    engines.fail(SystemError("a kernel"))
    cache.keep(bad)
    prepared = do.SetRecipe(preset("gpt2")).load(cache, bad, nothing)
    assert prepared.trainer is good.trainer


def test_pieces_of_a_step(failing: Failing, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise SystemError("a kernel")

    monkeypatch.setattr(UnigramTrainer, "drop_pieces", fails)
    state = state_of(replace(UNIGRAM, base="sorted"))
    do.perform(do.StepPieces(1), state, nothing)
    assert state.main.needs_fallback
    assert failing.told == TOLD


def test_the_walk_through_a_pruning_stays_where_it_is_when_kernels_fail(failing: Failing) -> None:
    trainer = learn.start(CORPUS, UNIGRAM)
    learn.jump(trainer, 2)
    walk = learn.substeps_of(trainer)
    assert walk is not None
    walk.drop_pieces(1)
    before = walk.walked
    failing.fail("tokentui.learn.kernels.unigram.PASSES.forward")
    with pytest.raises(SystemError):
        walk.drop_pieces(1)
    assert walk.walked == before


def test_a_column_whose_uses_fail_is_laid_out_again(
    failing: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = state_of(replace(UNIGRAM, base="sorted"))
    do.perform(do.Compare((state.main.wanted, ColumnWanted(preset("gpt2")))), state, nothing)
    for one in list(state.missing_trainings()):
        state.install_column(one, one.work())
    while state.sync.has_work:
        state.sync.work(0.0)
    do.perform(do.SetViewport(replace(state.view, wants=("vocabularies",))), state, nothing)
    column, pool = state.main, JobPool("test", 1, nothing)

    def fails(*_: object) -> None:
        raise SystemError("a kernel")

    monkeypatch.setattr(UnigramTrainer, "uses", property(fails))
    state.results.update_jobs(pool, state.view, rested=True)
    pool.close()
    assert (column.needs_fallback, column.in_sync, failing.told) == (True, False, TOLD)
    assert len(list(state.missing_trainings())) == 1


def test_a_column_that_fails_as_it_is_shown_leads_no_longer(
    failing: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = state_of(preset("gpt2"))
    wanted = [ColumnWanted(preset(name)) for name in ("gpt2", "bert")]
    do.perform(do.Compare(tuple(wanted)), state, nothing)
    for command in (do.SyncBy("tokens"), do.GoTo(30)):
        do.perform(command, state, nothing)
        while state.sync.has_work:
            for one in list(state.missing_trainings()):
                state.install_column(one, one.work())
            state.sync.work(0.0)
    first, second = state.sync.columns
    assert first.trainer.number == state.sync.position.value != second.trainer.number
    state.snapshot()

    def fails(*_: object) -> None:
        raise SystemError("a kernel")

    monkeypatch.setattr(first.trainer, "candidates_at", fails)
    do.perform(do.SetViewport(replace(state.view, candidates_top=1)), state, nothing)
    shown = state.snapshot()
    assert first.needs_fallback
    assert shown.position == Position("tokens", second.trainer.number)
    assert [one.in_sync for one in shown.columns] == [False, True]
