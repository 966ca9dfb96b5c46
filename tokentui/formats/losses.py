"""What file formats cannot hold of a tokenizer, whatever it is: a line an aspect."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tokentui.core.safetext import visible
from tokentui.encode.imported import ImportedVocabulary
from tokentui.formats.body import Body
from tokentui.formats.report import Loss

_NAMED = 5


class Aspect(NamedTuple):
    """Something that a tokenizer may have: what it is called, what comes of its loss, and an example of it, None for none."""

    what: str
    consequence: str
    example: Callable[[Body], str | None]


def _seen(piece: bytes) -> str:
    return "".join(span.text for span in visible(piece))


def _counts(body: Body) -> str | None:
    vocabulary = body.vocabulary
    if not body.tokenizer.merges or not any(vocabulary.counts[: body.tokenizer.merges]):
        return None
    left, right = vocabulary.merges[0]
    return f"{_seen(vocabulary.pieces[left])} + {_seen(vocabulary.pieces[right])} stood {vocabulary.counts[0]:,} times"


def _recipe(body: Body) -> str | None:
    recipe = body.recipe
    if isinstance(body.vocabulary, ImportedVocabulary):
        return None
    return f"objective={recipe.objective}, tie={recipe.tie}, base={recipe.base}"


def _merges(body: Body) -> str | None:
    if not body.tokenizer.merges:
        return None
    left, right, made = next(iter(body.births), (b"",) * 3)
    if not made:
        vocabulary = body.vocabulary
        left, right = (vocabulary.pieces[one] for one in vocabulary.merges[0])
        made = vocabulary.pieces[vocabulary.base_size]
    return f"{_seen(left)} + {_seen(right)} = {_seen(made)}"


def _around(body: Body) -> str | None:
    return " ".join([*body.before, "…", *body.after]) if body.before or body.after else None


def _specials(body: Body) -> str | None:
    names = list(body.specials)
    return " ".join(names[:_NAMED]) + (" …" if len(names) > _NAMED else "") if names else None


def _flags(body: Body) -> str | None:
    """Added tokens that take white space, stand alone only, or are plain text."""
    origin = body.origin
    if origin is None or origin.format != "huggingface":
        return None
    for row in origin.said.get("added_tokens") or ():
        flags = [name for name in ("lstrip", "rstrip", "single_word") if row.get(name)]
        flags += [] if row.get("special") else ["plain text"]
        if flags:
            return f"{row['content']}: {', '.join(flags)}"
    return None


def _dropout(body: Body) -> str | None:
    origin = body.origin
    value = origin.said.get("model", {}).get("dropout") if origin and origin.format == "huggingface" else None
    return f"dropout {value}" if value else None


def _lengths(body: Body) -> str | None:
    origin = body.origin
    said = origin.said if origin and origin.format == "huggingface" else {}
    named = [name for name in ("truncation", "padding") if said.get(name)]
    return " and ".join(named) or None


ASPECTS: dict[str, Aspect] = {
    "counts": Aspect("counts", "how often a pair stood when it was merged is not kept", _counts),
    "recipe": Aspect("recipe", "how it was trained is not kept", _recipe),
    "merges": Aspect("merges", "what a token was made of is not kept", _merges),
    "split": Aspect("pattern", "the file does not say how text is cut: name it where it is read",
                    lambda body: f"-s split={body.recipe.split}"),
    "normalize": Aspect("normaliser", "text has to be normalised before it is encoded",
                        lambda body: ",".join(body.recipe.normalize) or None),
    "specials": Aspect("specials", "the file does not name them: name them where it is read", _specials),
    "symbols": Aspect("symbols", "they are found only where special tokens are allowed",
                      lambda body: " ".join(body.recipe.symbols[:_NAMED]) or None),
    "space": Aspect("a space in front", "set it before a text is encoded, or leave it out",
                    lambda body: None if body.recipe.prefix_space is None else "with" if body.recipe.prefix_space else "without"),
    "around": Aspect("around", "no tokens are put around a text", _around),
    "flags": Aspect("added tokens", "their flags are not kept", _flags),
    "dropout": Aspect("dropout", "it is not kept", _dropout),
    "lengths": Aspect("lengths", "they are not kept", _lengths),
}
"""The aspects by name: what a format lacks is told by these."""


def lacking(body: Body, aspects: tuple[str, ...]) -> list[Loss]:
    """The losses of a format that lacks these aspects."""
    found = []
    for name in aspects:
        aspect = ASPECTS[name]
        example = aspect.example(body)
        if example is not None:
            found.append(Loss(aspect.what, aspect.consequence, example))
    return found
