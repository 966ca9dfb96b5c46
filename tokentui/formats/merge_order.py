"""From a list of tokens and rows of merges to symbols in the order in which merges make them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tokentui.formats.document import Node


@dataclass(slots=True)
class Ordered:
    """Tokens of a file: first those that no merge makes, then one for each merge that makes a new one.

    Attributes:
        tokens: The name of each symbol in the file.
        ids: The id of each symbol.
        merges: The (left, right) of each token that a merge makes, as symbols; these tokens are the last
            symbols.
        rows: For `left * len(tokens) + right` the row that merges the two.
        makes: The symbol that each row makes.
        notes: What is in doubt.
    """

    tokens: list[str]
    ids: list[int]
    merges: list[tuple[int, int]] = field(default_factory=list)
    rows: dict[int, int] = field(default_factory=dict)
    makes: Sequence[int] = ()
    notes: list[str] = field(default_factory=list)


def in_merge_order(
    vocabulary: Mapping[str, int], rows: Sequence[Sequence[str]], place: Callable[[int], Node], cut: int = 0,
    *,
    first_wins: bool = False, is_unit: Callable[[str], bool] | None = None,
) -> Ordered:
    """Number the tokens in the order in which merges make them.

    The first row whose parts are both there makes a token; a row that names a part which comes later waits
    for it. Tokens that no row leads to come first, with the units.

    Args:
        vocabulary: The id of each token.
        rows: The (left, right) of each merge, by name, the first to be merged first.
        place: Returns the place of a row, for errors.
        cut: How many characters the right part loses (Hugging Face's continuing prefix).
        is_unit: Whether a token is a unit, which is there from the start, also where a row makes it (`w` and
            `</w>`).
        first_wins: Whether of two rows of one pair the first counts, and not the last.

    Raises:
        TokentuiError: A row names a token that is not in the vocabulary, or makes one.
    """
    names = list(vocabulary)
    index = {name: n for n, name in enumerate(names)}
    if "" in index:
        number = next((n for n, row in enumerate(rows) if not row[0] or not row[1]), None)
        if number is not None:
            raise place(number).error(
                "one side of the merge is empty", "a merge joins two tokens, both of some characters"
            )
    if cut:
        number = next((n for n, row in enumerate(rows) if len(row[1]) < cut), None)
        if number is not None:
            what = f"the right side is shorter than the prefix of {cut} characters that goes on a word"
            raise place(number).error(what, "a right side begins with the prefix")
    try:
        lefts = array("l", [index[left] for left, _ in rows])
        rights = array("l", [index[right] for _, right in rows])
        makes = array("l", [index[left + right[cut:]] for left, right in rows])
    except KeyError:
        number, absent = next(
            (n, name) for n, (left, right) in enumerate(rows)
            for name in (left, right, left + right[cut:]) if name not in index
        )
        raise place(number).error(
            _absent(absent), "a merge joins two tokens to one, all in the vocabulary"
        ) from None
    given = [n for n, name in enumerate(names) if is_unit(name)] if is_unit else []
    parents, late = _parents(len(names), given, lefts, rights, makes)
    ids = list(vocabulary.values())
    roots = [n for n in range(len(names)) if n not in parents]
    roots.sort(key=ids.__getitem__)
    order = roots + list(parents)
    symbols = array("l", bytes(len(order) * array("l").itemsize))
    for symbol, n in enumerate(order):
        symbols[n] = symbol
    found = Ordered([names[n] for n in order], [ids[n] for n in order])
    found.merges = [(symbols[lefts[row]], symbols[rights[row]]) for row in parents.values()]
    width = len(order)
    pairs = enumerate(zip(lefts, rights, strict=True))
    found.rows = {symbols[left] * width + symbols[right]: row for row, (left, right) in pairs}
    found.makes = array("l", [symbols[made] for made in makes])
    if len(found.rows) < len(rows):
        which = "first" if first_wins else "last"
        found.notes.append(
            f"{_counted(len(rows) - len(found.rows), 'pair')} listed twice: the {which} row of a pair counts"
        )
    if first_wins:
        for n in range(len(lefts) - 1, -1, -1):
            found.rows[symbols[lefts[n]] * width + symbols[rights[n]]] = n
    if late:
        found.notes.append(f"{_counted(late, 'merge')} with a part that comes later")
    if len(set(ids)) < len(ids):
        found.notes.append(f"{_counted(len(ids) - len(set(ids)), 'token')} with the id of another one")
    return found


def _parents(
    size: int, given: list[int], lefts: Sequence[int], rights: Sequence[int], makes: Sequence[int]
) -> tuple[dict[int, int], int]:
    """The row that makes each token, in order, and how many tokens a later row makes than the first one that
    names them."""
    made_by_a_row = bytearray(size)
    for made in makes:
        made_by_a_row[made] = 1
    there = bytearray(0 if made else 1 for made in made_by_a_row)
    for unit in given:
        there[unit] = 1
    parents: dict[int, int] = {}
    waiting: dict[int, list[int]] = {}
    late = 0
    for row in range(len(makes)):
        ready = [row]
        while ready:
            now = ready.pop()
            left, right, made = lefts[now], rights[now], makes[now]
            if there[made]:
                continue
            if there[left] and there[right]:
                there[made] = 1
                parents[made] = now
                late += now != row
                ready += reversed(waiting.pop(made, ()))
            else:
                waiting.setdefault(right if there[left] else left, []).append(now)
    return parents, late


def _absent(name: str) -> str:
    return f"{name[:40]!r} is not in the vocabulary"


def _counted(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"
