"""Ids to text. How follows from the mark, the unit and the split: there is no axis for it."""

from __future__ import annotations

import contextlib
import functools
import operator
import re
from collections.abc import Iterable
from typing import NamedTuple

from tokentui.core.errors import TokentuiError, each_of, shown
from tokentui.encode.pipeline import ImportedVocabulary
from tokentui.encode.vocabulary import Marks, Vocabulary
from tokentui.text.split import spaced

_UNKNOWN = " ⁇ ".encode()
NO_ID = -1
"""Stands for a token that has no id where only numbers can stand; elsewhere None does."""
NOTHING = "\ufffd"
"""The text that a token without an id decodes to."""
_METASPACE = "▁".encode()
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")


class _Shown(NamedTuple):
    """The decoded form of one id.

    Attributes:
        text: The bytes.
        plain: True if the bytes are text of the input, False for an unknown or special token.
        before: True if a space belongs before the bytes.
        after: True if a space belongs after the bytes.
    """

    text: bytes
    plain: bool = True
    before: bool = False
    after: bool = False


class Decoder:
    """Decodes ids by one vocabulary at one number of merges.

    >>> import tokentui
    >>> tokenizer = tokentui.train("sample:hugs", "sentencepiece-unigram", vocab_size=24)
    >>> tokenizer.encode("hugs").tokens, tokenizer.encode("hugs").ids
    (('▁hug', 's'), (5, 3))
    >>> Decoder(tokenizer.vocabulary, 0).to_text([5, 3])
    'hugs'
    >>> Decoder(tokenizer.vocabulary, 0).to_text([99])
    Traceback (most recent call last):
        ...
    tokentui.core.errors.TokentuiError: no such id: 99 (ids are 0 to 17)
    """

    def __init__(self, vocabulary: Vocabulary, merges: int) -> None:
        self.vocabulary = vocabulary
        self.merges = merges
        self._marks = Marks(vocabulary)
        self._metaspace = vocabulary.recipe.split == "metaspace"
        self._spaced = spaced(vocabulary.recipe)

    def to_bytes(self, ids: Iterable[int | None]) -> bytes:
        """The exact bytes that the ids stand for. A token without an id (None, or `NO_ID`) gives U+FFFD.

        Args:
            ids: Integers of any kind.

        Raises:
            TokentuiError: An id does not exist; it names the id and the valid range.
        """
        ids = self._numbers(ids)
        if isinstance(self.vocabulary, ImportedVocabulary) and self.vocabulary.pipeline.decoder is not None:
            return self.vocabulary.pipeline.decoder(list(map(self._named, ids)))
        shown = [self._shown(number) for number in ids]
        written, run = bytearray(), bytearray()
        begun = False
        for n, one in enumerate(shown):
            if one.before and n > 0:
                run += b" "
            if one.plain:
                run += one.text
            else:
                begun |= self._flush(run, written, begun)
                # The unknown token stands for text; other specials stand before the text as if they were not
                # there.
                begun |= one.text == _UNKNOWN
                written += one.text
            if one.after and n < len(shown) - 1:
                run += b" "
        self._flush(run, written, begun)
        return bytes(written)

    def to_text(self, ids: Iterable[int | None]) -> str:
        """The text that the ids stand for; bytes that are not UTF-8 become U+FFFD."""
        data = self.to_bytes(ids)
        if self.vocabulary.byte_tokens or getattr(self.vocabulary, "byte_symbols", None):
            # sentencepiece writes one U+FFFD for each byte of a broken run, not one for each broken
            # character.
            return _ESCAPED_BYTE.sub("\ufffd", data.decode("utf-8", "surrogateescape"))
        return data.decode("utf-8", "replace")

    def _numbers(self, ids: Iterable[int | None]) -> list[int | None]:
        """The ids as numbers, None for what has none."""
        listed = getattr(ids, "tolist", None)  # of an array
        values = each_of(listed() if callable(listed) else ids, "ids", "hand in a list or an array of ids")
        if set(map(type, values)) <= {int, type(None)}:
            return [None if number == NO_ID else number for number in values] if NO_ID in values else values
        return [
            None if number is None or (whole := self._whole(number)) == NO_ID else whole for number in values
        ]

    def _whole(self, number: object) -> int:
        if not isinstance(number, bool):
            with contextlib.suppress(TypeError):
                return operator.index(number)  # type: ignore[arg-type]
        raise TokentuiError(f"no such id: {shown(number)}", "", self._range())

    def _named(self, number: int | None) -> str:
        """The name that the file has for an id."""
        if number is None:
            return NOTHING
        if not self._exists(number):
            raise TokentuiError(f"no such id: {shown(number)}", "", self._range())
        assert isinstance(self.vocabulary, ImportedVocabulary)
        return self.vocabulary.name_of(number)

    def _flush(self, run: bytearray, written: bytearray, begun: bool) -> bool:
        """Move a run of plain tokens to what is written; the first ▁ of the text is the one that encoding put
        there."""
        if not run:
            return False
        data = bytes(run)
        run.clear()
        if self._metaspace:
            if not begun and self._spaced:
                data = data.removeprefix(_METASPACE)
            data = data.replace(_METASPACE, b" ")
        written += data
        return True

    def _shown(self, number: int | None) -> _Shown:
        vocabulary = self.vocabulary
        if number is None:
            return _Shown(NOTHING.encode())
        if not self._exists(number):
            raise TokentuiError(f"no such id: {shown(number)}", "", self._range())
        if self._metaspace and number == vocabulary.unknown_id:
            return _Shown(_UNKNOWN, plain=False)
        prefixed = bool(self._marks.prefix)
        symbol = self._symbols.get(number)
        if symbol is not None:
            piece = vocabulary.spelled(symbol)
            if self._marks.continues(symbol):
                return _Shown(piece[len(self._marks.mark) :])
            ends = self._marks.ends(symbol)
            return _Shown(piece[: -len(self._marks.mark)] if ends else piece, before=prefixed, after=ends)
        if number in self._specials:
            name = self._specials[number].encode("utf-8", "surrogatepass")
            return _Shown(name, plain=False, before=prefixed)
        return _Shown(bytes((number - vocabulary.byte_id(0),)))

    def _exists(self, number: int) -> bool:
        if number in self._symbols or number in self._specials:
            return True
        return (
            bool(self.vocabulary.byte_tokens)
            and 0 <= number - self.vocabulary.byte_id(0) < self.vocabulary.byte_tokens
        )

    def _range(self) -> str:
        vocabulary = self.vocabulary
        known = {*self._symbols, *self._specials}
        if vocabulary.byte_tokens:
            known.update((vocabulary.byte_id(0), vocabulary.byte_id(vocabulary.byte_tokens - 1)))
        if not known:
            return "the vocabulary is empty"
        holes = max(known) - min(known) + 1 > vocabulary.size(self.merges)
        return f"ids are {min(known)} to {max(known)}" + (", with holes" if holes else "")

    @functools.cached_property
    def _specials(self) -> dict[int, str]:
        return {self.vocabulary.special_id(name): name for name in reversed(self.vocabulary.specials)}

    @functools.cached_property
    def _symbols(self) -> dict[int, int]:
        return self.vocabulary.symbols_by_id(self.merges)
