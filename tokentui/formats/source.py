"""A tokenizer file before it is read as a format: its bytes, text, lines or JSON.

A JSON value knows its place, so that each error has it.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import mul
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from tokentui.core import engines, limits
from tokentui.core.errors import TokentuiError
from tokentui.core.files import open_regular, read_errors, read_regular, refuse_irregular, status_of
from tokentui.core.jobs import check, silent
from tokentui.core.records import dataclass
from tokentui.formats import gguf, published
from tokentui.formats.pairs import Pairs, read_names
from tokentui.recipe import Recipe
from tokentui.text import remote
from tokentui.text.files import Meter, read_path, read_stream

if TYPE_CHECKING:
    from tokentui.formats.classes import OfClass

LARGEST_ID = (1 << 31) - 1
"""The largest id in a file."""
MOST_WORK = 1 << 29
"""Limit on the sum of the squares of the lengths of all tokens, which is the cost of searching for their
parts."""
LONGEST_MARK = 1 << 8
"""The most characters of the mark of a word."""
MEND = "fix the file or train it again"
NO_SPECIALS = "a rank file stores no special tokens"
"""Note on a rank file. It is dropped if the folder of the file names special tokens."""
LARGEST_NUMBER = 2**63 - 1
_HEX = re.compile("(?:[0-9a-f]{2})*")
_KINDS = {int: "a whole number", float: "a fraction", str: "text", list: "a list", dict: "an object",
          bool: "true or false", type(None): "null"}
_MOST_NEIGHBORS = 1000
T = TypeVar("T")


class Node:
    """A value of a document with its place: the file, and the keys and row numbers (from 0) that lead to it.

    Methods that return the value as a type raise `TokentuiError`, with the place, if it has another type.

    Args:
        value: The JSON value, or any value for a place in another kind of file.
        step: The key, the row, or the name of the file; None for a part of the parent without a key press.
        parent: The containing value; None for the whole file.
    """

    __slots__ = ("_step", "parent", "value")

    def __init__(self, value: object, step: str | int | None, parent: Node | None = None) -> None:
        self.value = value
        self._step = step
        self.parent = parent

    def __str__(self) -> str:
        """The place of the value, as shown in errors."""
        keys: list[str] = []
        row = ""
        node = self
        while node.parent is not None:
            if isinstance(node._step, str):
                keys.append(node._step)
            elif node._step is not None:
                keys.clear()  # the row says it well enough
                row = row or f" row {node._step}"
            node = node.parent
        return f"{node._step}: {'.'.join(reversed(keys))}{row}" if keys else str(node._step)

    def __getitem__(self, name: str) -> Node:
        """Return the value of a key; null if the key is absent."""
        return Node(self.mapping().get(name), name, self)

    def __contains__(self, name: str) -> bool:
        return name in self.mapping()

    def at(self, step: str | int, value: object = None) -> Node:
        """Return a node below this one, as a place for errors. The value is not looked up."""
        return Node(value, step, self)

    def error(self, what: str, hint: str = MEND) -> TokentuiError:
        """Return, without raising it, an error at this place."""
        return TokentuiError(what, str(self), hint)

    @property
    def kind(self) -> str:
        """The type of the value as a phrase."""
        return str(self.value).lower() if isinstance(self.value, bool) else _KINDS[type(self.value)]

    def _of(self, wanted: type[T], default: T | None) -> T:
        """Return the value if it has a wanted type. Null gives the default, if there is a default."""
        value = default if self.value is None else self.value
        if value is None and self.parent is not None and isinstance(self._step, str):
            above = self.parent.value
            if isinstance(above, dict) and self._step not in above:
                raise self.parent.error(f'"{self._step}" is missing')
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            raise self.error(f"expected {_KINDS[wanted]}, not {self.kind}")
        return value

    def mapping(self, default: dict[str, object] | None = None) -> dict[str, object]:
        """Return the value, which must be an object. Null is allowed if a default is given."""
        return self._of(dict, default)

    def listed(self, default: list[object] | None = None) -> list[Any]:
        """Return the value, which must be a list. Null is allowed if a default is given."""
        return self._of(list, default)

    def rows(self, default: list[object] | None = None) -> Iterator[Node]:
        """Yield each row of the value, which must be a list."""
        return (Node(row, number, self) for number, row in enumerate(self.listed(default)))

    def inner(self) -> Iterator[Node]:
        """Yield each row of a list. In errors the rows have the place of the parent."""
        return (Node(row, None, self.parent) for row in self.listed())

    def fields(self, *names: str) -> list[Node]:
        """Return the fields of a list, which must have as many values as names are given."""
        if not isinstance(self.value, list) or len(self.value) != len(names):
            got = f"a list of {len(self.value)}" if isinstance(self.value, list) else self.kind
            raise self.error(f"a row is [{', '.join(names)}], not {got}")
        return [Node(field, None, self) for field in self.value]

    def number(self, default: int | None = None) -> int:
        """Return the value, which must be a whole number of 0 or more that fits 63 bits."""
        value = self._of(int, default)
        if not 0 <= value <= LARGEST_NUMBER:
            raise self.error("a number is negative" if value < 0 else "a number is too large")
        return value

    def text(self, default: str | None = None, most: int | None = None) -> str:
        """Return the value, which must be text of at most `most` characters."""
        text = self._of(str, default)
        if most is not None and len(text) > most:
            raise self.error(f"a text of {len(text):,} characters; {most:,} no real tokenizer has more than")
        return text

    def texts(self) -> list[str]:
        """Return the value, which must be a list of texts."""
        return [row.text() for row in self.rows()]

    def flag(self, default: bool | None = None) -> bool:
        """Return the value, which must be true or false."""
        return self._of(bool, default)

    def hex(self, least: int = 1) -> bytes:
        """Return the bytes of the value, which must be lowercase hex of at least `least` bytes."""
        if not isinstance(self.value, str) or not _HEX.fullmatch(self.value) or len(self.value) < 2 * least:
            raise self.error("HEX is not lower-case hex of whole bytes")
        return bytes.fromhex(self.value)

    def keys(self, known: Sequence[str]) -> None:
        """Check that the value is an object with exactly these keys. Return nothing."""
        mapping = self.mapping()
        for name in known:
            if name not in mapping:
                raise self.error(f'"{name}" is missing')
        for name in mapping:
            if name not in known:
                raise self.error(f"{name[:40]!r} is not a key that this version reads",
                                 "one of: " + ", ".join(known))

    def ids(self) -> dict[str, int]:
        """Return the value, which must be an object of ids: whole numbers of 0 or more that fit 31 bits."""
        ids_ = self.mapping()
        check_tokens(map(len, ids_), self)
        numbers: Any = ids_.values()
        whole = set(map(type, numbers)) <= {int}
        if whole and min(numbers, default=0) >= 0 and max(numbers, default=0) <= LARGEST_ID:
            return cast("dict[str, int]", ids_)
        name, number = next((name, number) for name, number in ids_.items()
                            if type(number) is not int or not 0 <= number <= LARGEST_ID)
        raise self.error(f"the id of {name[:40]!r} is {number!r:.20}",
                         f"ids are whole numbers from 0 to {LARGEST_ID:,}")


def check_tokens(lengths: Iterable[int], place: Node) -> None:
    """Check the number and the lengths of tokens.

    Raises:
        TokentuiError: They exceed a limit.
    """
    listed = list(lengths)
    check_number(len(listed), place)
    if sum(map(mul, listed, listed)) > MOST_WORK:
        raise place.error("the tokens are longer than in any real tokenizer")


def check_number(tokens: int, place: Node) -> None:
    """Check the number of tokens.

    Raises:
        TokentuiError: It exceeds the limit.
    """
    if tokens > (most := limits.now().vocabulary):
        raise place.error(f"{tokens:,} tokens; the limit is {most:,}", limits.reading("vocabulary"))


def check_depth(value: object, place: Node) -> None:
    """Check how deeply lists and objects are nested.

    Raises:
        TokentuiError: They exceed the limit.
    """
    level = [value]
    for _ in range(limits.now().json_depth):
        if not (level := list(inner_of(level))):
            return
    raise place.error("not a tokenizer: the JSON is nested too deeply")


def inner_of(values: Iterable[object]) -> Iterator[object]:
    """Yield the lists and objects directly inside lists and objects."""
    for value in values:
        inner = value.values() if type(value) is dict else value if type(value) is list else ()
        yield from (nested for nested in inner if type(nested) is dict or type(nested) is list)


@contextlib.contextmanager
def mending(hint: str) -> Iterator[None]:
    """Replace the hint of errors for a JSON document inside, for a file that may not be a tokenizer."""
    try:
        yield
    except TokentuiError as error:
        what = error.what.removeprefix("not a tokenizer: ")
        if what == error.what and error.hint != MEND:
            raise
        raise TokentuiError(what, error.where, hint if error.hint == MEND else error.hint) from None


def parse(text: str, where: str, tables: Mapping[str, object] = {}) -> Node:
    """Parse JSON. NaN and duplicate keys are errors.

    Args:
        text: The text.
        where: The name of the file.
        tables: Values to be put in place of the constants `NaN` and `Infinity`, each once.

    Raises:
        TokentuiError: It is not JSON. The message has the line and column.
    """
    place, left = Node(None, where), dict(tables)

    def constant(name: str) -> object:
        if name not in left:
            raise place.error(f"{name} is not a JSON number")
        return left.pop(name)

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        by_key = dict(pairs)
        if len(by_key) < len(pairs):
            times = Counter(name for name, _ in pairs)
            twice = next(name for name in times if times[name] > 1)
            raise place.error(f"an object has the key {twice[:40]!r} twice")
        return by_key

    try:
        return Node(json.loads(text, parse_constant=constant, object_pairs_hook=unique), where)
    except json.JSONDecodeError as error:
        message = error.msg[:1].lower() + error.msg[1:]
        raise place.error(f"not valid JSON: {message} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise place.error("not a tokenizer: the JSON is nested too deeply") from None
    except ValueError:  # an integer of more digits than Python reads
        raise place.error("a number is too large") from None


# --- long tables of tokens and merges ---


LONG = 1 << 20
"""Files of at least this many bytes are read with their tokens and merges apart: by kernels, or with the
merges in blocks, which otherwise need most of the memory."""
BLOCK = 1 << 18
"""Approximate bytes of a block."""
_TOKENS, _MERGES = re.compile(rb'"vocab"\s*:\s*\{'), re.compile(rb'"merges"\s*:\s*\[')
_BETWEEN = re.compile(rb'"\s*\]\s*,\s*(?=\[\s*")')
_END = re.compile(rb'\]\s*\](?=\s*(?:\}|,\s*"))')
_LAST, _TAIL = re.compile(rb'\]\s*\](?=\s*\}\s*\}\s*\Z)'), 1 << 12
"""The end of the list where it is the last of the last object, and the bytes where that is looked for: a
search for `_END` reads every row."""
_TRIES = 9


def _by_kernels(data: bytes, where: str) -> Node | None:
    """Parse a JSON text with the tokens and merges of a model, which kernels read. None if the text has
    another structure or any error; then the caller parses the whole text. Kernels must be available."""
    begin = _begin_of(_TOKENS, b'"vocab"', data)
    if begin is None or (names := read_names(data, begin.end())) is None:
        return None
    tables: list[tuple[int, int, object]] = [(begin.end() - 1, names.end, names.ids)]
    begin = _begin_of(_MERGES, b'"merges"', data)
    if begin is not None:
        pairs = Pairs(names.ids)
        if (end := pairs.read(data, begin.end(), names.table)) is None:
            return None
        tables.append((begin.end() - 1, end, pairs))
    check()
    with contextlib.suppress(TokentuiError, UnicodeDecodeError):
        root = _around(data, where, tables)
        model = root["model"]
        prefix = model["continuing_subword_prefix"].value
        if model["vocab"].value is names.ids and (begin is None or model["merges"].value is pairs):
            return root if not prefix or begin is None else None
    return None


def _around(data: bytes, where: str, tables: list[tuple[int, int, object]]) -> Node:
    """Parse a JSON text in which one or two ranges have known values.

    Args:
        data: The text.
        where: The name of the file.
        tables: Start, end and value of each range.

    Raises:
        TokentuiError: What is left is no JSON.
        UnicodeDecodeError: It is not UTF-8.
    """
    parts, at, marks = [], 0, dict[str, object]()
    for mark, (start, end, value) in zip(("NaN", "Infinity"), sorted(tables), strict=False):
        parts += [data[at:start], mark.encode()]
        marks[mark], at = value, end
    return parse(b"".join([*parts, data[at:]]).decode("utf-8-sig"), where, marks)


def _with_pairs(data: bytes, where: str) -> Node | None:
    """Parse a JSON text with a large list of merges, which becomes `Pairs`. None if the text has another
    structure or any error; then the caller parses the whole text."""
    begin = _begin_of(_MERGES, b'"merges"', data)
    if begin is None:
        return None
    last = _LAST.search(data, max(begin.end(), len(data) - _TAIL))
    with contextlib.suppress(ValueError, RecursionError):
        ends = _END.finditer(data, begin.end()) if last is None else itertools.chain(
            (last,), _END.finditer(data, begin.end())
        )
        for bracket in itertools.islice(ends, _TRIES):
            # It is the end of the list, or a text that looks like one: then the rest is not JSON.
            mark = object()
            with contextlib.suppress(TokentuiError):
                root = _around(data, where, [(begin.end() - 1, bracket.end(), mark)])
                model = root.mapping().get("model")
                if not isinstance(model, dict) or model.get("merges") is not mark:
                    return None
                model["merges"] = pairs = _pairs(data, begin.end(), bracket.end(), model)
                return None if pairs is None else root
    return None


def _begin_of(pattern: re.Pattern[bytes], key: bytes, data: bytes) -> re.Match[bytes] | None:
    """Return the first beginning of the value of a key."""
    at = -1
    while (at := data.find(key, at + 1)) >= 0:  # a search for the pattern takes ten times as long
        if begin := pattern.match(data, at):
            return begin
    return None


def _pairs(data: bytes, at: int, end: int, model: Mapping[str, object]) -> Pairs | None:
    """Parse a JSON list of pairs block by block, as numbers in the model's vocabulary. None if a row is not a
    pair of its tokens.

    Args:
        data: The JSON text.
        at: The offset after the opening bracket of the list.
        end: The offset after its closing bracket.
        model: The model.

    Raises:
        ValueError: It is not a list.
    """
    vocabulary, prefix = model.get("vocab"), model.get("continuing_subword_prefix")
    named = vocabulary if isinstance(vocabulary, dict) else {}
    cut_ = len(prefix) if isinstance(prefix, str) else 0
    pairs = Pairs(named, cut_)
    while at < end:
        rows = None
        cut = _BETWEEN.search(data, at + BLOCK, end)
        for _ in range(_TRIES):  # it is a place between two rows, or a text that looks like one
            if cut is None or rows is not None:
                break
            with contextlib.suppress(ValueError):
                rows, at = json.loads(f"[{data[at : cut.start() + 1].decode()}]]"), cut.end()
            cut = _BETWEEN.search(data, cut.end(), end)
        if rows is None:
            rows, at = json.loads(f"[{data[at:end].decode()}"), end
        if not pairs.add(rows):
            return None
    return pairs


# --- files ---


class NeedsSplit(TokentuiError):
    """The file has no pattern, and the user named no split."""


class RecipeFacts(NamedTuple):
    """The recipe and the specials that the project's own file records for a tokenizer of another tool."""

    recipe: Recipe
    specials: Mapping[str, int]


