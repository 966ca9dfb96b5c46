"""Damaged files of every format: refused in one line, or opened; never a traceback, never long."""

from __future__ import annotations

import base64
import copy
import functools
import json
import random
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from exporting import dumps
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from protomake import message, varint
from running_cli import cli

from tokentui import learn
from tokentui.axes import preset
from tokentui.core import engines
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import is_safe
from tokentui.formats.files import load
from tokentui.formats.sentencepiece.charsmap import TrieState, compiled
from tokentui.formats.tokens import LETTERS
from tokentui.learn import start
from tokentui.recipe import Run, Stops
from tokentui.text.read import read

LONGEST = 5.0
"""Seconds of processor time for one damaged file: far more than any takes."""


def huggingface() -> dict[str, Any]:
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [
            {
                "id": 0, "content": "<unk>", "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": False, "special": True,
            }
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "NFC"}, {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
            ],
        },
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Split", "pattern": {"Regex": r"\w+|\W"}, "behavior": "Isolated", "invert": False},
                {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True},
            ],
        },
        "post_processor": {
            "type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}], "pair": [],
            "special_tokens": {},
        },
        "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]},
        "model": {
            "type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True,
            "ignore_merges": False, "dropout": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "vocab": {"<unk>": 0, "a": 1, "b": 2, "ab": 3, "▁": 4, "▁ab": 5},
            "merges": [["a", "b"], ["▁", "ab"]],
        },
    }


def unigram() -> dict[str, Any]:
    return {
        "version": "1.0",
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.5], ["ab", -2.5]]},
    }


def sentencepiece() -> bytes:
    rows = [
        ("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("▁", -1.0, 1), ("a", -2.0, 1), ("▁a", -0.5, 1), ("ab", -3.0, 4),
    ]
    pieces = [(1, message([(1, text.encode()), (2, score), (3, kind)])) for text, score, kind in rows]
    trie = bytes(4 * 256)
    charsmap = len(trie).to_bytes(4, "little") + trie + b"x\0"
    return message([*pieces, (2, message([(3, 1)])), (3, message([(1, b"own"), (2, charsmap), (3, 1)]))])


def ranks() -> bytes:
    tokens = [*(bytes((value,)) for value in range(97, 110)), b"ab", b"abc"]
    return b"".join(base64.b64encode(piece) + b" %d\n" % n for n, piece in enumerate(tokens))


def own() -> bytes:
    run = start(read("sample:hugs"), preset("hf-bpe"), Run(specials=("<unk>",)))
    learn.run(run, Stops(merges=4))
    return dumps(run.tokenizer()).encode()


FILES: dict[str, Callable[[], bytes]] = {
    "tokenizer.json": lambda: json.dumps(huggingface()).encode(),
    "unigram.json": lambda: json.dumps(unigram()).encode(),
    "m.model": sentencepiece,
    "x.tiktoken": ranks,
    "codes": lambda: "#version: 0.2\na b</w>\nc d\ncd é</w>\n".encode(),
    "vocab.txt": lambda: "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n##b\né\n".encode(),
    "clip.txt": lambda: b'"bpe_simple_vocab_16e6.txt#version: 0.2\na b\nab c</w>\nd e\n',
    "own.json": own,
    "minbpe.model": lambda: b"minbpe v1\n\\w+|\\W\n1\n<|e|> 300\n97 98\n256 99\n",
    "tekken.json": lambda: json.dumps(
        {
            "config": {"pattern": r"\w+|\W", "default_vocab_size": 6, "default_num_special_tokens": 1},
            "vocab": [
                {"rank": n, "token_bytes": base64.b64encode(piece).decode()}
                for n, piece in enumerate((b"a", b"b", b"ab"))
            ],
        }
    ).encode(),
    "vocab.json": lambda: json.dumps({name: n for n, name in enumerate([*LETTERS, "ab", "<|e|>"])}).encode(),
}


VALUES = (
    b"0", b"-1", b"1e999", b"99999999999999999999", b"null", b"true", b'""', b"[]", b"{}", b"NaN",
    b'"\\ud800"', b"\xff", b"\0", b"\n", b" ", b"</w>", b"##", b"[[[[", b"\xe2\x96\x81",
)
"""What is put into files in place of something."""


def mutated(data: bytes, draw: random.Random) -> bytes:
    """A copy with some damage: turned bits, parts left out, said twice, moved, or replaced."""
    out = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 4, 12))):
        at, size = draw.randrange(len(out) + 1), draw.choice((0, 1, 1, 2, 5, 20, 100))
        part = bytes(out[at : at + size])
        kind = draw.randrange(6)
        if kind == 0 and out:
            out[draw.randrange(len(out))] ^= 1 << draw.randrange(8)
        elif kind == 1:
            out[at : at + size] = b""
        elif kind == 2:
            out[at:at] = part * draw.choice((1, 1, 2, 50))
        elif kind == 3:
            out[at : at + size] = b""
            place = draw.randrange(len(out) + 1)
            out[place:place] = part
        elif kind == 4:
            out[at : at + size] = draw.choice(VALUES)
        else:
            out[at : at + size] = draw.randbytes(size)
    return bytes(out)


