"""Whether kernels may cut a text before the steps of a `tokenizer.json`: these treat its stretches one by
one."""

from __future__ import annotations

import functools
import itertools
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from tokentui.core.errors import TokentuiError
from tokentui.formats.huggingface import Pattern, own_pattern
from tokentui.formats.huggingface.steps import NormalizerStep, PreTokenizerStep, charsmap_of
from tokentui.text.split import SPACE_MARK
from tokentui.text.stretching import Stretching, Words, marked_words, plain_words

Step: TypeAlias = "NormalizerStep | PreTokenizerStep"
_SPACE, _SPACES = Pattern("String", " "), Pattern("Regex", " {2,}")
_PRINTABLE = "".join(map(chr, range(33, 127)))
_WORD = re.compile(" ([!-~]+)")
_WORD_APART = re.compile("[ \n]+([!-~]+)")
_CROSSING = re.compile(r"[!-~][ \t\n\r]")


def stretching_of(
    normalizer: NormalizerStep | None, splitting: PreTokenizerStep | None, words: Words, *, plain: bool
) -> Stretching | None:
    """Return how steps treat the stretches of a text; None if they may look beyond a stretch.

    Args:
        normalizer: The step that normalizes; None for none.
        splitting: The step that splits; None for none.
        words: Returns the words of a text after all steps.
        plain: True if words are characters without marks.
    """
    normalizers, splits = list(_in_order(normalizer)), list(_in_order(splitting))
    marking = _marking(normalizers, splits) if plain else None
    return marking or _between_spaces(normalizers, splits, words)


def _in_order(step: Step | None) -> Iterator[Step]:
    """Yield the steps of a sequence, or a step alone; none for None."""
    if step is None:
        return
    if step.kind != "Sequence":
        yield step
    for inner in step.steps:
        yield from _in_order(inner)


def _marking(normalizers: list[Step], splits: list[Step]) -> Stretching | None:
    """Return the stretches of steps that only turn spaces into ▁ and put one in front. A text is one word.

    None if a step does something else.
    """
    front, once, each, marks = "", False, True, False
    for step in normalizers:
        if step.kind == "Prepend" and not (marks and " " in str(step.parameters["prepend"])):
            front = str(step.parameters["prepend"]) + front
        elif step.kind == "Replace" and step.parameters == {"pattern": _SPACE, "content": SPACE_MARK}:
            marks = True
            front = front.replace(" ", SPACE_MARK)
        else:
            return None
    for step in splits:
        if step.kind == "Split" and marks and step.parameters["pattern"] == _SPACE:
            continue  # no space is left
        scheme = step.parameters.get("prepend_scheme")
        if (
            step.kind != "Metaspace" or step.parameters["replacement"] != SPACE_MARK
            or step.parameters["split"] is not False or (front and scheme != "never")
        ):
            return None
        marks = True
        if scheme != "never":
            front, once, each = SPACE_MARK, True, scheme == "always"
    if marks:
        front = front.replace(SPACE_MARK, " ")
    return Stretching("", marked_words if marks else plain_words, front, once, each)


# ---- stretches that begin with a space


def _between_spaces(normalizers: list[Step], splits: list[Step], words: Words) -> Stretching | None:
    """Return the stretches that end after printable ASCII and begin with a space, tab or line end.

    None unless the steps act on both sides by themselves: each normalizer leaves printable ASCII at the end
    of the first stretch, and a space, tab or line end at the start of the second. The first split cuts there,
    and all others act on its parts.
    """
    if not splits:
        return None
    from tokentui.text.kernels.rules import BEFORE_SPACES, BEFORE_WHITE, WHITE  # few splits need them

    first = splits[0]
    if first.kind in ("WhitespaceSplit", "BertPreTokenizer", "Whitespace"):
        name = BEFORE_WHITE
    elif first.kind == "Metaspace" and first.parameters["split"] is not False:
        name = BEFORE_SPACES
    else:
        return None
    if not all(_keeps_borders(step, WHITE[name]) for step in normalizers):
        return None
    whole = [(step.kind, step.parameters.get("replacement"), step.parameters.get("prepend_scheme"))
             for step in splits]
    marks = whole[-1] == ("Metaspace", SPACE_MARK, "always") and all(
        kind == "WhitespaceSplit" for kind, _, _ in whole[:-1]
    ) and splits[-1].parameters["split"] is not False
    each = all(scheme != "first" for _, _, scheme in whole)
    if not each and sum(kind == "Metaspace" for kind, _, _ in whole) > 1:
        return None  # the second one looks at the place of a part
    at_once = functools.partial(
        _words_at_once, normalizers, words, _WORD_APART if len(whole) > 1 else _WORD
    )
    return Stretching(name, at_once if marks else words, each=each, crossing=_CROSSING)


