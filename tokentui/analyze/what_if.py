"""The cost of what-ifs: a changed run against the run as it was, at the same number of merges."""

from __future__ import annotations

from dataclasses import dataclass

from tokentui.learn.trainer import Trainer

_LEAST = 0.001
"""A smaller share is not told as a figure."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The difference that what-ifs make at a step.

    Attributes:
        step: The step that both runs are looked at.
        before: The length of the corpus in tokens in the run as it was, by weight.
        after: That in the changed run.
        never: The exact bytes of the tokens that the changed run does not make, in the order in which the run
            as it was makes them.
        instead: Those of the tokens that only the changed run makes, in its order.
    """

    step: int
    before: int
    after: int
    never: tuple[bytes, ...]
    instead: tuple[bytes, ...]

    @property
    def share(self) -> float:
        """The growth of the corpus in tokens, as a share of its length in the run as it was."""
        return (self.after - self.before) / self.before if self.before else 0.0

    @property
    def said(self) -> str:
        """The cost in words."""
        share, more = abs(self.share), "more" if self.after > self.before else "fewer"
        size = f"{share:.1%}".replace("%", " %") if share >= _LEAST else "under 0.1 %"
        grown = f"{size} {more} tokens" if self.after != self.before else "as many tokens"
        return f"{grown}, {len(self.never):,} token{'s' * (len(self.never) != 1)} never made"


def cost(run: Trainer, changed: Trainer) -> Cost:
    """The cost of what-ifs at the last step that both runs have come to.

    Args:
        run: The run as it was.
        changed: The run under what-ifs, over the same corpus.
    """
    step = min(run.number, changed.number)
    made = [_made(trainer, step) for trainer in (run, changed)]
    never, instead = (
        tuple(token for token in one if token not in other) for one, other in (made, reversed(made))
    )
    return Cost(step, run.tokens_at(step), changed.tokens_at(step), never, instead)


def _made(trainer: Trainer, step: int) -> dict[bytes, None]:
    """The tokens that the first so many steps make, in order."""
    vocabulary = trainer.tokenizer(step).vocabulary
    symbols = (trainer.step_at(number).made for number in range(1, step + 1))
    return dict.fromkeys(vocabulary.spelled(symbol) for symbol in symbols if symbol >= 0)
