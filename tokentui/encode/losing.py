"""What a text loses on the way to ids and back, in words."""

from __future__ import annotations

from tokentui.encode.decoding import Decoder
from tokentui.encode.encoding import WordEncoder, encode
from tokentui.errors import Cancelled, TokentuiError
from tokentui.text.split import splitter
from tokentui.vocabulary import Vocabulary


def lost(
    vocabulary: Vocabulary,
    merges: int,
    text: str | bytes,
    *,
    cache: WordEncoder | None = None,
    decoder: Decoder | None = None,
) -> tuple[str, ...]:
    """Short sentences on what decoding the encoded text does not give back; none when it gives back the text."""
    cache = cache or WordEncoder(vocabulary, merges)
    decoder = decoder or Decoder(vocabulary, merges)
    try:
        encoding = encode(vocabulary, merges, text, cache=cache)
    except Cancelled:
        raise
    except TokentuiError as error:
        return (f"it cannot be encoded: {error}",)
    back = decoder.to_text(number for number in encoding.ids if number is not None)
    typed = encoding.text
    if back == typed:
        return ()
    recipe = vocabulary.recipe
    found = []
    normalized = cache.pretokenizer.analyse(typed).normalized
    if normalized != typed:
        folded = normalized.casefold() == typed.casefold()
        what = "upper and lower case" if folded else "what normalising changes"
        found.append(f"{what}: normalize={recipe.axis('normalize')}")
    if any("\udc80" <= character <= "\udcff" for character in typed):
        found.append("bytes that are not UTF-8: they come back as U+FFFD")
    missing = len(encoding.unknown)
    if recipe.unknown == "drop":
        known = vocabulary.known_units(merges)
        missing += sum(
            unit not in known
            for pretoken in cache.pretokenizer.pretokens(typed)
            for unit in cache.pretokenizer.units(pretoken.text)
        )
    if missing:
        tokens = "1 token" if missing == 1 else f"{missing} tokens"
        found.append(f"what the vocabulary lacks: {tokens}, unknown={recipe.unknown}")
    if "".join(back.split()) == "".join(normalized.split()) != normalized and back != normalized:
        found.append(_spaces(vocabulary))
    elif not found and not splitter(recipe.split).keeps_spaces:
        found.append(f"what lies between the pre-tokens: split={recipe.axis('split')}")
    return tuple(found) or ("the text as it was typed: a character in it is one that this recipe gives a meaning",)


def _spaces(vocabulary: Vocabulary) -> str:
    recipe = vocabulary.recipe
    if recipe.split == "metaspace":
        return "spaces at the start: one ▁ is put there and taken away again"
    if recipe.mark_kind == "none":
        return f"spaces: split={recipe.axis('split')} drops them and no mark says where a word began or ended"
    return f"spaces: each gap between two words comes back as one space, mark={recipe.axis('mark')}"
