"""Commands of the playground: one text, encoded by up to three tokenizers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokentui.session.commands.base import Command, Job, Lane
from tokentui.session.playground import Playable, Played, PlayedIds, PlayedText, PlayedToken

if TYPE_CHECKING:
    from tokentui.session.engine.state import State


class OpenPlayed(Command[None]):
    """Open a tokenizer in the playground: that of a column at this step, a file, or a recipe to train.

    Raises if it cannot be read or trained.
    """

    played: Played

    def apply(self, state: State) -> Job[None] | None:
        """Take the tokenizer of a column at once; return a job for a file or recipe that is not open yet."""
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
        """Return a job that encodes the text with each tokenizer, in order. Refusals are in the answer."""
        playground = state.playground
        return Job(lambda: tuple(
            playground.encode(played, self.text, allow_special=self.allow_special)
            for played in self.tokenizers
        ))


class DecodePlayed(Command[PlayedIds], lane=Lane.JOB):
    """Ask for the text of ids, and whether encoding it gives these ids.

    Raises if an id does not exist.
    """

    played: Played
    ids: tuple[int | None, ...]
    allow_special: bool = False

    def apply(self, state: State) -> Job[PlayedIds]:
        playground = state.playground
        return Job(lambda: playground.decode(self.played, self.ids, allow_special=self.allow_special))


class EncodePlayedChat(Command[tuple[PlayedText, ...]], lane=Lane.JOB):
    """Ask for messages as the chat templates of the tokenizers render them, encoded.

    Args:
        text: The messages, see `Playground.chat`.
        tokenizers: The tokenizers, all of them open.
        template: The name of a usual template; empty for those of the tokenizers.
        add_generation_prompt: True to begin an answer of the assistant at the end.
    """

    text: str
    tokenizers: tuple[Played, ...]
    template: str = ""
    add_generation_prompt: bool = True

    def apply(self, state: State) -> Job[tuple[PlayedText, ...]]:
        """Return a job that encodes the messages with each tokenizer, in order. Refusals are in the
        answer."""
        playground = state.playground
        return Job(lambda: tuple(
            playground.chat(
                played, self.text, self.template, add_generation_prompt=self.add_generation_prompt
            )
            for played in self.tokenizers
        ))


class RenderPlayed(Command[bytes], lane=Lane.JOB):
    """Ask for a text and its tokens as the bytes of a file, see `Playground.render`.

    Raises if the text is refused.
    """

    kind: str
    tokenizers: tuple[Played, ...]
    text: str
    allow_special: bool = False

    def apply(self, state: State) -> Job[bytes]:
        playground = state.playground
        return Job(lambda: playground.render(
            self.kind, self.tokenizers, self.text, allow_special=self.allow_special
        ))


class ListPlayable(Command[Playable]):
    """Ask for the tokenizers at hand: the files of the last sessions, and encodings by name."""

    def apply(self, state: State) -> Job[Playable]:
        from tokentui.session.persist.play_file import playable

        return Job(playable, reads_files=True)


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
