"""Writing ranks: tiktoken's files and Mistral's `tekken.json`, where the rank of a token is its id and its priority.

Sources: tiktoken 0.14, `load.py`; mistral-common, `tekken.py`.
"""

from __future__ import annotations

import base64
import json
from itertools import pairwise

from tokentui.formats.body import Body, Fit, Refused, Table, Token, contiguous, numbered, spelled
from tokentui.recipe import Recipe
from tokentui.text.split import SPLITS, Splitter


def pattern_of(recipe: Recipe) -> str:
    """A split as a pattern whose matches are the words, for Python's `regex` and Rust's `fancy-regex`.

    Raises:
        Refused: A pattern alone does not do it.
    """
    if recipe.split in SPLITS and SPLITS[recipe.split].kind is not Splitter and recipe.split != "whitespace":
        raise Refused(f"split={recipe.split} is more than a pattern", "", "the format holds a pattern")
    return recipe.split.removeprefix("regex:") if recipe.split.startswith("regex:") else SPLITS[recipe.split].pattern


def bytes_only(body: Body) -> None:
    """Refuse what is not merged from bytes alone.

    Raises:
        Refused: It is not.
    """
    body.needs("merges", "ranks")
    recipe = body.recipe
    if recipe.unit != "byte" or recipe.mark_kind != "none":
        raise Refused("its units are not bytes without a mark", "", "the format's are")
    if recipe.normalize:
        raise Refused(f"it normalises text by {','.join(recipe.normalize)}", "", "the format has no place for that")
    single = {entry.piece for entry in body.ordinary if len(entry.piece) == 1}
    if len(single) < 256:
        raise Refused(f"{256 - len(single)} of the 256 bytes have no token", "", "the format's owner fails on text with them")
    if len({entry.piece for entry in body.ordinary}) < len(body.ordinary):
        raise Refused("two tokens have the same bytes", "", "a token stands once in the file")


def _ranked(body: Body) -> list[Token]:
    """The tokens in the order in which they merge."""
    tokens = [Token(entry.id, spelled(entry.piece, True), entry.piece) for entry in body.ordinary]
    if body.way == "ranks":
        return tokens
    order = {made: n for n, (_, _, made) in enumerate(body.births)}
    return sorted(tokens, key=lambda token: (order.get(token.piece, -1), token.id))


def fit_tiktoken(body: Body) -> Fit:
    """A tokenizer as a rank file holds it.

    Raises:
        Refused: It cannot.
    """
    bytes_only(body)
    pattern_of(body.recipe)
    tokens = _ranked(body)
    fitted = Fit(Table(body.recipe, tokens, [], dict(body.specials)))
    merged = [token.id for token in tokens if len(token.piece) > 1]
    if any(left > right for left, right in pairwise(merged)):
        was = {token.name: token.id for token in tokens}
        fitted.table.tokens = [token._replace(id=n) for n, token in enumerate(tokens)]
        fitted.losses.append(numbered({token.name: token.id for token in fitted.table.tokens}, was))
        fitted.keeps_ids = False
    fitted.table.tokens.sort()
    return fitted


def write_tiktoken(table: Table) -> tuple[bytes, ...]:
    """The bytes of a rank file."""
    return (b"".join(base64.b64encode(token.piece) + b" %d\n" % token.id for token in table.tokens),)


def fit_tekken(body: Body) -> Fit:
    """A tokenizer as a `tekken.json` holds it: specials, the bytes in order of value, then the others.

    Raises:
        Refused: It cannot.
    """
    bytes_only(body)
    pattern = pattern_of(body.recipe)
    names = sorted(body.specials, key=body.specials.__getitem__)
    ranked = _ranked(body)
    ranked = sorted((t for t in ranked if len(t.piece) == 1), key=lambda t: t.piece) + [t for t in ranked if len(t.piece) > 1]
    first = len(names)
    tokens = [token._replace(id=first + n) for n, token in enumerate(ranked)]
    fitted = Fit(Table(body.recipe, tokens, [], {name: n for n, name in enumerate(names)}))
    if [token.id for token in ranked] != [token.id for token in tokens] or not contiguous([body.specials[n] for n in names]):
        was = {token.name: token.id for token in ranked} | body.specials
        fitted.losses.append(numbered(fitted.table.specials | {token.name: token.id for token in tokens}, was))
        fitted.keeps_ids = False
    fitted.table.said = {
        "config": {"pattern": pattern, "num_vocab_tokens": len(tokens), "default_vocab_size": first + len(tokens),
                   "default_num_special_tokens": first, "version": "v3"},
        "special_tokens": [{"rank": n, "token_str": name, "is_control": True} for n, name in enumerate(names)],
    }
    if body.came_from("tekken") and body.origin is not None and body.tokenizer.merges == len(body.vocabulary.merges):
        fitted.table.said = dict(body.origin.said)
    return fitted


def write_tekken(table: Table) -> tuple[bytes, ...]:
    """The bytes of a `tekken.json`."""
    first = len(table.specials)
    rows = []
    for token in table.tokens:
        try:
            text = token.piece.decode()
        except UnicodeDecodeError:
            text = None
        rows.append({"rank": token.id - first, "token_bytes": base64.b64encode(token.piece).decode("ascii"), "token_str": text})
    document = {"config": table.said["config"], "vocab": rows, **table.said}
    return (json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1).encode("utf-8", "surrogatepass"),)
