"""Tokens on a terminal: which marks they get, how lines break, and what each command prints."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import hostile
import pytest
from grammar import is_clean, parse
from hypothesis import given
from hypothesis import strategies as st
from painted import bare, painted
from running_cli import cli, done, rows
from terminal import Terminal

import tokentui
from tokentui.analyze.report import segmented
from tokentui.cli import options
from tokentui.cli.chips import MarkedToken, Marks, folded, marks_for, shown_tokens
from tokentui.core.safetext import is_safe, visible
from tokentui.core.table import cell_width
from tokentui.core.tints import tints

HEBREW, ARABIC = "שלום עולם", "\u202eمرحبا بالعالم\u202c"
TEXT = f"The crowd, 漢字 👩🏽\u200d🚀 café\n{HEBREW} {ARABIC} [red]x[/red]\x1b[2J\x9b31m\x07 end"


def shown(data: str | bytes) -> str:
    return "".join(span.text for span in visible(data))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Tokenizers by name, and a corpus."""
    folder = tmp_path_factory.mktemp("chips")
    found = {}
    for name, recipe, merges in (("a", "gpt2", 60), ("b", "gpt2", 200), ("c", "bert", 150), ("u", "t5", 150)):
        tok = tokentui.train("sample:english", recipe, vocab_size=256 + merges)
        found[name] = str(folder / f"{name}.json")
        tok.save(found[name])
    (folder / "texts.txt").write_text(f"The crowd in the street\n{TEXT}\n", encoding="utf-8")
    return {**found, "texts": str(folder / "texts.txt")}


# ---- which marks


@pytest.mark.parametrize(("environ", "chips", "true_color", "underlines"), [
    ({"TERM": "xterm-256color"}, True, False, True),
    ({"TERM": "tmux-256color", "COLORTERM": "truecolor"}, True, True, True),
    ({"TERM": "xterm-kitty"}, True, False, True),
    ({"TERM": "alacritty", "COLORTERM": "24bit"}, True, True, True),
    ({"TERM": "xterm"}, False, False, True),
    ({"TERM": "linux"}, False, False, True),
    ({"TERM": "xterm-256color", "NO_COLOR": "1"}, False, False, True),
    ({"TERM": "xterm-256color", "NO_COLOR": ""}, True, False, True),
    ({"TERM": "dumb", "COLORTERM": "truecolor"}, False, True, False),
    ({}, False, False, False),
])
def test_marks_are_those_that_a_terminal_can_show(
    environ: dict[str, str], chips: bool, true_color: bool, underlines: bool
) -> None:
    marks = marks_for(environ)
    assert (marks.chips, marks.true_color, marks.underlines) == (chips, true_color, underlines)
    always = marks_for(environ, always=True)
    assert (always.chips, always.true_color, always.underlines) == (True, true_color, True)


def test_the_background_width_and_bar_of_a_terminal() -> None:
    known = {"15;0": True, "0;15": False, "0;default;15": False, "7;8": True, "": True, "x": True}
    assert {value: marks_for({"COLORFGBG": value}).dark for value in known} == known
    assert [marks_for({"COLUMNS": value}).width for value in ("44", "132")] == [44, 132]
    assert all(marks_for({"COLUMNS": value}).width > 0 for value in ("0", "-5", "x", "²", "9" * 30))
    assert marks_for({}, ascii_only=True).bar == "|"


# ---- lines


