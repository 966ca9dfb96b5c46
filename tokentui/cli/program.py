"""The program: which command a line of words is for, and how it ends."""

from __future__ import annotations

import difflib
import importlib
import os
import platform
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click
from click.shell_completion import get_completion_class, shell_complete

import tokentui
from tokentui.cli.options import limit_option
from tokentui.cli.output import complain, write_text
from tokentui.core import jit, limits, rescue
from tokentui.core.errors import Cancelled, TokentuiError

NAME = "tokentui"
COMMANDS = ("train", "encode", "decode", "split", "compare", "inspect", "convert", "verify", "recipes")
"""Each is a module of this package, imported when it is used, with a click command called `command`."""
SHELLS = ("bash", "zsh", "fish")

DONE, WRONG, INTERRUPTED, BROKEN_PIPE, CRASHED = 0, 2, 130, 141, 70
_EXPLORE = "explore"
_COMPLETE_VAR = "_TOKENTUI_COMPLETE"


class Program(click.Group):
    """The group of the commands. Words that do not start with a command's name are the explorer's."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name; its module is imported now."""
        if cmd_name not in (*COMMANDS, _EXPLORE):
            return None
        with rescue.interrupts_end():
            command: click.Command = importlib.import_module(f"tokentui.cli.{cmd_name}").command
        if limit_option not in command.params:
            command.params.append(limit_option)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Hand the words to the explorer where the first is neither a command nor an option of the program's own."""
        first = args[0] if args else ""
        own = {name for param in self.get_params(ctx) for name in param.opts}
        if len(args) > 1 and first.isalpha() and first not in COMMANDS and not ctx.resilient_parsing:
            # A word with a command's options behind it: the word is what is wrong, not the first option.
            importlib.import_module(f"tokentui.cli.{_EXPLORE}").check_source(first)
        if first not in COMMANDS and first.partition("=")[0] not in own and (args or not ctx.resilient_parsing):
            args = [_EXPLORE, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[click.shell_completion.CompletionItem]:
        """The first word: a command, an option of the program or of the explorer, or a corpus."""
        found = super().shell_complete(ctx, incomplete)
        explorer = self._explorer(ctx)
        if incomplete.startswith("-"):
            names = {item.value for item in found}
            return found + [item for item in explorer.shell_complete(ctx, incomplete) if item.value not in names]
        return found + explorer.params[0].type.shell_complete(ctx, explorer.params[0], incomplete)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The two ways to call it."""
        formatter.write_usage(NAME, "[CORPUS]... [OPTIONS]")
        formatter.write_usage(NAME, "COMMAND [ARGUMENTS]... [OPTIONS]", prefix="       ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The explorer's options, the program's own, the commands."""
        params = [*self._explorer(ctx).params[1:], *self.get_params(ctx)]  # the first is the CORPUS
        with formatter.section("Options"):
            formatter.write_dl([record for param in params if (record := param.get_help_record(ctx))])
        self.format_commands(ctx, formatter)

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> Any:
        """Run and exit, as every click command does when it is called."""
        sys.exit(run(sys.argv[1:] if args is None else args))

    def _explorer(self, ctx: click.Context) -> click.Command:
        explorer = self.get_command(ctx, _EXPLORE)
        assert explorer is not None
        return explorer


def _version(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        python = f"{platform.python_implementation()} {platform.python_version()}"
        write_text(f"{NAME} {tokentui.__version__}, {python}, engine: {jit.engine()}")
        ctx.exit()


def _reset_terminal(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        try:
            rescue.mend()
        except OSError:
            raise TokentuiError("there is no terminal to mend", "--reset-terminal") from None
        ctx.exit()


def _limits(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        held = limits.now()
        rows = [(one.name, one.shown(getattr(held, one.name.replace("-", "_"))), f"{one.unit} {one.about}")
                for one in limits.LIMITS.values()]
        name, value = (max(len(row[column]) for row in rows) for column in (0, 1))
        write_text("\n".join(f"{row[0]:{name}}  {row[1]:>{value}}  {row[2]}" for row in rows))
        ctx.exit()


def _completion(ctx: click.Context, param: click.Parameter, shell: str | None) -> None:
    if shell and not ctx.resilient_parsing:
        kind = get_completion_class(shell)
        assert kind is not None
        write_text(kind(ctx.command, {}, NAME, _COMPLETE_VAR).source().strip())
        ctx.exit()


@click.group(
    NAME,
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  tokentui                                the explorer, on a built-in sample
  tokentui novel.txt -r gpt2              the explorer, on a corpus of yours
  tokentui sample:hugs -r hf-bpe -s tie=first-seen
  tokentui train novel.txt -r gpt2 --vocab-size 4096 -o novel.json
  eval "$(tokentui --completion bash)"    completion, in ~/.bashrc

A CORPUS is a file, a folder, a glob, - (standard input) or sample:NAME. A first word that is a command is one; ./train
is a file of that name.""",
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version,
              help="Print the version, Python's, and which engine runs.")
@click.option("--reset-terminal", is_flag=True, is_eager=True, expose_value=False, callback=_reset_terminal,
              help="Mend a terminal that a killed program left as it was.")
@click.option("--limits", is_flag=True, is_eager=True, expose_value=False, callback=_limits,
              help=f"List the limits on what is read. --limit NAME=VALUE sets one, {limits.VARIABLE} in the environment too.")
@click.option("--completion", metavar="SHELL", type=click.Choice(SHELLS), is_eager=True, expose_value=False,
              callback=_completion, help="Print what makes bash, zsh or fish complete.")
def program() -> None:
    """See how a tokenizer comes to be. Without a command it opens the explorer, with one it does the same work without
    the screen."""


def run(words: Sequence[str]) -> int:
    """Run a line of words.

    Returns:
        The exit code: 0 done, 1 a check found a difference, 2 wrong words or bad input, 130 interrupted, 141 nobody
        read on, 70 a fault of the program.
    """
    try:
        limits.use(None)
        limits.now()
        if instruction := os.environ.get(_COMPLETE_VAR):
            return shell_complete(program, {}, NAME, _COMPLETE_VAR, instruction)
        with program.make_context(NAME, list(words)) as ctx:
            return program.invoke(ctx) or DONE
    except click.exceptions.Exit as end:
        return end.exit_code
    except (Cancelled, KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except TokentuiError as error:
        complain(str(error))
    except click.ClickException as error:
        complain(str(_in_our_words(error)))
    except BrokenPipeError:
        _close_output()
        return BROKEN_PIPE
    except OSError as error:
        complain(str(TokentuiError(error.strerror or str(error), str(error.filename or "standard output"))))
        _close_output()
    except MemoryError:
        complain("there is not enough memory (take a part of it)")
    except Exception as error:
        _report(error)
        return CRASHED
    return WRONG


def _in_our_words(error: click.ClickException) -> TokentuiError:
    """A usage error as what, where and what would do: one line, the nearest option named."""
    ctx = getattr(error, "ctx", None)
    command = ctx.info_name if ctx is not None and ctx.info_name not in (NAME, _EXPLORE) else ""
    hint = f"see {NAME} {command} --help".replace("  ", " ")
    what = error.format_message().strip().rstrip(".")
    where = command or ""
    if isinstance(error, click.NoSuchOption):
        names = [name for param in ctx.command.get_params(ctx) for name in param.opts] if ctx is not None else []
        bare = {name.lstrip("-"): name for name in names}
        close = difflib.get_close_matches(error.option_name.lstrip("-"), bare, n=1)
        what = f"no option {error.option_name}"
        return TokentuiError(what, where, f"did you mean {bare[close[0]]}?" if close else hint)
    if isinstance(error, click.BadOptionUsage):
        return TokentuiError(f"{error.option_name} wants a value", where, hint)
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return TokentuiError(f"{_name(error.param)} is missing", where, hint)
    if isinstance(error, click.BadParameter) and error.param is not None:
        return TokentuiError(error.message.strip().rstrip("."), f"{where} {_name(error.param)}".strip(), hint)
    return TokentuiError(what, where, hint)


def _name(param: click.Parameter) -> str:
    if isinstance(param, click.Argument):
        return (param.metavar or param.name or "").strip("[].")
    return max(param.opts, key=len)


def _close_output() -> None:
    """Let nothing more be written, not at the end of the interpreter either: it would fail again, and say so."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(error: Exception) -> None:
    """A fault of the program: its last places, on a few safe lines."""
    complain(f"a fault of the program: {type(error).__name__}: {error}")
    for frame in traceback.extract_tb(error.__traceback__)[-5:]:
        complain(f"  {frame.filename}:{frame.lineno} in {frame.name}")
