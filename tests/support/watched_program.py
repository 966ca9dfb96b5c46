"""The program, with every file that it opens for writing, every change of a folder and every child written
down.

Run as `python -P watched_program.py LOG HOME WORDS...`; LOG gets a line for each that is not below HOME.
"""

from __future__ import annotations

import os
import sys

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_DEVICES = ("/dev/tty", "/dev/null", "/dev/pts/", "/dev/ptmx")
_PATHS = {
    "os.chmod": 1, "os.chown": 1, "os.link": 2, "os.mkdir": 1, "os.mkfifo": 1, "os.mknod": 1, "os.remove": 1,
    "os.rename": 2, "os.rmdir": 1, "os.setxattr": 1, "os.symlink": 2, "os.truncate": 1, "os.utime": 1,
}
"""Events that change what stands on disk, with the number of paths that they name first."""
_CHILDREN = {
    "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen",
}


def watch(log: str, home: str) -> None:
    """Write down from now on what is changed outside a folder, and what is started."""
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.set_inheritable(out, False)

    def inside(path: object) -> bool:
        if not isinstance(path, str | bytes | os.PathLike):
            return isinstance(path, int)  # opened before, and looked at then
        name = os.path.realpath(os.fsdecode(path))
        return name == home or name.startswith((home + os.sep, *_DEVICES))

    def heard(event: str, words: tuple[object, ...]) -> None:
        if event == "open":
            mode, flags = words[1], words[2]
            opened = isinstance(flags, int) and bool(flags & _WRITES)
            changed = [words[0]] if opened or (isinstance(mode, str) and set(mode) & set("wax+")) else []
        elif event in _PATHS:
            changed = list(words[: _PATHS[event]])
        elif event in _CHILDREN:
            os.write(out, f"{event} {words!r}\n".encode("utf-8", "backslashreplace"))
            return
        else:
            return
        for path in changed:
            if not inside(path):
                os.write(out, f"{event} {path!r}\n".encode("utf-8", "backslashreplace"))

    sys.addaudithook(heard)


if __name__ == "__main__":
    _, log, home, *words = sys.argv
    watch(log, os.path.realpath(home))
    from tokentui.__main__ import main

    sys.argv = ["tokentui", *words]
    sys.exit(main())
