"""A vocabulary as a table."""

from __future__ import annotations

import ast
import io
import json
import re
from pathlib import Path

import pytest
from exporting import preset
from hypothesis import given
from hypothesis import strategies as st
from running_cli import done, refused

import tokentui
from tokentui.analyze.token_table import TokenRow, table_bytes, token_rows
from tokentui.core.table import escaped
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import load

NAMES = ("gpt2", "llama2", "t5", "bert", "subword-nmt")


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("name", NAMES)
def test_a_row_for_each_id(name: str) -> None:
    tokenizer = preset(name)
    rows, entries = list(token_rows(tokenizer)), list(tokenizer.entries())
    assert [row.id for row in rows] == [entry.id for entry in entries]
    lost = {reach.id for reach in _public(tokenizer).unreachable()}
    assert {row.id for row in rows if not row.reachable} == lost
    for row, entry in zip(rows, entries, strict=True):
        assert (row.text, row.hex, row.kind, row.score) == (
            entry.text, entry.piece.hex(), entry.kind, entry.score
        )
        assert bool(row.reason) == (not row.reachable)
        assert (row.rank is not None) == (row.kind == "merge")
    ranks = [row.rank for row in rows if row.rank is not None]
    assert sorted(ranks) == list(range(tokenizer.merges))


def _public(tokenizer: Tokenizer) -> tokentui.Tokenizer:
    return tokentui.Tokenizer(tokenizer.vocabulary, tokenizer.merges, tokenizer.run)


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("name", NAMES[:-1])  # of the last one a space comes with the token after it
def test_the_bytes_are_those_of_the_text(name: str) -> None:
    tokenizer = preset(name)
    added = {row.id: bytes.fromhex(row.bytes) for row in token_rows(tokenizer)}
    text = "a the sea and the ship é 海"
    first, *ids = [number for number in tokenizer.encode(text).ids if number is not None]
    data = tokenizer.decode_bytes([first]) + b"".join(added[number] for number in ids)
    assert data == tokenizer.decode_bytes([first, *ids])


def test_the_three_formats(tmp_path: Path) -> None:
    file = str(tmp_path / "t.json")
    done("train", "sample:hugs", "-r", "gpt2", "--merges", "6", "-o", file, "-q")
    for end in ("tsv", "jsonl"):
        told = done("inspect", "-t", file, "--table", str(tmp_path / f"t.{end}"), "-q")
        assert told.startswith("table        262 ids, ")
    rows = list(token_rows(load(file)))
    read = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text("utf-8").splitlines()]
    assert read == [row._asdict() for row in rows]
    head, *lines = (tmp_path / "t.tsv").read_bytes().decode().split("\n")[:-1]
    assert head.split("\t") == list(TokenRow._fields)
    assert len(lines) == len(rows)
    assert lines[258].split("\t") == [
        "258", "hug", "687567", "687567", "merge", "", str(rows[258].rank), "true", ""
    ]
    tab = next(row.id for row in rows if row.hex == "09")
    assert lines[tab].split("\t")[1] == "\\t"


@given(st.text() | st.text("\\\t\x1b\x85\u202eab"))
def test_a_cell_holds_no_control_character_and_can_be_read_back(text: str) -> None:
    cell = escaped(text)
    assert not re.search("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", cell)
    assert ast.literal_eval("'" + cell.replace("'", "\\'") + "'") == text


def test_parquet() -> None:
    parquet = pytest.importorskip("pyarrow.parquet", exc_type=ImportError)
    rows = list(token_rows(preset("t5")))
    table = parquet.read_table(io.BytesIO(table_bytes("a.parquet", rows)))
    assert table.to_pylist() == [row._asdict() for row in rows]


def test_refusals(tmp_path: Path) -> None:
    file = str(tmp_path / "t.json")
    done("train", "sample:hugs", "-r", "gpt2", "--merges", "6", "-o", file, "-q")
    told = refused("inspect", "-t", file, "--table", "a.csv")
    assert told == "a.csv: unknown file extension (use .tsv or .jsonl or .parquet)"
    assert "takes no other options" in refused("inspect", "-t", file, "--table", "a.tsv", "hug")