@given(
    st.lists(st.tuples(st.text(max_size=30), st.integers(0, 99999), st.booleans()), max_size=30),
    st.integers(20, 60), st.booleans(), st.booleans(),
)
def test_lines_break_between_tokens(
    given: list[tuple[str, int, bool]], width: int, chips: bool, ids: bool
) -> None:
    """No line is too wide, every token stands in order, and each id begins in the column of its token."""
    starts = itertools.accumulate((len(text) for text, *_ in given), initial=0)
    tokens = [
        MarkedToken(shown(text), start, str(number) if ids else "", ends_line)
        for (text, number, ends_line), start in zip(given, starts, strict=False)
    ]
    marks = Marks(chips=chips, width=width)
    lines = [marks.painted(line, str) for line in marks.lines(tokens)]
    assert all(cell_width(bare(line)) <= width for line in lines)
    upper, lower = (lines[::3], lines[1::3]) if ids and tokens else (lines, [])
    seen = "".join(map(bare, upper)).replace(marks.bar, "").replace(" ", "")
    assert seen == "".join(token.text for token in tokens).replace(marks.bar, "").replace(" ", "")
    if chips and tokens:
        parts = [found for line in upper for found in painted(line)]
        want = [
            tint for token, tint in zip(tokens, tints([token.start for token in tokens]), strict=True)
            for part in folded(token.text, width - ids) if part or ids
        ]
        assert [found.tint for found in parts] == want
    for texts, numbers in zip(upper, lower, strict=False):
        if chips:
            above, below = painted(texts), painted(numbers)
            assert [found.tint for found in above] == [found.tint for found in below]
            assert [cell_width(found.text) for found in above] == [len(found.text) for found in below]
    assert re.findall(r"\d+", " ".join(map(bare, lower))) == [token.below for token in tokens if ids]


@given(st.text(max_size=60), st.integers(2, 20))
def test_what_is_drawn_together_is_folded_together(text: str, width: int) -> None:
    safe = shown(text)
    parts = folded(safe, width)
    assert "".join(parts) == safe
    assert all(is_safe(part) for part in parts)


TAGS = "🏴a\U000e0030\U000e0034\U000e0039\U000e0067\U000e0062\U000e007f"


@given(st.text(st.sampled_from(TAGS), max_size=12))
def test_no_text_begins_or_ends_a_token(text: str) -> None:
    """The characters that do are never part of safe text, and of a line they are never left."""
    marks = Marks()
    line = marks.joined([shown(text), shown(text)], [0, 3])
    assert bare(marks.painted(line, str)) == shown(text) * 2
    assert [found.tint for found in painted(marks.painted(line, str))] == ([0, 3] if text else [])


def test_a_line_ends_where_a_line_of_the_text_ends() -> None:
    tokens = shown_tokens("a\nb c\n", [("a", 0, ""), ("⏎", 1, ""), ("b", 2, ""), ("·c", 3, ""), ("⏎", 5, "")])
    assert list(Marks(chips=False).lines(tokens)) == ["a│⏎", "b│·c│⏎"]
    dropped = shown_tokens("a\n b", [("a", 0, ""), ("b", 3, "")])
    assert list(Marks(chips=False).lines(dropped)) == ["a", "b"]


@pytest.mark.parametrize("chips", [True, False])
def test_a_cell_is_clipped(chips: bool) -> None:
    marks = Marks(chips=chips)

    def text(texts: list[str], most: int | None) -> str:
        return bare(marks.painted(marks.joined(texts, range(len(texts)), most), str)).replace("│", "")

    assert text(["ab", "cd"], 4) == "abcd"
    assert text(["ab", "cd"], 3) == "ab…"
    assert text(["ab", "cdef"], 4) == "abc…"
    assert text(["漢字", "x"], 4) == "漢…"
    assert text(["x" * 99], None) == "x" * 99


@given(st.text(max_size=40))
def test_the_places_of_tokens_follow_from_their_lengths(text: str) -> None:
    encoding = BYTES.encode(text)
    pieces = [piece for piece in encoding.pieces if piece is not None]
    assert segmented(pieces).starts == tuple(start for start, _ in encoding.offsets)
    assert segmented([b"un", b"##be", b"##d"], 5, prefix=b"##").starts == (5, 7, 9)


BYTES = tokentui.train("sample:hugs", "gpt2", merges=8)


# ---- commands