def _keeps_borders(step: Step, white: str) -> bool:
    """Return whether a normalizer acts on both sides of a border by itself, and leaves a border there:
    printable ASCII, then white space."""
    kind, of = step.kind, step.parameters
    if kind in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "BertNormalizer"):
        return True
    if kind == "Strip":
        return not of["strip_left"]
    if kind == "Replace":
        pattern, content = of["pattern"], str(of["content"])
        assert isinstance(pattern, Pattern)
        if pattern == _SPACES:
            return content == " "
        plain = pattern.kind == "String" and pattern.text and not set(pattern.text) & set(" \t\n\r")
        return bool(plain and content and set(content) <= set(_PRINTABLE))
    return kind == "Precompiled" and _maps_plainly(str(of["precompiled_charsmap"]), white)


@functools.lru_cache(maxsize=8)
def _maps_plainly(code: str, white: str) -> bool:
    """Return whether rules keep printable ASCII and white space, and change no character that forms one
    grapheme with what follows. Rules look at one grapheme at a time."""
    if not code:
        return True
    rules = charsmap_of(code)
    try:
        kept = all(rules.mapped(one) in _PRINTABLE for one in _PRINTABLE)
        white_kept = all(rules.mapped(one) in (one, " ") for one in white)
        return kept and white_kept and not any(rules.matches(one.encode()) for one in _joining())
    except TokentuiError:
        return False


@functools.cache
def _joining() -> list[str]:
    """Return the characters that form one grapheme with what follows."""
    text = "".join(map(chr, (*range(0x600, 0xD800), *range(0xE000, 0x12000))))
    found: list[str] = own_pattern(r"\p{GCB=Prepend}").findall(text)
    return found


def _words_at_once(
    normalizers: list[Step], words: Words, plain: re.Pattern[str], stretches: list[str]
) -> list[Sequence[str]]:
    """Return the words of each of some stretches, where a word gets ▁ for the space in front. A stretch that
    `plain` matches, printable ASCII that no normalizer changes, but for its case, is one word: its group."""
    changes = [change for step in normalizers if (change := _changes(step))]
    lower = any(
        step.kind == "Lowercase" or (step.kind == "BertNormalizer" and step.parameters["lowercase"])
        for step in normalizers
    )
    found = [match[1] if match else "" for match in map(plain.fullmatch, stretches)]
    whole = " ".join(found)
    if any(change(whole) for change in changes):
        found = ["" if any(change(" " + word) for change in changes) else word for word in found]
    others = iter(words(list(itertools.compress(stretches, map(operator.not_, found)))))
    marked = [SPACE_MARK + (word.lower() if lower else word) for word in found]
    return [(mark,) if word else next(others) for word, mark in zip(found, marked, strict=True)]


def _changes(step: Step) -> Callable[[str], bool] | None:
    """Return a function that says whether a normalizer may change a space with printable ASCII after it, but
    for its case. None if it never does."""
    if step.kind == "Precompiled" and (code := str(step.parameters["precompiled_charsmap"])):
        plain = charsmap_of(code).plain.fullmatch
        return lambda text: plain(text) is None
    pattern = step.parameters.get("pattern")
    if step.kind == "Replace" and isinstance(pattern, Pattern) and pattern != _SPACES:
        found = pattern.text
        return lambda text: found in text
    return None
