"""A file that was opened, exported at a step before its last one."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import oracle
import pytest
from exporting import SMALL, again, exported, preset
from hypothesis import given, settings
from hypothesis import strategies as st
from trainers import replay

from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import WRITTEN
from tokentui.formats.files import load
from tokentui.formats.proof import contents

LETTERS = "abc"
TOKENS = ("ab", "bc", "ca", "abc", "bca", "abca")
PAIRS = tuple(
    (token[:cut], token[cut:]) for token in TOKENS for cut in range(1, len(token))
    if {token[:cut], token[cut:]} <= {*LETTERS, *TOKENS}
)
"""Every pair that makes a token: two or three for the longer ones."""
WORDS = tuple("".join(word) for size in range(1, 6) for word in itertools.product(LETTERS, repeat=size))


def opened(merges: list[tuple[str, str]], folder: Path) -> Tokenizer:
    """A `tokenizer.json` that lists these pairs in this order."""
    names = [*LETTERS, *dict.fromkeys(left + right for left, right in merges)]
    model = {"type": "BPE", "vocab": {name: n for n, name in enumerate(names)}, "merges": merges}
    path = folder / "tokenizer.json"
    path.write_text(json.dumps({"version": "1.0", "model": model}), "utf-8")
    return load(path)


def steps_of(tokenizer: Tokenizer, numbers: list[int] | None = None) -> Iterator[Tokenizer]:
    """The tokenizer at these steps; at every step if None."""
    trainer = replay(tokenizer)
    count = trainer.computed
    for number in range(count + 1) if numbers is None else sorted({n * count // 5 for n in numbers}):
        yield trainer.tokenizer(number)


@pytest.mark.parametrize("format", WRITTEN)
@settings(max_examples=40)
@given(merges=st.permutations(PAIRS))
@pytest.mark.slow
def test_every_step_of_a_file_with_several_pairs_per_token_is_exported(
    format: str, merges: list[tuple[str, str]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole = opened(merges, Path(folder))
    for tokenizer in steps_of(whole):
        report, files = contents(tokenizer, WRITTEN[format])  # which reads the file back and encodes with it
        assert bool(files) == (not report.refused)
        assert not report.refused or format not in ("tokentui", "huggingface"), report.refused


@settings(max_examples=40)
@given(merges=st.permutations(PAIRS))
@pytest.mark.slow
def test_pairs_of_a_step_consist_of_tokens_of_that_step(merges: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole = opened(merges, Path(folder))
        for tokenizer in steps_of(whole):
            data = contents(tokenizer, WRITTEN["huggingface"])[1][0]
            model = json.loads(data)["model"]
            named = {name for left, right in model["merges"] for name in (left, right, left + right)}
            assert named <= model["vocab"].keys()
            (Path(folder) / "tokenizer.json").write_bytes(data)
            again = load(Path(folder) / "tokenizer.json")
            for word in WORDS:
                assert again.encode(word).ids == tokenizer.encode(word).ids, word


@pytest.mark.parametrize("format", [name for name in WRITTEN if name != "tokentui"])
@pytest.mark.parametrize("kind", ["sentencepiece", "tiktoken", "bert"])
@pytest.mark.slow
def test_every_step_of_a_file_of_another_tool_is_exported(tmp_path: Path, kind: str, format: str) -> None:
    name = {"sentencepiece": "sentencepiece-bpe"}.get(kind, SMALL[kind])
    for tokenizer in steps_of(again(preset(name), kind, tmp_path), [0, 1, 2, 3, 4]):
        report, files = exported(tokenizer, format)
        assert bool(files) == (not report.refused)
        assert not report.refused or format != kind, report.refused


FILES = (
    "bert-base-uncased/tokenizer.json", "bert-base-uncased/vocab.txt", "falcon/tokenizer.json",
    "gpt2/tokenizer.json", "gpt2/vocab.json", "hw-doc-summarizer/tokenizer.json", "llama2/tokenizer.json",
    "openai-gpt/tokenizer.json", "openai-gpt/vocab.json", "spm-llama2/tokenizer.model",
    "spm-test/test_ja_model.model", "spm-test/test_model.model", "spm-xlnet-base-cased/spiece.model",
    "sqlpilot/tokenizer.json", "t5-small/tokenizer.json", "tiktoken_cl100k_base/cl100k_base.tiktoken",
    "tiktoken_o200k_base/o200k_base.tiktoken",
)
_QUICK = ("llama2/tokenizer.json", "sqlpilot/tokenizer.json")


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", [
    *oracle.large(*_QUICK),
    *oracle.large(*(name for name in FILES if name not in _QUICK), marks=[pytest.mark.soak]),
])
def test_a_published_file_is_exported_at_its_middle_steps(name: str) -> None:
    """The file's own format and the project's format hold every step, but for the Unigram of Hugging Face,
    whose ids are rows; each other format holds it or refuses it in a line."""
    tokenizer = load(oracle.shared(f"tokenizers/{name}"))
    own = tokenizer.vocabulary.file.format
    rows = own == "huggingface" and tokenizer.recipe.objective == "unigram"
    for part in steps_of(tokenizer, [0, 1, 2, 3, 4]):
        for format in WRITTEN.values():
            try:
                report, files = contents(part, format)
            except TokentuiError as error:
                pytest.fail(f"{format.name}: {error}")
            assert bool(files) == (not report.refused), format.name
            if format.name in ("tokentui", own):
                assert bool(files) != rows, report.refused
