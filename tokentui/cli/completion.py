"""Shell completion scripts."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, add_completion_class, get_completion_class

SHELLS = ("bash", "zsh", "fish")


class Bash(BashComplete):
    """Completion for bash. If an argument can be a word or a file, both are offered; click's own script
    offers only the files."""

    source_template = """\
%(complete_func)s() {
    local IFS=$'\\n' response completion type value

    response=$(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD %(complete_var)s=bash_complete $1)

    COMPREPLY=()
    for completion in $response; do
        IFS=',' read -r type value <<< "$completion"
        case $type in
            dir) COMPREPLY+=($(compgen -d -- "${COMP_WORDS[COMP_CWORD]}")); compopt -o filenames ;;
            file) COMPREPLY+=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")); compopt -o filenames ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""


add_completion_class(Bash)


def script(command: click.Command, shell: str, name: str, variable: str) -> str:
    """Return the completion script of a shell.

    Args:
        command: The program.
        shell: One of `SHELLS`.
        name: The name that the program is called by.
        variable: The variable of the environment that asks it for words.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    return kind(command, {}, name, variable).source().strip()
