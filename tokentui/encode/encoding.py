"""A text as tokens: a value that computes everything but the ids at first use."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any, Protocol, Self, TypeAlias

from tokentui.core import jobs
from tokentui.core.records import dataclass
from tokentui.encode.elsewhere import ENCODING, refuse_name
from tokentui.encode.results import EncodedToken as EncodedToken
from tokentui.encode.vocabulary import NO_ID

_new, _put = object.__new__, object.__setattr__

Names = tuple[tuple[str, ...], tuple[bytes, ...]]
"""The readable texts and the exact bytes of tokens."""


class Source(Protocol):
    """Computes the fields of encodings. Many may share it."""

    def rows(self, text: str) -> Sequence[EncodedToken]:
        """Return the tokens of a text with their places."""
        ...

    def names(self, ids: Sequence[int]) -> Names | None:
        """Return the texts and bytes of known tokens by their ids. None if ids do not say them, or if that
        takes longer than `rows`."""
        ...


Origin: TypeAlias = "tuple[Sequence[str], array[int], Sequence[int], Source]"
"""What encodings that are not computed yet share: their texts; the ids of these, one after the other; a 0,
then where those of each text end; and what computes the other fields."""


class _Waiting:
    """Base class with slots for what fields are computed from: the origin, and the index of the text there.
    The slots are not fields."""

    __slots__ = ("_index", "_origin")
    _index: int
    _origin: Origin | None


@dataclass(frozen=True, slots=True)
class Encoding(_Waiting):
    """A text as tokens. All fields but `text` and `unknown` have one value per token.

    Attributes:
        text: The text as typed.
        ids: The ids; None for a token without an id.
        tokens: The tokens as readable text, marks included; specials and the unknown token by name.
        pieces: The exact bytes, marks included; None for the unknown token, the name's bytes for specials and
            `<0x41>`.
        offsets: Half-open ranges in characters of the text as typed.
        words: The index of the pre-token of each, -1 for a special token.
        unknown: The indices of tokens that are the unknown token or have no id.

    >>> import tokentui
    >>> gpt2 = tokentui.train("sample:hugs", "gpt2", merges=6)
    >>> encoding = gpt2.encode("hugs pugs")
    >>> encoding.ids, encoding.tokens
    ((258, 82, 261), ('hug', 's', ' pugs'))
    >>> encoding.offsets
    ((0, 3), (3, 4), (4, 9))
    >>> bert = tokentui.train("sample:hugs", "bert", merges=8)
    >>> encoding = bert.encode("Hugs!")  # no text of the corpus had an exclamation mark
    >>> encoding.ids, encoding.tokens, encoding.unknown
    ((21, 18, None), ('hug', '##s', '<unk>'), (2,))
    """

    text: str
    ids: tuple[int | None, ...]
    tokens: tuple[str, ...]
    pieces: tuple[bytes | None, ...]
    offsets: tuple[tuple[int, int], ...]
    words: tuple[int, ...]
    unknown: tuple[int, ...]

    @classmethod
    def of(cls, text: str, rows: Sequence[EncodedToken]) -> Encoding:
        """Return the encoding with these tokens."""
        return cls(text, *_columns(rows))

    @classmethod
    def later(cls, text: str, numbers: array[int], source: Source) -> Self:
        """Return an encoding whose ids are known. The other fields are computed when one of them is first
        used.

        Args:
            text: The text.
            numbers: The ids, `NO_ID` for a token without an id. The array must not change.
            source: Computes the tokens of the text, which must have these ids.
        """
        encoding = _new(cls)
        _put_origin(encoding, ((text,), numbers, (0, len(numbers)), source))
        _put_index(encoding, 0)
        return encoding

    @classmethod
    def each_later(
        cls, texts: Sequence[str], numbers: array[int], stops: Sequence[int], source: Source
    ) -> list[Self]:
        """Return the encodings of texts, as `later` does. They share texts and ids, so one keeps all.

        Args:
            texts: The texts.
            numbers: The ids of all texts, one after the other. The array must not change.
            stops: A 0, then where the ids of each text end.
            source: As for `later`.
        """
        encodings = list(map(_new, repeat(cls, len(texts))))
        # Loops of Python over the texts take twice as long.
        deque(map(_put_origin, encodings, repeat((texts, numbers, stops, source))), 0)
        deque(map(_put_index, encodings, range(len(texts))), 0)
        return encodings

    def __getattr__(self, name: str) -> Any:
        """Compute a field on first access. Concurrent threads get equal values."""
        if name != "text" and name not in _WORKED_OUT:
            refuse_name(f"{type(self).__name__!r} object", name, ENCODING)
        origin = self._origin
        if origin is not None:
            if name == "text":
                _put(self, name, origin[0][self._index])
            elif name == "ids":
                numbers = self._numbers(origin)
                none = NO_ID in numbers
                _put(self, name, tuple([None if n == NO_ID else n for n in numbers] if none else numbers))
            elif not (name in _NAMES and self._named(origin)):
                with jobs.shielded():  # whoever asks may do so in a job that has to do with something else
                    columns = _columns(origin[3].rows(self.text))
                for field, value in zip(_WORKED_OUT, columns, strict=True):
                    _put(self, field, value)
                _put(self, "_origin", None)
        return object.__getattribute__(self, name)

    def _numbers(self, origin: Origin) -> array[int]:
        _, numbers, stops, _ = origin
        start, stop = stops[self._index], stops[self._index + 1]
        return numbers if stop - start == len(numbers) else numbers[start:stop]

    def _named(self, origin: Origin) -> bool:
        """Set the fields that follow from the ids alone. Return whether they do."""
        names = origin[3].names(self._numbers(origin))
        for field, value in zip(_NAMES, (*names, ()) if names else (), strict=False):
            _put(self, field, value)
        return names is not None

    @property
    def rows(self) -> tuple[EncodedToken, ...]:
        """The tokens."""
        starts, ends = zip(*self.offsets, strict=True) if self.offsets else ((), ())
        return tuple(map(EncodedToken, self.ids, self.tokens, self.pieces, starts, ends, self.words))

    @property
    def hex(self) -> tuple[str | None, ...]:
        """The exact bytes in lower-case hex; None for the unknown token."""
        return tuple(None if piece is None else piece.hex() for piece in self.pieces)

    def __len__(self) -> int:
        """The number of tokens."""
        return len(self.ids)

    def _repr_html_(self) -> str:
        """Return the tokens as chips, for a notebook."""
        from tokentui.encode.html import encoding_html

        return encoding_html(self.rows)


_put_origin, _put_index = (vars(_Waiting)[name].__set__ for name in ("_origin", "_index"))
_NAMES = ("tokens", "pieces", "unknown")
"""The fields that follow from the ids of known tokens."""
_WORKED_OUT = ("ids", "tokens", "pieces", "offsets", "words", "unknown")
_Columns = tuple[
    tuple[int | None, ...], tuple[str, ...], tuple[bytes | None, ...], tuple[tuple[int, int], ...],
    tuple[int, ...], tuple[int, ...],
]


def _columns(rows: Sequence[EncodedToken]) -> _Columns:
    """Return the fields of an encoding, in order, from its tokens."""
    unknown = tuple([n for n, row in enumerate(rows) if row.id is None or row.piece is None])
    ids, tokens, pieces, starts, ends, words = zip(*rows, strict=True) if rows else ((),) * 6
    return ids, tokens, pieces, tuple(zip(starts, ends, strict=True)), words, unknown


# ---- ids as numbers


def packed(numbers: Iterable[int]) -> array[int]:
    """Return ids as a 32-bit array, or a 64-bit one if an id needs it."""
    numbers_ = list(numbers)
    try:
        return array("i", numbers_)
    except OverflowError:
        return array("q", numbers_)


def joined(ids: array[int], more: array[int]) -> array[int]:
    """Append `more` to `ids` in place and return `ids`.

    If the arrays have different types, return a new 64-bit array and change neither.
    """
    if ids.typecode != more.typecode:
        ids, more = array("q", ids), array("q", more)
    ids += more
    return ids
