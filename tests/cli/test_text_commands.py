"""`tokentui encode`, `decode`, `split` and `recipes`."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running_cli import cli, done, refused, rows

from tokentui.axes import AXES
from tokentui.cli.output import json_row, write_text
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe


@pytest.fixture(scope="module")
def sailor(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tokenizer of whole words, that refuses what it does not know."""
    file = str(tmp_path_factory.mktemp("cli") / "sailor.json")
    done("train", "sample:sailor", "-r", "udl-notebook", "-o", file, "-q")
    return file


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tokenizer of bytes with special tokens."""
    file = str(tmp_path_factory.mktemp("cli") / "gpt2.json")
    done(
        "train", "sample:sailor", "-r", "gpt2", "--special", "<s>", "--special", "</s>", "--merges", "40",
        "-o", file, "-q",
    )
    return file


def test_ids_on_one_line(sailor: str) -> None:
    assert done("encode", "-t", sailor, "a sailor went") == "21 41 44\n"
    assert done("encode", "-t", sailor, input="a sailor\nwent\n") == "21 41 44\n"
    assert done("encode", "-t", sailor, "-", input="a") == "21\n"
    assert done("encode", "-t", sailor, "") == "\n"


@pytest.mark.parametrize(
    ("typed", "text"),
    [("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a\n"), ("a", "a"), ("", ""), ("\n", ""), ("a\r", "a\r")],
)
def test_one_last_line_end_is_no_text(typed: str, text: str, gpt2: str) -> None:
    assert rows(done("encode", "-t", gpt2, "--json", input=typed.encode()))[0]["text"] == text


def test_a_row(sailor: str) -> None:
    assert done("encode", "-t", sailor, "--json", "a sailor") == (
        '{"text": "a sailor", "ids": [21, 41], "tokens": ["a</w>", "sailor</w>"], '
        '"hex": ["613c2f773e", "7361696c6f723c2f773e"], "offsets": [[0, 1], [2, 8]], "schema": 1}\n'
    )


def test_special_tokens(gpt2: str) -> None:
    plain = json.loads(done("encode", "-t", gpt2, "--json", "<s>"))
    assert 0 not in plain["ids"]
    allowed = json.loads(done("encode", "-t", gpt2, "--json", "--allow-special", "<s>"))
    assert (allowed["ids"], allowed["hex"]) == ([0], [b"<s>".hex()])
    around = json.loads(done("encode", "-t", gpt2, "--json", "--special-tokens", "a"))
    assert around["tokens"] == ["<s>", "a", "</s>"]


@pytest.mark.parametrize("option", ["--special-tokens", "--allow-special"])
def test_an_explanation_knows_no_special_tokens(gpt2: str, option: str) -> None:
    line = refused("encode", "-t", gpt2, "--explain", option, "<s>a")
    assert f"--explain and {option} cannot be combined" in line


def test_a_text_that_begins_twice(gpt2: str) -> None:
    ways = ("encode", "-t", gpt2, "--special-tokens", "--allow-special")
    told = "tokentui: the text begins with <s>, and --special-tokens adds another one\n"
    for way in ((), ("--json",)):
        result = cli(*ways, *way, "<s>a")
        assert (result.exit_code, result.stderr) == (0, told)
        assert cli(*ways, *way, "a<s>").stderr == ""
        assert cli(*ways, *way, "-q", "<s>a").stderr == ""
        assert cli(*ways[:-1], *way, "<s>a").stderr == ""
        assert cli("encode", "-t", gpt2, "--allow-special", *way, "<s><s>a").stderr == ""
    lines = '{"text": "<s>a"}\n{"text": "a"}\n{"text": "<s>"}\n'
    assert cli(*ways, "--jsonl", input=lines).stderr.startswith("tokentui: 2 lines begin with <s>, and")


def test_an_unknown_has_no_hex_and_none_has_no_id(tmp_path: Path) -> None:
    file = str(tmp_path / "t.json")
    words = ["train", "sample:sailor", "-r", "udl-notebook", "-s", "unknown=per-unit", "-o", file, "-q"]
    done(*words, "--special", "<unk>")
    row = json.loads(done("encode", "-t", file, "--json", "z"))
    assert (row["ids"][0], row["tokens"][0], row["hex"][0]) == (0, "<unk>", None)
    done(*words)
    assert done("encode", "-t", file, "z").split()[0] == "null"


def test_jsonl_may_begin_with_a_byte_order_mark(sailor: str) -> None:
    row = '{"text": "sea"}\r\n'
    assert done("encode", "-t", sailor, "--jsonl", input=f"\ufeff{row}") == done(
        "encode", "-t", sailor, "--jsonl", input=row
    )
    assert cli("encode", "-t", sailor, "--jsonl", input=f"{row}\ufeff{row}").exit_code == 1


def test_jsonl_answers_every_line_in_its_place(sailor: str) -> None:
    lines = [
        '{"text": "a"}', "", '{"text": "zebra"}', "nonsense", '{"txt": "a"}', '{"text": 3}', "[" * 100_000,
        '{"text": ' + "9" * 5000 + "}", '{"text": "sailor"}',
    ]
    result = cli(
        "encode", "-t", sailor, "--jsonl", input="\n".join(lines).encode() + b'\n\xff\n{"text": "a"}'
    )
    assert result.exit_code == 1
    assert result.stderr == ""
    answers = rows(result.stdout)
    assert len(answers) == 10
    good, bad = [answers[0], answers[7], answers[9]], answers[1:7] + answers[8:9]
    assert [row["ids"] for row in good] == [[21], [41], [21]]
    assert all(list(row) == ["text", "error"] for row in bad)
    assert [row["text"] for row in bad] == ["zebra", None, None, None, None, None, None]
    assert bad[0]["error"].startswith("offset 0: 'z' is not in the vocabulary")
    assert bad[1]["error"].startswith("line 4: not JSON: Expecting value, column 1 ")
    assert bad[2]["error"].startswith('line 5: no object with a text as "text"')
    assert "line 7: nested too deeply" in bad[4]["error"]
    assert "line 8: a number is too large" in bad[5]["error"]
    assert "line 10: not UTF-8 at byte 0" in bad[6]["error"]


def test_a_line_that_breaks_off_is_told_by_its_own_number_alone(sailor: str) -> None:
    result = cli("encode", "-t", sailor, "--jsonl", input=b'{"text": "a"}\n{"text":\n')
    assert rows(result.stdout)[1]["error"].startswith("line 2: not JSON: Expecting value, column 9 ")


def test_a_text_that_cannot_be_encoded_is_refused(sailor: str) -> None:
    assert refused("encode", "-t", sailor, "zebra").startswith("offset 0: 'z' is not in the vocabulary")


def test_the_split_of_a_file_stays(sailor: str) -> None:
    assert done("encode", "-t", sailor, "-s", "split=whitespace", "a") == "21\n"
    assert refused("encode", "-t", sailor, "-s", "split=gpt2", "a").startswith(
        "-s split=gpt2: the split cannot be changed"
    )
    assert refused("encode", "-t", sailor, "-s", "unit=char", "a").startswith("-s unit=char: only the split")


def test_explaining_merges(sailor: str) -> None:
    lines = [line.split() for line in done("encode", "-t", sailor, "--explain", "a sail").splitlines()]
    assert lines[0] == ["word", "a:", "a", "</w>"]
    assert lines[1] == ["1", "step", "3:", "a", "+", "</w>", "=", "a</w>", "(7", "times)", "→", "a</w>"]
    assert lines[2] == ["ids", "21"]
    assert ["word", "sail:", *"sail", "</w>"] in lines
    assert lines[3][0] == "tree"


def test_explaining_longest_match(tmp_path: Path) -> None:
    file = str(tmp_path / "t.json")
    done("train", "sample:hugs", "-r", "bert", "--special", "[UNK]", "--merges", "2", "-o", file, "-q")
    text = done("encode", "-t", file, "--explain", "hugs")
    assert "hugs  is not a token" in text
    assert " found " in text


def lines(field: str, values: Sequence[object]) -> str:
    return "".join(json.dumps({field: value}) + "\n" for value in values)


@settings(max_examples=10)
@given(texts=st.lists(st.text(max_size=30), min_size=1, max_size=8))
def test_text_comes_back_through_ids(texts: list[str], gpt2: str) -> None:
    found = rows(done("encode", "-t", gpt2, "--jsonl", input=lines("text", texts)))
    back = rows(done("decode", "-t", gpt2, "--jsonl", input=lines("ids", [row["ids"] for row in found])))
    for text, row, again in zip(texts, found, back, strict=True):
        shown = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
        assert row["text"] == shown
        assert again["text"] == text or shown != text
    text = texts[0]
    if not any("\ud800" <= char <= "\udfff" for char in text) and not text.endswith("\r"):
        ids = done("encode", "-t", gpt2, input=(text + "\n").encode())
        assert cli("decode", "-t", gpt2, input=ids).stdout_bytes == text.encode() + b"\n"


@settings(max_examples=20)
@given(data=st.binary(max_size=30).filter(lambda data: not data.endswith(b"\r")))
def test_bytes_come_back_through_ids(data: bytes, gpt2: str) -> None:
    ids = done("encode", "-t", gpt2, input=data + b"\n")
    assert cli("decode", "-t", gpt2, input=ids).stdout_bytes == data + b"\n"


def test_ids_as_people_write_them(sailor: str) -> None:
    for words, typed in (
        (["21", "41"], None), (["21,", "41"], None), ([], "21\n41\n"), (["-"], "21, 41"), (["21,41"], None),
    ):
        assert done("decode", "-t", sailor, *words, input=typed) == "a sailor\n"
    assert done("decode", "-t", sailor, input="") == "\n"


@pytest.mark.parametrize("bad", ["999", "x", "1.5", "9" * 5000, "nul", "٣"])
def test_an_id_that_is_none(bad: str, sailor: str) -> None:
    said = refused("decode", "-t", sailor, bad)
    assert "id" in said
    assert len(said) < 200


def test_what_has_no_id_goes_both_ways(tmp_path: Path) -> None:
    """`encode` prints null for it, and `decode` takes that."""
    file = str(tmp_path / "a.json")
    done(
        "train", "sample:sailor", "-r", "udl-notebook", "-s", "unknown=per-unit", "--merges", "20", "-o",
        file, "-q",
    )
    ids = done("encode", "-t", file, "a ß sea")
    assert ids.split().count("null") == 1
    assert (
        done("decode", "-t", file, input=ids) == done("decode", "-t", file, *ids.split()) == "a \ufffd sea\n"
    )
    row = done("encode", "-t", file, "--jsonl", input=json.dumps({"text": "a ß sea"}) + "\n")
    assert json.loads(row)["ids"].count(None) == 1
    decoded = json.loads(done("decode", "-t", file, "--jsonl", input=row))
    assert decoded == {"text": "a \ufffd sea", "schema": 1}


def test_decoding_lines(sailor: str) -> None:
    lines = [
        '{"ids": [21, 41]}', '{"ids": [999]}', '{"ids": "a"}', '{"ids": [true]}', '{"ids": [null]}',
        '{"ids": [1.5]}', "{}",
    ]
    result = cli("decode", "-t", sailor, "--jsonl", input="\n".join(lines))
    assert result.exit_code == 1
    good, *bad = rows(result.stdout)
    assert good == {"text": "a sailor"}
    unknown = bad.pop(3)
    assert unknown == {"text": "\ufffd"}
    assert len(bad) == 5
    assert all(list(row) == ["text", "error"] and row["text"] is None for row in bad)


def test_splitting() -> None:
    assert done("split", "-s", "split=gpt2", "It's  2\n") == "It\n's\n·\n·2\n⏎\n"
    row = json.loads(done("split", "-s", "split=whitespace", "-s", "normalize=lowercase", "-s", "unit=char",
                          "-s", "mark=prefix:##", "--json", "Löw a"))
    assert row == {
        "text": "Löw a", "normalized": "löw a", "pieces": ["löw", "a"],
        "units": [["6c", "2323c3b6", "232377"], ["61"]], "schema": 1,
    }
    assert done("split", "-r", "bert", "A-b") == "a\n-\nb\n"
    assert done("split", "-s", "split=none", input="a b\n") == "a·b\n"
    assert rows(done("split", "-s", "split=regex:[ab]", "--jsonl", input='{"text": "xaxb"}'))[0][
        "pieces"
    ] == ["a", "b"]
    assert rows(cli("split", "-s", "split=space", "--jsonl", input="3").stdout)[0]["text"] is None


def test_recipes_list_every_preset_and_axis() -> None:
    text = done("recipes")
    for name in (*PRESETS, *AXES):
        assert f"  {name} " in text
    everything = json.loads(done("recipes", "--json"))
    assert [row["name"] for row in everything["presets"]] == list(PRESETS)
    assert [row["name"] for row in everything["axes"]] == list(AXES)
    for row in everything["presets"]:
        assert Recipe.from_dict(row["recipe"]) == PRESETS[row["name"]].recipe


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_prints_as_a_recipe_file(name: str) -> None:
    assert Recipe.from_toml(done("recipes", name)) == PRESETS[name].recipe
    row = json.loads(done("recipes", name, "--json"))
    assert row["stops"] | ({"specials": row["specials"]} if row["specials"] else {}) == {
        word: value for word, value in PRESETS[name].run.words.items() if word != "first_id"
    }


def test_an_axis_prints_its_values() -> None:
    assert done("recipes", "mark").splitlines()[1].split(maxsplit=1) == [
        "end-symbol:TEXT", "a separate unit after the word",
    ]
    about = {f"{name}:" if one.text else name: one.about for name, one in AXES["mark"].items()}
    assert json.loads(done("recipes", "mark", "--json"))["values"] == about


def test_a_row_is_valid_utf8_on_one_line() -> None:
    row = json_row({"text": "a\ud800\udcff\u2028\n\x1b"})
    assert row.encode().decode() == row
    assert "\n" not in row
    assert "\x1b" not in row
    assert json.loads(row) == {"text": "a\ufffd\ufffd\u2028\n\x1b", "schema": 1}


def test_text_that_is_no_text_is_written_as_its_bytes(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_text("a\udcff")
    assert capfdbinary.readouterr().out == b"a\xff\n"


def test_ids_in_a_flat_file(gpt2: str, tmp_path: Path) -> None:
    target, texts = tmp_path / "ids.bin", tmp_path / "texts.jsonl"
    texts.write_text('{"text": "a sailor"}\n{"text": "went"}\n')
    first, second = (done("encode", "-t", gpt2, text).split() for text in ("a sailor", "went"))
    wanted = list(map(int, first + second))
    for dtype, code in (([], "H"), (["--dtype", "uint16"], "H"), (["--dtype", "uint32"], "I")):
        result = cli("encode", "-t", gpt2, "--corpus", str(texts), "-o", str(target), *dtype)
        assert (result.exit_code, result.stdout) == (0, "")
        assert result.stderr == f"tokentui: {target}: {len(wanted)} ids\n"
        assert array(code, target.read_bytes()).tolist() == wanted
    done("encode", "-t", gpt2, "-o", str(target), input="a sailor\n")
    assert array("H", target.read_bytes()).tolist() == list(map(int, first))


@pytest.mark.parametrize(("words", "error"), [
    (["--corpus", "sample:sailor"], "--corpus: requires --output"),
    (["--dtype", "uint16", "a"], "--dtype: requires --output"),
    (["-o", "x", "--json", "a"], "--output and --json"), (["-o", "x", "--sample", "1", "a"], "and --sample"),
    (["-o", "x", "--corpus", "sample:sailor", "a"], "TEXT and --corpus"),
    (["-o", "folder/x", "a"], "no such folder"),
    (["-o", "x", "--corpus", "sample:hug"], "counted words are no text"),
])
def test_a_flat_file_is_refused(
    words: list[str], error: str, gpt2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert error in refused("encode", "-t", gpt2, *words)
    assert not [*tmp_path.iterdir()]
