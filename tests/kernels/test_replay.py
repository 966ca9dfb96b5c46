"""Recorded calls of kernels, replayed by the driver that runs the library for arm64 under QEMU."""

from __future__ import annotations

import shutil
from array import array
from pathlib import Path
from typing import Any

import pytest
import replay

from tokentui.core import arrays, native
from tokentui.learn.kernels import layout, order
from tokentui.learn.kernels.unigram import PASSES

LIBRARY = Path(native.FOLDER) / native.library_of(native.system())
pytestmark = pytest.mark.usefixtures("loaded")


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    return replay.build_driver(tmp_path_factory.mktemp("driver"), [compiler])


@pytest.fixture(scope="module")
def calls(loaded: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of calls of every kernel."""
    path = tmp_path_factory.mktemp("calls") / "calls"
    with path.open("wb") as file, replay.Recorder(file) as recorder:
        replay.work(["english", "python"])
    assert [name for name, count in recorder.calls.items() if not count] == []
    assert set(recorder.calls) == set(native.manifest()["kernels"])
    return path


@pytest.mark.slow
def test_the_library_of_this_system_gives_every_recorded_bit_again(driver: Path, calls: Path) -> None:
    done = replay.replay([driver], LIBRARY, calls)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == sorted(native.manifest()["kernels"])
    assert all(int(row[1]) > 0 for row in rows)
    assert {tuple(row[2:]) for row in rows} == {("0", "0", "0")}


def three_calls(path: Path, monkeypatch: pytest.MonkeyPatch, number: int, item: int, factor: float) -> None:
    """Record three calls as if kernels gave other results: a result and an item of an array greater by a
    number, and a floating-point number of an array greater by a factor."""
    find_code = native.open_library()

    def altered(kernel: native.Kernel) -> native.Code:
        code = find_code(kernel)

        def call(*arguments: Any) -> Any:
            result = code(*arguments)
            if kernel is layout.widen:
                arguments[1][2] += item
            if kernel is PASSES.logarithms:
                arguments[3][1] *= factor
            return result + number if kernel is order.compare_products else result

        return call

    monkeypatch.setattr(native, "open_library", lambda: altered)
    with path.open("wb") as file, replay.Recorder(file):
        order.compare_products(1, 2, 3, 3, 2, 1)
        layout.widen(b"abc", arrays.flat("int32", 3))
        PASSES.logarithms(0, 3, array("d", [0.5, 0.25, 0.1]), array("d", [0, 0, 0]))


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize(("number", "item", "factor", "error"), [
    (1, 0, 1, "order.compare_products, call 0: it returns another number"),
    (0, 1, 1, "layout.widen, call 1: an array differs"),
    (0, 0, 1 + 1e-9, "unigram_passes.logarithms, call 2: a floating-point number of an array differs by more "
                     "than rounding"),
])
def test_another_result_ends_the_replay(
    number: int, item: int, factor: float, error: str, driver: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    three_calls(tmp_path / "calls", monkeypatch, number, item, factor)
    done = replay.replay([driver], LIBRARY, tmp_path / "calls")
    assert (done.returncode, done.stderr) == (1, f"{error}\n")


def test_a_rounding_difference_is_counted(
    driver: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    three_calls(tmp_path / "calls", monkeypatch, 0, 0, 1 + 1e-15)
    done = replay.replay([driver], LIBRARY, tmp_path / "calls")
    assert (done.returncode, done.stderr) == (0, "")
    rounded = [line.split() for line in done.stdout.splitlines() if line.split()[2] != "0"]
    assert [row[:3] for row in rounded] == [["unigram_passes.logarithms", "1", "1"]]
    assert 0 < float(rounded[0][3]) < 1e-14


def test_a_recording_that_is_cut_short_is_refused(
    driver: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "calls"
    three_calls(path, monkeypatch, 0, 0, 1)
    path.write_bytes(path.read_bytes()[:-1])
    done = replay.replay([driver], LIBRARY, path)
    assert (done.returncode, done.stderr) == (2, "the recording is cut short at call 3\n")


@pytest.mark.slow
def test_the_other_samples_are_encoded_too() -> None:
    """Also a sample whose graphemes are others where the text runs backward."""
    replay.work([sample for sample in replay.SAMPLES if sample not in ("english", "python")])
