"""Find the mistakes that give a student's merges, by training with each mistake too.

First the right training, then each mistake alone, then two together. All that give the same merges are
returned: none is chosen by a guess. If two remain, `separating` looks for a text on which they differ.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from tokentui.analyze.grading.faults import ORDER_LOST, Fault, combined, faults_for
from tokentui.analyze.grading.model import Material, Method, merges_of
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check
from tokentui.recipe import Recipe

Pair = tuple[bytes, bytes]
SECONDS = 20.0
"""The seconds that the search may take. The report lists the mistakes that were not tried."""
_WAYS = 4
"""The ways of a mistake that are combined with another mistake."""
_MERGES, _TEXTS = 8, 400


@dataclass(frozen=True)
class Trial:
    """The merges of a student on a corpus.

    Attributes:
        material: The corpus.
        pairs: The merges.
        right: The right merges.
        asked: The number of merges that the exercise asks for.
    """

    material: Material
    pairs: Sequence[Pair]
    right: Sequence[Pair]
    asked: int


@dataclass(frozen=True)
class Explanation:
    """Mistakes that together give the merges of a student.

    Attributes:
        faults: The mistakes; empty if only the size is wrong, or nothing.
        method: A way to train that makes them.
        sized: False if the number of merges is wrong, too.
    """

    faults: tuple[Fault, ...]
    method: Method
    sized: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the mistakes."""
        return tuple(fault.name for fault in self.faults)


@dataclass(frozen=True)
class Diagnosis:
    """What was found.

    Attributes:
        found: All explanations of the fewest mistakes; empty if none of those that are known fits.
        tried: The number of ways to train that were tried.
        complete: False if the time was over before all were tried.
        nearest: The mistake that agrees longest, if none fits and it agrees longer than the right training.
        agreed: The number of merges for which it agrees.
    """

    found: tuple[Explanation, ...]
    tried: int
    complete: bool = True
    nearest: Fault | None = None
    agreed: int = 0


def diagnose(
    trials: Sequence[Trial], recipe: Recipe, specials: Sequence[str], seconds: float = SECONDS
) -> Diagnosis:
    """Return the mistakes that give the merges of all trials.

    Args:
        trials: The merges on one or more corpora, in the order of the exercise.
        recipe: The recipe of the exercise.
        specials: The special tokens that are borders.
        seconds: How long to search at most.

    Raises:
        Cancelled: The job is cancelled.
    """
    documents = max((len(trial.material.corpus.documents) for trial in trials), default=1)
    ordered = sorted(trials, key=lambda trial: trial.material.corpus.size)
    search = _Search(ordered, time.monotonic() + seconds)
    ways = list(faults_for(recipe, specials, documents))
    for method in (Method(), Method(same=True)):
        if (sized := search.fits(method)) is not None:
            return Diagnosis((Explanation((), method, sized),), search.tried)
    right = search.agreed
    single = search.all_of(
        ((fault,), changed) for fault, method in ways for changed in (method, replace(method, same=True))
    )
    if exact := [one for one in single if one.sized]:
        return Diagnosis(_distinct(exact), search.tried, search.complete)
    if single:
        return Diagnosis(_distinct(single), search.tried, search.complete)
    if any(all(list(trial.pairs) == order(trial.right) for trial in trials) for order in _ORDERS):
        return Diagnosis((Explanation((ORDER_LOST,), Method()),), search.tried)
    nearest, agreed = search.nearest, search.agreed
    double = search.all_of(_pairs(ways))
    found = [one for one in double if one.sized] or double
    return Diagnosis(
        _distinct(found), search.tried, search.complete,
        nearest if not found and agreed > right else None, agreed if not found else 0,
    )


_ORDERS: tuple[Callable[[Sequence[Pair]], list[Pair]], ...] = (sorted, lambda right: list(right)[::-1])
"""The orders in which merges are written by mistake."""


def _pairs(ways: Sequence[tuple[Fault, Method]]) -> Iterator[tuple[tuple[Fault, ...], Method]]:
    """Yield two mistakes at a time, if they can be made together."""
    few = [list(group)[:_WAYS] for _, group in itertools.groupby(ways, key=lambda way: way[0])]
    for (one, first), (other, second) in itertools.combinations(itertools.chain.from_iterable(few), 2):
        if one.name != other.name and (both := combined(first, second)) is not None:
            yield (one, other), both
            yield (one, other), replace(both, same=True)


def _distinct(found: Iterable[Explanation]) -> tuple[Explanation, ...]:
    """Return explanations with different mistakes, each once."""
    kept: dict[tuple[str, ...], Explanation] = {}
    for one in found:
        kept.setdefault(one.names, one)
    return tuple(kept.values())


