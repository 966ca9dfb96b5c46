"""Arrays whose memory is there before it is needed.

The system finds a page of memory for a process when it is first written to, which may take longer than what is then written. A
thread has the pages found while kernels are at work on something else.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np

_PAGE = 4096
_LEAST_BYTES = 1 << 20
"""For less no thread is worth it."""


class Ready:
    """An array, not filled with anything.

    Args:
        size: The number of its rows.
        kind: Their type.
    """

    def __init__(self, size: int, kind: Any) -> None:
        self._array = np.empty(size, kind)
        self._thread: threading.Thread | None = None
        if self._array.nbytes >= _LEAST_BYTES and (os.cpu_count() or 1) > 1:
            self._thread = threading.Thread(target=self._touch, name="tokentui memory", daemon=True)
            self._thread.start()

    def _touch(self) -> None:
        self._array.view(np.uint8)[::_PAGE] = 0

    @property
    def there(self) -> bool:
        """True if `take` returns without waiting."""
        return self._thread is None or not self._thread.is_alive()

    def take(self) -> Any:
        """The array, once its memory is there."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        return self._array
