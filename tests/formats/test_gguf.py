"""The vocabulary of GGUF files, made here."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import pytest
from exporting import put
from gguf_files import BYTE, CONTROL, NORMAL, UNKNOWN, USER_DEFINED, Array, gguf, vocabulary
from hypothesis import given
from hypothesis import strategies as st
from running_cli import cli, done

from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import gguf as header
from tokentui.formats.files import export, load, mistaken, recognize
from tokentui.formats.gguf.pre import PRE, UNREAD
from tokentui.formats.spec import Unsupported
from tokentui.formats.tokens import LETTERS

MERGES = ["h e", "l l", "he ll", "hell o", "Ġ hello", "1 2", "12 3"]
WORDS = [row.replace(" ", "") for row in MERGES]
PIECES = ["▁", *"abehlo", "he", "ll", "hell", "hello", "▁hello", "▁▁"]


def bpe(**others: Any) -> dict[str, Any]:
    """Bytes, merges, a control token and a user-defined one."""
    tokens = [*LETTERS, *WORDS, "<|end|>", "<usr>"]
    kinds = [NORMAL] * (len(tokens) - 2) + [CONTROL, USER_DEFINED]
    return vocabulary("gpt2", tokens, kinds, **{"merges": MERGES, "pre": "gpt-2", **others})


def spm(**others: Any) -> dict[str, Any]:
    """Bytes and scored pieces; the later a piece, the later it is merged."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{value:02X}>" for value in range(256)), *PIECES, "<usr>"]
    kinds = [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256, *[NORMAL] * len(PIECES), USER_DEFINED]
    scores = [0.0] * 259 + [-float(number) for number in range(len(PIECES) + 1)]
    return vocabulary("llama", tokens, kinds, scores=scores, bos_token_id=1, eos_token_id=2, **others)


def wordpiece(**others: Any) -> dict[str, Any]:
    """BERT's tokens as converters write them."""
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁un", "aff", "able", "▁a", "▁,"]
    kinds = [CONTROL] * 4 + [NORMAL] * 5
    others |= {"unknown_token_id": 1, "bos_token_id": 2, "seperator_token_id": 3}
    return vocabulary("bert", tokens, kinds, **others)


def rwkv(tokens: list[str]) -> dict[str, Any]:
    """Bytes and longer tokens, written as Python writes bytes."""
    tokens = ["<s>", *(repr(bytes((value,)))[2:-1] for value in range(256)), *tokens]
    return vocabulary("rwkv", tokens, [CONTROL, *[NORMAL] * (len(tokens) - 1)])


def read(path: Path, values: dict[str, Any], **given: Any) -> Tokenizer:
    path = path / "model.gguf"
    path.write_bytes(gguf(values, **given))
    return load(path)


def texts(tokenizer: Tokenizer, text: str, **given: Any) -> list[str]:
    return list(tokenizer.encode(text, **given).tokens)


def test_merges(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, bpe())
    assert texts(tokenizer, "hello hello 123") == ["hello", " hello", " ", "123"]
    assert tokenizer.decode(tokenizer.encode("hello 🙂 <usr>").ids) == "hello 🙂 <usr>"
    assert texts(tokenizer, "a<usr>b") == ["a", "<usr>", "b"], "user-defined tokens are always found"
    assert len(texts(tokenizer, "<|end|>")) == 7
    assert texts(tokenizer, "<|end|>", allow_special=True) == ["<|end|>"]
    assert tokenizer.recipe.split == "gpt2"


def test_a_text_gets_the_tokens_that_the_file_asks_for(tmp_path: Path) -> None:
    end = len(LETTERS) + len(WORDS)
    ids = {"bos_token_id": end, "eos_token_id": end}
    assert texts(read(tmp_path, bpe(**ids)), "a", special_tokens=True) == ["a"]
    both = read(tmp_path, bpe(**ids, add_bos_token=True, add_eos_token=True))
    assert texts(both, "a", special_tokens=True) == ["<|end|>", "a", "<|end|>"]
    llama = read(tmp_path, bpe(**ids, pre="llama-bpe"))
    assert texts(llama, "a", special_tokens=True) == ["<|end|>", "a"], "llama.cpp adds it under this name"
    assert texts(read(tmp_path, spm()), "a", special_tokens=True)[0] == "<s>"
    off = read(tmp_path, spm(add_bos_token=False))
    assert texts(off, "hello", special_tokens=True) == ["▁hello"]