@dataclass(frozen=True)
class Source:
    """A file to read.

    Attributes:
        where: Its name in errors: its path.
        data: Its bytes, unpacked.
        split: The split that the user named for a file without one; empty for none.
        others: The files that belong to it; None to search in its folder.
        known: The recipe and the specials from the project's own file; None for other files.
        encoding: The name of the encoding, if the user gave that instead of a path (`published.OPENAI`); else
            empty.
        of_class: What the tokenizer class of a folder does with the file; None for no class.
    """

    where: str
    data: bytes
    split: str = ""
    others: tuple[Source, ...] | None = None
    known: RecipeFacts | None = None
    encoding: str = ""
    of_class: OfClass | None = None

    def error(self, what: str, hint: str = MEND) -> TokentuiError:
        """Return, without raising it, an error about the whole file."""
        return TokentuiError(what, self.where, hint)

    def line(self, number: int) -> Node:
        """Return the place of a line, given from 0 and shown from 1."""
        return Node(None, f"line {number + 1}", Node(None, self.where))

    def keeps_split(self, split: str) -> None:
        """Raise if the user named another split than that of the file.

        Raises:
            TokentuiError: The splits differ.
        """
        if self.split and self.split != split:
            raise self.error(f"the split cannot be changed to {self.split}",
                             f"the file stores its split: {split}")

    @functools.cached_property
    def text(self) -> str | None:
        """The file as text without a byte order mark; None if the file is not UTF-8."""
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None

    @functools.cached_property
    def lines(self) -> list[str]:
        """The lines of the text, without line ends and without the empty line at the end."""
        lines = (self.text or "").replace("\r\n", "\n").split("\n")
        return lines[:-1] if lines and not lines[-1] else lines

    @property
    def is_object(self) -> bool:
        """True if the file looks like a JSON object."""
        return self.data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")

    @functools.cached_property
    def root(self) -> Node:
        """The JSON object of the file; an empty one if the file is not JSON.

        Raises:
            TokentuiError: It looks like a JSON object but is damaged.
        """
        if not self.is_object:
            return Node({}, self.where)
        root = None
        if len(self.data) >= LONG:
            if engines.available():
                with engines.rescued():
                    root = _by_kernels(self.data, self.where)
            root = root or _with_pairs(self.data, self.where)
        if root is None:
            try:
                text = self.data.decode("utf-8-sig")
            except UnicodeDecodeError as error:
                raise self.error(f"not UTF-8 at byte {error.start}") from None
            root = parse(text, self.where)
        check()
        document = root.mapping()
        model = document.get("model")
        # Rows of a vocabulary and of merges are checked one by one when they are read.
        if isinstance(model, dict):
            model = {name: value for name, value in model.items() if name not in ("vocab", "merges")}
        check_depth({**document, "model": model}, root)
        return root

    @property
    def document(self) -> dict[str, object]:
        """The keys and values of `root`."""
        return self.root.mapping()

    def neighbors(self, first: tuple[str, ...], suffixes: tuple[str, ...]) -> Iterator[Source]:
        """Yield other files of the folder, those with well-known names first. Folders, pipes and unreadable
        files are skipped.

        Args:
            first: The well-known names.
            suffixes: The suffixes of other names to try.
        """
        if self.others is not None:
            yield from (replace(other, split=self.split) for other in self.others)
            return
        folder, own = os.path.split(self.where)
        try:
            names = sorted(entry.name for entry in os.scandir(folder or "."))[:_MOST_NEIGHBORS]
        except (OSError, ValueError):
            return
        names = [name for name in names if name != own and (name in first or name.endswith(suffixes))]
        names.sort(key=lambda name: (first.index(name) if name in first else len(first), name))
        for name in names:
            path = os.path.join(folder, name)
            try:
                near = read_source(path, self.split)
            except TokentuiError:
                continue
            yield near


