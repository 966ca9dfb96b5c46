"""The words of a corpus as one string, a character a unit: a piece is a slice of it whatever the units
are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

from tokentui.core import jobs
from tokentui.learn.barriers import barriers, tokens_of
from tokentui.learn.filters import DIGITS, FILTERS, script
from tokentui.learn.filters import NEVER as NEVER_HELD
from tokentui.learn.kernels.unigram_text import INHERITED, MARK, NEVER
from tokentui.recipe import Recipe
from tokentui.text.count import Words
from tokentui.text.kernels.rules import is_shaped
from tokentui.text.pretokenize import Pretokenizer, to_bytes

PER_MILLE = 1000
"""Progress is told in thousandths."""
_MARK = "▁"
_LINES = 8192
_BY_KIND = ("sentencepiece", "sentencepiece-digits")
"""The filters that go by kinds of units."""


@dataclass(frozen=True, slots=True)
class Coded:
    """Words one after the other, each with an ending.

    A word that is followed by different things stands there once for each.

    Attributes:
        text: All of it.
        plain: True if units are characters, which are their own codes.
        sizes: The length of each word, its ending counted.
        weights: The count of each word in the corpus.
        units: The exact bytes of each unit by its character, in the order of these bytes.
        prefix: The length in bytes of the mark of a unit that continues a word.
        endings: The characters of the endings: anything follows, the ▁ of the next word, the end of the line.
        kinds: The kind of each unit, where the filter of the recipe goes by kinds.
        valid: The filter where it does not; None where everything is a piece.
        unknown: The count in the corpus of what no piece has.
        apart: The number of tokens of these.
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
        """The exact bytes of a piece: the marks of a continuation go, but for the first."""
        units, cut = self.units, self.prefix
        if not cut:
            return b"".join([units[code] for code in piece])
        return units[piece[0]] + b"".join([units[code][cut:] for code in piece[1:]])


def code(words: Words, recipe: Recipe, lines: Sequence[str] | None = None) -> Coded:
    """Code the words of a corpus.

    Args:
        words: The counted pre-tokens.
        recipe: Its unit, mark, split, weight and pieces are used.
        lines: The documents that the words come from. Without them every word of `split=metaspace` has a ▁
            after it, and a word that is followed by a space or the end of a line alone goes on in one way.
    """
    plain = recipe.unit == "char" and recipe.mark_kind == "none"
    if plain:
        names: Sequence[str] = words.words
        held = set(chain.from_iterable(chain.from_iterable(jobs.in_blocks(names))))
        units = {unit: to_bytes(unit) for unit in held}
    else:
        names, units = _by_units(words.words, recipe)
    jobs.tick(50, PER_MILLE)
    end, space, line = _unused(units)
    distinct = recipe.weight == "distinct"
    counts: Sequence[int] = [1] * len(names) if distinct else words.counts
    if recipe.split != "metaspace" or lines is None or distinct:
        follows = space if recipe.split == "metaspace" else end
        parts = [name + follows for name in names]
    else:
        at_end = last_words(lines, recipe)
        parts, counts = _ended(words, names, at_end, space, line)
    unknown = apart = 0
    if recipe.coverage < 1 or recipe.symbols:
        follows = space if recipe.split == "metaspace" else end
        parts, counts, units, unknown, apart = _without_barriers(words, recipe, parts, counts, units, follows)
    elif not all(names):
        kept = [(part, count) for part, count in zip(parts, counts, strict=True) if len(part) > 1]
        parts, counts = [part for part, _ in kept], [count for _, count in kept]
    units = dict(sorted(units.items(), key=lambda item: item[1]))
    by_kind = recipe.pieces in _BY_KIND and plain and not any("\ud800" <= unit <= "\udfff" for unit in units)
    return Coded(
        text="".join(parts),
        plain=plain,
        sizes=list(map(len, parts)),
        weights=counts,
        units=units,
        prefix=len(to_bytes(recipe.mark_text)) if recipe.mark_kind == "prefix" else 0,
        endings=(end, space, line),
        kinds=unit_kinds(units, recipe.pieces == "sentencepiece-digits") if by_kind else None,
        valid=None if by_kind else FILTERS.of(recipe.pieces).allows,
        unknown=unknown, apart=apart,
    )


