"""The corpus of a unigram training: its words as one text, and the seeds of the model in it.

In the text each unit is one character, so that a piece is a slice of it whatever the units are. The seeds are
every unit, and every substring that occurs at least twice and can be continued in two ways.

The rule is that of sentencepiece 0.2.3 (`MakeSeedSentencePiecesFromCorpus`): the inner nodes of a suffix tree
over the bytes of the text, between the starts of units. Two occurrences continue differently if the first
bytes after them differ. With `split=metaspace` a word is followed by the ▁ of the next word, and the last
word of a line by the end of the line.
"""

from __future__ import annotations

import functools
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress, pairwise, repeat
from operator import mul
from typing import NamedTuple

from tokentui.core import jobs
from tokentui.core.choices import LARGEST
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import tick
from tokentui.core.safetext import to_bytes
from tokentui.learn.bases import DIGITS, FILTERS, WEIGHTS, barriers, script, tokens_of, totals_of
from tokentui.learn.bases import NEVER as NEVER_IN_PIECES
from tokentui.learn.kernels.unigram_text import (
    DEEPEST,
    INHERITED,
    LAST_ENDING,
    MARK,
    NEVER,
    Found,
    Ground,
    Open,
    Strings,
    floats,
    ints,
    longs,
)
from tokentui.learn.unigram.lattice import Passes, Slices, finished, over
from tokentui.recipe import Recipe
from tokentui.text.count import Words
from tokentui.text.kernels.rules import is_shaped
from tokentui.text.pretokenize import MARKS, Pretokenizer
from tokentui.text.split import SPLITS

SEED_SIZE = 1_000_000
"""The most seeds of two or more units: the default of sentencepiece."""
PER_MILLE = 1000
"""Progress is reported in thousandths."""
_MARK = "▁"
_LINES = 8192
_BY_KIND = ("sentencepiece", "sentencepiece-digits")
"""The filters that depend on the kinds of units only."""
_FIRST = LAST_ENDING + 1
"""The code of the first unit."""


@dataclass(frozen=True, slots=True)
class Coded:
    """All words one after another, each with an ending, with one character for each unit.

    A word with several different endings occurs once with each.

    Attributes:
        text: The words with their endings.
        plain: True if units are characters, which the text then contains unchanged.
        sizes: The length of each word, its ending counted.
        weights: The count of each word in the corpus.
        units: The exact bytes of each unit by its character, sorted by bytes.
        prefix: The length in bytes of the mark of a unit that continues a word.
        endings: The characters of the three endings: anything follows; the ▁ of the next word; the end of the
            line.
        kinds: The kind of each unit, if the filter of the recipe depends on kinds only; otherwise None.
        valid: Any other filter; None if everything may be a piece.
        unknown: The count in the corpus of texts that no piece contains, by weight.
        apart: The number of tokens of these texts, by weight.
    """

    text: str
    plain: bool
    sizes: Sequence[int]
    weights: Sequence[int]
    units: Mapping[str, bytes]
    prefix: int
    endings: tuple[str, str, str]
    kinds: Sequence[int] | None
    valid: Callable[[bytes], bool] | None
    unknown: int = 0
    apart: int = 0

    def bytes(self, piece: str) -> bytes:
        """Return the exact bytes of a piece, given in characters of `text`.

        Of the marks of continuation only that of the first unit is included. A coded piece must not be empty.
        """
        if self.plain:
            return to_bytes(piece)
        return self.units[piece[0]] + b"".join([self.units[code][self.prefix :] for code in piece[1:]])

    def slices(self, places: Iterable[int], sizes: Iterable[int]) -> Iterable[str]:
        """Return the slices of the text at some places, of some sizes."""
        return (self.text[place : place + size] for place, size in zip(places, sizes, strict=True))


