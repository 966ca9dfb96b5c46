"""The commands of the documents, run as they stand: `python docs/scripts/howto.py [PAGE]...`.

A block of a page that begins with ```` ```console ```` holds commands behind `$ `, and below each what it
prints. The commands of a page run one after the other by bash, in an empty folder. What they print is written
into the page anew; with `--check` nothing is written, and the exit code is 1 where a page says otherwise.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LONGEST_S = 120


def pages() -> list[Path]:
    """The pages with commands that are run."""
    return [path for path in sorted(DOCS.rglob("*.md")) if BLOCK.search(path.read_text(encoding="utf-8"))]


def commands(text: str) -> list[str]:
    """The commands of a page, in order."""
    return [line[2:] for block in BLOCK.findall(text) for line in block.splitlines() if line[:2] == "$ "]


def program(folder: str) -> str:
    """A folder in another one that holds `tokentui`, as this interpreter has it."""
    path = Path(folder, ".bin", "tokentui")
    if not path.exists():
        path.parent.mkdir()
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m tokentui "$@"\n', encoding="utf-8")
        path.chmod(0o755)
    return str(path.parent)


def output(command: str, folder: str) -> str:
    """The output and the errors of a command, as a terminal of 100 columns would get them."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("TOKENTUI_")},
        "PATH": f"{program(folder)}{os.pathsep}{os.environ['PATH']}", "TOKENTUI_HOME": f"{folder}/.home",
        "COLUMNS": "100", "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LONGEST_S, check=False, encoding="utf-8",
    )
    return done.stdout


def made(text: str) -> str:
    """A page with what its commands print now."""
    with tempfile.TemporaryDirectory() as folder:

        def again(block: re.Match[str]) -> str:
            lines = []
            for line in block[1].splitlines():
                if line.startswith("$ "):
                    lines += [line, *(one.rstrip() for one in output(line[2:], folder).splitlines())]
            return "\n".join(["```console", *lines, "```"])

        return BLOCK.sub(again, text)


def main(words: Sequence[str]) -> int:
    """Write or check the pages. Returns the exit code."""
    named = [Path(word).resolve() for word in words if word != "--check"]
    wrong = 0
    for path in named or pages():
        text = path.read_text(encoding="utf-8")
        new = made(text)
        if new != text:
            sys.stdout.write(f"{path.relative_to(DOCS)}\n")
            wrong = 1
            if "--check" not in words:
                path.write_text(new, encoding="utf-8")
    return wrong if "--check" in words else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
