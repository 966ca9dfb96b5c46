"""Snapshots made by hand, one for each objective whose steps are not chosen by count alone."""

from __future__ import annotations

from typing import Any

from rows import loss_row, pair_row, token_row

from tokentui.learn import Compressed, PairCandidate, Round, Why
from tokentui.recipe import Ending, Recipe

SCORE_RECIPE = Recipe(
    split="bert", unit="char", base="sorted", mark="prefix:##", objective="score", tie="first-seen",
    encode="longest-match",
    unknown="whole-word",
)
UNIGRAM_RECIPE = Recipe(
    split="metaspace", unit="char", base="sorted", objective="unigram", encode="viterbi", unknown="per-unit",
)
GAGE_RECIPE = Recipe(split="none", unit="byte", base="bytes", objective="gage", tie="largest-pair")


def _scored(
    left: bytes, right: bytes, count: int, left_uses: int, right_uses: int, tied: bool = False
) -> PairCandidate:
    return pair_row(left, right, left + right[2:], count, 0, False, tied, left_uses, right_uses)


SCORED = (
    _scored(b"##q", b"##u", 1201, 1204, 261),
    _scored(b"##z", b"##z", 196, 231, 231),
    _scored(b"j", b"##u", 900, 1410, 2610, tied=True),
    _scored(b"k", b"##u", 450, 705, 2610, tied=True),
    _scored(b"t", b"##h", 27118, 61204, 49_011),
    _scored(b"th", b"##e", 20110, 27118, 99_111),
    *(_scored(b"x", b"##" + bytes([97 + n]), 100 - n, 4000 + n, 621_004 - 99 * n) for n in range(20)),
)
SCORE: dict[str, Any] = {
    "recipe": SCORE_RECIPE, "preset": "wicaksono-wordpiece", "pairs": SCORED, "pairs_total": len(SCORED),
    "last": SCORED[1],
    "why": Why(
        SCORED[0], SCORED[1], 1, 1201, "first-seen", None, ("no least pair count is set: rare pairs win",)
    ),
}

_WORST = float("inf")
LOSSES = (
    loss_row(
        "▁inde".encode(), 0.0000123, 3.4, 0, -_WORST, ("▁in".encode(), b"de"), "own best path splits", True
    ),
    loss_row(b"ption", 0.0000456, 12.25, 11, 1.23e-7, (b"p", b"tion"), "low loss", True),
    loss_row(b"ll\xc3\xa9", 0.0000777, 9.5, 9, 4.56e-7, (b"ll", b"\xc3\xa9"), "low loss"),
    *(
        loss_row(
            bytes([97 + n, 98 + n, 99 + n]), 0.0001 * (n + 1), 40.0 * n + 20, 38 * n + 19,
            1e-6 * (n + 1) ** 3, (bytes([97 + n]), bytes([98 + n, 99 + n])), "low loss" if n < 3 else "",
        )
        for n in range(20)
    ),
    loss_row(b"e", 0.0512, 41_200.0, 41_199, _WORST, ()),
)
LEFT = (
    token_row(None, "▁crowd".encode(), "left", None, None, None, 0.31, "expected < 0.5"),
    token_row(None, b"ness\x1b", "left", None, None, None, 1.5e-7, "low loss"),
)
PIECES = (
    token_row(0, b"<unk>", "special", None, None, None),
    token_row(1, "▁the".encode(), "piece", None, None, 9310, -3.2104),
    token_row(2, b"e", "piece", None, None, 41_199, -2.97),
    *(
        token_row(
            3 + n, bytes([97 + n % 26, 97 + n // 3]), "piece", None, None, 900 - 31 * n if n < 28 else 0,
            -5.0 - n / 3,
        )
        for n in range(30)
    ),
)
ROUND = Round("em", 2, 29_914, 2, 8.01234, 8.12345, "prune", 1204, 2)
UNIGRAM: dict[str, Any] = {
    "recipe": UNIGRAM_RECIPE, "preset": "sentencepiece-unigram", "pairs": LOSSES, "pairs_total": len(LOSSES),
    "last": None, "last_id": None, "why": Why(None, None, 0, 0, "", None, (), ROUND),
    "vocabulary": (*PIECES, *LEFT), "vocab_size": len(PIECES), "step": 5, "computed": 9, "end": Ending(),
    "tokens": 402_118, "start_tokens": 390_004, "curve_end": 9,
    "curve": tuple(390_004 + 900 * n for n in range(64)),
}

GAGE_PAIRS = tuple(
    pair_row(left, right, b"C", count, change, new, tied, spelled=spelled)
    for left, right, count, change, new, tied, spelled in (
        (b"A", b"B", 2, 2, True, False, b"xxxd"), (b"B", b"q", 1, 1, True, True, b"xdq"),
        (b"q", b"A", 1, 0, False, True, b"qxx"),
    )
)
GAGE: dict[str, Any] = {
    "recipe": GAGE_RECIPE, "preset": "gage", "corpus_name": "slides.txt", "corpus_bytes": 11,
    "occurrences": 1, "distinct": 1, "pairs": GAGE_PAIRS, "pairs_total": 3, "step": 2, "computed": 3,
    "end": Ending(), "tokens": 7, "start_tokens": 11,
    "why": Why(GAGE_PAIRS[0], GAGE_PAIRS[1], 1, 2, "largest-pair", None, ("250 bytes are free",)),
    "vocabulary": (
        token_row(66, b"B", "merge", 2, 2, 2, parts=(b"x", b"d")),
        token_row(65, b"A", "merge", 1, 4, 2, parts=(b"x", b"x")),
        token_row(100, b"d", "base", None, None, 0), token_row(120, b"x", "base", None, None, 1),
    ),
    "vocab_size": 4, "last": GAGE_PAIRS[1], "last_id": 66, "curve": (11, 9, 7, 5), "curve_end": 3,
}
COMPRESSED = Compressed(
    compressed=b"CqCxo", breaks=(), names={65: "A", 66: "B", 67: "C"},
    table=((65, 120, 120, b"xx"), (66, 120, 100, b"xd"), (67, 65, 66, b"xxxd")),
    text_bytes=5, table_bytes=9, original_bytes=11,
)
"""The slides' example at its last step: CqCxo."""
