"""`tokentui tour`: list the tours, or play one."""

from __future__ import annotations

import click

from tokentui.cli.options import SharedOptions, options
from tokentui.cli.output import complain, write_text
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe_line
from tokentui.core.table import TextTable, plural
from tokentui.tours.parser import read_tour
from tokentui.tours.shipped import TOURS

DIFFERS = 1


@click.command(
    epilog="""\b
Examples:
  tokentui tour
  tokentui tour ties
  tokentui tour lesson.toml
  tokentui tour lesson.toml --check""",
)
@options(
    click.argument("name", metavar="[NAME|FILE]", required=False),
    click.option("--check", is_flag=True, help="Check the claims of the tour instead of playing it."),
)
def command(shared: SharedOptions, name: str | None, check: bool) -> int:
    """List the built-in tours, or play one in the explorer. Name a tour, or a TOML file such as R in the
    explorer writes.

    With --check, the exit code is 1 if a claim of the tour is false.
    """
    if name is None:
        if check:
            raise TokentuiError("no tour is named", f"{shared.command} --check", "name a tour or a file")
        write_text("\n".join(TextTable([(shipped.name, shipped.title) for shipped in TOURS]).lines()))
        return 0
    tour = read_tour(name)
    if check:
        from tokentui.tours.check import false_claims  # with it comes the engine

        untrue = list(false_claims(tour))
        for line in untrue:
            complain(f"{name}: {line}")
        claims = sum(len(stop.claims) for stop in tour.stops)
        counted = f"{plural(len(tour.stops), 'stop')}, {plural(claims, 'claim')}, {len(untrue):,} wrong"
        write_text(f"{safe_line(tour.title)}: {counted}")
        return DIFFERS if untrue else 0
    from tokentui.cli.commands.explore import play

    return play(tour)
