"""The laws of every format of the table, and a stranger's format that is one module and one entry."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import made_up_format
import pytest
from exporting import HOSTILE, SMALL, again, fitted, preset, put, trained, unproved
from reimporting import import_again
from running_cli import cli, done

from tokentui.core.errors import TokentuiError
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.segment import ENCODING_WAYS, RANKS
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import ASPECTS, FORMATS, OWN, WRITTEN, Codec, Format, named_like, recognized
from tokentui.formats.files import export, format_of, load, mistaken, recognize, targets
from tokentui.formats.proof import EXAMPLES, contents
from tokentui.formats.source import source_of
from tokentui.recipe import Recipe


def test_a_record_names_what_there_is() -> None:
    assert set(EXAMPLES) == set(ASPECTS)
    ways = {way.written for way in (*ENCODING_WAYS.values(), RANKS)}
    for name, format in FORMATS.items():
        assert set(format.keeps) <= set(ASPECTS)
        assert set(format.holds.ways) <= ways
        assert all(len(names) == len(format.files) for names in format.also)
        assert (format.codec.to_format is not Codec._field_defaults["to_format"]) == (name in WRITTEN)
        assert format.begins, "a file that is cut off is told by its beginning"
        assert all(named_like(name) for name in format.files if not name.startswith("ranks"))
    assert next(iter(WRITTEN)) == OWN.name


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("name", SMALL)
def test_a_written_file_is_of_its_format_alone(name: str) -> None:
    format = WRITTEN[name]
    files = unproved(preset(SMALL[name]), name)
    assert recognized(source_of(format.files, files)) is format
    later = list(FORMATS.values())[list(FORMATS).index(name) + 1 :]
    claims = [other.name for other in later if other.codec.sniff(source_of(format.files, files))]
    assert claims in ([], ["subword-nmt"]), "codes look like merges whose vocabulary is missing"


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.first_run(cases=4)
def test_a_file_that_is_read_gives_the_same(tmp_path: Path, name: str) -> None:
    """Ids where the format keeps them, else pieces; and the same in another process."""
    format, ours = WRITTEN[name], preset(SMALL[name])
    theirs, fit = again(ours, name, tmp_path), fitted(ours, name)
    twin: Tokenizer = pickle.loads(pickle.dumps(theirs))
    words = None if format.says_text else WordEncoder(ours.vocabulary, ours.merges).pretokenizer
    for text in HOSTILE[:40]:
        want = ours.encode(text)
        if fit.excused(text) or (want.unknown and not fit.keeps_unknown):
            continue
        found = WordEncoder(theirs.vocabulary, theirs.merges, words).encode(text)
        assert (want.ids == found.ids) if fit.keeps_ids else (want.pieces == found.pieces), text
        assert twin.encode(text) == theirs.encode(text)


@pytest.mark.first_run(cases=4)
@pytest.mark.parametrize("name", SMALL)
def test_damaged_copies_are_refused_in_a_line(tmp_path: Path, name: str) -> None:
    format, draw = WRITTEN[name], random.Random(name)
    files = unproved(preset(SMALL[name]), name)
    for file, data in zip(format.files, files, strict=True):
        (tmp_path / file).write_bytes(data)
    path, data = tmp_path / format.files[-1], files[-1]
    for _ in range(12):
        at = draw.randrange(len(data))
        path.write_bytes(
            draw.choice((data[:at], data[:at] + data[at + 9 :], data[:at] + b"\xff" + data[at:]))
        )
        refusal = ""
        try:
            load(path, "gpt2" if format.needs_split else "").encode("a line")
        except TokentuiError as error:
            refusal = str(error)
        assert "\n" not in refusal


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.first_run(cases=2)
def test_a_name_and_the_first_bytes_tell_the_format_that_is_written(tmp_path: Path, name: str) -> None:
    """Each suffix asks for the format, and what is written there is refused as a corpus, whole or cut off."""
    ours, format = preset(SMALL[name]), WRITTEN[name]
    for suffix in format.suffixes:
        path = tmp_path / suffix.removeprefix(".")
        path = path if not suffix.startswith(".") else tmp_path / f"a{suffix}"
        assert format_of(path, ours.recipe) is format
        put(ours, path, name)
        files = targets(path, format)
        told = [error.what for file in files if (error := mistaken(file))]
        assert told == [f"a tokenizer, not a corpus: {format.about}"] * len(files), suffix
        for file in files:
            Path(file).write_bytes(Path(file).read_bytes()[:-40])
        assert all(mistaken(file) for file in files), suffix


# A stranger's format.

TOKENS = [
    *(bytes((value,)) for value in range(256)), b"he", b"hel", b"hello", " wörld".encode(), b"\n\n", b"it's",
]


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of a format that is added to the table."""
    for name in ("convert", "edit", "train"):  # their help names the formats at their import
        import_again(monkeypatch, f"tokentui.cli.commands.{name}")
    monkeypatch.setitem(FORMATS, "strangers", made_up_format.FORMAT)
    monkeypatch.setitem(WRITTEN, "strangers", made_up_format.FORMAT)
    path = tmp_path / "strangers_vocab.txt"
    lines = [made_up_format.line(n, piece) for n, piece in enumerate(TOKENS, 1)]
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_stranger_adds_a_module_and_an_entry(stranger: Path, tmp_path: Path) -> None:
    format: Format | None = recognize(stranger)
    assert format is made_up_format.FORMAT
    tokenizer = load(stranger)
    text = "hello wörld it's hel\n\n"
    assert tokenizer.encode(text).tokens == ("hello", " wörld", " ", "it's", " ", "hel", "\n\n")
    found = mistaken(str(stranger))
    assert found is not None
    assert found.what == "a tokenizer, not a corpus: a stranger's vocabulary"
    report = export(tokenizer, tmp_path / "out.strangers")
    assert (report.format, report.losses) == ("strangers", ())
    assert (tmp_path / "out.strangers").read_bytes() == stranger.read_bytes()
    export(tokenizer, tmp_path / "own.json")
    assert load(tmp_path / "own.json").encode(text).ids == tokenizer.encode(text).ids


def test_words_that_only_a_stranger_s_format_encodes_are_told() -> None:
    """Longest match gives up a word of more than 100 characters; a format may know no such limit."""
    recipe = Recipe(split="none", base="bytes", encode="longest-match", unknown="error")
    losses = contents(trained(recipe), made_up_format.FORMAT)[0].losses
    assert ("long words", "words of any length are encoded") in [
        (one.what, one.consequence) for one in losses
    ]
    never = contents(trained(recipe.with_axes(unknown="never")), made_up_format.FORMAT)[0].losses
    assert "long words" not in [one.what for one in never]


def test_commands_know_a_stranger_s_format(stranger: Path, tmp_path: Path) -> None:
    assert "a stranger's vocabulary" in done("convert", str(stranger))
    done("convert", str(stranger), str(tmp_path / "copy"), "--to", "strangers")
    assert (tmp_path / "copy").read_bytes() == stranger.read_bytes()
    assert "a stranger's vocabulary" in cli("train", str(stranger), "-r", "gpt2").stderr
    assert done("encode", "-t", str(stranger), "hello")
