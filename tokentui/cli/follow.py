"""`tokentui follow`: watch a session that another one leads."""

from __future__ import annotations

import click

from tokentui.cli.options import Given, options

VARIABLE = "TOKENTUI_FOLLOW"
"""The variable of the environment that an address is taken from: a command line can be read by others."""


@click.command(
    epilog="""\b
Examples:
  tokentui --share 8765 novel.txt                    the teacher: shows the address
  tokentui follow 127.0.0.1:8765/our-lesson          a terminal of the class
  tokentui serve --follow 127.0.0.1:8765/our-lesson  the browsers of the class

A follower sees each screen of the session and cannot act on it. One that comes late sees the present state;
one that is slow misses some screens, and never holds up the session. The address holds a secret: who knows
it sees the session. It is taken from TOKENTUI_FOLLOW where it is not named.""",
)
@options(click.argument("address", metavar="ADDRESS", envvar=VARIABLE))
def command(given: Given, address: str) -> int:
    """Watch a session step by step that tokentui --share opened.

    q leaves; arrows move the part that is seen where the terminal is smaller than the session's.
    """
    from tokentui.session.sharing import Address

    where = Address.of(address)
    from tokentui.cli.explore import watch

    return watch(where)
