"""Folders without `tokenizer.json`: ids and tokens around a text as the tokenizer class of transformers gives
them."""

from __future__ import annotations

import json
from pathlib import Path

import class_folders
import pytest
from running_cli import cli, done, refused

import tokentui
from tokentui.formats.files import export
from tokentui.formats.spec import Unsupported

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "classes.json").read_text())
"""For each class, the ids of each text without and with the tokens around it, by transformers 4.57.6."""


@pytest.mark.parametrize("name", sorted(RECORDED))
@pytest.mark.first_run(cases=2)
def test_a_class_numbers_the_pieces(name: str, tmp_path: Path) -> None:
    tokenizer = tokentui.load(class_folders.write(tmp_path, name))
    for text, (plain, around) in zip(class_folders.TEXTS, RECORDED[name], strict=True):
        assert list(tokenizer.encode(text, allow_special=True).ids) == plain, text
        ids = tokenizer.encode(text, allow_special=True, special_tokens=True).ids
        assert list(ids) == around, text
        assert isinstance(tokenizer.decode(ids), str)


def test_a_class_that_is_not_known_is_refused_by_name(tmp_path: Path) -> None:
    folder = class_folders.write(tmp_path, "Llama", tokenizer_class="SurprisingTokenizer")
    assert "the class SurprisingTokenizer is not read: what it does" in refused(
        "encode", "-t", str(folder), "a"
    )
    class_folders.write(tmp_path, "Llama", tokenizer_class="CpmTokenizer")
    assert "the class CpmTokenizer is not read: it cuts words with" in refused(
        "encode", "-t", str(folder), "a"
    )


def test_the_type_of_the_model_names_the_class(tmp_path: Path) -> None:
    named = tokentui.load(class_folders.write(tmp_path, "XLMRoberta")).encode("the river").ids
    (tmp_path / "tokenizer_config.json").unlink()
    raw = tokentui.load(tmp_path).encode("the river").ids
    (tmp_path / "config.json").write_text('{"model_type": "xlm-roberta"}')
    assert tokentui.load(tmp_path).encode("the river").ids == named != raw


@pytest.mark.parametrize("name", ["MBart", "Reformer", "GPT2", "Roberta", "MPNet", "Esm"])
@pytest.mark.slow
def test_the_own_format_keeps_the_tokens_of_a_class(name: str, tmp_path: Path) -> None:
    folder = tokentui.load(class_folders.write(tmp_path / "folder", name))
    folder.save(tmp_path / "kept.json", "tokentui")
    kept = tokentui.load(tmp_path / "kept.json")
    for text in class_folders.TEXTS:
        ids, same = (one.encode(text, allow_special=True, special_tokens=True).ids for one in (folder, kept))
        assert ids == same, text
    assert kept.vocabulary.specials == folder.vocabulary.specials


@pytest.mark.parametrize(("name", "lost"), [("MBart", True), ("XLMRoberta", False)])
def test_a_model_loses_the_tokens_around_a_text(name: str, lost: bool, tmp_path: Path) -> None:
    folder = tokentui.load(class_folders.write(tmp_path / "folder", name))
    losses = export(folder, tmp_path / "kept.model", "sentencepiece").losses
    assert any(loss.what == "around" for loss in losses) is lost


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("name", ["Albert", "M2M100"])
def test_what_a_model_cannot_say_is_not_written(name: str, tmp_path: Path) -> None:
    folder = class_folders.write(tmp_path / "folder", name)
    with pytest.raises(Unsupported, match="the class of the folder"):
        export(tokentui.load(folder), tmp_path / "kept.model", "sentencepiece")


@pytest.mark.slow
def test_names_that_the_class_does_not_name_are_plain_text(tmp_path: Path) -> None:
    folder = class_folders.write(tmp_path, "GPT2")
    tokenizer = tokentui.load(folder)
    assert set(tokenizer.vocabulary.specials) == {"<|endoftext|>"}
    text = "<mask> of <unk>"
    assert tokenizer.encode(text, allow_special=True).ids == tokenizer.encode(text).ids
    class_folders.write(tmp_path, "GPT2", mask_token="<mask>")
    assert set(tokentui.load(folder).vocabulary.specials) == {"<|endoftext|>", "<mask>"}
    class_folders.write(tmp_path, "Roberta")
    assert "<mask>" in tokentui.load(folder).vocabulary.specials


def test_proteins_are_cut_without_a_limit(tmp_path: Path) -> None:
    tokenizer = tokentui.load(class_folders.write(tmp_path, "Esm"))
    assert tokenizer.encode("M" * 300 + " zz").ids == (*[20] * 300, 3)


def test_an_option_names_the_class(tmp_path: Path) -> None:
    folder = class_folders.write(tmp_path, "XLMRoberta")
    ids = done("encode", "-t", str(folder), "the river").split()
    model = str(folder / "sentencepiece.bpe.model")
    raw = done("encode", "-t", model, "the river").split()
    assert raw != ids
    assert done("encode", "-t", model, "--class", "XLMRobertaTokenizerFast", "the river").split() == ids
    result = cli("encode", "-t", str(folder), "--class", "Llama", "the river")
    assert result.stdout.split() == raw
    assert "read as Llama, the class of --class; the folder names XLMRobertaTokenizer" in result.stderr
    assert "no such class (did you mean Llama?)" in refused("encode", "-t", model, "--class", "Lama", "a")
    assert "--class Cpm: not read: it cuts" in refused("encode", "-t", model, "--class", "Cpm", "a")


def test_the_target_of_marian_is_named_by_its_file(tmp_path: Path) -> None:
    folder = class_folders.write(tmp_path, "Marian")
    ids = tokentui.load(folder).encode("the river", special_tokens=True).ids
    assert tokentui.load(folder / "target.spm").encode("the river", special_tokens=True).ids == ids
    (folder / "tokenizer_config.json").unlink()
    assert tokentui.load(folder / "target.spm").encode("the river").ids != ids[:-1]


def test_a_vocabulary_without_a_class_asks_for_its_kind(tmp_path: Path) -> None:
    folder = class_folders.write(tmp_path, "Esm")
    file = str(folder / "vocab.txt")
    assert "does not say how words are cut (add --class Bert" in refused("encode", "-t", file, "M E")
    assert done("encode", "-t", file, "--class", "Esm", "ME").split() == ["20", "9"]
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\nC\nCl\n(\n)\n[nH]\n")
    assert done("encode", "-t", file, "--class", "Smiles", "C[nH](Cl)N").split() == list("486571")
