"""The explorer for visitors of a web server: a process each, closed in, and nothing left behind."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import re
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from running_cli import refused
from serve_visitor import is_alive, needs_server, serving, shelf, visiting

from tokentui.cli.commands.serve import _practice_words
from tokentui.cli.web import server as visitors
from tokentui.cli.web.server import MAX_COLUMNS, VisitorLimits
from tokentui.cli.web.visitor import VisitorConfig
from tokentui.core.errors import TokentuiError
from tokentui.formats.files import load

SECRET = "a-word-of-the-server"


@pytest.fixture(autouse=True)
def _parts(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_server()
    monkeypatch.setenv("A_SECRET", SECRET)


async def fetched(url: str, **headers: str) -> tuple[int, bytes, Any]:
    """The status, the body and the headers of a page."""
    import aiohttp

    async with aiohttp.ClientSession() as client, client.get(url, headers=headers) as response:
        return response.status, await response.read(), response.headers


def told_of(process: int) -> tuple[str, str]:
    """The environment of a process, and its limits, as the system tells them."""
    place = Path(f"/proc/{process}")
    return (place / "environ").read_text(), (place / "limits").read_text()


@pytest.mark.slow
async def test_a_visitor_from_the_first_byte_to_the_last(tmp_path: Path) -> None:
    async with serving(shelf(tmp_path)) as running:
        async with visiting(running) as line:
            await line.until(lambda text: "novel.txt" in text and "step 0" in text)
            size = '["resize", {"width": "x", "height": -1}]'
            for noise in ("no JSON", "[]", '["stdin"]', size, "[" * 9999):
                await line.socket.send_str(noise)
            await line.socket.send_bytes(b"\x1b[A")
            await line.resize(100, 30)
            await line.press("nn")
            await line.until(lambda text: "step 2" in text)
            await line.resize(60, 18)
            await line.until(lambda text: "step 2" in text and max(map(len, text.splitlines())) <= 60)
            await line.resize(120, 40)
            await line.press("i\x15crowd 👩‍👩‍👧 é")
            await line.until(lambda text: "crowd" in text and "18 B" not in text and " 27 B" in text)
            await line.press("\x1b")
            await line.until(lambda text: "space run" in text)

            (process,) = running.processes
            environment, limits = told_of(process)
            assert SECRET not in environment
            assert re.search(r"Max file size +0 +0 ", limits)
            assert re.search(rf"Max address space +{1 << 30} +{1 << 30} ", limits)

            await line.press("e")
            await line.press("e")
            await line.until(lambda text: "Download as" in text and "lossless" in text)
            await line.press("\r")
            while not line.told:
                assert await line.take()
            ((said, key),) = line.told
            assert said == "deliver_file_start"
            url = running.url.rstrip("/") + f"/download/{key}"
            status, body, headers = await fetched(url)
            assert status == 200
            assert headers["Content-Disposition"] == "attachment; filename*=UTF-8''novel.json"
            (tmp_path / "got.json").write_bytes(body)
            assert load(tmp_path / "got.json").vocab_size == 258
            assert (await fetched(url))[0] == 404  # once
        # the visitor vanishes
        await running.until(lambda: not running.server.sessions and not is_alive(process))
    assert sorted(os.listdir(tmp_path / "served")) == ["novel.txt"]


@pytest.mark.slow
async def test_two_at_once_and_no_room_for_a_third(tmp_path: Path) -> None:
    async with serving(shelf(tmp_path), VisitorLimits(visitors=2)) as running:
        async with visiting(running) as one, visiting(running) as two:
            await one.until(lambda text: "step 0" in text)
            await two.until(lambda text: "step 0" in text)
            await one.press("nnn")
            await one.until(lambda text: "step 3" in text)
            await two.press("n")
            assert "step 1" in await two.until(lambda text: "step 1" in text)
            async with visiting(running) as three:
                assert "The server is full (2 visitors)" in await three.end()
            assert len(running.processes) == 2
            await two.press("q")  # who quits leaves room
            await two.end()
            await running.until(lambda: len(running.server.sessions) == 1)
        await running.until(lambda: not running.server.sessions)


@pytest.mark.slow
async def test_who_loads_the_page_again_has_a_place(tmp_path: Path) -> None:
    async with serving(shelf(tmp_path), VisitorLimits(visitors=1)) as running:
        async with visiting(running) as line:
            await line.until(lambda text: "1 Corpus" in text)
        async with visiting(running) as line:
            await line.until(lambda text: "1 Corpus" in text)
        assert len(running.processes) <= 1


async def test_who_presses_no_key_is_sent_away(tmp_path: Path) -> None:
    async with (
        serving(shelf(tmp_path), VisitorLimits(idle=0.2)) as running,
        visiting(running) as line,
    ):
        await line.resize(90, 25)  # no key
        assert "This session ended after" in await line.end()
        await running.until(lambda: not running.processes)


async def test_a_process_that_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even its children are left."""
    monkeypatch.setattr(visitors, "SHUTDOWN_S", 0.1)
    deaf = "import signal, time; signal.signal(1, signal.SIG_IGN); print('here', flush=True); time.sleep(1e4)"
    monkeypatch.setattr(VisitorConfig, "command", lambda self: [sys.executable, "-c", deaf])
    async with serving(VisitorConfig(())) as running:
        async with visiting(running) as line:
            await line.until(lambda text: "here" in text)
            (process,) = running.processes
        await running.until(lambda: not running.server.sessions and not is_alive(process))


