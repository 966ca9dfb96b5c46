"""Cost of what-ifs: a changed run against the unchanged run, at the same number of merges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tokentui.core.jobs import each
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.trainer import Trainer

_LEAST = 0.001
"""A smaller share is reported as `under 0.1 %`."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The difference that what-ifs make at a step.

    Attributes:
        step: The step at which both runs are compared.
        before: The length of the corpus in tokens in the unchanged run, by weight.
        after: Its length in the changed run.
        never: The exact bytes of the tokens that only the unchanged run makes, in its order.
        instead: The exact bytes of the tokens that only the changed run makes, in its order.
    """

    step: int
    before: int
    after: int
    never: tuple[bytes, ...]
    instead: tuple[bytes, ...]

    @property
    def share(self) -> float:
        """The growth of the corpus in tokens as a share of its length in the unchanged run; negative if it
        shrinks, 0 if that has no tokens."""
        return (self.after - self.before) / self.before if self.before else 0.0

    @property
    def said(self) -> str:
        """The cost in words. If both runs are equal so far, it names the last step."""
        if self.after == self.before and not self.never and not self.instead:
            return f"no difference up to step {self.step:,}"
        share, more = abs(self.share), "more" if self.after > self.before else "fewer"
        size = f"{share:.1%}".replace("%", " %") if share >= _LEAST else "under 0.1 %"
        grown = f"{size} {more} tokens" if self.after != self.before else "as many tokens"
        return f"{grown}, {len(self.never):,} token{'s' * (len(self.never) != 1)} never made"


class RunSide(NamedTuple):
    """A snapshot of one of two runs at a step, which can be read while the run continues.

    Attributes:
        tokens: The length of the corpus in tokens, by weight.
        tokenizer: The tokenizer.
    """

    tokens: int
    tokenizer: Tokenizer

    @classmethod
    def of(cls, run: Trainer, step: int) -> RunSide:
        """Take a snapshot of a run at a computed step. The run stays at its step."""
        return cls(run.tokens_at(step), run.tokenizer(step))

    @property
    def made(self) -> dict[bytes, None]:
        """The exact bytes of the tokens that its merges make, in order, as keys."""
        vocabulary, merges = self.tokenizer.vocabulary, self.tokenizer.merges
        symbols = vocabulary.symbols(merges)[vocabulary.base_size :]
        return dict.fromkeys(map(vocabulary.spelled, each(symbols, len(symbols))))


def cost(run: Trainer, changed: Trainer) -> Cost:
    """Return the cost of what-ifs at the last step that both runs have reached. Moves neither.

    Args:
        run: The unchanged run.
        changed: The run under what-ifs, over the same corpus.
    """
    step = min(run.number, changed.number)
    return between(step, RunSide.of(run, step), RunSide.of(changed, step))


def between(step: int, run: RunSide, changed: RunSide) -> Cost:
    """Return the cost of what-ifs at a step.

    Args:
        step: The step.
        run: The unchanged run at that step.
        changed: The run under what-ifs at that step.
    """
    made, made_changed = run.made, changed.made
    never = tuple(token for token in made if token not in made_changed)
    instead = tuple(token for token in made_changed if token not in made)
    return Cost(step, run.tokens, changed.tokens, never, instead)