def _without_barriers(
    words: Words, recipe: Recipe, parts: Sequence[str], counts: Sequence[int], units: Mapping[
        str, bytes
    ], follows: str
) -> tuple[list[str], list[int], dict[str, bytes], int, int]:
    """The words cut at what nothing merges with, which is no unit then; how often that stands in the corpus,
    and its tokens.

    sentencepiece writes there what begins as a ▁ does.
    """
    units_of = Pretokenizer(recipe).units
    weights = [1] * len(words.counts) if recipe.weight == "distinct" else words.counts
    cut = list(map(units_of, words.words))
    found = barriers(cut, weights, recipe)
    codes = "".join(code for code, unit in units.items() if unit in found)
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
        out += [one + follows for one in before if one]
        out += [last] if len(last) > 1 else []
        times += [count] * (len(out) - len(times))
    # A character that stands in symbols alone is no unit: sentencepiece counts characters after it has cut
    # symbols out.
    standing = {unit for word in cut for unit in word} - found
    others = {code: unit for code, unit in units.items() if unit in standing}
    return out, times, others, unknown, tokens_of(found, cut, weights, recipe)


def _by_units(words: Sequence[str], recipe: Recipe) -> tuple[list[str], dict[str, bytes]]:
    """Words with a character for each unit, and what the characters stand for."""
    units_of = Pretokenizer(recipe).units
    codes: dict[bytes, str] = {}

    def coded(units: Iterable[bytes]) -> str:
        return "".join([codes.setdefault(unit, chr(len(codes))) for unit in units])

    names = []
    for word in words:
        units = units_of(word)
        names.append(coded(units) if len(units) <= jobs.BLOCK else "".join(map(coded, jobs.in_blocks(units))))
    return names, {code: unit for unit, code in codes.items()}


def _unused(units: Mapping[str, bytes]) -> tuple[str, str, str]:
    """Three characters that are no units."""
    free = (chr(number) for number in range(0x110000) if chr(number) not in units)
    return next(free), next(free), next(free)


def _ended(
    words: Words, names: Sequence[str], at_end: Mapping[str, int], space: str, line: str
) -> tuple[list[str], list[int]]:
    """Each word as often as it goes on with a ▁, and as often as it ends a line."""
    ending = list(map(at_end.get, words.words, repeat(0)))
    both = list(zip(names, words.counts, ending, strict=True))
    parts = [name + space for name, count, last in both if count > last]
    weights = [count - last for _, count, last in both if count > last]
    parts += [name + line for name, _, last in both if last]
    weights += filter(None, ending)
    return parts, weights


def last_words(lines: Sequence[str], recipe: Recipe) -> Counter[str]:
    """Count how often each word is the last of a line, by `split=metaspace`."""
    words = Pretokenizer(recipe).words
    if is_shaped(recipe):
        return Counter(last[-1] for line in lines if (last := words(line)))
    tails: Counter[str] = Counter()
    for low in range(0, len(lines), _LINES):
        jobs.tick(50 + 250 * low // len(lines), PER_MILLE)
        tails.update(map(_tail, lines[low : low + _LINES]))
    found: Counter[str] = Counter()
    plain: Counter[str] = Counter()
    nothing: set[str] = set()
    for tail, count in tails.items():
        if tail.isascii() and tail.isprintable() and tail[-1:] not in ("", " "):
            plain[tail if tail[0] == " " else " " + tail] += count
        elif last := words(tail, first=tail[:1] != " "):
            found[last[-1]] += count
        elif tail[:1] == " ":
            nothing.add(tail)
    # Printable ASCII without spaces is one word, whatever is done to it.
    single = words("".join(plain), first=False)
    for word, count in zip(single, plain.values(), strict=True):
        found[word] += count
    for line in lines if nothing else ():
        if _tail(line) in nothing and (last := words(line)):
            found[last[-1]] += 1
    return found


def _tail(line: str) -> str:
    """The end of a line from its last space on, one at its very end not counted; all of a line without one.

    No normaliser looks back across the place before a space, and a word begins there: most lines end like
    others.
    """
    at = line.rfind(" ", 0, -1)
    return line[at:] if at > 0 else line


def unit_kinds(units: Iterable[str], single_digits: bool = False) -> list[int]:
    """The kinds of characters by which `filters.sentencepiece_piece` goes; by `sentencepiece_digits` a digit
    joins nothing."""
    scripts = {"Inherited": INHERITED}
    kinds = []
    for unit in units:
        if unit in NEVER_HELD or (single_digits and unit in DIGITS):
            kinds.append(NEVER)
        elif unit == _MARK:
            kinds.append(MARK)
        else:
            kinds.append(scripts.setdefault(script(unit), MARK + len(scripts)))
    return kinds
