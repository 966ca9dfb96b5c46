"""OpenAI's encodings by name: in the current folder, or in tiktoken's cache."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest
from running_cli import cli, done

from tokentui.core.errors import TokentuiError
from tokentui.formats import FORMATS, published
from tokentui.formats.files import export, load, recognize
from tokentui.formats.published import PublishedEncoding, PublishedFile

URL = "https://example.org/small.tiktoken"
KEY = hashlib.sha1(URL.encode(), usedforsecurity=False).hexdigest()
TOKENS = [*(bytes((value,)) for value in range(256)), b"he", b" t"]
DATA = b"".join(base64.b64encode(piece) + b" %d\n" % rank for rank, piece in enumerate(TOKENS))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache. `small` and `chat` are two encodings of one file."""
    digest = hashlib.sha256(DATA).hexdigest()
    small = PublishedFile(PublishedEncoding("small", "gpt2", {"<|end|>": 300}), digest, URL)
    chat = PublishedFile(PublishedEncoding("chat", "gpt2", {"<|end|>": 300, "<|call|>": 301}), digest, URL)
    monkeypatch.setattr(published, "OPENAI", {"small": small, "chat": chat})
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    return folder


def test_a_name_finds_the_file_in_the_cache(cache: Path) -> None:
    (cache / KEY).write_bytes(DATA)
    tokenizer = load("small")
    assert tokenizer.recipe.split == "gpt2"
    assert tokenizer.encode("he the<|end|>", allow_special=True).ids == (256, 257, 256, 300)
    assert done("encode", "-t", "small", "he").split() == ["256"]
    assert recognize("small") is FORMATS["tiktoken"]


def test_a_name_finds_the_file_in_this_folder(cache: Path) -> None:
    Path("small.tiktoken").write_bytes(DATA)
    assert load("small").encode("he").ids == (256,)


def test_two_encodings_of_one_file_have_their_own_specials(cache: Path, tmp_path: Path) -> None:
    (cache / KEY).write_bytes(DATA)
    text = "he<|call|>"
    assert load("chat").encode(text, allow_special=True).ids == (256, 301)
    assert len(load("small").encode(text, allow_special=True).ids) > 2
    assert len(load(cache / KEY).encode(text, allow_special=True).ids) > 2
    export(load("chat"), tmp_path / "own.json")
    assert load(tmp_path / "own.json").encode(text, allow_special=True).ids == (256, 301)


def test_a_file_of_that_name_comes_first(cache: Path) -> None:
    (cache / KEY).write_bytes(DATA)
    Path("small").write_text("no ranks")
    with pytest.raises(TokentuiError, match="not a supported tokenizer file"):
        load("small")


def test_a_name_without_a_file_says_what_to_download(cache: Path) -> None:
    line = (
        "tokentui: small: no such file, and tiktoken's cache does not contain this encoding "
        f"(download {URL}"
    )
    result = cli("encode", "-t", "small", "he")
    assert result.exit_code == 2
    assert result.stderr == f"{line} into this folder)\n"


def test_another_file_in_the_cache_is_refused(cache: Path) -> None:
    (cache / KEY).write_bytes(DATA + b"YWJj 258\n")
    with pytest.raises(TokentuiError, match=r"not the file of small: its SHA-256 is another one \(remove it"):
        load("small")


def test_the_cache_is_where_tiktoken_has_it(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(cache))
    (cache / KEY).write_bytes(DATA)
    assert load("small").encode("he").ids == (256,)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")  # no cache at all
    with pytest.raises(TokentuiError, match="does not contain this encoding"):
        load("small")
