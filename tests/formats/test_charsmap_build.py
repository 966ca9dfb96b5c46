"""sentencepiece's rules of normalization as they are written: they do what the normalizer does, to every
character."""

from __future__ import annotations

import random
import unicodedata

import pytest

from tokentui.formats.sentencepiece.charsmap import Charsmap, rules_of
from tokentui.formats.source import Node
from tokentui.formats.spec import Unsupported
from tokentui.text.normalize import normalize, squeeze

PIECES = [chr(code) for code in range(1, 0x3400, 7)]
PIECES += list("Ae\u0301\u0323\u0308か\u3099\u1100\u1161\u11a8\uffa1\0Ａ\U0001d400ΣİÅ") * 20


def applied(rules: Charsmap, text: str) -> str:
    """A text after the longest rule at each place."""
    data, at, out = text.encode(), 0, b""
    while at < len(data):
        rule = next(reversed(rules.matches(data, at)), None)
        length = (
            rule[0]
            if rule
            else next(n for n in range(1, 5) if at + n == len(data) or data[at + n] & 0xC0 != 0x80)
        )
        out += rule[1] if rule else data[at : at + length]
        at += length
    return out.decode()


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("steps", [("nmt-nfkc",), ("nmt-nfkc", "lowercase"), ("lowercase",)])
def test_the_rules_do_what_the_steps_do(steps: tuple[str, ...]) -> None:
    blob, squeezes = rules_of(steps)
    rules = Charsmap(blob, Node(None, "rules"))
    draw = random.Random(7)
    texts = [chr(code) for code in range(1, 0x30000, 31) if not 0xD800 <= code < 0xE000]
    texts += ["\u33ff", "\u3300", "\u03ff", "\u0100"]  # at the borders of blocks of 256
    texts += ["".join(draw.choices(PIECES, k=draw.randint(2, 6))) for _ in range(800)]
    for _ in range(300):
        composed = chr(draw.randint(0xAC00, 0xD7A3)) + chr(draw.randint(0xC0, 0x24F))
        texts.append(unicodedata.normalize("NFD", composed))
    for text in texts:
        made = applied(rules, text)
        assert (squeeze(made) if squeezes else made) == normalize(text, steps), ascii(text)


def test_no_steps_are_no_rules_and_others_are_refused() -> None:
    assert rules_of(()) == (b"", False)
    with pytest.raises(Unsupported, match="normalizes with nfc"):
        rules_of(("nfc",))


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("steps", [("nmt-nfkc",), ("nmt-nfkc", "lowercase"), ("lowercase",)])
def test_text_is_plain_where_no_rule_matches_at_any_place_of_it(steps: tuple[str, ...]) -> None:
    rules = Charsmap(rules_of(steps)[0], Node(None, "rules"))
    plain = [chr(code) for code in range(128) if rules.plain.fullmatch(chr(code))]
    assert set("a9.") <= set(plain)
    assert not rules.plain.fullmatch("e\u0301")
    for one in plain:
        for other in plain:
            assert not rules.matches((one + other).encode())
    changed = [chr(code) for code in range(128) if rules.matches(bytes((code,)))]
    assert changed
    assert not set(changed) & set(plain)
