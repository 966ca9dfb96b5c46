"""RWKV's world vocabulary: lines of an id, a literal and a number of bytes; the longest token is taken."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui.core.errors import TokentuiError
from tokentui.encode.segment import Attempt
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import recognized
from tokentui.formats.files import export, load
from tokentui.formats.source import read_source, source_of

NAME = "rwkv_vocab_v20230424.txt"
BYTES = [bytes((value,)) for value in range(256)]
MORE = (b"he", b"the", b" the", b"'s", b'"', b"\t\t", b"\xe0\xa4", "世界".encode(), "é".encode(), b"\\n")


def literal(piece: bytes) -> str:
    """A token as the file spells it."""
    try:
        return repr(piece.decode())
    except UnicodeDecodeError:
        return repr(piece)


def lines(*pieces: bytes) -> list[str]:
    return [f"{number} {literal(piece)} {len(piece)}\n" for number, piece in enumerate(pieces, 1)]


def write(path: Path, *pieces: bytes) -> Path:
    path.write_text("".join(lines(*pieces)), "utf-8", newline="")
    return path


def longest(ids: dict[bytes, int], data: bytes) -> list[int]:
    """The plainest form of the rule."""
    found, at = [], 0
    while at < len(data):
        end = next(end for end in range(len(data), at, -1) if data[at:end] in ids)
        found.append(ids[data[at:end]])
        at = end
    return found


def read(*pieces: bytes) -> Tokenizer:
    source = source_of((NAME,), ("".join(lines(*pieces)).encode(),))
    format = recognized(source)
    assert format is not None
    assert format.name == "rwkv"
    return format.codec.read(source)


def test_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "any name", *BYTES, *dict.fromkeys(p for p in MORE if len(p) > 1))
    assert recognized(read_source(str(path))).name == "rwkv"  # type: ignore[union-attr]
    tokenizer = load(path)
    assert tokenizer.encode("the 世界").pieces == (b"the", b" ", "世界".encode())
    assert tokenizer.encode("a").ids == (98,)
    assert tokenizer.decode(tokenizer.encode("the\r\n世 'sé").ids) == "the\r\n世 'sé"
    assert tokenizer.decode_bytes(tokenizer.encode(b"\xf0\x9f").ids) == b"\xf0\x9f"
    assert "id 0" in tokenizer.notes[0]
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert load(path).encode("the").pieces == (b"the",)
    with pytest.raises(TokentuiError, match="the split cannot be changed to gpt2"):
        load(path, "gpt2")


@pytest.mark.slow
@settings(max_examples=60)
@given(st.sets(st.binary(min_size=2, max_size=5), max_size=12), st.data())
def test_it_encodes_by_the_longest_token(tokens: set[bytes], data: st.DataObject) -> None:
    pieces = [*BYTES, *sorted(tokens)]
    ids = {piece: number for number, piece in enumerate(pieces, 1)}
    tokenizer = read(*pieces)
    stretches = st.one_of(st.sampled_from(pieces[250:]), st.binary(max_size=3))
    text = b"".join(data.draw(st.lists(stretches, max_size=60)))
    assert list(tokenizer.encode(text).ids) == longest(ids, text)


def test_a_long_text_is_not_given_up() -> None:
    tokenizer = read(*BYTES, b"aaa")
    assert tokenizer.encode("a" * 5001).ids == (*[257] * 1667,)


def test_the_steps_lead_to_the_tokens() -> None:
    tokenizer = read(*BYTES, b"the", b" th")
    text = "the th" + "e" * 200
    (word,) = tokenizer.explain(text)
    found = [step.candidate for step in word.steps if isinstance(step, Attempt) and step.found]
    assert tuple(found) == word.pieces == tokenizer.encode(text).pieces


def test_it_is_written_and_read_again(tmp_path: Path) -> None:
    path = write(tmp_path / NAME, *BYTES, *dict.fromkeys(piece for piece in MORE if len(piece) > 1))
    tokenizer = load(path)
    export(tokenizer, tmp_path / "again.txt", "rwkv")
    assert (tmp_path / "again.txt").read_bytes() == path.read_bytes()
    export(tokenizer, tmp_path / "own.json")
    text = "the 世界 'sé \\n\t\t" * 20
    assert load(tmp_path / "own.json").encode(text).ids == tokenizer.encode(text).ids
    few = read(b"a", b"b", b"ab")
    export(few, tmp_path / "few.json")
    assert load(tmp_path / "few.json").encode("aab" * 60).ids == (1, 3) * 60
    with pytest.raises(TokentuiError, match="cannot store it"):
        export(tokenizer, tmp_path / "x.tiktoken")


def test_bytes_that_are_missing_are_refused_when_they_come() -> None:
    tokenizer = read(b"a", b"b", b"ab")
    assert tokenizer.encode("aab").ids == (1, 3)
    with pytest.raises(TokentuiError, match="'c' is not in the vocabulary"):
        tokenizer.encode("ac")


_FORM = "not an id, a token in quotes and the number of its bytes"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("300 'ab' 3", "the token has 2 bytes, and the line says 3"),
        ("300 'é' 1", "the token has 2 bytes, and the line says 1"),
        ("300 'the' 3", "the token is on two lines"),
        ("7 'xyz' 3", "id 7 is on two lines"),
        ("300 '' 0", _FORM),
        ("300 ab 2", _FORM),
        ("-1 'ab' 2", _FORM),
        ("9999999999 'ab' 2", _FORM),
        ("300 'ab'", _FORM),
        ("300 'ab 2", _FORM),
        ("", _FORM),
        ("300 'a' 'b' 2", _FORM),
        ("300 'a'+'b' 2", _FORM),
        ("300 f'ab' 2", _FORM),
        ("300 [1] 1", _FORM),
        (r"300 '\d' 2", _FORM),
        (r"300 '\ud800' 3", _FORM),
        (r"300 '\U00110000' 4", _FORM),
        ("300 b'é' 2", _FORM),
        ("300 '\x00' 1", "the token is on two lines"),
        ("300 '" + "a" * 20_000 + "' 20000", _FORM),
        ("300 " + "(" * 5000 + " 1", _FORM),
    ],
)
def test_broken_lines_are_refused_by_their_number(tmp_path: Path, line: str, what: str) -> None:
    path = write(tmp_path / NAME, *BYTES, b"the")
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(f"{line}\n")
    with pytest.raises(TokentuiError) as raised:
        load(path)
    assert str(raised.value).startswith(f"{path}: line 258: {what}")