def opened(path: Path, data: bytes) -> str:
    """What comes of it: the error, or empty when it opens. Then it also encodes, or says why not."""
    path.write_bytes(data)
    begin = time.process_time()
    try:
        tokenizer = load(path, "gpt2" if path.suffix == ".tiktoken" else "")
        entries = list(tokenizer.entries())
        assert len(entries) == tokenizer.vocab_size
        tokenizer.decode(number for number in tokenizer.encode("ab abé\n1").ids if number is not None)
        tokenizer.at(tokenizer.merges // 2).encode("ab ab")
        return ""
    except TokentuiError as error:
        return str(error)
    finally:
        assert time.process_time() - begin < LONGEST


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\n")
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_whole_files_open(folder: Path, name: str) -> None:
    refused = opened(folder / name, FILES[name]())
    assert refused == "" or "is not in the vocabulary" in refused


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize("name", FILES)
def test_cut_off_anywhere(folder: Path, name: str) -> None:
    data = FILES[name]()
    for end in range(0, len(data), max(1, len(data) // 120)):
        assert "\n" not in opened(folder / name, data[:end])


@pytest.mark.first_run(cases=5)
@pytest.mark.parametrize("name", FILES)
def test_damage_of_any_kind(folder: Path, name: str) -> None:
    _damage(folder / name, FILES[name](), random.Random(name), 40)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", FILES)
def test_ten_thousand_damaged_copies(folder: Path, name: str) -> None:
    _damage(folder / name, FILES[name](), random.Random(f"{name} again"), 10_000)


def _damage(path: Path, data: bytes, draw: random.Random, copies: int) -> None:
    for _ in range(copies):
        assert "\n" not in opened(path, mutated(data, draw))


def restructured(data: bytes, draw: random.Random) -> bytes:
    """A copy of a document of JSON in which a few values are others, gone, or said twice. It is still JSON,
    so more of these open."""
    document: Any = json.loads(data)
    others = [
        json.loads(data), 0, -1, 1, 10**20, 1.5, None, True, "", "a", "\x1b[31m", "\ud800", [], {}, [0, 1],
    ]
    for _ in range(draw.choice((1, 1, 2, 4))):
        places: list[tuple[Any, Any]] = [(document, key) for key in document]
        for holder, key in places:
            if isinstance(value := holder[key], dict | list) and len(places) < 5000:
                keys = value if isinstance(value, dict) else range(len(value))
                places += [(value, inner) for inner in keys]
        if not places:
            break
        holder, key = draw.choice(places)
        kind = draw.randrange(4)
        if kind == 0:
            del holder[key]
        elif kind == 1:
            holder[key] = draw.choice(others)
        elif kind == 2:
            there, place = draw.choice(places)
            holder[key] = copy.deepcopy(there[place]) if place in there or isinstance(there, list) else 0
        elif isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[key]))
        else:
            holder[draw.choice(["a", "type", "\x1b]0;x\x07", "\u202e"])] = holder[key]
    return json.dumps(document).encode()


def _command_on_damage(path: Path, data: bytes, draw: random.Random, copies: int) -> None:
    """Run commands on damaged copies: they end with a result or one line, and write no control character."""
    split = ["-s", "split=gpt2"] if path.suffix == ".tiktoken" else []
    file = ["-t", str(path), *split]
    lines = [
        ["encode", *file, "ab abé\n1", "--explain"], ["encode", *file, "--special-tokens", "ab"],
        ["inspect", *file], ["inspect", *file, "--glitch"], ["decode", *file, "0", "1", "2", "--json"],
        ["convert", str(path), *split],
    ]
    for number in range(copies):
        damaged = restructured(data, draw) if path.suffix == ".json" and number % 4 else mutated(data, draw)
        path.write_bytes(damaged)
        for words in lines:
            result = cli(*words)
            about = f"{words} {number}: {damaged!r}"
            assert result.exit_code in (0, 1, 2), about
            assert "internal error" not in result.stderr, about
            written = result.stderr if "--json" in words else result.stdout + result.stderr
            assert all(map(is_safe, written.split("\n"))), about
            if result.exit_code == 2 and not result.stdout:
                assert result.stderr.startswith("tokentui: "), about
    assert engines.available() == _KERNELS, "a file turned kernels off"


_KERNELS = engines.available()


def with_half_pairs(value: Any) -> Iterator[Any]:
    """Yield copies of a document: in each, another text has half of a surrogate pair at its end."""
    if isinstance(value, str | None):
        yield (value or "") + "\ud800"
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield {(key + "\ud800" if name == key else name): held for name, held in value.items()}
            yield from ({**value, key: other} for other in with_half_pairs(inner))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from ([*value[:at], other, *value[at + 1 :]] for other in with_half_pairs(inner))


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".json")])
@pytest.mark.slow
def test_half_of_a_surrogate_pair_anywhere_in_a_document(folder: Path, name: str) -> None:
    """JSON can write one, and UTF-8 cannot."""
    path, other = folder / name, folder / f"other-{name}"
    data = FILES[name]()
    other.write_bytes(data)
    changed = list(with_half_pairs(json.loads(data)))
    text = "ab abé\n1"
    lines = [
        ["encode", "-t", str(path), text, "--explain"], ["encode", "-t", str(path), "--special-tokens", text],
        ["inspect", "-t", str(path)], ["inspect", "-t", str(path), "--glitch"],
        ["inspect", "-t", str(path), "--table", str(folder / "t.tsv")],
        ["inspect", "-t", str(path), "--table", str(folder / "t.jsonl")],
        ["diff", str(path), str(path)], ["diff", str(path), str(other)], ["convert", str(path)],
        *(["convert", str(path), str(folder / f"out.{end}")]
          for end in ("json", "hf.json", "tiktoken", "model")),
        ["edit", str(path), str(folder / "edited.json"), "--add", "x"],
        ["decode", "-t", str(path), "0", "1", "2", "257"],
    ]
    for document in changed[:: max(1, len(changed) // 40)]:
        path.write_text(json.dumps(document))
        for words in lines:
            result = cli(*words)
            assert result.exit_code in (0, 1, 2), (words, document, result.stderr)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.slow
def test_commands_on_damaged_copies(folder: Path, name: str) -> None:
    _command_on_damage(folder / name, FILES[name](), random.Random(f"{name} commands"), 5)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", FILES)
def test_commands_on_many_damaged_copies(folder: Path, name: str) -> None:
    _command_on_damage(folder / name, FILES[name](), random.Random(f"{name} more commands"), 300)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.first_run(cases=2)
def test_bits_turned_anywhere(folder: Path, name: str) -> None:
    data, draw = FILES[name](), random.Random(name)
    for _ in range(120):
        damaged = bytearray(data)
        for _ in range(draw.choice((1, 1, 1, 3, 20))):
            damaged[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        assert "\n" not in opened(folder / name, bytes(damaged))


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "vocab", "pattern", "Regex", "String", "id", "content", "merges", "single"]
            ),
            inner, max_size=3,
        )
    ),
    max_leaves=5,
)