class _Search:
    """A search with a time limit.

    Args:
        trials: The trials, the shortest corpus first: most methods differ there.
        until: The time at which it ends.
    """

    def __init__(self, trials: Sequence[Trial], until: float) -> None:
        self._trials, self._until = trials, until
        self.tried = self.agreed = 0
        self.complete = True
        self.nearest: Fault | None = None

    def all_of(self, ways: Iterable[tuple[tuple[Fault, ...], Method]]) -> list[Explanation]:
        """Return the ways that give the merges of all trials, and note the nearest single fault.

        It stops, and is not complete, when the time is over.
        """
        found: list[Explanation] = []
        for faults, method in ways:
            if time.monotonic() > self._until:
                self.complete = False
                break
            before = self.agreed
            if (sized := self.fits(method)) is not None:
                found.append(Explanation(faults, method, sized))
            elif self.agreed > before and len(faults) == 1:
                self.nearest = faults[0]
        return found

    def fits(self, method: Method) -> bool | None:
        """Return whether a method gives the merges of all trials; None if not, False if only their number is
        different."""
        self.tried += 1
        check()
        sized, agreed = True, 0
        for trial in self._trials:
            try:
                number, ended = _agreement(trial, method)
            except (TokentuiError, KeyError, ValueError):  # the text cannot be cut in this way
                return None
            agreed += number
            if number < len(trial.pairs):
                self.agreed = max(self.agreed, agreed)
                return None
            sized = sized and (number == trial.asked or (number < trial.asked and ended))
        return sized


def _agreement(trial: Trial, method: Method) -> tuple[int, bool]:
    """Return how many first merges a method gives too, and whether no pair is left to it then."""
    steps = merges_of(trial.material, method)
    for number, pair in enumerate(trial.pairs):
        step = next(steps, None)
        if step is None or (step.left, step.right) != pair:
            return number, step is None
    ended = len(trial.pairs) < trial.asked and next(steps, None) is None
    return len(trial.pairs), ended


# ---- the number of merges


@dataclass(frozen=True)
class SizeFault:
    """A wrong number of merges.

    Attributes:
        what: What was probably done, as a sentence without a period.
        why: The rule.
    """

    what: str
    why: str


def size_faults(
    made: int, asked: int, base: int, specials: int, vocab_size: int | None, *, ended: bool,
    next_count: int | None
) -> list[SizeFault]:
    """Return what explains a wrong number of merges; the last one only states it.

    Args:
        made: The number that was handed in.
        asked: The number that the exercise asks for.
        base: The number of units that the training starts from.
        specials: The number of special tokens.
        vocab_size: The size that the exercise asks for; None if it asks for merges.
        ended: True if no pair was left after the merges that were handed in.
        next_count: The count of the pair that would have been next; None if there is none.
    """
    if vocab_size is None:
        why = f"The exercise asks for {asked:,} merges."
    else:
        parts = f"{vocab_size:,} ids - {base:,} units"
        parts += f" - {specials:,} special tokens" if specials else ""
        why = f"The size counts units and special tokens: {parts} = {asked:,} merges."
    found: list[SizeFault] = []

    def fits(number: int) -> bool:
        return made == number or (ended and asked < made < number)

    if vocab_size is not None:
        if specials and fits(asked + specials):
            what = "the special tokens are not counted in the size, so that there are too many merges"
            found.append(SizeFault(what, why))
        if fits(asked + base):
            what = f"the {base:,} units are not counted in the size: the size is the number of merges"
            found.append(SizeFault(what, why))
        if fits(asked + base + specials) and specials:
            what = "neither units nor special tokens are counted: the size is the number of merges"
            found.append(SizeFault(what, why))
        if specials and made == asked - specials:
            found.append(SizeFault("the special tokens are counted twice in the size", why))
    if abs(made - asked) == 1 and not found:
        more = "more" if made > asked else "less"
        found.append(SizeFault(f"the number of merges is off by one: one {more} than asked", why))
    elif made < asked and next_count == 1:
        what = "you stop when the best pair occurs once: the exercise has no least count"
        found.append(SizeFault(what, why))
    if not found:
        more = "too many" if made > asked else "missing"
        found.append(SizeFault(f"{abs(made - asked):,} merges are {more}: all others are right", why))
    return found


# ---- a text that tells two mistakes apart


def texts(specials: Sequence[str]) -> Iterator[str]:
    """Yield short texts on which mistakes show, the same each time."""
    special = specials[0] if specials else " "
    inside = " ".join(filter(None, special.strip("<>").split("|")))
    yield f"banana oooh{special}banana{special}low oooh\r\n\r\nLow\r\n\r\n"
    yield f"ab <b> |ab| {inside} <| |> {special}\n ab\n\n{special}  ab   Ab   c1234. 1234.\n"
    yield "aaa aaaa aaaaa\n\nbabab babab abbb aabaab don't we'll DON'T DON'T ﬁ x²\n"
    yield "aaabdaaabac"
    random = Random(0)
    letters = ["a", "b", "a", "b", " ", "c", "A", ".", "é"] + (["\r\n\r\n",
        special] if specials else ["\r\n"])
    for number in range(_TEXTS):
        yield "".join(random.choice(letters) for _ in range(6 + number // 20))


def separating(
    one: Method, other: Method, recipe: Recipe, specials: Sequence[str]
) -> tuple[str, tuple[Pair, Pair], int] | None:
    """Return a text on which two methods merge differently, what each merges there, and at which step.

    Returns:
        None if none of the texts that are tried separates them.
    """
    from tokentui.text.corpus import Corpus  # the report needs no other corpus

    for text in texts(specials):
        material = Material(Corpus.from_text(text), recipe, specials)
        rows = []
        for method in (one, other):
            try:
                rows.append([step[:2] for step in itertools.islice(merges_of(material, method), _MERGES)])
            except (TokentuiError, KeyError, ValueError):
                break
        if len(rows) == 2 and rows[0] != rows[1]:
            for number, (first, second) in enumerate(itertools.zip_longest(*rows, fillvalue=(b"", b"")), 1):
                if first != second:
                    return text, (first, second), number
    return None
