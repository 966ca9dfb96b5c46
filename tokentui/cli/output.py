"""Output of commands: results on standard output, everything else on standard error. Text from data cannot
control the terminal."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

import click

from tokentui.analyze.report import (
    JSON_VERSION,
    AlignedRow,
    Bar,
    Cell,
    Json,
    Report,
    Section,
    Span,
    Tokens,
    as_json,
    parts_of,
)
from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import current_phase, job
from tokentui.core.runtime import interrupts_cancel
from tokentui.core.safetext import SURROGATE, is_safe, safe, safe_line, stand_in, visible
from tokentui.core.table import TextTable

if TYPE_CHECKING:
    from tokentui.cli.chips import Marks
    from tokentui.core.chart import Picture

DELAY_S = 1.0
"""Seconds of work before the progress bar appears."""
_INTERVAL_S = 0.1
_NARROWEST = 40
"""Columns of the terminal below which no progress bar is drawn: its line would wrap."""
_LABEL, _WIDE = 12, 93
_PICTURE_WIDTH = 120
"""The maximum width of a picture in columns."""


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is there and is a terminal."""
    return stream is not None and not stream.closed and stream.isatty()


def takes_utf8(stream: TextIO | None) -> bool:
    """Return whether the encoding of a stream is UTF-8."""
    return (getattr(stream, "encoding", None) or "ascii").lower().replace("-", "") == "utf8"


def is_ascii_only() -> bool:
    """Return whether standard output is a terminal without UTF-8."""
    return is_terminal(sys.stdout) and not takes_utf8(sys.stdout)


def write(data: bytes) -> None:
    """Write to standard output and flush. On a terminal, control sequences are made visible."""
    if is_terminal(sys.stdout):
        data = _guarded(data.decode("utf-8", "surrogateescape"), sys.stdout).encode("utf-8", "replace")
    _send(data)


def _send(data: bytes) -> None:
    stream = bytes_of(sys.stdout, "standard output")
    stream.write(data)
    stream.flush()


def bytes_of(stream: TextIO | None, name: str) -> BinaryIO:
    """Return a standard stream for bytes.

    Raises:
        TokentuiError: The program was started without this stream.
    """
    if stream is None:
        raise TokentuiError("there is none", name, "open it, or name a file")
    return stream.buffer


def _guarded(text: str, stream: TextIO) -> str:
    """Replace every character that a terminal could interpret. This is the second check: callers have made
    text safe before."""
    if all(map(is_safe, text.split("\n"))):
        return text
    unknown = "" if takes_utf8(stream) else "?"
    return "".join(char if char == "\n" or is_safe(char) else unknown or stand_in(char) for char in text)


def write_file(data: bytes) -> None:
    """Write the bytes of a file unchanged; to a terminal, as text in which every byte is visible."""
    if is_terminal(sys.stdout):
        write_text(data.decode("utf-8", "surrogateescape").removesuffix("\n"))
    else:
        write(data)


