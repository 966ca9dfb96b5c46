"""Whatever takes long stops when it is asked to: patterns, openings, encoding a word of a megabyte."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from screens import explorer
from sessions import Watched
from textual import events
from waiting import notes_of, settled, until

from tokentui import learn
from tokentui.axes import preset
from tokentui.core import jobs
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.learn import start
from tokentui.recipe import Recipe, Run, Stops
from tokentui.session import commands as do
from tokentui.session.engine.state import State
from tokentui.session.training.corpus_view import RunningText
from tokentui.session.training.training import Training, prepare
from tokentui.text import patterns
from tokentui.text.corpus import Corpus
from tokentui.text.split import SHORT, SPLITS, splitter
from tokentui.ui.field import TYPED_LIMIT

Limited = Callable[..., None]
SLOW = r"(?:x|xx)+y|[^x]"
"""Quick but for runs of x without y, over which it goes on for ever."""
STUCK = "x" * 60


class After:
    """A `cancel` that says yes from the nth question on, and counts them."""

    def __init__(self, count: int) -> None:
        self.count, self.asked = count, 0

    def __call__(self) -> bool:
        self.asked += 1
        return self.asked >= self.count


# Patterns


class Slow:
    """A pattern that is interrupted again and again: after each few matches, or before the first."""

    def __init__(self, pattern: Any, after: Sequence[int]) -> None:
        self._pattern, self._after = pattern, list(after)

    def finditer(self, text: str, at: int = 0, timeout: float = 0.0) -> Iterator[Any]:
        most = self._after.pop() if self._after and timeout == patterns.AT_ONCE else len(text) + 2
        for number, match in enumerate(self._pattern.finditer(text, at)):
            if number == most:
                raise TimeoutError
            yield match


PATTERNS = [
    r"a+|b", r"(?<=a)b|a", r"a*", r"|a", r"b??", r"\b", r"(?=a)|b+", r"^a|b$|c", r"(?<!^)a", r"\Ga|b",
    r"a(?=b)|\s*",
]


@given(st.sampled_from(PATTERNS), st.text("ab c\n", max_size=12), st.lists(st.integers(0, 3), max_size=8))
def test_matches_are_the_same_however_often_looking_is_interrupted(
    pattern: str, text: str, after: list[int]
) -> None:
    compiled = regex.compile(pattern)
    whole = [match.span() for match in compiled.finditer(text)]
    assert [match.span() for match in patterns.find(Slow(compiled, after), text, "here")] == whole


@pytest.mark.parametrize("split", [name for name in SPLITS if name != "regex"])
def test_long_texts_are_split_as_short_ones_are(split: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "The crowd's 2024\n\n  déjà vu, isn't it?   " * 20 + "a" * 200 + " " * 200 + "!" * 50
    one = splitter(split)
    words, spans = one.words(text), one.spans(text)
    monkeypatch.setattr("tokentui.text.split.SHORT", 10)
    assert (one.words(text), one.spans(text)) == (words, spans)
    monkeypatch.setattr(patterns, "AT_ONCE", 1e-9)
    assert (one.words(text), one.spans(text)) == (words, spans)
    assert len(text) < SHORT


@pytest.mark.slow
def test_a_pattern_is_left_behind_where_the_caller_is_asked_to_stop(limited: Limited) -> None:
    limited(pattern_seconds=0.1)
    cancel = After(3)
    with jobs.job(cancel=cancel), pytest.raises(Cancelled):
        splitter(f"regex:{SLOW}").words("abc" + STUCK)
    assert cancel.asked == 3
    with pytest.raises(TokentuiError, match="too long"):
        splitter(f"regex:{SLOW}").words("abc" + STUCK)


def test_one_slow_match_is_a_matter_of_itself(limited: Limited) -> None:
    """The time is that of a match, not of all the matches in a text."""
    limited(pattern_seconds=0.05)
    text = "ab" * 30_000
    assert splitter("regex:(?:x|xx)+y|[ab]").words(text) == list(text)


# Work on one long word


@pytest.mark.slow
def test_work_on_one_enormous_word_asks_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKENTUI_KERNELS", "off")  # kernels merge it in some milliseconds
    run = start(Corpus.from_text("ab" * 2000), preset("gpt2"))
    learn.run(run, Stops(merges=8))
    tokenizer = run.tokenizer()
    text = "ab" * 40_000
    never = After(10**9)
    with jobs.job(cancel=never):
        tokenizer.explain(text[:100])
        tokenizer.encode(text)
    assert never.asked > len(text) // 2 // 4096
    for count in (1, never.asked // 2):
        with jobs.job(cancel=After(count)), pytest.raises(Cancelled):
            tokenizer.encode(text)


@pytest.mark.slow
@pytest.mark.parametrize("split", ["gpt2", f"regex:{SLOW}"])
def test_questions_facts_and_formats_stop_at_any_question(split: str) -> None:
    corpus = Corpus.from_text("hug pug pun bun hugs " * 40)

    def fresh() -> State:
        """Return a state that no question has been asked of: a tokenizer keeps its answers."""
        run = start(corpus, Recipe(split=split))
        learn.run(run, Stops(merges=12))
        return State(replace(prepare(corpus, run.recipe, Run()), trainer=run))

    asked = do.AnalyzeVocabulary("hugs"), do.ExamineHealth(), do.Formats(), do.Preview(preset("bert"))
    for command in asked:
        every, state = After(10**9), fresh()
        with jobs.job(cancel=every):
            do.perform(command, state, lambda _: None)
        assert every.asked
        for count in {1, every.asked // 2 or 1}:
            state = fresh()
            with jobs.job(cancel=After(count)), pytest.raises(Cancelled):
                do.perform(command, state, lambda _: None)


# A session


async def test_escape_stops_a_pattern_that_would_go_on(
    session: Watched, tmp_path: Path, limited: Limited, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(pattern_seconds=2.0)
    begun, beside = threading.Event(), patterns._in_thread

    def told(work: Callable[[], Any]) -> Any:
        begun.set()
        return beside(work)

    monkeypatch.setattr(patterns, "_in_thread", told)
    path = tmp_path / "x.txt"
    path.write_text("abc " + STUCK)
    await session.send(do.Open((str(path),)))
    await session.settle()
    using = session.send(do.SetRecipe(Recipe(split=f"regex:{SLOW}")))
    await asyncio.to_thread(begun.wait, 60)
    session.send(do.CancelWork())
    with pytest.raises(Cancelled):
        await using
    snapshot = await session.settle()
    assert (snapshot.main.recipe, snapshot.busy, snapshot.main.partial) == (Recipe(), None, False)


async def test_an_opening_that_never_asks_is_left_behind(
    session: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    await session.send(do.Open(("sample:hugs",)))
    begun, go_on, real = threading.Event(), threading.Event(), prepare

    def hangs(corpus: Corpus, *more: Any) -> Training:
        if corpus.name == "hugs":
            return real(corpus, *more)
        begun.set()
        go_on.wait(60)
        more[-1](prepared := real(corpus, *more))
        return prepared

    monkeypatch.setattr("tokentui.session.training.training.prepare", hangs)
    opening = session.send(do.Open(("sample:sailor",)))
    await asyncio.to_thread(begun.wait, 60)
    session.send(do.CancelWork())
    with pytest.raises(Cancelled):
        await opening
    assert (await session.settle()).corpus.name == "hugs"
    await session.send(do.Open(("sample:hugs",)))
    left = [thread for thread in threading.enumerate() if thread.name.startswith("tokentui-loader")]
    go_on.set()
    await asyncio.to_thread(left[0].join, 60)
    session.send(do.Move(1))
    snapshot = await session.settle()
    assert (snapshot.corpus.name, snapshot.main.at.step, snapshot.busy) == ("hugs", 1, None)


# What is looked at


def test_a_typed_text_over_which_a_pattern_hangs_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe(split=f"regex:{SLOW}")
    prepared = prepare(Corpus.from_text("abc abc"), recipe, Run.of({}))
    one = State(prepared)
    with jobs.job(cancel=lambda: False, match_seconds=0.05):
        one.typed = STUCK
        assert "the pattern takes too long" in str(one.snapshot().main.encoding.error)
        monkeypatch.setattr(patterns, "find", None)
        do.perform(do.Move(0), one, lambda _: None)
        assert "the pattern takes too long" in str(one.snapshot().main.encoding.error)
        monkeypatch.undo()
        one.typed = "abc"
        assert [token.text for token in one.snapshot().main.encoding.tokens] == ["a", "b", "c"]


@pytest.mark.slow
def test_a_corpus_over_which_a_pattern_hangs_is_shown_as_it_is(limited: Limited) -> None:
    limited(pattern_seconds=0.05)
    recipe = Recipe(split=f"regex:{SLOW}")
    counted = prepare(Corpus.from_text("abc"), recipe, Run.of({}))
    text = "abc " + STUCK
    corpus = Corpus.from_text(text)
    one = State(replace(counted, corpus=corpus, text=RunningText(corpus, recipe)))
    for _ in range(2):
        view = one.snapshot().main.corpus
        assert "".join(part.text for part in view.parts) == text


@pytest.mark.slow
@pytest.mark.usefixtures("every_frame")
async def test_a_paste_of_a_megabyte_is_cut_and_said() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        line = app.main.encode.line
        await pilot.press("i")
        await until(pilot, lambda: app.focused is line)
        line.value = "kept "
        line.cursor_position = 5
        app.post_message(events.Paste("a" * 1_000_000))
        await until(pilot, lambda: len(line.value) == TYPED_LIMIT)
        assert line.value == "kept " + "a" * (TYPED_LIMIT - 5)
        await until(
            pilot,
            lambda: any("19,995 of 1,000,000 characters" in note for note in notes_of(app)),
        )
        await until(pilot, lambda: session.of(do.SetInput) and session.of(do.SetInput)[-1].text == line.value)
