"""What a file's own pattern is called, what its pieces were matched by, and what health says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import regex
from exporting import dumps, loads
from health_checks import checked

from tokentui.analyze.health import PASS
from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import load
from tokentui.formats.oniguruma import pattern_of, translated
from tokentui.formats.tokens import LETTERS
from tokentui.recipe import Run
from tokentui.session.snapshot import PiecesView
from tokentui.session.training.pieces import OWN_STEPS, pieces_view
from tokentui.session.training.stages import stages
from tokentui.session.training.training import prepare_tokenizer
from tokentui.session.views import CorpusPlace
from tokentui.text.corpus import Corpus
from tokentui.text.patterns import BETWEEN
from tokentui.text.split import SPLITS, branches, splitter
from tokentui.text.unicode import TABLES

TEXT = "I'll say 12345 words,  now!\n\n x"
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def cut(pattern: str, behavior: str = "Isolated", invert: bool = False) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


def opened(tmp_path: Path, *steps: dict[str, Any], **more: Any) -> Tokenizer:
    model = {"type": "BPE", "vocab": {name: n for n, name in enumerate(sorted(LETTERS))}, "merges": []}
    pre = {"type": "Sequence", "pretokenizers": [*steps, BYTE_LEVEL]}
    path = tmp_path / "tokenizer.json"
    path.write_text(
        json.dumps({"version": "1.0", "pre_tokenizer": pre, "model": model, "decoder": BYTE_LEVEL} | more),
        "utf-8",
    )
    return load(path)


def pieces(tokenizer: Tokenizer) -> PiecesView:
    prepared = prepare_tokenizer(Corpus.from_text(TEXT), tokenizer, Run())
    return pieces_view(prepared, TEXT, CorpusPlace(0, 0), 100)


KNOWN = [
    name for name, one in SPLITS.items()
    if one.is_pattern and one.keeps_spaces and len(one.branches) > 1 and not (one.branch_pattern or one.text)
]
"""The splits that are one pattern whose matches are the whole text."""


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_pattern_has_its_branches(tmp_path: Path, name: str) -> None:
    tokenizer = opened(tmp_path, cut(pattern_of(name)))
    assert tokenizer.recipe.split == name
    view = pieces(tokenizer)
    known = branches(name)
    assert view.branches == known.names
    for parts in (view.corpus, view.typed):
        assert [(part.start, part.end) for part in parts] == [
            (start, end) for _, start, end in splitter(name).spans(TEXT)
        ]
        assert [part.branch for part in parts] == [known.of(TEXT, part.start, part.text) for part in parts]
    assert len({part.branch for part in view.corpus}) > 1


@pytest.mark.parametrize("name", KNOWN)
def test_branches_beside_tokens_cut_out_in_between(tmp_path: Path, name: str) -> None:
    """Where the axes cannot say all of a file, its pattern is known all the same."""
    row = {
        "id": 900, "content": "zz", "normalized": True,
        **dict.fromkeys(("single_word", "lstrip", "rstrip", "special"), False),
    }
    view = pieces(opened(tmp_path, cut(pattern_of(name)), added_tokens=[row]))
    assert view.branches == branches(name).names


def test_a_pattern_of_its_own(tmp_path: Path) -> None:
    tokenizer = opened(tmp_path, cut(r"\w+|\p{P}"))
    assert tokenizer.recipe.split == f"regex:{translated(chr(92) + 'w+|' + chr(92) + 'p{P}')}"
    assert any(tokenizer.recipe.split in stage.axis for stage in stages(tokenizer))
    view = pieces(tokenizer)
    assert view.branches == (*branches(tokenizer.recipe.split).names, BETWEEN)
    assert {view.branches[part.branch or 0] for part in view.corpus if part.text.isspace()} == {BETWEEN}
    assert {part.branch for part in view.corpus if part.text.isalnum()} == {0}
    assert checked(tokenizer, "file").status == PASS


def test_an_own_file_may_spell_the_pattern_in_another_way(tmp_path: Path) -> None:
    tokenizer = opened(tmp_path, cut(r"\w+|\p{P}"))
    document = json.loads(dumps(tokenizer))
    document["recipe"]["split"] = r"regex:\w+|\p{Punctuation}"
    assert loads(json.dumps(document), "f").recipe == tokenizer.recipe


def test_letters_that_may_be_joined_in_an_own_file(tmp_path: Path) -> None:
    tokenizer = opened(tmp_path, cut(r"(?i:assistant|first)|[^\s]"))
    written = dumps(tokenizer)
    # A former version wrote all ways of the whole word.
    ways = "[Ff][Ii]|ﬁ", "[Ff][Ii][Rr](?:[Ssſ][Tt]|[ﬅﬆ])|ﬁ[Rr](?:[Ssſ][Tt]|[ﬅﬆ])"
    old = written.replace(f"(?:{ways[0]})[Rr](?:[Ssſ][Tt]|[ﬅﬆ])", f"(?:{ways[1]})", 1)
    assert old != written
    text = "aßistant ﬁrﬆ FIRST x"
    assert loads(old, "f").encode(text).ids == tokenizer.encode(text).ids


@pytest.mark.parametrize("name", ["inf", "Infinity", "IDC"])
def test_a_property_that_is_not_known_is_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(TokentuiError, match=rf"\\p\{{{name}\}}, a property that is not known"):
        opened(tmp_path, cut(rf"\p{{{name}}}"))


def test_a_count_with_a_plus_is_no_possessive_one(tmp_path: Path) -> None:
    """tiktoken's pattern as it stands means something else in Oniguruma, so it is not called by its name."""
    tokenizer = opened(tmp_path, cut(SPLITS["cl100k"].pattern))
    assert tokenizer.recipe.split.startswith("regex:")
    assert [part.text for part in pieces(tokenizer).corpus if part.text.isdigit()] == ["12345"]


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize(
    "step",
    [
        {"type": "Punctuation", "behavior": "Isolated"}, cut(r"\w+", "MergedWithNext"),
        {"type": "Digits", "individual_digits": True},
    ],
)
def test_what_no_axis_says_is_only_near(tmp_path: Path, step: dict[str, Any]) -> None:
    tokenizer = opened(tmp_path, step)
    assert pieces(tokenizer).branches == (OWN_STEPS,)
    check = checked(tokenizer, "file")
    assert check.status != PASS
    assert any(
        f"split={tokenizer.recipe.split} is only".encode() in example.piece for example in check.examples
    )


