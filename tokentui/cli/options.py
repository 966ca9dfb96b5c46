"""Options that several commands share, and their values as `SharedOptions`."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from tokentui.cli.main import completions
from tokentui.cli.output import ProgressBar, bytes_of, complain, is_ascii_only, is_terminal
from tokentui.core.counts import read_count
from tokentui.core.errors import TokentuiError, nearest
from tokentui.core.records import dataclass
from tokentui.core.runtime import terminations_raise
from tokentui.recipe import RUN, SHAPE, Recipe, Run, check_names, read_recipe
from tokentui.text.named import PARALLEL, SHARES, Corpora, named_in, named_row
from tokentui.text.sources import READ_AS, samples

if TYPE_CHECKING:
    from tokentui.cli.chips import Marks
    from tokentui.encode.tokenizer import Tokenizer
    from tokentui.text.corpus import Corpus

ENCODE = "encode"
"""The axis that may be named for a tokenizer file: how text is encoded by it."""
_STDIN = ((), ("-",))

PATH = click.Path(readable=False)
"""A file or folder that a command names. The command itself reports that it cannot be read or written."""

Command = Callable[..., int]
"""A command: takes a `SharedOptions` and the values of options of its own, and returns the exit code."""
Option = Callable[[Command], Command]
"""Adds an option or an argument to a command."""


class Count(click.IntRange):
    """A whole number that may be written with k or M, see `core.counts`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number. Fail if the text is not a whole number, or if the number is out of range."""
        number = read_count(value) if isinstance(value, str) else value
        if number is None:
            try:
                number = int(value)
            except ValueError:
                self.fail(f"{value!r} is not a whole number, such as 4000 or 32k", param, ctx)
        return super().convert(number, param, ctx)

    def _describe_range(self) -> str:
        """Return the range for the help; empty without bounds, where click prints x<=None."""
        return "" if self.min is None and self.max is None else super()._describe_range()


@dataclass(frozen=True, slots=True)
class SharedOptions:
    """The values of the shared options. An option that a command does not have has its default.

    Attributes:
        command: The name of the command, for errors.
        run_values: The values of the `RUN_OPTIONS` that are given, by name.
        axes: The axes that `-s` sets, by name; the last value wins. For a command with several recipes, only
            those before the first `-r`, which apply to all recipes.
        sources: The CORPUS arguments.
        recipe: The preset or recipe file of a command with one recipe, or None.
        recipes: The presets and recipe files of a command with several recipes.
        axes_by_recipe: For each of `recipes`, the axes that `-s` sets after it.
        encode_by_file: For each `-t` of a command with several, the value of `-s encode=` after it; empty for
            the file's own way to encode.
        read_as: The input format of `--as`, or None to detect it from the name.
        field: The field of JSON rows that contains the text.
        class_name: The tokenizer class of transformers that `--class` names; empty for that of a folder.
        as_json: True to print JSON.
        quiet: True to suppress progress and notices.
        color: When tokens are marked in color: `auto`, `always` or `never`.
    """

    command: str
    run_values: Mapping[str, Any]
    axes: Mapping[str, Any]
    sources: tuple[str, ...] = ()
    recipe: str | None = None
    recipes: tuple[str, ...] = ()
    axes_by_recipe: tuple[Mapping[str, Any], ...] = ()
    encode_by_file: tuple[str, ...] = ()
    read_as: str | None = None
    field: str = "text"
    class_name: str = ""
    as_json: bool = False
    quiet: bool = False
    color: str = "auto"

    @property
    def marks(self) -> Marks | None:
        """How the tokens of a text are marked on standard output; None if they are not: if it is no terminal,
        or with `--color never`."""
        always = self.color == "always"
        if not always and (self.color == "never" or not is_terminal(sys.stdout)):
            return None
        from tokentui.cli.chips import marks_for  # nothing that is piped needs it

        return marks_for(os.environ, always=always, ascii_only=is_ascii_only())

    def read_corpus(self, bar: ProgressBar) -> Corpus:
        """Read the corpus. Print notices about it.

        Args:
            bar: The progress bar.

        Raises:
            TokentuiError: It cannot be read, or a source is a tokenizer file.
        """
        from tokentui.formats.refusing import refuse_tokenizers
        from tokentui.text.read import read

        refuse_tokenizers(self.sources, self.read_as)
        with bar.phase("reading"):
            corpus = read(self.sources, as_=self.read_as, field=self.field)
        bar.close()
        self.notice(corpus.noticed)
        return corpus

    def read_each_corpus(self, bar: ProgressBar) -> list[tuple[str, Corpus]]:
        """Read each source as a corpus of its own, with its name. Named corpora are returned one by one.

        Raises:
            TokentuiError: As for `read_corpus`.
        """
        corpora: list[tuple[str, Corpus]] = []
        for source in self.sources:
            corpus = replace(self, sources=(source,)).read_corpus(bar)
            corpora += [(part.name, part.corpus) for part in corpus.named] or [(corpus.name, corpus)]
        return corpora

    def require_corpus(self) -> None:
        """Check that a corpus is given.

        Raises:
            TokentuiError: There is no CORPUS.
        """
        if not self.sources:
            hint = "name a file, a folder, - or sample:english"
            raise TokentuiError("CORPUS is missing", self.command, hint)

    def notice(self, lines: Iterable[str]) -> None:
        """Print each line on standard error, unless `--quiet` is given."""
        for line in () if self.quiet else lines:
            complain(line)

    def report_missed(self, what: str, *, exact: bool) -> int:
        """Report that a size or target was not reached. Return the exit code.

        Args:
            what: The sentence; empty if nothing was missed.
            exact: The value of `--exact`. If true, the code is 1, and `--quiet` does not suppress it.
        """
        if what and (exact or not self.quiet):
            complain(what)
        return int(bool(what) and exact)

    def split_for_file(self, hint: str = "train with that axis", *, also: Sequence[str] = ()) -> str:
        """Return the split that `-s` sets for a file that does not store one; empty if it sets none.

        Args:
            hint: The hint of the error.
            also: Other axes that are allowed.

        Raises:
            TokentuiError: `-s` sets another axis.
        """
        for name, value in self.axes.items():
            if name != "split" and name not in also:
                known = " and ".join(("the split", *also))
                raise TokentuiError(f"only {known} can be set here", f"-s {name}={value}", hint)
        return str(self.axes.get("split", ""))

    def load_tokenizer(self, path: str, hint: str = "train with that axis") -> Tokenizer:
        """Load a tokenizer, with the split and the way to encode that `-s` sets.

        Raises:
            TokentuiError: It cannot be read, or `-s` sets another axis, or another split than the file's.
        """
        from tokentui.formats.files import load  # with it come all formats

        split, encode = self.split_for_file(hint, also=(ENCODE,)), str(self.axes.get(ENCODE, ""))
        return load(path, split, encode=encode, class_name=self.class_name)

    def refuse_training_options(self) -> None:
        """Check that no option or axis of training is given to a command that trains nothing. The split is
        allowed.

        Raises:
            TokentuiError: One is given.
        """
        if self.run_values or self.axes.keys() - {"split"}:
            hint = "name a recipe with -r, or leave out the training options"
            raise TokentuiError("nothing is trained", self.command, hint)

    def recipes_and_runs(self) -> list[tuple[Recipe, Run]]:
        """Return the recipe and the run of each `-r`, with the axes that are set after it.

        Raises:
            TokentuiError: As for `recipe_and_run`.
        """
        return [replace(self, axes={**self.axes, **axes}).recipe_and_run(name)
                for name, axes in zip(self.recipes, self.axes_by_recipe, strict=True)]

    def recipe_and_run(self, name: str) -> tuple[Recipe, Run]:
        """Load a preset or a recipe file, with the given axes and run options. Given values override
        published ones.

        Raises:
            TokentuiError: They are invalid, or a recipe file is combined with `--published`.
        """
        words = {word: value for word, value in self.run_values.items() if word in RUN}
        if "published" in self.run_values:
            from tokentui.preset_table import PRESETS  # who opens a file asks for none

            if name not in PRESETS:
                raise TokentuiError("a recipe file has no published sizes", "--published", "name a preset")
            words = PRESETS[name].run.words | words
        recipe, run = self.with_axes(load_recipe(name)), Run.of(words)
        check_names(recipe, run)
        return recipe, run

    def required_recipe(self) -> tuple[Recipe, Run]:
        """Return the recipe and run of a command that trains on a corpus.

        Raises:
            TokentuiError: There is no CORPUS or no `-r`, or they are invalid.
        """
        self.require_corpus()
        if self.recipe is None:
            hint = "name a preset or a recipe file; tokentui recipes lists them"
            raise TokentuiError("-r is missing", self.command, hint)
        return self.recipe_and_run(self.recipe)

    def with_axes(self, recipe: Recipe) -> Recipe:
        """Return a recipe with the given axes and `SHAPE` options.

        Raises:
            TokentuiError: They are invalid for this recipe.
        """
        from tokentui.axes import changed  # with it come all axes

        shape = {name: self.run_values[name] for name in SHAPE if name in self.run_values}
        with_axes = changed(recipe, **self.axes, **shape)
        if with_axes.symbols:
            from tokentui.text.pretokenize import Pretokenizer  # refuses impossible symbols

            Pretokenizer(with_axes)
        return with_axes


def load_recipe(name: str) -> Recipe:
    """Load a preset or a recipe file. A name that is no preset and looks like a file, or is a file, is read
    as a file.

    Raises:
        TokentuiError: There is no such preset or file.
    """
    from tokentui.preset_table import PRESETS, preset_named  # who opens a file asks for none

    a_file = name.endswith(".toml") or os.sep in name or (name not in PRESETS and os.path.isfile(name))
    return read_recipe(name) if a_file else preset_named(name).recipe


_SHARED_FIELDS = {field.name for field in fields(SharedOptions)}
_RUN_NAMES = {*RUN, *SHAPE, "published"}


def options(*listed: Option) -> Option:
    """Add options to a command, in the order of its help. The command is called with the shared ones as
    `SharedOptions`, and with its own by name."""

    def decorate(function: Command) -> Command:
        """Return the command with the options, which gets `SharedOptions` and its own values."""
        @functools.wraps(function)
        def command(**values: Any) -> int:
            own = {name: values.pop(name) for name in _SHARED_FIELDS & values.keys()}
            if "corpora" in values:
                names = [values.pop(name) for name in ("corpora", "shares", "development")]
                own["sources"] = _corpus_sources(own.get("sources", ()), *names)
            words = {name: values.pop(name) for name in _RUN_NAMES & values.keys()}
            named = {name: value for name, value in words.items() if value not in (None, ())}
            context = click.get_current_context()
            order = context.meta.get(_ORDER, ())
            axes, axes_by_recipe, encode_by_file = _axes_by_position(own.pop("axes", ()), order)
            shared = SharedOptions(
                context.info_name or "", named, axes, axes_by_recipe=axes_by_recipe,
                encode_by_file=encode_by_file, **own,
            )
            with terminations_raise():
                return function(shared, **values)

        decorated: Command = command
        for option in reversed(listed):
            decorated = option(decorated)
        return decorated

    return decorate


def _corpus_sources(
    sources: tuple[str, ...], corpora: Sequence[str], shares: str | None, development: Sequence[str]
) -> tuple[str, ...]:
    """Return the sources of a command that takes `--corpus`: the CORPUS arguments, or one source for all
    named corpora.

    Raises:
        TokentuiError: Both ways are taken, or what is named makes no sense.
    """
    if not corpora and not shares and not development:
        return sources
    if corpora and sources:
        what = "CORPUS and --corpus cannot be combined"
        raise TokentuiError(what, f"--corpus {corpora[0]}", "name each with --corpus NAME=FILE")
    named = corpora or sources
    known = named_in(named[0]) if named else None
    if known is not None and len(named) > 1:
        raise TokentuiError("names several corpora", f"--corpus {named[0]}", "use it alone")
    if known is None and not corpora:
        option = "--shares" if shares else "--development"
        raise TokentuiError("only for named corpora", option, "name them with --corpus NAME=FILE")
    known = known or Corpora(tuple(named_row(text, "--corpus") for text in corpora))
    judged = tuple(named_row(text, "--development") for text in development)
    both = (*known.development, *judged)
    return (known._replace(shares=shares or known.shares, development=both).checked().text,)


def merge_named_sources(sources: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of a `--corpus` that takes plain and named corpora. All named ones become one source.
    An existing file with = in its name is plain.

    Raises:
        TokentuiError: Only some of them have a name.
    """
    named = [
        source for source in sources
        if "=" in source and named_in(source) is None and not os.path.lexists(source)
    ]
    if not named:
        return sources
    if len(named) < len(sources):
        plain = next(source for source in sources if source not in named)
        raise TokentuiError("has no name, and others have one", f"--corpus {plain}", "name it NAME=CORPUS")
    return _corpus_sources((), named, None, ())


