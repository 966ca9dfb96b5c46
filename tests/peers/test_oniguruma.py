"""Patterns of Hugging Face's files match what Oniguruma matches, live; what is left is newer than the
library's tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
import regex
import soak
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tokentui.formats.oniguruma import Untranslated, newer, translated
from tokentui.formats.oniguruma import classes as classes_of
from tokentui.text.patterns import find_apart
from tokentui.text.split import SPLITS

pytestmark = pytest.mark.peer
tokenizers = pytest.importorskip("tokenizers")

FIRST = [char for n, char in enumerate(soak.characters()) if char < "\u3000" or n % 4 == 0]
FIRST = sorted({*FIRST, *(chr(code + by) for ends in newer.edges() for code in ends for by in (-1, 0, 1))})
"""A class that is translated wrongly differs at many characters, or where those that the library does not
know begin and end; a soak looks at all.
"""
CHUNK = 20_000
MARK = "\ue000"
"""What stands in place of a match; no text and no pattern here holds it."""


def theirs(pattern: str, characters: list[str]) -> set[str]:
    """The characters that a pattern of one character matches in the library."""
    step = tokenizers.normalizers.Replace(tokenizers.Regex(pattern), "")
    found: set[str] = set()
    for at in range(0, len(characters), CHUNK):
        chunk = characters[at : at + CHUNK]
        found |= set(chunk) - set(step.normalize_str("".join(chunk)))
    return found


def ours(pattern: str, characters: list[str]) -> set[str]:
    """The characters that its translation matches."""
    return set(regex.findall(translated(pattern), "".join(characters)))


def unassigned(characters: Iterable[str]) -> set[str]:
    """Those that the library's version of Unicode does not have yet."""
    return theirs(r"\p{Cn}", list(characters))


CHANGED = {"\u0295"}
"""Characters whose category Unicode has changed since the library's version."""
POSIX = (
    "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
    "xdigit", "word", "ascii",
)
CATEGORIES = (
    "C", "Cc", "Cf", "Co", "L", "LC", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd", "Nl",
    "No", "P", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S", "Sc", "Sk", "Sm", "So", "Z", "Zl", "Zp", "Zs",
)
PROPERTIES = (
    "Alphabetic", "Uppercase", "Lowercase", "White_Space", "ID_Start", "XID_Continue", "Cased", "Dash",
    "ID_Continue", "Variation_Selector", "Hex_Digit", "Ideographic", "Math",
    "Quotation_Mark", "Emoji_Presentation", "Decimal Number", "Greek", "Zyyy",
)
OTHERS = (
    "IDC", "VS", "InCB", "PosixPunct", "PosixDigit", "IsHan", "InGreek", "In_Latin_1", "InNo_Block", "In",
    "Arrows", "Basic_Latin", "V", "inf",
    "Infinity", "nan", "Script=Han", "Grape",
)
"""Names that mean something else in Oniguruma, or nothing, or that the `regex` library fails at."""
CLASSES = (
    r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"\h", r"\H", r"\N", r"\O", ".", "(?m:.)", r"[\w]", r"[\W]",
    r"[^\w\s]", r"[^\W\d_]", r"\p{Word}", r"\P{Word}", r"\p{^Alpha}", r"\p{Letter}", r"\p{uppercase letter}",
    r"\p{Han}", r"\p{Latn}", r"\p{Emoji}", r"\p{Any}",
    *(rf"\p{{{name}}}" for name in (*CATEGORIES, *PROPERTIES, *POSIX)), *(f"[[:{name}:]]" for name in POSIX),
    *(f"[[:^{name}:]]" for name in POSIX), "(?i:[a-z])", r"(?i:[^\p{Lu}])", "(?i:[ıİ])", "(?i:k)", "(?i:ı)",
    "(?i:ς)", r"[\d\h]", r"[^\W\d]", r"[^\D\w]", r"[^\D]", r"[^\w\W]", r"[\W\d]",
    r"\p{InGreek_and_Coptic}", r"\P{in hangul syllables}", r"[^\p{In_Arrows}a]", r"\p{^In_CJK_Compatibility}",
)


