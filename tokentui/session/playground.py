"""The playground: one text, encoded by up to three tokenizers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokentui.core.errors import TokentuiError, in_words
from tokentui.core.safetext import to_bytes
from tokentui.preset_table import PRESETS
from tokentui.session.views import ColumnWanted

if TYPE_CHECKING:
    from tokentui.analyze.chat.template import ChatTemplate
    from tokentui.encode.encoding import EncodedToken
    from tokentui.encode.places import Placer
    from tokentui.encode.tokenizer import Tokenizer
    from tokentui.session.snapshot import Snapshot

MOST_PLAYED = 3
"""The maximum number of tokenizers side by side."""
PLACED_CHARS = 4_000
"""In a longer text the places of tokens are computed from their ids, if that is possible."""
FIRST_PRESET = "gpt2"
"""The preset that is trained where no tokenizer is at hand."""
_ID = re.compile("[0-9]{1,18}|null|None", re.ASCII)
_MOST_LISTED = 1_000_000
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
        origins: Of a chat, the origin of each token: a name of `tokentui.analyze.chat.encoded.ORIGINS`.
        warnings: The faults of a chat.
    """

    text: str = ""
    tokens: Sequence[EncodedToken] = ()
    starts: Sequence[int] = ()
    ends: Sequence[int] = ()
    lossy: bool = False
    error: str = ""
    origins: Sequence[str] = ()
    warnings: tuple[str, ...] = ()


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
        allow_special: True if text that spells a special token is encoded as that token.
    """

    text: str | None = None
    tokenizers: tuple[Played, ...] = ()
    offset: int = 0
    allow_special: bool = False


def ids_in(text: str) -> tuple[int | None, ...]:
    """Return the ids that a text lists: two or more numbers, or one in brackets. None stands for `null`.
    Empty if the text has other words, or more than `_MOST_LISTED` characters.

    >>> ids_in("[464, null, 4315]"), ids_in("464 4315\\n287"), ids_in("464"), ids_in("3 blue")
    ((464, None, 4315), (464, 4315, 287), (), ())
    """
    bare = text[:_MOST_LISTED].strip().removeprefix("tensor").removeprefix("array")
    bracketed = bare[:1] in ("[", "(")
    words = bare[:40].strip("[]() ").replace(",", " ").split()[:1]
    if len(text) > _MOST_LISTED or not all(map(_ID.fullmatch, words)):
        return ()  # of most texts the first word says it
    words = bare.strip("[]() \n").replace(",", " ").split()
    if len(words) < (1 if bracketed else 2) or not all(map(_ID.fullmatch, words)):
        return ()
    return tuple([None if word in ("null", "None") else int(word) for word in words])


_ROLE = re.compile(r"^(system|developer|user|assistant|tool):[ \t]*", re.MULTILINE)


def messages_in(text: str) -> list[dict[str, object]]:
    """Return the messages that a text spells: each begins a line with its role and a colon. A text without
    roles is one message of the user.

    >>> messages_in("system: be brief\\nuser: hi\\nthere")
    [{'role': 'system', 'content': 'be brief'}, {'role': 'user', 'content': 'hi\\nthere'}]
    """
    places = list(_ROLE.finditer(text))
    if not places or text[: places[0].start()].strip():
        return [{"role": "user", "content": text}]
    ends = [*(place.start() for place in places[1:]), len(text)]
    return [
        {"role": place[1], "content": text[place.end() : end].removesuffix("\n")}
        for place, end in zip(places, ends, strict=True)
    ]


def template_of(path: str, usual: str, *, hint: str, tools: bool) -> ChatTemplate:
    """Return the chat template of a file, or a usual one.

    Args:
        path: The file; empty for a training, which has no template of its own.
        usual: The name of the usual one; empty for that of the file.
        hint: What a screen offers if there is none.
        tools: True if the messages come with tools.

    Raises:
        TokentuiError: There is none, or the template cannot be read.
    """
    from tokentui.analyze.chat.template import NoTemplate, read_template, usual_template

    if not path:
        if usual:
            return usual_template(usual)
        raise TokentuiError("a training has no chat template", "", hint)
    try:
        return read_template(path, usual, tools=tools)
    except NoTemplate as error:
        raise TokentuiError(error.what, error.where, hint) from None


def preset_played(name: str = FIRST_PRESET) -> Played:
    """Return a tokenizer of the playground by the recipe of a preset, to be trained on a sample when it is
    opened."""
    return Played(ColumnWanted(PRESETS[name].recipe, name=f"{name} (sample)"))


def played_of(now: Snapshot | None) -> tuple[Played, ...]:
    """Return the tokenizers of the columns of a snapshot, at their steps, at most `MOST_PLAYED`; none if
    nothing is open."""
    if now is None or now.corpus.nothing_open:
        return ()
    return tuple([
        Played(ColumnWanted(column.recipe, name=column.name, path=column.path), column.key, column.at.step)
        for column in now.columns[:MOST_PLAYED]
    ])


@dataclass(frozen=True, slots=True)
class PlayedIds:
    """Ids that were decoded.

    Attributes:
        text: Their text.
        same: True if encoding the text gives these ids.
        place: The number of the first id that differs, from 0.
        sentence: Why it differs; empty if none does.
    """

    text: str
    same: bool
    place: int = 0
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Playable:
    """The tokenizers at hand.

    Attributes:
        files: The files of the last sessions.
        encodings: The encodings whose file is there, by name.
        missing: The names of the others, each with the URL of its file.
    """

    files: tuple[str, ...]
    encodings: tuple[str, ...]
    missing: tuple[tuple[str, str], ...]


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
        """Add an open tokenizer, such as that of a column at a step. It takes the place of an earlier one."""
        self._tokenizers[played] = tokenizer
        self._placers.pop(played, None)
        self._symbols.pop(played, None)

    def open(self, played: Played) -> None:
        """Read a file, or train a recipe on `SAMPLE`, and `take` the tokenizer.

        Raises:
            TokentuiError: It cannot be read or trained, or neither is named.
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
        self.take(played, tokenizer)

    def tokenizer(self, played: Played) -> Tokenizer:
        """Return a tokenizer.

        Raises:
            TokentuiError: It was not opened.
        """
        if (tokenizer := self._tokenizers.get(played)) is None:
            raise TokentuiError("this tokenizer is not open yet", played.wanted.name, "wait and try again")
        return tokenizer

    def encode(self, played: Played, text: str, *, allow_special: bool = False) -> PlayedText:
        """Encode a text, see `Tokenizer.encode`. If the tokenizer refuses it, the error is in the answer.
        Tokens of a long text are placed when they are asked for.

        Raises:
            TokentuiError: The tokenizer was not opened.
        """
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

    def decode(self, played: Played, ids: Sequence[int | None], *, allow_special: bool = False) -> PlayedIds:
        """Decode ids, and compare them with the ids of their text.

        Raises:
            TokentuiError: An id does not exist, or the tokenizer was not opened.
        """
        from tokentui.analyze.drift import DriftCheck

        drift = DriftCheck(self.tokenizer(played), allow_special=allow_special)(ids)
        return PlayedIds(drift.text, drift.same, drift.place or 0, drift.sentence)

    def chat(
        self, played: Played, text: str, template: str = "", *, add_generation_prompt: bool
    ) -> PlayedText:
        """Encode messages by the chat template of a file. Errors, also that the tokenizer was not opened, are
        in the answer.

        Args:
            played: The tokenizer.
            text: The messages: JSON, or paragraphs that begin with a role such as `user:`; else all of it is
                one message of the user.
            template: The name of a usual template; empty for that of the file.
            add_generation_prompt: True to begin an answer of the assistant at the end.
        """
        from tokentui.analyze.chat.encoded import encode_chat
        from tokentui.analyze.chat.template import Chat, read_chat

        try:
            if text.lstrip()[:1] in ("[", "{"):
                chat = read_chat(text.encode("utf-8", "surrogatepass"), "the messages")
            else:
                chat = Chat(messages_in(text))
            hint = "ctrl+r: by ChatML"
            found = template_of(played.wanted.path, template, hint=hint, tools=bool(chat.tools))
            encoded = encode_chat(
                self.tokenizer(played), found, chat, add_generation_prompt=add_generation_prompt
            )
        except TokentuiError as error:
            return PlayedText(text, error=in_words(error))
        rows = encoded.encoding.rows
        return PlayedText(
            encoded.encoding.text, rows, [row.start for row in rows], [row.end for row in rows],
            origins=encoded.origin, warnings=tuple([warning.text for warning in encoded.warnings]),
        )

    def render(
        self, kind: str, columns: Sequence[Played], text: str, *, allow_special: bool = False
    ) -> bytes:
        """Return a text and its tokens as the bytes of a file.

        Args:
            kind: `text`, `json` (the ids), `uint32` (the same as numbers of 32 bits) or `html`.
            columns: The tokenizers: the first one gives the ids, and all are in the page.
            text: The text.
            allow_special: As for `encode`.

        Raises:
            TokentuiError: The text is refused, or an id does not fit.
        """
        if kind == "text":
            return to_bytes(text)
        if kind == "html":
            from tokentui.encode.html import page

            return page([
                (played.wanted.name, text,
                 self.tokenizer(played).encode(text, allow_special=allow_special).rows)
                for played in columns
            ]).encode("utf-8", "surrogateescape")
        ids = self.tokenizer(columns[0]).encode(text, allow_special=allow_special).ids
        if kind == "json":
            return json.dumps(ids).encode("ascii") + b"\n"
        from tokentui.encode.encoding import packed
        from tokentui.encode.flat import flat
        from tokentui.encode.vocabulary import NO_ID

        return flat(packed(NO_ID if token is None else token for token in ids), "uint32")

    def describe(self, played: Played, token: int) -> PlayedToken:
        """Return a token in words, by its id. Special and added tokens have no step or parts.

        Raises:
            TokentuiError: No token has this id, or the tokenizer was not opened.
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
