"""The options that several commands share, and their values as one value, `Given`."""

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
from tokentui.cli.output import ProgressBar, bytes_of, complain
from tokentui.core.counts import read_count
from tokentui.core.errors import TokentuiError, nearest
from tokentui.core.records import dataclass
from tokentui.core.runtime import terminations_raise
from tokentui.preset_table import PRESETS, preset_named
from tokentui.recipe import RUN, SHAPE, Recipe, Run, check_names, read_recipe
from tokentui.text.named import PARALLEL, SHARES, Corpora, named_in, named_row
from tokentui.text.sources import READ_AS, samples

if TYPE_CHECKING:
    from tokentui.encode.tokenizer import Tokenizer
    from tokentui.text.corpus import Corpus

ENCODE = "encode"
"""The axis that may be named for a tokenizer file: how text is encoded by it."""
_STDIN = ((), ("-",))

PATH = click.Path(readable=False)
"""A file or folder that a command names. The command itself reports that it cannot be read or written."""

Command = Callable[..., int]
"""A command: takes a `Given` and the values of options of its own, and returns the exit code."""
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
class Given:
    """The values of the options that commands share. An option that a command lacks has its default.

    Attributes:
        where: The name of the command, for errors.
        run: The values of the `RUN_OPTIONS` that are named, by name.
        axes: The values of the axes that `-s` names; of one that is named twice the last. Where several
            recipes may be named, those in front of the first `-r`, which hold for all.
        sources: The words that name the corpus.
        recipe: The preset or recipe file, None for none.
        recipes: The same where several may be named.
        bound: For each of these, the axes that `-s` names behind it.
        ways: For each tokenizer file, where several may be named, the way of encoding that `-s` names behind
            it; empty for its own.
        as_: The way to read the corpus, None if its name tells it.
        field: The field of JSON rows that holds the text.
        as_json: True to print rows of JSON.
        quiet: True for no progress bar and no remarks.
    """

    where: str
    run: Mapping[str, Any]
    axes: Mapping[str, Any]
    sources: tuple[str, ...] = ()
    recipe: str | None = None
    recipes: tuple[str, ...] = ()
    bound: tuple[Mapping[str, Any], ...] = ()
    ways: tuple[str, ...] = ()
    as_: str | None = None
    field: str = "text"
    as_json: bool = False
    quiet: bool = False

    def corpus(self, bar: ProgressBar) -> Corpus:
        """Read the corpus, with the remarks on it on standard error.

        Args:
            bar: Shows how far it is.

        Raises:
            TokentuiError: It cannot be read, or a source is a tokenizer file.
        """
        from tokentui.formats.files import refuse_tokenizers  # with them come all formats
        from tokentui.text.read import read

        refuse_tokenizers(self.sources, self.as_)
        with bar.phase("reading"):
            corpus = read(self.sources, as_=self.as_, field=self.field)
        bar.close()
        self.remark(corpus.noticed)
        return corpus

    def corpora(self, bar: ProgressBar) -> list[tuple[str, Corpus]]:
        """Read each source as a corpus of its own, with its name. One of named corpora is several.

        Raises:
            TokentuiError: As `corpus`.
        """
        corpora: list[tuple[str, Corpus]] = []
        for source in self.sources:
            corpus = replace(self, sources=(source,)).corpus(bar)
            corpora += [(one.name, one.corpus) for one in corpus.named] or [(corpus.name, corpus)]
        return corpora

    def needs_corpus(self) -> None:
        """Refuse a command without a corpus.

        Raises:
            TokentuiError: None is named.
        """
        if not self.sources:
            raise TokentuiError("CORPUS is missing", self.where, "name a file, a folder, - or sample:english")

    def remark(self, lines: Iterable[str]) -> None:
        """Remarks on standard error, a line each; none where the user wants none."""
        for line in () if self.quiet else lines:
            complain(line)

    def missed(self, what: str, *, exact: bool) -> int:
        """Say in a line that a size or a target was not reached. Returns the exit code.

        Args:
            what: The sentence; empty if it was reached.
            exact: The value of `--exact`. Then the code is 1, and `--quiet` does not hide the line.
        """
        if what and (exact or not self.quiet):
            complain(what)
        return int(bool(what) and exact)

    def split(self, hint: str = "train with that axis", *, also: Sequence[str] = ()) -> str:
        """The split that `-s` names for a file that holds none, empty where it names none.

        Args:
            hint: What would help.
            also: Other axes that may be named.

        Raises:
            TokentuiError: It names another axis.
        """
        for name, value in self.axes.items():
            if name != "split" and name not in also:
                known = " and ".join(f"the {one}" for one in ("split", *also)).replace("the encode", "encode")
                raise TokentuiError(f"only {known} can be named here", f"-s {name}={value}", hint)
        return str(self.axes.get("split", ""))

    def opened(self, path: str, hint: str = "train with that axis") -> Tokenizer:
        """The tokenizer of a file, with the split that `-s` names for one that holds none, and encoded in the
        way that it names.

        Raises:
            TokentuiError: It cannot be read, or `-s` names another axis, or another split than the file has.
        """
        from tokentui.formats.files import load  # with it come all formats

        return load(path, self.split(hint, also=(ENCODE,)), encode=str(self.axes.get(ENCODE, "")))

    def refuse_training(self) -> None:
        """Refuse what only a training is told, where none is named.

        Raises:
            TokentuiError: There is something.
        """
        if self.run or self.axes.keys() - {"split"}:
            hint = "name a recipe by -r, or leave out what a training is told"
            raise TokentuiError("nothing is trained here", self.where, hint)

    def each_wanted(self) -> list[tuple[Recipe, Run]]:
        """The recipe and the run of each of several recipes, with the axes that are named behind it.

        Raises:
            TokentuiError: As for `wanted`.
        """
        return [replace(self, axes={**self.axes, **axes}).wanted(name)
                for name, axes in zip(self.recipes, self.bound, strict=True)]

    def wanted(self, name: str) -> tuple[Recipe, Run]:
        """The recipe of a preset or a recipe file, and its run. What is named goes before what was published.

        Raises:
            TokentuiError: They cannot be, or nothing was published of such a recipe.
        """
        words = {word: one for word, one in self.run.items() if word in RUN}
        if "published" in self.run:
            if name not in PRESETS:
                raise TokentuiError("a recipe file has no published sizes", "--published", "name a preset")
            words = PRESETS[name].run.words | words
        recipe, run = self.changed(recipe_named(name)), Run.of(words)
        check_names(recipe, run)
        return recipe, run

    def changed(self, recipe: Recipe) -> Recipe:
        """A recipe with the axes and the words of `SHAPE` that are named.

        Raises:
            TokentuiError: They make no sense here.
        """
        from tokentui.axes import changed  # with it come all axes

        made = changed(recipe, **self.axes, **{word: self.run[word] for word in SHAPE if word in self.run})
        if made.symbols:
            from tokentui.text.pretokenize import Pretokenizer  # says what no text holds

            Pretokenizer(made)
        return made


