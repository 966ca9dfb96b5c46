"""Entry point of the process that renders a chat template. A template is an untrusted program from a file.

The first line of standard input is an object with the template and the limits; each line after it has the
variables of one rendering. Each line is answered by a JSON list: the text or null, and the error or "".

Jinja's sandbox keeps a template from Python's internals. The limits of the process bound its memory and its
processor time, and it opens and writes no file. Nothing of this package is imported here.
"""

from __future__ import annotations

import html  # noqa: F401 (markupsafe imports it at first use; no file can be opened then)
import json
import pprint  # noqa: F401 (jinja2 imports it at first use, like the next one)
import resource
import signal
import sys
import textwrap  # noqa: F401
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

import jinja2
import jinja2.constants  # jinja2 imports this and the next one at first use
import jinja2.debug
import jinja2.ext
import jinja2.nodes
import jinja2.parser
import jinja2.sandbox

OLDEST = (3, 1, 6)
"""Older versions of jinja2 have known ways out of the sandbox."""
_SHOWN = 300
_WARM = "{% for a in [1] %}{{ ('\\n' + 'é' + a | tojson) | trim | upper }}{% endfor %}"


class _Generation(jinja2.ext.Extension):
    """The tag `generation`, which marks the text of the assistant. Its body is rendered unchanged."""

    tags = {"generation"}  # noqa: RUF012 (jinja2 declares it so)

    def parse(self, parser: jinja2.parser.Parser) -> jinja2.nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller: Any) -> str:
        return str(caller())


class _Dict:
    """The global `dict`, without the class."""

    def __call__(self, *values: Any, **named: Any) -> dict[Any, Any]:
        return dict(*values, **named)

    def fromkeys(self, *values: Any) -> dict[Any, Any]:
        """Return a dictionary with these keys."""
        return dict.fromkeys(*values)


class _Namespace(jinja2.utils.Namespace):
    """The global `namespace`, without names that begin with an underscore."""

    def __init__(*values: Any, **named: Any) -> None:
        self, *values = values  # type: ignore[assignment]
        attributes = dict(*values, **named)
        for name in attributes:
            _check_name(name)
        jinja2.utils.Namespace.__init__(self, attributes)

    def __setitem__(self, name: str, value: object) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise jinja2.exceptions.SecurityError(f"a namespace takes no name such as {name!r:.40}")


class _Refused(jinja2.exceptions.TemplateError):
    """The template called `raise_exception`."""


def environment(now: datetime) -> jinja2.Environment:
    """Return the environment of `apply_chat_template` of transformers 5.

    Args:
        now: The time for `strftime_now`, the same in all renderings.
    """

    def raise_exception(message: object) -> None:
        raise _Refused(str(message))

    def tojson(
        value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None,
        sort_keys: bool = False,
    ) -> str:
        return json.dumps(
            value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
        )

    sandbox = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, jinja2.ext.loopcontrols]
    )
    sandbox.filters["tojson"] = tojson
    sandbox.globals.update(
        raise_exception=raise_exception, strftime_now=now.strftime, dict=_Dict(), namespace=_Namespace
    )
    return sandbox


def limit(memory: int, seconds: float) -> None:
    """Bound the memory in bytes and the processor time in seconds of this process, and keep it from opening
    and writing files. First loads what needs files. A limit that the system refuses is skipped.

    The processor time is counted from here. SIGPROF ends the process then, also in the middle of an
    operation of C.
    """
    time.localtime()  # reads the time zone from a file
    environment(datetime.now()).from_string(_WARM).render()  # imports what jinja2 imports late
    for what, most in (
        (resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 0),
    ):
        _, hard = resource.getrlimit(what)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with suppress(ValueError, OSError):  # macOS refuses some
            resource.setrlimit(what, (most, most))
    signal.setitimer(signal.ITIMER_PROF, seconds)


def rendered(template: jinja2.Template, variables: Mapping[str, object], most: int) -> str:
    """Render a template.

    Args:
        template: The template.
        variables: Its variables.
        most: The largest number of characters.

    Raises:
        OverflowError: The text has more.
    """
    parts, size = [], 0
    for part in template.generate(variables):
        size += len(part)
        if size > most:
            raise OverflowError(f"it writes more than {most:,} characters")
        parts.append(part)
    return "".join(parts)


def described(error: BaseException) -> str:
    """Return an error in one line, with the line of the template if it is known."""
    line = getattr(error, "lineno", None)
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    where = f"line {line}: " if line else ""
    message = " ".join(str(error).split()).rstrip(".")
    if isinstance(error, MemoryError):
        return f"{where}it uses too much memory"
    if isinstance(error, RecursionError):
        return f"{where}it calls itself too deeply"
    if isinstance(error, _Refused):
        return f"{where}it refuses the messages: {message}"[:_SHOWN]
    if isinstance(error, jinja2.exceptions.SecurityError):
        return f"{where}the sandbox forbids this: {message}"[:_SHOWN]
    if isinstance(error, jinja2.exceptions.TemplateError | OverflowError):
        return f"{where}{message or type(error).__name__}"[:_SHOWN]
    return f"{where}{type(error).__name__}: {message}"[:_SHOWN]


def main() -> None:
    """Compile the template of the first line of input, and answer it and each line after it. End after a
    template that does not compile, or at the end of input."""
    orders = json.loads(sys.stdin.readline())
    template: jinja2.Template | None = None
    if tuple(int(part) for part in jinja2.__version__.split(".")[:3] if part.isdigit()) < OLDEST:
        answer(None, f"jinja2 {jinja2.__version__} is too old; 3.1.6 or newer is needed")
        return
    limit(orders["memory"], orders["seconds"])
    try:
        template = environment(datetime.now()).from_string(orders["template"])
        answer(None, "")
    except Exception as error:
        answer(None, described(error))
        return
    for line in sys.stdin:
        text, failure = None, ""
        try:
            text = rendered(template, json.loads(line), orders["most"])
        except Exception as error:
            failure = described(error)
        answer(text, failure)


def answer(text: str | None, error: str) -> None:
    """Write the answer to a line of input: the rendered text or None, and the error or ""."""
    sys.stdout.write(json.dumps([text, error]) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