def test_merges_of_marked_text(tmp_path: Path) -> None:
    """A Gemma 4 vocabulary: ▁ for spaces, byte tokens for unknown text, and runs of newlines."""
    tokens = ["<bos>", *(f"<0x{value:02X}>" for value in range(256)), *"▁abehlo", "he", "▁he", "\n", "\n\n"]
    kinds = [CONTROL, *[BYTE] * 256, *[NORMAL] * 11]
    rows = ["h e", "▁ he"]
    tokenizer = read(tmp_path, vocabulary("gemma4", tokens, kinds, merges=rows, bos_token_id=0))
    text = "he he\n\nhé"
    assert texts(tokenizer, text) == ["he", "▁he", "\n\n", "h", "<0xC3>", "<0xA9>"]
    assert texts(tokenizer, "a", special_tokens=True) == ["<bos>", "a"]
    assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_of_a_pair_that_is_listed_twice_the_first_row_counts(tmp_path: Path) -> None:
    rows = ["l l", "h e", "he l", "l l", "hel l"]
    tokens = [*LETTERS, "ll", "he", "hel", "hell"]
    tokenizer = read(tmp_path, vocabulary("gpt2", tokens, [NORMAL] * 260, merges=rows, pre="gpt-2"))
    assert texts(tokenizer, "hell") == ["he", "ll"]


def test_scored_pieces(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, spm())
    assert tokenizer.encode("hello").ids == (270,)
    assert texts(tokenizer, "hello  hello") == ["▁hello", "▁", "▁hello"]
    assert texts(tokenizer, "é") == ["▁", "<0xC3>", "<0xA9>"]
    assert texts(tokenizer, "hello<usr>hello") == ["▁hello", "<usr>", "▁hello"], "a ▁ after each token"
    bare = read(tmp_path, spm(add_space_prefix=False))
    assert texts(bare, "hello<usr>hello") == ["hello", "<usr>", "hello"]
    assert tokenizer.decode(tokenizer.encode("hello é").ids) == "hello é"


def test_pieces_merge_to_a_control_token_as_in_llama_cpp(tmp_path: Path) -> None:
    values = spm(add_space_prefix=False)
    values["tokenizer.ggml.tokens"][2] = "abab"
    values["tokenizer.ggml.tokens"][270] = "ab"
    assert read(tmp_path, values).encode("abab").ids == (2,)


def test_wordpiece(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, wordpiece())
    assert tokenizer.encode("Unaffable, a x").ids == (4, 5, 6, 8, 7, 1)
    assert tokenizer.encode("a", special_tokens=True).ids == (2, 7, 3)
    cased = read(tmp_path, wordpiece(**{"normalizer.lowercase": False}))
    assert cased.encode("Unaffable").ids == (1,)


def test_the_longest_tokens(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, rwkv(["he", "hello", r"\xc3\xa9", r"\n\t", "it\\'s"]))
    assert tokenizer.encode("hellohé\n\tit's").ids == (258, 105, 259, 260, 261)
    assert tokenizer.encode("<s>").ids == (0,), "the text of a token is that token, control tokens too"
    assert tokenizer.decode([258, 259, 105]) == "helloéh"


@pytest.mark.parametrize("values", [bpe(), spm(), wordpiece(), rwkv(["he"])])
@pytest.mark.parametrize(("version", "order"), [(2, "<"), (3, "<"), (3, ">")])
def test_versions_and_byte_orders(tmp_path: Path, values: dict[str, Any], version: int, order: str) -> None:
    plain = read(tmp_path, values)
    other = read(tmp_path, values, version=version, order=order)
    for text in ("hello  hello 123é<usr>", "unaffable"):
        assert other.encode(text).ids == plain.encode(text).ids


def test_tensors_are_not_read(tmp_path: Path) -> None:
    data = gguf(bpe(), tensors=3)
    stream = io.BytesIO(data + bytes(1 << 24))
    assert header.read_header(stream.read, "x") == data
    assert stream.tell() <= 1 << 22
    path = tmp_path / "model.gguf"
    path.write_bytes(data + bytes(range(256)) * 8000)
    shown = done("inspect", "-t", str(path), "hello", "--limit", "file-bytes=100k")
    assert "hello" in shown
    assert recognize(path) is not None


@pytest.mark.parametrize("array", [["x"] * 300, Array("i", range(300))])
def test_arrays_are_bounded(tmp_path: Path, array: Any) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf({"tokenizer.ggml.suppress_tokens": array, **bpe()}))
    shown = cli("inspect", "-t", str(path), "--limit", "vocabulary=299")
    assert "an array of 300 values; the limit is 299" in shown.stderr
    path.write_bytes(gguf({"other": array, **bpe()}))
    assert cli("inspect", "-t", str(path), "--limit", "vocabulary=299").stderr == ""


def test_metadata_of_other_kinds_are_stepped_over(tmp_path: Path) -> None:
    others = {f"x.{code}": Array(code, [1, 2, 3]) for code in "bBhiIfdQ"} | {"x.s": ["a", "b"], "x.t": "c"}
    assert texts(read(tmp_path, {**others, **bpe()}), "hello") == ["hello"]


def test_the_remarks_name_the_split(tmp_path: Path) -> None:
    def remark(**others: Any) -> str:
        return read(tmp_path, bpe(**others)).notes[0]

    assert remark().startswith("pre=gpt-2: text is split as llama.cpp does it")
    assert "no model's own split" in remark(pre="default")
    assert "expect other ids" in remark(pre="strange")
    assert "not the model's own" in remark(pre="gpt-4o")
    values = bpe()
    del values["tokenizer.ggml.pre"]
    assert read(tmp_path, values).notes[0].startswith("the file has no pre")
    values["tokenizer.chat_template"] = "{{ x }}"
    assert "chat template of 7 characters" in read(tmp_path, values).notes[-1]


