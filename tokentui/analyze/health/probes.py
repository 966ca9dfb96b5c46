"""The texts that a tokenizer is tried on: a line of every script, and what is easily lost."""

from __future__ import annotations

SCRIPTS: tuple[tuple[str, str], ...] = (
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

TEXTS: tuple[tuple[str, str], ...] = (
    ("code", "def f(x):\n    return {k: v[0] for k, v in x.items()}  # done\n"),
    ("address", "https://example.org/a%20b?q=1&r=x#y <me@example.org>"),
    ("case", "McDonald's iPhone USB-C OK ok Ok"),
    ("combining marks", "e\u0301 n\u0303 o\u0308\u0323"),
    ("full width", "Ａ１ ｱ ﬁ ㍿ ①"),
    ("marks of tokenizers", "low</w> ##ing ▁x Ġy @@ <0x41>"),
)
"""What is easily changed on the way."""

SPACES: tuple[tuple[str, str], ...] = (
    ("in front", " a"), ("behind", "a "), ("two", "a  b"), ("eight", "a        b"), ("tab", "a\tb"), ("line end", "a\nb"),
    ("empty line", "a\n\nb"), ("line end and space", "a\n    b"), ("carriage return", "a\r\nb"), ("no-break", "a\u00a0b"),
    ("ideographic", "a\u3000b"), ("alone", "   "),
)
"""White space, by what it is."""

CONTROLS: tuple[tuple[str, str], ...] = (
    ("NUL", "a\0b"), ("escape", "a\x1b[31mb"), ("zero width", "a\u200bb"), ("direction", "a\u202eb"), ("replacement", "a\ufffdb"),
)
"""Characters that many normalisers drop."""

NUMBERS = ("7", "42", "365", "1999", "12345", "314159", "1234567", "86753090", "299792458")
"""A number of each length."""
