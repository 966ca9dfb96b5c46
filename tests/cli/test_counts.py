"""Counts and sizes that are written with k or M are the same numbers everywhere."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from running_cli import done, refused, rows

from tokentui.cli.main import program
from tokentui.cli.options import Count
from tokentui.core import limits
from tokentui.core.counts import read_count
from tokentui.core.errors import TokentuiError
from tokentui.recipe import RUN
from tokentui.ui.dialogs.ask import until

NO_COUNTS = {"--id", "--seed", "--port", "--memory", "--hints"}
"""The options whose whole number names a thing, or has a unit of its own."""


def _options() -> Iterator[tuple[str, click.Option]]:
    context = click.Context(program)
    for name in program.list_commands(context):
        command = program.get_command(context, name)
        assert command is not None
        for option in command.params:
            if isinstance(option, click.Option) and isinstance(option.type, click.types.IntParamType):
                yield name, option


OPTIONS = {f"{name} {max(option.opts, key=len)}": option for name, option in _options()}


def test_every_option_that_counts_takes_k_and_m() -> None:
    for name, option in OPTIONS.items():
        if name.split()[1] in NO_COUNTS:
            assert not isinstance(option.type, Count), name
            continue
        assert isinstance(option.type, Count), name
        if option.type.max is None:
            assert option.type.convert("32k", option, None) == 32_000
        for wrong in ("1.5", "32kk", "k", "1.00001k"):
            with pytest.raises(click.BadParameter):
                option.type.convert(wrong, option, None)


@pytest.mark.parametrize(("text", "number"), [
    ("32k", 32_000), ("32K", 32_000), ("1.5M", 1_500_000), ("1m", 1_000_000), ("32,000", 32_000),
    ("32_000", 32_000), (" 7 ", 7), ("0", 0), ("1.5", None), ("-1", None), ("", None), ("k", None),
    ("٣", None),
])
def test_a_count_is_read(text: str, number: int | None) -> None:
    assert read_count(text) == number


@pytest.mark.parametrize("name", [name for name, word in RUN.items() if word.kind is int])
def test_every_whole_number_of_a_run_takes_k(name: str) -> None:
    assert RUN[name].read("2k") == 2_000


def test_the_prompt_of_a_size_takes_k() -> None:
    assert until("32k") == until("size 32k") == until("32,000")
    assert until('"32k"') != until("32k")


@pytest.mark.parametrize("name", limits.LIMITS)
def test_k_of_a_limit_is_1024_bytes_and_1000_of_anything_else(name: str) -> None:
    limit = limits.LIMITS[name]
    number = 1 << 10 if limit.unit == "bytes" else 1_000
    try:
        assert limit.read("1K", "") == number
    except TokentuiError:
        assert limit.most < number


def test_a_size_with_k_is_that_size() -> None:
    line = ("train", "sample:english", "-r", "gpt2", "--trace", "-", "--vocab-size")
    assert rows(done(*line, "0.3k")) == rows(done(*line, "300"))
    assert "'32x' is not a whole number, such as 4000 or 32k" in refused(*line, "32x")


def test_verify_ends_at_a_size() -> None:
    import json

    line = ("verify", "sample:english", "-r", "gpt2", "--against", "tokenizers", "--json", "--vocab-size")
    assert json.loads(done(*line, "300"))["steps"] == 44
