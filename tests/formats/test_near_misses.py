"""Files that users take for a tokenizer file are answered in one line that says what to name."""

from __future__ import annotations

import json
import pickle
import struct
from pathlib import Path

import pytest
from exporting import put

from tokentui import read, train
from tokentui.core.errors import TokentuiError
from tokentui.formats.files import load, recognize


def llama2c(*tokens: tuple[bytes, float]) -> bytes:
    """The file that `export` of llama2.c's tokenizer.py writes."""
    rows = b"".join(struct.pack("<fI", score, len(piece)) + piece for piece, score in tokens)
    return struct.pack("<I", max(len(piece) for piece, _ in tokens)) + rows


class Opened:
    """What a pickle would call."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return pytest.fail, ("a pickle was opened",)


KERAS = {"class_name": "Tokenizer", "config": {"num_words": None, "word_index": '{"a": 1, "hat": 2}'}}
NEAR: dict[str, tuple[bytes, str, str]] = {
    "spm.vocab": ("<unk>\t0\n<s>\t0\n▁\t-2.01\n▁the\t-3.2\n".encode(), "sentencepiece's .vocab", ".model"),
    "bpe.vocab": ("<unk>\t0\n▁t\t-0\nhe\t-1\n \t-2\n".encode(), "sentencepiece's .vocab", ".model"),
    "tokenizer.json": (json.dumps(KERAS).encode(), "a word list of Keras", "train"),
    "text.json": (json.dumps(json.dumps(KERAS)).encode(), "a word list of Keras", "train"),
    "words.json": (b'{"the": 1, "a": 2, "hat": 3}', "a word list that counts from 1", "train"),
    "tokenizer.pkl": (pickle.dumps(Opened()), "a pickle, which is never opened", "_mergeable_ranks"),
    "old.json": (pickle.dumps({"a": 1}, protocol=2), "a pickle, which is never opened", "split=nanochat"),
    "tokenizer.bin": (llama2c((b"<unk>", 0.0), (b"\n<s>\n", 0.0), (b" t", -1.0)), "llama2.c's", ".model"),
    "vocab.json": ('{"<s>": 0, "<pad>": 1, "▁the": 2, "s": 3}'.encode(), "ids of the pieces", "folder"),
    "added_tokens.json": (b'{"<mask>": 50264, "<think>": 50265}', "the added tokens", "folder"),
    "special_tokens_map.json": (b'{"unk_token": "<unk>"}', "settings of a model folder", "folder"),
    "minbpe.vocab": (b"[a] 97\n[\xef\xbf\xbd] 255\n[a][b] -> [ab] 256\n", "minbpe's .vocab", ".model"),
}


@pytest.mark.parametrize("name", NEAR)
def test_a_near_miss_is_named(tmp_path: Path, name: str) -> None:
    data, what, hint = NEAR[name]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(TokentuiError) as raised:
        load(path)
    assert raised.value.what.startswith(what)
    assert raised.value.where == str(path)
    assert hint in raised.value.hint


@pytest.mark.parametrize(("format", "preset"), [
    ("sentencepiece", "t5"), ("sentencepiece", "llama2"), ("tiktoken", "gpt2"), ("huggingface", "gpt2"),
    ("minbpe", "minbpe"), ("tokentui", "t5"),
])
def test_bytes_that_became_characters_are_named(tmp_path: Path, format: str, preset: str) -> None:
    """A file of bytes that was opened as text and saved is refused; a file of text stays as it is."""
    options = {"vocab_size": 300, "specials": ["<unk>", "<s>", "</s>"]} if format == "sentencepiece" else {
        "merges": 9
    }
    tokenizer = train(read(texts=["the hat on the mat, naïve and bold"] * 3), preset, **options)
    path = tmp_path / "file.json"
    put(tokenizer, path, format)
    saved = path.read_bytes().decode("utf-8", "replace").encode()
    changed = saved != path.read_bytes()
    assert changed == (format == "sentencepiece")
    path.write_bytes(saved)
    if not changed:
        assert recognize(path)
        return
    with pytest.raises(TokentuiError, match=r"it was saved as text: [0-9,]+ times U\+FFFD"):
        load(path)


def test_a_token_may_have_the_character(tmp_path: Path) -> None:
    """A file with U+FFFD in a token is read, and another error of it stays."""
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n\ufffd\na\n##b\n")
    assert load(path).token_to_id("\ufffd") == 5
    path = tmp_path / "t.json"
    path.write_text('{"format": "tokentui", "version": 1, "note": "\ufffd' + "x" * 400 + '"}')
    with pytest.raises(TokentuiError) as raised:
        load(path)
    assert "U+FFFD" not in raised.value.what


@pytest.mark.peer
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_the_list_of_pieces_that_sentencepiece_writes(tmp_path: Path, kind: str) -> None:
    trainer = pytest.importorskip("sentencepiece").SentencePieceTrainer
    lines = ["the hat on the mat", "a mat for the hat", "that is the hat"]
    trainer.train(sentence_iterator=iter(lines), model_prefix=str(tmp_path / "m"), vocab_size=18,
                  model_type=kind, minloglevel=2)
    with pytest.raises(TokentuiError, match=r"sentencepiece's \.vocab"):
        load(tmp_path / "m.vocab")
