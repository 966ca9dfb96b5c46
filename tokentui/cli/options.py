"""The options that several commands share, and the values that they stand for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.core.files import open_regular
from tokentui.presets import PRESETS, preset_named
from tokentui.recipe import AXES, SHAPE, Recipe, nearest
from tokentui.text.samples import samples
from tokentui.text.ways import READ_AS

Run = dict[str, Any]
"""The words of a run that were named, or published: merges, vocab_size, min_count, max_length, first_id, specials."""

if TYPE_CHECKING:
    _Words = click.ParamType[Any]
else:  # a class of one type, or of none, from version to version of click
    _Words = click.ParamType

_F = TypeVar("_F", bound=Callable[..., Any])
_LARGEST_RECIPE = 1 << 20
_NUMBERS = (
    ("--merges", "Stop after N merges."),
    ("--vocab-size", "Stop at N ids, specials counted."),
    ("--min-count", "Stop before a pair that stands less than N times."),
    ("--max-length", "Make no token of more than N units."),
    ("--first-id", "The first id given [default: 0]."),
)


class _Whole(_Words):
    name = "whole number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(value)
        except ValueError:
            self.fail(f"not a whole number: {str(value)[:40]!r}", param, ctx)


class _Recipe(_Words):
    name = "recipe"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        found = [CompletionItem(name, help=one.about) for name, one in PRESETS.items() if name.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]


class _Axis(_Words):
    name = "axis=value"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        axis, equals, value = incomplete.partition("=")
        if equals:
            values = AXES[axis].values if axis in AXES else {}
            return [CompletionItem(f"{axis}={one}", help=about) for one, about in values.items() if one.startswith(value)]
        return [CompletionItem(f"{name}=", help=one.about) for name, one in AXES.items() if name.startswith(axis)]


class _Corpus(_Words):
    name = "corpus"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        names = [f"sample:{sample.name}" for sample in samples()] if incomplete.startswith("s") else []
        found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        return [*found, CompletionItem(incomplete, type="file")]


def many(options: Iterable[Callable[[_F], _F]]) -> Callable[[_F], _F]:
    """One decorator of several, which stand in the help in this order."""
    listed = list(options)

    def decorate(function: _F) -> _F:
        for option in reversed(listed):
            function = option(function)
        return function

    return decorate


axes_option = click.option("-s", "--set", "axes", metavar="AXIS=VALUE", type=_Axis(), multiple=True,
                           help="Set an axis of the recipe; lists with commas. May be given many times.")
recipe_options = many([
    click.option("-r", "--recipe", metavar="RECIPE", type=_Recipe(), help="A preset, or a recipe file (.toml)."),
    axes_option,
])
recipes_options = many([
    click.option("-r", "--recipe", "recipes", metavar="RECIPE", type=_Recipe(), multiple=True,
                 help="A preset, or a recipe file (.toml)."),
    axes_option,
])
corpus_word = _Corpus()
"""The type of a CORPUS, for completion."""
reading_options = many([
    click.option("--as", "as_", metavar="WAY", type=click.Choice(list(READ_AS)),
                 help="How a corpus is read where its name does not say it: " + ", ".join(READ_AS) + "."),
    click.option("--field", metavar="NAME", default="text", help="The field of JSON rows that holds the text [default: text]."),
])
shape_options = many([
    click.option("--coverage", metavar="SHARE", type=float,
                 help="The share of the characters of the corpus that the base covers; the rarest become unknown."),
    click.option("--symbol", "symbols", metavar="TEXT", multiple=True,
                 help="A text that is one token, and that no merge crosses. May be given many times."),
    click.option("--prefix-space/--no-prefix-space", "prefix_space", default=None,
                 help="Set a space in front of a text, or none [default: as the split has it]."),
])
published_option = click.option(
    "--published", is_flag=True, help="Take the sizes, special tokens and first id that the preset was published with.",
)
run_options = many([
    *(click.option(name, metavar="N", type=_Whole(), help=about) for name, about in _NUMBERS),
    click.option("--special", "specials", metavar="TEXT", multiple=True,
                 help="A special token; they take the first ids in the order given. <unk> or [UNK] is the unknown token."),
    published_option,
    shape_options,
])
tokenizer_option = click.option("-t", "--tokenizer", metavar="TOKENIZER", required=True, type=click.Path(),
                                help="A tokenizer file, such as train writes.")
def _set_limits(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> None:
    if words and not ctx.resilient_parsing:
        limits.use(limits.now().with_words(words, "--limit"))


class _LimitWord(_Words):
    name = "limit=value"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The names of the limits."""
        return [
            CompletionItem(f"{one.name}=", help=f"{one.unit} {one.about}")
            for one in limits.LIMITS.values() if one.name.startswith(incomplete)
        ]