def test_versions_of_unicode_are_told(tmp_path: Path) -> None:
    tokenizer = opened(tmp_path, cut(r"\p{L}+"), normalizer={"type": "NFC"})
    told = [stage.what for stage in stages(tokenizer) if stage.name == "Unicode"]
    assert told == [TABLES["tokenizers"].described]
    assert "normalization 9, marks 9, lower case 17, classes 16, digits 17" in told[0]


def test_a_group_may_have_a_name_that_nothing_refers_to() -> None:
    assert translated(r"(?<q>['~])a") == translated(r"(?'q'['~])a") == translated(r"(['~])a")
    assert translated(r"(?<q>['~])a\k<q>") == translated(r"(['~])a\1") == r"(?P<g1>['\~])a(?P=g1)"


NEWER = "\u0558\u058b\u05c8\u208f\u0cdc\U00011de0\U0003d000"


@pytest.mark.parametrize(
    ("pattern", "found"),
    [(r"\w+", ["a", "b²"]), (r"[\w']+", ["a", "b"]), (r"\W+", [NEWER]), (r"[^\w\s]+", [NEWER, "²"]),
     (r"[^\W\d_]+", ["a", "b"]), (r"\D+", [f"a{NEWER}b²"]), (r".\b", ["a", NEWER[-1], "²"]),
     ("[[:alpha:]]+", ["a", "b"]), ("[[:^alnum:]]+", [NEWER, "²"]), ("[^[:punct:]]+", [f"a{NEWER}b²"])],
)
def test_a_character_newer_than_oniguruma_is_in_no_class(pattern: str, found: list[str]) -> None:
    assert regex.findall(translated(pattern), f"a{NEWER}b²") == found


@pytest.mark.parametrize("pattern", [r"\w+", r"\W+", r"[^\w\s]+", r"[^\W\d_]+", r"[\w']+", "[[:alpha:]]+"])
def test_a_class_of_words_looks_at_one_character(pattern: str) -> None:
    """Of a group with conditions that is repeated every time is kept until its end."""
    assert not regex.search(r"\(\?[=!<]", translated(pattern))
