"""The texts that tokenizers of other tools are compared on: every script, emoji, runs of white space, code, malformed bytes."""

from __future__ import annotations

from peers import CORPORA, PROBES, text

_HARD = (
    "\r\n a\t\u00a0b\u3000c\u2028d\x85e", "e\u0301\u0323 ﬁ Ａ１²½ ㍿ ㌀", "a\u200bb\u2581c ▁▁x▁ ▁", "각 \u1100\u1161\u11a8",
    "  x", "x  ", "\n", " ", "  ", "\t", "<s>a</s> [MASK] <|endoftext|>x<pad><unk><0x41>", "[CLS] don't [SEP] ##able",
    "the house ooooooo run hahahahaha q" * 5, "ÀÉÎõü ÇĞİıŞ ΑΣς ΣΑΣ ß ẞ ǅ", "１２３ ٠١٢ १२३ 四五 Ⅻ ①",
    "1,000,000.00 1'000 0x1F 1e-9",
    "\u202eabc\u202c \ufeffx\ufeff \u00ad \u200d\u200c", "🏴󠁧󠁢󠁥󠁮󠁧󠁿 👨‍👩‍👧‍👦 ☺️ ❤️‍🔥 🇦🇧🇨", "\x00\x01\x07\x1b[31m", "zzzz" * 60,
    "a" * 130 + " b",
    "http://example.org/?q=a%20b&c=d#e @user #tag", "don't I'LL we'Ve 'S ’s", "\U00010400\U0001d400\U000e0001 \ufdfa \uffff",
    "if (x) {\n\t\treturn  y;\n    }\n\n\n", "SELECT * FROM t WHERE a='b' -- c", "…—–“”„«»‹›¡¿", "नमस्ते ไทย ខ្មែរ မြန်မာ ქართ አማ",
)


def _lines() -> list[str]:
    """Some lines of each corpus, and the beginning of each as a whole."""
    found: list[str] = []
    for name in CORPORA:
        whole = text(name)
        found += [line for line in whole.split("\n") if line][:12]
        found.append(whole[:600])
    return found


TEXTS: tuple[str, ...] = tuple(dict.fromkeys([*PROBES, *_HARD, *_lines()]))
"""Each text once; more than 200."""
