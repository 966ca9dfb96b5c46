"""Retokenization drift: ids of a text that are not the ids that encoding the text gives.

A model that samples tokens may write `he` + `llo` where `encode` gives `hello`. What is stored as text and
encoded again then belongs to other tokens: log probabilities, masks and caches no longer fit.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from tokentui.analyze.report import Part, Report, Row, Section, data, strong, warning
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check
from tokentui.core.sequences import common_length
from tokentui.core.table import plural
from tokentui.encode.tokenizer import TokenEntry, Tokenizer
from tokentui.encode.vocabulary import NO_ID

REASONS = {
    "refused": "the tokenizer cannot encode the text",
    "no-text": "invalid UTF-8",
    "special": "special token",
    "unknown": "unknown token",
    "changed": "the decoder or the normalization changes the text",
    "mark": "the mark of a word's edge",
    "bytes": "byte tokens instead of a known piece",
    "split": "the split cuts here",
    "joined": "encoding joins tokens",
    "cut": "encoding splits elsewhere",
}
"""The reasons why ids differ, in the order in which they are tried."""
_SHOWN = 8
_BROKEN = "\ufffd".encode()


@dataclass(frozen=True, slots=True)
class DriftToken:
    """A token of one of the two encodings. `id` is None if it has no id."""

    id: int | None
    piece: bytes


@dataclass(frozen=True, slots=True)
class Drift:
    """Comparison of ids with the ids that encoding their text gives.

    Attributes:
        ids: The ids.
        text: The text that they decode to.
        encoded: The ids of that text; empty if the tokenizer refuses it.
        place: The index of the first id that differs, or of the first id that only one of them has; None if
            none differs; 0 if the tokenizer refuses the text.
        before: The tokens of the ids from there on, until both agree again; empty for a refused text.
        after: The tokens of the encoding from there on, for the same text.
        reason: A name of `REASONS`; empty if no differences.
        sentence: The reason in a line; empty if no differences.
    """

    ids: tuple[int | None, ...]
    text: str
    encoded: tuple[int | None, ...]
    place: int | None = None
    before: tuple[DriftToken, ...] = ()
    after: tuple[DriftToken, ...] = ()
    reason: str = ""
    sentence: str = ""

    @property
    def same(self) -> bool:
        """True if encoding the text gives the ids."""
        return self.place is None


@dataclass(frozen=True, slots=True)
class DriftRate:
    """The rows of ids that differ from the ids of their texts.

    Attributes:
        rows: The number of rows.
        differ: The number of rows that differ.
        reasons: The number of rows for each reason of their first difference, the most frequent first.
        first_row: The number of the first row that differs, from 1; None if none does.
        first: Its difference.
    """

    rows: int
    differ: int
    reasons: dict[str, int]
    first_row: int | None = None
    first: Drift | None = None


class DriftCheck:
    """Compares ids with the ids that encoding their text gives.

    Args:
        tokenizer: The tokenizer.
        special_tokens: Encode with the tokens that begin and end a text.
        allow_special: Encode the name of a special token as that token.

    >>> import tokentui
    >>> tokenizer = tokentui.train("sample:hugs", "gpt2", merges=6)
    >>> drift = DriftCheck(tokenizer)([71, 84, 70, 82])
    >>> drift.place, drift.encoded, drift.sentence
    (0, (258, 82), 'a merge joins `h`+`u`+`g` to `hug` (258)')
    """

    def __init__(
        self, tokenizer: Tokenizer, *, special_tokens: bool = False, allow_special: bool = False
    ) -> None:
        self._tokenizer = tokenizer
        self._special_tokens = special_tokens
        self._allow_special = allow_special
        self._entries: dict[int, TokenEntry] | None = None

    def __call__(self, ids: Iterable[Any]) -> Drift:
        """Decode ids, encode the text again and compare. A text that the tokenizer refuses is a difference.

        Args:
            ids: Integers of any kind; None or `NO_ID` for a token without an id.

        Raises:
            TokentuiError: An id does not exist.
        """
        ids = list(ids)
        text = self._tokenizer.decode(ids)
        numbers = tuple([None if number in (None, NO_ID) else operator.index(number) for number in ids])
        try:
            encoded = tuple(
                None if number == NO_ID else number
                for number in self._tokenizer.encode_ids(
                    text, special_tokens=self._special_tokens, allow_special=self._allow_special
                )
            )
        except TokentuiError as error:
            return Drift(numbers, text, (), 0, (), (), "refused", f"{REASONS['refused']}: {error.what}")
        if encoded == numbers:
            return Drift(numbers, text, encoded)
        place = common_length(numbers, encoded)
        old, new = self._window(numbers, encoded, place)
        before, after = tuple(map(self._token, old)), tuple(map(self._token, new))
        reason, sentence = self._reason(text, encoded, place, before, after)
        return Drift(numbers, text, encoded, place, before, after, reason, sentence)

    def _window(
        self, ids: tuple[int | None, ...], encoded: tuple[int | None, ...], place: int
    ) -> tuple[tuple[int | None, ...], tuple[int | None, ...]]:
        """Return the ids and the encoded ids from the first difference to the first place where both have
        spelled equally many bytes and go on with the same id."""
        i = j = place
        left = right = 0  # bytes of each cut since the difference
        while i < len(ids) or j < len(encoded):
            if left == right and i > place and j > place and ids[i : i + 1] == encoded[j : j + 1]:
                break
            if i < len(ids) and (left <= right or j == len(encoded)):
                left += len(self._bare(ids[i]))
                i += 1
            else:
                right += len(self._bare(encoded[j]))
                j += 1
        return ids[place:i], encoded[place:j]

    def _entry(self, number: int | None) -> TokenEntry | None:
        """Return the entry of an id; None for None. The entries are listed at the first call.

        Raises:
            KeyError: No token has this id.
        """
        if number is None:
            return None
        if self._entries is None:
            self._entries = {entry.id: entry for entry in self._tokenizer.entries()}
        return self._entries[number]

    def _token(self, number: int | None) -> DriftToken:
        entry = self._entry(number)
        return DriftToken(number, _BROKEN if entry is None else entry.piece)

    def _kind(self, number: int | None) -> str:
        entry = self._entry(number)
        return "unknown" if entry is None else entry.kind

    def _bare(self, number: int | None) -> bytes:
        """Return the bytes of a token without its marks; of a byte-fallback token its byte."""
        entry = self._entry(number)
        if entry is None:
            return _BROKEN
        if entry.kind == "byte":
            return bytes((int(entry.text[3:5], 16),))
        if entry.symbol is None:
            return entry.piece
        front, end = self._tokenizer.vocabulary.mark_sizes(entry.symbol)
        piece = self._tokenizer.vocabulary.spelled(entry.symbol)
        return piece[front : len(piece) - end]

    def _reason(
        self, text: str, encoded: Sequence[int | None], place: int,
        before: Sequence[DriftToken], after: Sequence[DriftToken],
    ) -> tuple[str, str]:
        """Return the name of the reason of a difference, and a line that describes it. The first reason of
        `REASONS` that applies is returned."""
        old = [self._bare(token.id) for token in before]
        new = [self._bare(token.id) for token in after]
        specials = [[token for token in cut if self._kind(token.id) == "special"] for cut in (before, after)]
        for tokens, others in (specials, specials[::-1]):
            for token in tokens:
                if token not in others:
                    return "special", self._special_sentence(token, tokens is specials[0])
        if b"".join(old) != b"".join(new):
            return self._changed_reason(before, after, b"".join(old), b"".join(new))
        if [self._kind(token.id) for token in before].count("byte") > [
            self._kind(token.id) for token in after
        ].count("byte"):
            return "bytes", f"{REASONS['bytes']}: encoding has {_named(after)} for {_named(before)}"
        if old == new:
            return "mark", f"{_named(before)} and {_named(after)} differ in {REASONS['mark']} alone"
        if (crossing := self._crossing(text, place, new, old)) is not None:
            return "split", f"the split separates {_named(before[crossing : crossing + 1])}"
        ends = list(accumulate(map(len, old)))
        if len(new[0]) in ends[1:]:
            count = ends.index(len(new[0])) + 1
            verb = "a merge joins" if self._merges else "encoding joins"
            return "joined", f"{verb} {_named(before[:count], '+')} to {_named(after[:1])} ({after[0].id})"
        return "cut", f"encoding splits {_named(after)} where the ids split {_named(before)}: {self._rule}"

    @property
    def _merges(self) -> bool:
        return bool(self._tokenizer.vocabulary.merges) and self._tokenizer.encoder.way.by_rank

    @property
    def _rule(self) -> str:
        return f"encode={self._tokenizer.recipe.encode} takes {self._tokenizer.encoder.way.how}"

    def _special_sentence(self, token: DriftToken, in_ids: bool) -> str:
        """Say why a special token differs: encoding adds it, or reads its name as text."""
        name = f"{_named((token,))} ({token.id})"
        if not in_ids:
            return f"special token: encoding adds {name}"
        if self._allow_special:
            return f"special token: {name} does not come from its name here"
        return f"special token: encoding reads the name of {name} as text unless special tokens are allowed"

    def _changed_reason(
        self, before: Sequence[DriftToken], after: Sequence[DriftToken], old: bytes, new: bytes
    ) -> tuple[str, str]:
        """Return the name and the line of the reason of tokens that spell different bytes.

        Args:
            before, after: The tokens of the ids and of the encoding.
            old, new: Their bytes.
        """
        unknown = next((token for token in before if self._kind(token.id) == "unknown"), None)
        if unknown is not None:
            return "unknown", f"unknown token: the text of {_named((unknown,))} is lost"
        if not _is_text(old):
            return "no-text", f"invalid UTF-8: {_named(before)} decodes to U+FFFD"
        if not _is_text(new):  # the bytes of U+FFFD, of which the ids have the first
            return "no-text", f"invalid UTF-8: those before {_named(before)} decode to U+FFFD"
        unknown = next((token for token in after if self._kind(token.id) == "unknown"), None)
        if unknown is not None:
            return "unknown", f"unknown token: encoding has no other for the text of {_named(before)}"
        spaces = old.replace("▁".encode(), b" ").split() == new.replace("▁".encode(), b" ").split()
        what = "loses or adds a space" if spaces else "changes the text"
        return "changed", f"decoding or normalizing {what}: {_named(before)} decodes to {_named(after)}"

    def _crossing(self, text: str, place: int, new: list[bytes], old: list[bytes]) -> int | None:
        """Return the index in `old` of the first token that crosses the end of a pre-token, or None.

        Args:
            text: The text of the ids, which is encoded again.
            place: The index of the first token of its encoding that differs.
            new: The bytes of the tokens of the encoding from there on.
            old: The bytes of the tokens of the ids from there on, together the same bytes.
        """
        encoding = self._tokenizer.encode(
            text, special_tokens=self._special_tokens, allow_special=self._allow_special
        )
        words = encoding.words[place : place + len(new)]
        new_ends, old_ends = list(accumulate(map(len, new))), list(accumulate(map(len, old)))
        for word, following, end in zip(words, words[1:], new_ends, strict=False):
            if word != following and end not in old_ends:
                return next(n for n, old_end in enumerate(old_ends) if old_end > end)
        return None


def _is_text(piece: bytes) -> bool:
    """Return whether the bytes are valid UTF-8."""
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True


def _named(tokens: Sequence[DriftToken], between: str = " ") -> str:
    """Return the first few tokens on a line, in backquotes; `nothing` for no tokens."""
    shown = [f"`{token.piece.decode('utf-8', 'backslashreplace')}`" for token in tokens[:_SHOWN]]
    return between.join(shown) + (" …" if len(tokens) > _SHOWN else "") or "nothing"


def rate(check_ids: DriftCheck, rows: Iterable[Iterable[Any]]) -> DriftRate:
    """Count the rows of ids that differ from the ids of their texts.

    Raises:
        TokentuiError: A row has an id that does not exist.
        Cancelled: The job is cancelled.
    """
    count, reasons = 0, Counter[str]()
    first_row, first = None, None
    for count, ids in enumerate(rows, 1):
        check()
        drift = check_ids(ids)
        if drift.same:
            continue
        reasons[drift.reason] += 1
        if first is None:
            first_row, first = count, drift
    return DriftRate(count, reasons.total(), dict(reasons.most_common()), first_row, first)


# ---- reports


def report(drift: Drift) -> Report:
    """Report whether encoding the text of ids gives the same ids, and the first difference."""
    value = {
        "same": drift.same, "text": drift.text, "ids": drift.ids, "encoded": drift.encoded,
        "place": drift.place, "before": [_token_row(token) for token in drift.before],
        "after": [_token_row(token) for token in drift.after], "reason": drift.reason or None,
        "sentence": drift.sentence or None,
    }
    return Report("Ids and the ids of their text", tuple(_sections(drift)), value, _summary(drift))


def rate_report(found: DriftRate) -> Report:
    """Report the share of rows whose ids differ, the reasons, and the first difference."""
    share = f" ({100 * found.differ / found.rows:.2f} %)" if found.rows else ""
    line = f"{found.differ:,} of {plural(found.rows, 'row')} differ{share}"
    rows = tuple(Row((f"{count:,}", REASONS[reason])) for reason, count in found.reasons.items())
    sections = [Section("rows", warning(line) if found.differ else line, rows)]
    first = None
    if found.first is not None:
        sections += [Section("first", f"row {found.first_row:,}"), *_sections(found.first)]
        first = {"row": found.first_row, **report(found.first).value}
    value = {
        "rows": found.rows, "differ": found.differ, "rate": found.differ / found.rows if found.rows else 0.0,
        "reasons": found.reasons, "first": first,
    }
    return Report("Rows of ids and the ids of their texts", tuple(sections), value, strong(line))


def _summary(drift: Drift) -> Part:
    return strong("the same ids" if drift.same else f"they differ at {drift.place}")


def _sections(drift: Drift) -> Iterator[Section]:
    """Yield that the ids are the same, or the first that differs, tokens of both, reason and text.

    The tokens are left out if encoding refuses the text.
    """
    if drift.same:
        yield Section("ids", f"{plural(len(drift.ids), 'id')}, the same as encode gives")
        return
    what = f"id {(drift.place or 0) + 1:,} of {len(drift.ids):,} is the first that differs"
    yield Section("ids", warning(what))
    for name, tokens in (("these", drift.before), ("encode", drift.after)):
        rows = tuple(Row((_number(token), token.piece)) for token in tokens)
        if drift.reason != "refused":
            yield Section(name, plural(len(rows), "token"), rows, few=_SHOWN)
    yield Section("reason", drift.sentence)
    yield Section("text", data(drift.text[:80] + ("…" if len(drift.text) > 80 else "")))


def _number(token: DriftToken) -> str:
    return "null" if token.id is None else str(token.id)


def _token_row(token: DriftToken) -> dict[str, object]:
    return {"id": token.id, "text": token.piece.decode("utf-8", "replace"), "hex": token.piece.hex()}
