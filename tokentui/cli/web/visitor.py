"""The process of one visitor of `tokentui serve`: it closes itself in, and runs the program.

It is run as a child, with a pseudo-terminal for its input and output and a JSON object for its only word.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import resource
import sys
import termios
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from tokentui.core import children, sandbox

WRONG = 2


@dataclass(frozen=True, slots=True)
class Visit:
    """The orders of a visitor's process.

    Attributes:
        words: What follows `tokentui` on its command line.
        folder: The working directory, with a link to each file that is served. Empty to keep the parent's.
        names: The names there.
        memory: Bytes of address space that it may take.
        environment: Variables of the environment that it gets besides.
    """

    words: Sequence[str]
    folder: str = ""
    names: Sequence[str] = field(default_factory=tuple)
    memory: int = 1 << 30
    environment: Mapping[str, str] = field(default_factory=dict)

    def command(self) -> list[str]:
        """The words that start the process."""
        return children.command("tokentui.cli.web.visitor", json.dumps({**asdict(self), "environment": {}}))

    def close_in(self) -> None:
        """Let this process read what is served and nothing else, write no file, and take no more memory.

        Raises:
            OSError: The folder is not there any more, or the system refuses a limit.
        """
        from tokentui.text.sources import parallel, samples

        if self.folder:
            os.chdir(self.folder)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # Pipes and terminals are no files: what is written to them does not count.
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (self.memory, self.memory))
        own = {str(one.path.parent) for one in (*samples(), *parallel())}
        sandbox.seal(self.names, own)


def main() -> int:
    """Run the program for a visitor. Returns its exit code."""
    with contextlib.suppress(OSError):  # so that the end of the line is told to it, and a new size
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    visit = Visit(**json.loads(sys.argv[1]))
    from tokentui.cli.main import run

    visit.close_in()
    return run(visit.words)


if __name__ == "__main__":
    sys.exit(main())