def write_text(text: str, marks: Marks | None = None) -> None:
    """Write a text and a newline as UTF-8. On a terminal, control sequences are made visible.

    Args:
        text: The text. If tokens in it are marked, it must be safe: joined emoji stay whole.
        marks: How tokens in it are marked; None if they are not.
    """
    if marks is not None:
        lines = [marks.painted(line, _guarded_part) for line in text.split("\n")]
        _send("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
        return
    if is_terminal(sys.stdout):
        text = "\n".join(safe(line, ascii_only=is_ascii_only()) for line in text.split("\n"))
    write(text.encode("utf-8", "surrogateescape") + b"\n")


def _guarded_part(text: str) -> str:
    return _guarded(safe(text, ascii_only=True) if is_ascii_only() else text, sys.stdout)


def write_report(in_json: bool, report: Report, marks: Marks | None = None) -> None:
    """Write a report to standard output: its value as a row of JSON if `in_json`, else its sections as
    text."""
    if in_json:
        write_json({name: as_json(value) for name, value in report.value.items()})
    else:
        write_sections(report.sections, marks)


def write_sections(sections: Iterable[Section], marks: Marks | None = None) -> None:
    """Write sections as text. A blank line is above and below a table with titles."""
    out: list[str] = []
    blank = False
    for section in sections:
        lines = _section_table(section, marks).lines()
        if section.picture is not None:
            title = bool(section.name or section.summary)
            lines[title:title] = _picture_lines(section.picture, section.lines)
        if lines:
            out += [""] if out and (blank or section.titled or section.apart) else []
            out += lines
            blank = section.titled
    write_text("\n".join(out), marks)


def _picture_lines(picture: Picture, most: int) -> list[str]:
    """Return a picture as text, in at most `most` lines."""
    from tokentui.core.chart import Chart
    from tokentui.core.chart_drawing import View, draw  # few reports have a picture

    lines = draw(
        picture, _picture_width(), most, View(cursor=isinstance(picture, Chart)), ascii_only=is_ascii_only()
    )
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def _picture_width() -> int:
    """Return the width of a picture in columns: that of the terminal, within limits; 80 if standard output is
    not a terminal."""
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns if is_terminal(sys.stdout) else 80
    except (OSError, ValueError):
        columns = 80
    return max(_NARROWEST, min(columns, _PICTURE_WIDTH))


def _section_table(section: Section, marks: Marks | None) -> TextTable:
    """Return the text table of a section: drawing, rows with details, and how many rows are left out.

    If any row is marked, a star stands before the marked ones. A cell is cut at the `most` of its column.
    """
    def text(cell: Cell) -> str:
        return cell_text(cell, marks)

    most = {n: column.most for n, column in enumerate(section.columns) if column.most}
    stars = any(row.marked for row in section.rows)
    rows: list[tuple[str, ...]] = []
    if section.drawing is not None:
        lines = section.drawing.lines(_picture_width() - section.indent, is_ascii_only())
        rows += [(cell_text(line, marks),) for line in lines]
    for row in section.rows if section.few is None else section.rows[: section.few]:
        cells = tuple(cell_text(cell, marks, most.get(n)) for n, cell in enumerate(row.cells))
        if stars and cells:
            cells = (("* " if row.marked else "  ") + cells[0], *cells[1:])
        rows.append(cells)
        details = TextTable([tuple(map(text, detail.cells)) for detail in row.details[: row.few]], indent=4)
        rows += [(line,) for line in details.lines()]
        if row.few and len(row.details) > row.few:
            rows.append((f"    … and {len(row.details) - row.few:,} {section.unit}",))
    shown = len(section.rows) if section.few is None else min(section.few, len(section.rows))
    left = (len(section.rows) if section.total is None else section.total) - shown
    title = f"{section.name:<{_LABEL}} {text(section.summary)}".rstrip()
    if section.wrap:
        import textwrap  # few sections need it

        title = textwrap.fill(title, _WIDE, subsequent_indent=" " * (_LABEL + 1), break_on_hyphens=False)
    return TextTable(
        rows,
        title=title,
        head=[column.title for column in section.columns] if section.titled else (),
        right=[n for n, column in enumerate(section.columns) if column.align == "right"],
        indent=section.indent, total=len(rows) + left, more=section.unit,
        notes=[f"  {text(note)}" for note in section.notes],
    )


def cell_text(cell: Cell, marks: Marks | None = None, most: int | None = None) -> str:
    """Return a cell of a report as safe text; every character of data can be seen.

    Args:
        cell: The cell.
        marks: How the tokens of a text are marked; None if they are not.
        most: The maximum width in columns; None for no limit.
    """
    ascii_only = is_ascii_only()
    texts: list[str] = []
    for part in parts_of(cell):
        if isinstance(part, Tokens):
            pieces = list(map(shown, part.pieces)) or ["nothing"]
            texts.append(marks.joined(pieces, part.starts, most) if marks and part.pieces
                         else safe_line(part.between, ascii_only=ascii_only).join(pieces))
            continue
        if isinstance(part, AlignedRow):
            texts.append(part.text if marks is None else "\n   ".join(marks.aligned(part)))
            continue
        text = part.text if isinstance(part, Span) else "" if isinstance(part, Bar) else part
        texts.append(shown(text) if isinstance(text, bytes) else safe_line(text, ascii_only=ascii_only))
    line = "".join(texts)
    if most is None or len(line) <= most or (marks is not None and isinstance(cell, Tokens)):
        return line
    return f"{line[: most - 1]}…"


def json_row(value: Mapping[str, object]) -> str:
    """Return an object of JSON with the version of its schema in `schema`, on one line without its end.

    Bytes that are no text become U+FFFD, so that rows are valid UTF-8 everywhere.
    """
    row = {**value, "schema": JSON_VERSION}
    return SURROGATE.sub("\ufffd", json.dumps(row, ensure_ascii=False, allow_nan=False))


def write_json(value: Mapping[str, object]) -> None:
    """Write a row of JSON."""
    write_document(json_row(value) + "\n")


def write_document(text: str) -> None:
    """Write lines of JSON. On a terminal, unsafe characters are written as JSON escapes."""
    if is_terminal(sys.stdout):
        ascii_only = is_ascii_only()
        escaped = {
            ord(char): json.dumps(char)[1:-1] for char in set(text)
            if char != "\n" and not (is_safe(char) and (char.isascii() or not ascii_only))
        }
        text = text.translate(escaped)
    write(text.encode())


def shown(data: bytes | str) -> str:
    """Return a token or pre-token as safe text in which every character is visible."""
    return "".join(span.text for span in visible(data, ascii_only=is_ascii_only()))


def merged(parts: Sequence[bytes], token: bytes | None = None) -> str:
    """Return the parts of a merge, and the token that it makes, as safe text."""
    result = "" if token is None else f" = {shown(token)}"
    return " + ".join(map(shown, parts)) + result


def complain(line: str) -> None:
    """Print a line on standard error, after the name of the program. If nothing reads standard error any
    more, it is redirected to the null device, and the work goes on."""
    if sys.stderr is None or sys.stderr.closed:
        return
    text = safe_line(line, ascii_only=not takes_utf8(sys.stderr))
    try:
        sys.stderr.write(f"tokentui: {_guarded(text, sys.stderr)}\n")
        sys.stderr.flush()
    except OSError:  # there is no reader: the work goes on, and the interpreter ends quietly
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def check_apart(taken: Iterable[str], others: Mapping[str, str | None]) -> None:
    """Check before the work starts that no output replaces another one. The same device may be named several
    times.

    Args:
        taken: The paths of the first output.
        others: The paths of the other outputs, each by its option; None for one that is not written.

    Raises:
        TokentuiError: Two paths name the same file.
    """
    known = {os.path.realpath(path) for path in taken}
    for option, path in others.items():
        if path is not None:
            if os.path.realpath(path) in known and (os.path.isfile(path) or not os.path.exists(path)):
                raise TokentuiError("two outputs cannot be the same file", f"{option} {path}", "name another")
            known.add(os.path.realpath(path))


def check_target(path: str) -> None:
    """Check before the work starts that a file can be written. Prints a notice if it is a named pipe.

    Raises:
        TokentuiError: The path is empty or a folder, its folder does not exist, or there is no permission.
    """
    if not path:
        raise TokentuiError("no file can have this name", "''", "name one")
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise TokentuiError("cannot be written: it is a folder", path, "name a file in it")
    if not os.path.isdir(folder):
        raise TokentuiError("cannot be written: no such folder", path, "make it first")
    if not os.access(path if os.path.exists(path) and not os.path.isfile(path) else folder, os.W_OK):
        raise TokentuiError("cannot be written: no permission", path, "name another place")
    if os.path.exists(os.path.realpath(path)) and stat.S_ISFIFO(os.stat(path).st_mode):
        complain(f"{path}: is a named pipe; writing waits until a program reads it")


class ProgressBar:
    """click's progress bar on standard error, with the time left. It stays hidden if standard error is not a
    terminal.

    Args:
        quiet: Never show the bar.
        clock: Returns the time in seconds.
    """

    def __init__(self, quiet: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._enabled = not quiet and is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"
        self._clock = clock
        self._next_draw = clock() + DELAY_S
        self._label = ""
        self._bar: Any = None
        self._drawn = False

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Show the progress of the work inside. The label is `name`, unless the work names its own phase."""
        return job(lambda done, total: self.update(current_phase() or name, done, total))

    def update(self, label: str, done: int, total: int) -> None:
        """Draw the bar, at most every 0.1 seconds.

        Args:
            label: The phase of the work.
            done: Units of work done. A smaller number than before starts a new bar.
            total: Units of work in all; 0 if unknown.
        """
        if not self._enabled:
            return
        if self._bar is None or label != self._label or done < self._bar.pos or self._bar.finished:
            # Made when the phase begins, since click takes this time as the start of the work.
            self.close()
            self._label = label
            self._bar = click.progressbar(
                length=total, label=safe_line(label), width=0, show_pos=not total, file=sys.stderr,
            )
        if (now := self._clock()) < self._next_draw:
            return
        self._next_draw = now + _INTERVAL_S
        import shutil  # it imports all compressors, and only long work draws a bar

        if shutil.get_terminal_size().columns < _NARROWEST:
            return
        self._bar.length = total or None
        self._bar.update(done - self._bar.pos)
        self._drawn = True

    def close(self) -> None:
        """Clear the line of the bar, and show the cursor, which click hides. click itself would leave the
        last bar on the screen."""
        if self._drawn:
            sys.stderr.write("\r\x1b[K\x1b[?25h")
            sys.stderr.flush()
            self._drawn = False


@contextmanager
def working(quiet: bool = False) -> Iterator[ProgressBar]:
    """Show the progress of the work inside, and cancel it at ctrl+c.

    A second ctrl+c raises `KeyboardInterrupt`. If the process was started with SIGINT ignored, SIGINT stays
    ignored.
    """
    bar = ProgressBar(quiet)
    try:
        with interrupts_cancel():
            yield bar
    finally:
        bar.close()


# ---- lines of JSON


def answer_lines(field: str, kind: type, example: str, answer: Callable[[Any], Json]) -> int:
    """Answer each line of standard input, a JSON object, with a line of JSON. Blank lines are skipped.

    A line that cannot be processed is answered with `{"text": ..., "error": ...}`. `text` is null if the line
    has none.

    Args:
        field: The field of the line to pass to `answer`.
        kind: The type of its value.
        example: An example of a line, for errors.
        answer: Returns the row for a value. May raise `TokentuiError`.

    Returns:
        The exit code: 1 if a line could not be answered.
    """
    code = 0
    for where, line in input_lines():
        value: object = None
        try:
            value = _value(line, field, kind, where, f"a line is {example}")
            reply = answer(value)
        except TokentuiError as error:
            reply, code = {"text": value if kind is str else None, "error": str(error)}, 1
        write_json(reply)
    return code


def input_lines() -> Iterator[tuple[str, bytes]]:
    """Yield each line of standard input that is not blank, with its number in words for errors.

    Raises:
        TokentuiError: A line is longer than the limit `line-bytes`.
    """
    most, stream = limits.now().line_bytes, bytes_of(sys.stdin, "standard input")
    for number, line in enumerate(iter(lambda: stream.readline(most + 1), b""), 1):
        if len(line) > most:  # the place where the next one begins is not known
            raise TokentuiError(f"more than {most:,} bytes", f"line {number}", limits.reading("line-bytes"))
        line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line  # a byte order mark
        if line.strip():
            yield f"line {number}", line


def read_ids(where: str, line: bytes) -> list[Any]:
    """Return the ids of a line of JSON: a list, or an object with a list as `ids`.

    Raises:
        TokentuiError: The line is neither.
    """
    hint = 'a line is [...] or {"ids": [...]}'
    row = _json(line, where, hint)
    ids = row.get("ids") if isinstance(row, dict) else row
    if not isinstance(ids, list):
        raise TokentuiError('no list, and no object with a list as "ids"', where, hint)
    return ids


def _value(line: bytes, field: str, kind: type, where: str, hint: str) -> object:
    """Return a field of a JSON line.

    Raises:
        TokentuiError: The line is not an object of JSON, or the field is missing or of another type.
    """
    row = _json(line, where, hint)
    if not isinstance(row, dict) or not isinstance(row.get(field), kind):
        what = "a text" if kind is str else "a list"
        raise TokentuiError(f'no object with {what} as "{field}"', where, hint)
    return row[field]


def _json(line: bytes, where: str, hint: str) -> object:
    """Parse a line of JSON.

    Raises:
        TokentuiError: It is not JSON in UTF-8, nested too deeply, or has too large a number; the error has
            `where` and `hint`.
    """
    try:
        row: object = json.loads(line.decode().rstrip())
    except json.JSONDecodeError as error:
        raise TokentuiError(f"not JSON: {error.msg}, column {error.colno}", where, hint) from None
    except UnicodeDecodeError as error:
        raise TokentuiError(f"not UTF-8 at byte {error.start}", where, hint) from None
    except RecursionError:
        raise TokentuiError("nested too deeply", where, hint) from None
    except ValueError:  # a whole number of more digits than Python reads
        raise TokentuiError("a number is too large", where, hint) from None
    return row
