"""Checks that encode and decode texts: special tokens, numbers, whitespace, and texts in many scripts."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from tokentui.analyze.health.survey import INFO, Finding, Survey, share, some
from tokentui.analyze.results import Example
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe
from tokentui.encode.encoding import Encoding
from tokentui.encode.tokenizer import Tokenizer

Named = tuple[tuple[str, str], ...]
"""Texts, each with its name before it."""

SCRIPTS: Named = (
    ("Latin", "The ferry leaves at noon, rain or shine."),
    ("Latin with marks", "Žluťoučký kůň pěl ďábelské ódy, naïve façade, Ærø, Straße."),
    ("Vietnamese", "Trời hôm nay nắng đẹp, chúng tôi đi chợ."),
    ("Turkish", "İstanbul'da ılık bir gün, ağaçların gölgesi."),
    ("Greek", "Το πλοίο φεύγει το μεσημέρι, βρέξει χιονίσει."),
    ("Cyrillic", "Паром уходит в полдень, в дождь и в солнце."),
    ("Armenian", "Նավը մեկնում է կեսօրին։"),
    ("Georgian", "ბორანი შუადღისას გადის."),
    ("Hebrew", "המעבורת יוצאת בצהריים."),
    ("Arabic", "العبّارة تغادر ظهرًا، والمطر خفيف."),
    ("Devanagari", "नाव दोपहर को चलती है, बारिश हो या धूप।"),
    ("Bengali", "ফেরি দুপুরে ছাড়ে।"),
    ("Tamil", "படகு நண்பகலில் புறப்படும்."),
    ("Telugu", "పడవ మధ్యాహ్నం బయలుదేరుతుంది."),
    ("Sinhala", "බෝට්ටුව දහවල් පිටත් වේ."),
    ("Thai", "เรือออกตอนเที่ยง ฝนตกหรือแดดออก"),
    ("Lao", "ເຮືອອອກຕອນທ່ຽງ"),
    ("Khmer", "ទូកចេញនៅពេលថ្ងៃត្រង់"),
    ("Myanmar", "လှေက မွန်းတည့်မှာ ထွက်တယ်"),
    ("Tibetan", "གྲུ་གཟིངས་ཉིན་གུང་ལ་འགྲོ།"),
    ("Ethiopic", "ጀልባው እኩለ ቀን ላይ ይነሳል።"),
    ("Chinese", "渡船中午出发，风雨无阻。"),
    ("Japanese", "フェリーは正午に出ます。雨でも晴れでも。"),
    ("Korean", "배는 정오에 떠납니다, 비가 와도."),
    ("Cherokee", "ᏥᏳ ᎢᎦ ᎠᏰᎵ"),
    ("emoji", "🙂 👍🏽 👩‍👩‍👧 🇫🇮 ❤️‍🔥 1️⃣"),
    ("mathematics", "∀x∈ℝ: x² ≥ 0, 𝔸 ≠ 𝐀, ½ + ⅓"),
    ("signs", "“quoted” — … • § ¶ © ™ € ₹ №"),
)
"""A line of each script, by its name."""

_MARKS = "marks of tokenizers"
TEXTS: Named = (
    ("code", "def f(x):\n    return {k: v[0] for k, v in x.items()}  # done\n"),
    ("address", "https://example.org/a%20b?q=1&r=x#y <me@example.org>"),
    ("case", "McDonald's iPhone USB-C OK ok Ok"),
    ("combining marks", "e\u0301 n\u0303 o\u0308\u0323"),
    ("full width", "Ａ１ ｱ ﬁ ㍿ ①"),
    (_MARKS, "low</w> ##ing ▁x Ġy @@ <0x41>"),
)
"""Texts that are easily changed on the way."""

SPACES: Named = (
    ("in front", " a"), ("behind", "a "), ("two", "a  b"), ("eight", "a        b"), ("tab", "a\tb"),
    ("line end", "a\nb"), ("empty line", "a\n\nb"), ("line end and space", "a\n    b"),
    ("carriage return", "a\r\nb"), ("no-break", "a\u00a0b"), ("ideographic", "a\u3000b"), ("alone", "   "),
)
"""Whitespace, by what it is."""

CONTROLS: Named = (
    ("NUL", "a\0b"), ("escape", "a\x1b[31mb"), ("zero width", "a\u200bb"), ("direction", "a\u202eb"),
    ("replacement", "a\ufffdb"),
)
"""Characters that many normalizers drop."""

NUMBERS = ("7", "42", "365", "1999", "12345", "314159", "1234567", "86753090", "299792458")
"""A number of each length."""

_MOST_SPECIALS = 2000
_PER_LENGTH = 12


def encoded(tokenizer: Tokenizer, text: str, allow_special: bool = False) -> Encoding | None:
    """Encode a text. Return None if it cannot be encoded."""
    try:
        return tokenizer.encode(text, allow_special=allow_special)
    except TokentuiError:
        return None


def _back(tokenizer: Tokenizer, encoding: Encoding) -> str:
    return tokenizer.decode(number for number in encoding.ids if number is not None)


def _specials(tokenizer: Tokenizer) -> list[str]:
    """Return the first `_MOST_SPECIALS` special tokens, without user symbols: text always becomes those."""
    first = tokenizer.vocabulary.specials[:_MOST_SPECIALS]
    return [name for name in first if name not in tokenizer.recipe.symbols]


def specials(seen: Survey) -> Finding:
    """Check for special tokens, of the first `_MOST_SPECIALS`, that do not become themselves, alone or in a
    text, although special tokens are allowed. It does not apply without special tokens."""
    tokenizer, vocabulary = seen.tokenizer, seen.tokenizer.vocabulary
    # The unknown token stands for what has no token: no text spells it.
    names = [name for name in _specials(tokenizer) if vocabulary.special_id(name) != vocabulary.unknown_id]
    if not names:
        return Finding("there are no special tokens")
    examples = []
    for name in names:
        number = vocabulary.special_id(name)
        for text in (name, f"a {name}b"):
            encoding = encoded(tokenizer, text, allow_special=True)
            alone = encoding is not None and (text != name or len(encoding.ids) == 1)
            if encoding is not None and alone and encoding.ids.count(number) == 1:
                continue
            tokens = () if encoding is None else encoding.tokens[:8]
            into = "it is refused" if encoding is None else "becomes " + " ".join(map(safe, tokens))
            examples.append(Example(number, _bytes(name), into))
            break
    observed = some(len(examples), "special token", "that falls apart", len(names))
    return Finding(observed, len(examples), examples)


def injected(seen: Survey) -> Finding:
    """Check for special tokens that plain text becomes although special tokens are not allowed."""
    tokenizer = seen.tokenizer
    control = {entry.id for entry in seen.entries if entry.kind == "special"}
    named = [(name, tokenizer.vocabulary.special_id(name)) for name in _specials(tokenizer)]
    named = [(name, number) for name, number in named if number in control]
    if not named:
        return Finding("there are no special tokens")
    examples = [
        Example(number, _bytes(name)) for name, number in named
        if (encoding := encoded(tokenizer, f"a {name} b")) is not None and number in encoding.ids
    ]
    observed = some(len(examples), "special token", "that plain text becomes", len(named))
    return Finding(observed, len(examples), examples)


def digits(seen: Survey) -> Finding:
    """Check for numbers of one length that are cut in several ways: as the corpus had them, not by a rule.
    Uses the same pseudorandom numbers each time."""
    tokenizer, draw = seen.tokenizer, Random(1)
    example_of: dict[int, Example] = {}
    ways: dict[int, set[tuple[int, ...]]] = {}
    for given in NUMBERS:
        size = len(given)
        numbers = [given, *(str(draw.randrange(10 ** (size - 1), 10**size)) for _ in range(_PER_LENGTH))]
        ways[size] = {cut for number in numbers if (cut := _cuts(tokenizer, number)) is not None}
        encoding = encoded(tokenizer, f" {given}")
        if encoding is not None:
            example_of[size] = Example(None, given.encode(), " | ".join(map(safe, encoding.tokens)))
    if not any(ways.values()):
        return Finding("numbers are not encoded")
    loose = [length for length, cuts in ways.items() if len(cuts) > 1]
    if loose:
        share_of_lengths = f"{len(loose)} of {len(ways)}"
        what = f"numbers of {share_of_lengths} lengths are split in several ways"
        return Finding(what, len(loose), [example_of[length] for length in loose if length in example_of])
    longest = max((cut for cuts in ways.values() for cut in cuts), key=len)
    most = max((end - start for start, end in zip((0, *longest), longest, strict=False)), default=1)
    by_rule = f"numbers are split by a rule, at most {most} digits together"
    return Finding("each digit is a token" if most == 1 else by_rule, 0, list(example_of.values()))


def _cuts(tokenizer: Tokenizer, number: str) -> tuple[int, ...] | None:
    """Return the ends of the tokens of a number, or None if it has unknown parts."""
    encoding = encoded(tokenizer, f"a {number}")
    if encoding is None or encoding.unknown:
        return None
    return tuple(sorted({end - 2 for _, end in encoding.offsets if end > 2})) or None  # it may be dropped


def returns(seen: Survey, pairs: Sequence[tuple[str, str]], what: str) -> Finding:
    """Check for texts that decode to something else, or of which nothing has a token.

    Args:
        seen: The survey.
        pairs: The texts, each after its name.
        what: The noun for such a text, singular.
    """
    examples, refused, total = [], 0, len(pairs)
    for name, text in pairs:
        encoding = encoded(seen.tokenizer, text)
        has_known_tokens = encoding is not None and len(encoding.unknown) < len(encoding.ids)
        if has_known_tokens and encoding is not None and _back(seen.tokenizer, encoding) == text:
            continue
        why = seen.tokenizer.lost(text)
        note = f"{name}: {why[0] if why else 'nothing of it has a token'}"
        examples.append(Example(None, text.encode(), note))
        refused += not has_known_tokens
    if refused == total:
        return Finding(f"nothing of {some(total, what)} has a token")
    observed = f"{some(len(examples) - refused, what)} of {total - refused} changed on the way back"
    if refused:
        are = "it is" if refused == 1 else "they are"
        observed += f"; of {some(refused, 'other')} nothing has a token, or {are} refused"
    return Finding(observed, share(len(examples), total), examples)


def comes_back(seen: Survey) -> Finding:
    """Check that texts of all scripts and kinds decode to themselves.

    An INFO if only the text with the marks of tokenizers does not: nearly no tokenizer with such a mark
    returns it.
    """
    finding = returns(seen, (*SCRIPTS, *TEXTS), "text")
    if finding.value and {example.piece for example in finding.examples} == {dict(TEXTS)[_MARKS].encode()}:
        return replace(finding, status=INFO)
    return finding


def stable(seen: Survey) -> Finding:
    """Check for texts whose ids change when they are decoded and encoded again. Texts that are refused, or
    have unknown tokens, are not tried."""
    examples = []
    tried = 0
    for name, text in (*SCRIPTS, *TEXTS):
        encoding = encoded(seen.tokenizer, text)
        if encoding is None or not encoding.ids or encoding.unknown or None in encoding.ids:
            continue
        tried += 1
        decoded = _back(seen.tokenizer, encoding)
        encoded_again = encoded(seen.tokenizer, decoded)
        if encoded_again is None or encoded_again.ids != encoding.ids:
            examples.append(Example(None, text.encode(), f"{name}: decodes to {safe(decoded, limit=60)}"))
    if not tried:
        return Finding("no text is encoded whole")
    observed = some(len(examples), "text", f"of {tried} with other ids the second time")
    return Finding(observed, share(len(examples), tried), examples)


def unknown(seen: Survey) -> Finding:
    """Check for built-in scripts with characters that become unknown tokens, are dropped, or are refused. The
    value is the share of such scripts."""
    rows = list(_lacking(seen.tokenizer))
    examples = [Example(None, text.encode(), f"{name}: {part:.0%} of its characters")
             for name, text, part in rows if part]
    if not examples:
        return Finding(f"all {len(rows)} scripts are encoded without unknown tokens", 0)
    examples.sort(key=lambda example: example.note)
    observed = some(len(examples), "script", f"of {len(rows)} with characters that the vocabulary lacks")
    return Finding(observed, share(len(examples), len(rows)), examples)


def _lacking(tokenizer: Tokenizer) -> Iterator[tuple[str, str, float]]:
    """Yield (name, text, share of unknown, dropped or refused characters) for each script."""
    for name, text in SCRIPTS:
        encoding = encoded(tokenizer, text)
        if encoding is None:
            yield name, text, 1.0
            continue
        letters = {at for at, character in enumerate(text) if not character.isspace()}
        known = (span for n, span in enumerate(encoding.offsets) if n not in encoding.unknown)
        lacks = len(letters - {at for start, end in known for at in range(start, end)})
        yield name, text, share(lacks, len(letters))


def forms(seen: Survey) -> Finding:
    """Check for texts whose composed and decomposed forms (NFC and NFD) have different ids. Texts that are
    refused or unknown in both forms are not tried."""
    examples, tried = [], 0
    for name, text in (*SCRIPTS, *TEXTS):
        composed, apart = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
        if composed == apart:
            continue
        composed_ids, apart_ids = encoded(seen.tokenizer, composed), encoded(seen.tokenizer, apart)
        if composed_ids is None or apart_ids is None:
            continue
        if len(composed_ids.unknown) == len(composed_ids.ids) == len(apart_ids.unknown) == len(apart_ids.ids):
            continue
        tried += 1
        if composed_ids.ids != apart_ids.ids:
            note = f"{name}: {len(composed_ids)} tokens composed, {len(apart_ids)} decomposed"
            examples.append(Example(None, text.encode(), note))
    if not tried:
        return Finding("no text with two forms is encoded")
    return Finding(some(len(examples), "text", "with other ids when decomposed"), len(examples), examples)


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")