def test_ids_are_below_their_tokens(files: Mapping[str, str]) -> None:
    words = ("encode", "-t", files["a"], "The crowd")
    ids = done(*words).split()
    upper, lower, facts = done(*words, "--color", "always").splitlines()
    assert [found.text.strip() for found in painted(lower)] == ids
    (row,) = rows(done(*words, "--json"))
    starts = [start for start, _ in row["offsets"]]
    assert [found.tint for found in painted(upper)] == tints(starts)
    assert [found.text.rstrip() for found in painted(upper)] == [shown(token) for token in row["tokens"]]
    assert facts == f"{len(ids)} tokens, 9 B, {9 / len(ids):.2f} B/token"
    assert done("encode", "-t", files["a"], "", "--color", "always") == "0 tokens, 0 B\n"


def commands(files: Mapping[str, str], text: str) -> dict[str, list[str]]:
    """A line of words for each place that marks tokens."""
    texts = files["texts"]
    return {
        "encode": ["encode", "-t", files["a"], "--", text],
        "characters": ["encode", "-t", files["c"], "--", text],
        "sample": ["encode", "-t", files["a"], "--sample", "dropout", "--seed", "1", "--n", "2", "--", text],
        "draws": ["encode", "-t", files["a"], "--sample", "dropout", "--seed", "1", "--explain", "--", text],
        "explain": ["encode", "-t", files["a"], "--explain", "--", text],
        "attempts": ["encode", "-t", files["c"], "--explain", "--", text],
        "lattice": ["encode", "-t", files["u"], "--explain", "--", text],
        "split": ["split", "-s", "split=gpt2", "--", text],
        "inspect": ["inspect", "-t", files["a"], "--", text],
        "compare": ["compare", "-t", files["a"], "-t", files["b"], "-t", files["c"], texts, f"--text={text}"],
        "diff": ["diff", files["a"], files["b"], texts, "--as", "lines"],
    }


PLACES = [*commands({**dict.fromkeys("abcu", ""), "texts": ""}, "")]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.slow
def test_nothing_in_a_mark_acts_on_a_terminal(place: str, files: Mapping[str, str]) -> None:
    """Markup, control characters and right-to-left text, in colors. Without colors the output is that of a
    pipe."""
    words = commands(files, TEXT)[place]
    at = words.index("--") if "--" in words else len(words)
    printed = cli(*words[:at], "--color", "always", *words[at:])
    assert printed.exit_code == cli(*words).exit_code
    lines = printed.stdout_bytes.decode().split("\n")
    assert any(found.tint is not None for line in lines for found in painted(line))
    assert all(is_clean(bare(line)) for line in lines)
    if place == "split":
        assert "".join(map(bare, lines)) == shown(TEXT)
        assert all(found.tint is not None for line in lines for found in painted(line))
    plain = cli(*words[:at], "--color", "never", *words[at:])
    assert plain.stdout_bytes == cli(*words).stdout_bytes


@pytest.mark.parametrize("place", ["encode", "split", "explain", "compare"])
@pytest.mark.slow
def test_no_hostile_text_acts_on_a_terminal(place: str, files: Mapping[str, str]) -> None:
    for text in hostile.SHORT[:: 4 if place in ("encode", "split") else 40]:
        words = commands(files, text.replace("\0", "").encode("utf-8", "replace").decode())[place]
        at = words.index("--") if "--" in words else len(words)
        printed = cli(*words[:at], "--color", "always", *words[at:]).stdout_bytes.decode()
        assert all(is_clean(bare(line)) for line in printed.split("\n")), ascii(text)


def test_compare_underlines_what_differs(files: Mapping[str, str]) -> None:
    words = ("compare", "-t", files["a"], "-t", files["b"], files["texts"], "--text", "The crowd stood")
    row = rows(done(*words, "--json"))[0]["text"]
    lines = done(*words, "--color", "always").splitlines()
    at = next(n for n, line in enumerate(lines) if bare(line).startswith("A  The"))
    for line in lines[at : at + 2]:
        place, underlined = 0, set()
        for found in painted(line)[1:]:
            end = place + len(found.text)
            underlined |= set(range(place, end)) if found.underlined else set()
            place = end
        assert underlined == {n for start, end in row["partings"] for n in range(start, end)}
        assert bare(line)[3:] == "The·crowd·stood"
    assert re.fullmatch("   A [0-9]+ tokens, B [0-9]+ tokens; underlined: split differently", lines[at + 2])