def code(words: Words, recipe: Recipe, lines: Sequence[str] | None = None) -> Coded:
    """Write the words of a corpus as one text, with a character for each unit.

    Args:
        words: The counted pre-tokens.
        recipe: Its unit, mark, split, weight and pieces are used.
        lines: The documents that the words come from. Without them every word of `split=metaspace` has a ▁
            after it, also the last word of a line.
    """
    plain = recipe.unit == "char" and MARKS.of(recipe.mark).put is None
    if plain:
        names: Sequence[str] = words.words
        characters = set(chain.from_iterable(chain.from_iterable(jobs.in_blocks(names))))
        units = {unit: to_bytes(unit) for unit in characters}
    else:
        names, units = _by_units(words.words, recipe)
    tick(50, PER_MILLE)
    free = (chr(number) for number in range(0x110000) if chr(number) not in units)
    end, space, line = next(free), next(free), next(free)
    weight, spaced = WEIGHTS.of(recipe.weight), SPLITS.of(recipe.split).marks_spaces
    follows = space if spaced else end
    if spaced and lines and weight.by_occurrences:
        parts, counts = _ended(words, names, last_words(lines, recipe), space, line)
    else:
        parts, counts = [name + follows for name in names], weight.of(words.counts)
    unknown = apart = 0
    if recipe.coverage < 1 or recipe.symbols:
        cut = [list(map(units.__getitem__, name)) for name in names]
        if recipe.symbols:  # a symbol is one unit
            cut = list(map(Pretokenizer(recipe).units, words.words))
        weights = weight.of(words.counts)
        parts, counts, units, unknown, apart = _without_barriers(
            cut, weights, recipe, parts, counts, units, follows
        )
    elif not all(names):
        filled = [len(part) > 1 for part in parts]
        parts, counts = list(compress(parts, filled)), list(compress(counts, filled))
    units = dict(sorted(units.items(), key=lambda item: item[1]))
    by_kind = recipe.pieces in _BY_KIND and plain and not any("\ud800" <= unit <= "\udfff" for unit in units)
    return Coded(
        "".join(parts), plain, list(map(len, parts)), counts, units,
        prefix=len(to_bytes(recipe.mark_text)) if MARKS.of(recipe.mark).in_front else 0,
        endings=(end, space, line),
        kinds=unit_kinds(units, FILTERS.of(recipe.pieces).digits_alone) if by_kind else None,
        valid=None if by_kind else FILTERS.of(recipe.pieces).allows, unknown=unknown, apart=apart,
    )


def _without_barriers(
    cut: Sequence[Sequence[bytes]], weights: Sequence[int], recipe: Recipe, parts: Sequence[str],
    counts: Sequence[int], units: Mapping[str, bytes], follows: str,
) -> tuple[list[str], list[int], dict[str, bytes], int, int]:
    """Cut the words at barriers, with which nothing merges and which are no units. Leave out the words that
    are symbols.

    sentencepiece replaces barriers by a character that starts with the same byte as ▁.

    Args:
        cut: The units of each word.
        weights: The weight of each word.
        recipe: The recipe.
        parts: The words, a character for each unit and the character of what follows.
        counts: The weight of each part.
        units: The unit of each character.
        follows: The character of what follows a part that a barrier ends.

    Returns:
        The parts, their weights, the units that are left, the weight of all barriers and symbols, and the
        number of tokens of barriers by weight.
    """
    barred = barriers(totals_of(cut, weights), recipe)
    codes = "".join(code for code, unit in units.items() if unit in barred)
    at = re.compile(f"[{re.escape(codes)}]") if codes else re.compile("(?!)")
    symbols = frozenset(recipe.symbols)
    out: list[str] = []
    times: list[int] = []
    unknown = 0
    for part, count in zip(parts, counts, strict=True):
        if part[:-1] in symbols:
            unknown += count
            continue
        *before, last = at.split(part)
        unknown += len(before) * count
        out += [text + follows for text in before if text]
        out += [last] if len(last) > 1 else []
        times += [count] * (len(out) - len(times))
    # A character that occurs only in symbols is no unit: sentencepiece cuts symbols out before it counts
    # characters.
    remaining = set[bytes]().union(*cut) - barred
    others = {code: unit for code, unit in units.items() if unit in remaining}
    return out, times, others, unknown, tokens_of(barred, cut, weights, recipe)


def _by_units(words: Sequence[str], recipe: Recipe) -> tuple[list[str], dict[str, bytes]]:
    """Return the words with a character for each unit, and the unit of each character."""
    units_of = Pretokenizer(recipe).units
    codes: dict[bytes, str] = {}

    def coded(units: Iterable[bytes]) -> str:
        return "".join([codes.setdefault(unit, chr(len(codes))) for unit in units])

    names = ["".join(map(coded, jobs.in_blocks(units_of(word)))) for word in words]
    return names, {code: unit for unit, code in codes.items()}


def _ended(
    words: Words, names: Sequence[str], at_end: Mapping[str | None, int], space: str, line: str
) -> tuple[list[str], list[int]]:
    """Return the words with their endings, a ▁ or the end of a line, and the count of each.

    A word with both endings is returned twice. Words with ▁ come first.
    """
    ending = list(map(at_end.get, words.words, repeat(0)))
    both = list(zip(names, words.counts, ending, strict=True))
    parts = [name + space for name, count, last in both if count > last]
    weights = [count - last for _, count, last in both if count > last]
    parts += [name + line for name, _, last in both if last]
    return parts, weights + list(filter(None, ending))


