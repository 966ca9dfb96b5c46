"""CLIP's words are those of its program: character references, whitespace, the last Σ, and special tokens
typed as text."""

from __future__ import annotations

import html
from pathlib import Path

import pytest
import regex

from tokentui.formats.files import export, load

PROGRAM = r"<start_of_text>|<end_of_text>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
"""The pattern of open_clip, whose special tokens have other names."""
TEXTS = (
    "ΟΔΥΣΣΕΥΣ ΣΑΣ Σ Σ. ΑΣα", "&amp; &lt;b&gt; &amp;amp; &eacute; AT&T &#931;", "\x1c\x1d a\x1fb \x85c",
    "<|startoftext|> a<|endoftext|>b",
    "I'LL say 12 <|ENDOFTEXT|>", "naïve “q” ½ İ", "",
)


def words(text: str) -> list[str]:
    """The words as the program cuts them, but for what ftfy mends."""
    cleaned = " ".join(html.unescape(html.unescape(text)).strip().split()).lower()
    return list(regex.findall(PROGRAM, cleaned, regex.IGNORECASE))


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    path = tmp_path / "bpe_simple_vocab_16e6.txt"
    path.write_text('"bpe_simple_vocab_16e6.txt#version: 0.2\nt h\n', "utf-8")
    return path


@pytest.mark.parametrize("text", TEXTS)
def test_words_of_the_program(clip: Path, text: str) -> None:
    encoding = load(clip).encode(text)
    want = b"".join(word.encode() + b"</w>" for word in words(text))
    assert b"".join(bytes.fromhex(code or "") for code in encoding.hex) == want
    assert all(0 <= start < end <= len(text) for start, end in encoding.offsets)


def test_a_special_token_is_one_where_it_is_allowed(clip: Path) -> None:
    tokenizer = load(clip)
    allowed = tokenizer.encode("a <|endoftext|>", allow_special=True)
    assert allowed.tokens[-1] == "<|endoftext|>"
    assert len(tokenizer.encode("a <|endoftext|>").ids) > len(allowed.ids)


@pytest.mark.parametrize("name", ["tokenizer.json", "vocab.json", "clip.hf.json"])
def test_written_and_read_again(clip: Path, tmp_path: Path, name: str) -> None:
    """In the project's own format and in CLIP's two files the words are the same; what Hugging Face's steps
    change is told."""
    tokenizer = load(clip)
    report = export(tokenizer, tmp_path / name)
    back = load(tmp_path / name)
    told = any("Σ" in loss.consequence for loss in report.losses)
    assert told == (name == "clip.hf.json")
    for text in TEXTS:
        if not told or not set(text) & set("Σ&\x1c\x1d\x1f"):
            assert back.encode(text).ids == tokenizer.encode(text).ids, text
