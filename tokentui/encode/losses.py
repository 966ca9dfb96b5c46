"""What a text loses on the way to ids and back, in words: found in what decoding really gives back."""

from __future__ import annotations

from typing import NamedTuple

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.encode.decode import Decoder
from tokentui.encode.offsets import WordEncoder, encode
from tokentui.encode.roundtrip import (
    ACCENTS,
    ADDED,
    CASE,
    CHANGED,
    DROPPED,
    FEWER,
    FORMS,
    MISSING,
    MORE,
    NEW,
    Difference,
    differences,
)
from tokentui.encode.vocabulary import Vocabulary
from tokentui.text.split import splitter


class RoundTrip(NamedTuple):
    """What becomes of a text: what decoding gives `back` (None where the text cannot be encoded), and short sentences on what is
    `lost`, none where it comes back as it was typed."""

    back: str | None
    lost: tuple[str, ...] = ()


def lost(
    vocabulary: Vocabulary,
    merges: int,
    text: str | bytes,
    *,
    cache: WordEncoder | None = None,
    decoder: Decoder | None = None,
) -> tuple[str, ...]:
    """Short sentences on what decoding the encoded text does not give back; none when it gives back the text."""
    return round_trip(vocabulary, merges, text, cache=cache, decoder=decoder).lost


def round_trip(
    vocabulary: Vocabulary,
    merges: int,
    text: str | bytes,
    *,
    cache: WordEncoder | None = None,
    decoder: Decoder | None = None,
) -> RoundTrip:
    """Encode a text, decode its ids, and say what differs and by which axis."""
    cache = cache or WordEncoder(vocabulary, merges)
    decoder = decoder or Decoder(vocabulary, merges)
    try:
        encoding = encode(vocabulary, merges, text, cache=cache)
    except Cancelled:
        raise
    except TokentuiError as error:
        return RoundTrip(None, (f"it cannot be encoded: {error}",))
    back = decoder.to_text(number for number in encoding.ids if number is not None)
    typed = encoding.text
    if back == typed:
        return RoundTrip(back)
    normalized = cache.pretokenizer.analyse(typed).normalized
    lacks = bool(encoding.unknown) or (vocabulary.recipe.unknown == "drop" and _dropped(vocabulary, merges, cache, typed))
    because = _Causes(vocabulary, lacks, any("\udc80" <= char <= "\udcff" for char in typed), typed, normalized)
    return RoundTrip(back, tuple(f"{said}{because.of(one)}" for one in differences(typed, back) for said in (_said(one),)))


def _dropped(vocabulary: Vocabulary, merges: int, cache: WordEncoder, typed: str) -> bool:
    known = vocabulary.known_units(merges)
    pretokenizer = cache.pretokenizer
    return any(unit not in known for word in pretokenizer.pretokens(typed) for unit in pretokenizer.units(word.text))


def _said(one: Difference) -> str:
    """A difference as a sentence."""
    places = "1 place" if one.size == 1 else f"{one.size:,} places"
    characters = "1 character" if one.size == 1 else f"{one.size:,} characters"
    come = "comes" if one.size == 1 else "come"
    examples = f" ({' '.join(one.examples)})" if one.examples else ""
    match one.kind:
        case "case":
            return "upper and lower case are not kept"
        case "forms":
            return "characters come back in another form"
        case "accents":
            return "accents are dropped"
        case "missing":
            return f"{characters} {'does' if one.size == 1 else 'do'} not come back{examples}"
        case "new":
            return f"{characters} {come} back that {'was' if one.size == 1 else 'were'} not typed{examples}"
        case "added":
            return f"white space is added in {places}"
        case "dropped":
            return f"white space is dropped in {places}"
        case "changed":
            gaps = "1 gap comes" if one.size == 1 else f"{one.size:,} gaps come"
            return f"{gaps} back as {'one space' if one.examples == (' ',) else 'other white space'}"
        case "more":
            return f"{characters} of white space more {come} back"
        case "fewer":
            return f"{characters} of white space fewer {come} back"
    return "the characters come back in another order"


class _Causes:
    """Which axis makes a text come back otherwise.

    Args:
        vocabulary: The vocabulary.
        lacks: Whether it lacks something of the text.
        broken: Whether bytes of the text are not UTF-8.
        typed: The text.
        normalized: What normalising makes of it.
    """

    def __init__(self, vocabulary: Vocabulary, lacks: bool, broken: bool, typed: str, normalized: str) -> None:
        self._recipe = vocabulary.recipe
        self._lacks, self._broken = lacks, broken
        self._normalizing = {one.kind for one in differences(typed, normalized)}

    def of(self, one: Difference) -> str:
        """The cause of a difference, as the end of its sentence; empty where no axis says it."""
        recipe = self._recipe
        if one.kind in self._normalizing and recipe.normalize:
            return f": normalize={recipe.axis('normalize')}"
        if one.kind in (CASE, FORMS, ACCENTS):
            return ""
        if one.kind in (MISSING, NEW):
            if self._broken:
                return ": bytes that are not UTF-8 come back as U+FFFD"
            if self._lacks:
                return f": not in the vocabulary, unknown={recipe.unknown}"
            if one.kind == MISSING and not splitter(recipe.split).keeps_spaces:
                return f": split={recipe.axis('split')} leaves out what lies between its matches"
            return ": the recipe gives a character of the text a meaning of its own"
        if one.kind in (ADDED, DROPPED, CHANGED, MORE, FEWER):
            if recipe.mark_kind != "none":
                return f": mark={recipe.axis('mark')}"
            if recipe.split == "metaspace":
                return ": split=metaspace puts one ▁ in front and takes it away again"
            if not splitter(recipe.split).keeps_spaces:
                return f": split={recipe.axis('split')} drops them and no mark says where a word began or ended"
        return ""
