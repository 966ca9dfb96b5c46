"""The playground: one text, encoded by up to three tokenizers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokentui.core.errors import TokentuiError, in_words
from tokentui.preset_table import PRESETS
from tokentui.session.views import ColumnWanted

if TYPE_CHECKING:
    from tokentui.encode.encoding import EncodedToken
    from tokentui.encode.places import Placer
    from tokentui.encode.tokenizer import Tokenizer
    from tokentui.session.snapshot import Snapshot

MOST_PLAYED = 3
"""The most tokenizers side by side."""
PLACED_CHARS = 4_000
"""In a longer text the places of tokens are computed from their ids, if that is possible."""
FIRST_PRESET = "gpt2"
"""The preset that is trained where no tokenizer is at hand."""
SAMPLE = "sample:english"
"""The corpus that a recipe is trained on."""


@dataclass(frozen=True, slots=True)
class Played:
    """A tokenizer of the playground.

    Attributes:
        wanted: A file, or a recipe, which is trained on `SAMPLE`.
        column: The key of a column of the session, whose tokenizer is taken at its step when it is first
            used; None for a file or a recipe.
        step: The step of the column.
    """

    wanted: ColumnWanted
    column: int | None = None
    step: int = 0


@dataclass(frozen=True, slots=True)
class PlayedText:
    """A text as a tokenizer encodes it.

    Attributes:
        text: The text.
        tokens: Its tokens, each made when it is asked for.
        starts: The first character of each.
        ends: The character after the last of each.
        lossy: True if decoding the ids does not give the text.
        error: Why it is refused; empty if it is not.
    """

    text: str = ""
    tokens: Sequence[EncodedToken] = ()
    starts: Sequence[int] = ()
    ends: Sequence[int] = ()
    lossy: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class PlayedToken:
    """A token in words.

    Attributes:
        id: Its id; None for an unknown token.
        kind: What it is, such as `merge` or `special`; empty for an unknown token.
        step: The step that makes it; 0 for none.
        parts: The bytes of the tokens that it is merged from.
        size: The number of its bytes.
    """

    id: int | None
    kind: str = ""
    step: int = 0
    parts: tuple[bytes, ...] = ()
    size: int = 0


@dataclass(frozen=True, slots=True)
class PlayStart:
    """What the playground begins with.

    Attributes:
        text: The text; None for that of the last time.
        tokenizers: The tokenizers, at most `MOST_PLAYED`; none for those of the last time.
        offset: The number of characters before the cursor.
    """

    text: str | None = None
    tokenizers: tuple[Played, ...] = ()
    offset: int = 0


def preset_played(name: str = FIRST_PRESET) -> Played:
    """Return a preset that is trained on a sample."""
    sample = SAMPLE.removeprefix("sample:")
    return Played(ColumnWanted(PRESETS[name].recipe, name=f"{name} trained on {sample}"))


def played_of(now: Snapshot | None) -> tuple[Played, ...]:
    """Return the tokenizers of the columns of a snapshot, at their steps; none where nothing is open."""
    if now is None or now.corpus.nothing_open:
        return ()
    return tuple([
        Played(ColumnWanted(column.recipe, name=column.name, path=column.path), column.key, column.at.step)
        for column in now.columns[:MOST_PLAYED]
    ])


class Playground:
    """The tokenizers that were opened in the playground of a session."""

    def __init__(self) -> None:
        self._tokenizers: dict[Played, Tokenizer] = {}
        self._placers: dict[Played, Placer] = {}
        self._symbols: dict[Played, dict[int, int]] = {}
        """The symbols of tokenizers by id."""

    def has(self, played: Played) -> bool:
        """Return whether a tokenizer is open."""
        return played in self._tokenizers

    def take(self, played: Played, tokenizer: Tokenizer) -> None:
        """Open the tokenizer of a column at a step. It takes the place of an earlier one."""
        self._tokenizers[played] = tokenizer
        self._placers.pop(played, None)
        self._symbols.pop(played, None)

    def open(self, played: Played) -> None:
        """Read a file, or train a recipe.

        Raises:
            TokentuiError: It cannot be read or trained.
        """
        wanted = played.wanted
        if wanted.path:
            from tokentui.formats.files import load

            tokenizer = load(wanted.path, otherwise=wanted.split, encode=wanted.encode)
        elif wanted.recipe is not None:
            from tokentui import learn
            from tokentui.text.count import count
            from tokentui.text.read import read

            corpus = read(SAMPLE)
            trainer = learn.start(corpus, wanted.recipe, wanted.run, count(corpus, wanted.recipe))
            learn.run(trainer, wanted.run.stops)
            tokenizer = trainer.tokenizer()
        else:
            raise TokentuiError("no tokenizer is named", wanted.name, "name a file or a preset")
        self._tokenizers[played] = tokenizer

    def tokenizer(self, played: Played) -> Tokenizer:
        """Return a tokenizer.

        Raises:
            TokentuiError: It was not opened.
        """
        if (tokenizer := self._tokenizers.get(played)) is None:
            raise TokentuiError("this tokenizer is not open yet", played.wanted.name, "wait and try again")
        return tokenizer

    def encode(self, played: Played, text: str, *, allow_special: bool = False) -> PlayedText:
        """Encode a text, see `Tokenizer.encode`. An error becomes part of the answer."""
        tokenizer = self.tokenizer(played)
        try:
            encoding = tokenizer.encode(text, allow_special=allow_special)
            ids = encoding.ids
            lossy = tokenizer.decode(ids) != text
            if len(text) > PLACED_CHARS and not lossy and None not in ids:
                from tokentui.encode.places import Placer

                if (placer := self._placers.get(played)) is None:
                    placer = self._placers[played] = Placer(tokenizer.encoder)
                if (placed := placer.place(text, ids)) is not None:  # type: ignore[arg-type]
                    return PlayedText(text, placed, placed.starts, placed.ends, lossy)
            rows = encoding.rows
        except TokentuiError as error:
            return PlayedText(text, error=in_words(error))
        return PlayedText(text, rows, [row.start for row in rows], [row.end for row in rows], lossy)

    def describe(self, played: Played, token: int) -> PlayedToken:
        """Return a token in words, by its id.

        Raises:
            TokentuiError: No token has this id.
        """
        tokenizer = self.tokenizer(played)
        vocabulary = tokenizer.vocabulary
        if (entry := tokenizer.named().get(token)) is not None:
            return PlayedToken(token, entry.kind, size=len(entry.piece))
        if played not in self._symbols:
            self._symbols[played] = vocabulary.symbols_by_id(tokenizer.merges)
        if (symbol := self._symbols[played].get(token)) is None:
            raise TokentuiError("no such id", str(token)[:20], tokenizer.decoder.span)
        parts = tuple(map(vocabulary.spelled, vocabulary.parts(symbol)))
        step = vocabulary.made_at(symbol) if parts else 0
        return PlayedToken(
            token, vocabulary.kind_of(symbol), step, parts, len(vocabulary.spelled(symbol))
        )