async def test_other_names_and_other_pages_are_refused(tmp_path: Path) -> None:
    async with serving(shelf(tmp_path), VisitorLimits(names=("class.example",))) as running:
        port = running.url.split(":")[2].rstrip("/")
        asked = [
            ({}, 200), ({"Host": f"localhost:{port}"}, 200), ({"Host": "class.example"}, 200),
            ({"Host": "evil.example"}, 403), ({"Origin": "http://evil.example"}, 403),
            ({"Origin": running.url.rstrip("/")}, 200),
        ]
        for headers, status in asked:
            assert (await fetched(running.url, **headers))[0] == status, headers
        for path in ("x", "download/x", "static/../visit.py", "static/%2e%2e/server.py", "static/"):
            assert (await fetched(running.url + path))[0] in (403, 404), path
        status, page, headers = await fetched(running.url)
        assert headers["X-Frame-Options"] == "DENY"
        assert b"https://" not in page  # all of it comes from here
        for part in re.findall(rb'"(/static/[^"]+)"', page):
            assert (await fetched(running.url.rstrip("/") + part.decode()))[0] == 200


MALFORMED = (
    b"\0\xff\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\nHost: [::1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://[\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", b"GET http://[/ HTTP/1.1\r\nHost: a\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET / HTTP/1.1\r\n" + b"A" * 20_000 + b": b\r\n\r\n",
)


async def test_a_malformed_request_is_answered_by_a_status_and_no_traceback(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with serving(shelf(tmp_path), VisitorLimits()) as running:
        port = int(running.url.split(":")[2].rstrip("/"))
        for data in MALFORMED:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(data)
            await writer.drain()
            status = await reader.readline()
            assert re.match(rb"HTTP/1\.[01] 4\d\d ", status), (data[:60], status)
            writer.close()
        assert (await fetched(running.url))[0] == 200
    assert capfd.readouterr().err == ""


def test_sizes_stay_within_those_of_terminals() -> None:
    told = (80, "80", 0, -5, 10**9, "x", None, "9" * 5000, 2.5)
    within = [visitors._clamp(one, MAX_COLUMNS) for one in told]
    assert within == [80, 80, 1, 1, MAX_COLUMNS, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--corpus", "none.txt"], "none.txt: no such file"),
        (["--corpus", "-"], "-: no such file"),
        (["--corpus", "sample:none"], "no such sample"),
        (["-r", "recipe.toml"], "recipe files are not served"),
        (["-r", "gpt2", "-s", "split=nope"], "nope"),
        (["-t", "novel.txt"], "not a supported tokenizer file"),
        (["--visitors", "0"], "0 is not in the range"),
        (["--memory", "1"], "1 is not in the range"),
        (["--port", "x"], "--port"),
    ],
)
def test_wrong_words_give_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipe.toml").write_text('split = "gpt2"\n')
    (tmp_path / "novel.txt").write_text("the cat")
    assert told in refused("serve", "--port", "0", *words)


def test_a_port_that_is_taken_gives_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        told = refused("serve", "--port", str(taken.getsockname()[1]))
    assert "cannot listen: address already in use" in told


def test_what_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "pip install 'tokentui[web]'" in refused("serve")


@pytest.mark.slow
def test_the_server_ends_when_it_is_asked_to(tmp_path: Path) -> None:
    """The URL is its answer; what it made for itself goes."""
    (tmp_path / "novel.txt").write_text("the cat")
    words = [sys.executable, "-m", "tokentui", "serve", "--port", "0"]
    words += ["--corpus", str(tmp_path / "novel.txt")]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        url = process.stdout.readline().decode()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\n", url)
        assert len(os.listdir(tmp_path)) == 2
        process.terminate()
        assert process.wait() == 0
    assert os.listdir(tmp_path) == ["novel.txt"]


def test_a_visit_is_told_as_it_is() -> None:
    visit = VisitorConfig(("a", "-r", "gpt2"), "/x", ("a",), 5, {"A": "b"})
    told = json.loads(visit.command()[-1])
    assert VisitorConfig(**told) == VisitorConfig(["a", "-r", "gpt2"], "/x", ["a"], 5, {})


@pytest.mark.slow
async def test_a_visitor_begins_at_an_exercise(tmp_path: Path) -> None:
    config = replace(shelf(tmp_path), arguments=("practice", "jurafsky"))
    async with serving(config) as running, visiting(running) as line:
        await line.until(lambda text: "Jurafsky" in text and "1 of 10" in text)


@pytest.mark.parametrize(("exercise", "words", "error"), [
    ("jurafsky", [], ""), ("nothing", [], "no such exercise"), ("jurafsky", ["a.txt"],
        "leave out the other one"),
    ("hf-course-unigram", [], "it trains nothing"),
])
def test_an_exercise_is_served_or_refused(tmp_path: Path, exercise: str, words: list[str],
    error: str) -> None:
    if not error:
        assert _practice_words(str(tmp_path), exercise, words) == ["practice", exercise]
    else:
        with pytest.raises(TokentuiError, match=error):
            _practice_words(str(tmp_path), exercise, words)
