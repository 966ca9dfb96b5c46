"""Model folders of strangers: settings of any shape, names that act on a terminal, pipes, links."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from exporting import put
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from running_cli import cli, refused

import tokentui
from tokentui.analyze.health.folder import FOLDER_CHECKS, examine_folder
from tokentui.core.errors import TokentuiError
from tokentui.formats.folder import SETTINGS, TEMPLATE, TOKENS, model_folder

NAMES = (
    "added_tokens_decoder", "chat_template", "tokenizer_class", "add_bos_token", "add_eos_token",
    "do_lower_case", "add_prefix_space", "clean_up_tokenization_spaces", "vocab_size", "text_config",
    "model_type", "bos_token_id", "eos_token_id", "pad_token_id", "content", "special", *TOKENS,
)
WORDS = st.sampled_from([
    "<s>", "\ud800", "\x1b[2J", "a", "", "GPT2Tokenizer", "LlamaTokenizerFast", "mistral", "Ġ", "0",
])
NUMBERS = st.integers(-2, 1 << 70) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from([*NAMES, "0", "300", "9" * 30]) | WORDS, inner, max_size=3),
    max_leaves=6,
)
DOCUMENTS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6)


@pytest.fixture(scope="module", params=["gpt2", "huggingface"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("folder")
    made = tokentui.train("sample:hugs", "gpt2", merges=6, specials=["<s>"])
    put(made, path, "gpt2")
    if request.param == "huggingface":
        put(made, path / "tokenizer.json", "huggingface")
    return path


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(documents=st.fixed_dictionaries({}, optional=dict.fromkeys(SETTINGS, DOCUMENTS)))
@pytest.mark.slow
def test_settings_of_any_shape_are_judged(folder: Path, documents: dict[str, dict[str, Any]]) -> None:
    for name in SETTINGS:
        (folder / name).unlink(missing_ok=True)
    for name, document in documents.items():
        (folder / name).write_text(json.dumps(document))
    found = model_folder(str(folder))
    assert found is not None
    tokenizer = tokentui.load(folder)
    results = examine_folder(found, tokenizer)
    assert len(results) == len(FOLDER_CHECKS)
    assert tokenizer.decode(tokenizer.encode("hugs pugs").ids) == "hugs pugs"


def test_texts_of_a_folder_do_not_act_on_a_terminal(folder: Path) -> None:
    evil = "\x1b]52;c;eA==\x07"
    for name in SETTINGS:
        (folder / name).write_text(json.dumps({
            "tokenizer_class": evil, "bos_token": evil, "model_type": evil, "chat_template": evil,
            "added_tokens_decoder": {"7": {"content": evil}}, "eos_token_id": [1 << 20],
        }))
    (folder / TEMPLATE).write_text("another")
    said = cli("inspect", "-t", str(folder)).output
    assert "chat templates" in said
    assert "\x1b" not in said
    assert "\x07" not in said


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize("name", ["tokenizer.json", "vocab.json", "tokenizer_config.json"])
@pytest.mark.parametrize("kind", ["folder", "pipe", "loop", "dangling", "sparse"])
def test_what_is_no_file_is_refused_or_named(tmp_path: Path, name: str, kind: str) -> None:
    put(tokentui.train("sample:hugs", "gpt2", merges=6), tmp_path, "gpt2")
    path = tmp_path / name
    path.unlink(missing_ok=True)
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind in ("loop", "dangling"):
        path.symlink_to(path if kind == "loop" else tmp_path / "nowhere")
    else:
        with path.open("wb") as file:
            file.truncate(1 << 34)
    if name == "tokenizer_config.json":
        found = model_folder(str(tmp_path))
        assert found is not None
        assert set(found.unread) == {name}
        return
    with pytest.raises(TokentuiError):
        tokentui.load(tmp_path)
    assert refused("inspect", "-t", str(tmp_path))


def test_a_deep_tokenizer_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text('{"model": {"vocab": {}}, "x": ' + "[" * 5000 + "]" * 5000 + "}")
    assert "nested too deeply" in refused("encode", "-t", str(tmp_path), "a")
