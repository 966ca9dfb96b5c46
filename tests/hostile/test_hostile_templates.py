"""Chat templates that loop, fill the memory or look for a way out: one line, in bounded time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from chats import write_model
from running_cli import refused

from tokentui.analyze.chat.rendered import render_chat
from tokentui.analyze.chat.template import Chat, ChatTemplate, rendering
from tokentui.core import limits
from tokentui.core.errors import TokentuiError

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
        (LOOP + "{% endfor %}{% endfor %}", "runs for more than 3 s"),
        ("{{ 9 ** (9 ** 9) }}", "runs for more than 3 s"),
        (LOOP + "xxxxxxxx{% endfor %}{% endfor %}", "it writes more than 16,000,000 characters"),
        ("{% for a in range(10 ** 9) %}{% endfor %}", "Range too big"),
        ("{{ 'x' * 10 ** 9 }}", "it uses too much memory"),
        ("{% set ns = namespace(a='x') %}{% for i in range(99) %}{% set ns.a = ns.a ~ ns.a %}{% endfor %}",
         "it uses too much memory"),
        ("{{ '%999999999d' % 1 }}", "too much memory"),
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


def test_a_command_says_one_line(tmp_path: Path) -> None:
    path = write_model(tmp_path, "{{ ''.__class__.x }}")
    messages = tmp_path / "messages.json"
    messages.write_text('[{"role": "user", "content": "a"}]')
    assert "the sandbox forbids this" in refused("encode", "-t", path, "--chat", str(messages))
