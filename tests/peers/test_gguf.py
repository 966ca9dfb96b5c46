"""GGUF files against llama.cpp: the same ids, live."""

from __future__ import annotations

import functools
import json
import re
import unicodedata
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gguf_files
import llama_cpp
import pytest
from gguf_files import BYTE, CONTROL, NORMAL, UNKNOWN, USER_DEFINED, Array
from running_cli import cli, done, refused
from texts import TEXTS

from tokentui.analyze.verify import child
from tokentui.formats.files import load
from tokentui.formats.gguf.pre import PRE
from tokentui.formats.sentencepiece.charsmap import rules_of
from tokentui.formats.spec import Spec
from tokentui.formats.tokens import letters, name_of
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.tokenizer import train

pytestmark = pytest.mark.peer
WHOLE = tuple(text for text in TEXTS if not re.search("[\ud800-\udfff]", text))
CORPUS = "\n".join(WHOLE)
MARKED = (*WHOLE, "<usr>x <usr>  y<usr>", "a<s>b</s> c<|end|>\n<usr>", "<usr><usr>", "zqzq zqzq\n")


@functools.cache
def trained(recipe: Recipe, merges: int) -> Spec:
    return Spec(train(Corpus.from_text(CORPUS), recipe, merges=merges))


def bpe(pre: str) -> dict[str, Any]:
    """Merges of a corpus that is not split, so that the ids show where a text is cut, and two words that no
    merges make."""
    spec = trained(Recipe(split="none"), 2000)
    tokens = [token.name for token in sorted(spec.tokens(True))]
    tokens += map(letters, (b"zqzq", b" zqzq"))
    rows = [f"{letters(left)} {letters(right)}" for left, right, _ in spec.rows]
    end = len(tokens)
    return gguf_files.vocabulary(
        "gpt2", [*tokens, "<|end|>", "<usr>"], [NORMAL] * end + [CONTROL, USER_DEFINED], merges=rows, pre=pre,
        bos_token_id=end, eos_token_id=end,
    )


def spm(prefix: bool) -> dict[str, Any]:
    spec = trained(Recipe(split="metaspace", unit="char", base="sorted", unknown="byte-fallback"), 1200)
    ranks = {name_of(made, False): -float(rank) for rank, (_, _, made) in enumerate(spec.merges)}
    characters = dict.fromkeys("▁" + "".join(sorted(CORPUS.replace(" ", "")))[::3])
    pieces = dict.fromkeys([*(one for one in characters if one != "\0"), *ranks])
    fallback = [f"<0x{value:02X}>" for value in range(256)]
    tokens = ["<unk>", "<s>", "</s>", *fallback, *pieces, "<usr>", "<|end|>"]
    kinds = [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256, *[NORMAL] * len(pieces), USER_DEFINED, CONTROL]
    # Pieces of equal scores: of these the leftmost is merged first.
    scores = [round(ranks.get(token, -2000.0) / 3) for token in tokens]
    return gguf_files.vocabulary("llama", tokens, kinds, scores=scores, bos_token_id=1, eos_token_id=2,
                                 add_space_prefix=prefix)


def unigram(charsmap: bytes, **others: Any) -> dict[str, Any]:
    values = spm(prefix=True)
    tokens, kinds = values["tokenizer.ggml.tokens"], values["tokenizer.ggml.token_type"].numbers
    # No two scores are as good as equal, and spelling a piece with shorter ones costs more.
    scores = [-5.0 - 0.37 * number**0.5 for number in range(len(tokens))]
    if charsmap:
        others["precompiled_charsmap"] = gguf_files.Array("B", list(charsmap))
    others |= {"eos_token_id": 2, "unknown_token_id": 0}
    return gguf_files.vocabulary("t5", tokens, kinds, scores=scores, **others)


def wordpiece() -> dict[str, Any]:
    words = Counter(word for text in WHOLE for word in text.lower().split() if word.isalpha())
    names = [word for word, _ in words.most_common(800)]
    every = sorted(set(CORPUS + CORPUS.lower()))
    characters = [one for one in every if unicodedata.category(one)[0] not in "CZ"]
    tokens = dict.fromkeys([
        "[PAD]", "[UNK]", "[CLS]", "[SEP]", *(f"▁{one}" for one in characters[::2]), *characters[::3],
        *(f"▁{name[:5]}" for name in names), *(name[2:6] for name in names if len(name) > 3),
    ])
    tokens.pop("▁", None)
    return gguf_files.vocabulary("bert", list(tokens), [CONTROL] * 4 + [NORMAL] * (len(tokens) - 4),
                                 unknown_token_id=1, bos_token_id=2, seperator_token_id=3, padding_token_id=0)


