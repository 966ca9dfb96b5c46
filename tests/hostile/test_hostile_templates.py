"""Chat templates that loop, fill the memory or look for a way out: one line, in bounded time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from chats import write_model
from running_cli import refused

import tokentui
from tokentui.analyze.chat.child import environment
from tokentui.analyze.chat.encoded import encode_chat
from tokentui.analyze.chat.rendered import render_chat
from tokentui.analyze.chat.template import Chat, ChatTemplate, rendering
from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.encode.encoder import WordEncoder

CHAT = Chat([{"role": "user", "content": "Hi"}])
SECONDS = 3


@pytest.fixture(autouse=True)
def _soon() -> Iterator[None]:
    """Give each template a few seconds."""
    limits.use(limits.Limits().with_words([f"template-seconds={SECONDS}"], "test"))
    yield
    limits.use(None)


def failure(text: str) -> str:
    """Render a template and return its error, of one line."""
    began = time.monotonic()
    with pytest.raises(TokentuiError) as caught:
        render_chat(ChatTemplate("t.jinja", text, {}), CHAT)
    assert time.monotonic() - began < SECONDS + 20  # with the start of a process on a busy machine
    assert "\n" not in str(caught.value)
    return str(caught.value)


LOOP = "{% for a in range(99999) %}{% for b in range(99999) %}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LOOP + "{% endfor %}{% endfor %}", "takes more than 3 s of processor time"),
        ("{{ 9 ** (9 ** 9) }}", "takes more than 3 s of processor time"),
        (LOOP + "xxxxxxxx{% endfor %}{% endfor %}", "it writes more than 4,000,000 characters"),
        ("{% for a in range(10 ** 9) %}{% endfor %}", "Range too big"),
        ("{{ 'x' * 10 ** 9 }}", "it uses too much memory"),
        ("{% set ns = namespace(a='x') %}{% for i in range(99) %}{% set ns.a = ns.a ~ ns.a %}{% endfor %}",
         "it uses too much memory"),
        ("{{ '%999999999d' % 1 }}", "too much memory"),
        ("{{ 'x' * 4000001 }}", "it writes more than 4,000,000 characters"),
        ("{{ messages | tojson(indent=1000000) }}", "it writes more than 4,000,000 characters"),
        ("{{ namespace(**{'a' * 10 ** 7: 1}) }}", "it writes more than 4,000,000 characters"),
        ("{% macro m(a) %}{{ m(a) }}{% endmacro %}{{ m(1) }}", "it calls itself too deeply"),
        ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "it calls itself too deeply"),
    ],
)
@pytest.mark.slow
def test_work_without_end(text: str, message: str) -> None:
    assert message in failure(text)


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__.__mro__ }}", "{{ messages.__class__() }}", "{{ ''['__class__'].x }}",
        "{{ raise_exception.__globals__.x }}", "{{ (messages | attr('__init__')).__globals__ }}",
        "{{ '{0.__class__.x}'.format(1) }}", "{{ strftime_now.__self__.x }}", "{{ messages.append(1) }}",
        "{{ dict.__init__() }}", "{{ namespace(__init__=1) }}", "{{ self.__init__.__globals__ }}",
        "{{ cycler.__init__.__globals__ }}", "{{ messages[0].clear() }}",
    ],
)
@pytest.mark.first_run(cases=3)
def test_ways_out(text: str) -> None:
    assert "the sandbox forbids this" in failure(text)


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize(
    "text", ["{{ messages.__class__ }}", "{{ dict.__init__ }}", "{{ raise_exception.__globals__ }}",
             "{{ messages | attr('__class__') }}", "{{ '{0.__class__}'.format(1) }}"],
)
def test_internals_print_as_nothing(text: str) -> None:
    """Forbidden attributes are undefined, as in transformers: their next use fails."""
    assert render_chat(ChatTemplate("t.jinja", text, {}), CHAT).text == ""


@pytest.mark.first_run(cases=4)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{% include 'x' %}", "no loader"), ("a\n{% if %}", "line 2: "), ("{{ 1 / 0 }}", "line 1: Zero"),
        ("\n{{ raise_exception('a\\nb \\x1b[31m') }}", "line 2: it refuses the messages: a b"),
        ("{{ x.y }}", "'x' is undefined"), ("{{ 1 + 'a' }}", "line 1: TypeError"),
        ("{{ messages[0]['content'] + 1 }}", "line 1: TypeError"), ("{% generation %}", "line 1: "),
        ("x" * ((1 << 20) + 1), "a template of more"),
    ],
)
def test_templates_that_fail(text: str, message: str) -> None:
    assert message in failure(text)


def test_the_process_opens_no_file_and_gets_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    with rendering(ChatTemplate("t", "{{ 1 }}", {})) as render:
        assert render({}) == "1"
        children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
        if not children.exists():
            pytest.skip("the system does not list processes")
        (child,) = (number for number in children.read_text().split()
                    if b"chat/child" in Path(f"/proc/{number}/cmdline").read_bytes())
        assert b"SECRET_TOKEN" not in Path(f"/proc/{child}/environ").read_bytes()
        files = next(line for line in Path(f"/proc/{child}/limits").read_text().splitlines()
                     if line.startswith("Max open files"))
        assert files.split()[3:5] == ["0", "0"]
    assert not Path(f"/proc/{child}").exists()


@pytest.mark.parametrize("value", ["'x y'", "['x']", "{'a': 1}", "7", "'<b>x</b> http://a.example'"])
@pytest.mark.first_run(cases=1)
def test_no_filter_test_or_global_looks_for_a_file(value: str) -> None:
    """No file can be opened, so all that jinja2 imports at first use has to be loaded before."""
    jinja = environment(datetime.now())
    ways = {
        f"{{{{ [{value}] | map(name) | list | string | length > 0 }}}}": jinja.filters,
        f"{{{{ [{value}] | select(name) | list | string | length > 0 }}}}": jinja.tests,
    }
    for text, names in ways.items():
        with rendering(ChatTemplate("t", text, {})) as render:
            for name in names:
                said = ""
                try:
                    render({"name": name})
                except TokentuiError as error:
                    said = str(error)
                assert not any(kind in said for kind in ("OSError", "ImportError", "NotFound")), name


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{{ 'x y' | wordwrap(1) }}", "x\ny"), ("{{ lipsum(n=1, html=False) | length > 0 }}", "True"),
        ("{{ [1] | pprint }}", "[1]"), ("{{ '<b>x&amp;y</b>' | striptags }}", "x&y"),
    ],
)
def test_filters_that_import_a_module(text: str, shown: str) -> None:
    with rendering(ChatTemplate("t", text, {})) as render:
        assert render({}) == shown


def test_the_ids_of_a_long_rendering_need_no_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places of tokens take 500 bytes a token."""

    def placed(*_: object) -> None:
        raise AssertionError("places are computed")

    monkeypatch.setattr(WordEncoder, "placed_tokens", placed)
    tokenizer = tokentui.train("sample:hugs", "gpt2", merges=3, specials=["<|x|>"])
    encoded = encode_chat(tokenizer, ChatTemplate("t", "<|x|>{{ 'ug' * 10000 }}", {}), CHAT)
    assert len(encoded.encoding.ids) == 10_001
    assert encoded.warnings == ()


