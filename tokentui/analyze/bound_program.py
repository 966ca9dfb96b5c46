"""The linear program of the lower bound, solved by HiGHS: for a tiny corpus, to compare with the search.

For each word of count c a flow of one unit goes from its first to its last border, by single units and by
candidates; x is how much of a candidate the vocabulary has:

    minimize  Σ c · flow    subject to  flow of a candidate <= its x,  Σ x <= k,  0 <= x <= 1

The value is the best bound of this kind; see `learn/lower_bound.py`, which searches the dual.
"""

from __future__ import annotations

import math

from tokentui.core.errors import TokentuiError
from tokentui.learn.lower_bound import Candidates

EXTRA = "pip install 'tokentui[lp]'"
_MOST_EDGES = 60_000


def solve(candidates: Candidates, tokens: int) -> float:
    """Return the value of the linear program: the least tokens of a fractional vocabulary.

    Args:
        candidates: The words and candidates.
        tokens: The number of tokens beyond the units.

    Raises:
        TokentuiError: SciPy is not installed, the corpus is too large, or the solver fails.
    """
    try:
        from scipy.optimize import linprog
        from scipy.sparse import csr_matrix
    except ImportError:
        raise TokentuiError("SciPy is not installed", "--lp", EXTRA) from None
    places, texts = candidates.places, candidates.texts
    if candidates.occurrences > _MOST_EDGES:
        what = f"the program has {candidates.occurrences:,} edges, more than {_MOST_EDGES:,}"
        raise TokentuiError(what, "--lp", "name a smaller corpus, or leave it out")
    size, edges = len(places.units), candidates.occurrences
    # variables: a flow for each unit, one for each occurrence, an x for each candidate
    costs = [places.counts[place] for place in range(size)]
    flows: list[tuple[int, int, float]] = []  # row, column, value of the conservation of flow
    node, ends = 0, []
    for place in range(size):
        if not place or places.words[place] != places.words[place - 1]:
            first = node
            node += places.rest[place] + 1
        at = first + (node - first - 1 - places.rest[place])
        flows += [(at, place, 1.0), (at + 1, place, -1.0)]
        for n in range(texts.firsts[place], texts.firsts[place + 1]):
            costs.append(places.counts[place])
            flows += [(at, size + n, 1.0), (at + texts.sizes[n], size + n, -1.0)]
        if places.rest[place] == 1:
            ends.append((first, node - 1))
    supply = [0.0] * node
    for start, end in ends:
        supply[start], supply[end] = 1.0, -1.0
    columns = size + edges + candidates.candidates
    limits = [(n, size + n, 1.0) for n in range(edges)]
    limits += [(n, size + edges + texts.numbers[n], -1.0) for n in range(edges)]
    limits += [(edges, size + edges + number, 1.0) for number in range(candidates.candidates)]

    def matrix(cells: list[tuple[int, int, float]], rows: int) -> object:
        values, at, to = [cell[2] for cell in cells], [cell[0] for cell in cells], [cell[1] for cell in cells]
        return csr_matrix((values, (at, to)), shape=(rows, columns))

    fixed = candidates.single + candidates.long
    if not size:
        return float(fixed)
    done = linprog(
        [*costs, *[0.0] * candidates.candidates], A_ub=matrix(limits, edges + 1),
        b_ub=[*[0.0] * edges, float(tokens)], A_eq=matrix(flows, node), b_eq=supply, bounds=(0, 1),
        method="highs",
    )
    if done.status or not math.isfinite(done.fun):
        raise TokentuiError("the solver found no optimum", "--lp", "leave it out")
    return float(done.fun) + fixed
