"""The options that several commands share, and the values that they stand for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from tokentui.axes import AXES, changed
from tokentui.core import limits
from tokentui.core.arguments import nearest
from tokentui.core.errors import TokentuiError
from tokentui.core.files import open_regular
from tokentui.presets import PRESETS, preset_named
from tokentui.recipe import RUN, SHAPE, Recipe, Run
from tokentui.text.sources import READ_AS, samples

if TYPE_CHECKING:
    _Type = click.ParamType[Any]
else:  # a class of one type, or of none, from version to version of click
    _Type = click.ParamType

_F = TypeVar("_F", bound=Callable[..., Any])
_LARGEST_RECIPE = 1 << 20


class _Whole(_Type):
    name = "whole number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(value)
        except ValueError:
            self.fail(f"not a whole number: {str(value)[:40]!r}", param, ctx)


class _Recipe(_Type):
    name = "recipe"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        found = [CompletionItem(name, help=one.about) for name, one in PRESETS.items() if name.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]


class _Axis(_Type):
    name = "axis=value"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        axis, equals, value = incomplete.partition("=")
        if equals:
            values = {f"{name}:" if one.text else name: one.about for name, one in AXES.get(axis, {}).items()}
            return [CompletionItem(f"{axis}={one}", help=about) for one, about in values.items() if one.startswith(value)]
        return [CompletionItem(f"{name}=", help=one.about) for name, one in AXES.items() if name.startswith(axis)]


class _Corpus(_Type):
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


split_option = click.option("-s", "--set", "axes", metavar="split=VALUE", multiple=True,
                            help="The split of a file that holds none.")
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
    *(click.option(f"--{name.replace('_', '-')}", metavar="N", type=_Whole(), help=f"{one.about.capitalize()}.")
      for name, one in RUN.items() if one.kind is int),
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


class _LimitWord(_Type):
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
"""Option of every command; the program adds it to each of them."""
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


def split_of(words: Sequence[str], hint: str = "train with that axis") -> str:
    """The split that `-s` names for a file that holds none, empty where it names none.

    Raises:
        TokentuiError: It names another axis.
    """
    axes = axes_of(words)
    for name, value in axes.items():
        if name != "split":
            raise TokentuiError("only the split can be named here", f"-s {name}={value}", hint)
    return str(axes.get("split", ""))


def refuse_training(where: str, axes: Sequence[str], words: Mapping[str, object]) -> None:
    """Refuse what only a training is told, where none is named.

    Raises:
        TokentuiError: There is something.
    """
    told = any(value not in (None, (), False) for value in words.values())
    if told or axes_of(axes).keys() - {"split"}:
        hint = "name a recipe by -r, or leave out what a training is told"
        raise TokentuiError("nothing is trained here", where, hint)


def recipe_of(name: str, axes: Mapping[str, Any]) -> Recipe:
    """The recipe of a preset or a recipe file, with other values on some axes.

    A name that is no preset's and looks like a file's, or is one, is a file.

    Raises:
        TokentuiError: There is no such preset or file, or the recipe cannot be.
    """
    a_file = name.endswith(".toml") or os.sep in name or (name not in PRESETS and os.path.isfile(name))
    recipe = _read_recipe(name) if a_file else preset_named(name).recipe
    return changed(recipe, **axes)


def wanted(name: str, axes: Mapping[str, Any], words: Mapping[str, Any]) -> tuple[Recipe, Run]:
    """The recipe of a preset or a recipe file, and its run, as the options of a command name them.

    Args:
        name: The preset or the file.
        axes: The axes that are named.
        words: The values of `run_options`. What is named goes before what was published.

    Raises:
        TokentuiError: They cannot be, or nothing was published of such a recipe.
    """
    recipe = shaped(recipe_of(name, axes), words)
    beside = (*SHAPE, "published")
    named = {name: one for name, one in words.items() if name not in beside and one is not None and one != ()}
    if not words.get("published"):
        return recipe, Run.of(named)
    if name not in PRESETS:
        raise TokentuiError("a recipe file has no published sizes", "--published", "name a preset")
    return recipe, Run.of(PRESETS[name].run.words | named)


def shaped(recipe: Recipe, words: Mapping[str, Any]) -> Recipe:
    """A recipe with the words of `shape_options` that are named.

    Raises:
        TokentuiError: They make no sense here.
    """
    named = {name: words[name] for name in SHAPE if words.get(name) not in (None, ())}
    if not named:
        return recipe
    made = changed(recipe, **named)
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

