"""A held key leaves nothing behind: simulated lines, with a clock of their own."""

from __future__ import annotations

import pytest

from tokentui.thinwire.link import AHEAD, PATIENCE_S, SLOW, LinkEstimator

STEP_S = 0.001


class Line:
    """A line of some bytes a second, with a buffer that nobody can look into."""

    def __init__(self, rate: int, *, answers: bool) -> None:
        self.now = 0.0
        self.rate, self.answers = rate, answers
        self.buffered = 0.0
        self.questions: list[float] = []
        self.estimate = LinkEstimator(lambda: self.now)
        self.frames = 0

    def frame(self, size: int) -> None:
        self.estimate.note_sent(size)
        self.buffered += size
        self.frames += 1
        if self.estimate.take_request():
            self.questions.append(self.buffered)

    def pass_time(self) -> None:
        self.now += STEP_S
        taken = min(self.buffered, self.rate * STEP_S)
        self.buffered -= taken
        self.questions = [left - taken for left in self.questions]
        if self.questions and self.questions[0] <= 1e-9:
            self.questions.pop(0)
            if self.answers:
                self.estimate.note_answer()

    def hold(self, seconds: float, size: int) -> None:
        """Hold a key down: 30 times a second there is something to show."""
        owed, end, pressed = False, self.now + seconds, self.now
        while self.now < end:
            if self.now >= pressed:
                self.estimate.note_key("j")
                pressed += 1 / 30
                owed = True
            if owed and self.estimate.delay() == 0:
                self.frame(size)
                owed = False
            self.pass_time()
        self.frame(size)


@pytest.mark.parametrize("answers", [False, True])
@pytest.mark.parametrize("size", [40, 600, 2000])
def test_behind_a_held_key_less_than_a_second_waits_on_a_slow_line(size: int, answers: bool) -> None:
    line = Line(SLOW, answers=answers)
    line.hold(3, size)
    assert line.buffered / line.rate < 1.0


def test_a_fast_terminal_that_answers_shows_every_frame() -> None:
    line = Line(10_000_000, answers=True)
    line.hold(3, 2000)
    assert line.frames >= 90


def test_keys_that_are_pressed_one_by_one_never_wait() -> None:
    line = Line(SLOW, answers=False)
    for key in "nbjknbjk" * 10:
        line.estimate.note_key(key)
        assert line.estimate.delay() == 0
        line.frame(3000)
        line.pass_time()


def test_a_terminal_that_does_not_answer_is_not_asked_for_ever() -> None:
    line = Line(SLOW, answers=False)
    line.frame(AHEAD + 1)
    assert len(line.questions) == 1
    line.now += PATIENCE_S + 1
    assert line.estimate.delay() == 0
    for _ in range(5):
        line.frame(10 * AHEAD)
    assert len(line.questions) == 1


def test_a_write_that_had_to_wait_tells_the_speed_of_a_line_that_does_not_answer() -> None:
    line = Line(SLOW, answers=False)
    line.estimate.note_write(SLOW, 1.0)
    line.frame(SLOW)
    assert line.estimate.delay() > 1.0  # what is on its way, though no key is held
    line.now += 2.0
    assert line.estimate.delay() == 0


def test_a_line_that_has_become_fast_is_not_waited_for() -> None:
    line = Line(SLOW, answers=False)
    line.estimate.note_write(SLOW, 1.0)
    for _ in range(100):
        line.frame(SLOW)
        line.estimate.note_write(SLOW, 0.0)
    assert line.estimate.delay() == 0