def ways(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of a JSON value."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(found for key, one in below for found in ways(one, (*way, key)))]


@pytest.mark.slow
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_any_value_of_a_tokenizer_json_replaced(tmp_path: Path, data: st.DataObject) -> None:
    document = data.draw(st.sampled_from([huggingface(), unigram()]))
    *way, last = data.draw(st.sampled_from([way for way in ways(document) if way]))
    target = functools.reduce(lambda value, key: value[key], way, document)
    target[last] = data.draw(JUNK)
    assert "\n" not in opened(tmp_path / "tokenizer.json", json.dumps(document).encode())


def changed(*way: Any) -> bytes:
    document = huggingface()
    functools.reduce(lambda value, key: value[key], way[:-2], document)[way[-2]] = way[-1]
    return json.dumps(document).encode()


CUT = ("pre_tokenizer", "pretokenizers", 0)
RULES = {"type": "Precompiled"}


def nested(depth: int) -> dict[str, Any]:
    spec: dict[str, Any] = {"type": "NFC"}
    for _ in range(depth):
        spec = {"type": "Sequence", "normalizers": [spec]}
    return spec


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (changed("version", "2.0"), "version: '2.0' is not '1.0'"),
        (changed("normalizer", {"type": "Magic"}), "normalizer: 'Magic' is not a supported type"),
        (changed("pre_tokenizer", {"type": ["x"]}), "pre_tokenizer: \"['x']\" is not a supported type"),
        (changed("decoder", 7), "decoder: expected an object, not a whole number"),
        (changed("normalizer", nested(100)), "not a tokenizer: the JSON is nested too deeply"),
        (changed("normalizer", nested(40) | {"normalizers": 7}),
            "normalizer.Sequence.normalizers: expected a list"),
        (changed("model", "vocab", "ab", -3), "model.vocab: the id of 'ab' is -3"),
        (changed("model", "vocab", "ab", 2**40), "model.vocab: the id of 'ab' is 1099511627776"),
        (changed("model", "vocab", "ab", True), "model.vocab: the id of 'ab' is True"),
        (changed("model", "merges", 1, ["▁", "zz"]), "model.merges row 1: 'zz' is not in the vocabulary"),
        (changed("model", "merges", 1, ["b", "a"]), "model.merges row 1: 'ba' is not in the vocabulary"),
        (changed("model", "merges", 1, ["▁"]), "model.merges row 1: not a pair of tokens"),
        (changed("model", "merges", 1, [["▁"], "ab"]), "model.merges row 1: not a pair of tokens"),
        (changed("model", "merges", ["a b", 5]), "model.merges row 1: not a pair of tokens"),
        (changed("model", "merges", ["a  b"]), "model.merges row 0: not a pair of tokens"),
        (changed("model", "type", "GPT"), "model: no such type of model: 'GPT'"),
        (changed("model", "fuse_unk", "yes"), "model.fuse_unk: expected true or false, not text"),
        (changed("added_tokens", 0, "id", "zero"), "added_tokens row 0: expected a whole number"),
        (changed(*CUT, "pattern", {"Regex": "("}), "pre_tokenizer.Sequence.Split.pattern: the pattern"),
        (changed(*CUT, "behavior", "Eaten"), "pre_tokenizer.Sequence.Split.behavior: no such value"),
        (
            changed("pre_tokenizer", "pretokenizers", 1, "replacement", "ab"),
            "pre_tokenizer.Sequence.Metaspace.replacement: expected one character",
        ),
        (
            changed("normalizer", RULES | {"precompiled_charsmap": "AAA"}),
            "normalizer.Precompiled.precompiled_charsmap: not",
        ),
        (
            changed("normalizer", RULES | {"precompiled_charsmap": "/////w=="}),
            "normalizer.Precompiled.precompiled_charsmap",
        ),
        (
            changed("post_processor", "single", 0, {"SpecialToken": {"id": "x"}}),
            "post_processor.special_tokens",
        ),
        (
            json.dumps(huggingface()).replace('"a": 1', '"a": 1, "a": 2').encode(),
            "an object has the key 'a' twice",
        ),
        (json.dumps(unigram()).replace("-1.5", "NaN").encode(), "NaN is not a JSON number"),
        (json.dumps(unigram()).replace("-1.5", "-1e999").encode(), "model.vocab row 1: a score is too large"),
        (
            json.dumps(unigram()).replace('"unk_id": 0', '"unk_id": 9').encode(),
            "model.unk_id: there is no row 9",
        ),
        (b'{"model": {"vocab": ' + b"[" * 100_000, "not a tokenizer: the JSON is nested too deeply"),
        (b'{"model": {"vocab": {"a": ' + b"9" * 10_000 + b"}}}", "a number is too large"),
    ],
)
def test_a_line_that_says_what(tmp_path: Path, data: bytes, line: str) -> None:
    path = tmp_path / "tokenizer.json"
    refused = opened(path, data)
    assert refused.startswith(f"{path}: {line}")
    assert refused.endswith(")"), "a hint belongs there"


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (sentencepiece()[:-3], "damaged at byte"),
        (sentencepiece() + b"\x0b", "damaged at byte"),
        (sentencepiece() + b"\x08\x01", "pieces row 6: field 1 is a varint, not bytes"),
        (sentencepiece() + b"\x0a" + b"\xff" * 9 + b"\x01", "damaged at byte"),
        (sentencepiece() + b"\x0a" + b"\xff" * 11, "damaged at byte"),
        (sentencepiece() + message([(1, message([(1, b"\xff")]))]), "pieces row 6: field 1 is not UTF-8"),
        (
            sentencepiece() + message([(1, message([(1, b"x"), (2, float("nan"))]))]),
            "pieces row 6: a score is not a number",
        ),
        (
            sentencepiece() + message([(1, message([(1, b"x"), (3, 9)]))]),
            "pieces row 6: there is no type 9 of pieces",
        ),
        (sentencepiece() + message([(1, message([(1, b"a")]))]), "pieces row 6: 'a' occurs"),
        (sentencepiece() + message([(2, message([(3, 7)]))]), "trainer_spec: there is no type 7 of models"),
        (
            sentencepiece() + message([(3, message([(2, b"\x08\0\0")]))]),
            "normalizer_spec.precompiled_charsmap: the",
        ),
        (sentencepiece() + varint(0), "damaged at byte"),
        (sentencepiece() + message([(2, message([(44, b"x" * 2000)]))]), "trainer_spec: the surface of"),
    ],
)
def test_a_line_for_a_damaged_message(tmp_path: Path, data: bytes, line: str) -> None:
    path = tmp_path / "m.model"
    refused = opened(path, data)
    assert refused.startswith(f"{path}: {line}")