_ORDER = "tokentui.order"


class OrderedCommand(click.Command):
    """A command that records the order of its options in `Context.meta`.

    `-s` sets an axis of the `-r` before it, and `-s encode=` the way to encode of the `-t` before it. click
    itself keeps only the order of the values of each option.
    """

    def make_parser(self, ctx: click.Context) -> Any:
        """Return click's parser. It also stores the names of the options in the order that they were given.
        """
        parser = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_and_record(args: list[str]) -> Any:
            options, rest, order = parse(args)
            ctx.meta[_ORDER] = tuple(param.name for param in order)
            return options, rest, order

        parser.parse_args = parse_and_record  # type: ignore[method-assign]
        return parser


def _axes_by_position(
    words: Sequence[str], order: Sequence[str]
) -> tuple[dict[str, Any], tuple[dict[str, Any], ...], tuple[str, ...]]:
    """Group the values of `-s`: axes before the first `-r`, axes after each `-r`, and the value of `encode=`
    after each `-t` (empty if there is none).

    Only `encode=` goes to a `-t` before it; another axis after a `-t` goes to the last `-r` before it. Values
    that the order does not cover go before the first `-r`.
    """
    parts: list[list[str]] = [[]]
    ways: list[str] = []
    left = iter(words)
    behind_file = False
    for name in order:
        if name == "recipes":
            parts.append([])
        elif name == "tokenizers":
            ways.append("")
        elif name == "axes":
            word = next(left)
            if behind_file and word.startswith(f"{ENCODE}="):
                ways[-1] = str(_axes([word])[ENCODE])
            else:
                parts[-1].append(word)
        behind_file = name == "tokenizers" or (behind_file and name == "axes")
    parts[0] += left
    first, *others = map(_axes, parts)
    return first, tuple(others), tuple(ways)


