"""`tokentui encode --chat`."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import pytest
from chats import write_model
from running_cli import cli, done, refused

MESSAGES = [{"role": "user", "content": "Hi \x1b[31m"}]
TEMPLATE = "<|im_start|>{{ messages[0].content }}{% if add_generation_prompt %}<|im_end|>{% endif %}"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a tokenizer with a chat template."""
    return write_model(tmp_path_factory.mktemp("model"), TEMPLATE)


@pytest.fixture(scope="module")
def messages(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a file of messages."""
    path = tmp_path_factory.mktemp("chat") / "messages.json"
    path.write_text(json.dumps(MESSAGES))
    return str(path)


@pytest.mark.slow
def test_ids_and_warnings(model: str, messages: str) -> None:
    result = cli("encode", "-t", model, "--chat", messages)
    ids = result.stdout.split()
    assert done("decode", "-t", model, *ids) == "<|im_start|>Hi \x1b[31m\n"
    assert result.stderr == (
        "tokentui: the last message is of the role user, and no generation prompt follows: "
        "--add-generation-prompt adds it\n"
    )
    assert cli("encode", "-t", model, "--chat", messages, "-q").stderr == ""


def test_a_row(model: str, messages: str) -> None:
    row = json.loads(done("encode", "-t", model, "--chat", messages, "--json", "--add-generation-prompt"))
    assert list(row)[:7] == ["text", "ids", "tokens", "hex", "offsets", "origin", "warnings"]
    assert len({len(row[name]) for name in ("ids", "tokens", "hex", "offsets", "origin")}) == 1
    assert (row["origin"][0], row["origin"][1], row["origin"][-1]) == ("special", "content", "special")
    assert row["warnings"] == []
    row = json.loads(done("encode", "-t", model, "--chat", messages, "--json"))
    assert [set(warning) for warning in row["warnings"]] == [{"code", "text", "token", "message"}]


def test_a_line_for_each_token(model: str, messages: str) -> None:
    lines = done("encode", "-t", model, "--chat", messages, "--explain").splitlines()
    assert lines[0].startswith("tokens")
    assert lines[1].split() == ["2", "special", "<|im_start|>"]
    assert all("\x1b" not in line for line in lines)


@pytest.mark.slow
def test_messages_on_standard_input(model: str, messages: str) -> None:
    wanted = done("encode", "-t", model, "--chat", messages, "-q")
    assert done("encode", "-t", model, "--chat", "-", "-q", input=json.dumps(MESSAGES)) == wanted
    row = json.dumps({"messages": MESSAGES, "temperature": 1})
    result = cli("encode", "-t", model, "--chat", "-", "--add-generation-prompt", input=row)
    assert result.stderr == "tokentui: -: ignored: temperature\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a text"], "--chat and TEXT cannot be combined"),
        (["--jsonl"], "--chat and --jsonl cannot be combined"),
        (["--sample", "1"], "--chat and --sample cannot be combined"),
        (["--add-generation-prompt", "--continue-final-message"], "cannot be combined"),
        (["--chat-template", "nowhere.jinja"], "nowhere.jinja: no such file"),
    ],
)
def test_options_that_make_no_sense(words: list[str], message: str, model: str, messages: str) -> None:
    assert message in refused("encode", "-t", model, "--chat", messages, *words)


@pytest.mark.parametrize("word", ["--add-generation-prompt", "--continue-final-message", "--chat-template=x"])
def test_options_of_chats_alone(word: str, model: str) -> None:
    assert "requires --chat" in refused("encode", "-t", model, word, "text")


def test_a_missing_library(model: str, messages: str, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec

    def without(name: str, *rest: Any) -> Any:
        return None if name == "jinja2" else find(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    line = refused("encode", "-t", model, "--chat", messages)
    assert line.endswith("chat templates need jinja2, which is not installed (pip install 'tokentui[chat]')")
