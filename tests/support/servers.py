"""Servers on 127.0.0.1 for tests: a web server, a stand-in of the hub, an S3 server."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import unquote, urlsplit

ENDLESS = "/endless"
COMMIT = "0123456789" * 4


class Web(BaseHTTPRequestHandler):
    """Serves `files`; redirects `moved`; `status` answers with an error; `/endless` never ends, and says no
    length. `sent` counts the bytes of bodies."""

    files: ClassVar[dict[str, bytes]]
    moved: ClassVar[dict[str, str]]
    status: ClassVar[dict[str, int]]
    ranges: ClassVar[bool]
    sent: ClassVar[int]
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        """Answer without a body."""
        self._answer(body=False)

    def do_GET(self) -> None:
        """Answer with a body."""
        self._answer(body=True)

    def _answer(self, body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        if path in self.status:
            self._head(self.status[path], 0)
        elif path in self.moved:
            self.send_response(302)
            self.send_header("Location", self.moved[path])
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif path == ENDLESS:
            self.send_response(200)
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            with suppress(OSError):
                while body:
                    type(self).sent += self.wfile.write(b"never the end\n" * 4096)
        elif path not in self.files:
            self._head(404, 0)
        else:
            self._file(self.files[path], body)

    def _file(self, data: bytes, body: bool) -> None:
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")) if self.ranges else None
        if match:
            start, end = int(match[1]), min(int(match[2] or len(data) - 1), len(data) - 1)
            part = data[start : end + 1]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{end}/{len(data)}")
        else:
            part = data
            self.send_response(200)
        self._more(data)
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if body:
            type(self).sent += self.wfile.write(part)

    def _more(self, data: bytes) -> None:
        if self.ranges:
            self.send_header("Accept-Ranges", "bytes")

    def _head(self, code: int, length: int) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(length))
        self.end_headers()


class Hub(Web):
    """A stand-in of the hub: `repos` maps `models/OWNER/NAME` or `datasets/OWNER/NAME` to files; those of
    `gated` may not be read. `asked` has the method and the path of each request."""

    repos: ClassVar[dict[str, dict[str, bytes]]]
    gated: ClassVar[set[str]]
    asked: ClassVar[list[str]]

    def do_POST(self) -> None:
        """What is known of paths."""
        length = int(self.headers.get("Content-Length", "0"))
        asked = self.rfile.read(length).decode()
        path = urlsplit(self.path).path
        self.asked.append(f"POST {path}")
        match = re.fullmatch(r"/api/((?:models|datasets)/[^/]+/[^/]+)/paths-info/.*", path)
        files = self.repos.get(match[1]) if match else None
        if files is None:
            self._fault(404, "RepoNotFound")
            return
        paths = json.loads(asked)["paths"] if asked.startswith("{") else re.findall(r"paths=([^&]*)", asked)
        self._json([self._told(name, files[name]) for name in map(unquote, paths) if name in files])

    def _answer(self, body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        self.asked.append(f"{self.command} {path}")
        if match := re.fullmatch(r"/api/((?:models|datasets)/[^/]+/[^/]+)(?:/revision/[^/]+)?", path):
            if match[1] not in self.repos:
                self._fault(404, "RepoNotFound")
            else:
                rows = self.repos[match[1]]
                files = [{"rfilename": name, "size": len(data)} for name, data in rows.items()]
                kept: dict[str, object] = {"id": match[1].partition("/")[2], "sha": COMMIT, "siblings": files,
                        "private": False, "downloads": 0, "likes": 0, "tags": []}
                self._json(kept)
        elif match := re.fullmatch(r"/api/((?:models|datasets)/[^/]+/[^/]+)/tree/[^/]+(?:/.*)?", path):
            self._json([self._told(name, data) for name, data in self.repos.get(match[1], {}).items()])
        elif match := re.fullmatch(r"/(datasets/)?([^/]+/[^/]+)/resolve/[^/]+/(.+)", path):
            repo = (match[1] or "models/") + match[2]
            if repo in self.gated:
                self._fault(403, "GatedRepo")
            elif repo not in self.repos:
                self._fault(401, "RepoNotFound")
            elif match[3] not in self.repos[repo]:
                self._fault(404, "EntryNotFound")
            else:
                self._file(self.repos[repo][match[3]], body)
        else:
            self._fault(404, "EntryNotFound")

    def _more(self, data: bytes) -> None:
        super()._more(data)
        self.send_header("ETag", f'"{hashlib.sha1(data).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)

    def _told(self, name: str, data: bytes) -> dict[str, object]:
        return {"type": "file", "path": name, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}

    def _fault(self, code: int, name: str) -> None:
        self.send_response(code)
        self.send_header("X-Error-Code", name)
        self.send_header("Content-Length", "0")
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()

    def _json(self, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serving(kind: type[Web]) -> Iterator[str]:
    """Run a server; gives its URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def web(files: dict[str, bytes], ranges: bool = True) -> type[Web]:
    """A web server of its own with these files."""
    return type("OneWeb", (Web,), {"files": files, "moved": {}, "status": {}, "ranges": ranges, "sent": 0})


def hub(repos: dict[str, dict[str, bytes]]) -> type[Hub]:
    """A hub of its own with these repositories."""
    made = {"files": {}, "moved": {}, "status": {}, "ranges": True, "sent": 0, "repos": repos, "gated": set(),
            "asked": []}
    return type("OneHub", (Hub,), made)
