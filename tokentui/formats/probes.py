"""The texts on which a written file is held against what was to be written, and what comes of it.

They are of all scripts, of what people paste, and of what breaks tokenizers; and every token of the vocabulary, alone and among
others.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tokentui.core import jit
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.encode import NO_ID, Encoding, IdEncoder, WordEncoder, encode
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.body import Body, Fit
from tokentui.text.split import to_bytes

TEXTS: tuple[str, ...] = (
    "", "a", " ", "  ", "\n", "\t", " a", "a ", "a \n  ", "\r\n a\r\n",
    "  two  spaces,\ttabs\t\tand\n\nempty lines \n at the end  ",
    "The crowd in the street did not hear him.", "I'll say it's what they've said: WE'RE late, aren't we? DON'T 'S ’s",
    "Hello, world! (well) [x] {y} <z> “q” „r“ «s» … — – ‐ - _ / \\ | @#$%^&*+=~`",
    "1234567 3.14 2026-11-05 +49 (0)30 1,000,000.00 0x1F 1e-9 ½ ² ³ ¹ ¼ ¾ Ⅷ ⅻ ① ٣٤ १२३ 四五 １２３", "7" * 40, "a1b22c333d4444",
    "def f(x):\n    return {k: v[0] for k, v in x.items()}  # done\n", "if (x) {\n\t\treturn  y;\n    }\n\n\n",
    "SELECT * FROM t WHERE a='b' -- c", "https://example.org/?q=a%20b&c=d#e @user #tag name@example.org",
    "The quick brown fox", "naïve café Ångström ÀÉÎõü ÇĞİıŞ ß ẞ ǅ ﬁ ŉ", "Saunapolulla käveltiin hiljaa; İstanbul'da vapur ığdır",
    "Съешь ещё этих мягких французских булок", "ΑΣς ΣΑΣ ἀνθρώπῳ", "في المخبز خبزٌ طازج كلَّ صباح ﷺ", "שלום עולם",
    "आख़िरी बस छूट गई, क्या करें?", "ไทย ខ្មែរ မြန်မာ ქართ አማ བོད", "தமிழ் తెలుగు മലയാളം বাংলা ગુજરાતી",
    "雨の日の図書館で、傘を忘れた。ｶﾞｷﾞ ㌀ ㍿", "修钟表的人说：“时间不等人”。", "옥상 텃밭에 상추를 심었다 각 \u1100\u1161\u11a8",
    "👩‍👩‍👧 🇫🇮🇹🇷 👍🏽 ok 🙃🙃🙃 ☺️ ❤️‍🔥 🏴󠁧󠁢󠁥󠁮󠁧󠁿", "cafe\u0301 e\u0301\u0323 e\u0323\u0301 Å A\u030a o\u0308\u0304",
    "\u2028\u2029\u00a0\u3000\u0085\u200b\u200c\u200d\ufeff\u00ad x", "a\u200bb\u2581c ▁▁x▁ ▁", "\u202eabc\u202c",
    "\x00\x01\x07\x0b\x0c\x1b[31m\x7f\x80\x9f", "\x1c\x1d\x1e\x1f a", "\ufffd \uffff \U0001ffff \U0010ffff",
    "\U00010400\U0001d400𝓗ꙮ",
    "</w> ## ##ing @@ \\1 <0x41> <unk> [UNK] <s>", "lowest newest widest", "hug pug pun bun hugs", "aaabdaaabac", "abracadabra",
    "ooooooooo", "aaaaa" * 8, "zzzz" * 60, "Ａ１²½", "don't can't won't", "x" * 130 + " b", "ab" * 70, "#version: 0.2",
    "\udcff\udcfe a\udc80b", "caf\udce9", "é" * 30 + "🤗" * 5, "mixed 日本語 and English и русский ١٢٣",
)
"""Texts that every file is tried on. Bytes that are not UTF-8 stand as lone surrogates."""

_LONG = 24
_SINGLY = 6000
"""Vocabularies of up to so many tokens are tried token by token as well."""


class Difference(NamedTuple):
    """A text that is encoded in two ways."""

    text: str
    ours: tuple[str, ...]
    theirs: tuple[str, ...]


def probes(body: Body) -> Iterator[str]:
    """The texts for a tokenizer."""
    yield from TEXTS
    words = dict.fromkeys(_typed(entry.piece, body) for entry in body.ordinary if entry.kind != "byte")
    listed = [word for word in words if word]
    together = 64 if len(listed) <= _SINGLY else 2048
    for joint, every in ((" ", 1), ("", 1 if len(listed) <= _SINGLY else 8)):
        for at in range(0, len(listed), together * every):
            yield joint.join(listed[at : at + together])
    if len(listed) <= _SINGLY:
        yield from listed
        yield from (f"x{word}y {word}" for word in listed)


def _typed(piece: bytes, body: Body) -> str:
    """What one types to get a token: its text without marks."""
    mark = to_bytes(body.recipe.mark_text)
    if mark and len(piece) > len(mark):
        piece = piece.removeprefix(mark) if body.recipe.mark_kind == "prefix" else piece.removesuffix(mark)
    text = piece.decode("utf-8", "surrogateescape")
    return text.replace("▁", " ") if body.recipe.split == "metaspace" else text


def compare(
    body: Body, fit: Fit, back: Tokenizer, pipeline: bool, progress: Callable[[int, int], object] | None = None,
    cancel: Callable[[], bool] | None = None,
) -> tuple[Difference | None, int]:
    """The first text that is encoded otherwise after reading back, None where there is none; and how many were tried.

    Left out is a text that is refused, one that a loss which is told makes differ, and, where unknown units cannot become what
    they became, one that has any.

    Args:
        body: What was to be written.
        fit: How it was written.
        back: What was read back.
        pipeline: Whether the file says how a text is normalised and split; else what was to be written says it for both.
        progress: Called with the texts done and to do.
        cancel: Asked now and then; true stops the call.

    Raises:
        Cancelled: `cancel` said so.
    """
    sides = _Sides(body, fit, back, pipeline)
    texts = list(probes(body))
    jit.ready(sum(map(len, texts)), "encode")
    tried = 0
    for n, text in enumerate(texts):
        if n % 16 == 0:
            if cancel is not None and cancel():
                raise Cancelled
            if progress is not None:
                progress(n, len(texts))
        if fit.excused(text):
            continue
        tried += 1
        if sides.quickly_same(text):
            continue
        difference = sides.difference(text)
        if difference is not None:
            return (sides.shorter(text) or difference), tried
    return None, tried


class _Sides:
    """What was to be written and what was read back, side by side."""

    def __init__(self, body: Body, fit: Fit, back: Tokenizer, pipeline: bool) -> None:
        self._fit = fit
        other = None if pipeline else body.pretokenizer
        self._encoders = body.encoder, WordEncoder(back.vocabulary, back.merges, pretokenizer=other)
        self._quick = tuple(map(IdEncoder, self._encoders))
        self._becomes = None if fit.keeps_ids else _renumbered(body, back)

    def quickly_same(self, text: str) -> bool:
        """Whether the ids are surely the same; the way that says so at once, and nothing where they are not."""
        try:
            ours, theirs = (side.encode(text) for side in self._quick)
        except TokentuiError:
            return False
        if self._becomes is None:
            return ours == theirs
        if len(ours) != len(theirs):
            return False
        return all(self._becomes.get(our, NO_ID) == their != NO_ID for our, their in zip(ours, theirs, strict=True))

    def difference(self, text: str) -> Difference | None:
        """What the two make of a text, where it differs and that is not told."""
        try:
            want = self._encode(0, text)
        except TokentuiError:
            return None  # it has no encoding that could be kept
        if want.unknown and not self._fit.keeps_unknown:
            return None
        try:
            got = self._encode(1, text)
        except TokentuiError as error:
            return Difference(text, want.tokens, (str(error),))
        same = want.ids == got.ids if self._fit.keeps_ids else want.pieces == got.pieces
        return None if same else Difference(text, want.tokens, got.tokens)

    def shorter(self, text: str) -> Difference | None:
        """A part of a text that differs too, as short as halving and trimming make it."""
        found = None
        while len(text) > 1:
            half, quarter = len(text) // 2, len(text) // 4
            halves = (text[:half], text[half:], text[quarter : quarter + half]) if len(text) > _LONG else ()
            for part in (*halves, text[1:], text[:-1]):
                if not self._fit.excused(part) and (difference := self.difference(part)):
                    text, found = part, difference
                    break
            else:
                break
        return found

    def _encode(self, side: int, text: str) -> Encoding:
        encoder = self._encoders[side]
        return encode(encoder.vocabulary, encoder.merges, text, cache=encoder)


def _renumbered(body: Body, back: Tokenizer) -> dict[int, int]:
    """The id that each token has after reading back, of those that no other is spelled like."""
    theirs: dict[bytes, int] = {}
    for entry in back.entries():
        theirs[entry.piece] = -1 if entry.piece in theirs else entry.id
    return {entry.id: theirs[entry.piece] for entry in body.ordinary if theirs.get(entry.piece, -1) >= 0}


def decoded(body: Body, fit: Fit, back: Tokenizer) -> Difference | None:
    """The first text that is decoded otherwise after reading back."""
    if not fit.keeps_ids:
        return None
    for text in itertools.islice(TEXTS, 40):
        try:
            ids = body.tokenizer.encode(text).ids
            ours, theirs = body.tokenizer.decode(ids), back.decode(ids)
        except TokentuiError:
            continue
        if None not in ids and ours != theirs and not fit.excused(text):
            return Difference(text, (ours,), (theirs,))
    return None


def shown(parts: Sequence[str]) -> str:
    """Tokens in a few words."""
    return " ".join(repr(part) for part in parts[:6]) + (" …" if len(parts) > 6 else "")
