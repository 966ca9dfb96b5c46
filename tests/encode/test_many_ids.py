"""Many ids by a kernel: the text and the errors are those of plain Python, for every kind of decoder."""

from __future__ import annotations

import functools
import itertools
import json
import random
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import oracle
import pytest
from cancelling import cancel_at, checks_of
from exporting import preset

import tokentui
from tokentui.core import engines, jobs
from tokentui.core.errors import TokentuiError
from tokentui.encode import decode, id_texts
from tokentui.encode.decode import Decoder
from tokentui.encode.tokenizer import Tokenizer
from tokentui.preset_table import PRESETS

NAMES = [
    "▁a", "a", "▁", "##b", "##", "a</w>", "</w>", "<0xC3>", "<0xA9>", "<0x41>", "<0xF0>", "<0x9F>", "<0x98>",
    "<0x82>", "<0xED>", "<0xA0>", "<0xC0>", "<0x80>", "<0xE0>", " n't", " .", "  a ", "é", "Ġthe", "Ċ", "Ã",
    "©",
    "日本", "<0x4", "0xC3>", "x" * 70, "\ufffd", " ", "▁▁▁", "\udcc3", "\udca9", "\ud83d", "<unk>", "<s>",
]
BYTES = {"type": "ByteFallback"}
FUSE = {"type": "Fuse"}
SPACES = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}


def sequence(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "decoders": list(steps)}


def strip(start: int, stop: int) -> dict[str, Any]:
    return {"type": "Strip", "content": " ", "start": start, "stop": stop}


def replace(text: str, content: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: text}, "content": content}


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
WORD_PIECE = {"type": "WordPiece", "prefix": "##", "cleanup": True}
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
BPE = {"type": "BPEDecoder", "suffix": "</w>"}
CTC = {"type": "CTC", "pad_token": "a", "word_delimiter_token": "|", "cleanup": True}
DECODERS: list[tuple[dict[str, Any] | None, bool | None]] = [
    (None, True), (BYTE_LEVEL, True), (WORD_PIECE, True), ({**WORD_PIECE, "cleanup": False}, True),
    (METASPACE, True), ({**METASPACE, "prepend_scheme": "never"}, True), (BPE, True), (BYTES, True),
    (FUSE, True), (SPACES, True), (strip(1, 0), True), (strip(1, 1), True), (sequence(), True),
    (sequence(SPACES, BYTES, FUSE, strip(1, 0)), True), (sequence(SPACES, BYTES, FUSE), True),
    (sequence(SPACES, BYTES), True), (sequence(BYTES, FUSE, strip(2, 3)), True),
    (sequence(SPACES, FUSE), True), (sequence(METASPACE, FUSE, strip(0, 1)), True),
    (sequence(BYTE_LEVEL, strip(1, 1)), True), (sequence(replace("a", "bb"), BYTES, FUSE), True),
    (sequence(replace("a", "b" * 80), FUSE), True), (sequence(replace("\ufffd", "?"), BYTES, FUSE), False),
    (sequence(replace("x", ""), BYTES, FUSE), None), (sequence(replace("<", "<<"), BYTES, FUSE), None),
    (sequence(replace("0xC3>", "<0xC3>"), BYTES, FUSE), None), (CTC, False),
    (sequence(BYTES, SPACES, FUSE), False), (sequence(BYTES, FUSE, SPACES), False),
    (sequence(METASPACE, BYTES, FUSE), False), (sequence(BYTES, BYTE_LEVEL), False),
    (sequence(sequence(SPACES), BYTES, FUSE), False), (replace("[ab]", "c", "Regex"), False),
    (sequence(FUSE, BYTES), False), (sequence(FUSE, CTC), False),
]
"""Decoders of files, and whether kernels decode by them; None if they leave the names of bytes out."""


