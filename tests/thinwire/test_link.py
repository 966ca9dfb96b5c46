"""A held key leaves nothing behind: simulated lines, with a clock of their own."""

from __future__ import annotations

import pytest

from tokentui.thinwire.link import AHEAD, PATIENCE_S, SLOW, LinkEstimator

STEP_S = 0.001


class Line:
    """A line of `rate` bytes a second, with a buffer that nobody can look into.

    Args:
        answers: Whether the terminal answers status requests.
        trip_s: The seconds that an answer takes besides the time of the bytes before it.
    """

    def __init__(self, rate: int, *, answers: bool, trip_s: float = 0.0) -> None:
        self.now = 0.0
        self.rate, self.answers, self.trip_s = rate, answers, trip_s
        self.buffered = 0.0
        self.questions: list[float] = []
        self.on_their_way: list[float] = []
        """When the answers arrive."""
        self.estimate = LinkEstimator(lambda: self.now)
        self.frames = self.sent = 0

    def frame(self, size: int) -> None:
        self.estimate.note_sent(size)
        self.buffered += size
        self.sent += size
        self.frames += 1
        if self.estimate.take_request():
            self.questions.append(self.buffered)

    def pass_time(self) -> None:
        self.now += STEP_S
        taken = min(self.buffered, self.rate * STEP_S)
        self.buffered -= taken
        self.questions = [left - taken for left in self.questions]
        if self.questions and self.questions[0] <= 1e-6:
            self.questions.pop(0)
            if self.answers:
                self.on_their_way.append(self.now + self.trip_s)
        while self.on_their_way and self.on_their_way[0] <= self.now:
            self.on_their_way.pop(0)
            self.estimate.note_answer()

    def rest(self, seconds: float) -> None:
        """Let time pass, and nothing else."""
        for _ in range(round(seconds / STEP_S)):
            self.pass_time()

    def hold(self, seconds: float, size: int) -> float:
        """Hold a key down: 30 times a second there is something to show.

        Returns:
            The seconds after the release until the terminal shows the last key.
        """
        owed, end, pressed = False, self.now + seconds, self.now
        while self.now < end or owed or self.buffered > 0:
            if pressed <= self.now < end:
                self.estimate.note_key("j")
                pressed += 1 / 30
                owed = True
            if owed and self.estimate.delay() == 0:
                self.frame(size)
                owed = False
            self.pass_time()
            assert self.now < end + 120, "the last frame is never sent"
        return self.now - end


RATES = (300, 960, 2_400, 9_600, 57_600, 1_000_000)


@pytest.mark.parametrize("trip_s", [0.0, 0.2, 0.7, 3.0])
@pytest.mark.parametrize("size", [40, 700, 2000])
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.first_run(cases=6)
def test_answers_limit_what_a_held_key_leaves_behind(rate: int, size: int, trip_s: float) -> None:
    """One frame is on its way at the release, or half a second of output, and the last frame follows it."""
    line = Line(rate, answers=True, trip_s=trip_s)
    line.hold(20, size)  # the speed is learned
    line.rest(5)
    left = line.hold(5, size)
    assert left <= 0.55 + 2 * size / rate + 2 * trip_s


@pytest.mark.parametrize("size", [40, 700, 2000])
def test_a_line_of_9600_baud_without_answers_is_up_to_date_soon_after_a_held_key(size: int) -> None:
    line = Line(960, answers=False)
    left = line.hold(5, size)
    assert left <= 3 * size / line.rate + 0.3


@pytest.mark.parametrize("answers", [False, True])
@pytest.mark.parametrize(("rate", "most"), [(960, 2.0), (9_600, 0.3)])
def test_the_screen_is_up_to_date_soon_after_the_first_held_key(
    rate: int, most: float, answers: bool
) -> None:
    line = Line(rate, answers=answers, trip_s=0.02)
    assert line.hold(5, 700) <= most


def test_a_first_answer_that_comes_late_counts() -> None:
    line = Line(300, answers=True)
    line.hold(5, 700)
    assert not line.estimate.answer_pending
    first = line.frames
    assert line.hold(12, 300) <= 2.5
    assert 8 <= line.frames - first <= 16


def test_answers_that_take_long_do_not_slow_a_fast_line() -> None:
    """The frames on their way fill the line until their answers come."""
    line = Line(1_000_000, answers=True, trip_s=0.2)
    line.hold(3, 700)
    frames = line.frames
    line.hold(3, 700)
    assert line.frames - frames >= 75


@pytest.mark.parametrize(("rate", "most"), [(300, 10.0), (960, 2.0), (9_600, 0.3)])
def test_a_line_that_has_become_slow_gets_few_frames(rate: int, most: float) -> None:
    line = Line(1_000_000, answers=True)
    line.hold(3, 700)
    line.rest(1)
    line.rate = rate
    assert line.hold(5, 700) <= most
    assert line.frames <= 95 + 6 * rate / 700


def test_an_answer_that_is_lost_does_not_hold_back_frames_for_ever() -> None:
    line = Line(9_600, answers=True)
    line.hold(3, 700)
    line.frame(AHEAD)
    assert line.questions
    line.questions.clear()
    frames = line.frames
    assert line.hold(15, 700) <= 0.6
    assert line.frames - frames >= 40


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
    line.estimate.note_write(9_600, 1.0)
    for _ in range(100):
        line.frame(9_600)
        line.estimate.note_write(9_600, 0.0)
    assert line.estimate.delay() == 0
