"""Process of one visitor of `tokentui serve`: it enters a sandbox, then runs the program.

The server starts it with a pseudo-terminal as input and output and a JSON object as its only argument.
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
class VisitorConfig:
    """Configuration of a visitor's process.

    Attributes:
        arguments: The arguments of `tokentui`.
        folder: The working directory, with a link to each served file; empty to keep the parent's.
        served_files: The names of the links in `folder`.
        memory: The address space in bytes.
        environment: Additional environment variables.
    """

    arguments: Sequence[str]
    folder: str = ""
    served_files: Sequence[str] = field(default_factory=tuple)
    memory: int = 1 << 30
    environment: Mapping[str, str] = field(default_factory=dict)

    def command(self) -> list[str]:
        """Return the command line that starts the process."""
        return children.command("tokentui.cli.web.visitor", json.dumps({**asdict(self), "environment": {}}))

    def enter_sandbox(self) -> None:
        """Restrict this process: it can read only the served files, write no file, and use limited memory.

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
        own = {str(sample.path.parent) for sample in (*samples(), *parallel())}
        sandbox.seal(self.served_files, own)


def main() -> int:
    """Run the program for a visitor, in the sandbox of the configuration. Return its exit code."""
    with contextlib.suppress(OSError):  # so that it gets the signals of a hangup and of a new size
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    config = VisitorConfig(**json.loads(sys.argv[1]))
    from tokentui.cli.main import run

    config.enter_sandbox()
    return run(config.arguments)


if __name__ == "__main__":
    sys.exit(main())