def of_file(decoder: dict[str, Any] | None, folder: Path) -> Tokenizer:
    """A tokenizer of a file with a decoder and the names."""
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    path = folder / "tokenizer.json"
    path.write_text(json.dumps({
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": NAMES.index(name), "content": name, **special} for name in ("<unk>", "<s>")],
        "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": decoder,
        "model": {"type": "BPE", "vocab": {name: n for n, name in enumerate(NAMES)}, "merges": []},
    }))
    return tokentui.load(path)


def outcome(call: Callable[..., object], *values: object) -> object:
    try:
        return call(*values)
    except TokentuiError as error:
        return str(error)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch, loaded: None) -> None:
    """The kernel decodes from the first ids on."""
    monkeypatch.setattr(decode, "MANY_IDS", 0)


def check(tokenizer: Tokenizer, lists: Sequence[Sequence[int]], monkeypatch: pytest.MonkeyPatch) -> int:
    """Both ways give the same text and the same bytes, of every second list in pieces. Returns how many lists
    the kernel decoded."""
    compiled, plain, count = Decoder(tokenizer.vocabulary, tokenizer.merges), tokenizer.decoder, 0
    for number, ids in enumerate(lists):
        for size in ("PIECE", "LISTED"):
            monkeypatch.setattr(id_texts, size, 7 if number % 2 else 1 << 17)
        given = [compiled.to_text, compiled.to_bytes]
        found = [[outcome(one, kind(ids)) for kind in (list, tuple, as_array)] for one in given]
        count += compiled._joined(ids, every=True) is not None
        with monkeypatch.context() as plainly:
            plainly.setenv(engines.VARIABLE, "off")
            wanted = [outcome(one, list(ids)) for one in (plain.to_text, plain.to_bytes)]
        assert found == [[one] * 3 for one in wanted], ids
    return count


def as_array(ids: Sequence[int]) -> array[int]:
    return array("i", ids)


