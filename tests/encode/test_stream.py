"""Ids that are decoded one by one."""

from __future__ import annotations

from pathlib import Path

import pytest
from exporting import again, preset
from hypothesis import given, settings
from hypothesis import strategies as st
from running_cli import cli, done, rows

from tokentui.core.errors import TokentuiError
from tokentui.encode.decode import _MOST_REPEATED
from tokentui.encode.tokenizer import Tokenizer

_FILES = {"gpt2": "huggingface", "llama2": "huggingface", "bert": "huggingface", "t5": "sentencepiece"}


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Tokenizer]:
    """Tokenizers that were trained, and those that were read from files of other tools."""
    folder = tmp_path_factory.mktemp("stream")
    made = {name: preset(name) for name in ("gpt2", "llama2", "t5", "bert", "subword-nmt", "gage")}
    for name, format in _FILES.items():
        made[f"{name}.{format}"] = again(made[name], format, folder)
    return made


@given(st.data())
@settings(max_examples=300)
@pytest.mark.slow
def test_the_texts_together_are_the_text_of_all_ids(read: dict[str, Tokenizer], data: st.DataObject) -> None:
    tokenizer = read[data.draw(st.sampled_from(sorted(read)))]
    numbers = [entry.id for entry in tokenizer.entries()]
    some = data.draw(st.lists(st.sampled_from(numbers), min_size=1, max_size=4))
    ids = data.draw(st.lists(st.sampled_from([*some, *numbers]), max_size=2 * _MOST_REPEATED))
    streamed = list(tokenizer.decode_stream(ids))
    assert [one.id for one in streamed if not one.end] == ids
    assert "".join(one.text for one in streamed) == tokenizer.decode(ids)
    assert [one.end for one in streamed[:-1]] == [False] * len(streamed[:-1])


@pytest.mark.slow
def test_a_long_stream(read: dict[str, Tokenizer]) -> None:
    text = "The sea 海を見た🚢 é and the ship. " * 40
    for tokenizer in read.values():
        try:
            ids = tokenizer.encode(text).ids
        except TokentuiError:
            continue
        assert "".join(one.text for one in tokenizer.decode_stream(ids)) == tokenizer.decode(ids)


def test_the_command(tmp_path: Path) -> None:
    file = str(tmp_path / "gpt2.json")
    done("train", "sample:hugs", "-r", "gpt2", "--merges", "6", "-o", file, "-q")
    ids = done("encode", "-t", file, "hugé").split()
    assert [line.split() for line in done("decode", "-t", file, "--stream", *ids).splitlines()] == [
        ["258", "hug"], [ids[1], "(c3)"], [ids[2], "é"],
    ]
    assert rows(done("decode", "-t", file, "--stream", "--json", *ids[:2])) == [
        {"id": 258, "text": "hug", "held": ""}, {"id": int(ids[1]), "text": "", "held": "c3"},
        {"id": None, "text": "\ufffd", "held": "", "end": True},
    ]
    assert cli("decode", "-t", file, "--stream", "--check", "258").exit_code == 2