def recipe_named(name: str) -> Recipe:
    """The recipe of a preset or a recipe file, as it is.

    A name that is no preset's and looks like a file's, or is one, is a file.

    Raises:
        TokentuiError: There is none of this name.
    """
    a_file = name.endswith(".toml") or os.sep in name or (name not in PRESETS and os.path.isfile(name))
    return read_recipe(name) if a_file else preset_named(name).recipe


_OWN = {one.name for one in fields(Given)}
_WORDS = {*RUN, *SHAPE, "published"}


def options(*listed: Option) -> Option:
    """Give a command these options, which stand in its help in this order. It is called with the values of
    the shared ones as a `Given`, and with those of its own by name."""

    def decorate(function: Command) -> Command:
        @functools.wraps(function)
        def command(**values: Any) -> int:
            own = {name: values.pop(name) for name in _OWN & values.keys()}
            if "corpora" in values:
                names = [values.pop(name) for name in ("corpora", "shares", "development")]
                own["sources"] = _named_sources(own.get("sources", ()), *names)
            words = {name: values.pop(name) for name in _WORDS & values.keys()}
            named = {name: value for name, value in words.items() if value not in (None, ())}
            context = click.get_current_context()
            axes, bound, ways = _bound(own.pop("axes", ()), context.meta.get(_ORDER, ()))
            given = Given(context.info_name or "", named, axes, bound=bound, ways=ways, **own)
            with terminations_raise():
                return function(given, **values)

        made: Command = command
        for option in reversed(listed):
            made = option(made)
        return made

    return decorate


