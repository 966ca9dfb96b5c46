"""Whether a token can ever come out of a text, and why not.

Two things can be in the way: the encoding (the token's own units become other tokens), or what comes before it (no word that
the split and the normalisation leave holds those units side by side). The first is exact: what surrounds a token never changes
how the units inside it join. The second is tried in a few contexts, so it is said as what was tried.
"""

from __future__ import annotations

from tokentui.analyze.spelling import spelled_units, within
from tokentui.core.safetext import safe
from tokentui.encode import Decoder, WordEncoder
from tokentui.text.split import SPACE_MARK

ALIKE, GIVEN_UP, OTHERWISE, NORMALISED, SPLIT = "spelled alike", "given up", "encoded otherwise", "normalised", "split"
"""Why no text becomes a token."""
_CONTEXTS = ("{}", "a{}", "{}a", "a{}a", " {}", "1{}", "{}1", "1{}1", "'{}", "a {}", "{} ")


def unreachable(encoder: WordEncoder, decoder: Decoder, symbol: int) -> str:
    """Why no text becomes this token, in words; empty where one does."""
    return cause(encoder, decoder, symbol)[1]


def cause(encoder: WordEncoder, decoder: Decoder, symbol: int) -> tuple[str, str]:
    """Why no text becomes this token: one of the causes, and the same in words; both empty where one does."""
    vocabulary = encoder.vocabulary
    units = spelled_units(encoder, symbol)
    piece = vocabulary.spelled(symbol)
    characters = len(piece.decode("utf-8", "replace"))
    parts = encoder.segmenter.segment(units, characters)
    taken = [part.symbol for part in parts]
    if taken != [symbol]:
        if len(taken) == 1 and taken[0] is not None and vocabulary.spelled(taken[0]) == piece:
            return ALIKE, f"another token is spelled alike: id {vocabulary.id_of(taken[0], encoder.merges)}"
        if len(taken) == 1:
            return GIVEN_UP, "its own text is given up: it is too long"
        shown = " ".join(
            "unknown" if one is None else safe(vocabulary.spelled(one), limit=40) for one in taken[:8]
        )
        return OTHERWISE, f"its own text is encoded as {shown}" + (" …" if len(taken) > 8 else "")
    try:
        piece.decode()
    except UnicodeDecodeError:
        return "", ""  # only a part of a character: no context can be typed for it
    if encoder.marks.prefix and encoder.marks.unit_continues(piece):
        text = piece.removeprefix(encoder.marks.mark).decode()
    else:
        text = decoder.to_text([vocabulary.id_of(symbol, encoder.merges)])
    for context in _CONTEXTS:
        for word in encoder.pretokenizer.words(context.replace("{}", text)):
            if within(units, encoder.pretokenizer.units(word)):
                return "", ""
    normal = encoder.pretokenizer.normalized(f"a {text} a")
    if text not in normal and text.replace(" ", SPACE_MARK) not in normal:
        return NORMALISED, "the normalisation changes it"
    return SPLIT, "no word that the split leaves holds it, in any context tried"
