"""The health report: each check on a tokenizer that has the fault and on one that has not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import oracle
import pytest
import soak

from tokentui import learn
from tokentui.analyze.health import CHECKS, FAIL, INFO, NONE, PASS, WARN, Check, examine, worst
from tokentui.analyze.health.health_report import measures_section
from tokentui.analyze.health.survey import written_in
from tokentui.analyze.health.texts import SCRIPTS, TEXTS, encoded
from tokentui.analyze.report import Span, spans
from tokentui.analyze.results import CheckResult
from tokentui.axes import preset
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import job
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import load
from tokentui.formats.tokens import LETTERS
from tokentui.learn import start
from tokentui.preset_table import PRESETS
from tokentui.recipe import Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

BYTES = {letter: n for n, letter in enumerate(sorted(LETTERS))}


def opened(folder: Path, **parts: Any) -> Tokenizer:
    """The tokenizer of a `tokenizer.json` of bytes, with other parts."""
    model = {"type": "BPE", "vocab": BYTES, "merges": []} | parts.pop("model", {})
    step = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    document = {
        "version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": step, "decoder": step,
        "post_processor": None, "model": model,
    } | parts
    (folder / "t.json").write_text(json.dumps(document), "utf-8")
    return load(folder / "t.json")


def check(tokenizer: Tokenizer, name: str) -> CheckResult:
    return next(one for one in examine(tokenizer).checks if one.name == name)


def vocabulary(*more: str, **ids: int) -> dict[str, int]:
    return BYTES | {name: 256 + n for n, name in enumerate(more)} | ids


@pytest.mark.slow
def test_a_sound_vocabulary_fails_nowhere(tmp_path: Path) -> None:
    report = examine(opened(tmp_path), 7)
    facts, checks = report.facts, report.checks
    assert report.step == 7
    assert [one.name for one in checks] == [rule.name for rule in CHECKS]
    assert {one.name for one in checks if one.status not in (PASS, "n/a")} == {"forms"}
    assert check(opened(tmp_path), "forms").status == INFO
    assert worst(checks) == PASS
    assert not facts.holes
    assert not facts.shared_ids
    assert sum(count for _, count in facts.scripts) == sum(count for _, count in facts.lengths) == 256


@pytest.mark.parametrize(
    ("name", "status", "parts"),
    [
        ("bytes", FAIL, {"model": {"vocab": {k: v for k, v in BYTES.items() if k != "a"}}}),
        (
            "orphans", FAIL,
            {"model": {"vocab": vocabulary("ab", *(f"tok{n}" for n in range(20))), "merges": ["a b"]}},
        ),
        (
            "otherwise", WARN,
            {"model": {"vocab": vocabulary("ab", "bc", "abc"), "merges": ["b c", "a b", "ab c"]}},
        ),
        ("split", WARN, {"model": {"vocab": vocabulary("a1", "1a"), "merges": ["a 1", "1 a"]}}),
        (
            "normalised", WARN,
            {"model": {"vocab": vocabulary("AB"), "merges": ["A B"]}, "normalizer": {"type": "Lowercase"}},
        ),
        ("holes", INFO, {"model": {"vocab": vocabulary(ab=300), "merges": ["a b"]}}),
        ("duplicates", FAIL, {"model": {"vocab": vocabulary(ab=5), "merges": ["a b"]}}),
        (
            "literals", FAIL,
            {"normalizer": {"type": "Replace", "pattern": {"String": r"\s+"}, "content": " "}},
        ),
        (
            "literals", FAIL,
            {
                "pre_tokenizer": {
                    "type": "Sequence",
                    "pretokenizers": [
                        {
                            "type": "Split", "pattern": {"String": "[a-z]"}, "behavior": "Isolated",
                            "invert": False,
                        },
                        {
                            "type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True,
                            "use_regex": False,
                        },
                    ],
                }
            },
        ),
        ("literals", PASS, {"normalizer": {"type": "Replace", "pattern": {"String": "``"}, "content": '"'}}),
        ("literals", PASS, {"normalizer": {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}}),
        ("invisible", WARN, {"model": {"vocab": vocabulary("Âģ"), "merges": ["Â ģ"]}}),
        (
            "crossing", WARN,
            {
                "model": {
                    "vocab": vocabulary("Ã©", "Ã©Ã", "Ã©Ä", "Ã©Å"), "merges": ["Ã ©", "Ã© Ã", "Ã© Ä", "Ã© Å"],
                }
            },
        ),
        ("impossible", WARN, {"model": {"vocab": vocabulary("ÿÿ"), "merges": ["ÿ ÿ"]}}),
        ("texts", WARN, {"normalizer": {"type": "Lowercase"}}),
        ("spaces", WARN, {"normalizer": {"type": "Strip", "strip_left": True, "strip_right": True}}),
        ("controls", WARN, {"normalizer": {"type": "Nmt"}}), ("forms", PASS, {"normalizer": {"type": "NFC"}}),
        ("forms", INFO, {}),
        ("digits", INFO, {"model": {"vocab": vocabulary("12", "99"), "merges": ["1 2", "9 9"]}}),
        ("digits", PASS, {}), ("file", WARN, {"truncation": {"max_length": 5}}),
        (
            "specials", PASS,
            {
                "added_tokens": [
                    {
                        "id": 256, "content": "<e>", "single_word": False, "lstrip": False, "rstrip": False,
                        "normalized": False, "special": True,
                    }
                ]
            },
        ),
        (
            "specials", FAIL,
            {
                "added_tokens": [
                    {
                        "id": 256, "content": "<e>", "single_word": True, "lstrip": False, "rstrip": False,
                        "normalized": False, "special": True,
                    }
                ]
            },
        ),
        (
            "injected", WARN,
            {
                "added_tokens": [
                    {
                        "id": 256, "content": "<e>", "single_word": False, "lstrip": False, "rstrip": False,
                        "normalized": False, "special": False,
                    }
                ]
            },
        ),
    ],
)
@pytest.mark.first_run(cases=2)
def test_each_check(tmp_path: Path, name: str, status: str, parts: dict[str, Any]) -> None:
    found = check(opened(tmp_path, **parts), name)
    assert found.status == status, found
    assert found.threshold
    assert found.about
    assert found.observed
    assert len(found.examples) <= found.count or found.count == 0
    if status == FAIL and name != "bytes":
        assert found.examples


@pytest.mark.slow
def test_what_is_told_of_a_fault(tmp_path: Path) -> None:
    found = check(
        opened(tmp_path, model={"vocab": vocabulary("ab", "bc", "abc"), "merges": ["b c", "a b", "ab c"]}),
        "otherwise",
    )
    assert found.observed == "1 token whose text encodes to other tokens, 0.39 % of 259"
    assert [(one.id, one.piece, one.note) for one in found.examples] == [
        (258, b"abc", "its own text is encoded as a bc")
    ]
    found = check(opened(tmp_path, model={"vocab": vocabulary(ab=300), "merges": ["a b"]}), "holes")
    assert (found.value, [(one.id, one.note) for one in found.examples]) == (44, [(256, "to 299")])


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize(
    "name", ["gpt2", "bert", "llama2", "wordpiece", "sentencepiece-unigram", "gage", "subword-nmt"]
)
def test_every_recipe_has_a_report(name: str) -> None:
    run = start(read("sample:hugs"), preset(name), Run(specials=PRESETS[name].run.specials))
    learn.run(run, Stops(merges=5))
    checks = examine(run.tokenizer()).checks
    assert len(checks) == len(CHECKS)
    assert all(one.status in (PASS, INFO, WARN, FAIL, NONE) and "\n" not in one.observed for one in checks)


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize(("name", "specials"), soak.covering(
    ["udl-notebook", "bert", "sentencepiece-bpe", "sentencepiece-unigram", "hf-bpe"], [(), ("<unk>",)],
))
def test_a_vocabulary_that_encodes_nothing_says_so(name: str, specials: tuple[str, ...]) -> None:
    tokenizer = start(Corpus.from_text(""), preset(name), Run(specials=specials)).tokenizer()
    checks = {one.name: one for one in examine(tokenizer).checks}
    assert checks["bytes"].status == FAIL
    assert "no text can be encoded" in checks["bytes"].observed
    for one in ("texts", "spaces", "controls"):
        assert checks[one].status == "n/a"
        assert "changed" not in checks[one].observed
    passed = {name for name, one in checks.items() if one.status == PASS}
    assert passed <= ({"file"} if not specials else {"file", "duplicates", "holes", "specials", "injected"})


def test_what_is_refused_is_not_called_changed() -> None:
    tokenizer = start(read("sample:english"), preset("udl-notebook")).tokenizer()
    found = check(tokenizer, "texts")
    refused = sum(seen is None for seen in (encoded(tokenizer, text) for _, text in (*SCRIPTS, *TEXTS)))
    assert 0 < refused < 34
    assert (
        f"of {34 - refused} changed on the way back; of {refused} others nothing has a token"
        in found.observed
    )


def test_words_of_prefixed_tokens_can_be_made(tmp_path: Path) -> None:
    """A token inside a word is looked for inside one, whatever the decoder makes of it alone."""
    names = ["[UNK]", *"abing", *("##" + c for c in "abing"), "##ing"]
    tokenizer = opened(
        tmp_path, pre_tokenizer={"type": "BertPreTokenizer"},
        decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
        model={
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": {name: n for n, name in enumerate(names)},
        },
    )
    assert examine(tokenizer).facts.unreachable == ()


def test_it_stops_when_asked(tmp_path: Path) -> None:
    with job(cancel=lambda: True), pytest.raises(Cancelled):
        examine(opened(tmp_path))


@pytest.mark.parametrize(
    ("piece", "script"),
    [
        ("the", "Latin"), (" été", "Latin"), ("▁дом", "Cyrillic"), ("漢字", "Han"), ("漢字かな", "Japanese"),
        ("カタかな", "Japanese"), ("12", "digits"), ("٣٤", "digits"), ("  ", "spaces"), ("...", "signs"),
        ("🙂", "emoji"), ("aб", "several scripts"), ("ᏣᎳᎩ", "Cherokee"), ("𐎀", "other letters"),
    ],
)
def test_what_a_token_is_written_in(piece: str, script: str) -> None:
    assert written_in(piece.encode()) == script


def test_a_part_of_a_character_has_no_script() -> None:
    assert written_in(b"\xe2\x82") == "parts of characters"


SOUND = (
    "gpt2/tokenizer.json", "tiktoken_cl100k_base/cl100k_base.tiktoken",
    "tiktoken_o200k_base/o200k_base.tiktoken", "llama2/tokenizer.json", "spm-llama2/tokenizer.model",
)
"""Published tokenizers that write any text and give it back."""


@pytest.mark.parametrize("name", oracle.large(*SOUND))
def test_a_sound_published_tokenizer_has_no_warning(name: str) -> None:
    checks = examine(load(oracle.shared(f"tokenizers/{name}"))).checks
    assert [one.name for one in checks if one.status in (WARN, FAIL)] == []


@pytest.mark.parametrize("rule", CHECKS, ids=lambda rule: rule.name)
def test_the_levels_of_a_check_rise(rule: Check) -> None:
    levels = [level for level in (rule.info, rule.warn, rule.fail) if level is not None]
    assert levels == sorted(levels)
    assert len(set(levels)) == len(levels)
    known = {INFO: rule.info, WARN: rule.warn, FAIL: rule.fail}
    for status, level in known.items():
        assert level is None or rule._graded(level + 1e-9) == status


def test_measures_that_are_refused_say_why() -> None:
    section = measures_section(TokentuiError("'z' is not in the vocabulary", "offset 3"))
    assert [span.text for span in spans(section.summary) if isinstance(span, Span)] == [
        "none: offset 3: 'z' is not in the vocabulary"]
    assert not section.rows
