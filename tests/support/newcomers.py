"""A command of a stranger: a click command in a module of its own, named by one entry in the table."""

from __future__ import annotations

import click


@click.command()
@click.argument("words", nargs=-1)
def command(words: tuple[str, ...]) -> None:
    """Say some words."""
    click.echo(f"said: {' '.join(words)}")
