"""Naive models of trainings by events, written from their descriptions: everything is counted anew at each
step."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

Word = list[str]
Pair = tuple[str, str]
Log = list[tuple[str, ...]]
"""(kind, token, its parts ...) of each event; a step begins with a merge."""


def pairs_of(words: Mapping[str, Word], counts: Mapping[str, int]) -> Counter[Pair]:
    """The count of each pair, overlapping places too."""
    found: Counter[Pair] = Counter()
    for name, word in words.items():
        for pair in pairwise(word):
            found[pair] += counts[name]
    return found


def uses_of(token: str, words: Mapping[str, Word], counts: Mapping[str, int]) -> int:
    """The uses of a token."""
    return sum(word.count(token) * counts[name] for name, word in words.items())


def merged(word: Sequence[str], pair: Pair) -> Word:
    """A word with a pair merged from left to right."""
    out: Word = []
    at = 0
    while at < len(word):
        if tuple(word[at : at + 2]) == pair:
            out.append("".join(pair))
            at += 2
        else:
            out.append(word[at])
            at += 1
    return out


def split(word: Sequence[str], token: str, parts: Sequence[str]) -> Word:
    """A word with parts in the place of a token."""
    return [part for one in word for part in (parts if one == token else (one,))]


def replaced(log: Log, word: Word) -> Word:
    """A word after all events, one after the other."""
    for kind, token, *parts in log:
        word = merged(word, (parts[0], parts[1])) if kind == "merge" else split(word, token, parts)
    return word


def picky(counts: Mapping[str, int], threshold: str, steps: int) -> Iterator[tuple[Log, int]]:
    """PickyBPE: the events of each step, and the number of tokens after it. Ties: the smallest pair."""
    words = {name: list(name) for name in counts}
    present, makings = {char for name in counts for char in name}, dict[str, tuple[str, ...]]()

    def expansion(token: str) -> list[str]:
        return [
            one for part in makings[token]
            for one in ([part] if part in present else expansion(part))
        ]

    for _ in range(steps):
        found = pairs_of(words, counts)
        if not found:
            return
        pair = min(found, key=lambda one: (-found[one], one[0].encode(), one[1].encode()))
        token, log = "".join(pair), Log()
        before = uses_of(token, words, counts)
        words = {name: merged(word, pair) for name, word in words.items()}
        done = uses_of(token, words, counts) - before
        makings.setdefault(token, pair)
        present.add(token)
        log.append(("merge", token, *pair))
        for part in dict.fromkeys(pair):
            left = uses_of(part, words, counts)
            if len(part) > 1 and Fraction(done, left + done) > Fraction(threshold):
                present.remove(part)
                parts = expansion(part)
                words = {name: split(word, part, parts) for name, word in words.items()}
                log.append(("split", part, *parts))
        yield log, len(present)


def superbpe(
    lines: Mapping[str, int], at: int, steps: int, inside: Callable[[str], list[str]],
    key: Callable[[Pair], object],
) -> Iterator[tuple[Pair, int, int]]:
    """SuperBPE: the pair, its count, and the tokens of the corpus after each step. `inside` cuts a line into
    words; the smallest `key` of equal pairs wins."""
    words = {line: [list(word) for word in inside(line)] for line in lines}
    merges: list[Pair] = []
    for number in range(1, steps + 1):
        if number == at + 1:
            for line in words:
                flat = list(line)
                for pair in merges:
                    flat = merged(flat, pair)
                words[line] = [flat]
        found: Counter[Pair] = Counter()
        for line, parts in words.items():
            for part in parts:
                for one in pairwise(part):
                    found[one] += lines[line]
        if number > at:
            found = Counter({
                one: count for one, count in found.items()
                if ": " not in "".join(one) and len(list(filter(None, "".join(one).split(" ")))) <= 4
            })
        if not found:
            return
        pair = min(found, key=lambda one: (-found[one], key(one)))
        merges.append(pair)
        words = {line: [merged(part, pair) for part in parts] for line, parts in words.items()}
        if number == at:  # the stretches are laid out with the last merge of the first stage
            flats = []
            for line in words:
                flat = list(line)
                for one in merges:
                    flat = merged(flat, one)
                flats.append(len(flat) * lines[line])
            yield pair, found[pair], sum(flats)
        else:
            lengths = [len(part) * lines[line] for line, parts in words.items() for part in parts]
            yield pair, found[pair], sum(lengths)


LETTERS = re.compile(r"[^\W\d_]")


def joins(token: str) -> bool:
    """Only letters, spaces, underscores and apostrophes, with a letter that is not the first character."""
    return all(LETTERS.match(one) or one in " _'’" for one in token) and any(map(LETTERS.match, token[1:]))


def runs_of(word: Sequence[object]) -> Iterator[tuple[object, object]]:
    """The pairs of a word; of a run of equal things every other one."""
    at = 0
    while at < len(word) - 1:
        yield word[at], word[at + 1]
        end = at
        while word[at] == word[at + 1] and end + 2 < len(word) and word[end + 2] == word[at]:
            end += 1
            if (end - at) % 2 == 0:
                yield word[at], word[at + 1]
        at = max(at + 1, end + 1) if end > at else at + 1


def boundless(
    documents: Mapping[str, int], tau: str, steps: int, inside: Callable[[str], list[str]]
) -> Iterator[tuple[Log, int]]:
    """BoundlessBPE: the events of each step (`join` for two whole words), and the tokens of the documents.

    A word that is taken apart is locked again, and a joined word is another thing than a word of the same
    letters: items are (text, joined).
    """
    counts: Counter[str] = Counter()
    rows: dict[str, list[tuple[str, bool]]] = {}
    for text, times in documents.items():
        rows[text] = [(word, False) for word in inside(text)]
        for word, _ in rows[text]:
            counts[word] += times
    words = {word: list(word) for word in counts}
    taken, unlocked = {char for word in words for char in word}, set[tuple[str, bool]]()
    for _ in range(steps):
        found: Counter[Pair] = Counter()
        for name, units in words.items():
            for first, second in runs_of(units):
                found[str(first), str(second)] += counts[name]
        found = Counter({pair: n for pair, n in found.items() if "".join(pair) not in taken})
        both: Counter[tuple[tuple[str, bool], tuple[str, bool]]] = Counter()
        for text, row in rows.items():
            for one, other in runs_of(row):
                both[one, other] += documents[text]  # type: ignore[index]
        both = Counter({
            pair: n for pair, n in both.items()
            if unlocked.issuperset(pair) and pair[0][0] + pair[1][0] not in taken
        })
        if not found and not both:
            return
        inner = min(found, key=lambda one: (-found[one], one[0].encode(), one[1].encode()), default=None)
        outer = min(both, key=lambda one: (-both[one], one[0][0].encode(), one[1][0].encode()), default=None)
        log = Log()
        if inner is not None and (outer is None or found[inner] > both[outer]):
            token = "".join(inner)
            uses = {part: uses_of(part, words, counts) for part in inner}
            words = {name: merged(word, inner) for name, word in words.items()}
            taken.add(token)
            log.append(("merge", token, *inner))
            if words.get(token) == [token] and joins(token):
                unlocked.add((token, False))
            for part in dict.fromkeys(inner):
                if len(part) > 1 and Fraction(found[inner], uses[part]) >= Fraction(tau):
                    words = {name: split(word, part, list(part)) for name, word in words.items()}
                    unlocked.discard((part, False))
                    log.append(("break", part, *part))
        else:
            assert outer is not None
            token = outer[0][0] + outer[1][0]
            taken.add(token)
            log.append(("join", token, outer[0][0], outer[1][0]))
            for text, row in rows.items():
                out: list[tuple[str, bool]] = []
                at = 0
                while at < len(row):
                    whole = tuple(row[at : at + 2]) == outer
                    out.append((token, True) if whole else row[at])
                    at += 2 if whole else 1
                rows[text] = out
            if outer[0] != outer[1] or any(row == [(token, True)] for row in rows.values()):
                unlocked.add((token, True))
        length = sum(
            documents[text] * (1 if joined else len(words[item])) for text, row in rows.items()
            for item, joined in row
        )
        yield log, length


def replayed(log: Log, text: str, inside: Callable[[str], list[str]]) -> list[str]:
    """A text after all events of BoundlessBPE: inside words, taken apart, or joined where both are whole."""
    row: list[Word] = [list(word) for word in inside(text)]
    for kind, token, *parts in log:
        if kind == "merge":
            row = [merged(word, (parts[0], parts[1])) for word in row]
        elif kind == "break":
            row = [split(word, token, parts) for word in row]
        else:
            out: list[Word] = []
            at = 0
            while at < len(row):
                whole = row[at : at + 2] == [[parts[0]], [parts[1]]]
                out.append([token] if whole else row[at])
                at += 2 if whole else 1
            row = out
    return [token for word in row for token in word]
