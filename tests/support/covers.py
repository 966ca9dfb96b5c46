"""GreedTok, Length-MAX and PathPiece as their descriptions tell them, counted from scratch at each step.

A word is a list of texts. Each model yields what a step does; ties go to the smallest text, but for
PathPiece, whose rule is its own. None of them uses code of the package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise


def borders(tokens: Sequence[str]) -> list[int]:
    """The places where tokens begin, and the end."""
    found = [0]
    for token in tokens:
        found.append(found[-1] + len(token))
    return found


def covered(tokens: Sequence[str], text: str) -> tuple[list[str], int]:
    """A word with a text laid over it from left to right, where it cuts no token, and the places."""
    word, cuts, at, places = "".join(tokens), set(borders(tokens)), 0, 0
    while (at := word.find(text, at)) >= 0:
        if {at, at + len(text)} <= cuts:
            cuts -= set(range(at + 1, at + len(text)))
            places += 1
            at += len(text)
        else:
            at += 1
    order = sorted(cuts)
    return [word[first:last] for first, last in pairwise(order)], places


def greedtok(counts: Mapping[str, int], longest: int) -> Iterator[tuple[str, int, int]]:
    """Of each step the text, by how many tokens it shortens the corpus, and the length of that."""
    words = {word: list(word) for word in counts}
    while True:
        texts = {
            word[first:last] for word in counts for first in range(len(word))
            for last in range(first + 2, min(first + longest, len(word)) + 1)
        }
        saved = {
            text: sum(
                (len(words[word]) - len(covered(words[word], text)[0])) * count
                for word, count in counts.items()
            )
            for text in texts
        }
        best = min(saved, key=lambda text: (-saved[text], text.encode()), default="")
        if not best or not saved[best]:
            return
        words = {word: covered(tokens, best)[0] for word, tokens in words.items()}
        yield best, saved[best], sum(len(words[word]) * count for word, count in counts.items())


def placed(covers: Sequence[str], word: str) -> list[str]:
    """A word as the covers of a training encode it: every place of each, by (rank, start), where it cuts no
    piece that lies there; what is inside is overwritten."""
    pieces: list[tuple[int, int]] = []
    places = sorted(
        (rank, start, start + len(text)) for rank, text in enumerate(covers)
        for start in range(len(word)) if word.startswith(text, start)
    )
    for _, start, end in places:
        if not any(first < border < last for first, last in pieces for border in (start, end)):
            pieces = [one for one in pieces if one[1] <= start or one[0] >= end] + [(start, end)]
    out, at = [], 0
    ends = dict(pieces)
    while at < len(word):
        out.append(word[at : ends.get(at, at + 1)])
        at += len(out[-1])
    return out


def joined(tokens: Sequence[str], run: Sequence[str]) -> list[str]:
    """A word with a run of tokens made one from left to right."""
    out, at = [], 0
    while at < len(tokens):
        if list(tokens[at : at + len(run)]) == list(run):
            out.append("".join(run))
            at += len(run)
        else:
            out.append(tokens[at])
            at += 1
    return out


def length_max(
    counts: Mapping[str, int], most: int, by: str
) -> Iterator[tuple[tuple[str, ...], int, int, int]]:
    """Of each step the run, its value, its count and the length of the corpus."""
    words = {word: list(word) for word in counts}
    numbers = {unit: number for number, unit in enumerate(sorted({char for word in counts for char in word}))}
    while True:
        found: Counter[tuple[str, ...]] = Counter()
        for word, tokens in words.items():
            for size in range(2, most + 1):
                for at in range(len(tokens) - size + 1):
                    found[tuple(tokens[at : at + size])] += counts[word]
        values = {
            run: count * {"tokens": len(run), "saved": len(run) - 1, "characters": len("".join(run))}[by]
            for run, count in found.items() if count > 1
        }
        if not values:
            return
        best = min(values, key=lambda run: (
            -values[run], "".join(run).encode(), [numbers[token] for token in run]
        ))
        numbers.setdefault("".join(best), len(numbers))
        words = {word: joined(tokens, best) for word, tokens in words.items()}
        yield best, values[best], found[best], sum(len(words[word]) * count for word, count in counts.items())


def ways(word: str, vocabulary: set[str]) -> list[list[tuple[int, int]]]:
    """All ways to write a word in tokens, each as its stretches."""
    if not word:
        return [[]]
    return [
        [*way, (first, len(word))] for first in range(len(word)) if word[first:] in vocabulary
        for way in ways(word[:first], vocabulary)
    ]


def shortest(word: str, vocabulary: set[str]) -> list[tuple[int, int]]:
    """The way of fewest tokens; of several that with the widest last token, then the last but one, and so on.
    """
    return min(ways(word, vocabulary), key=lambda way: (len(way), [first for first, _ in way[::-1]]))


def costs(counts: Mapping[str, int], vocabulary: set[str]) -> Counter[str]:
    """The tokens that each token's absence costs: at each of its places the fewest of the ways that do not
    have it there."""
    found: Counter[str] = Counter()
    for word, count in counts.items():
        all_ways, way = ways(word, vocabulary), shortest(word, vocabulary)
        for part in way:
            if part[1] - part[0] > 1:
                other = min(len(one) for one in all_ways if part not in one)
                found[word[part[0] : part[1]]] += (other - len(way)) * count
    return found


def pathpiece(
    counts: Mapping[str, int], seeds: int, longest: int, many: int
) -> Iterator[tuple[list[str], int, int]]:
    """Of each step the tokens that leave, the sum of their costs, and the length of the corpus; the start
    comes first, with no tokens."""
    texts: Counter[str] = Counter()
    for word, count in counts.items():
        for first in range(len(word)):
            for last in range(first + 2, min(first + longest, len(word)) + 1):
                texts[word[first:last]] += count
    units = {char for word in counts for char in word}
    start = sorted(texts, key=lambda text: (-texts[text], text.encode()))[:seeds]
    vocabulary = units | set(start)

    def length() -> int:
        return sum(len(shortest(word, vocabulary)) * count for word, count in counts.items())

    yield [], 0, length()
    while vocabulary - units:
        cost = costs(counts, vocabulary)
        order = sorted(vocabulary - units, key=lambda text: (cost[text], -len(text), text.encode()))
        vocabulary -= set(order[:many])
        yield order[:many], sum(cost[text] for text in order[:many]), length()
