"""Words of scripts whose characters are drawn together, and of emoji that are joined."""

from __future__ import annotations

SCRIPTS = {
    "devanagari": "हिन्दी भाषा",
    "bengali": "বাংলা ভাষা",
    "tamil": "தமிழ் மொழி",
    "telugu": "తెలుగు భాష",
    "thai": "ภาษาไทย กำลังที่",
    "khmer": "ភាសាខ្មែរ ស្ត្រី",
    "burmese": "မြန်မာ ဘာသာ မြို့",
    "arabic": "اللُّغَةُ العَرَبِيَّة",
    "hebrew": "שָׁלוֹם עֲלֵיכֶם",
    "hangul": "\u1112\u1161\u11ab\u1100\u116e\u11a8 한국",
    "sinhala": "ශ්\u200dරී ලංකා",
    "malayalam": "മലയാളം ക്ഷ",
    "persian": "می\u200cخواهم خانه\u200cها",
    "decomposed": "cafe\u0301 na\u0131\u0308ve",
}
"""A name of a script and words of it."""
EMOJI = {
    "joined": "👩🏽\u200d🚀 👨\u200d👩\u200d👧\u200d👦",
    "tones": "👍🏽 ☝🏽",
    "flags": "🇩🇪🇮🇳 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "keycaps": "1\ufe0f\u20e3#\ufe0f\u20e3",
    "selected": "❤\ufe0f ↩\ufe0e",
    "gendered": "⛹🏽\u200d♀\ufe0f",
}
TRICKS = {
    "pass\u200bword": "\u200b", "pass\u200cword": "\u200c", "pass\u200dword": "\u200d", "a\u200d": "\u200d",
    "👩\u200d": "\u200d", "\u200d👩": "\u200d", "©\u200d©": "\u200d", "1\ufe0f2": "\ufe0f",
    "a\ufe0f": "\ufe0f",
    "क्\u200d": "\u200d", "د\u200cی": "\u200c", "\u202eabc": "\u202e", "a\u2066b": "\u2066",
    "🏴\U000e0041\U000e007f": "\U000e0041", "語\U000e0100": "\U000e0100", "\u1100\u1160": "\u1160",
    "soft\u00adhyphen": "\xad", "a\u034f": "\u034f", "\ufeffx": "\ufeff", "👩\u200d" * 9 + "👩": "\u200d",
}  # fmt: skip
"""Texts with something that is seen nowhere, and what it is."""
