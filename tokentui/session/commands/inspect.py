"""Questions about a token, a word or a text at a step, and about the steps that were made."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from tokentui import learn
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import GlyphMode
from tokentui.session.commands.base import Command, Job, Lane, Need
from tokentui.session.views import CorpusPlace, StepsView, StepView

if TYPE_CHECKING:
    from tokentui.analyze.chat.encoded import ChatEncoding
    from tokentui.analyze.results import StringFacts
    from tokentui.encode.sampling import Drawn
    from tokentui.session.engine.state import State
    from tokentui.session.training.finding import Matches
    from tokentui.session.training.step_context import StepContext
    from tokentui.session.training.token_values import Places, TokenAt, TokenView, WordLife

_NO_TEMPLATE = "t renders it by ChatML; : chat template finds a tour about one"
_LISTED = 100_000
"""Tokens of a chat that are listed."""


class InspectText(Command["StringFacts"], lane=Lane.JOB, need=Need.ARRIVED):
    """Ask for the facts of a text at this step: each step of its encoding, and why it is not one token.

    Args:
        text: The text.
        at: A character offset: asks about the pre-token there; None, or no pre-token there, asks about the
            whole text.
        ahead: True to train a copy on, to find whether and when the text becomes one token; without effect
            for an opened file.
        column: The key of the column; the first one if None.

    Raises if the text is too long.
    """

    text: str
    at: int | None = None
    ahead: bool = False
    column: int | None = None

    def answer(self, context: StepContext) -> StringFacts:
        """Return the facts. A copy of the trainer walks to this step for `ahead`; the trainer itself stays.

        Raises:
            TokentuiError: The text is too long to be inspected.
        """
        from tokentui import learn
        from tokentui.analyze.inspect import string_facts
        from tokentui.session.training.token_facts import check_length, part_at

        tokenizer, text, copy = context.tokenizer, self.text, None
        if self.at is not None:
            part = part_at(tokenizer, text, self.at)
            text = text if part is None else text[part.start : part.end]
        check_length(text)
        if self.ahead and context.training.opened is None:
            # The trainer walks on meanwhile; a copy comes to the same step.
            copy = context.training.trainer.fork(0, ())
            learn.jump(copy, context.step)
            tokenizer = copy.tokenizer()
        return string_facts(tokenizer, text, trainer=copy)


class InspectToken(Command["TokenView"], lane=Lane.JOB, need=Need.COUNTED):
    """Ask for the facts of a token, by its id or its exact bytes, at this step of a column, and for its uses
    over the run.

    Raises if there is no such token.
    """

    token: int | bytes
    column: int | None = None

    def apply(self, state: State) -> Job[TokenView]:
        """Copy the uses of this step, and return the job that makes the view.

        Raises:
            TokentuiError: The column is not open. An unknown token makes the job fail.
        """
        from tokentui.session.training.token_facts import symbol_of, token_view

        context = state.context(self.column)
        trainer = context.training.trainer
        symbol = symbol_of(context.tokenizer, self.token)
        # The job must not read a training that walks on: what it needs of this step is copied here.
        uses = tuple(map(int, trainer.uses))
        uses_over = None if symbol is None else learn.uses_over(trainer, symbol)
        return Job(lambda: token_view(context, self.token, uses, uses_over() if uses_over else ()))


class Search(Command["Matches"], lane=Lane.JOB, need=Need.CORPUS):
    """Ask for the tokens of this step and the words of the corpus that hold a text, at most `most` of each.
    A number, and `#484`, also find the token with this id. An empty text only prepares the answers."""

    text: str
    most: int = 50

    def apply(self, state: State) -> Job[Matches]:
        """Return a job that searches, with a copy of the uses if the index of this step is not made yet.

        The job goes on when nobody waits: the next search takes its index.
        """
        search, context = state.search, state.context(None)
        trainer = context.training.trainer
        # The job must not read a training that walks on: what it needs of this step is copied here.
        uses = () if search.knows(context) else tuple(map(int, trainer.uses))
        # An index that is nearly made is of use to the next letter.
        return Job(lambda: search.find(context, uses, self.text, self.most), cancellable=False)


class LifeOfWord(Command["WordLife"], lane=Lane.JOB, need=Need.COUNTED):
    """Ask for each step up to this one that cuts the pre-token at an offset of a text differently.

    Raises if there is no pre-token, or it cannot be encoded.
    """

    text: str
    at: int = 0
    column: int | None = None

    def apply(self, state: State) -> Job[WordLife]:
        """Return a job for the steps of the word; a trainer that removes pieces is copied for it.

        Raises:
            TokentuiError: There is no word at the offset, or the text is too long.
        """
        from tokentui.session.training.token_facts import pretoken_at, word_life

        context = state.context(self.column)
        trainer = context.training.trainer
        word = pretoken_at(context.tokenizer, self.text, self.at)
        if not word:
            raise TokentuiError("there is no word at the cursor", "", "move it to a word")
        if trainer.traits.shrinks:  # it surveys the corpus: on a copy, in the job
            copy = trainer.fork(trainer.number, ())
            return Job(lambda: word_life(context, word, learn.life(copy, word)))
        lives = learn.life(trainer, word)
        return Job(lambda: word_life(context, word, lives))


class TokenPlaces(Command["Places"], need=Need.COUNTED):
    """Ask for the next `most` places of a token in the corpus, after a place; None begins at the start. The
    answer has none for a special or byte token, and for a corpus without documents."""

    token: int | bytes
    after: CorpusPlace | None = None
    most: int = 3
    column: int | None = None

    def answer(self, context: StepContext) -> Places:
        """Return the next places, none for a token without a symbol or a corpus without documents."""
        from tokentui.encode.decode import bare
        from tokentui.learn.bases import WEIGHTS
        from tokentui.session.training.token_facts import symbol_of
        from tokentui.session.training.token_places import contexts
        from tokentui.session.training.token_values import Places

        training, tokenizer = context.training, context.tokenizer
        symbol = symbol_of(tokenizer, self.token)
        if symbol is None or not training.text.documents:
            return Places((), False)
        data = bare(tokenizer.recipe, tokenizer.vocabulary.spelled(symbol))
        places = contexts(training.text, symbol, data, self.after, training.trainer)
        counted = training.corpus.counts is None and WEIGHTS.of(tokenizer.recipe.weight).by_occurrences
        return Places(tuple(itertools.islice(places, self.most)), counted)


class TokenThere(Command["tuple[int | None, TokenAt] | None"], need=Need.COUNTED):
    """Ask for the id and the token at a character of the corpus; None if no token covers it. The id is None
    for an unknown token.

    Args:
        place: The place of a pre-token, or of a part of one.
        within: The offset of the character from there.
    """

    place: CorpusPlace
    within: int = 0

    def answer(self, context: StepContext) -> tuple[int | None, TokenAt] | None:
        """Return the id and the token at the character; None if no token covers it."""
        from tokentui.session.training.token_places import token_at

        training, tokenizer = context.training, context.tokenizer
        token = token_at(training.text, self.place, self.within, training.trainer)
        if token is None or token.symbol is None:
            return None if token is None else (None, token)
        return tokenizer.vocabulary.id_of(token.symbol, tokenizer.merges), token


class WhyUnreachable(Command[str]):
    """Ask why no text ever becomes a token of the opened file, by its id.

    Answered by a sentence; empty if some text does, or no file is open.
    """

    id: int

    def answer(self, context: StepContext) -> str:
        replay = learn.replay_of(context.training.trainer)
        return "" if replay is None else replay.unreachable(self.id)


class Draw(Command["Drawn"], lane=Lane.JOB, need=Need.ARRIVED):
    """Ask for the encoding of a text by BPE-dropout, with each draw.

    Args:
        text: The text; the typed text if empty.
        p: The share of candidates that are dropped.
        like: The library whose draws are made, a name of `tokentui.encode.segment.dropout.LIKE`.
        seed: The seed.

    Raises if there are no merges, the text is too long, or a value is invalid.
    """

    text: str = ""
    p: float = 0.1
    like: str = "tokenizers"
    seed: int = 0

    def answer(self, context: StepContext) -> Drawn:
        """Return the draws of the text, or of the typed text if it is empty.

        Raises:
            TokentuiError: The text has more than `INSPECTED_CHARS` characters, there are no merges, or a
                value is invalid.
        """
        from tokentui.session.training.token_facts import INSPECTED_CHARS

        text = self.text or context.typed
        if len(text) > INSPECTED_CHARS:
            what = f"a text of {len(text):,} characters is too long to show each draw"
            raise TokentuiError(what, "", f"use one of at most {INSPECTED_CHARS:,}")
        return context.tokenizer.draws(text, p=self.p, like=self.like, seed=self.seed)


class EncodeChat(Command["ChatEncoding"], lane=Lane.JOB, need=Need.ARRIVED):
    """Ask for messages, rendered by the chat template of the opened file and encoded at this step.

    Args:
        file: A JSON file of messages; if empty, the typed text is the only message, from the user.
        add_generation_prompt: True to begin an answer of the assistant at the end.
        template: The name of a usual template; empty for that of the file.

    Raises if no file is open or it has no template, and none is named, the template refuses the messages, or
    they have more than `_LISTED` tokens.
    """

    file: str = ""
    add_generation_prompt: bool = False
    template: str = ""

    def answer(self, context: StepContext) -> ChatEncoding:
        """Render and encode the messages of the file, or the typed text as one message of the user. The
        origins of the tokens are computed here too.

        Raises:
            TokentuiError: There is no template, it refuses the messages, or the chat has more than `_LISTED`
                tokens.
        """
        from tokentui.analyze.chat.encoded import encode_chat
        from tokentui.analyze.chat.template import Chat, read_chat_file
        from tokentui.session.playground import template_of

        chat = read_chat_file(self.file) if self.file else Chat([{"role": "user", "content": context.typed}])
        opened = context.training.opened
        path = "" if opened is None else opened.view.path
        template = template_of(path, self.template, hint=_NO_TEMPLATE, tools=bool(chat.tools))
        encoded = encode_chat(
            context.tokenizer, template, chat, add_generation_prompt=self.add_generation_prompt
        )
        if len(encoded.encoding) > _LISTED:
            what = f"a chat of {len(encoded.encoding):,} tokens is too long to list"
            raise TokentuiError(what, "", "tokentui encode --chat writes its ids")
        _ = encoded.origin  # computed here, not when it is drawn
        return encoded


class ListSteps(Command[StepsView], lane=Lane.JOB, need=Need.COUNTED):
    """Ask for a page of the steps up to the current one.

    Args:
        order: `step`, `count`, `length` or `tie`.
        find: Text that a token, or its parts with a plus between them, must contain; empty for all.
        mode: How data are shown; `find` is read the same way.
        top: The first row.
        rows: The maximum number of rows.
    """

    order: str = "step"
    find: str = ""
    mode: GlyphMode = "text"
    top: int = 0
    rows: int = 100

    def answer(self, context: StepContext) -> StepsView:
        from tokentui.session.training.column import needles

        match = needles(self.find, self.mode) if self.find else ()
        return context.history.rows(context.step, self.order, match, self.top, self.rows)


class ExplainSteps(Command[tuple[StepView, ...]], lane=Lane.JOB, need=Need.COUNTED):
    """Ask for the reasons of steps, and for their effect on the corpus and on the typed text: of steps that
    were made, and of the next one.

    Args:
        numbers: The steps, 1 for the first.
        places: The maximum number of places of the corpus that are shown; 0 for none.
    """

    numbers: tuple[int, ...]
    places: int = 3

    def answer(self, context: StepContext) -> tuple[StepView, ...]:
        return context.history.views(self.numbers, context.typed, self.places)
