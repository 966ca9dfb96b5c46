"""Counting on a Dask cluster: the same bytes as here, whatever workers are lost; and how it fails."""

from __future__ import annotations

import contextlib
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import job
from tokentui.preset_table import preset_named
from tokentui.text import cluster
from tokentui.text.plan import Plan, plan
from tokentui.text.tally import Store, count_here

# Its import takes a third of a second, which workers without these tests need not spend.
if not importlib.util.find_spec("distributed"):
    pytest.skip("the extra dask is not installed", allow_module_level=True)
GPT2 = preset_named("gpt2").recipe
SHARED = Path(__file__).parents[2].parent / "shared" / "data" / "corpora"

SCRIPT = """
import os, random, signal, sys
import dask
from distributed import LocalCluster
from tokentui.core import limits
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import job
from tokentui.preset_table import preset_named
from tokentui.text import counted
from tokentui.text.cluster import count_on
from tokentui.text.plan import plan
from tokentui.text.tally import Store

sources, target, part, kills, seed, held, preset = sys.argv[1:8]
kills, rng = int(kills), random.Random(int(seed))
limits.use(limits.now().with_words([f"part-bytes={part}", f"count-memory={held}"], ""))

if __name__ == "__main__":
    recipe = preset_named(preset).recipe
    dask.config.set({"distributed.scheduler.allowed-failures": 100})
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=60) as made:
        planned = plan(sources.split(":"), recipe, None, "text")
        killed, last = 0, 0

        def told(done, total):
            global killed, last
            if killed < kills and done > last + total // (kills + 2):
                up = made.scheduler.workers  # one that is killed while it starts is not started again
                pids = [one.pid for one in made.workers.values() if one.pid and one.worker_address in up]
                if pids:
                    os.kill(rng.choice(pids), signal.SIGKILL)
                    killed, last = killed + 1, done

        with Store(int(limits.now().count_memory)) as store:
            with job(told):
                noticed = count_on(made.scheduler_address, planned, recipe, "text", store)
            counted.write(target, store.rows())
        print(len(planned.parts), killed, noticed.read == planned.size, bool(store.spilled))
        if "--more" in sys.argv:
            seen = []
            try:
                ticks, enough = lambda done, total: seen.append(done), lambda: len(seen) > 3
                with job(ticks, enough), Store(1 << 20) as store:
                    count_on(made.scheduler_address, planned, recipe, "text", store)
            except Cancelled:
                print("cancelled")
            os.unlink(sources.split(":")[0])
            try:
                with Store(1 << 20) as store:
                    count_on(made.scheduler_address, planned, recipe, "text", store)
            except TokentuiError as error:
                print(error.what)
"""


