"""Check what is written: read it back, compare encodings on many texts, and report what a format cannot
represent.

The texts cover all scripts, what users paste, and known difficult cases; and every token of the vocabulary,
alone and among others.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tokentui.core.errors import TokentuiError, nearest
from tokentui.core.jobs import check, silent, tick
from tokentui.core.records import dataclass
from tokentui.core.safetext import SURROGATE, to_bytes, visible
from tokentui.encode.batch import encode_batch
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.segment import UNKNOWN
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import ASPECTS, OWN, Format, Holds, recognized
from tokentui.formats.source import source_of
from tokentui.formats.spec import Fitted, Loss, Spec, Unsupported, pattern_of
from tokentui.recipe import Recipe
from tokentui.text.normalize import normalize
from tokentui.text.pretokenize import MARKS, UNITS
from tokentui.text.split import SPLITS


@dataclass(frozen=True, slots=True)
class ExportReport:
    """A report on writing a tokenizer in a file format.

    Attributes:
        format: The name of the format.
        about: A short description of the format.
        files: The usual name of its file, or the names of its files.
        losses: What the format cannot represent.
        refused: Why it is not written; empty if it is.
        checked: The number of texts for which the written file gave equal results; 0 if it was not tested.
        accept: The name of the loss that must be accepted to write it; empty if it is written, or cannot be.
    """

    format: str
    about: str
    files: tuple[str, ...]
    losses: tuple[Loss, ...] = ()
    refused: str = ""
    checked: int = 0
    accept: str = ""


def check_export(spec: Spec, format: Format) -> ExportReport:
    """Return a report on a tokenizer in a format without writing or testing. Losses that only testing shows
    are missing."""
    return _fitted(spec, format)[0]


def contents(
    tokenizer: Tokenizer, format: Format, accept: Collection[str] = ()
) -> tuple[ExportReport, tuple[bytes, ...]]:
    """Return the report of an export and the bytes of its files; no bytes if the report refuses the export.

    Args:
        tokenizer: The tokenizer.
        format: The format.
        accept: The names of losses to write it in spite of. Those of `BLOCKING` keep it from being written
            otherwise; others are only reported.

    Raises:
        TokentuiError: A name in `accept` is no loss of this export.
        Cancelled: The job is cancelled.
    """
    report, files = _contents(Spec(tokenizer), format, accept)
    known = dict.fromkeys([*(loss.what for loss in report.losses), *BLOCKING])
    for name in accept:
        if name not in known:
            what = f"{format.name} has no such loss"
            raise TokentuiError(what, f"accept {name!r}", nearest(name, known))
    return report, files


def _contents(
    spec: Spec, format: Format, accept: Collection[str]
) -> tuple[ExportReport, tuple[bytes, ...]]:
    """Return the report on an export and the files to write, none if it is refused.

    The files are read back, and texts are encoded and decoded by both tokenizers. A difference refuses the
    export, unless `accept` has its aspect.
    """
    report, fitted = _fitted(spec, format, accept)
    if fitted is None:
        return report, ()
    try:
        files = format.codec.write(fitted)
        if format is OWN and not spec.file.format:
            return report, files  # it says all of what was trained here
        source = source_of(format.files, files, spec.recipe.split if format.needs_split else "")
        if recognized(source) is not format:
            return replace(report, refused="the file would not be recognized for what it is"), ()
        back = format.codec.read(source)
    except UnicodeEncodeError:
        return replace(report, refused="a token contains a lone surrogate, which has no UTF-8"), ()
    except TokentuiError as error:
        return replace(report, refused=f"the written file could not be read: {error}"), ()
    trial = _Trial(spec, fitted, back, format)
    difference, texts = trial.encoded()
    losses = report.losses
    if difference is not None:
        theirs, ours = _shown(difference.theirs), _shown(difference.ours)
        what = f"{difference.text[:60]!r} as {theirs}, not as {ours}"
        if _ENCODING not in accept:
            return replace(report, refused=f"it would encode {what}", checked=texts, accept=_ENCODING), ()
        losses += (Loss(_ENCODING, "some texts are encoded otherwise", what),)
        texts = 0
    if spec.came_from(format.name) and back.encoder.around != (spec.before, spec.after):
        losses += (Loss(_AROUND, "readers add other tokens around a text", _around(spec) or "none here"),)
    if spec.came_from(format.name) and (names := {*spec.specials} ^ {*back.vocabulary.specials}):
        aspect = EXAMPLES["specials"].what
        losses += (Loss(aspect, "readers take other tokens for special ones", min(names)[:40]),)
    if format.says_text and (other := trial.decoded()):
        example = f"{other.theirs[0][:40]!r}, not {other.ours[0][:40]!r}"
        losses += (Loss("decoding", "a text may come back otherwise", example),)
    return replace(report, losses=losses, checked=texts), files


def _fitted(
    spec: Spec, format: Format, accept: Collection[str] = ()
) -> tuple[ExportReport, Fitted | None]:
    """Convert a tokenizer to a format. Return the report with its losses, and the converted tokenizer, or
    None if the report has a reason to refuse."""
    report = ExportReport(format.name, format.about, format.files)
    own = spec.came_from(format.name)  # what its file did not say is not lost on the way
    rules = () if own or format.holds.normalize else spec.recipe.normalize
    try:
        if not own:
            check_holds(format.holds, spec.recipe, spec.way)
        fitted = format.codec.to_format(spec)
    except TokentuiError as error:
        return replace(report, refused=error.what + (f" ({error.hint})" if error.hint else "")), None
    if rules:
        if _NORMALIZER not in accept:
            why = f"it normalizes text with {','.join(rules)} (the format cannot store it)"
            return replace(report, refused=why, accept=_NORMALIZER), None
        lost = EXAMPLES["normalize"]
        changed = functools.partial(_is_changed, rules, spec.recipe.unicode)
        fitted.lose(lost.what, lost.consequence, lost.example(spec), changed)
    for aspect in () if own else (EXAMPLES[name] for name in ASPECTS if name not in format.keeps):
        if example := aspect.example(spec):
            excuse = functools.partial(aspect.differs, spec) if aspect.differs else None
            fitted.lose(aspect.what, aspect.consequence, example, excuse)
    return replace(report, losses=tuple(fitted.losses)), fitted


def _is_changed(rules: tuple[str, ...], unicode: str, text: str) -> bool:
    return normalize(text, rules, unicode) != text


# --- what a format can represent ---


def check_holds(holds: Holds, recipe: Recipe, way: str) -> None:
    """Raise for a recipe that a format cannot represent.

    Args:
        holds: The recipes that the format can represent.
        recipe: The recipe.
        way: The way of encoding, as in `Spec.way`.

    Raises:
        Unsupported: The format cannot represent the recipe.
    """
    if holds.ways and way not in holds.ways:
        ways = " or ".join(holds.ways).replace("-", " ")
        raise Unsupported(f"it is encoded with {way.replace('-', ' ') or 'its own rule'}", "",
                      f"this format: {ways}")
    marked = not holds.marks or recipe.mark in holds.marks or recipe.mark_kind in holds.marks
    if not marked or (holds.units and recipe.unit not in holds.units):
        hint = f"the format's are {'s or '.join(holds.units or ['any unit'])}s" + (
            f" with mark={' or '.join(holds.marks)}" if holds.marks else "")
        raise Unsupported(f"its units are {recipe.unit}s with mark={recipe.mark}", "", hint)
    if holds.splits and recipe.split not in holds.splits:
        raise Unsupported(f"it splits text with split={recipe.split}", "",
                      f"the format knows {' and '.join(holds.splits)}")
    if holds.pattern:
        pattern_of(recipe)


# --- what a format loses of any tokenizer ---


class Aspect(NamedTuple):
    """An aspect of a tokenizer that a format may lose.

    Attributes:
        what: Its name.
        consequence: The consequence of its loss.
        example: Returns an example from a tokenizer; empty if the tokenizer does not have the aspect.
        differs: Returns True if its loss changes the encoding of a text; None if it changes none.
    """

    what: str
    consequence: str
    example: Callable[[Spec], str]
    differs: Callable[[Spec, str], bool] | None = None


_NAMED = 5


def _visible(piece: bytes) -> str:
    return "".join(span.text for span in visible(piece))


def _counts(spec: Spec) -> str:
    """Say which count the first merge had, "" if no merge has one: an example of what a format drops."""
    vocabulary = spec.vocabulary
    if not any(vocabulary.counts[: spec.tokenizer.merges]):
        return ""
    parts = " + ".join(_visible(vocabulary.pieces[symbol]) for symbol in vocabulary.merges[0])
    return f"{parts} had count {vocabulary.counts[0]:,}"


def _recipe(spec: Spec) -> str:
    recipe, imported = spec.recipe, spec.vocabulary.imported
    return "" if imported else f"objective={recipe.objective}, tie={recipe.tie}, base={recipe.base}"


def _merges(spec: Spec) -> str:
    if not spec.merges:
        return ""
    *parts, result = map(_visible, spec.merges[0])  # a step may join other than two parts
    return f"{' + '.join(parts)} = {result}"


def _around(spec: Spec) -> str:
    return " ".join([*spec.before, "…", *spec.after]) if spec.before or spec.after else ""


def _specials(spec: Spec) -> str:
    names = list(spec.specials)
    return " ".join(names[:_NAMED]) + " …" * (len(names) > _NAMED)


def _most(spec: Spec) -> int | None:
    """Return the most characters of a word that is encoded; None for no limit."""
    return None if UNKNOWN.of(spec.recipe.unknown).never_unknown else spec.encoder.way.most


def _limit(spec: Spec) -> str:
    most = _most(spec)
    return "" if most is None else f"those of more than {most} characters are given up here"


def _extra(name: str) -> Callable[[Spec], str]:
    """Return a function that returns the example of an aspect in the file of a tokenizer, such as flags of
    added tokens."""
    return lambda spec: spec.file.extras.get(name, "")


_AROUND = "around"
_NORMALIZER = "normalizer"
_ENCODING = "encoding"
BLOCKING = (_ENCODING, _NORMALIZER)
"""The losses that keep a file from being written, unless they are accepted: some texts are encoded otherwise
and no other loss explains it; the format cannot store how text is normalized."""
EXAMPLES: Mapping[str, Aspect] = {
    "counts": Aspect("counts", "the count of each pair when it was merged is not kept", _counts),
    "recipe": Aspect("recipe", "the training recipe is not kept", _recipe),
    "what_if": Aspect(
        "what_if", "a run that learns these merges again needs the same changes",
        lambda spec: " ".join(spec.recipe.what_if[:_NAMED]) + " …" * (len(spec.recipe.what_if) > _NAMED),
    ),
    "symbols": Aspect(
        "symbols", "they are found only where special tokens are allowed",
        lambda spec: " ".join(spec.recipe.symbols[:_NAMED]),
        lambda spec, text: any(word in spec.recipe.symbols for word in spec.pretokenizer.words(text)),
    ),
    "space": Aspect(
        "a leading space", "set it before a text is encoded, or leave it out",
        lambda spec: {None: "", True: "with", False: "without"}[spec.recipe.prefix_space],
    ),
    "merges": Aspect("merges", "the parts of a token are not kept", _merges),
    "split": Aspect(
        "pattern", "the file does not store the split: name it when you read the file",
        lambda spec: f"-s split={spec.recipe.split}",
    ),
    "normalize": Aspect(
        _NORMALIZER, "text must be normalized before it is encoded",
        lambda spec: ",".join(spec.recipe.normalize),
    ),
    "specials": Aspect("specials", "the file does not name them: name them where it is read", _specials),
    "around": Aspect(_AROUND, "no tokens are added around a text", _around),
    "flags": Aspect("added tokens", "their flags are not kept", _extra("flags")),
    "dropout": Aspect("dropout", "it is not kept", _extra("dropout")),
    "lengths": Aspect("lengths", "they are not kept", _extra("lengths")),
    "limit": Aspect(
        "long words", "words of any length are encoded", _limit,
        lambda spec, text: any(len(word) > (_most(spec) or 0) for word in spec.pretokenizer.words(text)),
    ),
}
"""The aspects by the names in `ASPECTS`."""


# --- the texts ---

TEXTS: tuple[str, ...] = (
    "", "a", " ", "  ", "\n", "\t", " a", "a ", "a \n  ", "\r\n a\r\n",
    "  two  spaces,\ttabs\t\tand\n\nempty lines \n at the end  ",
    "The crowd in the street did not hear him.",
    "I'll say it's what they've said: WE'RE late, aren't we? DON'T 'S ’s",
    "Hello, world! (well) [x] {y} <z> “q” „r“ «s» … — – ‐ - _ / \\ | @#$%^&*+=~`",
    "1234567 3.14 2026-11-05 +49 (0)30 1,000,000.00 0x1F 1e-9 ½ ² ³ ¹ ¼ ¾ Ⅷ ⅻ ① ٣٤ १२३ 四五 １２３", "7" * 40,
    "a1b22c333d4444",
    "def f(x):\n    return {k: v[0] for k, v in x.items()}  # done\n",
    "if (x) {\n\t\treturn  y;\n    }\n\n\n",
    "SELECT * FROM t WHERE a='b' -- c", "https://example.org/?q=a%20b&c=d#e @user #tag name@example.org",
    "The quick brown fox", "naïve café Ångström ÀÉÎõü ÇĞİıŞ ß ẞ ǅ ﬁ ŉ",
    "Saunapolulla käveltiin hiljaa; İstanbul'da vapur ığdır",
    "Съешь ещё этих мягких французских булок", "ΑΣς ΣΑΣ ἀνθρώπῳ", "في المخبز خبزٌ طازج كلَّ صباح ﷺ",
    "שלום עולם",
    "आख़िरी बस छूट गई, क्या करें?", "ไทย ខ្មែរ မြန်မာ ქართ አማ བོད", "தமிழ் తెలుగు മലയാളം বাংলা ગુજરાતી",
    "雨の日の図書館で、傘を忘れた。ｶﾞｷﾞ ㌀ ㍿", "修钟表的人说：“时间不等人”。",
    "옥상 텃밭에 상추를 심었다 각 \u1100\u1161\u11a8",
    "👩‍👩‍👧 🇫🇮🇹🇷 👍🏽 ok 🙃🙃🙃 ☺️ ❤️‍🔥 🏴󠁧󠁢󠁥󠁮󠁧󠁿", "cafe\u0301 e\u0301\u0323 e\u0323\u0301 Å A\u030a o\u0308\u0304",
    "\u2028\u2029\u00a0\u3000\u0085\u200b\u200c\u200d\ufeff\u00ad x", "a\u200bb\u2581c ▁▁x▁ ▁",
    "\u202eabc\u202c",
    "\x00\x01\x07\x0b\x0c\x1b[31m\x7f\x80\x9f", "\x1c\x1d\x1e\x1f a", "\ufffd \uffff \U0001ffff \U0010ffff",
    "\U00010400\U0001d400𝓗ꙮ",
    "</w> ## ##ing @@ \\1 <0x41> <unk> [UNK] <s>", "lowest newest widest", "hug pug pun bun hugs",
    "aaabdaaabac", "abracadabra",
    "ooooooooo", "aaaaa" * 8, "zzzz" * 60, "Ａ１²½", "don't can't won't", "x" * 130 + " b", "ab" * 70,
    "#version: 0.2",
    "\udcff\udcfe a\udc80b", "caf\udce9", "é" * 30 + "🤗" * 5, "mixed 日本語 and English и русский ١٢٣",
)
"""Texts that every written file is tested with. Bytes that are not UTF-8 are lone surrogates."""

_LONG = 24
_LONGEST_WORD = 10_000
_FIRST, _AT_ONCE = 16, 1024
"""The sizes of the first batch of texts and of later ones. Most differences show in the first texts."""
_SINGLY = 6000
"""Vocabularies up to this size are also tested token by token."""


class EncodingDifference(NamedTuple):
    """A text and its two encodings."""

    text: str
    ours: tuple[str, ...]
    theirs: tuple[str, ...]


def probes(spec: Spec) -> Iterator[str]:
    """Yield the test texts for a tokenizer."""
    yield from TEXTS
    words = [_typed(entry.piece, spec) for entry in spec.ordinary if entry.kind != "byte"]
    listed = [word for word in dict.fromkeys([*words, *spec.specials]) if word]
    most = _most(spec)
    if most is not None and most <= _LONGEST_WORD:  # one that is not given up, and one that is
        letter = next((word for word in listed if len(word) == 1), "x")
        yield f"{letter * most} {letter * (most + 1)}"
    together = 64 if len(listed) <= _SINGLY else 2048
    for joint, every in ((" ", 1), ("", 1 if len(listed) <= _SINGLY else 8)):
        for at in range(0, len(listed), together * every):
            yield joint.join(listed[at : at + together])
    if len(listed) <= _SINGLY:
        yield from listed
        yield from (f"x{word}y {word}" for word in listed)


def _typed(piece: bytes, spec: Spec) -> str:
    """Return the text to type for a token, without its marks."""
    mark = to_bytes(spec.recipe.mark_text)
    if mark and len(piece) > len(mark):
        piece = piece.removeprefix(mark) if MARKS.of(spec.recipe.mark).in_front else piece.removesuffix(mark)
    text = piece.decode("utf-8", "surrogateescape")
    return text.replace("▁", " ") if SPLITS.of(spec.recipe.split).marks_spaces else text


class _Trial:
    """Compares the written tokenizer with the one that was read back, on equal texts.

    A text is skipped if it cannot be encoded, if a reported loss explains its difference, if it has unknown
    units and these cannot be kept, or if it has bytes that are not UTF-8, neither side has units of bytes,
    and the programs of the format cannot be given such a text.

    Args:
        spec: The tokenizer.
        fitted: The converted tokenizer, with its losses.
        back: The tokenizer that was read back.
        format: The format. If its file does not determine how a text is normalized and split, `spec` does
            both.
    """

    def __init__(self, spec: Spec, fitted: Fitted, back: Tokenizer, format: Format) -> None:
        self._spec, self._fitted, self._back = spec, fitted, back
        self._texts_only = not format.takes_bytes and not UNITS.of(spec.recipe.unit).is_byte
        other = None if format.says_text else spec.pretokenizer
        self._encoders = spec.encoder, WordEncoder(back.vocabulary, back.merges, pretokenizer=other)
        self._becomes = None if fitted.keeps_ids else _renumbered(spec, back)

    def encoded(self) -> tuple[EncodingDifference | None, int]:
        """Compare encodings. Return the first difference, or None, and the number of texts tried.

        The difference is that of a part of the text, as short as could be found.
        """
        texts = list(probes(self._spec))
        tried = 0
        for start, end in itertools.pairwise((0, *range(_FIRST, len(texts), _AT_ONCE), len(texts))):
            tick(start, len(texts))
            block = [text for text in texts[start:end] if not self._skips(text)]
            with silent():
                for text, same in zip(block, self._quickly_same(block), strict=True):
                    check()
                    tried += 1
                    if not same and (difference := self._difference(text)):
                        return (self._shorter(text) or difference), tried
        return None, tried

    def decoded(self) -> EncodingDifference | None:
        """Compare decoded texts. Return the first difference, or None; always None if ids changed."""
        for text in itertools.islice(TEXTS, 40 if self._fitted.keeps_ids else 0):
            try:
                ids = self._spec.tokenizer.encode(text).ids
                ours, theirs = self._spec.tokenizer.decode(ids), self._back.decode(ids)
            except TokentuiError:
                continue
            if None not in ids and ours != theirs and not self._skips(text):
                return EncodingDifference(text, (ours,), (theirs,))
        return None

    def _skips(self, text: str) -> bool:
        return (self._texts_only and SURROGATE.search(text) is not None) or self._fitted.excused(text)

    def _quickly_same(self, texts: Sequence[str]) -> list[bool]:
        """Return, for each text, whether its ids are certainly equal: a fast comparison without places."""
        try:
            ours, theirs = ([one.ids for one in encode_batch(side, texts)] for side in self._encoders)
        except TokentuiError:
            return [False] if len(texts) == 1 else [self._quickly_same([text])[0] for text in texts]
        if (becomes := self._becomes) is not None:
            ours = [tuple([becomes.get(number) for number in ids]) for ids in ours]
            return [our == their and None not in our for our, their in zip(ours, theirs, strict=True)]
        return [our == their for our, their in zip(ours, theirs, strict=True)]

    def _difference(self, text: str) -> EncodingDifference | None:
        """Return the two encodings of a text if they differ and no reported loss explains it; else None."""
        try:
            want = self._encoders[0].encode(text)
        except TokentuiError:
            return None  # it has no encoding that could be kept
        if want.unknown and not self._fitted.keeps_unknown:
            return None
        try:
            got = self._encoders[1].encode(text)
        except TokentuiError as error:
            return EncodingDifference(text, want.tokens, (str(error),))
        same = want.ids == got.ids if self._fitted.keeps_ids else want.pieces == got.pieces
        return None if same else EncodingDifference(text, want.tokens, got.tokens)

    def _shorter(self, text: str) -> EncodingDifference | None:
        """Return the difference of a part of a text, made as short as possible by halving and trimming.

        None if no shorter part differs.
        """
        shorter = None
        while len(text) > 1:
            half, quarter = len(text) // 2, len(text) // 4
            halves = (text[:half], text[half:], text[quarter : quarter + half]) if len(text) > _LONG else ()
            for part in (*halves, text[1:], text[:-1]):
                if not (self._skips(part) or self._quickly_same([part])[0]) and (
                    difference := self._difference(part)
                ):
                    text, shorter = part, difference
                    break
            else:
                break
        return shorter


def _renumbered(spec: Spec, back: Tokenizer) -> dict[int | None, int]:
    """Return the id after reading back of each token with a unique spelling, by its id before."""
    theirs: dict[bytes, int] = {}
    for entry in back.entries():
        theirs[entry.piece] = -1 if entry.piece in theirs else entry.id
    return {entry.id: theirs[entry.piece] for entry in spec.ordinary if theirs.get(entry.piece, -1) >= 0}


def _shown(parts: Sequence[str]) -> str:
    """Return tokens in a short form."""
    return " ".join(repr(part) for part in parts[:6]) + (" …" if len(parts) > 6 else "")