def _named_sources(
    sources: tuple[str, ...], corpora: Sequence[str], shares: str | None, development: Sequence[str]
) -> tuple[str, ...]:
    """The words that name the corpus, where `--corpus` may name several: one word for all of them.

    Raises:
        TokentuiError: Both ways are taken, or what is named makes no sense.
    """
    if not corpora and not shares and not development:
        return sources
    if corpora and sources:
        what = "CORPUS and --corpus exclude each other"
        raise TokentuiError(what, f"--corpus {corpora[0]}", "name each by --corpus NAME=FILE")
    named = corpora or sources
    known = named_in(named[0]) if named else None
    if known is not None and len(named) > 1:
        raise TokentuiError("names several corpora", f"--corpus {named[0]}", "take it alone")
    if known is None and not corpora:
        option = "--shares" if shares else "--development"
        raise TokentuiError("only named corpora have it", option, "name them by --corpus NAME=FILE")
    known = known or Corpora(tuple(named_row(one, "--corpus") for one in corpora))
    judged = tuple(named_row(one, "--development") for one in development)
    both = (*known.development, *judged)
    return (known._replace(shares=shares or known.shares, development=both).checked().text,)


def named_or_plain(sources: tuple[str, ...]) -> tuple[str, ...]:
    """The words of an option that takes both corpora and named ones. A file whose name holds the sign is a
    file.

    Raises:
        TokentuiError: Some have a name, and others have none.
    """
    named = [one for one in sources if "=" in one and named_in(one) is None and not os.path.lexists(one)]
    if not named:
        return sources
    if len(named) < len(sources):
        plain = next(one for one in sources if one not in named)
        raise TokentuiError("has no name, and others have one", f"--corpus {plain}", "name it NAME=CORPUS")
    return _named_sources((), named, None, ())


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


def _bound(
    words: Sequence[str], order: Sequence[str]
) -> tuple[dict[str, Any], tuple[dict[str, Any], ...], tuple[str, ...]]:
    """The axes in front of the first recipe, those behind each, and the way of encoding behind each file; all
    in front where the order is not noted."""
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
    axes: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise TokentuiError("an axis and its value belong here", f"-s {word}", "such as -s split=gpt2")
        from tokentui.axes import AXES

        if name not in AXES:
            raise TokentuiError("no such axis", f"-s {word}", nearest(name, AXES))
        axes[name] = () if name == "normalize" and value == "[]" else value
    return axes


# ---- the options