def source_of(
    names: tuple[str, ...], files: tuple[bytes, ...], split: str = "", known: RecipeFacts | None = None
) -> Source:
    """Return files in memory as one source: the first, with the others in `others`.

    `known` is of the first.
    """
    first, *others = (Source(name, data, split, ()) for name, data in zip(names, files, strict=True))
    return replace(first, others=tuple(others), known=known)


def read_source(where: str, split: str = "") -> Source:
    """Read a file without interpreting it: a path, a URL, or the name of an encoding of OpenAI. Of a GGUF
    file on the disk only the header is read.

    Args:
        where: The path, URL or name.
        split: The split to put into the source, for a file without one.

    Raises:
        TokentuiError: It cannot be read, is larger than the limit, or is not the file of that encoding.
    """
    if (path := published.located(where)) != where:
        source = replace(read_source(path, split), encoding=where)
        if published.openai_of(source.data, where) is None:
            hint = f"remove it, and download {published.OPENAI[where].url}"
            raise source.error(f"not the file of {where}: its SHA-256 is another one", hint)
        return source
    if remote.is_url(where):
        return Source(remote.shown(where), _from_url(where), split, ())  # without its folder
    with read_errors(where):
        refuse_irregular(status_of(where).st_mode, where, "tokenizer file")
    if is_gguf(where):
        return Source(where, _gguf_header(where), split)
    with silent():
        contents = read_path(where, Meter(limit="file-bytes"))
    return Source(where, bytes(contents.data), split)


