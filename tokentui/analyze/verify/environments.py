"""Environments for versions of other libraries: a folder in the cache for each, made by uv or by pip.

The environment of the user is never changed. An environment is made in a folder of its own and renamed when
it is complete, so that one that is there is whole. Only wheels are installed: no code of a package runs
before it is asked.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from tokentui.analyze.verify.peers import Peer, known_peer, peer_of
from tokentui.core import children
from tokentui.core.errors import TokentuiError
from tokentui.core.files import own_folder
from tokentui.core.jobs import check

Consent = Callable[[str, str], bool]
"""Asks whether a package may be installed into a folder: takes `tokenizers==0.21.4` and the folder."""
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+!]{0,40}", re.ASCII)
_LONGEST_S = 600.0
_LOOK_S = 0.2
_NO_NETWORK = re.compile(
    "name resolution|resolve host|dns error|connect|network|timed out|timeout|unreachable|tunnel",
    re.IGNORECASE,
)
_NO_VERSION = re.compile(
    r"no matching distribution|could not find a version|no version of|not found in the package registry|"
    r"no wheels|no usable wheels|has no .*wheel|no solution found|unsatisfiable", re.IGNORECASE,
)


def split_version(text: str) -> tuple[str, str]:
    """Return the name and the version of `NAME==VERSION`; the version is empty for a name alone.

    Raises:
        TokentuiError: It is no version.
    """
    name, equals, version = text.partition("==")
    if equals and not _VERSION.fullmatch(version):
        what = f"no version {version[:40]!r}"
        raise TokentuiError(what, f"--against {name[:40]}", "for example ==0.21.4")
    return name, version


def peer_at(text: str, consent: Consent) -> Peer:
    """Return the library that a text names: that of this environment, or, for `NAME==VERSION`, that version
    in an environment of its own, which is made if it is not in the cache.

    Args:
        text: The name, or the name and the version.
        consent: Asks whether the version may be installed.

    Raises:
        TokentuiError: There is no such library or version, it may not be installed, or there is no network.
        Cancelled: The job is cancelled.
    """
    name, version = split_version(text)
    if not version:
        return peer_of(name)
    peer = known_peer(name)
    package = f"{peer.package or peer.name}=={version}"
    folder = own_folder("cache") / "peers" / f"{package}-{sys.implementation.cache_tag}"
    if not _python(folder).exists():
        if not consent(package, str(folder)):
            what = f"{package} is not in the cache"
            raise TokentuiError(what, f"--against {text[:80]}", "--install puts it there, and nowhere else")
        _make(folder, package)
    return replace(peer, pinned=version, python=str(_python(folder)))


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"


def _make(folder: Path, package: str) -> None:
    """Make an environment with a package in a temporary folder, and move it to `folder`. If another process
    was faster, its environment stays.

    Raises:
        TokentuiError: It cannot be installed.
        Cancelled: The job is cancelled.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".making-", dir=folder.parent))
    except OSError as error:
        raise TokentuiError(error.strerror or str(error), str(folder.parent), "set XDG_CACHE_HOME") from None
    try:
        for command in _commands(made, package):
            _run(command, package)
        os.rename(made, folder)
    except OSError as error:
        if not _python(folder).exists():  # else another process was faster
            raise TokentuiError(error.strerror or str(error), str(folder), "delete the folder") from None
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _commands(folder: Path, package: str) -> list[list[str]]:
    """Return the commands that make an environment: by uv if there is one, else by the standard library."""
    only = "--only-binary=:all:"
    if uv := shutil.which("uv"):
        return [
            [uv, "venv", "-q", "--allow-existing", "--python", sys.executable, str(folder)],
            [uv, "pip", "install", "-q", only, "--python", str(_python(folder)), package],
        ]
    pip = [str(_python(folder)), "-I", "-m", "pip", "--disable-pip-version-check", "install", "-q", only]
    return [[sys.executable, "-I", "-m", "venv", str(folder)], [*pip, package]]


def _run(command: Sequence[str], package: str) -> None:
    """Run a command that installs a package, and wait for its end.

    Raises:
        TokentuiError: It fails, or takes longer than `_LONGEST_S` seconds.
        Cancelled: The job is cancelled; the process is killed.
    """
    environment = {name: value for name, value in children.child_environment().items()
                   if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    end = time.monotonic() + _LONGEST_S
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment, cwd=children.FOLDER,
            start_new_session=True,
        )
        try:
            while (code := _wait_for_exit(process)) is None:
                check()
                if time.monotonic() > end:
                    raise TokentuiError("the installation takes too long", package, "check the network")
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
    if code:
        raise _install_error(text, package)


def _wait_for_exit(process: subprocess.Popen[bytes]) -> int | None:
    """Wait for a process for `_LOOK_S` seconds. Return its exit code, or None if it still runs."""
    try:
        return process.wait(_LOOK_S)
    except subprocess.TimeoutExpired:
        return None


def _install_error(text: str, package: str) -> TokentuiError:
    """Return the error of an installation from its output, in one line: no network, no such version, or the
    last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if any(_NO_NETWORK.search(line) for line in lines):
        return TokentuiError("it cannot be fetched", package, "check the network")
    if any(_NO_VERSION.search(line) for line in lines):
        what = "there is no such version for this Python and system"
        return TokentuiError(what, package, "name another one")
    said = lines[-1][:160] if lines else "no message"
    return TokentuiError(f"it cannot be installed: {said}", package, "name another version")