def _axes(words: Sequence[str]) -> dict[str, Any]:
    """Parse values of `-s` into axes; the last value of an axis wins.

    Raises:
        TokentuiError: An axis is unknown or has no value.
    """
    axes: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise TokentuiError("an axis needs a value", f"-s {word}", "for example -s split=gpt2")
        from tokentui.axes import AXES

        if name not in AXES:
            raise TokentuiError("no such axis", f"-s {word}", nearest(name, AXES))
        axes[name] = () if name == "normalize" and value == "[]" else value
    return axes


# ---- the options


def _complete_recipe(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from tokentui.preset_table import PRESETS  # who opens a file asks for none

    presets = completions({name: preset.about for name, preset in PRESETS.items()}, incomplete)
    return presets or [CompletionItem(incomplete, type="file")]


def _complete_axis(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of an axis up to `=`, then its values. A choice that takes a text ends in `:`.

    An unknown axis has no completions.
    """
    from tokentui.axes import AXES

    axis_name, equals, _ = incomplete.partition("=")
    if not equals:
        return completions({f"{axis.name}=": axis.about for axis in AXES.values()}, incomplete)
    values = AXES[axis_name].items() if axis_name in AXES else ()
    abouts = {f"{axis_name}={name}{':' * bool(choice.text)}": choice.about for name, choice in values}
    return completions(abouts, incomplete)


def _complete_corpus(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    names = [PARALLEL, *(f"sample:{sample.name}" for sample in samples())]
    items = [CompletionItem(name) for name in names if incomplete and name.startswith(incomplete)]
    return [*items, CompletionItem(incomplete, type="file")]


def corpus_argument(metavar: str) -> Option:
    """Return the CORPUS argument of a command."""
    return click.argument("sources", metavar=metavar, shell_complete=_complete_corpus, nargs=-1)


def corpus_option(*names: str, about: str, multiple: bool = False) -> Option:
    """Return an option that takes a corpus."""
    return click.option(*names, metavar="CORPUS", shell_complete=_complete_corpus, multiple=multiple,
                        help=about)


CORPUS = corpus_argument("CORPUS...")
NAMED: Sequence[Option] = (
    click.option("--corpus", "corpora", metavar="NAME=CORPUS", multiple=True, help="A named corpus, such as "
                 "one language, instead of CORPUS. sample:parallel has twelve languages. Can be repeated."),
    click.option("--shares", metavar="WAY", type=click.Choice(list(SHARES)), help="How named corpora are "
                 "weighted: count (as is) or equal (scaled to equal bytes) [default: count]."),
    click.option("--development", metavar="NAME=CORPUS", multiple=True, help="With objective=parity: judge "
                 "the language NAME on this text, which is not used for training. Can be repeated."),
)
SPLIT = click.option("-s", "--set", "axes", metavar="split=VALUE", multiple=True,
                     help="The split, for a file that does not store one.")
SPLIT_OR_ENCODE = click.option("-s", "--set", "axes", metavar="AXIS=VALUE", multiple=True,
                      help="split=VALUE: the split, for a file that does not store one. encode=VALUE: "
                      "another way to encode with the same vocabulary.")
_RECIPE = functools.partial(click.option, "-r", "--recipe", metavar="RECIPE", shell_complete=_complete_recipe,
                            help="A preset, or a recipe file (.toml).")
_AXES = click.option("-s", "--set", "axes", metavar="AXIS=VALUE", shell_complete=_complete_axis,
                     multiple=True,
                     help="Set an axis of the recipe. Separate list items with commas. Can be repeated.")
RECIPE: Sequence[Option] = (_RECIPE(), _AXES)
RECIPES: Sequence[Option] = (
    _RECIPE("recipes", multiple=True),
    click.option("-s", "--set", "axes", metavar="AXIS=VALUE", shell_complete=_complete_axis, multiple=True,
                 help="Set an axis of the -r before it, or of every recipe if it comes before the first -r. "
                 "Separate list items with commas. After a -t, encode=VALUE sets how that file encodes. Can "
                 "be repeated."),
)
READING: Sequence[Option] = (
    click.option("--as", "read_as", metavar="FORMAT", type=click.Choice(list(READ_AS)),
                 help=f"The input format, if the file name does not imply it: {', '.join(READ_AS)}."),
    click.option("--field", metavar="NAME", default="text",
                 help="The field of JSON rows that contains the text [default: text]."),
)
SHAPE_OPTIONS: Sequence[Option] = (
    click.option("--coverage", metavar="SHARE", type=float, help="The share of the corpus's characters "
                 "that the base covers. The rarest characters become unknown."),
    click.option("--symbol", "symbols", metavar="TEXT", multiple=True,
                 help="A text that is always one token and that merges never cross. Can be repeated."),
    click.option("--prefix-space/--no-prefix-space", "prefix_space", default=None,
                 help="Add a space before the text, or do not [default: depends on the split]."),
)
PUBLISHED = click.option(
    "--published", is_flag=True, default=None,
    help="Use the sizes, special tokens and first id that the preset was published with.",
)
COUNT_HINT = ", for example 32k or 1M."
"""The end of the help of an option that takes a `Count`."""
_WITH_COUNT_HINT = ("merges", "vocab_size")


def _sentence(phrase: str) -> str:
    """Return a phrase with its first letter in upper case."""
    return phrase[:1].upper() + phrase[1:]


RUN_OPTIONS: Sequence[Option] = (
    *(click.option(f"--{name.replace('_', '-')}", metavar="N", type=Count(),
                   help=_sentence(parameter.about) + (COUNT_HINT if name in _WITH_COUNT_HINT else "."))
      for name, parameter in RUN.items() if parameter.kind is int),
    click.option("--special", "specials", metavar="TEXT", multiple=True, help="A special token. Special "
                 "tokens take the first ids, in the order given. <unk> or [UNK] is the unknown token. Can be "
                 "repeated."),
    PUBLISHED,
    *SHAPE_OPTIONS,
    click.option("--what-if", "what_if", metavar="CHANGE", multiple=True, help="Change the run: "
                 "STEP:forbid:LEFT+RIGHT, STEP:forbid:TOKEN, STEP:force:LEFT+RIGHT or STEP:leave-out. Write "
                 "a space as %20. Can be repeated."),
)
_TOKENIZER = click.option("-t", "--tokenizer", metavar="TOKENIZER", required=True, type=PATH,
                          help="A tokenizer file, a model folder, hf:OWNER/NAME, or the name of a tiktoken "
                          "encoding, such as cl100k_base.")


def _complete_class(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from tokentui.formats.classes import CLASSES  # with it comes a table

    return [CompletionItem(name) for name in CLASSES if name.lower().startswith(incomplete.lower())]


CLASS = click.option("--class", "class_name", metavar="NAME", default="", shell_complete=_complete_class,
                     help="Read a file or a model folder as this tokenizer class of transformers does, such "
                     "as XLMRoberta [default: the class that the folder names].")


def TOKENIZER(command: Command) -> Command:
    """Add the options `-t` and `--class`."""
    return _TOKENIZER(CLASS(command))


EXACT = click.option("--exact", is_flag=True,
                     help="Exit with code 1 if the requested size or target is not reached.")
COLOR = click.option("--color", metavar="WHEN", type=click.Choice(["auto", "always", "never"]),
                     default="auto", help="When to mark the tokens of a text: always in color, never, or "
                     "auto: on a terminal, in color, or with bars between tokens if it has fewer than 256 "
                     "colors or NO_COLOR is set [default: auto].")
QUIET = click.option("-q", "--quiet", is_flag=True, help="Suppress progress and notices.")


def format_option(name: str, of: str) -> Option:
    """Return the option for a file format. `--format` and `--to` are synonyms.

    Args:
        name: The one of them that errors name.
        of: What is written in the format.
    """
    from tokentui.formats import WRITTEN  # the explorer has no such option

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return completions({name: format.about for name, format in WRITTEN.items()}, incomplete)

    names = (name, *sorted({"--format", "--to"} - {name}))
    return click.option(*names, "format_", metavar="FORMAT", shell_complete=complete,
                        help=f"The format of {of} [default: from its file name]: {', '.join(WRITTEN)}.")


def json_option(about: str) -> Option:
    """Return the option `--json`."""
    return click.option("--json", "as_json", is_flag=True, help=about)


# ---- texts


def check_exclusive(where: str, words: Sequence[str], **ways: bool) -> None:
    """Check that at most one way of output is chosen, and that `--jsonl` comes without arguments.

    Args:
        where: The command, for errors.
        words: The arguments.
        ways: Whether each option is given, by its name; `jsonl` must be one of them.

    Raises:
        TokentuiError: Several ways are chosen, or `--jsonl` has arguments.
    """
    asked = [f"--{name}" for name, on in ways.items() if on]
    if len(asked) > 1:
        raise TokentuiError(f"{' and '.join(asked)} cannot be combined", where, "use one of them")
    if ways["jsonl"] and tuple(words) not in _STDIN:
        what = f"--jsonl reads standard input, not {words[0][:40]!r}"
        raise TokentuiError(what, where, "leave one of them out")


def text_argument(words: Sequence[str], where: str) -> str:
    """Return the text argument, or standard input without its final newline. Bytes that are not UTF-8 become
    lone surrogates.

    Raises:
        TokentuiError: There is more than one text.
    """
    if len(words) > 1:
        raise TokentuiError(f"expected one text, not {len(words)}", where, "quote it")
    if tuple(words) not in _STDIN:
        return words[0]
    return without_final_newline(read_standard_input())


def without_final_newline(data: bytes) -> str:
    """Decode a text without its final newline. Bytes that are not UTF-8 become lone surrogates."""
    whole = data.decode("utf-8", "surrogateescape")
    return whole.removesuffix("\n").removesuffix("\r") if whole.endswith("\n") else whole


def read_standard_input() -> bytes:
    """Read all of standard input, as bytes.

    Raises:
        TokentuiError: There is too much, or nothing comes.
    """
    from tokentui.text.files import read_plain

    return read_plain(bytes_of(sys.stdin, "standard input"), "standard input")