def at_random(known: Sequence[int], count: int, seed: int) -> list[list[int]]:
    """Lists of known ids, of which some are short, and some ids come in runs."""
    numbers = random.Random(seed)
    some = [numbers.sample(known, min(len(known), size)) for size in (3, 12, len(known))]
    return [
        numbers.choices(numbers.choice(some), k=numbers.choice((32, 33, 40, 200))) for _ in range(count)
    ]


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(("decoder", "apart"), DECODERS, ids=[json.dumps(one)[:60] for one, _ in DECODERS])
@pytest.mark.first_run(cases=2)
def test_files(
    decoder: dict[str, Any] | None, apart: bool | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = of_file(decoder, tmp_path)
    lists = at_random(range(len(NAMES)), 40, 1)
    bytes_ = [n for n, name in enumerate(NAMES) if name.startswith("<0x") and name.endswith(">")]
    lists += at_random([*bytes_, 1], 40, 2)
    count = check(tokenizer, lists, monkeypatch)
    assert apart is None or (count > 10 if apart else count == 0)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.first_run(cases=1)
def test_trained(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = preset(name)
    known = tokenizer.decoder._ids.known
    lists = at_random(known, 20, 3) + at_random([*known[-300:]], 20, 4)
    assert check(tokenizer, lists, monkeypatch) > 10


@pytest.mark.shared
@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("name", [
    "bert-base-uncased/tokenizer.json", "falcon/tokenizer.json", "gpt2/tokenizer.json",
    "llama2/tokenizer.json", "openai-gpt/tokenizer.json", "sqlpilot/tokenizer.json",
    "t5-small/tokenizer.json",
    "spm-llama2/tokenizer.model", "spm-xlnet-base-cased/spiece.model", "spm-test/test_ja_model.model",
    "tiktoken_cl100k_base/cl100k_base.tiktoken", "bert-base-uncased/vocab.txt",
])
def test_published(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = tokentui.load(oracle.shared(f"tokenizers/{name}"))
    known = sorted(tokenizer.decoder._ids.known)
    lists = at_random(known, 60, 5) + at_random(known[:300], 60, 6) + at_random(known[-300:], 20, 7)
    assert check(tokenizer, lists, monkeypatch) > 100


WRONG: list[Any] = [
    -2, -1, None, True, 1.0, "1", b"1", [1], 1 << 31, 1 << 40, 1 << 70, len(NAMES), 0xFFFF, 0xFFFFFFFF,
]


@pytest.mark.usefixtures("at_once")
def test_what_is_no_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is that of plain Python, and so is U+FFFD for a token without an id."""
    tokenizer = of_file(METASPACE, tmp_path)
    for at, wrong in itertools.product((0, 20, 39), WRONG):
        ids = [1, 2] * 20
        ids[at] = wrong
        found = outcome(tokenizer.decode, ids)
        with monkeypatch.context() as plain:
            plain.setenv(engines.VARIABLE, "off")
            assert found == outcome(tokenizer.decode, ids), (at, wrong)
        assert ("no such id" in str(found)) == (wrong not in (-1, None)), (at, wrong)


@pytest.mark.usefixtures("at_once")
def test_numbers_are_read_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np = pytest.importorskip("numpy", exc_type=ImportError)
    tokenizer = of_file(METASPACE, tmp_path)
    ids = [n % 30 for n in range(100)]
    wanted = tokenizer.decode(ids)
    for kind in "HiIlLqQhbB":
        numbers = array(kind, ids)
        assert tokenizer.decode(numbers) == tokenizer.decode(memoryview(numbers)) == wanted
        assert tokenizer.decode(np.array(ids, kind)) == wanted
        assert tokenizer.decode(np.repeat(np.array(ids, kind), 2)[::2]) == wanted
        assert tokenizer.decode(np.array(ids, kind)[::-1]) == tokenizer.decode(ids[::-1])
    assert tokenizer.decode(np.array(ids, ">i4")) == wanted
    assert tokenizer.decode(n for n in ids) == wanted
    for kind in "hil":
        for wrong in (-1, -2):
            signed = np.array([*ids, wrong, *ids], kind)
            assert outcome(tokenizer.decode, signed) == outcome(tokenizer.decode, signed.tolist())
    for ids_ in (np.ones((50, 2), int), np.ones(50), np.ones(50, bool)):
        with pytest.raises(TokentuiError, match="no such id"):
            tokenizer.decode(ids_)


class Number:
    """A whole number of another library."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        if self.value > 40:
            raise ArithmeticError(self.value)
        return self.value


@pytest.mark.usefixtures("at_once")
def test_numbers_of_other_libraries(tmp_path: Path) -> None:
    tokenizer = of_file(METASPACE, tmp_path)
    ids = [n % 30 for n in range(100)]
    numbers: list[Any] = list(map(Number, ids))
    assert tokenizer.decode(numbers) == tokenizer.decode(ids)
    numbers.append(Number(41))
    with pytest.raises(ArithmeticError, match="41"):
        tokenizer.decode(numbers)
    assert not engines.failed


def test_the_table_waits_for_many_ids(loaded: None) -> None:
    tokenizer = preset("gpt2")
    decoder = Decoder(tokenizer.vocabulary, tokenizer.merges)
    ids = [1] * 1000
    assert [decoder._joined(ids, every=True) is not None for _ in range(6)] == [False] * 4 + [True] * 2


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("kind", [list, as_array])
@pytest.mark.parametrize("engine", ["compiled", "plain"])
def test_it_can_be_cancelled_between_pieces(
    engine: str, kind: Callable[[list[int]], Sequence[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for size in ("PIECE", "LISTED"):
        monkeypatch.setattr(id_texts, size, 10)
    monkeypatch.setattr(jobs, "BLOCK", 10)
    if engine == "plain":
        monkeypatch.setenv(engines.VARIABLE, "off")
    tokenizer, ids = preset("gpt2"), kind([1] * 100)
    wanted, decode_all = tokenizer.decode(ids), functools.partial(tokenizer.decode, ids)
    checks = checks_of(decode_all)
    assert checks >= 10
    for number in range(checks):
        cancel_at(number, decode_all)
    assert decode_all() == wanted
