"""How a file of counted words was counted: the part of a recipe that the words depend on.

`tokentui count` writes it into the file. Training refuses a recipe whose part differs, because its pre-tokens
would not be those of the file.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tokentui.core.errors import TokentuiError

if TYPE_CHECKING:
    from tokentui.recipe import Recipe

HEADER = "#tokentui-counts "
"""Start of the first row of a file of counts. The row contains no tab, so it is no counted word."""
METADATA = b"tokentui-counts"
"""Key of the counting settings in the metadata of a Parquet table."""
UNKNOWN = ""
"""Counting settings of a file that does not say how it was counted."""
_MOST = 1 << 16


def note_kind(kinds: dict[str, str], kind: str, where: str) -> None:
    """Record that a file contains counted words or texts.

    Args:
        kinds: A file of each kind, to add to.
        kind: `words` or `texts`.
        where: The name of the file.

    Raises:
        TokentuiError: Another file contains the other kind.
    """
    kinds.setdefault(kind, where)
    if len(kinds) == 2:
        both = f"{kinds['words']} holds counted words, {kinds['texts']} does not"
        what = f"{both}: that is more than one corpus"
        raise TokentuiError(what, where, "name them separately, or use --as text")


def counting_of(recipe: Recipe) -> str:
    """Return the part of a recipe that counting depends on, as one line of JSON with its digest."""
    import hashlib  # few files are of counted words

    from tokentui.text.split import spaced, splitter_of

    part = {
        "normalize": list(recipe.normalize), "split": recipe.split,
        "symbols": sorted(recipe.symbols), "space": spaced(recipe),
        "always": splitter_of(recipe).always_prepends,
    }
    digest = hashlib.sha256(json.dumps(part, sort_keys=True).encode()).hexdigest()
    return json.dumps({**part, "digest": digest[:16]})


def header_in(text: str) -> str | None:
    """Return the counting settings in the first row of a text, unchecked, or None if the row is no header."""
    if not text.startswith(HEADER):
        return None
    row = text[:_MOST].partition("\n")[0].removesuffix("\r")
    return row.removeprefix(HEADER)


def check_same(counting: str, wanted: str, where: str) -> None:
    """Raise if counting settings differ from the expected ones. Only their digests are compared.

    Raises:
        TokentuiError: They differ, or are damaged.
    """
    theirs, ours = _values(counting, where), _values(wanted, where)
    if theirs["digest"] == ours["digest"]:
        return
    differ = [name for name in ours if name != "digest" and theirs.get(name) != ours[name]]
    of_file, of_recipe = (
        " ".join(f"{name}={_shown(values.get(name))}" for name in differ) for values in (theirs, ours)
    )
    what = f"counted with {of_file}, and the recipe has {of_recipe}"
    raise TokentuiError(what, where, "count the text again with this recipe, or train with that of the file")


def _values(counting: str, where: str) -> dict[str, object]:
    """Return the settings in the row of a file.

    Raises:
        TokentuiError: The row is damaged.
    """
    try:
        values = json.loads(counting)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or not isinstance(values.get("digest"), str):
        what = "the row that says how it was counted is damaged"
        raise TokentuiError(what, where, "count the text again, or remove the row")
    return values


def _shown(value: object) -> str:
    text = ",".join(map(str, value)) or "none" if isinstance(value, list) else str(value).lower()
    return text if len(text) <= 60 else text[:59] + "…"