OF_UNICODE_16 = r"\\[a-zA-Z]|\[\^?(\\[a-zA-Z]|_)+\]|\[\[:\^?[a-z]+:\]\]|\\[pP]\{Word\}"
"""Classes that are translated for the library's version of Unicode; others go by the `regex` library's."""


@pytest.mark.parametrize("pattern", CLASSES)
@pytest.mark.first_run(cases=22)
def test_classes(pattern: str) -> None:
    check_class(pattern, FIRST)


def check_class(pattern: str, characters: list[str]) -> None:
    different = theirs(pattern, characters) ^ ours(pattern, characters)
    if not re.fullmatch(OF_UNICODE_16, pattern):
        different -= unassigned(different)
    assert different <= CHANGED, sorted(map(hex, map(ord, different)))[:20]


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("pattern", CLASSES)
def test_classes_over_all_characters(pattern: str) -> None:
    check_class(pattern, [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000])


# --- patterns from a grammar ---

SIGNS = "abkssSßAıIiİſKf'x1²_-. \n\r\t\u200d\u200cé中٣\u0301ﬁΣςσǆ"
SINGLE = (
    r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"\h", r"\H", r"\p{L}", r"\P{L}", r"\p{^N}", r"\p{Lu}",
    r"\p{M}", r"\p{P}", r"\p{Han}", r"\p{alnum}", r"\p{Word}", r"\n", r"\x41", r"\x{DF}", r"\u017F",
    r"\u00E9", ".", r"\N", r"\O", r"\R", r"\-", r"\.",
)
PLACES = ("^", "$", r"\A", r"\z", r"\Z", r"\b", r"\B")
POSIX_BRACKETS = (
    "[:alpha:]", "[:^alpha:]", "[:punct:]", "[:space:]", "[:^upper:]", "[:word:]", "[:graph:]", "[:print:]",
    "[:xdigit:]",
)
OPENINGS = ("(", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?m:", "(?-i:", "(?<n>", "(?:(?i)")
REPEATS = (
    "?", "*", "+", "??", "*?", "+?", "?+", "*+", "++", "{2}", "{1,3}", "{1,3}+", "{2}+", "{0,2}?", "{2}?",
    "{,2}", "{3,1}", "{1,}",
)

letters = st.sampled_from([one for one in SIGNS if one not in ".-'\n\r\t "] + ["'", " "])
ends = st.sampled_from("adfszAKZé0123ßﬁ")
ranges = st.tuples(ends, ends).map(lambda pair: "-".join(sorted(pair)))
single = st.one_of(letters, letters, st.sampled_from(SINGLE))


def bracketed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    inside = [one for one in SINGLE if one not in (".", r"\N", r"\O", r"\R")]
    part = st.one_of(letters, ranges, st.sampled_from(inside), st.sampled_from(POSIX_BRACKETS), inner)
    parts = st.lists(st.one_of(part, part, part, st.just("&&")), min_size=1, max_size=5).map("".join)
    return st.tuples(st.sampled_from(["", "", "^"]), parts).map(lambda made: f"[{made[0]}{made[1]}]")


classes = st.recursive(letters, bracketed, max_leaves=3).map(
    lambda one: one if one.startswith("[") else f"[{one}]"
)


def grouped(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    repeated = st.tuples(inner, st.sampled_from(("", "", *REPEATS))).map("".join)
    row = st.lists(st.one_of(repeated, st.sampled_from(PLACES)), min_size=1, max_size=3).map("".join)
    choice = st.lists(row, min_size=1, max_size=3).map("|".join)
    return st.tuples(st.sampled_from(OPENINGS), choice).map(lambda made: f"{made[0]}{made[1]})")


atoms = st.recursive(st.one_of(single, single, classes), grouped, max_leaves=6)
parts = st.one_of(st.tuples(atoms, st.sampled_from(("", *REPEATS))).map("".join), st.sampled_from(PLACES))
branches = st.tuples(
    st.sampled_from(["", "", "", "(?i)"]), st.lists(parts, min_size=1, max_size=3).map("".join)
).map("".join)
patterns = st.lists(branches, min_size=1, max_size=3).map("|".join)
cases = st.lists(st.sampled_from(["ss", "ß", "SS", "st", "ﬆ", "fi", "K"]), max_size=4).map("".join)
texts = st.lists(st.one_of(st.text(SIGNS, max_size=9), cases), min_size=1, max_size=6)


def replaced(pattern: Any, text: str) -> str:
    out, at = "", 0
    for match in find_apart(pattern, text, "a test"):
        start, end = match.span()
        out += text[at:start] + MARK
        at = end
    return out + text[at:]


def check(pattern: str, samples: list[str]) -> None:
    """Our translation replaces what the library replaces, or one of the two refuses the pattern."""
    try:
        compiled = regex.compile(translated(pattern), regex.VERSION0)
    except Untranslated:
        return
    try:
        step = tokenizers.normalizers.Replace(tokenizers.Regex(pattern), MARK)
    except Exception:  # the library's only one: it does not take the pattern
        return
    for text in filter(None, samples):
        assert replaced(compiled, text) == step.normalize_str(text), (pattern, compiled.pattern, text)


@pytest.mark.slow
@settings(max_examples=125)
@given(patterns, texts)
@example("(?i)s{1}s|s(?:s){1}|(?:s{1})t", ["aßa", "aﬆb SST"])
@example("(?i)ss", ["ß", "SSß", "ſs"])
@example("(?i)ﬁ[ß]", ["fiss", "FIẞ"])
@example("(?i:assistant|user)", ["aßistant ASSISTANT User", "assiﬆant aſſiﬅant"])
@example(r"(?i)\bfirst\b", ["ﬁrﬆ FIRST", "firsts"])
@example("(?i:a(?:s)t|ffi)", ["aﬆ AST", "ﬃ ﬀi fﬁ"])
@example("(?i)sst|fffi", ["ßt sﬆ SST", "ﬀﬁ fﬃ ﬀfi"])
@example("(?i)s(?i:s)t|f(?i)f|(?:f)i", ["ßt sﬆ SST", "ﬀ FF ﬁ Fi"])
@example("(?i)[ß]", ["ß", "SSß", "ſs"])
@example("(?i)s|t[ß]", ["tss", "TẞS"])
@example("(?i)[^ß]", ["ssßẞS"])
@example(r"(?-mix:a)|(?-x)\0|[\012]", ["aA\0\n0"])
@example("b*", ["abbc", "", "b"])
@example(r"^|\Z|$", ["a\n", "a\nb\n", "\n\n"])
@example(r"a(?i)b|c", ["aC", "AB", "C"])
@example(r"(?<a>a)(b)|(?'b'c)d", ["abb", "acdb"])
@example(r"\b'|\w+", ["a'²", "x\u200dy", "1²"])
@example(r"(?:\p{N}{1,3}+|[^\s\p{N}]+)", ["1234567", "a12"])
@example("(?:^a?a?){2}", ["a"])
def test_random_patterns(pattern: str, samples: list[str]) -> None:
    check(pattern, samples)


@st.composite
def referring(draw: st.DrawFn) -> str:
    """A pattern with groups, references to those that have ended, comments, and places of a match."""
    names, opened, ended = draw(st.booleans()), 0, list[int]()
    plain = ("a", "b", "c", "ab", ".", "[ab]", "[^a]", "[^b]", r"\w", "é", "-", "A", " ", "#")
    marks = (r"\G", r"\K", r"\b", "^", "$", "(?#c)", r"\p{InBasicLatin}", "(?x)", "(?i)", "(?x: a b #c\n)")
    groups = ("(", "(", "(", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?x:", "(?m:")

    def atom(depth: int) -> str:
        nonlocal opened
        kind = draw(st.integers(0, 9))
        if ended and kind in (4, 5):
            group = draw(st.sampled_from(ended))
            forms = ("\\k<n{0}>", "\\k'n{0}'") if names else ("\\{0}", "\\k<{0}>", "\\k<{1}>")
            return draw(st.sampled_from(forms)).format(group, group - opened - 1)
        if kind < 6 or depth > 3:
            return draw(st.sampled_from(plain))
        if kind == 6:
            return draw(st.sampled_from(marks))
        opening = draw(st.sampled_from(groups))
        number = opened = opened + (opening == "(")
        inside = choice(depth + 1)
        if opening == "(":
            ended.append(number)
            opening = f"(?<n{number}>" if names else opening
        return f"{opening}{inside})"

    def row(depth: int) -> str:
        repeats = st.sampled_from(("", "", "", "", *REPEATS))
        return "".join(atom(depth) + draw(repeats) for _ in range(draw(st.integers(1, 4))))

    def choice(depth: int) -> str:
        return "|".join(row(depth) for _ in range(draw(st.integers(1, 3))))

    return choice(0)


@pytest.mark.slow
@settings(max_examples=400)
@given(referring(), st.lists(st.text("aabbccA é-\n#", min_size=1, max_size=9), min_size=4, max_size=9))
@example(r"([!=\-])\1*|\w+", ["a==b!!!", "=-==--!"])
@example(r"(?<q>['\"]).*?\k<q>|\w+", ["say 'a \"b\" c' or \"d'e\""])
@example(r"(?=(\w+))\1c|(a)(b)?\3", ["abc", "ab ac", "abb"])
@example("(?x) a b  # two letters\n | [ #] + | \\# (?# a comment )", ["ab #", "a b"])
@example(r"\Ga|b\Kc|\p{InBasicLatin}+", ["aabc", "bcé"])
@example("A([^a]|.)|[^a]|[^b]", ["AaaAb", "ab"])
def test_random_references(pattern: str, samples: list[str]) -> None:
    check(pattern, samples)


WITHOUT = {
    "none": "one document", "bert": "classes of `re`, as Unicode 8 has them",
    "regex": "it has no pattern of its own",
}
"""The splits whose pattern is not compared here, and why."""


@pytest.mark.first_run(cases=7)
@pytest.mark.parametrize("name", [name for name in SPLITS if name not in WITHOUT])
def test_known_patterns(name: str) -> None:
    first = [character for character in FIRST if character < "\u3000"]
    left_out = unassigned(first) | CHANGED
    known = [character for character in first if character not in left_out]
    samples = ["".join(known[at : at + 7]) for at in range(0, len(known), 7)]
    check(SPLITS[name].pattern, [*samples, "I'll say 1234567 naïve DON'T\r\n  x ", "½²a  \n b", "'ſ 'S ıİ"])


def words() -> Iterator[str]:
    yield from ("X", "y", "Y", "g<1>", "k<a>", "k<-1>", "k<1+0>", "k", "1", "8", "12", "141")


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        *((rf"a\{letter}", rf"\{letter[0]}") for letter in words()), ("(?~ab)", "(?~"), ("(?{x})", "(?{"),
        ("(*FAIL)", "(*"), ("(?(1)a|b)", "(?("), ("(?#a", "(?#"), (r"\pL", "without braces"),
        *((row.replace("#", r"\1"), r"\1") for row in ("#(a)", "(a#)", "(?i)(a)#", "(a)+#", "(?:(a)b){2}#",
            "(?!(a))#", "(?<=(a))#", "(a)(?<=#)", "(a)(?<n>b)#")),
        (r"(?<n>a)(?<n>b)\k<n>", r"\k<n>"), (r"(?:a\K)b", r"\K in a group"), (r"a\Kb?", r"\K before"),
        (r"\Ga?", r"\G in a pattern"), (r"(?<=\G)a", "looked behind"),
        *((rf"\p{{{name}}}", name) for name in OTHERS), ("(?W:a)", "option W"),
        ("(a", "without )"), ("(?i-W:a)", "option W"),
        ("a)", "without ("), ("[a", "without ]"), ("*a", "without what"), ("(?:a*)*", "may be empty"),
        (r"(?<=a++)b", "gives nothing back"), (r"\141", r"\1"), (r"\xC3\xA9", r"\x"),
        ("(?i)" + "s" * 65, "may be joined"), ("(?i)(?<=ss)", "longer in another case"),
    ],
)
def test_what_is_not_translated_is_named(pattern: str, named: str) -> None:
    with pytest.raises(Untranslated, match=re.escape(named)):
        translated(pattern)


def test_letters_under_any_case_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0
    made = classes_of.in_any_case

    def counted(text: str) -> list[list[str]]:
        nonlocal read
        read += len(text)
        return made(text)

    monkeypatch.setattr(classes_of, "in_any_case", counted)
    assert translated("(?i)" + "(?:first " * 50 + "x" * 6_000 + ")" * 50).endswith("[Xx]")
    assert read < 8_000
