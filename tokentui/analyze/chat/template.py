"""Chat templates: where a tokenizer has them, and how they are rendered.

A template is a program in Jinja's language that a model comes with. It is rendered as `apply_chat_template`
of transformers does, in a process of its own with bounded time, memory and output (`child.py`).
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import select
import signal
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tokentui.core import children, limits
from tokentui.core.errors import TokentuiError
from tokentui.core.files import read_errors, read_regular, status_of
from tokentui.core.jobs import check
from tokentui.core.records import dataclass
from tokentui.formats.folder import model_folder
from tokentui.formats.gguf.chat import chat_settings
from tokentui.formats.source import Node, check_depth, is_gguf, mending, parse, read_source
from tokentui.text.remote import is_remote, is_url

EXTRA = "pip install 'tokentui[chat]'"
TEMPLATE_FILE, CONFIG, SPECIALS = "chat_template.jinja", "tokenizer_config.json", "special_tokens_map.json"
TOKENS = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
"""The variables of a template that are special tokens."""
MEMORY = 512 << 20
"""Bytes of address space that a rendering may take."""
_LONGEST = 1 << 20
"""Characters of a template. Published ones have some 10,000."""
_LARGEST_CONFIG = 1 << 24
USUAL = {
    "chatml":
        r"""{% for message in messages %}{{
'<|im_start|>' ~ message.role ~ '\n' ~ message.content ~ '<|im_end|>\n'
}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}""",
    "llama2":
        r"""{% for message in messages %}{% set before = loop.previtem %}{% if message.role == 'user' %}{{
bos_token ~ '[INST] ' ~ (('<<SYS>>\n' ~ before.content ~ '\n<</SYS>>\n\n'
if before and before.role == 'system' else '') ~ message.content) | trim ~ ' [/INST]'
}}{% elif message.role == 'assistant' %}{{
' ' ~ message.content | trim ~ ' ' ~ eos_token
}}{% endif %}{% endfor %}""",
}
"""Templates that many models have, by name: they render a chat where a tokenizer has none."""
_USUAL_TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
_REFUSES = "it refuses the messages"
"""The words of `child.py` for a template that calls `raise_exception`."""
_CHILD = Path(__file__).with_name("child.py")
_POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """A chat template.

    Attributes:
        where: Its file, for errors.
        text: Its source.
        tokens: The special tokens that it may use, by the names of `TOKENS`.
        names: The name of the file that names these tokens, for warnings.
    """

    where: str
    text: str
    tokens: Mapping[str, str]
    names: str = CONFIG


class NoTemplate(TokentuiError):
    """A tokenizer has no chat template."""


def usual_template(name: str, tokens: Mapping[str, str] | None = None) -> ChatTemplate:
    """Return a template of `USUAL`, with other special tokens if some are given.

    Raises:
        KeyError: No usual template has this name.
    """
    return ChatTemplate(name, USUAL[name], {**_USUAL_TOKENS, **(tokens or {})})


@mending("fix the file")
def read_template(tokenizer: str, named: str = "", *, tools: bool = False) -> ChatTemplate:
    """Read the chat template of a tokenizer.

    The first of these is taken: the file `named`, the template of a GGUF file, `chat_template.jinja` and then
    `tokenizer_config.json` in the folder of the tokenizer. Of several templates with names, it is the one
    that is `named`, the one for tools if there are tools, or the default one. A name of `USUAL` stands for
    that template, unless the tokenizer or the current folder has one of this name. The tokens of a GGUF file
    override those of the settings.

    Args:
        tokenizer: The tokenizer file, the folder of a model, or `hf:OWNER/NAME`.
        named: The file of the template, or the name of one of several; empty to look for it.
        tools: True if the messages come with tools.

    Raises:
        NoTemplate: There is no template.
        TokentuiError: There is none by that name, or a file cannot be read.
    """
    folder, file = _places(tokenizer)
    config = _settings(folder, CONFIG)
    tokens = _tokens(_settings(folder, SPECIALS)) | _tokens(config)
    listed: Mapping[str, str] = _named(config["chat_template"])
    own: Mapping[str, str] = {}
    where, names = str(config), CONFIG
    if (is_url(file) or _exists(file)) and is_gguf(file):
        source = read_source(file)
        own, own_tokens = chat_settings(source)
        tokens, names = {**tokens, **own_tokens}, os.path.basename(source.where)
        if own:
            listed, where = own, source.where
    if named in USUAL and named not in listed and not _exists(named):
        return usual_template(named, tokens)
    if named and named not in listed:
        return ChatTemplate(named, _from_file(named, tools), tokens, names)
    if not own and folder is not None and not named and _exists(path := os.path.join(folder, TEMPLATE_FILE)):
        return ChatTemplate(path, _from_file(path, tools), tokens, names)
    if not listed:
        what = f"no chat template in {TEMPLATE_FILE} or {CONFIG} beside it"
        if names != CONFIG:
            what = f"no chat template in it, and none in {TEMPLATE_FILE} or {CONFIG} beside it"
        raise NoTemplate(what, tokenizer, "add --chat-template FILE")
    return ChatTemplate(where, _chosen(listed, where, named, tools), tokens, names)


def _places(tokenizer: str) -> tuple[str | None, str]:
    """Return the folder with the settings of a tokenizer (None for a URL) and its vocabulary file."""
    is_folder = is_remote(tokenizer)
    if not is_folder:
        with read_errors(tokenizer):
            is_folder = _exists(tokenizer) and stat.S_ISDIR(status_of(tokenizer).st_mode)
    folder = model_folder(tokenizer) if is_folder else None
    if folder is not None:
        return folder.path or None, folder.file
    return (None if is_url(tokenizer) else os.path.dirname(tokenizer)), tokenizer


def _exists(path: str) -> bool:
    """Return whether there is something at the path. Other errors of the file system are raised."""
    try:
        status_of(path)
    except FileNotFoundError:
        return False
    return True


def _settings(folder: str | None, name: str) -> Node:
    """Return the JSON object of a settings file, or an empty object if the file does not exist."""
    if folder is None or not _exists(path := os.path.join(folder, name)):
        return Node({}, name)
    return _document(path)


def _document(path: str) -> Node:
    """Read a JSON object from a file.

    Raises:
        TokentuiError: The file is not regular, has more than `_LARGEST_CONFIG` bytes, or is not a JSON object
            in UTF-8.
    """
    data = read_regular(path, "file of settings", _LARGEST_CONFIG + 1)
    if len(data) > _LARGEST_CONFIG:
        raise TokentuiError(f"more than {_LARGEST_CONFIG:,} bytes", path, "no settings file is that large")
    node = parse(_utf8(data, path), path)
    node.mapping()
    return node


def _utf8(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TokentuiError(f"not UTF-8 at byte {error.start}", path, "save it as UTF-8") from None


def _tokens(settings: Node) -> dict[str, str]:
    """Return the text of each special token in the settings; those that are missing or empty are left out."""
    tokens = {}
    for name in TOKENS:
        node = settings[name]
        text = node["content"].text() if isinstance(node.value, dict) else node.text("")
        if text:
            tokens[name] = text
    return tokens


def _named(node: Node) -> dict[str, str]:
    """Return the templates of a setting by name; none for null. A plain string is the template `default`."""
    if node.value is None:
        return {}
    if isinstance(node.value, str):
        return {"default": node.value}
    return {row["name"].text(): row["template"].text() for row in node.rows()}


def _chosen(listed: Mapping[str, str], where: str, named: str, tools: bool) -> str:
    """Return the template that is named, else `tool_use` for tools, else `default`.

    Raises:
        TokentuiError: It is not listed.
    """
    name = named or ("tool_use" if tools and "tool_use" in listed else "default")
    if name not in listed:
        names = ", ".join(sorted(listed))
        raise TokentuiError("there is no default template", where, f"--chat-template takes one of: {names}")
    return listed[name]


def _from_file(path: str, tools: bool) -> str:
    """Read a template from a file: Jinja text, or a JSON file of settings. With `tools`, a template for tools
    is preferred.

    Raises:
        TokentuiError: The file cannot be read, or is a file of settings without a template.
    """
    if path.endswith(".json"):
        node = _document(path)["chat_template"]
        if not (listed := _named(node)):
            raise TokentuiError('"chat_template" is missing', path, "name another file")
        return _chosen(listed, path, "", tools)
    return _utf8(read_regular(path, "chat template", 4 * _LONGEST + 1), path)


class TemplateLimit(TokentuiError):
    """A rendering takes more processor time or writes more characters than the limits allow."""


Render = Callable[[Mapping[str, object]], str]
"""Renders a template with its variables.

