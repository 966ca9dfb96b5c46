"""The JSON of every command, against its documented schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from running_cli import cli, done
from safetensors_files import model

from tokentui.analyze.report import JSON_VERSION
from tokentui.cli.main import COMMANDS
from tokentui.cli.schemas import SCHEMAS, faults

TEXT = "sample:english"
LINES = json.dumps({"text": "The crowd"})
ENCODE, SPLIT, STRING = "encode --json, --jsonl", "split --json, --jsonl", "inspect STRING, inspect --id"
CASES: dict[str, tuple[str, ...]] = {
    ENCODE: ("encode -t a.json --json The", "encode -t u.json --json The", "encode -t a.json --jsonl"),
    "encode --chat": ("encode -t h.json --chat chat.json --chat-template chat.jinja --json",),
    "encode --prefix-stability": ("encode -t a.json --prefix-stability --json The",),
    "decode --json": ("decode -t a.json --json 1 2",),
    "decode --jsonl": ("decode -t a.json --jsonl",),
    "decode --stream": ("decode -t a.json --stream --json 1 2 200",),
    "decode --check": (
        "decode -t a.json --check --json 71 68", "decode -t a.json --check --json 200",
        "decode -t u.json --check --json 1 2 3",
    ),
    "decode --check --jsonl": ("decode -t a.json --check --jsonl --json",),
    SPLIT: ("split -r gpt2 --json The", "split -r gpt2 --jsonl"),
    "grade": ("grade small.toml merges.txt --json", "grade small.toml right.txt --json",
        "grade small.toml handed --json"),
    "grade EXERCISE": ("grade small.toml --json",),
    "grade, without arguments": ("grade --json",),
    "A line of --jsonl that fails": ("encode -t w.json --jsonl",),
    "train --trace": tuple(f"train {TEXT} -q -r {words} --trace -" for words in (
        "gpt2 --merges 5", "wordpiece --merges 5", "superbpe --merges 5", "greedtok --merges 5",
        "sentencepiece-unigram --vocab-size 200 --special <unk>", "pickybpe --merges 5",
        "length-max --merges 5", "boundlessbpe --merges 5", "pathpiece --merges 5",
    )),
    "compare": (
        f"compare {TEXT} -t a.json -t b.json --json --text The", f"compare {TEXT} -t u.json -t w.json --json",
        f"compare {TEXT} -r gpt2 -r wordpiece --merges 9 --json",
        f"compare {TEXT} -r sentencepiece-unigram -r gpt2 --vocab-size 300 --json",
    ),
    "languages": ("languages -t a.json --json", f"languages -t w.json {TEXT} sample:hindi --json"),
    "diff": (
        f"diff a.json b.json {TEXT} --json", "diff a.json u.json --json",
        "diff a.json a.json --same-ids --json",
    ),
    "inspect": (
        f"inspect -t a.json --corpus {TEXT} --exhaust --json", "inspect -t u.json --json",
        f"inspect -t w.json --corpus x={TEXT} --corpus y=sample:hugs --json",
    ),
    STRING: (
        f"inspect -t a.json the --corpus {TEXT} --json", "inspect -t u.json crowd --json",
        "inspect -t a.json --id 300 --json", "inspect -t w.json zzz€ --json",
    ),
    "inspect --glitch": (f"inspect -t a.json --glitch {TEXT} --json",),
    "check": ("check -t a.json golden.json --json", "check -t b.json golden.json --json"),
    "inspect --table": ("inspect -t a.json --table x.tsv --json",),
    "inspect --chkhsh": ("inspect -t a.json --chkhsh --json",),
    "inspect --budget": (
        f"inspect -t a.json --budget {TEXT} --second sample:hugs --target 0.5 --json",
        f"inspect -t a.json --budget {TEXT} --json",
    ),
    "bound": (
        f"bound -t a.json {TEXT} --vocab-size 280 --json",
        "bound -r gpt2 sample:hugs --vocab-size 260 --json",
    ),
    "bound --check": ("bound --check bound.jsonl --json",),
    "inspect --bound": (f"inspect -t a.json --bound {TEXT} --json",),
    "mixture": tuple(
        "mixture -t a.json --corpus a=sample:english --corpus b=sample:python --merges 30 --json"
        for _ in range(bool(find_spec("scipy")))
    ),
    "inspect --worst-words": (f"inspect -t a.json --worst-words {TEXT} --json",),
    "inspect --charts": (f"inspect -t a.json --charts {TEXT} --json",),
    "inspect --glitch --weights": ("inspect -t a.json --glitch --weights m.safetensors --json",),
    "budget": (
        f"budget -t a.json {TEXT} sample:hugs --sizes 280,300 --embedding-dim 64 --target 0.5 --json",
        f"budget -t a.json {TEXT} --training-bytes 2k --context 128 --price 0.5 --json",
        f"budget -t a.json {TEXT} --sizes 280,300 --bound --json",
    ),
    "convert": ("convert a.json --json", "convert a.json x.tiktoken --json"),
    "edit": (
        "edit a.json o.json --add zq --special <e> --prune sample:hugs --json",
        "edit a.json o.json --extend sample:hugs --vocab-size 330 --json",
    ),
    "verify -r --against": tuple(
        f"verify {TEXT} -r {recipe} --against {peer} --merges 20 --json"
        for recipe, peer in (("gpt2", "tokenizers"), ("minbpe-basic", "rustbpe")) if find_spec(peer)
    ),
    "verify -r --against sentencepiece, of a unigram model": tuple(
        f"verify {TEXT} -r sentencepiece-unigram --against {peer} --vocab-size 120 --json"
        for peer in ("sentencepiece",) if find_spec(peer)
    ),
    "verify -t --against": tuple(
        f"verify {TEXT} -t h.json --against {peer} --json" for peer in ("tokenizers",) if find_spec(peer)
    ),
    "verify -t --against --against": tuple(
        f"verify {TEXT} -t h.json --against {peer} --against {peer} --json"
        for peer in ("tokenizers",) if find_spec(peer)
    ),
    "verify -t": (f"verify {TEXT} -t a.json --json", "verify sample:hugs -t a.json --json"),
    "recipes": ("recipes --json",),
    "recipes PRESET": ("recipes gpt2 --json",),
    "recipes AXIS": ("recipes split --json",),
}
"""Lines of words by the schema of what they print."""
INPUT = {"decode --jsonl": '{"ids": [1, 2]}\n', "decode --check --jsonl": "[71, 68]\n[200]\n"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tokenizers of several kinds."""
    folder = tmp_path_factory.mktemp("json")
    for name, recipe, *words in (
        ("a.json", "gpt2", "--merges", "60"), ("b.json", "minbpe-basic", "--merges", "50"),
        ("u.json", "sentencepiece-unigram", "--vocab-size", "200", "--special", "<unk>"),
        ("w.json", "udl-notebook", "--merges", "50"),
    ):
        done("train", TEXT, "-r", recipe, *words, "-o", str(folder / name), "-q")
    done("convert", str(folder / "a.json"), str(folder / "h.json"), "--to", "huggingface")
    done("bound", "-t", str(folder / "a.json"), TEXT, "-o", str(folder / "bound.jsonl"), "-q")
    rows = [[float(n), 1.0, -1.0] for n in range(400)]
    tensors = {"wte.weight": (rows, "F32"), "lm_head.weight": (rows, "F16")}
    (folder / "m.safetensors").write_bytes(model(tensors))
    done("pin", "-t", str(folder / "a.json"), "-o", str(folder / "golden.json"))
    (folder / "small.toml").write_text('title = "a"\nrecipe = "minbpe"\nmerges = 2\ncorpus_text = "ab ab '
                                       'bc"\n')
    (folder / "merges.txt").write_text("Ġ a\na b\n")
    (folder / "right.txt").write_text("a b\nĠ ab\n")
    (folder / "handed").mkdir()
    (folder / "handed" / "a.txt").write_text("a b\nĠ ab\n")
    (folder / "handed" / "b.pkl").write_text("x")
    (folder / "chat.json").write_text('[{"role": "user", "content": "The <|x|>"}]')
    (folder / "chat.jinja").write_text("{{ bos_token }}<|user|>{{ messages[0].content }}")
    return folder


