"""How the process ends."""

from __future__ import annotations

import asyncio
import signal

import pytest

from tokentui.core.runtime import Terminated, terminations_raise


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_loop_whose_callback_it_interrupts(number: signal.Signals) -> None:
    async def work() -> None:
        asyncio.get_running_loop().call_soon(signal.raise_signal, number)
        await asyncio.sleep(10)

    before = signal.signal(number, signal.SIG_DFL)
    try:
        with pytest.raises(Terminated) as ended, terminations_raise():
            asyncio.run(work())
    finally:
        signal.signal(number, before)
    assert ended.value.code == 128 + number
