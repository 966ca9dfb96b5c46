"""Chats: where templates are found, the origin of each token, and warnings."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from chats import SYSTEM, TALK, TEMPLATES, TOKENS, chats, write_model
from gguf_files import CONTROL, NORMAL, gguf, vocabulary
from hypothesis import given, settings
from hypothesis import strategies as st

import tokentui
from tokentui.analyze.chat.encoded import ChatEncoding, encode_chat, origins
from tokentui.analyze.chat.rendered import Region, render_chat
from tokentui.analyze.chat.template import USUAL, Chat, ChatTemplate, read_chat, read_template
from tokentui.core.errors import TokentuiError
from tokentui.encode.encoding import EncodedToken
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import load
from tokentui.formats.tokens import LETTERS
from tokentui.preset_table import PRESETS

CHATML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
PROMPT = CHATML + "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """A tokenizer with the special tokens of all templates."""
    return load(write_model(tmp_path_factory.mktemp("model")))


def template(text: str, tokens: Mapping[str, str] = TOKENS) -> ChatTemplate:
    return ChatTemplate("template", text, tokens)


def user(*contents: str) -> Chat:
    return Chat([{"role": "user", "content": content} for content in contents])


def of_origin(chat: ChatEncoding, *origins: str) -> str:
    """The text of the tokens of some origins, one after the other."""
    tokens = zip(chat.encoding.rows, chat.origin, strict=True)
    return "".join(chat.encoding.text[token.start : token.end] for token, origin in tokens
                   if origin in origins)


def codes(chat: ChatEncoding) -> list[str]:
    return [warning.code for warning in chat.warnings]


# ---- origin


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("text", [CHATML, CHATML.replace("m.content", "m.content | trim")])
def test_each_token_has_its_origin(text: str, tokenizer: Tokenizer) -> None:
    chat = encode_chat(tokenizer, template(text), user("one two", "three"))
    assert of_origin(chat, "content") == "one twothree"
    assert of_origin(chat, "special") == "<|im_start|><|im_end|>" * 2
    assert of_origin(chat, "template") == "user\n\nuser\n\n"


def test_a_token_of_both_is_mixed(tokenizer: Tokenizer) -> None:
    chat = encode_chat(tokenizer, template("{{ 's' + messages[0].content }}"), user("t cat"))
    joined = [token.text for token, origin in zip(chat.encoding.rows, chat.origin, strict=True)
              if origin == "mixed"]
    assert joined == ["st"]


@pytest.mark.parametrize(
    ("change", "content"),
    [
        ("m.content | upper", ""), ("m.content[1:]", ""), ("m.content | replace('a', 'xyz')", ""),
        ("m.content | tojson", "a b"), ("'[' ~ m.content ~ ']'", "a b"), ("m.content * 2", "a ba b"),
        ("(m.content ~ '!') | trim", "a b"), ("m.content if m.content == 'a b' else '?'", ""),
        ("m.content if m.content | length < 4 else '?'", ""), ("m.content.split()[0]", ""),
    ],
)
@pytest.mark.first_run(cases=3)
def test_only_what_is_proven_is_content(change: str, content: str, tokenizer: Tokenizer) -> None:
    text = CHATML.replace("m.content", change)
    rendered = render_chat(template(text), user("a b"))
    exact = [rendered.text[region.start : region.end] for region in rendered.regions if region.exact]
    assert "".join(exact) == content


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.slow
def test_regions_hold_their_texts(name: str) -> None:
    for variables in chats(name):
        chat = Chat(variables["messages"], variables.get("tools"), variables.get("documents"))
        source = template(TEMPLATES[name].read_text(encoding="utf-8"))
        rendered = render_chat(source, chat)
        last = ("messages", len(chat.messages) - 1, "content")
        placed = {region.path for region in rendered.regions if region.exact}
        assert last in placed or isinstance(chat.messages[-1]["content"], list)
        for region in rendered.regions:
            whole = rendered.texts[region.path].strip() == rendered.text[region.start : region.end].strip()
            assert whole == region.exact


TEXTS = st.text(st.sampled_from("ab \n<|>\U000f0000\U000f0001é"), max_size=8)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4), st.booleans())
def test_any_content_is_found(contents: list[str], trimmed: bool) -> None:
    """Against a naive model: the places of texts that are joined by hand."""
    change = "m.content | trim" if trimmed else "m.content"
    rendered = render_chat(template(f"{{% for m in messages %}}[{{{{ {change} }}}}]{{% endfor %}}"),
                           user(*contents))
    at, wanted = 0, []
    for number, content in enumerate(contents):
        shown = content.strip() if trimmed else content
        if shown:
            wanted.append((at + 1, at + 1 + len(shown), number))
        at += len(shown) + 2
    placed = [(region.start, region.end, region.path[1]) for region in rendered.regions if region.exact]
    assert [row for row in placed if row[0] < row[1]] == wanted


STRETCHES = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted)


@given(st.lists(STRETCHES, max_size=4), st.lists(STRETCHES, min_size=1, max_size=4))
def test_origins_are_those_of_each_character(stretches: list[list[int]], tokens: list[list[int]]) -> None:
    """Against a naive model that looks at one character after the other."""
    regions = [Region(start, end, ("messages", 0), True) for start, end in stretches if start < end]
    covered = {at for region in regions for at in range(region.start, region.end)}
    rows = [EncodedToken(0, "", b"", start, end, 0) for start, end in tokens if start < end]
    wanted = []
    for row in rows:
        characters = [at in covered for at in range(row.start, row.end)]
        wanted.append("content" if all(characters) else "mixed" if any(characters) else "template")
    assert list(origins(rows, regions)) == wanted


# ---- warnings


def test_a_text_that_spells_a_special_token(tokenizer: Tokenizer) -> None:
    messages = [SYSTEM, {"role": "user", "content": "a<|im_end|>b"}]
    chat = encode_chat(tokenizer, template(CHATML), Chat(messages))
    (warning,) = (warning for warning in chat.warnings if warning.code == "special-in-content")
    assert (warning.message, warning.token) == (2, "<|im_end|>")
    assert warning.text == "message 2 (user) spells the special token <|im_end|>"
    assert of_origin(chat, "content") == "Be short & kind.a<|im_end|>b"


def test_a_text_that_is_changed_and_spells_a_special_token(tokenizer: Tokenizer) -> None:
    text = CHATML.replace("m.content", "m.content.split('x')[0]")
    chat = encode_chat(tokenizer, template(text), user("<|eot_id|>x"))
    assert [(warning.code, warning.token) for warning in chat.warnings] == [
        ("special-in-content", "<|eot_id|>")
    ]


def test_a_text_that_completes_a_special_token(tokenizer: Tokenizer) -> None:
    chat = encode_chat(tokenizer, template("<|{{ messages[0].content }}"), user("im_end|>"))
    assert [warning.text for warning in chat.warnings] == [
        "message 1 (user) makes, with the template, the special token <|im_end|>"
    ]


def test_a_text_without_special_tokens_gives_no_warning(tokenizer: Tokenizer) -> None:
    chat = encode_chat(tokenizer, template(PROMPT), user("<b> <|im_ end|>"), add_generation_prompt=True)
    assert chat.warnings == ()


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize(
    ("text", "role", "warns"),
    [(PROMPT, "user", True), (PROMPT, "tool", True), (PROMPT, "assistant", False), (CHATML, "user", False)],
)
def test_a_missing_generation_prompt(text: str, role: str, warns: bool, tokenizer: Tokenizer) -> None:
    chat = Chat([{"role": role, "content": "a"}])
    assert ("no-generation-prompt" in codes(encode_chat(tokenizer, template(text), chat))) == warns
    asked = encode_chat(tokenizer, template(text), chat, add_generation_prompt=True)
    assert "no-generation-prompt" not in codes(asked)


@pytest.mark.parametrize("name", sorted(PRESETS))
@pytest.mark.slow
def test_special_tokens_are_found_without_the_other_tokens(name: str, tmp_path: Path) -> None:
    """Of a training, and of a file of another tool that holds it."""
    specials = ("<|x|>", "<|x|>>", "[Y]")
    tok = tokentui.train("sample:hugs", name, merges=3, specials=specials)
    tokenizers = [tok]
    for format in ("huggingface", "sentencepiece", "tiktoken"):
        with contextlib.suppress(TokentuiError):  # not each format holds each tokenizer
            tok.save(tmp_path / format, format=format)
            tokenizers.append(tokentui.load(tmp_path / format))
    for each in tokenizers:
        for text in ("", "hug", "<|x|>", " <|x|>>>hug[Y] [y]\n<|X|> \u0301[Y]", "a[Y]" * 50):
            try:
                rows = each.encode(text, allow_special=True).rows
            except TokentuiError:
                continue
            wanted = [(row.text, row.start, row.end) for row in rows if row.word < 0]
            found = [(place.name, place.start, place.end) for place in each.encoder.special_places(text)]
            assert found == wanted


@pytest.mark.slow
def test_specials_that_are_there_twice(tokenizer: Tokenizer) -> None:
    assert tokenizer.encoder.around == (("<s>",), ("</s>",))
    text = template("{{ bos_token }}{{ messages[0].content }}{{ eos_token }}")
    added = encode_chat(tokenizer, text, user("a"), special_tokens=True)
    assert codes(added) == ["doubled-bos", "doubled-eos"]
    assert codes(encode_chat(tokenizer, text, user("a"))) == ["adds-bos", "adds-eos"]
    alone = template("{{ messages[0].content }}")
    assert codes(encode_chat(tokenizer, alone, user("a"), special_tokens=True)) == []
    assert codes(encode_chat(tokenizer, alone, user("a"))) == []


def test_specials_that_the_vocabulary_lacks(tokenizer: Tokenizer) -> None:
    text = "{{ bos_token }}<|im_start|><|nobody|>{{ messages[0].content }}"
    chat = encode_chat(tokenizer, template(text, {"bos_token": "<begin>"}), user("<|user's|>"))
    assert [(warning.code, warning.token) for warning in chat.warnings] == [
        ("missing-special", "<begin>"), ("missing-special", "<|nobody|>")
    ]
    chat = encode_chat(tokenizer, template(text, {}), user("a"))
    assert codes(chat) == ["undefined-token", "missing-special"]


# ---- where a template is


def test_templates_beside_a_tokenizer(tmp_path: Path) -> None:
    path = write_model(tmp_path, "of the config")
    assert read_template(path).text == read_template(str(tmp_path)).text == "of the config"
    assert read_template(path).tokens == TOKENS
    (tmp_path / "chat_template.jinja").write_text("of its own")
    assert read_template(path).text == "of its own"
    (tmp_path / "other.jinja").write_text("named")
    assert read_template(path, str(tmp_path / "other.jinja")).text == "named"


@pytest.mark.slow
def test_templates_with_names(tmp_path: Path) -> None:
    rows = [{"name": "default", "template": "d"}, {"name": "tool_use", "template": "t"},
            {"name": "rag", "template": "r"}]
    path = write_model(tmp_path, chat_template=rows)
    assert [read_template(path, tools=tools).text for tools in (False, True)] == ["d", "t"]
    assert read_template(path, "rag").text == "r"
    path = write_model(tmp_path, chat_template=rows[2:])
    with pytest.raises(TokentuiError, match="--chat-template takes one of: rag"):
        read_template(path)


def gguf_model(folder: Path, **templates: object) -> Path:
    """Write a GGUF file with templates by their names. `<s>` begins a text and `</s>` ends it."""
    tokens = [*LETTERS, "<s>", "</s>", "<|im_start|>"]
    kinds = [NORMAL] * len(LETTERS) + [CONTROL] * 3
    values = vocabulary("gpt2", tokens, kinds, merges=[], pre="gpt-2", bos_token_id=256, eos_token_id=257,
                        padding_token_id=9_999, add_bos_token=True)
    rows = {f"tokenizer.chat_template{'' if name == 'default' else f'.{name}'}": text
            for name, text in templates.items()}
    (folder / "model.gguf").write_bytes(gguf(values | rows))
    return folder / "model.gguf"


@pytest.mark.parametrize("named", [lambda path: path, lambda path: path.parent], ids=["file", "folder"])
def test_templates_of_a_gguf_file(named: Callable[[Path], Path], tmp_path: Path) -> None:
    path = str(named(gguf_model(tmp_path, default="{{ bos_token }}d", tool_use="t", rag="r")))
    assert [read_template(path, tools=tools).text for tools in (False, True)] == ["{{ bos_token }}d", "t"]
    assert read_template(path, "rag").text == "r"
    assert read_template(path).tokens == {"bos_token": "<s>", "eos_token": "</s>"}
    (tmp_path / "tokenizer_config.json").write_text('{"chat_template": "c", "pad_token": "<|im_start|>"}')
    assert read_template(path).text == "{{ bos_token }}d", "as in llama.cpp, that of the file comes first"
    assert read_template(path).tokens["pad_token"] == "<|im_start|>"
    gguf_model(tmp_path)
    assert read_template(path).text == "c"


def test_a_chat_by_a_gguf_file(tmp_path: Path) -> None:
    text = "{{ bos_token }}<|im_start|>{{ messages[0].content }}{{ unk_token }}{{ sep_token }}"
    path = str(gguf_model(tmp_path, default=text))
    chat = encode_chat(load(path), read_template(path), user("a</s>"))
    assert chat.encoding.ids == (256, 258, LETTERS.index("a"), 257)
    assert chat.origin == ("special", "special", "content", "content")
    assert codes(chat) == ["adds-bos", "special-in-content"]
    gone = ChatTemplate(path, "{{ bos_token }}", {}, "model.gguf")
    (warning,) = encode_chat(load(path), gone, user("a")).warnings
    assert warning.text == "the template writes bos_token, which model.gguf does not name: it is empty"


@pytest.mark.parametrize(("templates", "message"), [
    ({}, "no chat template in it, and none in chat_template.jinja or tokenizer_config.json beside it"),
    ({"default": 7}, "tokenizer.chat_template: expected a string"),
    ({"rag": "r"}, "--chat-template takes one of: rag"),
])
def test_gguf_files_that_are_refused(templates: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(TokentuiError, match=re.escape(message)):
        read_template(str(gguf_model(tmp_path, **templates)))


@pytest.mark.slow
def test_tokens_may_be_objects(tmp_path: Path) -> None:
    path = write_model(tmp_path, "x", bos_token={"content": "<|b|>", "lstrip": False}, eos_token=None)
    assert read_template(path).tokens == {"bos_token": "<|b|>"}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "no chat template in chat_template.jinja"),
        ({"chat_template": 3}, "expected a list, not a whole number"),
        ({"chat_template": [{"name": "a"}]}, '"template" is missing'),
        ({"chat_template": "x", "bos_token": 7}, "expected text, not a whole number"),
    ],
)
def test_configs_that_are_refused(config: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    with pytest.raises(TokentuiError, match=re.escape(message)):
        read_template(str(tmp_path / "tokenizer.json"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("[]", "there are no messages"), ("{}", '"messages" is missing'), ("[1]", "expected an object"),
        ("{", "not valid JSON"), ('{"messages": [{}], "tools": [1]}', "expected an object"),
        ("[" * 100_000, "m.json: the JSON is nested too deeply (fix the messages)"),
        ('[{"content": ' + "[" * 300 + "]" * 300 + "}]", "the JSON is nested too deeply"),
        ('{"messages": [{}], "chat_template_kwargs": 1}', "expected an object"),
    ],
)
def test_messages_that_are_refused(data: str, message: str) -> None:
    with pytest.raises(TokentuiError, match=re.escape(message)):
        read_chat(data.encode(), "m.json")


def test_other_variables_of_a_template() -> None:
    given = {"messages": TALK, "chat_template_kwargs": {"enable_thinking": False}, "model": "m"}
    chat = read_chat(json.dumps(given).encode(), "m.json")
    assert chat.ignored == ("model",)
    assert render_chat(template("{{ enable_thinking }} {{ tools }}"), chat).text == "False None"


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize(("text", "line"), [
    ("{% foo %}", "line 1: Encountered unknown tag 'foo' (fix the template, or change the messages)"),
    ("{{ x | none_such }}",
     "line 1: No filter named 'none_such' (fix the template, or change the messages)"),
    ("\n{{ raise_exception('Only one message, please.') }}",
     "line 2: it refuses the messages: Only one message, please (change the messages)"),
    ("{{ 1 / 0 }}",
     "line 1: ZeroDivisionError: division by zero (fix the template, or change the messages)"),
])
def test_an_error_of_a_template_is_one_line_with_a_hint(text: str, line: str) -> None:
    with pytest.raises(TokentuiError) as raised:
        render_chat(template(text), user("a"))
    assert str(raised.value) == f"template: the template fails: {line}"


def test_a_usual_template_is_rendered_where_the_tokenizer_has_none(tmp_path: Path) -> None:
    path = write_model(tmp_path)
    with pytest.raises(TokentuiError, match="no chat template in"):
        read_template(path)
    chat = Chat([SYSTEM, *TALK])
    for name, published in zip(USUAL, ("chatml", "llama-2"), strict=True):
        one, other = read_template(path, name), template(TEMPLATES[published].read_text(encoding="utf-8"))
        assert render_chat(one, chat).text == render_chat(other, chat).text
