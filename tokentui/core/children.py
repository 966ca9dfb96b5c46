"""Child processes: they run the files that this process runs, and nothing of the current folder.

`python -m` and `python -c` look for every module in the current folder first, which may be one of downloaded
texts. A child is started with `-P`, in a folder of its own, and is told where modules are: this file is what
it runs first.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from contextlib import suppress

FOLDER = os.path.abspath(os.sep)
"""Working folder of children. Any path passed to a child has to be absolute."""
DOWNLOADS = "TOKENTUI_DOWNLOADS"
"""The variable of the environment by which the explorer in a browser knows the pipe for its downloads."""
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PATHS = ("TOKENTUI_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")
"""Variables of the environment that may name a folder from the current one."""


def command(module: str, *words: str) -> list[str]:
    """Return the command that runs a module of this package in a child. Append the module's own arguments."""
    return _started(_PACKAGE, module, *words)


def command_of_file(path: str) -> list[str]:
    """Return the words that start a file as a program, in a child; of this package it needs nothing."""
    return _started("", path)


def surroundings() -> dict[str, str]:
    """Return the environment of a child: this one's, without ways into the current folder."""
    found = dict(os.environ)
    with suppress(OSError):  # the current folder is no more
        for name in _PATHS:
            if found.get(name):
                found[name] = os.path.abspath(found[name])
        if "PYTHONPATH" in found:  # an empty part of it means the current folder
            found["PYTHONPATH"] = os.pathsep.join(
                os.path.abspath(one) for one in found["PYTHONPATH"].split(os.pathsep) if one
            )
    return found


def leave_current_folder() -> None:
    """Look for no more modules in the current folder, where `python -m` has put it first.

    Where this package lies there itself, as in a checkout, the folder is looked into last.
    """
    with suppress(OSError):
        if sys.flags.safe_path or not sys.path or os.path.abspath(sys.path[0]) != os.getcwd():
            return
        first = sys.path.pop(0)
        if os.path.abspath(first) == os.path.dirname(_PACKAGE):
            sys.path.append(first)


def _started(package: str, what: str, *words: str) -> list[str]:
    how = json.dumps([package, what, _places()])
    return [sys.executable, "-P", os.path.abspath(__file__), how, *words]


def _places() -> list[str]:
    """Return where this process imports modules from. The current folder counts only if this package is in
    it."""
    try:
        here = os.getcwd()
    except OSError:  # it is no more
        return [one for one in sys.path if os.path.isabs(one)]
    return [os.path.abspath(one) for one in sys.path if one or here == os.path.dirname(_PACKAGE)]


def _run(package: str, what: str, places: list[str]) -> None:
    """Run a module of the package that lies in a folder, or a file; in the child."""
    import runpy  # what starts a child does without it

    sys.path[:] = places
    sys.argv[1:2] = []
    if not package:
        runpy.run_path(what, run_name="__main__")
        return
    spec = importlib.util.spec_from_file_location(
        "tokentui", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
    )
    assert spec is not None
    assert spec.loader is not None
    sys.modules["tokentui"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["tokentui"])
    runpy.run_module(what, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _run(*json.loads(sys.argv[1]))