def is_gguf(where: str) -> bool:
    """Return whether a path or URL names a GGUF file. Only its header is read, so it may be large.

    The first bytes identify a regular file, the suffix identifies a URL. Other kinds of files are not GGUF.
    """
    if remote.is_url(where):
        return remote.base_name(where).lower().endswith(".gguf")
    with read_errors(where):
        regular = stat.S_ISREG(status_of(where).st_mode)
    return regular and read_regular(where, most=len(gguf.MAGIC)) == gguf.MAGIC


def _gguf_header(path: str) -> bytes:
    """Return the header of a GGUF file, without the tensors.

    Raises:
        TokentuiError: It cannot be read, or is damaged.
    """
    with open_regular(path, "tokenizer file") as file:
        return gguf.read_header(file.read, path)


def _from_url(url: str) -> bytes:
    """Return the bytes of a URL, up to the limit for tokenizer files; for GGUF only the header.

    Raises:
        TokentuiError: The URL is a folder, or the file is larger than the limit.
    """
    listing, folder = remote.list_files(url)
    if folder or len(listing) != 1:
        raise TokentuiError("is a folder, not a tokenizer file", remote.shown(url), "name the file in it")
    if is_gguf(url):
        with remote.readable_errors(url), remote.open_stream(url) as stream:
            return gguf.read_header(stream.read, remote.shown(url))
    meter = Meter(limit="file-bytes")
    meter.check(listing[0].size or 0, remote.shown(url))
    with silent(), remote.readable_errors(url), remote.open_stream(url) as stream:
        return bytes(read_stream(stream, remote.shown(url), meter, size=listing[0].size).data)
