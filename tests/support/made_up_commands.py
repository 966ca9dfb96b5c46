"""Commands of a stranger: click commands in a module of their own, each named by one entry in the table."""

from __future__ import annotations

import click


@click.command()
@click.option("--way", type=click.Choice(["a", "b"]), required=True)
def choosing(way: str) -> None:
    """Choose a way."""


@click.command()
@click.argument("words", nargs=-1)
def command(words: tuple[str, ...]) -> None:
    """Say some words."""
    click.echo(f"said: {' '.join(words)}")