@pytest.mark.parametrize(
    ("limit", "text", "message"),
    [
        ("template-characters=500", "{% for i in range(300) %}{{ messages[0].content }}{% endfor %}",
         "it writes more than 500 characters (--limit template-characters=… raises the limit)"),
        ("template-seconds=1",
         "{% if messages[0].content == 'X' %}X{% else %}" + LOOP + "{% endfor %}{% endfor %}{% endif %}",
         "takes more than 1 s of processor time (--limit template-seconds=… raises the limit)"),
        ("template-seconds=30", "{% for i in range(99999) %}{{ messages[0].content * 3 }}{% endfor %}",
         "the template writes texts more than 100,000 times"),
    ],
)
@pytest.mark.first_run(cases=1)
def test_a_limit_that_keeps_texts_from_being_found_is_said(limit: str, text: str, message: str) -> None:
    """The ids are complete, and a warning names the limit."""
    limits.use(limits.Limits().with_words([limit], "test"))
    tokenizer = tokentui.train("sample:hugs", "gpt2", merges=3)
    chat = Chat([{"role": "assistant", "content": "X"}])
    encoded = encode_chat(tokenizer, ChatTemplate("t", text, {}), chat)
    assert encoded.encoding.text.strip("X") == ""
    (warning,) = encoded.warnings
    assert warning.code == "unproven-origin"
    assert message in warning.text


def test_a_command_says_one_line(tmp_path: Path) -> None:
    path = write_model(tmp_path, "{{ ''.__class__.x }}")
    messages = tmp_path / "messages.json"
    messages.write_text('[{"role": "user", "content": "a"}]')
    assert "the sandbox forbids this" in refused("encode", "-t", path, "--chat", str(messages))