def run(
    tmp_path: Path, sources: list[Path], part: str, kills: int, seed: int = 0, held: str = "1G",
    preset: str = "gpt2", more: bool = False,
) -> tuple[list[str], bytes]:
    """Count on two workers of which some are killed: what is printed, and the file."""
    script, target = tmp_path / "script.py", tmp_path / "out.counts.tsv"
    script.write_text(SCRIPT)
    words = [":".join(map(str, sources)), str(target), part, str(kills), str(seed), held, preset]
    done = subprocess.run([sys.executable, str(script), *words, *(["--more"] if more else [])],
                          text=True, capture_output=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines(), target.read_bytes()


def here(tmp_path: Path, sources: list[Path], preset: str = "gpt2") -> bytes:
    """The file that one machine writes."""
    from tokentui.text import counted

    recipe, target = preset_named(preset).recipe, tmp_path / "here.counts.tsv"
    with Store(1 << 30) as store:
        count_here(plan(map(str, sources), recipe, None, "text"), recipe, "text", store)
        counted.write(str(target), store.rows())
    return target.read_bytes()


@pytest.mark.slow
def test_counts_survive_lost_workers_and_cancels_and_lost_files_are_reported(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {n} of {n % 97}, ünd {n % 13}!\n" for n in range(20_000)))
    (tmp_path / "b.txt").write_bytes("漢字 kana\r\n".encode() * 4000 + b"\xff")
    sources = [tmp_path / "a.txt", tmp_path / "b.txt"]
    wanted = here(tmp_path, sources)
    printed, made = run(tmp_path, sources, "20K", kills=2, held="64K", more=True)
    assert made == wanted
    assert printed == ["28 2 True True", "cancelled", "a worker cannot find the file"]


@pytest.mark.soak
@pytest.mark.shared
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(4))
def test_every_corpus_with_workers_killed_at_random(tmp_path: Path, seed: int) -> None:
    sources = sorted(path for path in SHARED.iterdir() if path.suffix == ".txt")
    preset = ("gpt2", "bert", "llama3", "hf-bpe")[seed]
    printed, made = run(tmp_path, sources, "200K", kills=6, seed=seed, preset=preset)
    assert made == here(tmp_path, sources, preset)
    assert printed[0].split()[1:] == ["6", "True", "False"]


def test_nobody_at_the_address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")
    monkeypatch.setattr(cluster, "_CONNECT_S", 0.3)
    planned = plan([str(tmp_path / "a.txt")], GPT2, None, "text")
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with Store(1) as store, pytest.raises(TokentuiError, match="no scheduler responds"):
            cluster.count_on(address, planned, GPT2, "text", store)


def test_standard_input_and_a_wrong_number_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")
    planned = plan([str(tmp_path / "a.txt")], GPT2, None, "text")
    with Store(1) as store:
        with pytest.raises(TokentuiError, match="standard input cannot be distributed"):
            cluster.count_on("local", plan(["-"], GPT2, None, "text"), GPT2, "text", store)
        with pytest.raises(TokentuiError, match="not a number of processes"):
            cluster.count_on("local:x", planned, GPT2, "text", store)


def test_without_dask_there_is_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("one")
    planned = plan([str(tmp_path / "a.txt")], GPT2, None, "text")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with Store(1) as store, pytest.raises(TokentuiError, match=r"Dask is not installed.*tokentui\[dask\]"):
        cluster.count_on("local", planned, GPT2, "text", store)


def test_a_worker_of_another_version_is_refused() -> None:
    from tokentui.core import limits

    task = cluster.Task(GPT2, "text", limits.now(), ("0.0", "1"))
    with pytest.raises(TokentuiError, match="install the same on all workers"):
        cluster._count(task, ())


@contextlib.contextmanager
def within(workers: int) -> Iterator[Any]:
    """A scheduler and workers that are threads of this process."""
    start: Any = importlib.import_module("distributed").LocalCluster
    with start(n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=None,
               silence_logs=60) as made:
        yield made


def planned(path: Path) -> Plan:
    """The plan of a text."""
    path.write_text("one two three")
    return plan([str(path)], GPT2, None, "text")


def test_a_worker_that_lacks_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    task = planned(path)
    path.unlink()
    with within(1) as made, Store(1) as store, pytest.raises(TokentuiError) as told:
        cluster.count_on(made.scheduler_address, task, GPT2, "text", store)
    assert (told.value.what, told.value.where) == ("a worker cannot find the file", str(path))


def test_a_cluster_without_workers_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_ALONE_S", 0.2)
    with within(0) as made, Store(1) as store, pytest.raises(TokentuiError) as told:
        cluster.count_on(made.scheduler_address, planned(tmp_path / "a.txt"), GPT2, "text", store)
    assert str(told.value) == (
        "--scheduler: no worker was available for 0.2 s (start workers, or give them more memory)"
    )


def test_a_scheduler_that_ends(tmp_path: Path) -> None:
    task = planned(tmp_path / "a.txt")
    gone = pytest.raises(TokentuiError)
    with within(0) as made, Store(1) as store, gone as told, job(lambda done, total: made.close()):
        cluster.count_on(made.scheduler_address, task, GPT2, "text", store)
    assert str(told.value) == "--scheduler: the scheduler is gone (restart it, and count again)"


def test_keys_need_cryptography(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with Store(1) as store, pytest.raises(TokentuiError, match="cryptography is not installed") as told:
        cluster.count_on("local:1", planned(tmp_path / "a.txt"), GPT2, "text", store)
    assert told.value.where == "--scheduler local"
