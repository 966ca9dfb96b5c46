"""The library as `import tokentui` gives it: the names, what they cost, and the example of the documentation.
"""

from __future__ import annotations

import contextlib
import pkgutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from trainers import trainer_class

import tokentui
from tokentui.axes import preset
from tokentui.core.engines import COMPILED
from tokentui.learn import start
from tokentui.recipe import AXIS_NAMES, SHAPE, Axes
from tokentui.text.read import read
from tokentui.text.sources import find_sample

NAMES = {
    "Cancelled", "Candidate", "Corpus", "Encoding", "Preset", "Recipe", "Step", "TokentuiError", "Tokenizer",
    "Trainer", "__version__", "diff", "load", "preset", "presets", "read", "train",
}


def test_these_are_the_public_names() -> None:
    assert set(tokentui.__all__) == NAMES
    assert set(dir(tokentui)) == NAMES
    for name in NAMES:
        assert getattr(tokentui, name) is not None


def test_another_name_is_none() -> None:
    with pytest.raises(AttributeError, match="no attribute 'trane'"):
        tokentui.trane  # noqa: B018


def fresh(code: str) -> str:
    """What a new interpreter prints."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_importing_loads_nothing_heavy() -> None:
    code = (
        "import sys, tokentui; print([m for m in ('textual', 'rich', 'click', 'regex') if m in sys.modules])"
    )
    assert fresh(code) == "[]"


def test_the_library_loads_no_screen() -> None:
    code = (
        "import sys, tokentui; t = tokentui.train('sample:sailor', 'udl-notebook', merges=3); t.encode('a');"
        "print([m for m in ('textual', 'rich', 'click') if m in sys.modules])"
    )
    assert fresh(code) == "[]"


def test_no_public_name_is_also_a_module() -> None:
    modules = {module.name for module in pkgutil.iter_modules(tokentui.__path__)}
    assert not modules & set(tokentui.__all__)


@pytest.mark.parametrize("name", tokentui.__all__)
@pytest.mark.first_run(cases=3)
def test_a_public_name_stays_itself_whatever_is_imported(name: str) -> None:
    first = f"import tokentui; before = tokentui.{name}"
    code = f"{first}; import tokentui.preset_table, tokentui.learn; print(tokentui.{name} is before)"
    assert fresh(code) == "True"


def test_axes_are_named_where_a_training_begins() -> None:
    for tokenizer in (
        tokentui.train("sample:hugs", "gpt2", merges=3, tie="first-seen", coverage=None),
        tokentui.Trainer("sample:hugs", "gpt2", tie="first-seen", coverage=None).tokenizer(),
    ):
        assert tokenizer.recipe == tokentui.preset("gpt2", tie="first-seen")
    with pytest.raises(tokentui.TokentuiError, match="unknown argument"):
        tokentui.train("sample:hugs", "gpt2", vocabsize=300)  # type: ignore[call-arg]


@pytest.mark.parametrize(("word", "meant"), [("mergess", "merges"), ("covrage", "coverage"), ("tye", "tie")])
def test_an_argument_that_there_is_not_is_refused_whatever_its_value(word: str, meant: str) -> None:
    for value in (None, 3):
        with pytest.raises(tokentui.TokentuiError, match=f"{word}: unknown argument .did you mean {meant}"):
            tokentui.train("sample:hugs", "gpt2", **{word: value})  # type: ignore[arg-type]


def test_the_documented_example(tmp_path: Path) -> None:
    corpus = tokentui.read(str(find_sample("sailor").path), as_="lines")
    recipe = tokentui.preset("udl-notebook", unknown="per-unit")
    run = tokentui.Trainer(corpus, recipe)
    step = run.step()
    assert isinstance(step, tokentui.Step)
    assert (step.number, step.left, step.right, step.token, step.count) == (1, b"s", b"e", b"se", 13)
    run.back()
    assert run.number == 0
    assert run.jump(12) == 12
    assert run.run(vocab_size=40) == "vocab_size"
    best = run.candidates(3)
    counts = [pair.count for pair in best if isinstance(pair, tokentui.Candidate)]
    assert len(counts) == 3
    assert counts == sorted(counts, reverse=True)
    tok = run.tokenizer()
    encoding = tok.encode("a sailor")
    assert isinstance(encoding, tokentui.Encoding)
    assert len(encoding.ids) == len(encoding.tokens) == len(encoding.offsets) == len(encoding.pieces)
    assert tok.decode(encoding.ids) == "a sailor"
    assert tok.explain("sailor")[0].steps
    tok.save(tmp_path / "novel.json")
    assert tokentui.load(tmp_path / "novel.json").encode("a sailor").ids == encoding.ids


def test_train_is_the_three_steps_in_one(tmp_path: Path) -> None:
    corpus = tokentui.read("sample:sailor")
    run = tokentui.Trainer(corpus, tokentui.preset("gpt2"), first_id=1, specials=["<|endoftext|>"])
    run.run(vocab_size=270)
    run.tokenizer().save(tmp_path / "a.json")
    for source in (corpus, "sample:sailor", ["sample:sailor"]):
        for recipe in ("gpt2", tokentui.preset("gpt2")):
            tok = tokentui.train(source, recipe, vocab_size=270, first_id=1, specials=["<|endoftext|>"])
            assert list(tok.entries()) == list(tokentui.load(tmp_path / "a.json").entries())
    assert tok.run["vocab_size"] == 270


def test_a_long_call_tells_and_asks() -> None:
    told: list[tuple[int, int]] = []
    tokentui.train("sample:sailor", "gpt2", merges=3, progress=lambda done, total: told.append((done, total)))
    assert told
    with pytest.raises(tokentui.Cancelled):
        tokentui.train("sample:sailor", "gpt2", cancel=lambda: True)


def test_a_run_that_is_stopped_stays_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """At whichever question it is stopped: its numbers are those of its step, and it goes on."""
    monkeypatch.setenv("TOKENTUI_KERNELS", "off")
    whole = tokentui.Trainer("sample:sailor", "gpt2")
    seen = [(whole.tokens, whole.candidates(5))]
    for merges in range(1, 21):
        whole.run(merges=merges, max_length=6)
        seen.append((whole.tokens, whole.candidates(5)))
    stopped = set()
    for last in range(1, 30, 3):
        trainer, answers = tokentui.Trainer("sample:sailor", "gpt2"), iter(range(last))

        def asked(left: Iterator[int] = answers) -> bool:
            return next(left, None) is None

        with contextlib.suppress(tokentui.Cancelled):
            trainer.run(merges=20, max_length=6, cancel=asked)
        stopped.add(trainer.number)
        assert (trainer.tokens, trainer.candidates(5)) == seen[trainer.number]
    assert len(stopped) > 1


@pytest.mark.parametrize(
    ("words", "where"),
    [
        ({"merges": -1}, "merges=-1"),
        ({"min_count": 0}, "min_count=0"),
        ({"vocab_size": 2**60}, f"vocab_size={2**60}"),
        ({"max_length": True}, "max_length"),
        ({"first_id": "1"}, "first_id"),
        ({"specials": "<unk>"}, "specials"),
        ({"specials": [""]}, "specials"),
        ({"specials": ["a", "a"]}, "special a"),
    ],
)
def test_words_of_a_run_that_cannot_be(words: dict[str, object], where: str) -> None:
    with pytest.raises(tokentui.TokentuiError) as caught:
        tokentui.train("sample:sailor", "gpt2", **words)  # type: ignore[arg-type]
    assert caught.value.where == where


def test_bad_input_is_a_tokentui_error(tmp_path: Path) -> None:
    for bad in (
        lambda: tokentui.read(tmp_path / "none"),
        lambda: tokentui.load(tmp_path / "none"),
        lambda: tokentui.preset("gpt5"),
        lambda: tokentui.train("sample:sailor", "gpt5"),
        lambda: tokentui.train("sample:sailor", tokentui.preset("gage", base="gpt2-bytes")),
        lambda: tokentui.train("sample:sailor", tokentui.Recipe(split="gpt5")),
        lambda: tokentui.Recipe(coverage=2),
    ):
        with pytest.raises(tokentui.TokentuiError):
            bad()


@pytest.mark.parametrize("walk", [
    lambda trainer: trainer.run(merges=20), lambda trainer: trainer.jump(2), lambda trainer: trainer.step(),
    lambda trainer: trainer.back(),
])
def test_an_interrupt_waits_for_the_end_of_a_step(
    walk: Callable[[tokentui.Trainer], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of one the counts are neither those before it nor those after it."""
    trainer, expected = (tokentui.Trainer("sample:sailor", "gpt2") for _ in range(2))
    trainer.run(merges=10)
    expected.run(merges=30)
    started: Any = start(read("sample:sailor"), preset("gpt2"))
    engine = type(started.engine)
    walks, whole = engine.walk, list[bool]()

    def interrupted(*way: object) -> None:
        signal.raise_signal(signal.SIGINT)
        walks(*way)
        whole.append(True)

    monkeypatch.setattr(engine, "walk", interrupted)
    with pytest.raises(KeyboardInterrupt):
        walk(trainer)
    monkeypatch.undo()
    assert whole == [True]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    trainer.run(merges=30)
    assert list(trainer.steps()) == list(expected.steps())
    assert trainer.candidates() == expected.candidates()


