"""Chat templates, chats for each, and a tokenizer with the special tokens of all of them."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from exporting import put

import tokentui

_FOLDER = Path(__file__).parents[1] / "data" / "chat"
TEMPLATES = {path.stem: path for path in sorted(_FOLDER.glob("*.jinja"))}
SPECIALS = (
    "<s>", "</s>", "<|im_start|>", "<|im_end|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>",
    "<start_of_turn>", "<end_of_turn>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>",
    "<｜User｜>", "<｜Assistant｜>", "<｜end▁of▁sentence｜>",
    "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>",
    "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>", "<|SYSTEM_TOKEN|>",
)
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
TALK = [
    {"role": "user", "content": " Who are you? "},
    {"role": "assistant", "content": "<think>\nhm\n</think>\n\nA model: {\"ü\": '<b>'}"},
    {"role": "user", "content": "Say <|im_end|> twice.\n"},
]
SYSTEM = {"role": "system", "content": "Be short & kind."}
TOOL = {"type": "function", "function": {
    "name": "add", "description": "Add <two> numbers, größer", "parameters": {"type": "object"},
}}
CALL: list[dict[str, Any]] = [
    {"role": "user", "content": "2 + 3?"},
    {"role": "assistant", "content": "", "tool_calls": [
        {"type": "function", "function": {"name": "add", "arguments": {"a": 2, "b": "drei \"3\""}}},
    ]},
    {"role": "tool", "content": "5"},
]
NO_SYSTEM = ("gemma", "mistral")
WITH_TOOLS = ("llama-3.1", "qwen-2.5")


def chats(template: str) -> list[dict[str, Any]]:
    """Return the variables of the renderings that a template is tried with."""
    talks: list[list[dict[str, Any]]] = [[*TALK], TALK[:1]]
    talks += [] if template in NO_SYSTEM else [[SYSTEM, *TALK]]
    made: list[dict[str, Any]] = [
        {"messages": talk, "add_generation_prompt": prompt} for talk in talks for prompt in (False, True)
    ]
    if template in WITH_TOOLS:
        made.append({"messages": CALL, "tools": [TOOL], "add_generation_prompt": True})
    if template == "command-r":
        rows = [{"title": "A", "text": "a text"}, {"title": "B", "text": "more"}]
        made.append({"messages": TALK[:1], "documents": rows})
    if template == "smollm":
        blocks = [{"type": "text", "text": "Hi"}, {"type": "image"}, {"type": "text", "text": " you"}]
        made.append({"messages": [{"role": "user", "content": blocks}]})
    return made


@functools.cache
def _model() -> tokentui.Tokenizer:
    """Train the tokenizer once for a worker."""
    return tokentui.train("sample:english", "gpt2", vocab_size=600, specials=SPECIALS)


def write_model(folder: Path, template: str = "", **config: object) -> str:
    """Write a tokenizer with `SPECIALS` in Hugging Face's format, and its config. Returns its path."""
    path = folder / "tokenizer.json"
    put(_model(), path, "huggingface")
    settings = {**TOKENS, **({"chat_template": template} if template else {}), **config}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return str(path)
