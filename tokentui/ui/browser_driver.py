"""The driver of a terminal that a browser draws: files go through the browser, and no shell waits below it.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from pathlib import Path
from typing import BinaryIO, Literal, TextIO

from tokentui.core.children import DOWNLOADS
from tokentui.thinwire import ThinWireDriver


class BrowserDriver(ThinWireDriver):
    """A driver for a terminal whose other end is `tokentui.cli.web.server`.

    A file is sent through a pipe of its own: a line of JSON with its name and size, then its bytes.
    """

    _handing = threading.Lock()

    @property
    def is_web(self) -> bool:
        """True: Textual delivers files to a browser."""
        return True

    @property
    def can_suspend(self) -> bool:
        """False: a process that has stopped would hold its place for nothing."""
        return False

    def open_url(self, url: str, new_tab: bool = True) -> None:
        """Do nothing: the machine of the server is not the visitor's."""

    def deliver_binary(
        self, binary: BinaryIO | TextIO, *, delivery_key: str, save_path: Path,
        open_method: Literal["browser", "download"] = "download", encoding: str | None = None,
        mime_type: str | None = None, name: str | None = None,
    ) -> None:
        """Send a file through the pipe in a thread, since the pipe may block. Only the name of `save_path` is
        used."""

        def hand_over() -> None:
            text = binary.read()
            data = text.encode(encoding or "utf-8") if isinstance(text, str) else text
            head = json.dumps({"name": save_path.name, "size": len(data)}).encode("ascii") + b"\n"
            pipe = int(os.environ[DOWNLOADS])
            with self._handing, contextlib.suppress(OSError):  # the server has gone: so does this process
                for part in (head, data):
                    view = memoryview(part)
                    while view:
                        view = view[os.write(pipe, view) :]

        threading.Thread(target=hand_over, name="tokentui-download", daemon=True).start()
