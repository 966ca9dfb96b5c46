"""The chat templates of a GGUF file, and the special tokens that they may write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tokentui.core.errors import TokentuiError
from tokentui.formats import gguf
from tokentui.formats.source import Node, Source

_TEMPLATE = "tokenizer.chat_template"
"""The key of the default template. Those with names have the name after a dot."""
_TOKENS = {
    "bos_token": "bos", "eos_token": "eos", "unk_token": "unknown", "sep_token": "seperator",
    "pad_token": "padding", "cls_token": "cls", "mask_token": "mask",
}
"""The part of `tokenizer.ggml.…_token_id` for each variable of a template. The format spells `seperator`."""


class ChatSettings(NamedTuple):
    """The keys of a file that concern chats.

    Attributes:
        templates: The source of each template by its name, `default` for the one without a name.
        tokens: The special tokens by the variables of a template.
    """

    templates: Mapping[str, str]
    tokens: Mapping[str, str]


def chat_settings(source: Source) -> ChatSettings:
    """Read the chat templates and the names of special tokens of a GGUF file.

    Raises:
        TokentuiError: The file is damaged, or a template is no text.
    """
    values = gguf.parse(source.data, source.where).values
    templates = {}
    for key, text in values.items():
        name = "default" if key == _TEMPLATE else key.removeprefix(f"{_TEMPLATE}.")
        if name == key:
            continue
        if not isinstance(text, str):
            raise _wrong(source, key, "expected a string")
        templates[name] = text
    names = values.get("tokenizer.ggml.tokens")
    tokens = {}
    for variable, name in _TOKENS.items():
        number = values.get(key := f"tokenizer.ggml.{name}_token_id")
        if number is None or not isinstance(names, list):
            continue
        if type(number) is not int:
            raise _wrong(source, key, "expected a whole number")
        if 0 <= number < len(names) and isinstance(token := names[number], str):
            tokens[variable] = token
    return ChatSettings(templates, tokens)


def _wrong(source: Source, key: str, what: str) -> TokentuiError:
    return Node(None, source.where).at(key).error(what, gguf.AGAIN)