def rules(*units: tuple[int, int]) -> bytes:
    """A model whose rules are a trie of these units, and one result."""
    trie = [0] * 1024
    for at, unit in units:
        trie[at] = unit
    blob = struct.pack("<I1024I", 4096, *trie) + b"y" * 1000 + b"\0"
    return sentencepiece() + message([(3, message([(2, blob)]))])


def test_rules_without_an_end_and_rules_that_make_too_much(tmp_path: Path) -> None:
    path = tmp_path / "m.model"
    path.write_bytes(rules((97, 97 << 10 | 97)))  # behind an a the same unit again
    assert len(load(path).encode("a" * 128).ids) == 128
    with pytest.raises(TokentuiError, match="rule is longer than 128 bytes"):
        load(path).encode("a" * 20_000)
    path.write_bytes(rules((97, 512 << 10 | 0x100 | 97), (512 ^ 97, 1 << 31)))
    with pytest.raises(TokentuiError, match="more than 64 times"):
        load(path).encode("a" * 20_000)


def test_a_rule_that_is_too_long_is_told(tmp_path: Path) -> None:
    root = TrieState()
    for n in (100, 200):
        at = root
        for _ in range(n):
            at = at.follow.setdefault("a", TrieState())
        at.made = str(n)
    path = tmp_path / "m.model"
    path.write_bytes(sentencepiece() + message([(3, message([(2, compiled(root))]))]))
    tokenizer = load(path)
    assert len(tokenizer.encode("a" * 127).ids) == len(tokenizer.encode("100" + "a" * 27).ids)
    with pytest.raises(TokentuiError, match="rule is longer than 128 bytes"):
        tokenizer.encode("a" * 200)


def test_a_pattern_that_explodes_is_stopped(tmp_path: Path, limited: Callable[..., None]) -> None:
    limited(file_pattern_seconds=0.02)
    path = tmp_path / "tokenizer.json"
    path.write_bytes(
        changed("pre_tokenizer", "pretokenizers", 0, "pattern", {"Regex": r"(?:x|xx|xxx)+(?<!x)"})
    )
    with pytest.raises(TokentuiError, match=r"Split\.pattern at .*: the pattern takes too long"):
        load(path).encode("x" * 60)
