"""However long a corpus is laid out, whoever waits is asked often whether to go on: counted in lines of
Python, not in time."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from tokentui.axes import preset
from tokentui.core import jobs
from tokentui.core.errors import Cancelled
from tokentui.learn import start
from tokentui.text.corpus import Corpus

PART = 256
MOST_LINES = 32 * PART
"""What is done with a part takes some lines a unit."""
MOST_LINES_OF_UNIGRAM = 150_000
"""Of a lattice so many units are laid out at a time that this takes some tens of milliseconds, whatever a
part is."""
TEXTS = {
    "one letter": "a" * 16 * PART,
    "one letter that is no ASCII": "é" * 16 * PART,
    "one word": "".join(chr(97 + (n * n * 7 + n // 3) % 26) for n in range(16 * PART)),
    "spaces": " " * 16 * PART,
    "many words": " ".join(f"w{n:x}" for n in range(8 * PART)),
}
RECIPES = ("gpt2", "bert", "sentencepiece-bpe", "sentencepiece-unigram", "gage", "subword-nmt")


class Asked:
    """Counts the lines that are executed between two questions whether to go on."""

    def __init__(self) -> None:
        self.lines = self.most = self.questions = 0
        self.where = ""

    def __call__(self) -> bool:
        self.questions += 1
        if self.lines > self.most:
            names: list[str] = []
            frame: FrameType | None = sys._getframe(1)
            while frame is not None and len(names) < 6:
                names.append(f"{frame.f_code.co_name}:{frame.f_lineno}")
                frame = frame.f_back
            self.most, self.where = self.lines, " < ".join(names)
        self.lines = 0
        return False

    def trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        """One more line."""
        self.lines += event == "line"
        return self.trace


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What holds for millions of units holds for thousands in smaller parts; and it is the plain engine that
    is looked at."""
    monkeypatch.setattr(jobs, "BLOCK", PART)
    monkeypatch.setenv("TOKENTUI_KERNELS", "off")


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.first_run(cases=5)
def test_laying_out_asks_again_and_again(text: str, name: str) -> None:
    asked = Asked()
    corpus, recipe = Corpus.from_text(TEXTS[text], text), preset(name)
    # what is imported, and tables that are made once
    start(Corpus.from_text(TEXTS[text][:100], text), recipe)
    before = sys.gettrace()
    sys.settrace(asked.trace)
    try:
        with jobs.job(cancel=asked):
            start(corpus, recipe)
    finally:
        sys.settrace(before)
    asked()
    assert asked.most <= (MOST_LINES_OF_UNIGRAM if recipe.objective == "unigram" else MOST_LINES), asked.where
    assert asked.questions >= 4


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("name", RECIPES)
def test_each_question_can_stop_it(name: str) -> None:
    """Wherever it is stopped it ends by `Cancelled`, and asks no more."""
    corpus, recipe = Corpus.from_text(TEXTS["one letter"], "letters"), preset(name)
    questions = Asked()
    with jobs.job(cancel=questions):
        start(corpus, recipe)
    for last in range(1, questions.questions + 1, max(1, questions.questions // 7)):
        answers = iter([False] * (last - 1) + [True])

        with jobs.job(cancel=answers.__next__), pytest.raises(Cancelled):
            start(corpus, recipe)
