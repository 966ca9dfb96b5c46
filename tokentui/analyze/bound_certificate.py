"""Certificates of lower bounds: a file that proves one, and the check of it.

A certificate has a JSON object a line. The first has the claim. Each other one is a distinct pre-token: its
`units` in hex, its `count`, and the whole numbers `g` of its units, each at most `scale` times the count;
null for a pre-token that counts as one token.

The check shares no code with the search. It adds up, in whole numbers,

    (sum of all g) - (sum of the k greatest L) + scale · (count of the pre-tokens without g)

where L of a text is what the numbers of its occurrences add up to beyond `scale` times the count. Texts are
those of two or more units that two pre-tokens have, and whole pre-tokens; see `learn/lower_bound.py`.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tokentui.analyze.bound import BoundedCorpus
from tokentui.analyze.report import Report, Row, Section, strong
from tokentui.analyze.results import Bounds, SizeBound
from tokentui.core.errors import TokentuiError
from tokentui.core.files import open_regular
from tokentui.core.jobs import check as go_on
from tokentui.learn.lower_bound import SCALE, Bound, WordRow

_FORMAT, _VERSION = "tokentui bound", 1
_MOST = 1 << 53
_LONGEST_LINE = 1 << 24
_LONGEST_WORD, _MOST_UNITS = 1 << 12, 1 << 20
_HINT = "write it again with tokentui bound -o"


class Certificate(NamedTuple):
    """A certificate.

    Attributes:
        tokens: The claim: no vocabulary needs fewer tokens.
        vocab_size: The ids of such a vocabulary.
        base: The ids that are no token of several units.
        scale: The factor of the numbers.
        corpus: The name of the corpus.
        words: The pre-tokens: units, count, and numbers or None.
    """

    tokens: int
    vocab_size: int
    base: int
    scale: int
    corpus: str
    words: tuple[tuple[tuple[str, ...], int, tuple[int, ...] | None], ...]


class Checked(NamedTuple):
    """The result of a check.

    Attributes:
        certificate: The certificate.
        proved: The bound that its numbers prove.
        same: Whether its pre-tokens are those of a corpus; None if no corpus was named.
    """

    certificate: Certificate
    proved: int
    same: bool | None

    @property
    def holds(self) -> bool:
        """True if the claim is proved, and for the corpus that was named."""
        return self.proved >= self.certificate.tokens and self.same is not False


def written(found: Bounds, size: SizeBound, bounded: BoundedCorpus, bound: Bound) -> bytes:
    """Return the bytes of a certificate: a line of JSON with the claim, then one for each distinct
    pre-token."""
    head = {
        "format": _FORMAT, "version": _VERSION, "corpus": found.corpus, "split": found.split,
        "unit": found.unit, "vocab_size": size.vocab_size, "base": found.base, "scale": SCALE,
        "tokens": bound.tokens,
    }
    lines = [json.dumps(head)]
    numbers, at = bound.numbers, 0
    searched = {id(row) for row in bounded.candidates.rows}
    for row in bounded.rows:
        given = None
        if id(row) in searched:
            given = list(numbers[at : at + len(row.units)])
            at += len(row.units)
        units = [unit.hex() for unit in row.units]
        lines.append(json.dumps({"units": units, "count": row.times, "g": given}))
    return "\n".join([*lines, ""]).encode()


def read_certificate(path: str) -> Certificate:
    """Read a certificate. Its numbers are not checked, see `proved`.

    Raises:
        TokentuiError: It cannot be read, or is not a certificate.
    """
    words = []
    with open_regular(path) as file:
        lines = _lines(file, path)
        head = next(lines, {})
        if head.get("format") != _FORMAT or head.get("version") != _VERSION:
            raise TokentuiError("not a certificate of a bound", path, _HINT)
        counts = {name: _count(head.get(name), path, 1) for name in ("tokens", "vocab_size", "base", "scale")}
        for number, row in enumerate(lines, 2):
            words.append(_word(row, counts["scale"], f"{path}, line {number}"))
            if number % 4096 == 0:
                go_on()
    if counts["base"] > counts["vocab_size"]:
        raise TokentuiError("the base is larger than the vocabulary", path, _HINT)
    if len({unit for units, _, _ in words for unit in units}) > _MOST_UNITS:
        raise TokentuiError(f"more than {_MOST_UNITS:,} distinct units", path, _HINT)
    return Certificate(
        counts["tokens"], counts["vocab_size"], counts["base"], counts["scale"], str(head.get("corpus", "")),
        tuple(words),
    )


def _lines(file: object, path: str) -> Iterator[Mapping[str, object]]:
    """Yield the JSON objects of a file, one a line.

    Raises:
        TokentuiError: A line is not a JSON object, or has more than `_LONGEST_LINE` bytes.
    """
    reader = file.readline  # type: ignore[attr-defined]
    number = 0
    while line := reader(_LONGEST_LINE):
        number += 1
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise TokentuiError("not a JSON object", f"{path}, line {number}", _HINT)
        yield row


def _count(value: object, where: str, least: int) -> int:
    if type(value) is not int or not least <= value <= _MOST:
        raise TokentuiError("not a whole number in its range", where, _HINT)
    return value


def _word(
    row: Mapping[str, object], scale: int, where: str
) -> tuple[tuple[str, ...], int, tuple[int, ...] | None]:
    """Return the units, count and numbers of a word; None for the numbers if the row has none.

    Raises:
        TokentuiError: A value has a wrong type, there are too many units, or a number is above `scale` times
            the count.
    """
    units, count, numbers = row.get("units"), _count(row.get("count"), where, 1), row.get("g")
    if not isinstance(units, list) or not units or not all(type(unit) is str and unit for unit in units):
        raise TokentuiError("no units", where, _HINT)
    if numbers is None:
        return tuple(units), count, None
    if len(units) > _LONGEST_WORD:
        raise TokentuiError(f"numbers for more than {_LONGEST_WORD:,} units", where, _HINT)
    if not isinstance(numbers, list) or len(numbers) != len(units):
        raise TokentuiError("not one number for each unit", where, _HINT)
    for number in numbers:
        if type(number) is not int or not -_MOST <= number <= scale * count:
            raise TokentuiError("a number is above the count, or none", where, _HINT)
    return tuple(units), count, tuple(numbers)


def proved(certificate: Certificate) -> int:
    """Return the bound that the numbers of a certificate prove, whatever it claims."""
    letters: dict[str, str] = {}
    scale, total = certificate.scale, 0
    spelled, excess, seen = [], dict[str, int](), dict[str, int]()
    for number, (units, count, values) in enumerate(certificate.words):
        if values is None:
            total += scale * count
            continue
        if number % 1024 == 0:
            go_on()
        word = "".join(letters.setdefault(unit, chr(len(letters) + 0xE000)) for unit in units)
        spelled.append(word)
        total += sum(values)
        for start in range(len(values)):
            over = -scale * count
            for end in range(start, len(values)):
                over += values[end]
                if over > 0 and end > start:
                    text = word[start : end + 1]
                    excess[text] = excess.get(text, 0) + over
                    if seen.setdefault(text, number) != number:
                        seen[text] = -1
    for word in spelled:
        seen[word] = -1
    single = {text: 0 for text, word in seen.items() if word >= 0}
    if single:
        longest = max(map(len, single))
        for word in spelled:  # a text without an excess elsewhere may still be in another pre-token
            found = {
                word[start:end] for start in range(len(word))
                for end in range(start + 2, min(len(word), start + longest) + 1)
            }
            for text in found & single.keys():
                single[text] += 1
    most = certificate.vocab_size - certificate.base
    greatest = heapq.nlargest(most, (more for text, more in excess.items() if single.get(text, 2) > 1))
    return -((sum(greatest) - total) // scale)


def check(path: str, rows: Sequence[WordRow] | None = None) -> Checked:
    """Read a certificate, and compute what its numbers prove.

    Args:
        path: The file.
        rows: The pre-tokens of a corpus that it must be about; None for any.

    Raises:
        TokentuiError: The file cannot be read, or is not a certificate.
    """
    certificate = read_certificate(path)
    same = None
    if rows is not None:
        ours = sorted((tuple(unit.hex() for unit in row.units), row.times) for row in rows)
        same = ours == sorted((units, count) for units, count, _ in certificate.words)
    return Checked(certificate, proved(certificate), same)


def report(checked: Checked) -> Report:
    """Report on the check of a certificate: its claim, what its numbers prove, and whether it is about the
    corpus, if one was named."""
    certificate, holds = checked.certificate, checked.proved >= checked.certificate.tokens
    what = f"no vocabulary of {certificate.vocab_size:,} ids needs fewer than {certificate.tokens:,} tokens"
    rows = (
        Row((f"{checked.proved:,}", "tokens are proved")),
        Row((f"{len(certificate.words):,}", f"distinct pre-tokens of {certificate.corpus}")),
        Row((f"{certificate.vocab_size - certificate.base:,}", "tokens of several units at most")),
    )
    sections = [
        Section("claim", what),
        Section("check", strong("the numbers prove it" if holds else "the numbers do not prove it"), rows),
    ]
    if checked.same is not None:
        words = "the pre-tokens are those" if checked.same else "the pre-tokens are not those"
        sections.append(Section("corpus", f"{words} of this tokenizer on this corpus"))
    value = {
        "holds": checked.holds, "claimed": certificate.tokens, "proved": checked.proved,
        "vocab_size": certificate.vocab_size, "base": certificate.base, "corpus": certificate.corpus,
        "same": checked.same,
    }
    return Report("Certificate", tuple(sections), value)
