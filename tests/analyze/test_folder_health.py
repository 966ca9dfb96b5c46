"""Checks of a model folder: each planted contradiction is found, and folders that agree raise nothing."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from exporting import unproved
from running_cli import cli, done

import tokentui
from tokentui.analyze.health import CHECKS, FAIL, INFO, NONE, PASS, WARN
from tokentui.analyze.health.folder import FOLDER_CHECKS, examine_folder
from tokentui.analyze.results import CheckResult
from tokentui.formats import WRITTEN
from tokentui.formats.folder import model_folder
from tokentui.preset_table import PRESETS

END = "<|endoftext|>"
NAMES = {"gpt2": "", "huggingface": "tokenizer.json", "bert": "vocab.txt", "sentencepiece": "tokenizer.model",
         "tekken": "tekken.json", "minbpe": "tokenizer.model", "tiktoken": "tiktoken.model"}
TEMPLATE = "{{ bos_token }}{% for message in messages %}{{ message['content'] }}{% endfor %}"


@functools.cache
def _trained(recipe: str) -> tokentui.Tokenizer:
    return tokentui.train("sample:english", recipe, vocab_size=600, specials=["<unk>", END])


def made(folder: Path, recipe: str, formats: tuple[str, ...], tokenizer_class: str = "") -> int:
    """Train a small tokenizer and export it in these formats with settings that agree. Return its size."""
    tokenizer = _trained(recipe)
    for format in formats:
        for name, data in zip(WRITTEN[format].files, unproved(tokenizer, format), strict=True):
            (folder / (NAMES[format] or name)).write_bytes(data)
    change(folder, "tokenizer_config.json", tokenizer_class=tokenizer_class or "PreTrainedTokenizerFast")
    end = tokentui.load(folder).vocabulary
    number = end.special_id(END) if END in end.specials else None
    if number is not None:
        change(folder, "tokenizer_config.json", eos_token=END, pad_token={"content": END},
               added_tokens_decoder={str(number): {"content": END, "special": True}})
        change(folder, "special_tokens_map.json", eos_token=END)
        change(folder, "config.json", eos_token_id=number)
        change(folder, "generation_config.json", eos_token_id=[number], pad_token_id=number)
    size = 1 + max(entry.id for entry in tokentui.load(folder).entries())
    change(folder, "config.json", vocab_size=size)
    return size


def change(folder: Path, file: str, **values: Any) -> Path:
    """Set keys of a JSON file, which need not exist, and return its path."""
    path = folder / file
    document = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(document | values))
    return path


def found(folder: Path) -> dict[str, CheckResult]:
    """Return the checks that are neither PASS nor n/a, by name."""
    looked_at = model_folder(str(folder))
    assert looked_at is not None
    results = examine_folder(looked_at, tokentui.load(folder))
    assert [result.name for result in results] == [check.name for check in FOLDER_CHECKS]
    return {result.name: result for result in results if result.status not in (PASS, NONE)}


# ---- folders that agree


@pytest.mark.parametrize(("recipe", "formats", "tokenizer_class"), [
    ("gpt2", ("gpt2",), "GPT2Tokenizer"), ("gpt2", ("huggingface",), "GPT2TokenizerFast"),
    ("gpt2", ("huggingface", "gpt2"), "GPT2Tokenizer"), ("gpt2", ("huggingface", "gpt2"), ""),
    ("minbpe", ("huggingface", "tekken"), ""), ("gpt2", ("tekken",), ""),
    ("minbpe", ("huggingface", "tekken", "gpt2"), ""),
    ("llama3", ("huggingface",), ""), ("llama3", ("huggingface", "gpt2"), ""),
    ("llama3", ("huggingface", "tiktoken"), ""), ("gpt4o", ("huggingface", "gpt2"), ""),
    ("minbpe", ("minbpe",), ""), ("gpt4", ("huggingface", "tiktoken"), ""),
    ("bert", ("huggingface", "bert"), "BertTokenizerFast"),
    ("wordpiece", ("huggingface", "bert"), "BertTokenizer"),
    ("bert", ("bert",), "BertTokenizer"), ("sentencepiece-bpe", ("sentencepiece",), "LlamaTokenizer"),
    ("sentencepiece-bpe", ("huggingface", "sentencepiece"), "LlamaTokenizerFast"),
    ("sentencepiece-unigram", ("sentencepiece",), "T5Tokenizer"),
    ("sentencepiece-unigram", ("huggingface", "sentencepiece"), "T5TokenizerFast"),
    ("llama2", ("huggingface", "sentencepiece"), "LlamaTokenizerFast"), ("hf-bpe", ("huggingface",), ""),
])
@pytest.mark.first_run(cases=1)
def test_files_that_agree_raise_nothing(
    tmp_path: Path, recipe: str, formats: tuple[str, ...], tokenizer_class: str
) -> None:
    made(tmp_path, recipe, formats, tokenizer_class)
    assert found(tmp_path) == {}


@pytest.mark.slow
def test_a_model_of_qwen_with_its_own_pattern_raises_nothing(tmp_path: Path) -> None:
    made(tmp_path, "gpt2", ("huggingface",))
    recipe = replace(PRESETS["gpt2"].recipe, split="qwen")
    tokenizer = tokentui.train("sample:english", recipe, vocab_size=600, specials=["<unk>", END])
    tokenizer.save(tmp_path / "tokenizer.json", "huggingface")
    change(tmp_path, "config.json", model_type="qwen2")
    assert "pattern" not in found(tmp_path)
    tokentui.train("sample:english", "gpt2", vocab_size=600, specials=["<unk>", END]).save(
        tmp_path / "tokenizer.json", "huggingface"
    )
    assert found(tmp_path)["pattern"].status == WARN


# ---- one contradiction each


def _swap_ids(folder: Path) -> None:
    path = folder / "vocab.json"
    ids = json.loads(path.read_text())
    ids["Ġthe"], ids["Ġa"] = ids["Ġa"], ids["Ġthe"]
    path.write_text(json.dumps(ids))


def _turn_merges(folder: Path) -> None:
    path = folder / "merges.txt"
    head, *rows = path.read_text().splitlines()
    path.write_text("\n".join([head, *reversed(rows)]) + "\n")


def _template(folder: Path) -> None:
    change(folder, "tokenizer_config.json", bos_token=END, chat_template=TEMPLATE)
    step = {"id": END, "type_id": 0}
    single = [{"SpecialToken": step}, {"Sequence": {"id": "A", "type_id": 0}}]
    number = json.loads((folder / "config.json").read_text())["eos_token_id"]
    special = {END: {"id": END, "ids": [number], "tokens": [END]}}
    change(folder, "tokenizer.json", post_processor={
        "type": "TemplateProcessing", "single": single, "pair": single, "special_tokens": special,
    })


def _twice(folder: Path) -> None:
    _template(folder)
    document = json.loads((folder / "tokenizer.json").read_text())["post_processor"]
    document["single"].insert(0, document["single"][0])
    change(folder, "tokenizer.json", post_processor=document)


def _tekken(folder: Path) -> None:
    tokenizer = tokentui.train("sample:english", "gpt2", vocab_size=600, specials=["<unk>", END, "[INST]"])
    tokenizer.save(folder / "tekken.json", "tekken")
    for file in ("added_tokens_decoder", "eos_token", "pad_token"):
        change(folder, "tokenizer_config.json", **{file: None})


PLANTED: dict[str, tuple[str, str, str, Callable[[Path], object]]] = {
    "ids swapped in a stale vocab.json": ("gpt2", "stale", WARN, _swap_ids),
    "merges of another training": ("gpt2", "stale", WARN, _turn_merges),
    "an added token with two ids": ("gpt2", "ids", WARN, lambda folder: (
        folder / "added_tokens.json").write_text(json.dumps({END: 7}))),
    "a padding token that no vocabulary has": ("gpt2", "ids", WARN, lambda folder: change(
        folder, "tokenizer_config.json", pad_token="[PAD]")),
    "Llama-3's pattern in a model of Mistral's": ("llama3", "pattern", WARN, lambda folder: change(
        folder, "config.json", model_type="mistral3")),
    "a token without a row": ("gpt2", "rows", FAIL, lambda folder: change(
        folder, "config.json", vocab_size=599)),
    "rows without a token": ("gpt2", "rows", INFO, lambda folder: change(
        folder, "config.json", vocab_size=640)),
    "a number of rows as text": ("gpt2", "rows", FAIL, lambda folder: change(
        folder, "config.json", vocab_size="600")),
    "a beginning below zero": ("gpt2", "ends", WARN, lambda folder: change(
        folder, "config.json", bos_token_id=-1)),
    "an end that is a text": ("gpt2", "ends", WARN, lambda folder: change(
        folder, "generation_config.json", eos_token_id="</s>")),
    "an end that is no token": ("gpt2", "ends", WARN, lambda folder: change(
        folder, "generation_config.json", eos_token_id=[1, 99_999])),
    "the end of another model": ("gpt2", "ends", WARN, lambda folder: [
        change(folder, file, eos_token_id=300) for file in ("config.json", "generation_config.json")]),
    "a class of sentencepiece over bytes": ("gpt2", "class", WARN, lambda folder: change(
        folder, "tokenizer_config.json", tokenizer_class="LlamaTokenizerFast")),
    "GPT-2's class over Llama-3's pattern": ("llama3", "class", WARN, lambda folder: change(
        folder, "tokenizer_config.json", tokenizer_class="GPT2Tokenizer")),
    "a template and a post-processor that begin": ("gpt2", "bos", INFO, _template),
    "a post-processor that begins twice": ("gpt2", "bos", FAIL, _twice),
    "add_bos_token without a post-processor": ("gpt2", "bos", WARN, lambda folder: change(
        folder, "tokenizer_config.json", bos_token=END, add_bos_token=True)),
    "clean-up of a lossless decoder": ("gpt2", "clean-up", INFO, lambda folder: change(
        folder, "tokenizer_config.json", clean_up_tokenization_spaces=True)),
    "a space in front that the file lacks": ("gpt2", "settings", WARN, lambda folder: change(
        folder, "tokenizer_config.json", add_prefix_space=True)),
    "two chat templates": ("gpt2", "template", WARN, lambda folder: [
        change(folder, "tokenizer_config.json", chat_template="a"),
        (folder / "chat_template.jinja").write_text("b")]),
    "settings that cannot be read": ("gpt2", "unread", WARN, lambda folder: (
        folder / "added_tokens.json").write_text("[" * 9999)),
}


def test_a_decoder_that_loses_no_space_is_told_of_clean_up(tmp_path: Path) -> None:
    made(tmp_path, "gpt2", ("huggingface",))
    PLANTED["clean-up of a lossless decoder"][3](tmp_path)
    assert [(one.name, one.status) for one in found(tmp_path).values()] == [("clean-up", INFO)]


@pytest.mark.parametrize("case", PLANTED)
@pytest.mark.slow
def test_a_contradiction_is_the_only_finding(tmp_path: Path, case: str) -> None:
    recipe, name, status, plant = PLANTED[case]
    made(tmp_path, recipe, ("huggingface", "gpt2"))
    assert found(tmp_path) == {}
    plant(tmp_path)
    results = found(tmp_path)
    assert {result.name: result.status for result in results.values()} == {name: status}
    others = [word for check in CHECKS for word in ("--ignore", check.name)]
    result = cli("inspect", "-t", str(tmp_path), "--strict", "--json", *others)
    assert result.exit_code == (0 if status == INFO else 1)
    rows = {row["name"]: row for row in json.loads(result.stdout)["checks"]}
    assert rows[name]["status"] == status


@pytest.mark.slow
def test_a_control_token_of_tekken_that_tokenizer_json_lacks(tmp_path: Path) -> None:
    made(tmp_path, "gpt2", ("huggingface",))
    _tekken(tmp_path)
    result = found(tmp_path)["ids"]
    assert (b"[INST]", "special in tekken.json alone") in {(one.piece, one.note) for one in result.examples}


@pytest.mark.slow
def test_a_text_shows_the_difference(tmp_path: Path) -> None:
    made(tmp_path, "gpt2", ("huggingface", "gpt2"))
    _turn_merges(tmp_path)
    example = found(tmp_path)["stale"].examples[0]
    text = example.piece.decode()
    files = [tokentui.load(tmp_path / name) for name in ("tokenizer.json", "vocab.json")]
    ours, theirs = (tokenizer.encode(text).ids for tokenizer in files)
    assert ours != theirs
    assert example.note.startswith(f"{ours[0]} ")


@pytest.mark.slow
def test_inspect_names_the_file_and_takes_the_checks_to_ignore(tmp_path: Path) -> None:
    made(tmp_path, "gpt2", ("huggingface", "gpt2"))
    change(tmp_path, "config.json", vocab_size=500)
    words = ("inspect", "-t", str(tmp_path))
    assert cli(*words).exit_code == 1
    said = done(*words, "--ignore", "rows")
    assert "folder       tokenizer.json: the fast tokenizer" in said
    row = json.loads(done(*words, "--ignore", "rows", "--json"))
    assert row["folder"]["vocabulary"] == ["tokenizer.json"]
    assert row["folder"]["others"] == [["vocab.json", "merges.txt"]]
