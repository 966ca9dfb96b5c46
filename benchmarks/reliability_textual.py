"""The explorer with Textual's own driver: what Textual itself sends and takes for the same screens."""

from __future__ import annotations

import sys

from textual.drivers.linux_driver import LinuxDriver

from tokentui.ui import terminal_app

if __name__ == "__main__":
    terminal_app._driver_class = lambda: LinuxDriver  # type: ignore[assignment,return-value]
    from tokentui.__main__ import main

    sys.exit(main())
