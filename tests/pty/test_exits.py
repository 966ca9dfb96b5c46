"""Whenever the program is left, and by whichever way, it ends with the code of that way."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from ways_to_leave import Surroundings, moment

pytestmark = [pytest.mark.pty, pytest.mark.slow]
SEED, COUNT = "TOKENTUI_EXITS_SEED", "TOKENTUI_EXITS"
"""Variables of the environment: `7` for the moments of a seed, `7:31` for one of them; and how many there
are."""


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Surroundings:
    """A corpus, a tokenizer, and the kernels of the tests."""
    folder = tmp_path_factory.mktemp("exits")
    made = Surroundings(folder)
    words = (
        "train", made.names["small"], "-r", "gpt2", "--merges", "200", "-o", made.names["tokenizer"], "-q",
    )
    subprocess.run([sys.executable, "-m", "tokentui", *words], check=True)
    return made


@pytest.mark.soak
@pytest.mark.timeout(20_000)
def test_random_moments(surroundings: Surroundings, capsys: pytest.CaptureFixture[str]) -> None:
    seed, _, only = os.environ.get(SEED, "11").partition(":")
    numbers = [int(only)] if only else range(int(os.environ.get(COUNT, "300")))
    wrong: list[str] = []
    for number in numbers:
        here = moment(int(seed), number)
        found = surroundings.leave(here)
        wrong += [f"{SEED}={seed}:{number} {here}: {one}" for one in found]
        with capsys.disabled():
            print(f"{seed}:{number} {here}: {'; '.join(found) or 'well'}", flush=True)  # noqa: T201
    with capsys.disabled():
        print(*surroundings.kept, f"{len(surroundings.kept)} accounts in crash.txt", sep="\n")  # noqa: T201
    assert not wrong, f"{len(wrong)} of {len(numbers)}\n" + "\n".join(wrong)