def _complete_recipe(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    found = completions({name: one.about for name, one in PRESETS.items()}, incomplete)
    return found or [CompletionItem(incomplete, type="file")]


def _complete_axis(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from tokentui.axes import AXES

    axis, equals, _ = incomplete.partition("=")
    if not equals:
        return completions({f"{name}=": one.about for name, one in AXES.items()}, incomplete)
    values = AXES[axis].items() if axis in AXES else ()
    abouts = {f"{axis}={name}{':' * bool(one.text)}": one.about for name, one in values}
    return completions(abouts, incomplete)


def _complete_corpus(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    names = [PARALLEL, *(f"sample:{sample.name}" for sample in samples())]
    found = [CompletionItem(name) for name in names if incomplete and name.startswith(incomplete)]
    return [*found, CompletionItem(incomplete, type="file")]


def corpus_argument(metavar: str) -> Option:
    """The corpus of a command, by the words that name it."""
    return click.argument("sources", metavar=metavar, shell_complete=_complete_corpus, nargs=-1)


def corpus_option(*names: str, about: str, multiple: bool = False) -> Option:
    """An option that names a corpus."""
    return click.option(*names, metavar="CORPUS", shell_complete=_complete_corpus, multiple=multiple,
                        help=about)


CORPUS = corpus_argument("CORPUS...")
NAMED: Sequence[Option] = (
    click.option("--corpus", "corpora", metavar="NAME=CORPUS", multiple=True, help="A named corpus, such as "
                 "one language, instead of CORPUS. sample:parallel has twelve languages. Can be repeated."),
    click.option("--shares", metavar="WAY", type=click.Choice(list(SHARES)), help="How named corpora are "
                 "weighted: count (as is) or equal (scaled to equal bytes) [default: count]."),
    click.option("--development", metavar="NAME=CORPUS", multiple=True, help="With objective=parity: judge "
                 "the language NAME on this text, which is not trained on. Can be repeated."),
)
SPLIT = click.option("-s", "--set", "axes", metavar="split=VALUE", multiple=True,
                     help="The split, for a file that does not store one.")
OPENED = click.option("-s", "--set", "axes", metavar="AXIS=VALUE", multiple=True,
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
    click.option("--as", "as_", metavar="FORMAT", type=click.Choice(list(READ_AS)),
                 help=f"The input format, if the file name does not imply it: {', '.join(READ_AS)}."),
    click.option("--field", metavar="NAME", default="text",
                 help="The field of JSON rows that contains the text [default: text]."),
)
SHAPE_OPTIONS: Sequence[Option] = (
    click.option("--coverage", metavar="SHARE", type=float, help="The share of the characters of the corpus "
                 "that the base covers. The rarest characters become unknown."),
    click.option("--symbol", "symbols", metavar="TEXT", multiple=True,
                 help="A text that is always one token, and that no merge crosses. Can be repeated."),
    click.option("--prefix-space/--no-prefix-space", "prefix_space", default=None,
                 help="Add a space before the text, or do not [default: as the split does]."),
)
PUBLISHED = click.option(
    "--published", is_flag=True, default=None,
    help="Use the sizes, special tokens and first id that the preset was published with.",
)
LETTERS = " (such as 32k or 1M)."
"""The end of the help of an option that takes a `Count`."""
_COUNTED = ("merges", "vocab_size")
RUN_OPTIONS: Sequence[Option] = (
    *(click.option(f"--{name.replace('_', '-')}", metavar="N", type=Count(),
                   help=f"{one.about.capitalize()}{LETTERS if name in _COUNTED else '.'}")
      for name, one in RUN.items() if one.kind is int),
    click.option("--special", "specials", metavar="TEXT", multiple=True, help="A special token. Special "
                 "tokens take the first ids, in the order given. <unk> or [UNK] is the unknown token. Can be "
                 "repeated."),
    PUBLISHED,
    *SHAPE_OPTIONS,
    click.option("--what-if", "what_if", metavar="CHANGE", multiple=True, help="Change the run: "
                 "STEP:forbid:LEFT+RIGHT, STEP:forbid:TOKEN, STEP:force:LEFT+RIGHT or STEP:leave-out. Write "
                 "a space as %20. Can be repeated."),
)
TOKENIZER = click.option("-t", "--tokenizer", metavar="TOKENIZER", required=True, type=PATH,
                         help="A tokenizer file, a model folder, hf:OWNER/NAME, or the name of a tiktoken "
                         "encoding, such as cl100k_base.")
EXACT = click.option("--exact", is_flag=True,
                     help="Exit with code 1 if the requested size or target is not reached.")
QUIET = click.option("-q", "--quiet", is_flag=True, help="Suppress progress and notices.")


def format_option(name: str, of: str) -> Option:
    """The option that names a file format: `--format` and `--to` are the same.

    Args:
        name: The one of them that errors name.
        of: What is written in the format.
    """
    from tokentui.formats import WRITTEN  # the explorer has no such option

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return completions({name: one.about for name, one in WRITTEN.items()}, incomplete)

    names = (name, *sorted({"--format", "--to"} - {name}))
    return click.option(*names, "format_", metavar="FORMAT", shell_complete=complete,
                        help=f"The format of {of} [default: by its file name]: {', '.join(WRITTEN)}.")


def json_option(about: str) -> Option:
    """The option `--json`, with what it prints."""
    return click.option("--json", "as_json", is_flag=True, help=about)


# ---- texts


def check_ways(where: str, words: Sequence[str], **ways: bool) -> None:
    """Refuse ways of output that exclude each other, and words on the command line together with `--jsonl`.

    Raises:
        TokentuiError: There are some.
    """
    asked = [f"--{name}" for name, on in ways.items() if on]
    if len(asked) > 1:
        raise TokentuiError(f"{' and '.join(asked)} exclude each other", where, "take one of them")
    if ways["jsonl"] and tuple(words) not in _STDIN:
        what = f"--jsonl reads standard input, not {words[0][:40]!r}"
        raise TokentuiError(what, where, "leave one of them out")


def typed(words: Sequence[str], where: str) -> str:
    """The text of the command line, or all of standard input without its last line end.

    Bytes that are not UTF-8 come as lone surrogates.

    Raises:
        TokentuiError: More than one text is there.
    """
    if len(words) > 1:
        raise TokentuiError(f"one text belongs here, not {len(words)}", where, "put it in quotes")
    if tuple(words) not in _STDIN:
        return words[0]
    whole = standard_input().decode("utf-8", "surrogateescape")
    return whole.removesuffix("\n").removesuffix("\r") if whole.endswith("\n") else whole


def standard_input() -> bytes:
    """All of standard input, as it is.

    Raises:
        TokentuiError: There is too much, or nothing comes.
    """
    from tokentui.text.files import read_plain

    return read_plain(bytes_of(sys.stdin, "standard input"), "standard input")
