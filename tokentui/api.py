"""A whole training in one call: read, count, merge, and the tokenizer that comes of it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tokentui.errors import TokentuiError
from tokentui.learn import start
from tokentui.learn.base import Cancel, Progress
from tokentui.presets import preset
from tokentui.recipe import Recipe
from tokentui.text.read import Corpus, read
from tokentui.tokenizer import Tokenizer

LARGEST = 2**53
"""The largest number that a run may name: what every reader of JSON keeps exact."""

_LEAST = {"merges": 0, "vocab_size": 0, "min_count": 1, "max_length": 1, "first_id": 0}


def train(
    corpus: Corpus | str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    recipe: Recipe | str,
    *,
    merges: int | None = None,
    vocab_size: int | None = None,
    min_count: int = 1,
    max_length: int | None = None,
    first_id: int = 0,
    specials: Sequence[str] = (),
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> Tokenizer:
    """Train a tokenizer until a stop holds or no pair is left.

    Args:
        corpus: A corpus, or what `read` takes.
        recipe: A recipe, or the name of a preset. A preset's own sizes and specials are not taken unless named here.
        merges: Stop after so many merges.
        vocab_size: Stop at so many ids, specials counted.
        min_count: Stop before a pair that stands less often.
        max_length: Make no token of more units.
        first_id: The first id given.
        specials: Special tokens, which take the first ids in this order.
        progress: Told (done, total): in bytes while reading, in characters while counting, then in merges.
        cancel: Asked meanwhile; true raises `Cancelled`.

    Raises:
        TokentuiError: The corpus cannot be read, there is no such preset, the recipe cannot be trained yet, or a
            number or special token that cannot be.
    """
    asked = {"merges": merges, "vocab_size": vocab_size, "min_count": min_count, "max_length": max_length}
    check_run(specials, first_id=first_id, **asked)
    chosen = preset(recipe) if isinstance(recipe, str) else recipe
    source = corpus if isinstance(corpus, Corpus) else read(corpus, progress=progress, cancel=cancel)
    run = start(source, chosen, first_id=first_id, specials=specials, progress=progress, cancel=cancel)
    run.run(
        merges=merges, vocab_size=vocab_size, min_count=min_count, max_length=max_length,
        progress=progress, cancel=cancel,
    )
    return run.tokenizer(asked)


def check_run(specials: Sequence[str], **numbers: int | None) -> None:
    """Refuse words of a run that cannot be.

    Raises:
        TokentuiError: A number out of its range, or special tokens that are empty or named twice.
    """
    for name, value in numbers.items():
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool):
            raise TokentuiError(f"not a whole number: {value!r}", name, "such as 1000")
        if not _LEAST[name] <= value <= LARGEST:
            raise TokentuiError("out of range", f"{name}={value}", f"take {_LEAST[name]} or more, at most 2**53")
    if isinstance(specials, str):
        raise TokentuiError("a list of texts belongs here, not a text", "specials", f"write [{specials!r}]")
    for place, special in enumerate(specials):
        if not special:
            raise TokentuiError("a special token cannot be empty", "specials", "leave it out")
        if special in specials[:place]:
            raise TokentuiError("named twice", f"special {special}", "name it once")