limit_option = click.Option(
    ["--limit"], metavar="NAME=VALUE", type=_LimitWord(), multiple=True, is_eager=True, expose_value=False, callback=_set_limits,
    help="Set a limit on what is read; --limits of the program lists them. May be given many times.",
)
"""What every command takes; the program gives it to each."""
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress bar, no remarks.")


def axes_of(words: Sequence[str]) -> dict[str, Any]:
    """The axes that `-s` names; one that is named twice has the last value.

    Raises:
        TokentuiError: A word is not AXIS=VALUE, or there is no such axis.
    """
    axes: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise TokentuiError("an axis and its value belong here", f"-s {word}", "such as -s split=gpt2")
        if name not in AXES:
            raise TokentuiError("no such axis", f"-s {word}", nearest(name, AXES))
        axes[name] = () if name == "normalize" and value == "[]" else value
    return axes


def recipe_of(name: str, axes: Mapping[str, Any]) -> Recipe:
    """The recipe of a preset or a recipe file, with other values on some axes.

    A name that is no preset's and looks like a file's, or is one, is a file.

    Raises:
        TokentuiError: There is no such preset or file, or the recipe cannot be.
    """
    a_file = name.endswith(".toml") or os.sep in name or (name not in PRESETS and os.path.isfile(name))
    recipe = _read_recipe(name) if a_file else preset_named(name).recipe
    return recipe.with_axes(**axes)


def wanted(name: str, axes: Mapping[str, Any], words: Mapping[str, Any]) -> tuple[Recipe, Run]:
    """The recipe of a preset or a recipe file, and the words of its run, as the options of a command name them.

    Args:
        name: The preset or the file.
        axes: The axes that are named.
        words: The values of `run_options`. What is named goes before what was published.

    Raises:
        TokentuiError: They cannot be, or nothing was published of such a recipe.
    """
    recipe = shaped(recipe_of(name, axes), words)
    run = run_of(**words)
    if not words.get("published"):
        return recipe, run
    if name not in PRESETS:
        raise TokentuiError("a recipe file has no published sizes", "--published", "name a preset")
    return recipe, {**PRESETS[name].published, **run}


def shaped(recipe: Recipe, words: Mapping[str, Any]) -> Recipe:
    """A recipe with the words of `shape_options` that are named.

    Raises:
        TokentuiError: They make no sense here.
    """
    named = {name: words[name] for name in SHAPE if words.get(name) not in (None, ())}
    if not named:
        return recipe
    made = recipe.shaped(**named)
    if made.symbols:
        from tokentui.text.pretokenize import Pretokenizer  # says what no text holds

        Pretokenizer(made)
        if both := set(made.symbols).intersection(words.get("specials") or ()):
            raise TokentuiError("named twice", f"--symbol {min(both)}", "a symbol or a special token")
    return made


def _read_recipe(path: str) -> Recipe:
    from tokentui.text.files import refusal, show  # not before the first paint of the explorer

    try:
        with open_regular(path, "recipe file") as file:
            data = file.read(_LARGEST_RECIPE + 1)
        if len(data) > _LARGEST_RECIPE:
            raise TokentuiError("not a recipe file", show(path), "a recipe file is a few lines of TOML")
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TokentuiError(f"not UTF-8 at byte {error.start}", show(path), "a recipe file is UTF-8") from None
    except OSError as error:
        raise refusal(error, path) from None
    return Recipe.from_toml(text, show(path))


def run_of(**words: Any) -> Run:
    """The words of a run that were named on the command line.

    Raises:
        TokentuiError: They cannot be.
    """
    beside = (*SHAPE, "published")
    named = {name: value for name, value in words.items() if name not in beside and value is not None and value != ()}
    if not named:
        return named
    from tokentui.tokenizer import (
        check_run,  # with it comes the engine, which is not wanted before the first paint of the explorer
    )

    check_run(tuple(named.get("specials", ())), **{name: value for name, value in named.items() if name != "specials"})
    return named