def check(folder: Path, values: dict[str, Any], texts: tuple[str, ...]) -> None:
    """Encode texts by both, with and without special tokens."""
    path = folder / "model.gguf"
    path.write_bytes(gguf_files.gguf(values))
    ours, theirs = load(path), llama_cpp.encoder(path)
    for text in texts:
        assert list(ours.encode(text).ids) == theirs(text), text
        around = ours.encode(text, special_tokens=True, allow_special=True)
        assert list(around.ids) == theirs(text, True, True)


def marked(model: str, pre: str) -> dict[str, Any]:
    """Merges of text with ▁, byte tokens, and runs of newlines."""
    spec = trained(Recipe(split="none", unit="char", base="sorted", unknown="byte-fallback"), 1200)
    rows = [tuple(name_of(piece, False).replace(" ", "▁") for piece in merge) for merge in spec.rows]
    rows = [row for row in rows if not re.search("[\n\0]", row[2])]
    characters = [one for one in sorted(set(CORPUS.replace(" ", "▁"))) if one not in "\0\n"]
    fallback = [f"<0x{value:02X}>" for value in range(256)]
    pieces = dict.fromkeys([*characters[::2], *(part for row in rows for part in row),
                            *("\n" * number for number in range(1, 80))])
    tokens = ["<pad>", "<bos>", *fallback, *pieces, "<usr>", "<|end|>"]
    kinds = [CONTROL, CONTROL, *[BYTE] * 256, *[NORMAL] * len(pieces), USER_DEFINED, CONTROL]
    return gguf_files.vocabulary(model, tokens, kinds, merges=[f"{left} {right}" for left, right, _ in rows],
                                 pre=pre, bos_token_id=1, eos_token_id=1)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "pre"), [
    ("gemma4", "gemma4"), ("gpt2", "gemma4"), ("gpt2", "sarvam-moe"), ("gpt2", "mmbert"),
])
def test_merges_of_marked_text(tmp_path: Path, model: str, pre: str) -> None:
    check(tmp_path, marked(model, pre), MARKED)


FIRST_NAMES = list({pre: name for name, pre in reversed(PRE.items()) if not pre.marked}.values())
"""A name of each split."""


@pytest.mark.parametrize("name", FIRST_NAMES)
@pytest.mark.slow
def test_merges(tmp_path: Path, name: str) -> None:
    check(tmp_path, bpe(name), MARKED)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, pre in PRE.items()
                                  if not pre.marked and name not in FIRST_NAMES])
def test_merges_by_every_name(tmp_path: Path, name: str) -> None:
    """A name may have other flags than the others of its split."""
    check(tmp_path, bpe(name), MARKED)


@pytest.mark.slow
@pytest.mark.parametrize("prefix", [True, False])
def test_scored_pieces(tmp_path: Path, prefix: bool) -> None:
    check(tmp_path, spm(prefix), MARKED)


@pytest.mark.parametrize("flags", [
    {}, {"add_space_prefix": True}, {"add_space_prefix": True, "remove_extra_whitespaces": True},
    {"remove_extra_whitespaces": True},
])
@pytest.mark.parametrize("rules", [(), ("nmt-nfkc",)])
@pytest.mark.slow
def test_unigram(tmp_path: Path, flags: dict[str, bool], rules: tuple[str, ...]) -> None:
    charsmap = rules_of(rules)[0] if rules else b""
    check(tmp_path, unigram(charsmap, **flags), MARKED)


def test_byte_tokens_of_a_unigram_model_are_remarked_on(tmp_path: Path) -> None:
    """`test_unigram` compares the ids."""
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf_files.gguf(unigram(b"")))
    ours = load(path)
    assert "<unk>" in ours.encode("\U000e0fff").tokens
    assert any(note.startswith("llama.cpp gives <unk>") and "(256 are there)" in note for note in ours.notes)
    values = unigram(b"")
    kinds = [NORMAL if kind == BYTE else kind for kind in values["tokenizer.ggml.token_type"].numbers]
    path.write_bytes(gguf_files.gguf({**values, "tokenizer.ggml.token_type": Array("i", kinds)}))
    assert not any("byte tokens" in note for note in load(path).notes)


