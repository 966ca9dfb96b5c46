"""Text under Gage's compression: ids are the compressed bytes, and what holds a placeholder is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from exporting import dumps, loads
from hypothesis import given, settings
from hypothesis import strategies as st
from running_cli import cli, done, refused, rows
from trainers import compressed

from tokentui import learn
from tokentui.axes import preset
from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn import start
from tokentui.recipe import Run
from tokentui.text.corpus import Corpus

SLIDES = "xxxdqxxxdxo"
few = st.binary(max_size=30).map(lambda data: bytes(b"xd\0\xffA\xc3\xa9"[value % 7] for value in data))


def tokenizer_of(text: bytes | str, steps: int = 99, **more: Any) -> Tokenizer:
    """A tokenizer trained on one document; `more` are axes, first_id and specials."""
    run = {name: more.pop(name) for name in ("first_id", "specials") if name in more}
    document = text if isinstance(text, str) else text.decode("utf-8", "surrogateescape")
    trainer = start(Corpus.from_text(document), preset("gage", **more), Run(**run))
    learn.jump(trainer, steps)
    return trainer.tokenizer()


@settings(max_examples=75, deadline=None)
@given(few | st.binary(max_size=60), few | st.binary(max_size=60), st.integers(0, 9))
def test_any_bytes_come_back_or_are_refused_by_name(corpus: bytes, text: bytes, steps: int) -> None:
    tokenizer = tokenizer_of(corpus, steps)
    ids = tokenizer.encode(corpus).ids
    assert tokenizer.decode_bytes(ids) == corpus
    placeholders = set(tokenizer.vocabulary.placeholders[: tokenizer.merges])  # type: ignore[attr-defined]
    if placeholders.isdisjoint(text):
        encoding = tokenizer.encode(text)
        assert tokenizer.decode_bytes(encoding.ids) == text
        assert [bytes((number,)) for number in encoding.ids if number is not None] == list(encoding.pieces)
    else:
        first = next(at for at, value in enumerate(text) if value in placeholders)
        with pytest.raises(TokentuiError, match=f"byte 0x{text[first]:02x} ") as refused:
            tokenizer.encode(text)
        assert "\n" not in str(refused.value)


@settings(max_examples=30, deadline=None)
@given(few | st.binary(max_size=60), st.integers(0, 9))
def test_the_ids_of_the_corpus_are_its_compressed_bytes(corpus: bytes, steps: int) -> None:
    trainer = start(Corpus.from_text(corpus.decode("utf-8", "surrogateescape")), preset("gage"))
    learn.jump(trainer, steps)
    ids = trainer.tokenizer().encode(corpus).ids
    assert bytes(number for number in ids if number is not None) == compressed(trainer).compressed


@settings(max_examples=30, deadline=None)
@given(
    few | st.binary(max_size=60), st.integers(0, 9),
    st.lists(st.sampled_from(["<unk>", "xx", "é"]), unique=True),
    st.integers(0, 3),
)
def test_a_file_gives_the_tokenizer_back(
    corpus: bytes, steps: int, specials: list[str], first_id: int
) -> None:
    tokenizer = tokenizer_of(corpus, steps, specials=specials, first_id=first_id)
    written = dumps(tokenizer)
    read = loads(written, "file")
    assert dumps(read) == written
    assert list(read.entries()) == list(tokenizer.entries())
    assert [entry.id for entry in read.entries()] == list(range(first_id, first_id + read.vocab_size))
    assert read.vocab_size == 256 + len(specials)
    encoding = tokenizer.encode(corpus)
    assert read.encode(corpus) == encoding
    assert read.decode_bytes(encoding.ids) == corpus


def test_offsets_and_pieces() -> None:
    encoding = tokenizer_of(SLIDES).encode("xxxdo")
    assert encoding.ids == (67, 111)
    assert encoding.hex == ("43", "6f")
    assert encoding.offsets == ((0, 4), (4, 5))


def test_ids_are_bytes_and_placeholders_expand() -> None:
    tokenizer = tokenizer_of(SLIDES)
    assert tokenizer.decode_bytes(range(256)) == b"".join(
        {65: b"xx", 66: b"xd", 67: b"xxxd"}.get(value, bytes((value,))) for value in range(256)
    )
    kinds = {entry.id: entry.kind for entry in tokenizer.entries()}
    assert [number for number, kind in kinds.items() if kind == "merge"] == [65, 66, 67]
    with pytest.raises(TokentuiError, match="no such id: 256"):
        tokenizer.decode([256])


def test_a_placeholder_in_the_text_is_named_with_its_place() -> None:
    tokenizer = tokenizer_of(SLIDES)
    with pytest.raises(TokentuiError) as refused:
        tokenizer.encode("éxB")
    assert str(refused.value).startswith("offset 2: byte 0x42 ('B') already represents a pair (")
    assert tokenizer.at(1).encode("B").ids == (66,), "before the second step B is only B"
    assert "represents a pair" in tokenizer.lost("A")[0]


@pytest.mark.parametrize(
    ("unknown", "ids"),
    [("drop", (67, 111)), ("per-unit", (3 + 67, 2, 2, 3 + 111)), ("fused", (3 + 67, 2, 3 + 111))],
)
def test_the_policy_for_unknown_units_holds_for_placeholders(unknown: str, ids: tuple[int, ...]) -> None:
    run: dict[str, Any] = {} if unknown == "drop" else {"first_id": 2, "specials": ["<unk>"]}
    tokenizer = tokenizer_of(SLIDES, unknown=unknown, **run)
    text = "xxxdAAo" if unknown != "drop" else "xxAxdo"
    assert tokenizer.encode(text).ids == ids


def test_each_replacement_is_explained() -> None:
    word, = tokenizer_of(SLIDES).explain("xxxd")
    steps = [(step.left, step.right, step.result) for step in word.steps]  # type: ignore[union-attr]
    assert steps == [(b"x", b"x", b"A"), (b"x", b"d", b"B"), (b"A", b"B", b"C")]
    assert [word.after(number) for number in (1, 2, 3)] == [(b"xx", b"x", b"d"), (b"xx", b"xd"), (b"xxxd",)]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda doc: doc["placeholders"].__setitem__(1, 65), "row 1: 65 already represents something else"),
        (lambda doc: doc["placeholders"].__setitem__(2, 100), "row 2: 100 already represents something else"),
        (lambda doc: doc["placeholders"].__setitem__(0, 120), "row 0: 120 already represents something else"),
        (lambda doc: doc["placeholders"].__setitem__(0, 256), "row 0: 256 already represents something else"),
        (lambda doc: doc["merges"][0].__setitem__(0, 300), "row 0: 300 is not a unit or an earlier token"),
        (lambda doc: doc["merges"][0].__setitem__(0, 66), "row 1: 66 already represents something else"),
        (lambda doc: doc["merges"].append([120, 120, 1]), "3 bytes for 4 merges"),
        (lambda doc: doc["units"].pop(), "the base is not the 256 bytes in order"),
        (lambda doc: doc["units"].__setitem__(7, "b"), "two have the same bytes"),
        (lambda doc: doc["recipe"].__setitem__("base", "gpt2-bytes"), "byte values"),
        (lambda doc: doc["recipe"].__setitem__("encode", "longest-match"), "replacing pairs"),
    ],
)
def test_a_damaged_file_is_refused(change: Any, says: str) -> None:
    document = json.loads(dumps(tokenizer_of(SLIDES)))
    change(document)
    with pytest.raises(TokentuiError) as refused:
        loads(json.dumps(document), "file.json")
    assert says in str(refused.value)
    assert str(refused.value).startswith("file.json")
    assert "\n" not in str(refused.value)


@pytest.mark.slow
def test_a_file_whose_pairs_double_without_end_is_refused() -> None:
    document = json.loads(dumps(tokenizer_of(SLIDES)))
    document["merges"] = [[255 + n if n else 97] * 2 + [1] for n in range(30)]
    document["placeholders"] = list(range(100, 130))
    with pytest.raises(TokentuiError, match="row 25: the tokens are longer than in any real tokenizer"):
        loads(json.dumps(document), "file")


def test_the_commands(tmp_path: Path) -> None:
    text, file = tmp_path / "text", str(tmp_path / "gage.json")
    data = b"xxxd\xff\0xxxd\xc3"
    text.write_bytes(data)
    out = done("train", str(text), "-r", "gage", "-q")
    assert [" ".join(line.split()) for line in out.splitlines()[:2]] == [
        "1 x + x = A (id 65, count 4, expands to xx)", "2 x + d = B (id 66, count 2, expands to xd)",
    ]
    assert out.splitlines()[-1].strip() == "5 of text + 9 of table = 14 bytes; 11 before"
    *steps, last = rows(
        done("train", str(text), "-r", "gage", "-q", "-o", file, "--min-count", "2", "--trace", "-")
    )
    assert [row["hex"] for row in steps] == [["78", "78", "41"], ["78", "64", "42"], ["41", "42", "43"]]
    assert last == {"end": "min_count", "steps": 3}
    ids = done("encode", "-t", file, "-q", input=data)
    assert ids == "67 255 0 67 195\n"
    assert cli("decode", "-t", file, input=ids).stdout_bytes == data + b"\n"
    assert refused("encode", "-t", file, "xB").startswith(
        "offset 1: byte 0x42 ('B') already represents a pair ("
    )
