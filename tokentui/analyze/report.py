"""Reports: the result of an analysis, as rows for people and as a value for programs.

An analysis builds one `Report`. `tokentui.cli.output.write_report` prints it as text or as JSON, and
`tokentui.ui.dialogs.report_screen.ReportScreen` shows it in the explorer. No printer knows the analysis.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

from tokentui.core.records import dataclass
from tokentui.core.safetext import to_bytes

if TYPE_CHECKING:
    from tokentui.analyze.align import Alignment
    from tokentui.core.chart import Picture

Json: TypeAlias = dict[str, object]
"""An object of JSON."""
JSON_VERSION = 1
"""The version of all JSON that the commands print. It grows when a field changes its name or meaning, not
when one is added."""
ENCODED = ("ids", "tokens", "hex", "offsets")
"""The fields of an encoding in JSON."""
_PIECES = ("parents", "into")
"""Fields that hold several tokens."""


@dataclass(frozen=True, slots=True)
class Span:
    """A text in one role.

    Attributes:
        text: Words, as `str`; or data such as a token, as `bytes`, of which every character is made visible.
        role: The name of a style of the screen, such as `muted` or `warning`, or several joined by `+`. The
            terminal prints all alike.
    """

    text: str | bytes
    role: str = ""


class Bar(NamedTuple):
    """A bar, which the terminal leaves out.

    Attributes:
        share: Its length as a share of the longest bar, 0 to 1.
    """

    share: float


class Tokens(NamedTuple):
    """The tokens that a text is cut into, in order. Where they are marked, each is on its tint.

    Attributes:
        pieces: The tokens, each as bytes.
        starts: The offset in the text at which each starts, see `core.tints`.
        between: The text between two tokens where tokens are not marked.
        role: The role of all of them.
    """

    pieces: tuple[bytes, ...]
    starts: tuple[int, ...]
    between: str = " "
    role: str = ""


class AlignedRow(NamedTuple):
    """A row of encodings of one text that are placed under each other, or what they have in common.

    Attributes:
        alignment: The encodings.
        row: The place of the row; None for the number of rows that have each boundary.
        sizes: The words in place of these numbers where tokens are marked.
    """

    alignment: Alignment
    row: int | None
    sizes: str = ""

    @property
    def text(self) -> str:
        """The row as text, with a line at each boundary."""
        return self.alignment.counts() if self.row is None else self.alignment.line(self.row)


Part: TypeAlias = "str | bytes | Span | Bar | Tokens | AlignedRow"
Cell: TypeAlias = "Part | tuple[Part, ...]"
"""A cell of a row: words, data, or several of both."""


class Target(NamedTuple):
    """The subject that a row leads to in the explorer: a token by its id, a step by its number, or a word.

    Attributes:
        kind: `token`, `step` or `word`.
        number: The id or the step; 0 for a word.
        side: The place of its tokenizer, where the report is about several.
        text: The word.
        piece: The exact bytes of a token whose id is not known.
    """

    kind: Literal["token", "step", "word"]
    number: int = 0
    side: int = 0
    text: str = ""
    piece: bytes = b""


@dataclass(frozen=True, slots=True)
class Row:
    """A row.

    Attributes:
        cells: Its cells. A row of a single cell spans all columns.
        target: The subject that it leads to.
        about: An explanation that the explorer shows while the cursor is on the row.
        details: Rows below it, which the explorer folds.
        few: The number of details that the terminal prints at most; all if None.
        marked: True for the one of the rows that was chosen.
    """

    cells: tuple[Cell, ...]
    target: Target | None = None
    about: Cell = ""
    details: tuple[Row, ...] = ()
    few: int | None = None
    marked: bool = False


class Column(NamedTuple):
    """A column of a section.

    Attributes:
        title: Its title; empty for none.
        align: The side to which its cells are set.
        priority: Columns of the lowest priority vanish first from a screen that is too narrow.
        flex: True to take the room that other columns leave.
        most: The maximum width of a cell in columns of the terminal; 0 for no limit. Longer text is cut.
    """

    title: str = ""
    align: Literal["left", "right"] = "left"
    priority: int = 0
    flex: bool = False
    most: int = 0


NUMBER = Column(align="right")


Line: TypeAlias = tuple[Span, ...]
"""A line of a drawing: texts in their roles."""


class Drawing(Protocol):
    """What gives lines for a width."""

    def lines(self, width: int, ascii_only: bool = False) -> Sequence[Line]:
        """Return the lines that fit a width in columns; none if it is too small."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report: a line, and rows below it.

    Attributes:
        name: Its name, a word or two; empty if it goes on with the section before it. The terminal indents
            rows only below a name or a summary.
        summary: The line after the name.
        rows: The rows.
        columns: The columns of the rows, as far as one is set to the right or has a title.
        few: The number of rows that the terminal prints at most; all if None.
        total: The number of rows that there are, if `rows` are only the first of them.
        unit: The rest of the line that counts the rows that are left out.
        folded: True if the explorer shows the rows only when they are asked for.
        notes: Lines below the rows.
        wrap: True if the terminal breaks a long summary.
        indent: The spaces before each row on the terminal.
        apart: True if a part of the report begins. The terminal has a blank line above it, and the explorer
            shows its name as a heading. A table with titles has a blank line above and below.
        picture: A picture of the section; None for none. The terminal prints it above the rows. The explorer
            shows it while the section is seen alone, and its rows when they are asked for: `rows`, or else
            the values of the picture. Programs get them by `value` of the report.
        lines: The maximum number of lines of the picture on the terminal.
        drawing: A drawing above the rows, see `analyze.drawings`. Where there is room for it, only `few` rows
            are below it, on the screen too.
        beside: True if the explorer begins the drawing or the rows beside the name, without a line above
            them. Without either, nothing of the section is seen.
    """

    name: str = ""
    summary: Cell = ""
    rows: tuple[Row, ...] = ()
    columns: tuple[Column, ...] = (NUMBER,)
    few: int | None = None
    total: int | None = None
    unit: str = "more (--json has them)"
    folded: bool = False
    notes: tuple[Cell, ...] = ()
    wrap: bool = False
    indent: int = 2
    apart: bool = False
    picture: Picture | None = None
    lines: int = 18
    drawing: Drawing | None = None
    beside: bool = False

    @property
    def titled(self) -> bool:
        """True if a line of titles is above the rows."""
        return any(column.title for column in self.columns)


@dataclass(frozen=True, slots=True)
class Report:
    """The result of an analysis.

    Attributes:
        title: The subject, a few words.
        sections: The parts, in order.
        value: What JSON is made of, by the names of its fields, see `as_json`.
        summary: The result in a line, for the explorer.
    """

    title: str
    sections: tuple[Section, ...]
    value: Mapping[str, object]
    summary: Cell = ""


def muted(text: str | bytes) -> Span:
    """Return a text of less weight."""
    return Span(text, "muted")


def strong(text: str | bytes) -> Span:
    """Return a text of more weight."""
    return Span(text, "strong")


def warning(text: str | bytes) -> Span:
    """Return a text that warns."""
    return Span(text, "warning")


def data(text: str, role: str = "") -> Span:
    """Return a text of a corpus or a file, of which every character is made visible."""
    return Span(to_bytes(text), role)


def pieces(tokens: Iterable[bytes], between: str = " ", role: str = "") -> tuple[Span | str, ...]:
    """Return tokens as the parts of a cell, with muted text between them. No tokens give the word `nothing`.
    """
    parts: list[Span] = []
    for token in tokens:
        parts += [muted(between)] if parts else []
        parts.append(Span(token, role))
    return tuple(parts) or ("nothing",)


def segmented(
    tokens: Iterable[bytes], start: int = 0, *, prefix: bytes = b"", between: str = " ", role: str = ""
) -> Tokens:
    """Return the tokens that a text is cut into. The places where they start follow from their lengths.

    Args:
        tokens: The tokens, each as bytes.
        start: The character of the text at which the first one starts.
        prefix: The mark of tokens that continue a word. It is no character of the text.
        between: The text between two tokens where tokens are not marked.
        role: The role of all of them.
    """
    listed, starts = tuple(tokens), []
    for token in listed:
        bare = token.removeprefix(prefix)
        starts.append(start - _continues(bare[:1]))
        start += len(bare) - _continues(bare)
    return Tokens(listed, tuple(starts), between, role)


def _continues(data: bytes) -> int:
    """Count the bytes that continue a character of UTF-8."""
    return sum(byte & 0xC0 == 0x80 for byte in data)


def merged(parts: Iterable[bytes], token: bytes | None = None) -> tuple[Part, ...]:
    """Return the parts of a merge as a cell, joined by +, and after = the token that it makes if given."""
    result = () if token is None else (muted(" = "), token)
    return (*pieces(parts, " + "), *result)


def parts_of(cell: Cell) -> tuple[Part, ...]:
    """Return the parts of a cell."""
    return cell if isinstance(cell, tuple) and not isinstance(cell, Bar | Tokens | AlignedRow) else (cell,)


def spans(cell: Cell) -> tuple[Span | Bar, ...]:
    """Return a cell as spans and bars, without empty texts. `Tokens` without pieces read "nothing".

    To the role of each of `Tokens` is added that of its tint, `tint-0` to `tint-3`.
    """
    found: list[Span | Bar] = []
    for part in parts_of(cell):
        if isinstance(part, Tokens) and part.pieces:
            found += _tinted(part)
        elif isinstance(part, Tokens):
            found.append(Span("nothing"))
        elif isinstance(part, AlignedRow):
            found.append(Span(part.text))
        elif part != "":
            found.append(part if isinstance(part, Span | Bar) else Span(part))
    return tuple(found)


def _tinted(tokens: Tokens) -> Iterator[Span]:
    """Yield the pieces with a tint per token and the text between them."""
    from tokentui.core.tints import tints  # nothing that is piped needs it

    for n, (piece, tint) in enumerate(zip(tokens.pieces, tints(tokens.starts), strict=True)):
        if n:
            yield muted(tokens.between)
        yield Span(piece, "+".join(filter(None, (tokens.role, f"tint-{tint}"))))


# ---- JSON


def ids_line(ids: Iterable[int | None]) -> str:
    """Return ids on a line; a token without an id is `null`."""
    from tokentui.encode.vocabulary import NO_ID  # most reports have no ids

    return " ".join("null" if number in (None, NO_ID) else str(number) for number in ids)


def as_row(value: object, *names: str) -> Json:
    """Return a value as a JSON object: all fields in order, or only the named ones.

    Bytes are in hex, their exact form. A token in the field `piece` becomes `text`, for people, and `hex`;
    one in `parents` or `into` an object of these two. Several `pieces` become `hex` alone.
    """
    row: Json = {}
    for name in names or _names(value):
        field = getattr(value, name)
        if name == "piece":
            row |= piece_row(field)
        elif name in _PIECES:
            row[name] = [piece_row(piece) for piece in field]
        else:
            row["hex" if name == "pieces" else name] = as_json(field)
    return row


def as_json(value: object) -> object:
    """Return a value as JSON: bytes in hex, dataclasses and named tuples as objects (see `as_row`), other
    tuples as lists. Any other value is returned unchanged."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Mapping):
        return {key: as_json(field) for key, field in value.items()}
    if _names(value):
        return as_row(value)
    return [as_json(element) for element in value] if isinstance(value, list | tuple) else value


def piece_row(piece: bytes) -> Json:
    """Return a token as an object of JSON: `text` for people, and `hex`."""
    return {"text": piece.decode("utf-8", "replace"), "hex": piece.hex()}


def _names(value: object) -> Sequence[str]:
    return getattr(value, "_fields", ()) or tuple(getattr(value, "__dataclass_fields__", ()))