@pytest.mark.parametrize("name", ["carbon", "domyn-small", "elmod"])
def test_names_that_no_release_reads_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf_files.gguf(bpe(name)))
    with pytest.raises(ValueError, match="does not read"):
        llama_cpp.encoder(path)
    assert f"the split {name} is not supported" in refused("encode", "-t", str(path), "a")


@pytest.mark.slow
def test_longest_tokens(tmp_path: Path) -> None:
    spec = trained(Recipe(split="none"), 1500)
    units = (bytes((value,)) for value in range(256))
    pieces = dict.fromkeys([*units, *(made for _, _, made in spec.merges)])
    tokens = ["<s>", *(repr(piece)[2:-1] for piece in pieces)]
    check(tmp_path, gguf_files.vocabulary("rwkv", tokens, [CONTROL, *[NORMAL] * len(pieces)]), MARKED)


def alike(text: str) -> bool:
    """Return whether llama.cpp normalizes a text as BERT does."""
    return not any(
        one in "▁\x85" or unicodedata.category(one) in ("Mc", "Me")
        or len([part for part in unicodedata.normalize("NFD", one) if unicodedata.category(part) != "Mn"]) > 1
        for one in text
    )


def test_wordpiece(tmp_path: Path) -> None:
    texts = tuple(filter(alike, WHOLE))
    assert len(texts) > 150
    check(tmp_path, wordpiece(), texts)


# ---- the command


def test_verify_against_llama_cpp(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    path, text = tmp_path / "model.gguf", tmp_path / "text.txt"
    path.write_bytes(gguf_files.gguf(bpe("llama-bpe")))
    text.write_text("\n".join(MARKED), "utf-8")
    row = json.loads(done("verify", str(text), "-t", str(path), "--against", "llama.cpp", "-q", "--json"))
    assert (row["peer"], row["alike"]) == ("llama.cpp", True)
    assert row["version"] == version("xllamacpp")
    assert row["tokens"] > 1000


def test_verify_names_the_text_that_llama_cpp_reads_otherwise(tmp_path: Path) -> None:
    """Of user-defined tokens that overlap, llama.cpp takes the longest and this program the leftmost."""
    pytest.importorskip("xllamacpp")
    values = bpe("gpt-2")
    values["tokenizer.ggml.tokens"] += ["zx", "xwy"]
    values["tokenizer.ggml.token_type"] = Array("i", [
        *values["tokenizer.ggml.token_type"].numbers, USER_DEFINED, USER_DEFINED,
    ])
    path, text = tmp_path / "model.gguf", tmp_path / "text.txt"
    path.write_bytes(gguf_files.gguf(values))
    text.write_text("alike\nzxwy is not", "utf-8")
    result = cli("verify", str(text), "--as", "lines", "-t", str(path), "--against", "xllamacpp", "--json")
    row = json.loads(result.stdout)
    assert (result.exit_code, row["texts"], row["differs"]["text"]) == (1, 1, "zxwy")
    assert row["differs"]["ours"]["tokens"] == ["zx", "w", "y"]
    assert row["differs"]["theirs"]["tokens"] == ["z", "xwy"]


def test_llama_cpp_reads_gguf_files_alone(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    text, other = tmp_path / "text.txt", tmp_path / "a.json"
    text.write_text("a")
    train("sample:hugs", "gpt2", merges=1).save(other)
    line = refused("verify", str(text), "-t", str(other), "--against", "llama.cpp")
    assert "llama.cpp reads GGUF files, not " in line
    assert "(name one of its GGUF files)" in line
    assert "llama.cpp cannot be compared by training" in refused(
        "verify", str(text), "-r", "gpt2", "--against", "llama.cpp")


@pytest.mark.parametrize("flags", ["0001000001000000", "0000010000000000", "0100000000000000"])
@pytest.mark.parametrize("padding", ["", "00000001", "01000000", "ff7f0000"])
def test_the_flag_of_the_vocabulary_is_the_first(flags: str, padding: str) -> None:
    """In the layout of several releases, whatever is in the padding, behind a number and behind the flags;
    one without a known layout is refused."""
    parameters = bytearray(bytes(72) + bytes.fromhex(flags) + b"\xff" * 432)
    if padding:
        parameters[36:40] = bytes.fromhex(padding)
        parameters[78:80] = bytes.fromhex(padding)[:2]
    if flags.startswith("01"):
        with pytest.raises(ValueError, match="not known"):
            child._flag_of_vocabulary(bytes(parameters))
    else:
        assert child._flag_of_vocabulary(bytes(parameters)) == 72
