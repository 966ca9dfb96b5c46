"""The size that is asked for is the size that is written, and a size that is not reached is reported."""

from __future__ import annotations

import functools
import warnings
from pathlib import Path

import pytest
from exporting import HOLD, SMALL
from running_cli import cli, done, refused

import tokentui
from tokentui.formats import WRITTEN
from tokentui.formats.files import load, recognize
from tokentui.preset_table import PRESETS

SIZED = [(format, name) for format, names in sorted(HOLD.items()) for name in sorted(names)
         if format != "subword-nmt" and name != "gage"]  # files without ids; never more ids than bytes
"""Each format with each preset that it can hold."""


@pytest.mark.parametrize(("format", "preset"), SIZED)
@pytest.mark.first_run(cases=3)
def test_every_format_has_the_size_that_is_asked_for(format: str, preset: str, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    one = WRITTEN[format]
    output = tmp_path / "out" if len(one.files) > 1 else tmp_path / "out" / one.files[0]
    result = cli(
        "train", "sample:english", "-r", preset, "--vocab-size", "420", "--exact", "-o", str(output),
        "--format", format,
    )
    if result.exit_code and "cannot store it" in result.stderr:
        assert format != "tokentui"
        return
    split = PRESETS[preset].recipe.split if one.needs_split else ""
    size = load(tmp_path / "out" / one.files[0], split).vocab_size
    rest_of_word = PRESETS[preset].recipe.unknown == "rest-of-word"  # [UNK] would change how it encodes
    assert size == (421 if format == "bert" and rest_of_word else 420), result.stderr
    assert result.exit_code == 0, result.stderr


@pytest.mark.slow
def test_the_special_tokens_that_a_file_lacks_are_named(tmp_path: Path) -> None:
    file = str(tmp_path / "a.model")
    line = ("train", "sample:english", "-r", "sentencepiece-unigram", "--vocab-size", "400", "-o", file)
    found = cli(*line)
    assert "the file has no <s> </s>" in found.stderr
    assert "--published" in found.stderr
    assert load(file).id_to_token(0) == "<unk>"
    assert "the file has no" not in cli(*line, "--published").stderr


SHORT = ("train", "sample:hugs", "-r", "gpt2", "--vocab-size", "2000")


def test_a_size_that_is_not_reached_fails_with_exact(tmp_path: Path) -> None:
    file, more = str(tmp_path / "a.json"), str(tmp_path / "b.json")
    found = cli(*SHORT, "-o", file)
    assert found.exit_code == 0
    assert "--vocab-size 2000: not reached, the tokenizer has" in found.stderr
    assert cli(*SHORT, "-o", file, "--exact").exit_code == 1
    quiet = cli(*SHORT, "-q", "-o", file, "--exact")
    assert "--vocab-size 2000: not reached, the tokenizer has" in quiet.stderr
    size = load(file).vocab_size
    extend = ("edit", file, more, "--extend", "sample:hugs", "--vocab-size", "2000")
    found = cli(*extend)
    assert found.exit_code == 0
    assert f"training stopped at {size:,} ids" in found.stderr
    assert cli(*extend, "--exact").exit_code == 1
    budget = ("inspect", "-t", file, "--budget", "sample:hugs", "--target", "0.0001")
    found = cli(*budget)
    assert found.exit_code == 0
    assert "not met" in found.stderr
    assert cli(*budget, "--exact").exit_code == 1


def test_exact_needs_a_size(tmp_path: Path) -> None:
    done("train", "sample:hugs", "-r", "gpt2", "--merges", "3", "-o", str(tmp_path / "a.json"))
    assert "--vocab-size" in refused("train", "sample:hugs", "-r", "gpt2", "--exact")
    assert "--target" in refused("inspect", "-t", str(tmp_path / "a.json"), "--exact")
    assert "--vocab-size" in refused(
        "edit", str(tmp_path / "a.json"), str(tmp_path / "b.json"), "--add", "x", "--exact"
    )


JSON_FILES = [name for name, one in WRITTEN.items() if len(one.files) == 1 and one.files[0].endswith(".json")]


@pytest.mark.parametrize("format", [name for name in SMALL if len(WRITTEN[name].files) == 1])
@pytest.mark.slow
def test_edit_and_convert_keep_the_format_of_the_input(format: str, tmp_path: Path) -> None:
    preset = SMALL[format]
    source = tmp_path / WRITTEN[format].files[0]
    done("train", "sample:english", "-r", preset, "--merges", "30", "-o", str(source), "--format", format)
    split = ("-s", f"split={PRESETS[preset].recipe.split}") if WRITTEN[format].needs_split else ()
    names = ["out.json"] if format in JSON_FILES else [f"out{WRITTEN[format].suffixes[0]}"]
    for name in names:
        for words in (("convert", str(source), str(tmp_path / name), *split),
                      ("edit", str(source), str(tmp_path / name), "--special", "<|x|>", *split)):
            result = cli(*words)
            if result.exit_code == 1:
                assert "cannot store" in result.stderr
                continue
            assert result.exit_code == 0, result.stderr
            found = recognize(str(tmp_path / name))
            assert found is not None
            assert found.name == format
            (tmp_path / name).unlink()
    done("convert", str(source), str(tmp_path / "own.json"), "--to", "tokentui", *split)
    found = recognize(str(tmp_path / "own.json"))
    assert found is not None
    assert found.name == "tokentui"


def test_pruning_fails_only_if_equality_is_asked_for(tmp_path: Path) -> None:
    file, small = str(tmp_path / "a.json"), str(tmp_path / "b.json")
    done("train", "sample:english", "-r", "gpt2", "--vocab-size", "600", "-o", file)
    prune = ("edit", file, small, "--prune", "sample:english", "--keep", "400")
    assert "1 with different pieces" in done(*prune)
    assert cli(*prune, "--same-pieces").exit_code == 1
    assert "--prune" in refused("edit", file, small, "--add", "x", "--same-pieces")


@functools.cache
def trained(preset: str, published: bool) -> tokentui.Tokenizer:
    """A tokenizer, which several formats hold."""
    return tokentui.train("sample:english", preset, vocab_size=420, published=published)


@pytest.mark.parametrize(("format", "preset"), SIZED)
@pytest.mark.parametrize("published", [False, True])
@pytest.mark.first_run(cases=2)
def test_a_library_file_has_the_size_that_is_asked_for_or_a_warning_says_so(
    format: str, preset: str, published: bool, tmp_path: Path
) -> None:
    tokenizer = trained(preset, published)
    one = WRITTEN[format]
    path = tmp_path if len(one.files) > 1 else tmp_path / one.files[0]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            tokenizer.save(path, format)
        except tokentui.TokentuiError:
            assert not caught
            return
    split = PRESETS[preset].recipe.split if one.needs_split else ""
    size = load(tmp_path / one.files[0], split).vocab_size
    lost = 0 if "specials" in one.keeps else len(tokenizer.vocabulary.specials)
    if tokenizer.vocab_size == 420:  # else training ended before, and the size is not that asked for anyway
        assert size - len(caught) in (420, 420 - lost)
    if caught:
        assert "specials=['" in str(caught[0].message)
        assert "besides the 420 ids" in str(caught[0].message)
