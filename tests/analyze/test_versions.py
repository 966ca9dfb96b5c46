"""Versions of other libraries in environments of their own, made here from packages of our own."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from running_cli import cli, done, refused

import tokentui
from tokentui.analyze.verify import environments
from tokentui.analyze.verify.environments import peer_at, split_version
from tokentui.analyze.verify.peers import PEERS
from tokentui.core.errors import TokentuiError

_PACKAGE = """
import json
class Encoding:
    def __init__(self, ids): self.ids = ids
class Tokenizer:
    @classmethod
    def from_file(cls, path):
        self = cls()
        self.vocab = json.load(open(path, encoding="utf-8"))["model"]["vocab"]
        return self
    def encode(self, text, **options):
        if REFUSED in text:
            raise ValueError("refused by this version")
        return Encoding([self.vocab[OTHERS.get(char, char)] for char in text])
    def tokenize(self, text, **options):
        return [OTHERS.get(char, char) for char in text]
"""
VERSIONS = {"1.0": ({}, "#"), "2.0": ({"c": "d"}, "#"), "3.0rc1": ({}, "c")}
"""What the made-up versions encode differently, and what they refuse."""


def commands(folder: Path, package: str) -> list[list[str]]:
    """Commands that make an environment with a package of our own."""
    version = package.partition("==")[2]
    if version not in VERSIONS:
        code = "import sys; sys.exit('ERROR: No matching distribution found for " + package + "')"
        return [[sys.executable, "-c", code]]
    others, refused = VERSIONS[version]
    text = f"OTHERS, REFUSED = {others!r}, {refused!r}\n{_PACKAGE}"
    code = (
        "import pathlib, sysconfig\nplace = pathlib.Path(sysconfig.get_path('purelib'), 'tokenizers')\n"
        f"place.mkdir()\n(place / '__init__.py').write_text({text!r})"
    )
    return [
        [sys.executable, "-I", "-m", "venv", "--without-pip", str(folder)],
        [str(folder / "bin" / "python"), "-I", "-c", code],
    ]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A file whose letters are its tokens; environments are made from packages of our own."""
    monkeypatch.setattr(environments, "_commands", commands)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tokenizer = tokentui.train(None, "hf-bpe", texts=["abcd\n"], merges=0, split="none")
    tokenizer.save(tmp_path / "t.json", "huggingface")
    (tmp_path / "text.txt").write_text("abd\nabdabcabd\nab")
    return str(tmp_path)


def words(folder: str, *versions: str) -> Sequence[str]:
    against = [word for version in versions for word in ("--against", f"tokenizers=={version}")]
    return ("verify", f"{folder}/text.txt", "-t", f"{folder}/t.json", *against)


@pytest.mark.slow
def test_the_first_text_that_versions_encode_differently(made: str) -> None:
    result = cli(*words(made, "1.0", "2.0"), "--install", "--json")
    assert result.exit_code == 1, result.output
    found = json.loads(result.stdout)
    differs = found["differs"]
    assert (found["alike"], found["texts"], differs["number"], differs["text"]) == (False, 0, 1, "c")
    assert [side["name"] for side in differs["sides"]] == ["tokentui", "tokenizers 1.0", "tokenizers 2.0"]
    assert differs["sides"][0]["ids"] == differs["sides"][1]["ids"] != differs["sides"][2]["ids"]
    text = cli(*words(made, "1.0", "2.0")).stdout  # without --install: both are in the cache
    assert "tokentui, tokenizers 1.0\n" in text
    refuses = json.loads(cli(*words(made, "1.0", "3.0rc1"), "--install", "--json").stdout)
    assert "refused by this version" in refuses["differs"]["sides"][2]["refused"]
    assert done(*words(made, "1.0")).startswith("against      tokenizers 1.0\n")
    assert cli(*words(made, "2.0"), "--json").exit_code == 1
    assert done(*words(made, "1.0", "1.0"), "--json")


def test_nothing_is_installed_where_nobody_agrees(made: str) -> None:
    assert "--install" in refused(*words(made, "1.0"))
    assert not Path(made, "cache", "tokentui", "peers").exists()


def test_a_version_that_there_is_not_is_one_line(made: str) -> None:
    assert "there is no such version" in refused(*words(made, "9.9"), "--install")
    assert list(Path(made, "cache", "tokentui", "peers").iterdir()) == []


@pytest.mark.parametrize(("said", "shown"), [
    ("error: Failed to fetch\n  Caused by: dns error: failed to lookup", "check the network"),
    ("Retrying after connection broken by 'Error'\nERROR: No matching distribution", "check the network"),
    ("ERROR: Could not find a version that satisfies", "there is no such version"), ("", "no message"),
    ("first\nERROR: disk full \x1b[31m", "disk full"),
])  # fmt: skip
def test_an_installation_that_fails_is_one_line(said: str, shown: str) -> None:
    assert shown in str(environments._install_error(said, "tokenizers==1.0"))
    assert "\n" not in str(environments._install_error(said, "tokenizers==1.0"))


@pytest.mark.parametrize("version", ["", "-x", "1 --index" "-url=x", "../x", "1/2", "1;2"])
def test_what_is_no_version_is_refused(version: str) -> None:
    with pytest.raises(TokentuiError, match="no version"):
        split_version(f"tokenizers=={version}")


def test_names_and_versions() -> None:
    assert split_version("tokenizers") == ("tokenizers", "")
    assert split_version("hf==1.0.0rc3") == ("hf", "1.0.0rc3")
    with pytest.raises(TokentuiError, match="no peer"):
        peer_at("nothing==1.0", lambda *_: True)
    asked: list[tuple[str, str]] = []
    with pytest.raises(TokentuiError, match="not in the cache"):
        peer_at("llama.cpp==0.1", lambda *words: bool(asked.append(words)))  # type: ignore[func-returns-value]
    assert asked[0][0] == "xllamacpp==0.1"
    assert not any(peer.pinned or peer.python for peer in PEERS.values())


def test_several_libraries_need_a_file() -> None:
    both = "--against", "tokenizers==1.0", "--against", "tokenizers==2.0"
    assert "need -t" in refused("verify", "sample:hugs", "-r", "gpt2", *both)


def test_commands_name_no_other_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With uv and without it, all commands are about the folder, and only wheels are installed."""
    fake = tmp_path / "uv"
    fake.write_text("#!/bin/sh\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    for path in (str(tmp_path), os.devnull):
        monkeypatch.setenv("PATH", path)
        first, second = environments._commands(tmp_path / "there", "tokenizers==1.0")
        assert str(tmp_path / "there") in first
        assert str(tmp_path / "there" / "bin" / "python") in second
        assert "--only-binary=:all:" in second
        assert second[-1] == "tokenizers==1.0"
