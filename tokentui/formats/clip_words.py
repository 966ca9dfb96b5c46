"""CLIP's words: HTML's character references are undone, twice; white space is one; a Σ that ends a word
becomes ς.

No value of the axis `normalize` says that. Source: openai/CLIP and open_clip, `basic_clean`,
`whitespace_clean` and `lower`.
"""

from __future__ import annotations

import html
import unicodedata

import regex

from tokentui.formats.huggingface.text import Text, split
from tokentui.formats.huggingface.words import StagedPretokenizer
from tokentui.recipe import Recipe
from tokentui.text.split import to_bytes

SUFFIX = "</w>"
"""The end of the last unit of a word in GPT-1's and CLIP's files."""
CLIP_SPLIT = r"regex:(?i)'s|'t|'re|'ve|'m|'ll|'d|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+"
CLIP_NORMALIZE = ("nfc", "lowercase")

_PATTERN = regex.compile(CLIP_SPLIT.removeprefix("regex:"), regex.VERSION0)
_SEPARATORS = dict.fromkeys(range(28, 32), " ")
"""Characters that Python takes for white space and Unicode does not."""
_OTHERWISE = regex.compile("[Σ&\x1c-\x1f]")


class ClipWords(StagedPretokenizer):
    """From a text to the words and units of CLIP's program, but for its mending of broken text.

    Args:
        recipe: What the axes can say.
    """

    beyond_axes = False  # what they do not say is told as a loss

    def __init__(self, recipe: Recipe) -> None:
        super().__init__(recipe, _normal, _words, byte_level=False, suffix=recipe.mark_text)

    def _word(self, part: Text) -> tuple[str, tuple[tuple[int, int], ...]]:
        places = zip(part.text, part.starts, part.ends, strict=True)
        return part.text, tuple((start, end) for character, start, end in places for _ in to_bytes(character))


def is_clip(recipe: Recipe) -> bool:
    """Return whether a recipe is what the axes can say of CLIP."""
    axes = (recipe.split, recipe.normalize, recipe.mark)
    return axes == (CLIP_SPLIT, CLIP_NORMALIZE, f"end-suffix:{SUFFIX}")


def differs(text: str) -> bool:
    """Return whether what the axes say may give other words of a text."""
    return _OTHERWISE.search(text) is not None


def _normal(text: Text) -> Text:
    for stage in (_unescaped, _spaced, _composed, str.lower):
        text = text.passed(stage)
    return text


def _unescaped(text: str) -> str:
    return html.unescape(html.unescape(text)) if "&" in text else text


def _spaced(text: str) -> str:
    return text.translate(_SEPARATORS)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _words(text: Text) -> list[Text]:
    return split(text, (match.span() for match in _PATTERN.finditer(text.text)), "Removed", True)
