"""The texts that tokenizers of other tools are compared on: every script, emoji, runs of whitespace, code,
malformed bytes."""

from __future__ import annotations

import unicodedata

from peers import CORPORA, PROBES, text

_HARD = (
    "\r\n a\t\u00a0b\u3000c\u2028d\x85e", "e\u0301\u0323 ﬁ Ａ１²½ ㍿ ㌀", "a\u200bb\u2581c ▁▁x▁ ▁",
    "각 \u1100\u1161\u11a8", "  x", "x  ", "\n", " ", "  ", "\t",
    "<s>a</s> [MASK] <|endoftext|>x<pad><unk><0x41>", "[CLS] don't [SEP] ##able",
    "the house ooooooo run hahahahaha q" * 5, "ÀÉÎõü ÇĞİıŞ ΑΣς ΣΑΣ ß ẞ ǅ", "１２３ ٠١٢ १२३ 四五 Ⅻ ①",
    "1,000,000.00 1'000 0x1F 1e-9",
    "\u202eabc\u202c \ufeffx\ufeff \u00ad \u200d\u200c", "🏴󠁧󠁢󠁥󠁮󠁧󠁿 👨‍👩‍👧‍👦 ☺️ ❤️‍🔥 🇦🇧🇨",
    "\x00\x01\x07\x1b[31m", "zzzz" * 60,
    "a" * 130 + " b",
    "http://example.org/?q=a%20b&c=d#e @user #tag", "don't I'LL we'Ve 'S ’s",
    "\U00010400\U0001d400\U000e0001 \ufdfa \uffff", "if (x) {\n\t\treturn  y;\n    }\n\n\n",
    "SELECT * FROM t WHERE a='b' -- c", "…—–“”„«»‹›¡¿", "नमस्ते ไทย ខ្មែរ မြန်မာ ქართ አማ",
)
_RUNS = tuple(
    one * times
    for one in ("-", "=", " ", "\n", "a", "0", "ha", "。", "🙂", "\t ", " \n")
    for times in (7, 20, 61)
)
"""Runs, of which the segmentations are many and as good as equal: rounding decides there."""
_PUBLISHED = (
    "the cat sat on the mat with the hat", "sailor sails the seven seas to see the sea",
    "hug pug pun bun hugs", "halo alohomora balo", "unassumingness misshapenness",
    "how much wood would a woodchuck chuck if a woodchuck could chuck wood", "aaabdaaabac",
    "low lower newest widest", "Call me Ishmael. Some years ago", " Việt", "1234567", "a  b", ".:.:",
    "SolidGoldMagikarp",
)
"""What documents on tokenizers show."""


def _lines() -> list[str]:
    """Some lines of each corpus, and the beginning of each as a whole."""
    found: list[str] = []
    for name in CORPORA:
        whole = text(name)
        found += [line for line in whole.split("\n") if line][:12]
        found.append(whole[:600])
    return found


TEXTS: tuple[str, ...] = tuple(
    dict.fromkeys(
        [
            *PROBES, *_HARD, *_RUNS, *_PUBLISHED, *_lines(),
            *(unicodedata.normalize("NFD", one) for one in (*PROBES, *_HARD)),
        ]
    )
)
"""Each text once; more than 250."""

FEW: tuple[str, ...] = (
    *PROBES, *_HARD, *_RUNS[::5], *_PUBLISHED[::3], *(text(name)[:60] for name in CORPORA),
)
"""Some of them, for what is compared many times."""

BROKEN: tuple[bytes, ...] = (
    b"\xff\xfeab", b"ab\xe2\x96", b"\xed\xa0\x80 x\xc0\x80\xf8\x88", b" \x80 \x80", b"\xe2\x96\x81\xe2\x96",
    b"\xf0\x9f\x99", b"caf\xe9 cr\xe8me", b"\x80" * 40, b"a\xc3(b\xe2\x82(c",
)
"""Bytes that are not UTF-8, for libraries that take bytes."""
