"""Entry point of the command line: the commands, and the exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import click
from click.shell_completion import CompletionItem, shell_complete

from tokentui.cli import completion as shells
from tokentui.cli import version
from tokentui.cli.output import bytes_of, complain, write_text
from tokentui.core import engines, limits, runtime
from tokentui.core.choices import Ref
from tokentui.core.errors import SHORT_OF_MEMORY, Cancelled, TokentuiError, is_short_of_memory
from tokentui.core.records import dataclass
from tokentui.core.table import TextTable

NAME = "tokentui"


def completions(abouts: Mapping[str, str], incomplete: str) -> list[CompletionItem]:
    """Return the words that start with `incomplete`, each with its help."""
    return [CompletionItem(word, help=about) for word, about in abouts.items() if word.startswith(incomplete)]


def _complete_limit(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    abouts = {f"{limit.name}=": f"{limit.unit} {limit.about}" for limit in limits.LIMITS.values()}
    return completions(abouts, incomplete)


def _set_limits(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> None:
    if words and not ctx.resilient_parsing:
        limits.use(limits.now().with_words(words, "--limit"))


LIMIT = click.Option(
    ["--limit"], metavar="NAME=VALUE", shell_complete=_complete_limit, multiple=True, is_eager=True,
    expose_value=False, callback=_set_limits,
    help="Set a limit on the input; tokentui --limits lists them. Can be repeated.",
)
"""The option that every command has."""


class _Context(click.Context):
    """The context of the program and of each command."""

    def get_help(self) -> str:
        """Return the help.

        Raises:
            TokentuiError: There is no standard output, to which click would write nothing.
        """
        bytes_of(sys.stdout, "standard output")
        return super().get_help()


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command of the program: an entry of `COMMANDS` and a module in `tokentui.cli.commands`.

    Attributes:
        name: Its name.
        about: Its purpose in one line, for the list of commands.
        options: A reference to its click command, which is imported when it is used.
    """

    name: str
    about: str
    options: Ref

    def load(self) -> click.Command:
        """Import the click command, and add the options that every command has, once."""
        with runtime.interrupts_end():
            command: click.Command = self.options.resolve()
        command.name, command.short_help, command.context_class = self.name, self.about, _Context
        if LIMIT not in command.params:
            command.params.append(LIMIT)
        return command


COMMANDS: dict[str, CommandEntry] = {command.name: command for command in (
    CommandEntry("train", "Train a tokenizer.",
            Ref("tokentui.cli.commands.train:command")),
    CommandEntry("count", "Count the distinct pre-tokens of a corpus of any size.",
            Ref("tokentui.cli.commands.count:command")),
    CommandEntry("encode", "Encode text to ids.",
            Ref("tokentui.cli.commands.encode:command")),
    CommandEntry("decode", "Decode ids to text.",
            Ref("tokentui.cli.commands.decode:command")),
    CommandEntry("split", "Normalize and pre-tokenize text.",
            Ref("tokentui.cli.commands.split:command")),
    CommandEntry("compare", "Compare two to four tokenizers on a corpus.",
            Ref("tokentui.cli.commands.compare:command")),
    CommandEntry("languages", "Compare the cost of the same text across languages.",
            Ref("tokentui.cli.commands.languages:command")),
    CommandEntry("budget", "Compare vocabulary sizes by their cost on a corpus.",
            Ref("tokentui.cli.commands.budget:command")),
    CommandEntry("bound", "Prove how few tokens are possible.",
            Ref("tokentui.cli.commands.bound:command")),
    CommandEntry("mixture", "Infer what a tokenizer was trained on.",
            Ref("tokentui.cli.commands.mixture:command")),
    CommandEntry("diff", "Show what changed between two tokenizers.",
            Ref("tokentui.cli.commands.diff:command")),
    CommandEntry("inspect", "Show facts about a tokenizer, a token or a string.",
            Ref("tokentui.cli.commands.inspect:command")),
    CommandEntry("convert", "Convert a tokenizer to another file format.",
            Ref("tokentui.cli.commands.convert:command")),
    CommandEntry("edit", "Add or remove tokens, or continue training.",
            Ref("tokentui.cli.commands.edit:command")),
    CommandEntry("verify", "Compare training or encoding with another library.",
            Ref("tokentui.cli.commands.verify:command")),
    CommandEntry("pin", "Record the ids of some texts in a file.",
            Ref("tokentui.cli.commands.pin:pin_command")),
    CommandEntry("check", "Check that a tokenizer still gives recorded ids.",
            Ref("tokentui.cli.commands.pin:check_command")),
    CommandEntry("tour", "Play a guided tour, or list the tours.",
            Ref("tokentui.cli.commands.tour:command")),
    CommandEntry("quiz", "Print an exercise sheet with answers.",
            Ref("tokentui.cli.commands.quiz:command")),
    CommandEntry("grade", "Grade merges, ids or code that students hand in.",
            Ref("tokentui.cli.commands.grade:command")),
    CommandEntry("practice", "Answer questions on a training run on the screen.",
            Ref("tokentui.cli.commands.practice:command")),
    CommandEntry("picture", "Write a screen as a picture.",
            Ref("tokentui.cli.commands.picture:command")),
    CommandEntry("play", "Open the playground: a text and its tokens.",
            Ref("tokentui.cli.commands.play:command")),
    CommandEntry("serve", "Serve the explorer to browsers.",
            Ref("tokentui.cli.commands.serve:command")),
    CommandEntry("recipes", "List the presets and the axes.",
            Ref("tokentui.cli.commands.recipes:command")),
)}
"""The commands by name, in the order of the help. A new command is an entry here and a module in
`tokentui.cli.commands`."""
EXPLORE = CommandEntry("explore", "", Ref("tokentui.cli.commands.explore:command"))
"""The explorer: the command for arguments that do not start with the name of a command."""