def test_every_split_reads(tmp_path: Path) -> None:
    text = "Hello, wörld's 12345  \n\n x 你好 don'T 가나!"
    for name in [name for name, pre in PRE.items() if not pre.marked]:
        tokenizer = read(tmp_path, bpe(pre=name, bos_token_id=263))
        assert tokenizer.decode(tokenizer.encode(text).ids) == text, name


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"general.architecture": "clip"}, "contains no tokenizer"),
        (bpe() | {"tokenizer.ggml.model": "plamo2"}, "the model 'plamo2' is not read"),
        (bpe(pre=UNREAD[0]), f"the split {UNREAD[0]} is not supported"),
        (bpe() | {"tokenizer.ggml.tokens": ["a", "a"]}, "'a' is there twice"),
        (bpe(add_bos_token=True, bos_token_id=1 << 31), None),
        (spm() | {"tokenizer.ggml.scores": Array("f", [1.0])}, "1 numbers for"),
        (spm() | {"tokenizer.ggml.scores": Array("f", [float("nan")] * 300)}, "a score is not a number"),
        (bpe() | {"tokenizer.ggml.tokens": Array("i", [1])}, "an array of strings"),
        (bpe() | {"tokenizer.ggml.merges": ["h q"]}, "'hq' is not in the vocabulary"),
        (rwkv([r"\xqq"]), "is not written as bytes"),
        (vocabulary("rwkv", ["a"], [NORMAL]), "255 of the 256 bytes are not tokens"),
        (bpe() | {"tokenizer.ggml.add_bos_token": "yes"}, "expected true or false"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, values: dict[str, Any], what: str | None) -> None:
    if what is None:
        assert read(tmp_path, values).encode("a").ids, "llama.cpp takes the default for an id out of range"
        return
    with pytest.raises(TokentuiError, match=what):
        read(tmp_path, values)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda data: data[:4] + struct.pack("<I", 1) + data[8:], "version 1 of GGUF is not read"),
        (lambda data: data[:6], "cut off"),
        (lambda data: data[:16] + struct.pack("<Q", 1 << 60) + data[24:], "keys"),
        (lambda data: data[:24] + struct.pack("<Q", 1 << 60) + data[32:], "a length of"),
        (lambda data: data[:-3], "cut off"),
    ],
)
def test_damage_is_told_with_its_place(tmp_path: Path, change: Any, what: str) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(change(gguf(bpe())))
    with pytest.raises(TokentuiError, match=what):
        load(path)
    assert mistaken(str(path)) is not None, "it is no corpus either"


SAMPLES = [gguf(values) for values in (bpe(), spm(), wordpiece(), rwkv(["he"]))]


@given(st.sampled_from(SAMPLES), st.data())
def test_a_damaged_file_reads_or_is_refused_in_a_line(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, draw: st.DataObject
) -> None:
    at = draw.draw(st.integers(0, len(data) - 1))
    changed = bytearray(data)
    if draw.draw(st.booleans()):
        del changed[at:]
    else:
        changed[at] ^= 1 << draw.draw(st.integers(0, 7))
    path = tmp_path_factory.mktemp("damaged") / "model.gguf"
    path.write_bytes(changed)
    refusal = ""
    try:
        load(path).encode("hello <usr> é 123")
    except TokentuiError as error:
        refusal = str(error)
    assert "\n" not in refusal


def test_what_other_formats_hold(tmp_path: Path) -> None:
    ours = read(tmp_path, bpe(pre="llama-bpe", bos_token_id=263))
    for name, format in (("tokenizer.hf.json", "huggingface"), ("own.json", "tokentui")):
        put(ours, tmp_path / name, format)
        theirs = load(tmp_path / name)
        for text in ("hello 12345 <usr> <|end|>", "hello's\n\n"):
            assert theirs.encode(text, special_tokens=True).ids == ours.encode(text, special_tokens=True).ids
    pieces = read(tmp_path, spm())
    for format in ("huggingface", "sentencepiece", "tokentui"):
        with pytest.raises(Unsupported):
            export(pieces, tmp_path / "x", format)


def test_commands(tmp_path: Path) -> None:
    read(tmp_path, spm())
    path = str(tmp_path / "model.gguf")
    assert done("encode", "-t", path, "hello").strip() == "270"
    assert done("decode", "-t", path, "270").strip() == "hello"
    other = tmp_path / "other.gguf"
    other.write_bytes(gguf(spm(add_space_prefix=False)))
    text = tmp_path / "text.txt"
    text.write_text("hello hello\n")
    assert "hello" in cli("diff", path, str(other), str(text)).stdout
    assert "the vocabulary of a GGUF file" in cli("train", path, "-r", "gpt2").stderr
