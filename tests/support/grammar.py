"""The sequences that the program itself may send to a terminal, and nothing else."""

from __future__ import annotations

import base64
import re
import unicodedata

_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
    "\ufdd0-\ufdef\ud800-\udfff\ue000-\uf8ff\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
)
"""What no terminal may get, in words of our own: Python's tables say the rest. (U+FFFC and U+FFFD are seen.)
"""
_FORBIDDEN = re.compile(
    "[\0-\x1f\x7f-\x9f" + _UNSEEN.replace("\ufff0-\uffff", "\ufff0-\ufffb\ufffe\uffff") + "]"
)
_PICTURES = "\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_SPELT = ("\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067",
    "\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074",
    "\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073")  # fmt: skip
_JOINS = re.compile(
    rf"(?<=[\xa9\xae\u203c\u2049\u2122\u2139{_PICTURES}])[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    rf"|(?<=[\ufe0f{_PICTURES}])\u200d(?=[{_PICTURES}])|(?<=\U0001f3f4)(?:{'|'.join(_SPELT)})\U000e007f"
)
"""What is not seen itself and changes how an emoji is drawn: within flags, keycaps and what is joined."""
_LETTERS = re.compile("[\u200c\u200d]")
_MODES = "(?:1000|1002|1003|1004|1006|1015|1016|1049|2004|2026|2048|25|7)"
_COLOR = r"(?:[34][0-7]|39|49|9[0-7]|10[0-7]|[34]8;5;\d{1,3}|[34]8;2;\d{1,3};\d{1,3};\d{1,3})"
_ATTRIBUTE = r"(?:[0-4]|7|9|2[1-479]|5[135])"
_OWN = re.compile(
    # but for blinking and concealing
    rf"\x1b\[(?:(?:(?:{_COLOR}|{_ATTRIBUTE})(?:;(?:{_COLOR}|{_ATTRIBUTE}))*)?m"
    r"|(?:\d{1,4}(?:;\d{1,4})?)?H|\d{0,4}[CGX]|(?:\d{1,4};\d{1,4})?r|2J|K|5n"
    rf"|\?{_MODES}[hl]|\?(?:2026|2048)\$p|>\d{{1,2}}u|<u)"
    r"|\x1bM|\x1b\]22;[a-z-]+\x07|[\r\n]"
)
_COPY = re.compile(r"\x1b\]52;c;([A-Za-z0-9+/]*={0,2})\x07")


def is_clean(text: str) -> bool:
    """Whether a terminal may get this text as text: all of it is seen and nothing acts."""
    if text.isprintable() and _FORBIDDEN.search(text) is None:
        return True
    text = _JOINS.sub("", text)
    joiners = list(_LETTERS.finditer(text))
    bare = _LETTERS.sub("", text)
    return (
        bare.isprintable()
        and _FORBIDDEN.search(bare) is None
        and all(_is_seen(text, one.start()) for one in joiners)
    )


def _is_seen(text: str, place: int) -> bool:
    """Whether a joiner changes the letters beside it: behind a virama, or a non-joiner behind a letter that
    joins."""
    before = text[:place]
    if before and unicodedata.combining(before[-1]) == 9:
        return True
    while before and unicodedata.category(before[-1]) == "Mn":  # joining goes through marks of any script
        before = before[:-1]
    letter = before[-1:]
    name = unicodedata.name(letter, "") if letter else ""
    return text[place] == "\u200c" and name.startswith(
        ("ARABIC", "SYRIAC", "MONGOLIAN", "NKO", "MANDAIC", "PHAGS")
    )


def parse(written: bytes | str) -> tuple[str, list[bytes]]:
    """All that was written, read by the grammar.

    Returns:
        The text without its sequences, and what was put on the clipboard.

    Raises:
        AssertionError: There is a sequence, a control or an invisible character that is not ours.
    """
    data = written.decode() if isinstance(written, bytes) else written
    texts: list[str] = []
    copied: list[bytes] = []
    at = 0
    while at < len(data):
        if (own := _OWN.match(data, at)) is not None:
            at = own.end()
        elif (copy := _COPY.match(data, at)) is not None:
            copied.append(base64.b64decode(copy[1], validate=True))
            at = copy.end()
        else:
            end = next((n for n in range(at, len(data)) if data[n] in "\x1b\r\n"), len(data))
            text = data[at:end]
            assert end > at, f"not ours: {data[at : at + 40]!r} after {data[max(0, at - 60) : at]!r}"
            assert is_clean(text), f"not clean: {text[:200]!r}"
            texts.append(text)
            at = end
    return "".join(texts), copied
