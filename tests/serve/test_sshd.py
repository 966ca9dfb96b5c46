"""A class over SSH, as `docs/ssh.md` sets it up: a real sshd on a port of this machine, keys of its own, and
nothing of the machine's configuration."""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from terminal import Terminal, assert_restored

pytestmark = [pytest.mark.pty, pytest.mark.soak, pytest.mark.sshd]
ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60.0
OWN_FOLDER = Path("/run/sshd")
"""The folder that sshd locks itself in; the system makes it when it starts the service."""


def blocks(language: str) -> str:
    """The blocks of a language of the page on SSH, one behind the other."""
    page = (ROOT / "docs" / "ssh.md").read_text(encoding="utf-8")
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL))


@dataclass(frozen=True)
class School:
    """A host for a class.

    Attributes:
        folder: What belongs to it.
        port: The port of its sshd.
        homes: The folder with a folder for each key.
    """

    folder: Path
    port: int
    homes: Path

    def ssh(self, key: str, *words: str, terminal: bool = True) -> list[str]:
        """The words of a client with a key."""
        options = [
            "UserKnownHostsFile=" + str(self.folder / "known"), "StrictHostKeyChecking=accept-new",
            "IdentitiesOnly=yes", "BatchMode=yes", "LogLevel=ERROR", "ServerAliveInterval=0",
        ]
        return [
            "ssh", "-F", "none", "-p", str(self.port), "-i", str(self.folder / key),
            *(part for one in options for part in ("-o", one)), *(["-tt"] if terminal else ["-T"]),
            f"{getpass.getuser()}@127.0.0.1", *words,
        ]

    def client(self, key: str, columns: int = 90, rows: int = 28) -> Terminal:
        """A client in a terminal."""
        run = "import os, sys; os.execvp(sys.argv[1], sys.argv[1:])"
        return Terminal(*self.ssh(key), program=("-c", run), columns=columns, rows=rows)

    def processes(self) -> dict[int, str]:
        """The programs that run in this school, by their folders of state."""
        found = {}
        for one in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                said = (one / "environ").read_bytes().split(b"\0") if one.name.isdigit() else []
                home = next((word[14:].decode() for word in said if word.startswith(b"TOKENTUI_HOME=")), "")
                words = (one / "cmdline").read_bytes()
                if home.startswith(str(self.homes)) and b"tokentui" in words:
                    found[int(one.name)] = home
        return found


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[School]:
    sshd = shutil.which("sshd") or shutil.which("/usr/sbin/sshd")
    if sshd is None or shutil.which("ssh") is None:
        pytest.skip("no sshd is installed: apt-get install openssh-server openssh-client")
    folder = tmp_path_factory.mktemp("school")
    keys = folder / "keys"
    for name in ("host", "ada", "bob"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)]
        subprocess.run(words, check=True)
    keys.write_text("".join((folder / f"{name}.pub").read_text() for name in ("ada", "bob")))
    # The page's own wrapper and configuration, for this folder.
    program, homes = folder / "tokentui", folder / "homes"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -m tokentui \"$@\"\n")
    wrapper = folder / "tokentui-class"
    script = blocks("sh").replace("/srv/class", str(homes)).replace("/usr/local/bin/tokentui", str(program))
    assert script.startswith("#!/bin/sh")
    wrapper.write_text(script.replace("cd /", f"cd {ROOT}"))
    for one in (program, wrapper):
        one.chmod(0o755)
    homes.mkdir()
    settings = blocks("sshd_config").replace("User class", f"User {getpass.getuser()}")
    settings = settings.replace("/usr/local/bin/tokentui-class", str(wrapper))
    settings = settings.replace("/etc/ssh/class_keys", str(keys))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    config = folder / "sshd_config"
    config.write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host\nPidFile {folder}/pid\nUsePAM no\n"
        f"StrictModes no\nPasswordAuthentication no\n"
        f"SetEnv TOKENTUI_KERNELS=off PYTHONPATH={ROOT}\n{settings}"
    )
    made = os.geteuid() == 0 and not OWN_FOLDER.exists()
    if made:
        OWN_FOLDER.mkdir(mode=0o755)
    with (folder / "log").open("w") as log, subprocess.Popen(
        [sshd, "-D", "-e", "-f", str(config)], stderr=log, stdin=subprocess.DEVNULL
    ) as process:
        try:
            deadline = time.monotonic() + PATIENCE_S
            while True:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                assert process.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield School(folder, port, homes)
        finally:
            process.terminate()
            process.wait()
            if made:
                OWN_FOLDER.rmdir()