_check_source = Ref("tokentui.cli.commands.explore:check_source")
DONE, WRONG, INTERRUPTED, BROKEN_PIPE, CRASHED = 0, 2, 130, 141, 70
COMPLETE_VARIABLE = "_TOKENTUI_COMPLETE"
_OTHER_TOOLS = {
    "--min-frequency": "--min-count", "--min_frequency": "--min-count", "--vocab": "--vocab-size",
    "--vocab_size": "--vocab-size", "--special-tokens": "--special", "--special_tokens": "--special",
    "--user-defined-symbols": "--symbol", "--user_defined_symbols": "--symbol",
    "--character_coverage": "--coverage", "--character-coverage": "--coverage", "--num-merges": "--merges",
    "--limit-alphabet": "--coverage", "--model_prefix": "--output", "--model-prefix": "--output",
}
"""Names of options in other tools, with the names that the same options have here."""
_LONGEST = 160
"""Characters of the message of a usage error."""


class Program(click.Group):
    """The click group. Arguments that do not start with the name of a command belong to the explorer."""

    context_class = _Context

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command. Its module is imported here."""
        command = {**COMMANDS, EXPLORE.name: EXPLORE}.get(cmd_name)
        return None if command is None else command.load()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments of the program. If the first one is neither a command nor an option of the
        program, all belong to the explorer.

        Raises:
            TokentuiError: The first of several arguments looks like a command, and is neither a command nor a
                source.
        """
        first = args[0] if args else ""
        own = {name for param in self.get_params(ctx) for name in param.opts}
        if len(args) > 1 and first.isalpha() and first not in COMMANDS and not ctx.resilient_parsing:
            # Probably a mistyped command: report this word, not its first option.
            _check_source(first)
        ours = first in COMMANDS or first.partition("=")[0] in own
        if not ours and (args or not ctx.resilient_parsing):
            args = [EXPLORE.name, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the first argument: a command, an option of the program or of the explorer, or a corpus.
        """
        items = super().shell_complete(ctx, incomplete)
        explorer = EXPLORE.load()
        if incomplete.startswith("-"):
            more, names = explorer.shell_complete(ctx, incomplete), {item.value for item in items}
            return items + [item for item in more if item.value not in names]
        return items + explorer.params[0].shell_complete(ctx, incomplete)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the two usage lines."""
        formatter.write_usage(NAME, "[CORPUS]... [OPTIONS]")
        formatter.write_usage(NAME, "COMMAND [ARGUMENTS]... [OPTIONS]", prefix="       ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of the explorer and of the program, then the commands."""
        params = [*EXPLORE.load().params[1:], *self.get_params(ctx)]  # the first is the CORPUS
        with formatter.section("Options"):
            formatter.write_dl([record for param in params if (record := param.get_help_record(ctx))])
        with formatter.section("Commands"):
            formatter.write_dl([(command.name, command.about) for command in COMMANDS.values()])

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> Any:
        """Run the program and exit, as `main` of every click command does."""
        sys.exit(run(sys.argv[1:] if args is None else args))



def _only(*names: str, act: Callable[[click.Context, str], None], **more: Any) -> click.Option:
    """Return an eager option that performs an action and exits."""

    def asked(ctx: click.Context, param: click.Parameter, value: str) -> None:
        if value and not ctx.resilient_parsing:
            act(ctx, value)
            ctx.exit()

    return click.Option(names, is_eager=True, expose_value=False, callback=asked, **more)


def _version(ctx: click.Context, value: str) -> None:
    write_text(version.line(engines.engine()))


def _reset_terminal(ctx: click.Context, value: str) -> None:
    try:
        runtime.mend()
    except OSError:
        raise TokentuiError("there is no terminal", "--reset-terminal") from None


def _limits(ctx: click.Context, value: str) -> None:
    """Write the table of limits with the values that apply now. `ctx` and `value` are not used."""
    values = {name: getattr(limits.now(), name.replace("-", "_")) for name in limits.LIMITS}
    rows = [
        (name, limit.shown(values[name]), f"{limit.unit} {limit.about}")
        for name, limit in limits.LIMITS.items()
    ]
    write_text("\n".join(TextTable(rows, right=(1,)).lines()))


def _completion(ctx: click.Context, value: str) -> None:
    write_text(shells.script(ctx.command, value, NAME, COMPLETE_VARIABLE))


@click.group(
    NAME,
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  tokentui                                open the explorer on a built-in sample
  tokentui novel.txt -r gpt2              open the explorer on your corpus
  tokentui sample:hugs -r hf-bpe -s tie=first-seen
  tokentui train novel.txt -r gpt2 --vocab-size 4096 -o novel.json
  eval "$(tokentui --completion bash)"    complete commands (in ~/.bashrc)

A CORPUS is a file, a folder, a glob, a URL, - (standard input) or sample:NAME. If the first argument is the
name of a command, that command runs; ./train is a file of that name.""",
    params=[
        _only("--version", act=_version, is_flag=True,
              help="Print the versions of tokentui and Python, and which engine is in use."),
        _only("--reset-terminal", act=_reset_terminal, is_flag=True,
              help="Restore a terminal that a killed program left in raw mode."),
        _only("--limits", act=_limits, is_flag=True, help="List the limits on the input. --limit "
              f"NAME=VALUE and the environment variable {limits.VARIABLE} set them."),
        _only("--completion", act=_completion, metavar="SHELL", type=click.Choice(shells.SHELLS),
              help="Print the completion script for bash, zsh or fish."),
    ],
)
def program() -> int:
    """Watch a tokenizer learn. Without a command, tokentui opens the explorer. The commands do the same work
    without the screen."""
    return DONE


def run(words: Sequence[str]) -> int:
    """Run the program.

    Returns:
        The exit code: 0 success, 1 a check found a difference, 2 usage error or invalid input, 70 internal
            error, 130 interrupted, 141 broken pipe, 129 or 143 ended by SIGHUP or SIGTERM.
    """
    try:
        engines.tell = lambda failure: complain(str(failure))
        limits.use(None)
        limits.now()
        if instruction := os.environ.get(COMPLETE_VARIABLE):
            bytes_of(sys.stdout, "standard output")
            return shell_complete(program, {}, NAME, COMPLETE_VARIABLE, instruction)
        with program.make_context(NAME, list(words)) as ctx:
            return program.invoke(ctx) or DONE
    except click.exceptions.Exit as end:
        return end.exit_code
    except (Cancelled, KeyboardInterrupt, click.Abort) as error:
        if phase := str(error):
            complain(f"interrupted {phase}")
        return INTERRUPTED
    except runtime.Terminated as end:
        return end.code
    except TokentuiError as error:
        complain(str(error))
    except click.ClickException as error:
        complain(str(_usage_error(error, words)))
    except BrokenPipeError:
        _close_output()
        return BROKEN_PIPE
    except Exception as error:
        if is_short_of_memory(error):
            complain(SHORT_OF_MEMORY)
        elif isinstance(error, OSError):
            where = str(error.filename or "standard output")
            missing = isinstance(error, FileNotFoundError)
            what, hint = ("no such file", "check the name") if missing else (error.strerror or str(error), "")
            complain(str(TokentuiError(what, where, hint)))
            _close_output()
        else:
            _report(error)
            return CRASHED
    return WRONG


def _usage_error(error: click.ClickException, words: Sequence[str]) -> TokentuiError:
    """Return click's message as an error of one line. The hint names the command that lists the options, or
    the option of tokentui for one of another tool. A long message is clipped in the middle, because it quotes
    what was typed."""
    command = words[0] if words and words[0] in COMMANDS else ""
    hint = f"see {NAME} {command} --help" if command else f"see {NAME} --help"
    if isinstance(error, click.NoSuchOption) and error.option_name in _OTHER_TOOLS:
        hint = f"did you mean {_OTHER_TOOLS[error.option_name]}?"
    message = " ".join(error.format_message().split()).removesuffix(".")  # click lists choices on lines
    if len(message) > _LONGEST:
        message = f"{message[:_LONGEST // 2]}…{message[-_LONGEST // 2:]}"
    return TokentuiError(message, command, hint)


def _close_output() -> None:
    """Redirect standard output to the null device, so that the interpreter reports no error when it flushes
    at exit."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(error: Exception) -> None:
    """Print an unexpected exception on standard error: its message and its last five frames, one a line."""
    import traceback  # only for a fault

    complain(f"internal error: {type(error).__name__}: {error}")
    for frame in traceback.extract_tb(error.__traceback__)[-5:]:
        complain(f"  {frame.filename}:{frame.lineno} in {frame.name}")
