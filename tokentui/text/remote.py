"""Remote files: URLs that fsspec opens, and tokenizers of the Hugging Face hub.

Only the schemes in `SCHEMES` are opened; none of them names a local file. Remote data is untrusted. It is
read as a stream up to a limit. A redirect from https to http, or to an address of this machine or its
network, is refused. Messages contain neither the password nor the query of a URL.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from tokentui.core import limits, sandbox
from tokentui.core.errors import Cancelled, TokentuiError, shown_path
from tokentui.core.jobs import check
from tokentui.core.records import dataclass

Untyped = Any
"""A module or value of fsspec and its libraries, which have no types here."""
EXTRA = "pip install 'tokentui[remote]'"
BLOCK = 1 << 22
"""Bytes per request of a file that is read in parts."""
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://", re.ASCII)
_HUB = re.compile(r"hf:(?!//)(?P<repo>[\w.-]+(?:/[\w.-]+)?)(?:@(?P<revision>[\w./-]+))?", re.ASCII)
_MAGIC = re.compile(r"[*?\[]")
_CONNECT_S = 20.0
_LONGEST = 200
_MOST_FILES = 1_000_000
_CAUSES = 20

@dataclass(frozen=True, slots=True)
class Scheme:
    """A scheme of URLs.

    Attributes:
        name: The name before `://`.
        about: A short description.
        needs: The package that fsspec needs for it.
        lists: True if it has folders and globs.
    """

    name: str
    about: str
    needs: str
    lists: bool = True


SCHEMES: dict[str, Scheme] = {scheme.name: scheme for scheme in (
    Scheme("https", "a web server", "aiohttp", lists=False),
    Scheme("http", "a web server, unencrypted", "aiohttp", lists=False),
    Scheme("s3", "Amazon S3, or a server that speaks like it", "s3fs"),
    Scheme("hf", "a repository of the Hugging Face hub", "huggingface_hub"),
    Scheme("gs", "Google Cloud Storage", "gcsfs"),
    Scheme("abfs", "Azure storage", "adlfs"),
)}
"""The schemes by name. The extra `remote` installs the packages of the first four."""


class RemoteFile(NamedTuple):
    """A remote file: its URL, and its size in bytes, or None if the server does not report it."""

    url: str
    size: int | None


def is_url(name: object) -> bool:
    """Return whether a value is a text that begins with a scheme and `://`. The scheme may be unknown."""
    return isinstance(name, str) and _URL.match(name) is not None


def is_remote(name: object) -> bool:
    """Return whether a text is a URL or a tokenizer of the hub (`hf:OWNER/NAME`)."""
    return is_url(name) or (isinstance(name, str) and name.startswith("hf:"))


def scheme_of(url: str) -> Scheme:
    """Return the scheme of a URL.

    Raises:
        TokentuiError: The scheme is not in `SCHEMES`, or the URL contains another URL.
    """
    match = _URL.match(url)
    name = match[1].lower() if match else ""
    if name in ("file", "local"):
        raise TokentuiError("is a local file", shown(url), "name its path")
    if name not in SCHEMES:
        raise TokentuiError("this URL scheme is not supported", shown(url), f"one of: {', '.join(SCHEMES)}")
    if "::" in url:
        raise TokentuiError("nested URLs are not supported", shown(url), "name the file itself")
    return SCHEMES[name]


def shown(url: str) -> str:
    """Return a URL for display, without user, password, query and fragment, which may contain secrets."""
    from urllib.parse import urlsplit  # not before a URL is named

    with contextlib.suppress(ValueError):
        split = urlsplit(url if is_url(url) else "")
        if not split.scheme:
            return shown_path(url)
        host = split.netloc.rpartition("@")[2]
        url = f"{split.scheme}://{host}{split.path}"
    if len(url) > _LONGEST:
        url = f"{url[: _LONGEST // 2]}…{url[-_LONGEST // 2 :]}"
    return shown_path(url)


def base_name(url: str) -> str:
    """Return the last part of the path of a URL, decoded, or its host if the path is empty, for display."""
    from urllib.parse import unquote, urlsplit

    split = urlsplit(shown(url))
    last = posixpath.basename(split.path.rstrip("/"))
    return shown_path(unquote(last)) if last else split.netloc


def list_files(url: str) -> tuple[list[RemoteFile], bool]:
    """Return the files that a URL names, sorted, and whether the URL is a folder.

    The files are the URL itself, all below a folder, or those that match a glob.

    Raises:
        TokentuiError: There are no files, access is denied, or the server does not answer.
    """
    scheme = scheme_of(url)
    with readable_errors(url):
        system, path = _system(url)
        check()
        if not scheme.lists:
            return [RemoteFile(url, _size_or_none(system.info(path).get("size")))], False
        if _MAGIC.search(path):
            listing = system.glob(path, detail=True)
            files = _files(system, listing, url)
            if not files:
                raise TokentuiError("no file matches", shown(url), "** searches subfolders too")
            return files, False
        info = system.info(path)
        if info.get("type") != "directory":
            return [RemoteFile(url, _size_or_none(info.get("size")))], False
        return _files(system, system.find(path, detail=True), url, path), True


def _files(system: Untyped, listing: dict[str, Untyped], url: str, below: str = "") -> list[RemoteFile]:
    """Return the files of a listing without hidden ones.

    Raises:
        TokentuiError: There are more files than the limit.
    """
    if len(listing) > _MOST_FILES:
        raise TokentuiError(f"more than {_MOST_FILES:,} files", shown(url), "select fewer of them")
    below = below.rstrip("/") + "/" if below else ""
    return [
        RemoteFile(str(system.unstrip_protocol(path)), _size_or_none(info.get("size")))
        for path, info in sorted(listing.items(), key=lambda item_: item_[0].split("/"))
        if info.get("type") == "file"
        and not any(part.startswith(".") for part in (path.removeprefix(below) if below else path).split("/"))
    ]


def _size_or_none(size: object) -> int | None:
    return size if isinstance(size, int) and size >= 0 else None


def open_stream(url: str) -> BinaryIO:
    """Return a file as a stream of bytes from its start.

    Raises:
        TokentuiError: It cannot be opened. For errors during reading use `readable_errors`.
    """
    streamed = scheme_of(url).name in ("http", "https", "hf")
    with readable_errors(url):
        system, path = _system(url)
        more = {"block_size": 0} if streamed else {"block_size": BLOCK, "cache_type": "readahead"}
        stream: BinaryIO = system.open(path, "rb", **more)
        return stream


def open_range(url: str, place: int) -> BinaryIO:
    """Return a file as a stream of bytes from an offset, fetched block by block.

    Raises:
        TokentuiError: It cannot be opened.
    """
    with readable_errors(url):
        system, path = _system(url)
        stream: BinaryIO = system.open(path, "rb", block_size=BLOCK, cache_type="readahead")
        stream.seek(place)
        return stream


def supports_ranges(url: str) -> bool:
    """Return whether the server gives parts of a file.

    True for schemes with folders. Of a web server, the second byte of the file is requested; any error gives
    False.
    """
    if scheme_of(url).lists:
        return True
    try:
        with open_range(url, 1) as stream, readable_errors(url):
            return len(stream.read(1)) == 1
    except TokentuiError:
        return False


@contextlib.contextmanager
def readable_errors(url: str) -> Iterator[None]:
    """Raise exceptions of fsspec inside as a one-line error.

    Raises:
        TokentuiError: The work inside raised such an exception.
    """
    try:
        yield
    except (TokentuiError, Cancelled, MemoryError):
        raise
    except Exception as error:
        raise _readable(error, url) from None


_RIGHTS = "set your credentials, or ask the owner"
_NETWORK = "check the network and the host name"


def _readable(error: BaseException, url: str) -> TokentuiError:
    """Return a one-line error for an exception of fsspec or a library below. The first known cause decides.
    """
    chain = list[BaseException]()
    cause: BaseException | None = error
    while cause is not None and len(chain) < _CAUSES:
        if isinstance(cause, TokentuiError):
            return cause
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    where, names = shown(url), {base.__name__ for cause in chain for base in type(cause).__mro__}
    codes = {code for cause in chain if (code := _status(cause))}
    if isinstance(error, ImportError):
        needs = SCHEMES[url.partition("://")[0].lower()].needs if is_url(url) else "huggingface_hub"
        return TokentuiError(f"{needs} is not installed", where, EXTRA)
    if "TooManyRedirects" in names:
        return TokentuiError("it redirects in a loop", where, "name the file itself")
    if "RepositoryNotFoundError" in names and "GatedRepoError" not in names:
        return TokentuiError("no such repository, or no permission to read it", where, "check the name")
    if codes & {401, 403} or names & {"PermissionError", "NoCredentialsError", "GatedRepoError",
                                      "PartialCredentialsError", "ClientAuthenticationError"}:
        return TokentuiError("no permission to read it", where, _RIGHTS)
    if names & {"LocalEntryNotFoundError", "OfflineModeIsEnabled"}:
        return TokentuiError("there is no network, and it is not in the cache", where, _NETWORK)
    if codes & {404, 410} or names & {"EntryNotFoundError", "RevisionNotFoundError", "NoSuchBucket"}:
        return TokentuiError("no such file", where, "check the name")
    if names & _SILENT:
        return TokentuiError("the server does not respond", where, _NETWORK)
    if codes:
        return TokentuiError(f"the server returned error {min(codes)}", where, "try again later")
    if "FileNotFoundError" in names:
        return TokentuiError("no such file", where, "check the name")
    if names & {"ClientError", "ClientPayloadError", "IncompleteRead", "ResponseStreamingError"}:
        return TokentuiError("the download was interrupted", where, "try again")
    return TokentuiError(f"cannot be read: {type(error).__name__}", where, "check the URL")


_SILENT = frozenset({
    "ClientConnectorError", "ClientConnectionError", "ServerDisconnectedError", "ServerTimeoutError",
    "gaierror", "ConnectionError", "ConnectError", "TimeoutError", "FSTimeoutError",
    "EndpointConnectionError", "ConnectTimeoutError", "ReadTimeoutError", "ConnectTimeout",
    "ReadTimeout", "InvalidURL",
})
"""Names of exceptions of several libraries that mean that no server answers."""


def _status(error: BaseException) -> int | None:
    """Return the HTTP status of an exception, or None."""
    answer = getattr(error, "response", None)
    status = getattr(error, "status", None) or getattr(answer, "status_code", None)
    if isinstance(answer, dict):
        status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
    return status if isinstance(status, int) and status >= 400 else None


def _system(url: str) -> tuple[Untyped, str]:
    """Return the file system of fsspec for a URL, and the path in it.

    Raises:
        TokentuiError: fsspec is not installed.
    """
    sandbox.check(url)
    scheme = scheme_of(url)
    try:
        import fsspec
    except ImportError:
        raise TokentuiError("URLs need fsspec, which is not installed", shown(url), EXTRA) from None
    system = fsspec.filesystem(scheme.name, **({} if scheme.lists else _web_options()))
    return system, str(system._strip_protocol(url))


@functools.cache
def _web_options() -> dict[str, object]:
    """Return options for web servers: a timeout, and a check of each redirect."""
    import aiohttp  # needed for these places alone

    async def look(session: object, context: object, asked: Untyped) -> None:
        answer = asked.response
        target = answer.headers.get("Location") or answer.headers.get("URI") or ""
        check_redirect(str(answer.url), str(answer.url.join(type(answer.url)(target))))

    trace = aiohttp.TraceConfig()
    trace.on_request_redirect.append(look)
    timeout = aiohttp.ClientTimeout(
        total=None, sock_connect=_CONNECT_S, sock_read=limits.now().stream_seconds
    )
    return {"client_kwargs": {"trace_configs": [trace], "timeout": timeout, "trust_env": True}}


def check_redirect(asked: str, target: str) -> None:
    """Raise for an unsafe redirect from one URL to another.

    Raises:
        TokentuiError: The target is http after https, not a web server, or an address of this machine or its
            network although the first URL is not.
    """
    from urllib.parse import urlsplit

    source, destination = urlsplit(asked), urlsplit(target)
    unsafe = source.scheme == "https" and destination.scheme != "https"
    if destination.scheme not in ("http", "https") or unsafe:
        what = f"it sends the reader to {destination.scheme or 'no'}://, which is not followed"
        raise TokentuiError(what, shown(asked), "name the file itself")
    elsewhere = destination.hostname != source.hostname and not _inside(source.hostname or "")
    if _inside(destination.hostname or "") and elsewhere:
        what = "it sends the reader to an address inside this network, which is not followed"
        raise TokentuiError(what, shown(asked), "name the file itself")


def _inside(host: str) -> bool:
    """Return whether a host is this machine or in a network that is not public."""
    import ipaddress

    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return False


# ---- tokenizers of the hub


class Repository(NamedTuple):
    """The files of a repository of the hub.

    Attributes:
        folder: The path of the folder on this machine that has the downloaded files.
        streamed: Other files of the repository; they are read from their URLs.
    """

    folder: str
    streamed: tuple[RemoteFile, ...]


def download_from_hub(
    name: str, files: Sequence[str], needed: Sequence[Sequence[str]], suffix: str = ""
) -> Repository:
    """Download files of a repository into the cache of huggingface_hub. The hub is asked once for the list of
    files. Without a network the cached files are used.

    Args:
        name: The repository: `hf:OWNER/NAME` or `hf:OWNER/NAME@REVISION`.
        files: The files to download. Files that the repository lacks are skipped.
        needed: Groups of files. The repository must have all files of at least one group.
        suffix: The end of the names of files that are streamed and can replace these groups; empty for none.

    Raises:
        TokentuiError: No group is complete, access is denied, a file is too large, or the hub does not
            answer.
    """
    sandbox.check(name)
    match = _HUB.fullmatch(name)
    if match is None:
        raise TokentuiError("not a hub repository", shown_path(name), "for example hf:OWNER/NAME")
    try:
        hub: Untyped = importlib.import_module("huggingface_hub")
    except ImportError:
        raise TokentuiError("huggingface_hub is not installed", shown_path(name), EXTRA) from None
    importlib.import_module("huggingface_hub.utils").disable_progress_bars()
    repo, revision = match["repo"], match["revision"]
    paths: dict[str, str] = {}
    listing: Untyped = None
    silent: Exception | None = None
    with readable_errors(name):
        try:
            listing = hub.HfApi().model_info(repo, revision=revision, files_metadata=True, timeout=_CONNECT_S)
        except Exception as error:
            if isinstance(error, Cancelled) or _refused(error):
                raise
            silent = error
        sizes = {} if listing is None else {row.rfilename: row.size for row in listing.siblings or ()}
        for file in files:
            check()
            if listing is None:
                path = _cached_path(hub, repo, file, revision)
            elif file not in sizes:
                continue
            elif (path := _cached_path(hub, repo, file, listing.sha)) is None:
                path = _download(hub, repo, file, revision, sizes[file])
            if path is not None:
                paths[file] = path
        row = next((row for row in needed if paths.keys() >= set(row)), None)
        if row is None and silent is not None:
            raise silent
    if row is not None:
        return Repository(posixpath.dirname(paths[row[0]]), ())
    from urllib.parse import quote

    at = f"@{quote(revision, safe='')}" if revision else ""
    streamed = tuple(RemoteFile(f"hf://{repo}{at}/{file}", size) for file, size in sorted(sizes.items())
                     if suffix and file.endswith(suffix))
    if not streamed:
        known = ", ".join(" and ".join(row) for row in needed)
        raise TokentuiError("this repository contains no tokenizer file", shown_path(name),
            f"one of: {known}")
    return Repository(posixpath.dirname(next(iter(paths.values()), "")), streamed)


def _refused(error: Exception) -> bool:
    """Return whether the hub answered with an error, rather than not at all."""
    names = {base.__name__ for base in type(error).__mro__}
    return bool(_status(error)) or {"HfHubHTTPError", "OfflineModeIsEnabled"} & names == {"HfHubHTTPError"}


def _cached_path(hub: Untyped, repo: str, file: str, revision: str | None) -> str | None:
    """Return the path of a cached file; None if it is not cached."""
    path = hub.try_to_load_from_cache(repo, file, revision=revision)
    return path if isinstance(path, str) else None


def _download(hub: Untyped, repo: str, file: str, revision: str | None, size: int | None) -> str:
    """Download one file of a repository, of a size in bytes, and return its local path.

    Raises:
        TokentuiError: The size is unknown or above the limit.
    """
    most = limits.now().file_bytes
    if size is None or size > most:
        shown_size = "an unknown number of" if size is None else f"{size:,}"
        what = f"{file} has {shown_size} bytes; the limit is {most:,}"
        raise TokentuiError(what, f"hf:{repo}", limits.reading("file-bytes"))
    return str(hub.hf_hub_download(repo, file, revision=revision))
