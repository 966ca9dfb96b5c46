"""Chats by published templates give the text and the ids of transformers' `apply_chat_template`."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import jinja2.ext
import jinja2.sandbox
import pytest
from chats import TEMPLATES, TOKENS, chats, write_model
from running_cli import done

from tokentui.analyze.chat.rendered import render_chat
from tokentui.analyze.chat.template import Chat, ChatTemplate


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a tokenizer with the special tokens of all templates."""
    return write_model(tmp_path_factory.mktemp("model"))


@pytest.mark.peer
@pytest.mark.parametrize("name", TEMPLATES)
def test_ids_are_those_of_transformers(name: str, model: str, tmp_path: Path) -> None:
    library: Any = pytest.importorskip("transformers")
    peer = library.PreTrainedTokenizerFast(tokenizer_file=model, **TOKENS)
    source = TEMPLATES[name].read_text(encoding="utf-8")
    for number, chat in enumerate(chats(name)):
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps({k: v for k, v in chat.items() if k != "add_generation_prompt"}))
        prompt = ["--add-generation-prompt"] * chat.get("add_generation_prompt", False)
        ours = json.loads(done(
            "encode", "-t", model, "--chat", str(file), "--chat-template", str(TEMPLATES[name]), *prompt,
            "--json", "-q",
        ))
        given = {"chat_template": source, **{k: v for k, v in chat.items() if k != "messages"}}
        text = peer.apply_chat_template(chat["messages"], tokenize=False, **given)
        ids = peer.apply_chat_template(chat["messages"], tokenize=True, return_dict=False, **given)
        assert (ours["text"], ours["ids"]) == (text, list(ids))
        assert len(ours["origin"]) == len(ids)


@pytest.mark.peer
@pytest.mark.parametrize("name", ["chatml", "llama-3", "qwen-2.5", "zephyr"])
@pytest.mark.parametrize("content", ["The answer", "The answer is  ", [{"type": "text", "text": "So"}]])
def test_a_continued_message_is_that_of_transformers(name: str, content: object, model: str) -> None:
    library: Any = pytest.importorskip("transformers")
    if name != "chatml" and isinstance(content, list):
        return
    peer = library.PreTrainedTokenizerFast(tokenizer_file=model, **TOKENS)
    source = TEMPLATES[name].read_text(encoding="utf-8")
    if isinstance(content, list):
        source = source.replace("message['content']", "message['content'][0]['text']")
    asked = [{"type": "text", "text": "?"}] if isinstance(content, list) else "?"
    talk: list[dict[str, object]] = [
        {"role": "user", "content": asked}, {"role": "assistant", "content": content},
    ]
    wanted = peer.apply_chat_template(talk, chat_template=source, tokenize=False, continue_final_message=True)
    template = ChatTemplate("template", source, TOKENS)
    assert render_chat(template, Chat(talk), continue_final_message=True).text == wanted


def _jinja(source: str, variables: dict[str, Any]) -> str:
    """Render a template as transformers does, in this process."""
    made = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols]
    )

    def tojson(value: object, indent: int | None = None) -> str:
        return json.dumps(value, ensure_ascii=False, indent=indent)

    made.filters["tojson"] = tojson
    made.globals["strftime_now"] = datetime.now().strftime
    source = source.replace("{%- generation -%}", "{%- if true -%}").replace("endgeneration", "endif")
    return made.from_string(source).render(**TOKENS, **variables)


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.slow
def test_the_text_is_that_of_jinja(name: str) -> None:
    source = TEMPLATES[name].read_text(encoding="utf-8")
    template = ChatTemplate(name, source, TOKENS)
    for variables in chats(name):
        chat = Chat(variables["messages"], variables.get("tools"), variables.get("documents"))
        prompt = variables.get("add_generation_prompt", False)
        given = {"tools": None, "documents": None, "add_generation_prompt": False, **variables}
        assert render_chat(template, chat, add_generation_prompt=prompt).text == _jinja(source, given)
