"""The project's own tokenizer file: there and back, byte for byte."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from exporting import dumps, loads, preset
from hypothesis import given, settings
from hypothesis import strategies as st

import tokentui
from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.formats import WRITTEN
from tokentui.formats.files import export, load
from tokentui.formats.spec import Unsupported
from tokentui.recipe import Recipe

CHARS = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")

VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "prefix": {"mark": "prefix:##", "encode": "longest-match", "unknown": "whole-word"},
    "end-suffix": {"mark": "end-suffix:</w>", "split": "space", "unknown": "pass-through"},
    "base after the merges": {"split": "metaspace", "base": "frequency", "unknown": "byte-fallback"},
    "grapheme": {"unit": "grapheme", "normalize": ("nfkc", "lowercase"), "split": r"regex:\p{L}+|\"x\""},
}


@st.composite
def tokenizers(draw: st.DrawFn) -> Tokenizer:
    recipe = CHARS.with_axes(**VARIANTS[draw(st.sampled_from(sorted(VARIANTS)))])
    base = draw(
        st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=1), max_size=5, unique=True)
    )
    units = [unit.encode() for unit in base]
    if recipe.mark_kind == "prefix":
        units += [b"##" + unit for unit in units]
    specials = draw(st.lists(st.sampled_from(["<unk>", "aa", "\ud800", "</s>\n\u2028"]), unique=True))
    vocabulary = Vocabulary(recipe, list(dict.fromkeys(units)), specials, draw(st.integers(0, 3)))
    symbols = st.integers(0, 30)
    for left, right in draw(st.lists(st.tuples(symbols, symbols), max_size=8)):
        size = len(vocabulary.pieces)
        if size and (left % size, right % size) not in vocabulary.ranks:
            piece = vocabulary.join(left % size, right % size)
            # Two merges that spell one special share an id, which training never makes.
            if piece not in vocabulary.pieces:
                vocabulary.add(left % size, right % size, draw(st.integers(0, 2**40)))
    merges = draw(st.integers(0, len(vocabulary.merges)))
    return Tokenizer(vocabulary, merges, {"vocab_size": 300, "min_count": None})


@pytest.mark.slow
@settings(max_examples=75)
@given(tokenizer=tokenizers())
def test_a_file_gives_back_the_tokenizer(tokenizer: Tokenizer) -> None:
    text = dumps(tokenizer)
    again = loads(text, "file")
    assert dumps(again) == text
    assert json.loads(text)["version"] == 2
    ours, theirs = tokenizer.vocabulary, again.vocabulary
    assert again.recipe == tokenizer.recipe
    assert again.run == tokenizer.run
    assert again.merges == tokenizer.merges
    assert theirs.merges == ours.merges[: tokenizer.merges]
    assert theirs.counts == ours.counts[: tokenizer.merges]
    assert theirs.pieces == ours.pieces[: ours.base_size + tokenizer.merges]
    assert list(again.entries()) == list(tokenizer.entries())
    assert [entry.id for entry in again.entries()] == list(
        range(ours.first_id, ours.first_id + again.vocab_size)
    )


def sample() -> Tokenizer:
    vocabulary = Vocabulary(CHARS, [b"h", b"u", "é".encode()], ("<unk>",), 1)
    vocabulary.add(0, 1, 5)
    vocabulary.add(3, 2, 2)
    return Tokenizer(vocabulary, None, {"merges": 2})


def test_the_document_to_the_letter() -> None:
    recipe = json.dumps(CHARS.to_dict())
    lines = "1 3c756e6b3e\n2 68\n3 75\n4 c3a9\n5 6875\n6 6875c3a9\n"
    assert dumps(sample()) == (
        f'{{"format": "tokentui",\n "version": 2,\n "recipe": {recipe},\n'
        ' "run": {"merges": 2, "first_id": 1, "specials": ["<unk>"]},\n'
        ' "unicode": "18.0",\n'
        ' "units": [\n'
        '  "h",\n'
        '  "u",\n'
        '  "é"],\n'
        ' "merges": [\n'
        "  [0, 1, 5],\n"
        "  [3, 2, 2]],\n"
        f' "digest": "{hashlib.sha256(lines.encode()).hexdigest()}"}}\n'
    )


def test_the_unicode_tables_of_a_document() -> None:
    """One of an earlier version names none: it keeps those that are installed, also when it is written."""
    text = dumps(sample())
    earlier = text.replace(' "unicode": "18.0",\n', "")
    assert loads(text, "f").recipe.unicode == "18.0"
    assert loads(earlier, "f").recipe.unicode == ""
    assert dumps(loads(earlier, "f")) == earlier
    with pytest.raises(TokentuiError, match=r"unicode: '19.0' is not known here \(update tokentui\)"):
        loads(text.replace("18.0", "19.0"), "f")


def test_all_bytes_and_broken_pieces(tmp_path: Path) -> None:
    vocabulary = Vocabulary(Recipe(), [bytes((value,)) for value in range(256)])
    vocabulary.add(0xE2, 0x82, 3)
    tokenizer = Tokenizer(vocabulary)
    export(tokenizer, tmp_path / "bytes.json")
    again = load(tmp_path / "bytes.json")
    assert dumps(again) == dumps(tokenizer)
    assert again.encode("€").ids == (256, 0xAC)


@pytest.mark.parametrize("mark", ["prefix:##", "end-suffix:</w>", "end-symbol:</w>", "end-symbol:a"])
@pytest.mark.parametrize("base", ["bytes", "gpt2-bytes"])
def test_a_base_of_bytes_with_a_mark(base: str, mark: str, tmp_path: Path) -> None:
    """The marked units of the corpus stand behind the 256 bytes."""
    tokenizer = tokentui.train("sample:sailor", "gpt2", split="bert", base=base, mark=mark, merges=5)
    tokenizer.save(tmp_path / "marked.json")
    again = load(tmp_path / "marked.json")
    assert list(again.entries()) == list(tokenizer.entries())
    assert again.encode("a sailor went to sea") == tokenizer.encode("a sailor went to sea")


@pytest.mark.parametrize(("mark", "unit"), [
    ("prefix:##", b"ab"), ("prefix:##", b"##ab"), ("end-suffix:</w>", b"</w>a"), ("end-symbol:</w>", b"##a"),
])
def test_a_base_of_bytes_holds_no_other_units_of_several_bytes(mark: str, unit: bytes) -> None:
    recipe = Recipe(split="bert", base="bytes", mark=mark)
    tokenizer = Tokenizer(Vocabulary(recipe, [*(bytes((value,)) for value in range(256)), unit]))
    with pytest.raises(TokentuiError, match="the base is not all 256 bytes"):
        loads(json.dumps(json.loads(dumps(tokenizer))), "file")


def test_an_empty_tokenizer(tmp_path: Path) -> None:
    export(Tokenizer(Vocabulary(CHARS, [])), tmp_path / "empty.json")
    assert load(tmp_path / "empty.json").vocab_size == 0


@pytest.mark.parametrize(
    ("mark", "units", "specials", "what"),
    [
        ("end-suffix:" + "x" * 300, [b"a"], (), "mark is longer"),
        ("none", [b"a"], ("x" * 100_000,), "its specials"),
        ("prefix:a", [b"ab", b"b", b"ab"], (), "the same bytes"),
    ],
)
def test_a_file_that_could_not_be_read_is_not_written(
    tmp_path: Path, mark: str, units: list[bytes], specials: tuple[str, ...], what: str
) -> None:
    vocabulary = Vocabulary(CHARS.with_axes(mark=mark), units, specials, 0)
    path = tmp_path / "t.json"
    with pytest.raises(Unsupported, match=what):
        export(Tokenizer(vocabulary, 0), path)
    assert not path.exists()


def test_a_byte_order_mark_and_other_layout_are_read(tmp_path: Path) -> None:
    path = tmp_path / "named.txt"
    path.write_text(json.dumps(json.loads(dumps(sample())), indent=4), encoding="utf-8-sig")
    assert dumps(load(path)) == dumps(sample())


def test_formats_by_name(tmp_path: Path) -> None:
    export(sample(), tmp_path / "a.unheard", "tokentui")
    export(sample(), tmp_path / "b.json")
    assert (tmp_path / "a.unheard").read_bytes() == (tmp_path / "b.json").read_bytes()
    with pytest.raises(TokentuiError, match="unknown file extension"):
        export(sample(), tmp_path / "c.unheard")
    with pytest.raises(TokentuiError, match="format: no format 'tokentu'"):
        export(sample(), tmp_path / "c", "tokentu")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.unheard", "b.json"]
    assert next(iter(WRITTEN)) == "tokentui"


def test_a_run_has_known_keys() -> None:
    with pytest.raises(TokentuiError, match="no such key 'merge'"):
        Tokenizer(sample().vocabulary, None, {"merge": 3})


@pytest.mark.parametrize("name", ["gpt2", "t5"])
@pytest.mark.parametrize(("axis", "value"), [
    ("objective", "of-tomorrow:floor=2"), ("objective", "KNOWN:of_tomorrow=2"), ("tie", "of-tomorrow"),
])
def test_an_objective_or_a_tie_of_a_newer_version_loads_to_encode(name: str, axis: str, value: str) -> None:
    """Neither changes what a text becomes; a note says that it is not known."""
    ours = preset(name)
    document = json.loads(dumps(ours))
    document["recipe"][axis] = value = value.replace("KNOWN", ours.recipe.objective)
    theirs = loads(json.dumps(document), "file")
    assert (
        theirs.encode_ids("she sells sea shells").tolist() == ours.encode_ids("she sells sea shells").tolist()
    )
    assert theirs.recipe == ours.recipe.with_axes(**{axis: value})
    assert any(f"{axis}={value}" in note for note in theirs.notes)
    assert not loads(dumps(ours), "file").notes
    assert json.loads(dumps(theirs))["recipe"] == document["recipe"]


def test_another_axis_of_a_newer_version_is_refused() -> None:
    document = json.loads(dumps(sample()))
    document["recipe"]["unit"] = "phoneme"
    with pytest.raises(TokentuiError, match="no value 'phoneme'"):
        loads(json.dumps(document), "file")