@pytest.mark.parametrize(("color", "terminal", "marked"), [
    ("auto", True, True), ("auto", False, False), ("never", True, False), ("never", False, False),
    ("always", False, True),
])
def test_tokens_are_marked_on_a_terminal_or_always(
    color: str, terminal: bool, marked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "is_terminal", lambda stream: terminal)
    assert (options.SharedOptions("", {}, {}, color=color).marks is not None) is marked


def test_a_color_is_one_of_three(files: Mapping[str, str]) -> None:
    result = cli("encode", "-t", files["a"], "--color", "red", "a")
    assert result.exit_code == 2
    assert result.stderr.startswith("tokentui: encode: ")
    assert result.stderr.count("\n") == 1


# ---- terminals


@pytest.mark.pty
@pytest.mark.slow
@pytest.mark.parametrize(("environment", "chips"), [
    ({}, True), ({"COLORTERM": "truecolor"}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "xterm"}, False),
    ({"TERM": "dumb"}, False),
])
@pytest.mark.parametrize("columns", [80, 120])
def test_on_a_terminal(
    environment: dict[str, str], chips: bool, columns: int, files: Mapping[str, str]
) -> None:
    text = "The crowd in the street " * 8
    known = {"NO_COLOR": "", "COLORTERM": "", "COLORFGBG": "", "COLUMNS": "", **environment}
    with Terminal("encode", "-t", files["a"], text, columns=columns, rows=40, environment=known) as terminal:
        assert terminal.end() == 0
        screen, written = terminal.screen, bytes(terminal.written)
    parse(written)
    lines = [line.rstrip() for line in screen.display]
    grounds = [{screen.buffer[y][x].bg for x in range(len(line))} for y, line in enumerate(lines)]
    facts = next(n for n, line in enumerate(lines) if "B/token" in line)
    assert re.fullmatch(r"\d+ tokens, 192 B, [\d.]+ B/token", lines[facts])
    ids = " ".join(lines[1:facts:3]).split()
    assert ids == done("encode", "-t", files["a"], text).split()
    if chips:
        assert len(set().union(*grounds[:facts]) - {"default"}) == 4
        assert screen.buffer[0][0].bg == screen.buffer[1][0].bg != "default"
        for upper, lower in zip(range(0, facts, 3), range(1, facts, 3), strict=False):
            assert all(screen.buffer[upper][x].bg == screen.buffer[lower][x].bg for x in range(columns))
    else:
        assert set().union(*grounds) <= {"default"}
        assert all("│" in line for line in lines[0:facts:3])
    if environment.get("TERM") == "dumb":
        assert b"\x1b" not in written


@pytest.mark.pty
@pytest.mark.slow
def test_wide_characters_and_narrow_terminals(files: Mapping[str, str]) -> None:
    """The terminal itself never breaks a line."""
    with Terminal("split", "-s", "split=gpt2", "漢字かな交じり文 " * 20, columns=31, rows=40) as terminal:
        assert terminal.end() == 0
        lines = [line for line in bytes(terminal.written).decode().split("\r\n") if line]
        assert all(cell_width(bare(line)) <= 31 for line in lines)
        assert len([line for line in terminal.screen.display if line.strip()]) == len(lines)


@pytest.mark.pty
@pytest.mark.slow
def test_a_pipe_gets_plain_output_on_any_terminal(files: Mapping[str, str], tmp_path: Path) -> None:
    for place, words in commands(files, "The crowd").items():
        path = tmp_path / f"{place}.txt"
        line = 'exec "$0" -m tokentui "${@:2}" > "$1"'
        with Terminal(
            program=("-c", "import os, sys; os.execvp('bash', ['bash', '-c', *sys.argv[1:]])", line,
                     sys.executable, str(path), *words),
        ) as terminal:
            terminal.end()
        assert path.read_bytes() == cli(*words).stdout_bytes, place