Raises TemplateLimit beyond a limit, TokentuiError if the template fails, and Cancelled.
"""


def time_limit(where: str) -> TemplateLimit:
    """Return the error for a template that takes too much processor time."""
    seconds, hint = limits.now().template_seconds, limits.reading("template-seconds")
    return TemplateLimit(f"the template takes more than {seconds:g} s of processor time", where, hint)


@contextlib.contextmanager
def rendering(template: ChatTemplate) -> Iterator[Render]:
    """Start a process that renders a template, yield the function that renders, and end the process. All
    renderings share one limit of processor time.

    The function takes the variables of the template. It raises `TokentuiError` if the template fails,
    `TemplateLimit` at a limit, and `Cancelled` if the job is cancelled.

    Raises:
        TokentuiError: jinja2 is not installed, or the template is too long or not in Jinja's language.
    """
    if importlib.util.find_spec("jinja2") is None:
        raise TokentuiError("chat templates need jinja2, which is not installed", template.where, EXTRA)
    if len(template.text) > _LONGEST:
        what = f"a template of more than {_LONGEST:,} characters"
        raise TokentuiError(what, template.where, "no model has a longer one")
    seconds, most = limits.now().template_seconds, limits.now().template_characters
    environment = {
        name: value for name, value in children.child_environment().items()
        if name in ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TZ")
    }
    process = subprocess.Popen(
        children.command_of_file(str(_CHILD)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, start_new_session=True, cwd=children.FOLDER, env=environment,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    def ask(value: Mapping[str, object]) -> str:
        """Send a line to the process, and return the rendered text of its answer."""
        with contextlib.suppress(BrokenPipeError):
            stdin.write(json.dumps(value).encode("ascii") + b"\n")
            stdin.flush()
        line = bytearray()
        while not line.endswith(b"\n"):
            check()
            if not select.select([stdout], [], [], _POLL_S)[0]:
                continue
            if not (block := os.read(stdout.fileno(), 1 << 16)):
                if process.wait() == -signal.SIGPROF:
                    raise time_limit(template.where)
                what = "the process that renders the template has ended"
                raise TokentuiError(what, template.where, "it uses too much memory")
            line += block
            if len(line) > 16 * most + _LONGEST:
                raise TokentuiError("the template output is too long", template.where, "use another one")
        text, error = json.loads(line)
        if error:
            if "writes more than" in error:
                hint = limits.reading("template-characters")
                raise TemplateLimit(f"the template fails: {error}", template.where, hint)
            hint = "fix the template, or change the messages"
            if _REFUSES in error:
                hint = "change the messages"
            raise TokentuiError(f"the template fails: {error}", template.where, hint)
        return text or ""

    try:
        ask({"template": template.text, "memory": MEMORY, "most": most, "seconds": seconds})
        yield ask
    finally:
        process.kill()
        process.wait()
        with contextlib.suppress(OSError):
            stdin.close()
        stdout.close()


# ---- messages


@dataclass(frozen=True, slots=True)
class Chat:
    """Messages, and the other variables of a chat template.

    Attributes:
        messages: The messages.
        tools: The tools that the model may call; None for none.
        documents: The documents to answer from; None for none.
        variables: Other variables of the template.
        ignored: The names in the file that are not read.
    """

    messages: Sequence[Mapping[str, object]]
    tools: Sequence[object] | None = None
    documents: Sequence[object] | None = None
    variables: Mapping[str, object] | None = None
    ignored: tuple[str, ...] = ()


def read_chat_file(path: str) -> Chat:
    """Read messages from a file, see `read_chat`.

    Raises:
        TokentuiError: The file cannot be read, is too large, or has no list of messages.
    """
    most = int(limits.now().line_bytes)
    data = read_regular(path, "file of messages", most + 1)
    if len(data) > most:
        raise TokentuiError(f"more than {most:,} bytes", path, limits.reading("line-bytes"))
    return read_chat(data, path)


@mending("fix the messages")
def read_chat(data: bytes, where: str) -> Chat:
    """Read messages: a JSON list of them, or an object with `messages` and optionally `tools`, `documents`
    and `chat_template_kwargs`, the other variables of the template.

    A key of a message that is null is left out.

    Raises:
        TokentuiError: It is not JSON of this form, or there are no messages.
    """
    root = parse(_utf8(data, where), where)
    check_depth(root.value, root)
    if isinstance(root.value, list):
        return Chat(_objects(root))
    known = ("messages", "tools", "documents", "chat_template_kwargs")
    ignored = tuple(name for name in root.mapping() if name not in known)
    messages = _objects(root["messages"])
    tools, documents = (
        None if root[name].value is None else [row.mapping() for row in root[name].rows()]
        for name in ("tools", "documents")
    )
    return Chat(messages, tools, documents, root["chat_template_kwargs"].mapping({}), ignored)


def _objects(node: Node) -> list[Mapping[str, object]]:
    """Return messages without the keys that are null, as transformers does.

    Raises:
        TokentuiError: There are none.
    """
    rows: list[Mapping[str, object]] = [
        {key: value for key, value in row.mapping().items() if value is not None} for row in node.rows()
    ]
    if not rows:
        raise node.error("there are no messages", "add one or more")
    return rows
