"""Commands of the playground: one text, encoded by up to three tokenizers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokentui.session.commands.base import Command, Job, Lane
from tokentui.session.playground import Played, PlayedText, PlayedToken

if TYPE_CHECKING:
    from tokentui.session.engine.state import State


class OpenPlayed(Command[None]):
    """Open a tokenizer in the playground: that of a column at this step, a file, or a recipe to train.

    Raises if it cannot be read or trained.
    """

    played: Played

    def apply(self, state: State) -> Job[None] | None:
        playground, played = state.playground, self.played
        if played.column is not None:
            playground.take(played, state.context(played.column).tokenizer)
            return None
        return None if playground.has(played) else Job(lambda: playground.open(played), reads_files=True)


class EncodePlayed(Command[tuple[PlayedText, ...]], lane=Lane.JOB):
    """Ask for a text as the tokenizers of the playground encode it. A newer text takes the place of one that
    is being encoded.

    Args:
        text: The text.
        tokenizers: The tokenizers, all of them open.
        allow_special: True if text that spells a special token becomes that token.

    Raises if a tokenizer is not open.
    """

    text: str
    tokenizers: tuple[Played, ...]
    allow_special: bool = False

    def apply(self, state: State) -> Job[tuple[PlayedText, ...]]:
        playground = state.playground
        return Job(lambda: tuple(
            playground.encode(played, self.text, allow_special=self.allow_special)
            for played in self.tokenizers
        ))


class DescribePlayed(Command[tuple[PlayedToken | None, ...]], lane=Lane.JOB):
    """Ask for tokens of the playground in words, each by a tokenizer and an id. Answered by None for an id
    that is None.

    Raises if there is no such id.
    """

    tokens: tuple[tuple[Played, int | None], ...]

    def apply(self, state: State) -> Job[tuple[PlayedToken | None, ...]]:
        playground = state.playground
        return Job(lambda: tuple(
            None if token is None else playground.describe(played, token) for played, token in self.tokens
        ))
