"""Every format: what a preset becomes in it, read back, and what it says that it cannot hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from exporting import HOLD, HOSTILE, SMALL, again, dumps, exported, loads, preset, trained, unproved
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tokentui.core.errors import TokentuiError
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.formats import WRITTEN
from tokentui.formats.files import export, format_of, load, targets
from tokentui.formats.proof import ExportReport, check_export, probes
from tokentui.formats.spec import Spec, Unsupported
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe

_QUICK = {
    "gpt2", "gpt1", "t5", "bert", "subword-nmt", "subword-nmt-0.1", "minbpe-basic", "swift-talk", "gage",
}


@pytest.mark.parametrize(
    "name", [name if name in _QUICK else pytest.param(name, marks=pytest.mark.soak) for name in PRESETS]
)
@pytest.mark.first_run(cases=4)
def test_a_preset_is_held_or_refused_in_a_line(name: str) -> None:
    tokenizer = preset(name)
    for format in WRITTEN.values():
        report, files = exported(tokenizer, format.name)
        assert (not report.refused) == (name in HOLD[format.name]), (format.name, report.refused)
        assert bool(files) == (not report.refused)
        assert "\n" not in report.refused
        # what is seen without writing is never contradicted
        if check_export(Spec(tokenizer), format).refused:
            assert report.refused
        if not report.refused and format.name != "tokentui":
            assert report.checked > 60
            assert all(loss.what and loss.consequence for loss in report.losses)


EXACT = {
    "huggingface": ("gpt2", "llama2", "bert"), "sentencepiece": ("t5",), "tiktoken": ("gpt2",),
    "tekken": ("minbpe-basic",), "minbpe": ("minbpe-basic",), "bert": ("bert",), "gpt2": ("gpt1",),
}
"""Presets of which a file keeps the ids."""


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize(
    ("format", "name"), [(format, name) for format, names in EXACT.items() for name in names]
)
def test_a_file_read_by_its_content_gives_the_same_ids(tmp_path: Path, format: str, name: str) -> None:
    tokenizer = preset(name)
    back = again(tokenizer, format, tmp_path)
    for text in HOSTILE[:60]:
        if format == "sentencepiece" and "\x00" in text:
            continue
        ours, theirs = tokenizer.encode(text), back.encode(text)
        if format in ("bert", "gpt2"):  # these say neither how text is normalized nor how it is cut
            words = WordEncoder(
                back.vocabulary, back.merges, WordEncoder(tokenizer.vocabulary, tokenizer.merges).pretokenizer
            )
            theirs = words.encode(text)
        assert ours.ids == theirs.ids, text
    if format in ("huggingface", "sentencepiece"):
        assert back.vocabulary.specials == tokenizer.vocabulary.specials


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=40))
def test_any_text_is_encoded_alike_after_reading_back(text: str) -> None:
    for (format, name), (ours, theirs) in _pairs().items():
        assert ours.encode(text).ids == theirs.encode(text).ids, (format, name)


_PAIRS: dict[tuple[str, str], tuple[Tokenizer, Tokenizer]] = {}


def _pairs() -> dict[tuple[str, str], tuple[Tokenizer, Tokenizer]]:
    if not _PAIRS:
        import tempfile

        for format, name in (
            ("huggingface", "gpt2"), ("huggingface", "llama2"), ("huggingface", "bert"), ("tiktoken", "gpt2"),
            ("tekken", "minbpe-basic"), ("minbpe", "minbpe-basic"), ("sentencepiece", "t5"),
            ("tokentui", "t5"),
        ):
            with tempfile.TemporaryDirectory() as folder:
                _PAIRS[format, name] = preset(name), again(preset(name), format, Path(folder))
    return _PAIRS


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("format", [name for name in SMALL if name != "tokentui"])
def test_what_was_read_is_kept_whole_in_the_own_format(tmp_path: Path, format: str) -> None:
    """native(load(x)) is x: ids, pieces, notes, decoding, specials, and the file itself."""
    opened = again(preset(SMALL[format]), format, tmp_path)
    text = dumps(opened)
    assert json.loads(text)["imported"]["format"] == format
    back = loads(text, "file")
    assert dumps(back) == text
    assert list(back.entries()) == list(opened.entries())
    assert back.recipe == opened.recipe
    assert back.notes == opened.notes
    assert back.vocabulary.specials == opened.vocabulary.specials
    assert unproved(back, format) == unproved(opened, format)
    for line in HOSTILE[:15]:
        for special in (False, True):
            ours = opened.encode(line, allow_special=special, special_tokens=special)
            assert back.encode(line, allow_special=special, special_tokens=special) == ours
        if None not in ours.ids:
            assert back.decode(ours.ids) == opened.decode(ours.ids)


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("format", ["huggingface", "tiktoken", "gpt2", "sentencepiece", "minbpe"])
def test_a_part_of_an_opened_file_is_written_as_that_part(tmp_path: Path, format: str) -> None:
    """The first steps of a file, written to its own format, encode as these steps do."""
    name = {"sentencepiece": "sentencepiece-bpe", "minbpe": "minbpe-basic"}.get(format, "gpt2")
    opened = again(preset(name), format, tmp_path)
    part = opened.at(opened.merges // 2)
    back = again(part, format, tmp_path)
    for text in HOSTILE[:25]:
        assert back.encode(text).ids == part.encode(text).ids, text
    assert (
        loads(dumps(part), "file").encode("The crowd in the street").ids
        == part.encode("The crowd in the street").ids
    )


def test_what_a_document_of_another_tool_may_not_say(tmp_path: Path) -> None:
    document = json.loads(dumps(again(preset("gpt2"), "huggingface", tmp_path)))

    def refused(change: dict[str, object], **imported: object) -> str:
        made = document | change
        made["imported"] = made["imported"] | imported if imported else made["imported"]
        with pytest.raises(TokentuiError) as raised:
            loads(json.dumps(made), "file")
        assert "\n" not in str(raised.value)
        return str(raised.value)

    assert "imported.format: 'word' is not a format of another tool" in refused({}, format="word")
    assert "imported: expected an object" in refused({"imported": []})
    assert "imported: 'steps' is not a key" in refused({}, steps=[])
    assert "split does not match the files" in refused({"recipe": document["recipe"] | {"split": "none"}})
    assert "symbols does not match the files" in refused({"run": document["run"] | {"symbols": ["a"]}})
    assert 'imported.files: "tokenizer.json" is missing' in refused({}, files={})
    assert "imported.files.tokenizer.json: expected an object" in refused({}, files={"tokenizer.json": None})
    assert "imported.files.tokenizer.json" in refused({}, files={"tokenizer.json": {"model": {}}})
    assert "not base64" in refused({}, files={"tokenizer.json": {"base64": "a"}})
    assert "is no special token" in refused({}, around=[["<x>"], []])
    assert "imported.specials: the id of 'x' is -1" in refused({}, specials={"x": -1})


# What is refused, and what is told.


def _of(recipe: Recipe, base: list[bytes], merges: list[tuple[int, int]]) -> Tokenizer:
    vocabulary = Vocabulary(recipe, base)
    for left, right in merges:
        vocabulary.add(left, right, 1)
    return Tokenizer(vocabulary)


CHARS = Recipe(split="none", unit="char", base="sorted", unknown="drop")


def _report(tokenizer: Tokenizer, format: str) -> ExportReport:
    return exported(tokenizer, format)[0]


def test_spaces_in_merges_are_refused_where_a_line_cannot_hold_them() -> None:
    tokenizer = _of(CHARS, [b" ", b"a", b"b"], [(1, 0)])
    assert "whitespace" in _report(tokenizer, "gpt2").refused
    assert not _report(tokenizer, "huggingface").refused


def test_a_merge_that_looks_like_a_header_is_refused() -> None:
    recipe = CHARS.with_axes(split="whitespace")
    letters = [one.encode() for one in "#version"]
    tokenizer = _of(
        recipe, [*letters, b"a"], [(0, 1), (9, 2), (10, 3), (11, 4), (12, 5), (13, 6), (14, 7), (15, 8)]
    )
    assert "header" in _report(tokenizer, "gpt2").refused


def test_a_difference_is_found_and_named() -> None:
    """A vocabulary whose merges do not make a token of what tiktoken makes one of."""
    recipe = Recipe(split="none", base="bytes")
    base = [bytes((value,)) for value in range(256)]
    vocabulary = Vocabulary(recipe, base)
    # bc, ab, ab + c: `abc` is a + bc by rows, one token by ranks
    for left, right in ((98, 99), (97, 98), (257, 99)):
        vocabulary.add(left, right, 1)
    report = _report(Tokenizer(vocabulary), "tiktoken")
    assert report.refused.startswith("it would encode 'abc' as 'abc', not as 'a' 'bc'")
    assert not _report(Tokenizer(vocabulary), "huggingface").refused


UNIGRAM = Recipe(objective="unigram", encode="viterbi", unit="char", base="frequency", unknown="fused",
                 split="bert")


@pytest.mark.parametrize(("recipe", "line"), [
    (UNIGRAM.with_axes(mark="prefix:##"), "a mark inside words"),
    (UNIGRAM.with_axes(mark="end-suffix:</w>"), "a mark at the end of words"),
    (CHARS.with_axes(split="falcon"), "Falcon's split cuts between bytes"),
    (CHARS.with_axes(split="metaspace").with_axes(symbols=("a▁b",)), "a symbol contains a space"),
    (Recipe(mark="end-suffix:é"), "a mark of other characters than visible ASCII"),
    (Recipe(mark="end-suffix:\x01"), "a mark of other characters than visible ASCII"),
    (Recipe(mark="end-suffix: "), "a mark of other characters than visible ASCII"),
    (Recipe(split="cl100k").with_axes(prefix_space=True), "a space before the text"),
    (Recipe(mark="end-suffix:</w>", encode="longest-match"), "a mark at the end of words"),
])
def test_what_hugging_face_has_no_word_for_is_refused(recipe: Recipe, line: str) -> None:
    stops = {"vocab_size": 300} if recipe.objective == "unigram" else {"merges": 3}
    assert _report(trained(recipe, ("<unk>",), **stops), "huggingface").refused.startswith(line)


def test_the_name_of_a_special_that_is_no_text_is_refused() -> None:
    tokenizer = Tokenizer(Vocabulary(CHARS, [b"a"], ("\ud800",)))
    assert "a lone surrogate" in _report(tokenizer, "huggingface").refused


def test_tokens_that_are_spelled_alike_are_refused() -> None:
    recipe = CHARS.with_axes(split="whitespace", mark="prefix:##", unknown="drop")
    # `##` as a unit, and from # and ###
    tokenizer = _of(recipe, [b"#", b"a", b"###", b"##a", b"##"], [(0, 2)])
    assert "the same spelling" in _report(tokenizer, "huggingface").refused


def test_all_texts_are_compared() -> None:
    texts = list(probes(Spec(preset("gpt2"))))
    assert len(texts) > 800
    assert _report(preset("gpt2"), "huggingface").checked == len(texts)


def test_losses_say_what_is_lost() -> None:
    losses = {loss.what: loss for loss in _report(preset("gpt2"), "tiktoken").losses}
    assert losses["pattern"].example == "-s split=gpt2"
    assert losses["specials"].example == "<|endoftext|>"
    assert "had count" in losses["counts"].example
    assert {loss.what for loss in _report(preset("gpt2"), "huggingface").losses} == {"counts", "recipe"}
    assert "ids" in {loss.what for loss in _report(preset("gpt2"), "minbpe").losses}
    unproved_report = check_export(Spec(preset("comp336")), WRITTEN["huggingface"])
    assert "unknown units" in {loss.what for loss in unproved_report.losses}


def test_holes_are_filled_in_a_vocab_txt(tmp_path: Path) -> None:
    recipe = preset("bert").recipe
    tokenizer = Tokenizer(Vocabulary(recipe, [b"a", b"##a"], ("[UNK]",), first_id=3))
    back = again(tokenizer, "bert", tmp_path)
    assert (tmp_path / "vocab.txt").read_text().split() == [
        "[unused0]", "[unused1]", "[unused2]", "[UNK]", "a", "##a",
    ]
    assert back.encode("aa ba").ids == tokenizer.encode("aa ba").ids == (4, 5, 3)


# Names, and files that belong together.


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.json", "tokentui"), ("tokenizer.json", "tokentui"), ("a.hf.json", "huggingface"),
        ("a.tiktoken", "tiktoken"), ("vocab.txt", "bert"), ("b/vocab.json", "gpt2"), ("merges.txt", "gpt2"),
        ("tekken.json", "tekken"),
        ("a.codes", "subword-nmt"),
        ("a.model", "minbpe"), ("", "tokentui"), ("-", "tokentui"),
    ],
)
def test_the_format_by_name(name: str, format: str) -> None:
    assert format_of(name, Recipe()).name == format


def test_a_model_of_characters_is_sentencepiece_s() -> None:
    assert format_of("a.model", CHARS).name == "sentencepiece"
    assert format_of("a.minbpe.model", CHARS).name == "minbpe"
    with pytest.raises(TokentuiError, match="no format"):
        format_of("a", CHARS, "gpt3")


@pytest.mark.slow
def test_two_files_are_written_where_one_is_named(tmp_path: Path) -> None:
    export(preset("gpt2"), tmp_path / "x-vocab.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x-merges.txt", "x-vocab.json"]
    export(preset("gpt2"), tmp_path, "gpt2")
    assert {path.name for path in tmp_path.iterdir()} >= {"vocab.json", "merges.txt"}
    assert load(tmp_path / "vocab.json").encode("the crowd").ids == preset("gpt2").encode("the crowd").ids
    assert targets("a/vocab.bpe", WRITTEN["gpt2"]) == ["a/encoder.json", "a/vocab.bpe"]
    with pytest.raises(TokentuiError, match="two files"):
        export(preset("gpt2"), tmp_path / "name", "gpt2")


def test_nothing_is_written_where_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="sentencepiece cannot store it"):
        export(preset("gpt2"), tmp_path / "x", "sentencepiece")
    assert list(tmp_path.iterdir()) == []


def test_a_trained_unigram_keeps_its_scores(tmp_path: Path) -> None:
    tokenizer = preset("t5")
    back = again(tokenizer, "sentencepiece", tmp_path)
    scores = {entry.piece: entry.score for entry in tokenizer.entries() if entry.kind == "piece"}
    theirs = {entry.piece: entry.score for entry in back.entries()}
    assert scores
    assert all(abs((theirs[piece] or 0) - (score or 0)) < 1e-5 for piece, score in scores.items())


@pytest.mark.slow
def test_an_own_pattern_goes_into_the_files(tmp_path: Path) -> None:
    tokenizer = trained(Recipe(split=r"regex:\p{L}+|\s+|[^\p{L}\s]+"), merges=40)
    for format in ("huggingface", "minbpe", "tekken", "tiktoken"):
        back = again(tokenizer, format, tmp_path)
        assert back.encode("It's 12 o'clock").pieces == tokenizer.encode("It's 12 o'clock").pieces