def test_an_interrupt_is_not_lost_where_the_walk_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKENTUI_KERNELS", "off")  # else it may be a kernel that fails
    trainer = tokentui.Trainer("sample:sailor", "gpt2")

    def fails(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)
        raise ValueError("a fault")

    monkeypatch.setattr(trainer_class("gpt2"), "advance", fails)
    with pytest.raises(KeyboardInterrupt) as raised:
        trainer.run(merges=20)
    assert isinstance(raised.value.__cause__, ValueError)


def test_a_handler_that_is_set_during_a_walk_stays() -> None:
    def handles(*_: object) -> None:
        pass

    trainer, before = tokentui.Trainer("sample:sailor", "gpt2"), signal.getsignal(signal.SIGINT)
    try:
        trainer.run(merges=20, progress=lambda *_: signal.signal(signal.SIGINT, handles))
        assert signal.getsignal(signal.SIGINT) is handles
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_step_calls_few_functions() -> None:
    """Each costs a twentieth of a step with kernels, and nothing else is as frequent in a notebook."""
    called = list[str]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            called.append(frame.f_code.co_qualname)

    trainer = tokentui.Trainer("sample:sailor", "gpt2")
    if trainer._engine.traits.engine != COMPILED:
        pytest.skip("plain Python updates its queue in the step")
    for _ in range(100):  # a record has an initializer of its own once there were some of its kind
        trainer.jump(10)
        trainer.step()
    trainer.jump(20)
    for number in (11, 21):  # known, and new
        trainer.jump(number - 2)
        trainer.step()  # the tokens of all steps before are known
        called.clear()
        sys.setprofile(note)
        try:
            trainer.step()
        finally:
            sys.setprofile(None)
        assert len(called) <= 12, called


def test_type_checkers_know_each_axis_and_training_option() -> None:
    assert set(Axes.__annotations__) == {*AXIS_NAMES, *SHAPE}
