"""What is made of the commands: `python docs/scripts/commands.py` writes it all anew.

- docs/reference/commands.md, a page of the site;
- docs/share/man/man1/tokentui.1, the man page;
- files of completion for bash, zsh and fish below docs/share, where each shell looks for them.

The wheel holds docs/share as its share.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import click
from pages import code, plain, table, write

from tokentui.cli import completion as shells
from tokentui.cli.main import COMMANDS, COMPLETE_VARIABLE, EXPLORE, NAME, CommandEntry, program
from tokentui.core import limits

ABOUT = "see how a tokenizer comes to be"
EXITS = (
    (0, "done"),
    (1, "a check found a difference, or one of several inputs failed: a line, a column"),
    (2, "invalid arguments or input; one line on standard error says where, what and what to do"),
    (70, "internal error"),
    (129, "the terminal hung up"),
    (130, "interrupted"),
    (141, "the reader of the output closed it"),
    (143, "terminated by SIGTERM"),
)
VARIABLES = (
    (limits.VARIABLE, "limits on what is read, as `NAME=VALUE` with blanks or commas between them"),
    ("TOKENTUI_HOME", "the folder of settings and sessions, in the place of the system's"),
    ("TOKENTUI_KERNELS", "`off`: run plain Python instead of compiled kernels"),
    ("NO_COLOR", "if it is set, the explorer uses no color"),
)
PLACES = {
    "bash": "bash-completion/completions/tokentui",
    "zsh": "zsh/site-functions/_tokentui",
    "fish": "fish/vendor_completions.d/tokentui.fish",
}
"""The file of completion of each shell, from share on."""


SHARED_BY = 4
"""An option of at least this many commands is described once on the page."""


@dataclass(frozen=True)
class Shown:
    """A command as its help shows it.

    Attributes:
        name: Its words, such as `tokentui train`.
        about: Its purpose in a line.
        usage: The words behind its name.
        text: The paragraphs of its help.
        options: Its options, each with its help.
        examples: The lines of its examples.
        notes: The paragraphs behind the examples.
    """

    name: str
    about: str
    usage: str
    text: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    examples: tuple[str, ...]
    notes: tuple[str, ...]


def shown() -> list[Shown]:
    """The explorer first, with the options of the program, then the commands in the order of the help."""
    explorer = EXPLORE.load()
    with click.Context(program, info_name=NAME, **program.context_settings) as ctx:
        own = [record for one in program.get_params(ctx) if (record := one.get_help_record(ctx))]
        mine = [record for one in explorer.params[1:] if (record := one.get_help_record(ctx))]
    first = _shown(NAME, ABOUT, "[CORPUS]... [OPTIONS]", program, [*mine, *own])
    return [first, *(_command(one) for one in COMMANDS.values())]


def _command(command: CommandEntry) -> Shown:
    loaded = command.load()
    # As the program makes it: click keeps the option of the help that it makes first.
    with click.Context(loaded, info_name=command.name, **program.context_settings) as ctx:
        records = [record for one in loaded.get_params(ctx) if (record := one.get_help_record(ctx))]
        usage = " ".join(loaded.collect_usage_pieces(ctx))
    return _shown(f"{NAME} {command.name}", command.about, usage, loaded, records)


def _shown(
    name: str, about: str, usage: str, command: click.Command, records: list[tuple[str, str]]
) -> Shown:
    text = tuple(" ".join(one.split()) for one in (command.help or "").split("\n\n") if one.strip())
    first, *rest = (command.epilog or "").split("\n\n")
    lines = first.replace("\b", "").strip("\n").splitlines()
    notes = tuple(" ".join(one.replace("\b", "").split()) for one in rest)
    told = tuple(one for one in records if one[1])
    return Shown(name, about, usage, text, told, tuple(line.strip() for line in lines[1:]), notes)


# --- the page of the site ---


def _rows(options: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return ((code(words), plain(about)) for words, about in options)


def _flag(words: str) -> str:
    """Return the long form of an option without its metavariable: `--recipe` of `-r, --recipe RECIPE`."""
    return next(word.rstrip(",") for word in words.split() if word.startswith("--"))


def page(commands: list[Shown]) -> str:
    """Return the page of the reference. Options that many commands have are listed once, at the top."""
    uses = Counter(option for command in commands for option in command.options)
    shared: dict[str, tuple[str, str]] = {}
    for option, count in uses.most_common():  # of two meanings, the frequent one
        if count >= SHARED_BY and option[0] not in shared and "--help" not in option[0]:
            shared[option[0]] = option
    lines = [
        "# Commands", "",
        "`tokentui COMMAND` runs a command. Without a command, `tokentui` opens the explorer. Each command",
        "prints this text with `--help`; the man page `tokentui(1)` has it, too.", "",
        *table(("command", "purpose"), (
            (f"[{code(command.name)}](#{command.name.replace(' ', '-')})", plain(command.about))
            for command in commands)),
        "## Shared options", "",
        "Several commands have these options. Each command below names those that it takes.", "",
        *table(("option", "meaning"), _rows(sorted(shared.values()))),
    ]
    for one in commands:
        lines += [f"## `{one.name}`", "", "    " + f"{one.name} {one.usage}", ""]
        for paragraph in one.text:
            lines += [plain(paragraph), ""]
        common = [option for option in one.options if shared.get(option[0]) == option]
        own = [option for option in one.options if option not in common and "--help" not in option[0]]
        lines += table(("option", "meaning"), _rows(own)) if own else []
        if common:
            flags = ", ".join(code(_flag(words)) for words, _ in common)
            lines += [f"[Shared options](#shared-options): {flags}.", ""]
        lines += [*(f"    {line}" for line in one.examples), ""]
        for paragraph in one.notes:
            lines += [plain(paragraph), ""]
    lines += ["## Exit codes", "", *table(("code", "meaning"), EXITS)]
    lines += ["## Environment", ""]
    lines += table(("variable", "meaning"), ((code(one), text) for one, text in VARIABLES))
    return "\n".join(lines).rstrip("\n") + "\n"


# --- the man page ---


def roff(text: str) -> str:
    """A text for troff: its own signs escaped, characters beyond ASCII by their numbers."""
    shown = text.replace("\\", "\\e").replace("-", "\\-")
    if shown[:1] in (".", "'"):
        shown = "\\&" + shown
    return "".join(one if one.isascii() else f"\\[u{ord(one):04X}]" for one in shown)


def man(commands: list[Shown]) -> str:
    """The man page: the explorer, each command, exit codes and the environment."""
    explorer, *others = commands
    lines = [
        f'.TH {NAME.upper()} 1 "" "{NAME}" "User Commands"', ".SH NAME", f"{NAME} \\- {roff(ABOUT)}",
        ".SH SYNOPSIS", f".B {NAME}", roff(explorer.usage), ".br", f".B {NAME}",
        "COMMAND [ARGUMENTS]... [OPTIONS]", ".SH DESCRIPTION",
    ]
    lines += _described(explorer)
    lines += [".SH COMMANDS"]
    for one in others:
        lines += [f".SS {roff(one.name)} {roff(one.usage)}", *_described(one)]
    for title, rows in (("EXIT STATUS", EXITS), ("ENVIRONMENT", VARIABLES)):
        lines += [f".SH {title}"]
        for name, about in rows:
            lines += [".TP", f".B {roff(str(name))}", roff(about.replace("`", ""))]
    return "\n".join(lines) + "\n"


def _described(one: Shown) -> Iterator[str]:
    """The paragraphs, options and examples of a command, as lines of the man page."""
    for paragraph in one.text:
        yield from (".PP", roff(paragraph))
    for words, about in one.options:
        yield from (".TP", f".B {roff(words)}", roff(" ".join(about.split())))
    if one.examples:
        yield from (".PP", "Examples:", ".PP", ".nf")
        yield from (roff(line) for line in one.examples)
        yield ".fi"
    for paragraph in one.notes:
        yield from (".PP", roff(paragraph))


# --- the files ---


def completion(shell: str) -> str:
    """The file of completion of a shell: what `tokentui --completion SHELL` prints."""
    return shells.script(program, shell, NAME, COMPLETE_VARIABLE) + "\n"


def files() -> dict[str, str]:
    """All that is made, by its path from docs on."""
    commands = shown()
    made: dict[str, Callable[[list[Shown]], str]] = {
        "reference/commands.md": page, "share/man/man1/tokentui.1": man,
    }
    texts = {path: make(commands) for path, make in made.items()}
    return texts | {f"share/{PLACES[shell]}": completion(shell) for shell in shells.SHELLS}


if __name__ == "__main__":
    sys.exit(write(files(), sys.argv[1:]))
