"""Values as HTML for notebooks: tokens as chips, and the curve of a training.

All text from data is made visible and escaped. A chip sets the color of its text and of its background, so
that it is readable on light and dark pages.
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from tokentui.core.safetext import safe, to_bytes, visible
from tokentui.core.tints import LIGHT, LIGHT_TEXT, tints

if TYPE_CHECKING:
    from tokentui.encode.results import EncodedToken

MOST_TOKENS = 500
"""The most tokens that are shown."""
_WIDE, _HIGH = 480, 96
_POINTS = 200
"""Approximate number of points of a curve."""


def encoding_html(tokens: Sequence[EncodedToken], most: int = MOST_TOKENS) -> str:
    """Return the tokens of a text as HTML, at most so many.

    Notebooks show it, and `tokentui encode --html` prints it.
    """
    shown = ((row.id, row.text if row.piece is None else row.piece, row.start) for row in tokens)
    return tokens_html(shown, len(tokens), most)


def page(texts: Iterable[tuple[str, str, Sequence[EncodedToken]]]) -> str:
    """Return a page with a text as several tokenizers encode it: all tokens as chips, each with its id.

    Args:
        texts: For each tokenizer its name, the text, and the tokens of the text.
    """
    parts = ['<!doctype html>\n<meta charset="utf-8">\n<title>Tokens</title>']
    for name, text, tokens in texts:
        facts = [f"{len(tokens):,} tokens", f"{len(to_bytes(text)):,} bytes"]
        ids = " ".join("null" if token.id is None else str(token.id) for token in tokens)
        parts.append(titled(name, facts, f"{encoding_html(tokens, len(tokens))}<p><code>{ids}</code></p>"))
    return "\n".join(parts) + "\n"


def tokens_html(
    tokens: Iterable[tuple[int | None, bytes | str, int]], count: int, most: int = MOST_TOKENS
) -> str:
    """Return tokens as HTML, each on its tint. Hovering over a token shows its id.

    Args:
        tokens: (id, bytes or text, offset for its tint) of each token, see `core.tints`.
        count: The number of all tokens, which may be more than `tokens`.
        most: The most tokens that are shown.
    """
    listed = list(itertools.islice(tokens, most))
    spans = []
    for (token_id, piece, _), tint in zip(listed, tints([start for _, _, start in listed]), strict=True):
        colors = f"background:{LIGHT[tint].color};color:{LIGHT_TEXT.color}"
        text = "".join(span.text for span in visible(piece))
        label = "no id" if token_id is None else str(token_id)
        style = f"{colors};padding:0 2px;white-space:pre-wrap"
        spans.append(f'<span title="{label}" style="{style}">{html.escape(text)}</span>')
    if count > most:
        spans.append(f"… and {count - most:,} more")
    return '<div style="font-family:monospace;line-height:1.7">' + "".join(spans) + "</div>"


def titled(title: str, facts: Sequence[str], body: str = "") -> str:
    """Return HTML with a title, facts after it, and a body below."""
    rest = html.escape(" · ".join(map(safe, facts)))
    return f"<div><b>{html.escape(safe(title, limit=120))}</b> {rest}{body}</div>"


def run_html(title: str, step: int, computed: int, size: int, tokens_at: Callable[[int], int]) -> str:
    """Return HTML of a training at a step: facts and a curve.

    Args:
        title: The recipe, as text.
        step: The step.
        computed: The furthest step that was computed.
        size: The number of ids at this step.
        tokens_at: Returns the number of tokens of the corpus at a step.
    """
    facts = [f"step {step:,} of {computed:,} known", f"{size:,} ids"]
    return titled(title, facts, curve_html(computed, tokens_at, "tokens of the corpus"))


def curve_html(last: int, value_at: Callable[[int], int], title: str) -> str:
    """Return a curve from step 0 as an HTML picture; empty if `last` is 0.

    Args:
        last: The last step.
        value_at: Returns the value at a step.
        title: The name of the values.
    """
    if not last:
        return ""
    steps = sorted({*range(0, last, max(1, last // _POINTS)), last})
    points, first = [(step, value_at(step)) for step in steps], 0
    low, high = (pick(value for _, value in points) for pick in (min, max))
    drawn = " ".join(
        f"{_WIDE * (step - first) / (last - first):.1f},{_HIGH * (high - value) / max(1, high - low):.1f}"
        for step, value in points
    )
    label = f"{title}: {points[0][1]:,} at step {first:,}, {points[-1][1]:,} at step {last:,}"
    return (
        f'<svg viewBox="-2 -2 {_WIDE + 4} {_HIGH + 4}" width="{_WIDE}" height="{_HIGH}" role="img">'
        f"<title>{html.escape(label)}</title>"
        f'<polyline points="{drawn}" fill="none" stroke="#3a7bd5" stroke-width="2"/></svg>'
        f"<div>{html.escape(label)}</div>"
    )
