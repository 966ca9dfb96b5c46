"""What is written loads in its owner's library and encodes the same there: presets on hostile texts, and
every published file."""

from __future__ import annotations

from pathlib import Path

import owners
import pytest
from exporting import HOLD, HOSTILE, bytes_of, fitted, preset
from oracle import large
from owner_encoders import OWNERS, promised

from tokentui.formats import WRITTEN
from tokentui.formats.proof import contents

pytestmark = pytest.mark.peer

_QUICK = {
    "huggingface": {"gpt2", "gpt4o", "llama2", "bert", "gpt1"}, "tiktoken": {"gpt4o"},
    "sentencepiece": {"t5"}, "gpt2": {"gpt2"}, "bert": {"bert"}, "minbpe": {"minbpe-basic"},
    "tekken": {"gpt2"}, "subword-nmt": {"subword-nmt"},
}
_CASES = [
    pytest.param(format, name, marks=[] if name in _QUICK[format] else [pytest.mark.soak])
    for format in OWNERS for name in sorted(HOLD[format])
]


@pytest.mark.parametrize(("format", "name"), _CASES)
@pytest.mark.first_run(cases=4)
def test_the_owner_encodes_a_preset_alike(format: str, name: str) -> None:
    tokenizer = preset(name)
    files = bytes_of(tokenizer, format)
    owner = OWNERS[format](tokenizer, files)
    fit = fitted(tokenizer, format)
    asked = 0
    for text in HOSTILE:
        want = promised(tokenizer, format, fit, text)
        if want is None or (got := owner(text)) is None:
            continue
        asked += 1
        assert list(got) == want, text
    assert asked >= (20 if name in _SMALL else 50)


_SMALL = {
    "udl-notebook", "comp336", "comp336-no-spaces", "comp336-no-pretokenization", "wicaksono-bpe",
    "wicaksono-wordpiece", "subword-nmt", "subword-nmt-0.1", "gpt1", "sentencepiece-bpe",
    "sentencepiece-unigram", "t5", "albert", "xlnet",
}
"""Presets that refuse or do not know much of the texts, or whose files are told to differ on some."""


PUBLISHED = {
    "bert-base-uncased/tokenizer.json": "huggingface", "bert-base-uncased/vocab.txt": "bert",
    "falcon/tokenizer.json": "huggingface",
    "gpt2/tokenizer.json": "huggingface", "gpt2/vocab.json": "gpt2",
    "hw-doc-summarizer/tokenizer.json": "huggingface", "llama2/tokenizer.json": "huggingface",
    "openai-gpt/tokenizer.json": "huggingface", "openai-gpt/vocab.json": "gpt2",
    "spm-llama2/tokenizer.model": "sentencepiece", "spm-test/test_ja_model.model": "sentencepiece",
    "spm-test/test_model.model": "sentencepiece", "spm-xlnet-base-cased/spiece.model": "sentencepiece",
    "sqlpilot/tokenizer.json": "huggingface", "t5-small/tokenizer.json": "huggingface",
    "tiktoken_cl100k_base/cl100k_base.tiktoken": "tiktoken",
    "tiktoken_o200k_base/o200k_base.tiktoken": "tiktoken",
}
_LIGHT = ("hw-doc-summarizer/tokenizer.json", "sqlpilot/tokenizer.json", "spm-test/test_model.model")
TRAINED = {
    "trained/gpt2/tokenizer.json": "huggingface", "trained/gpt2/vocab.json": "gpt2",
    "trained/falcon/tokenizer.json": "huggingface",
    "trained/gpt1/tokenizer.json": "huggingface", "trained/gpt1/vocab.json": "gpt2",
    "trained/bert/tokenizer.json": "huggingface", "trained/bert/vocab.txt": "bert",
    "trained/t5/tokenizer.json": "huggingface",
    "trained/spm-bpe/m.model": "sentencepiece", "trained/spm-unigram/m.model": "sentencepiece",
    "trained/ranks/r.tiktoken": "tiktoken",
}
_TWINS = ("trained/gpt2/vocab.json", "trained/gpt1/tokenizer.json")
"""Files whose format and whose tokenizer another one here has as well."""


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=[pytest.mark.soak] if name in _TWINS else []) for name in TRAINED),
        *large(*_LIGHT),
        *large(*(name for name in PUBLISHED if name not in _LIGHT), marks=[pytest.mark.soak]),
    ],
)
@pytest.mark.slow
def test_a_file_is_written_again_as_its_owner_has_it(name: str, tmp_path: Path) -> None:
    path = owners.path_of(name, tmp_path)
    format = (PUBLISHED | TRAINED)[name]
    tokenizer = owners.read(name, tmp_path)
    files = bytes_of(tokenizer, format)
    both = _both(path)
    was, now = OWNERS[format](tokenizer, both), OWNERS[format](tokenizer, files)
    assert len(HOSTILE) >= 50
    for text in HOSTILE:
        assert now(text) == was(text), text
    if format == "sentencepiece":
        assert len(files[0]) - len(both[0]) in range(32)  # defaults that sentencepiece leaves out are said


@pytest.mark.parametrize("name", ["trained/spm-bpe/m.model", "trained/spm-unigram/m.model"])
@pytest.mark.slow
def test_a_model_becomes_a_file_of_hugging_face(name: str, tmp_path: Path) -> None:
    """What its library cannot be given, bytes that are not UTF-8, is not compared."""
    tokenizer = owners.read(name, tmp_path)
    report, files = contents(tokenizer, WRITTEN["huggingface"])
    assert report.refused == ""
    theirs = pytest.importorskip("tokenizers").Tokenizer.from_str(files[0].decode())
    texts = ["The crowd in the street", "naïve café 1,234", "雨の日の図書館 👩‍👩‍👧", "\ufffd a\ufffd"]
    for text in texts:
        assert theirs.encode(text, add_special_tokens=False).ids == list(tokenizer.encode(text).ids), text


def _both(path: Path) -> tuple[bytes, ...]:
    merges = path.with_name("merges.txt")
    return (path.read_bytes(), merges.read_bytes()) if path.name == "vocab.json" else (path.read_bytes(),)