def printed(line: str, schema: str) -> Iterator[dict[str, Any]]:
    """The objects that a command prints."""
    text = '{"text": "zzz\\u20ac"}\n' if "fails" in schema else INPUT.get(schema, f"{LINES}\n")
    result = cli(*line.split(), input=text)
    assert result.exit_code in (0, 1), result.output
    return map(json.loads, result.stdout.splitlines())


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.first_run(cases=2)
def test_what_a_command_prints_has_its_schema(
    schema: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    for line in CASES[schema]:
        objects = list(printed(line, schema))
        assert objects, line
        for one in objects:
            assert one.pop("schema") == JSON_VERSION, line
            assert list(faults(one, SCHEMAS[schema])) == [], line


def test_every_command_with_json_has_a_schema() -> None:
    options = {"--json", "--jsonl", "--trace"}
    for name, command in COMMANDS.items():
        has = options & {option for param in command.load().params for option in param.opts}
        tried = [line for lines in CASES.values() for line in lines if line.split()[0] == name]
        for option in has:
            assert any(option in line.split() for line in tried), (name, option)


@pytest.mark.parametrize(("value", "type_", "fault"), [
    ({"a": 1}, {"a": "text"}, ".a: no text"), ({}, {"a": "int"}, ".a: missing"), ({}, {"a?": "int"}, None),
    ({"a": 1, "b": 2}, {"a": "int"}, ".b: not in the schema"), (True, "int", "no int"), (None, "int?", None),
    ([1, "x"], ["int"], "[1]: no int"), ({"a": 1}, {"*": "int"}, None), ("0G", "hex", "no hex"),
    (1, ("text", "null"), "none of 2 types"),
])
def test_faults(value: object, type_: Any, fault: str | None) -> None:
    found = list(faults(value, type_))
    assert (fault is None and not found) or (fault is not None and len(found) == 1 and fault in found[0])