def last_words(lines: Sequence[str], recipe: Recipe) -> Mapping[str | None, int]:
    """Count how often each word is the last of a line, by `split=metaspace`.

    Lines without words are ignored.
    """
    words, shaped = Pretokenizer(recipe).words, is_shaped(recipe)

    @functools.cache  # most lines end like others
    def last_of(text: str, first: bool) -> str | None:
        words_of_line = words(text, first=first)
        return words_of_line[-1] if words_of_line else None

    counts: Counter[str | None] = Counter()
    for n, line in enumerate(lines):
        if n % _LINES == 0:
            tick(50 + 250 * n // len(lines), PER_MILLE)
        tail = line if shaped else _tail(line)
        last = last_of(tail, shaped or tail[:1] != " ")
        if last is None and tail[:1] == " ":
            words_of_line = words(line)
            last = words_of_line[-1] if words_of_line else None
        counts[last] += 1
    del counts[None]
    return counts


def _tail(line: str) -> str:
    """Return the end of a line from its last space on, or the whole line. A final space is ignored.

    A word starts at that space, and no normalizer looks back across it.
    """
    at = line.rfind(" ", 0, -1)
    return line[at:] if at > 0 else line


def unit_kinds(units: Iterable[str], single_digits: bool = False) -> list[int]:
    """Return the kind of each unit, a character, for the filters of sentencepiece.

    Args:
        units: The units.
        single_digits: Whether a digit is in no piece of several units, as with `sentencepiece-digits`.

    Returns:
        `NEVER` for a unit in no piece of several units, `MARK`, `INHERITED`, or a number for each other
        script in order of appearance.
    """
    scripts = {"Inherited": INHERITED}
    kinds = []
    for unit in units:
        if unit in NEVER_IN_PIECES or (single_digits and unit in DIGITS):
            kinds.append(NEVER)
        elif unit == _MARK:
            kinds.append(MARK)
        else:
            kinds.append(scripts.setdefault(script(unit), MARK + len(scripts)))
    return kinds


# ---- the seeds


class Seeds(NamedTuple):
    """The seeds of a corpus and where they occur: the units by count, then the others by count · length.

    Attributes:
        bytes: The exact bytes of each, with its mark.
        counts: The count of each in the corpus, by weight.
        sizes: The length of each in units.
        units: The number of units, which come first.
        occurrences: The weight of all words, by which objectives are divided.
        unknown: The count in the corpus of texts that no piece contains, by weight: symbols, and uncovered
            characters.
        apart: The number of tokens of these texts, by weight.
        ground: The text, and where seeds occur in it.
        places: One place of each seed in the text.
        segments: The words, cut wherever no seed crosses: they replace words in all sums.
    """

    bytes: Sequence[bytes]
    counts: Sequence[int]
    sizes: array[int]
    units: int
    occurrences: int
    unknown: int
    apart: int
    ground: Ground
    places: array[int]
    segments: Strings


def lay_out(coded: Coded, size: int, run: Passes) -> Seeds:
    """Return the seeds of a corpus, and where they occur. Reports progress to the job of this thread.

    Args:
        coded: The corpus.
        size: The most seeds of two or more units.
        run: The passes.

    Raises:
        TokentuiError: The weights of the words are too large to add exactly.
    """
    if sum(map(mul, coded.weights, coded.sizes)) > LARGEST:
        what = "the words have more than 2**53 units in all, which this training cannot count"
        raise TokentuiError(what, "counts", "divide the counts by a number, or choose weight=distinct")
    exact = list(coded.units.values())
    codes = _FIRST + len(exact)
    text = run.codes(coded.text, [*coded.endings, *coded.units])
    weight = array("q", chain.from_iterable(map(repeat, coded.weights, coded.sizes)))
    counts, firsts, rest = longs(codes), ints(codes), ints(len(text))
    _do(300, over(run.count_units, 0, len(text), run.CHUNK, text, weight, rest, counts, firsts, down=True))
    order = finished(run.suffixes(text, rest, len(exact)))
    substrings = _fitting(coded, run, text, _repeated(coded, run, text, rest, order, weight, exact))
    best = _by_worth(coded, run, text, exact, substrings)
    # Units by count, then the others; where there are too many, segments are cut by all of them all the same.
    alphabet = sorted(range(_FIRST, codes), key=lambda code: -counts[code])
    sizes = ints(len(exact), 1) + run.pick(substrings.sizes, best)
    ground = Ground(text, ints(codes, -1), sizes, ints(len(text)), ints(len(text), -1), ints(len(sizes), -1))
    for seed, code in enumerate(alphabet):
        ground.units[code] = seed
    _cover(run, order, substrings, best, len(best), ground)
    segments, state = Strings(ints(len(text)), ints(len(text)), floats(len(text))), longs(3)
    _do(780, over(run.segments, 0, len(text), run.CHUNK >> 3, text, weight, ground.lengths, state, segments))
    if len(best) > size:
        ground = ground._replace(lengths=ints(len(text)), deepest=ints(len(text), -1))
        _cover(run, order, substrings, best, size, ground)
        best = best[:size]
    places, sizes = run.pick(substrings.places, best), sizes[: len(exact) + len(best)]
    spelled = map(coded.bytes, coded.slices(places, sizes[len(exact) :]))
    tick(800, PER_MILLE)
    return Seeds(
        [*(exact[code - _FIRST] for code in alphabet), *spelled],
        [counts[code] for code in alphabet] + run.pick(substrings.counts, best).tolist(), sizes, len(exact),
        sum(coded.weights), coded.unknown, coded.apart, ground, run.pick(firsts, alphabet) + places,
        Strings(segments.starts[: state[0]], segments.ends[: state[0]], segments.weights[: state[0]]),
    )


def _do(done: int, work: Slices[None]) -> None:
    """Run work to its end, and report `done` thousandths of progress."""
    finished(work, lambda _: tick(done, PER_MILLE))


def _repeated(
    coded: Coded, run: Passes, text: array[int], rest: array[int], order: array[int], weight: array[int],
    exact: Sequence[bytes],
) -> Found:
    """Return the substrings that occur at least twice and go on in two ways."""
    # at each suffix one that ends its word, and one that it has in common with the next
    most = 2 * len(order)
    substrings = Found(ints(most), ints(most), longs(most), ints(most), ints(most))
    if not most:
        return substrings
    cut = coded.prefix  # the first byte of what follows, its mark not counted
    followers = [unit[cut] if len(unit) > cut else unit[0] for unit in exact]
    leads = array("i", [-1, _MARK.encode()[0], 0, *followers])
    stack, state = Open(*(longs(DEEPEST + 1) for _ in Open._fields)), longs(4)
    stack.lead[0] = leads[text[order[0]]]
    tables = text, rest, order, weight, leads
    _do(500, over(run.branches, 0, len(order), run.CHUNK >> 3, *tables, state, stack, substrings))
    return Found(*(values[: state[0]] for values in substrings))


def _fitting(coded: Coded, run: Passes, text: array[int], substrings: Found) -> Found:
    """Return the substrings that the filter of the recipe allows; `substrings` itself if it allows all."""
    good, size = bytearray(b"\1") * len(substrings.places), len(substrings.places)
    if coded.kinds is not None:
        kinds = array("i", [NEVER] * _FIRST + [*coded.kinds])
        _do(600, over(run.fits, 0, size, run.CHUNK, text, substrings, kinds, good))
    elif coded.valid is not None:
        pieces = jobs.in_blocks(coded.slices(substrings.places, substrings.sizes))
        good = bytearray(coded.valid(coded.bytes(piece)) for part in pieces for piece in part)
    if all(good):
        return substrings
    indexes = array("i", compress(range(size), good))
    return Found(*(run.pick(values, indexes) for values in substrings))


def _by_worth(
    coded: Coded, run: Passes, text: array[int], exact: Sequence[bytes], substrings: Found
) -> array[int]:
    """Return the indexes of substrings, best first: by count · length, then length in bytes, then bytes."""
    size = len(substrings.places)
    worths, lengths, ranks = longs(size), ints(size), substrings.lows
    widths = array("i", [0] * _FIRST + list(map(len, exact)))
    _do(700, over(run.measure, 0, size, run.CHUNK, text, substrings, widths, worths, lengths))
    if coded.prefix or any(longer.startswith(unit) for unit, longer in pairwise(exact)):
        # Strings of units in order are not in the order of their bytes.
        named = [(coded.bytes(piece), piece) for piece in coded.slices(substrings.places, substrings.sizes)]
        lengths, ranks = array("i", [len(spelled) for spelled, _ in named]), ints(size)
        run.rank(array("i", sorted(range(size), key=named.__getitem__)), 0, size, ranks)
    best: array[int] = run.by_worth(worths, lengths, ranks)
    return best


def _cover(
    run: Passes, order: array[int], substrings: Found, best: array[int], most: int, ground: Ground
) -> None:
    """Record in `ground` where the `most` best substrings occur in the text."""
    ids, state = ints(len(best)), array("q", [len(best) - 1, 0])
    run.rank(best, len(ground.sizes) - len(best), most, ids)
    while not run.cover(order, substrings, ids, run.CHUNK, state, ground):
        tick(750, PER_MILLE)
