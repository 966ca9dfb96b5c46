"""Checks of what becomes of texts: special tokens, numbers, white space, every script, and the way back."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from random import Random

from tokentui.analyze.health import probes
from tokentui.analyze.health.found import FAIL, NONE, PASS, WARN, Found, graded, share, some
from tokentui.analyze.health.survey import Survey
from tokentui.analyze.results import Example
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import safe
from tokentui.encode import Encoding
from tokentui.encode.tokenizer import Tokenizer

_MOST_SPECIALS = 2000
_PER_LENGTH = 12


def encoded(tokenizer: Tokenizer, text: str, allow_special: bool = False) -> Encoding | None:
    """A text as tokens, None where the recipe refuses it."""
    try:
        return tokenizer.encode(text, allow_special=allow_special)
    except Cancelled:
        raise
    except TokentuiError:
        return None


def _specials(tokenizer: Tokenizer) -> list[str]:
    """The first special tokens; a symbol is none: text that spells it is it."""
    return [name for name in tokenizer.vocabulary.specials[:_MOST_SPECIALS] if name not in tokenizer.recipe.symbols]


def specials(seen: Survey) -> Found:
    """Special tokens that do not become themselves where they are allowed."""
    tokenizer, vocabulary = seen.tokenizer, seen.tokenizer.vocabulary
    # The unknown token stands for what has no token: nobody writes it.
    names = [name for name in _specials(tokenizer) if vocabulary.special_id(name) != vocabulary.unknown_id]
    if not names:
        return Found(NONE, "there are no special tokens")
    found = []
    for name in names:
        number = vocabulary.special_id(name)
        for text in (name, f"a {name}b"):
            encoding = encoded(tokenizer, text, allow_special=True)
            if encoding is not None and encoding.ids.count(number) == 1 and (text != name or len(encoding.ids) == 1):
                continue
            into = "it is refused" if encoding is None else "becomes " + " ".join(safe(token) for token in encoding.tokens[:8])
            found.append(Example(number, _bytes(name), into))
            break
    observed = some(len(found), "special token", "that falls apart", len(names))
    return Found(FAIL if found else PASS, observed, len(found), found)


def injected(seen: Survey) -> Found:
    """Special tokens that typed text becomes without being allowed to."""
    tokenizer, vocabulary = seen.tokenizer, seen.tokenizer.vocabulary
    control = {entry.id for entry in seen.entries if entry.kind == "special"}
    names = [name for name in _specials(tokenizer) if vocabulary.special_id(name) in control]
    if not names:
        return Found(NONE, "there are no special tokens")
    found = [
        Example(vocabulary.special_id(name), _bytes(name)) for name in names
        if (encoding := encoded(tokenizer, f"a {name} b")) is not None and vocabulary.special_id(name) in encoding.ids
    ]
    observed = some(len(found), "special token", "that plain text becomes", len(names))
    return Found(WARN if found else PASS, observed, len(found), found)


def digits(seen: Survey) -> Found:
    """How numbers are cut: by a rule, or as the corpus had it."""
    tokenizer, draw = seen.tokenizer, Random(1)
    found: dict[int, Example] = {}
    ways: dict[int, set[tuple[int, ...]]] = {}
    for one in probes.NUMBERS:
        numbers = [one, *(str(draw.randrange(10 ** (len(one) - 1), 10 ** len(one))) for _ in range(_PER_LENGTH))]
        ways[len(one)] = {cut for number in numbers if (cut := _cuts(tokenizer, number)) is not None}
        encoding = encoded(tokenizer, f" {one}")
        if encoding is not None:
            found[len(one)] = Example(None, one.encode(), " | ".join(safe(token) for token in encoding.tokens))
    if not any(ways.values()):
        return Found(NONE, "numbers are not encoded")
    loose = [length for length, cuts in ways.items() if len(cuts) > 1]
    if loose:
        what = f"numbers of {len(loose)} of {len(ways)} lengths are cut in several ways: as the corpus had them"
        return Found(WARN, what, len(loose), [found[length] for length in loose if length in found])
    longest = max((cut for cuts in ways.values() for cut in cuts), key=len)
    sizes = {end - start for start, end in zip((0, *longest), longest, strict=False)}
    most = max(sizes, default=1)
    how = "each digit is a token" if most == 1 else f"numbers are cut by a rule, at most {most} digits together"
    return Found(PASS, how, 0, list(found.values()))


def _cuts(tokenizer: Tokenizer, number: str) -> tuple[int, ...] | None:
    """Where the tokens of a number end, None where it is not encoded whole."""
    encoding = encoded(tokenizer, f"a {number}")
    if encoding is None or encoding.unknown:
        return None
    return tuple(sorted({end - 2 for _, end in encoding.offsets if end > 2})) or None  # it may be dropped


def spaces(seen: Survey) -> Found:
    """White space that does not come back."""
    return _round(seen, probes.SPACES, "kind")


def texts(seen: Survey) -> Found:
    """Texts that do not come back."""
    return _round(seen, (*probes.SCRIPTS, *probes.TEXTS), "text")


def controls(seen: Survey) -> Found:
    """Characters without a shape that do not come back."""
    return _round(seen, probes.CONTROLS, "control")


def _round(seen: Survey, pairs: Iterable[tuple[str, str]], what: str) -> Found:
    listed = list(pairs)
    found, refused, whole = [], 0, len(listed)
    for name, text in listed:
        encoding = encoded(seen.tokenizer, text)
        held = encoding is not None and len(encoding.unknown) < len(encoding.ids)
        back = seen.tokenizer.decode(number for number in encoding.ids if number is not None) if encoding is not None else None
        if held and back == text:
            continue
        why = seen.tokenizer.lost(text)
        found.append(Example(None, text.encode(), f"{name}: {why[0] if why else 'nothing of it has a token'}"))
        refused += not held
    if refused == whole:
        return Found(NONE, f"nothing of {some(whole, what)} has a token")
    changed = len(found) - refused
    observed = f"{some(changed, what)} of {whole - refused} changed on the way back"
    if refused:
        observed += f"; of {some(refused, 'other')} nothing has a token, or {'it is' if refused == 1 else 'they are'} refused"
    return Found(WARN if found else PASS, observed, share(len(found), whole), found)


def _back(tokenizer: Tokenizer, text: str) -> str | None:
    encoding = encoded(tokenizer, text)
    if encoding is None:
        return None
    return tokenizer.decode(number for number in encoding.ids if number is not None)


def stable(seen: Survey) -> Found:
    """Texts whose ids are others after a way back and forth."""
    found = []
    tried = 0
    for name, text in (*probes.SCRIPTS, *probes.TEXTS):
        encoding = encoded(seen.tokenizer, text)
        if encoding is None or not encoding.ids or encoding.unknown or None in encoding.ids:
            continue
        tried += 1
        back = _back(seen.tokenizer, text)
        again = encoded(seen.tokenizer, back or "")
        if again is None or again.ids != encoding.ids:
            found.append(Example(None, text.encode(), f"{name}: comes back as {safe(back or '', limit=60)}"))
    if not tried:
        return Found(NONE, "no text is encoded whole")
    value = share(len(found), tried)
    return Found(graded(value, 0, 0.5), some(len(found), "text", f"of {tried} with other ids the second time"), value, found)


def unknown(seen: Survey) -> Found:
    """Scripts that the vocabulary lacks."""
    rows = list(_lacking(seen.tokenizer))
    found = [Example(None, text.encode(), f"{name}: {part:.0%} of its characters") for name, text, part in rows if part]
    value = share(len(found), len(rows))
    if not found:
        return Found(PASS, f"all {len(rows)} scripts are written without an unknown token", 0)
    found.sort(key=lambda one: one.note)
    observed = some(len(found), "script", f"of {len(rows)} with characters that the vocabulary lacks")
    return Found(WARN, observed, value, found)


def _lacking(tokenizer: Tokenizer) -> Iterator[tuple[str, str, float]]:
    """(name, text, share of its characters that are unknown, dropped or refused) of each script."""
    for name, text in probes.SCRIPTS:
        encoding = encoded(tokenizer, text)
        letters = {at for at, character in enumerate(text) if not character.isspace()}
        if encoding is None:
            yield name, text, 1.0
            continue
        held = {
            at for n, (start, end) in enumerate(encoding.offsets) if n not in encoding.unknown for at in range(start, end)
        }
        lacks = len(letters - held)
        yield name, text, share(lacks, len(letters)) if encoding.unknown or lacks else 0.0


def forms(seen: Survey) -> Found:
    """Texts that look alike and have other ids."""
    found, tried = [], 0
    for name, text in (*probes.SCRIPTS, *probes.TEXTS):
        composed, apart = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
        if composed == apart:
            continue
        one, other = encoded(seen.tokenizer, composed), encoded(seen.tokenizer, apart)
        if one is None or other is None or len(one.unknown) == len(one.ids) == len(other.unknown) == len(other.ids):
            continue
        tried += 1
        if one.ids == other.ids:
            continue
        found.append(Example(None, text.encode(), f"{name}: {len(one)} tokens composed, {len(other)} decomposed"))
    if not tried:
        return Found(NONE, "no text with two forms is encoded")
    status = WARN if found else PASS
    return Found(status, some(len(found), "text", "with other ids when decomposed"), len(found), found)


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")
