"""Characters that a text may hold though Textual takes them for no text: joiners, wide and no-break spaces, the newest emoji."""

from __future__ import annotations

import unicodedata

from textual.events import Key

NO_TEXT = frozenset({"Cc", "Cs"})
"""Categories of what a key may send that is no text: controls, halves of characters."""


def typed_beyond(event: Key) -> str | None:
    """The character of a key that is text but that an input of Textual leaves out: it takes what `str.isprintable` names.

    The key is taken by this: nothing else hears of it.
    """
    character = event.character
    if character is None or len(character) != 1 or character.isprintable() or unicodedata.category(character) in NO_TEXT:
        return None
    event.stop()
    event.prevent_default()
    return character


def lines_of(pasted: str) -> str:
    """A paste with the line ends of a text: terminals send carriage returns for them."""
    return pasted.replace("\r\n", "\n").replace("\r", "\n")