def open_sample(client: Terminal) -> None:
    """Open a sample, away from the first screen."""
    client.until(lambda text: "learns from" in text)
    client.press("o")
    client.until(lambda text: "Built in" in text)
    client.press("sample:hugs\r")
    client.until(lambda text: "hugs ·" in text and "step 0" in text)


def until(holds: Callable[[], bool], told: str) -> None:
    """Wait until a function says so."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, told
        time.sleep(0.05)


def test_two_clients_a_size_and_a_line_that_is_lost(school: School) -> None:
    with school.client("ada") as ada, school.client("bob") as bob:
        open_sample(ada)
        open_sample(bob)
        ada.press("nnn")
        ada.until(lambda text: "step 3" in text)
        assert "step 0" in bob.text()
        assert len(set(school.processes().values())) == 2  # each key has a folder of its own

        ada.resize(60, 20)
        text = ada.until(lambda text: "step 3" in text and "┐" in text.splitlines()[1][50:60])
        assert len(text.splitlines()) == 20

        os.kill(ada.process, signal.SIGKILL)  # the client is gone, and its connection with it
        assert ada.wait() == -signal.SIGKILL
        until(lambda: len(school.processes()) == 1, "its process goes on")
        bob.press("n")
        bob.until(lambda text: "step 1" in text)
        bob.press("q")
        assert bob.end() == 0
        assert_restored(bob)
    with school.client("ada") as again:
        again.until(lambda text: "enter  resume" in text and "step 3" in text)
        again.press("\r")
        again.until(lambda text: "hugs ·" in text and "step 3" in text and "enter  resume" not in text)
        again.press("q")
        assert again.end() == 0
        assert_restored(again)
    with school.client("bob") as other:
        # He left, and is offered his own session: he sees nothing of hers.
        other.until(lambda text: "enter  resume" in text and "step 1" in text)
        other.press("n")
        other.until(lambda text: "enter  resume" not in text and "pairs:" in text)
        other.press("q")
        assert other.end() == 0


def test_exit_codes_come_through(school: School) -> None:
    done = subprocess.run(
        school.ssh("ada", terminal=False), stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("tokentui: ")
    assert len(done.stderr.splitlines()) == 1
    for command in ("cat /etc/passwd", "sh", "tokentui encode x", "; id"):
        done = subprocess.run(
            school.ssh("ada", command, terminal=False), stdin=subprocess.DEVNULL, capture_output=True,
            text=True, check=False,
        )
        assert done.returncode == 2, command
        assert done.stdout == ""  # whatever is asked for, the explorer is what runs
    with school.client("bob") as client:
        client.until(lambda text: "learns" in text or "pairs:" in text)
        (process,) = school.processes()
        limits = Path(f"/proc/{process}/limits").read_text()
        assert re.search(r"Max address space +2147483648 ", limits)
        os.kill(process, signal.SIGTERM)
        assert client.end() == 128 + signal.SIGTERM
        assert_restored(client)
    assert school.processes() == {}


def test_no_other_door_is_open(school: School) -> None:
    """Neither files nor other ports are reached through it."""
    target = f"{getpass.getuser()}@127.0.0.1"
    forward = [*school.ssh("ada", terminal=False)[:-1], "-N", "-o", "ExitOnForwardFailure=yes", "-R",
               "0:127.0.0.1:1", target]
    done = subprocess.run(forward, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 255
    copy = ["sftp", *school.ssh("ada", terminal=False)[1:-2], "-b", "-", target]
    copy = ["-P" if one == "-p" else one for one in copy if one != "-T"]
    done = subprocess.run(copy, input="ls\n", capture_output=True, text=True, check=False)
    assert done.returncode != 0
