"""Start child processes that import no module from the current folder.

`python -m` and `python -c` look for every module in the current folder first, and that may be a folder of
downloaded texts. A child starts with `-P` in the root folder and gets the import paths as arguments. This
file is the first that it runs.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

FOLDER = os.path.abspath(os.sep)
"""Working folder of children. Any path passed to a child has to be absolute."""
DOWNLOADS = "TOKENTUI_DOWNLOADS"
"""Environment variable with the pipe for downloads of an explorer that runs in a browser."""
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PATHS = ("TOKENTUI_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")
"""Environment variables that may hold a path relative to the current folder."""


def command(module: str, *words: str) -> list[str]:
    """Return the command that runs a module of this package in a child. Append the module's own arguments."""
    return _started(_PACKAGE, module, *words)


def command_of_file(path: str) -> list[str]:
    """Return the command that runs a file as a program in a child. The file cannot import this package."""
    return _started("", path)


def child_environment() -> dict[str, str]:
    """Return the environment of a child: this process's, with absolute paths and without Python's import
    paths."""
    environment = dict(os.environ)
    with suppress(OSError):  # the current folder is no more
        for name in _PATHS:
            if environment.get(name):
                environment[name] = os.path.abspath(environment[name])
        if "PYTHONPATH" in environment:  # an empty part of it means the current folder
            environment["PYTHONPATH"] = os.pathsep.join(
                os.path.abspath(path) for path in environment["PYTHONPATH"].split(os.pathsep) if path
            )
    return environment


def leave_current_folder() -> None:
    """Remove the current folder from the import path, where `python -m` puts it first.

    If this package is in the current folder, as in a checkout, the folder moves to the end of the path.
    """
    with suppress(OSError):
        if sys.flags.safe_path or not sys.path or os.path.abspath(sys.path[0]) != os.getcwd():
            return
        first = sys.path.pop(0)
        if os.path.abspath(first) == os.path.dirname(_PACKAGE):
            sys.path.append(first)


def _started(package: str, what: str, *words: str) -> list[str]:
    import json

    how = json.dumps([package, what, _places()])
    return [sys.executable, "-P", os.path.abspath(__file__), how, *words]


def _places() -> list[str]:
    """Return the import path of this process. It includes the current folder only if this package is in it.
    """
    try:
        here = os.getcwd()
    except OSError:  # it is no more
        return [path for path in sys.path if os.path.isabs(path)]
    return [os.path.abspath(path) for path in sys.path if path or here == os.path.dirname(_PACKAGE)]


def _run(package: str, what: str, places: list[str]) -> None:
    """Run a module of the package, or a file, in the child.

    Args:
        package: The folder that the package is in; empty for a file.
        what: The name of the module, or the path of the file.
        places: The import path.
    """
    import importlib.util
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
    import json

    _run(*json.loads(sys.argv[1]))
