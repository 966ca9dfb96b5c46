"""On large corpora too every one of 32,512 merges is that of Hugging Face's BpeTrainer, whatever the engine.

`TOKENTUI_LARGE_CORPUS` names a text file of any size to compare on as well, such as one of 100 MB.
"""

from __future__ import annotations

import json
import lzma
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import oracle
import peers
import pytest
from trainers import merge_steps

from tokentui import learn
from tokentui.axes import preset
from tokentui.core import engines
from tokentui.core.engines import COMPILED, PLAIN
from tokentui.learn import start
from tokentui.recipe import Stops
from tokentui.text.read import read

hf = pytest.importorskip("tokenizers")
pytestmark = [pytest.mark.peer, pytest.mark.soak]

SOURCE = "corpora/en10m.txt.xz"
NAMED = "TOKENTUI_LARGE_CORPUS"
IDS = 32_768
PIECE = 1 << 16
_CUT = re.compile("[a-z](?= [a-z])")


def pieces(text: str) -> Iterator[str]:
    """The text in pieces, which is quicker for Hugging Face; no word of it crosses a place between a letter
    and a space."""
    here = 0
    while match := _CUT.search(text, here + PIECE):
        yield text[here : match.end()]
        here = match.end()
    yield text[here:]


def theirs(text: str) -> list[tuple[bytes, bytes]]:
    """Hugging Face's merges."""
    tokenizer: Any = hf.Tokenizer(hf.models.BPE())
    tokenizer.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = hf.trainers.BpeTrainer(
        vocab_size=IDS, min_frequency=0, show_progress=False,
        initial_alphabet=hf.pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(pieces(text), trainer)
    printed = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]  # as themselves, in Latin-1
    others = [byte for byte in range(256) if byte not in printed]
    byte_of = {chr(byte): byte for byte in printed} | {chr(256 + n): byte for n, byte in enumerate(others)}
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [
        (bytes(map(byte_of.__getitem__, left)), bytes(map(byte_of.__getitem__, right)))
        for left, right in merges
    ]


@pytest.mark.parametrize("size", [
    pytest.param(1_000_000, id="1 MB", marks=pytest.mark.shared),
    pytest.param(10_000_000, id="10 MB", marks=pytest.mark.shared),
    pytest.param(None, id="named"),
])
def test_merges_on_a_large_corpus(
    size: int | None, loaded: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if size is None:
        if not (named := os.environ.get(NAMED)):
            pytest.skip(f"{NAMED} names no file")
        path = Path(named)
    else:
        path = tmp_path / "english.txt"
        path.write_bytes(lzma.decompress(oracle.shared(SOURCE).read_bytes())[:size].rpartition(b"\n")[0])
    wanted = theirs(path.read_bytes().decode())
    for engine, kind in (("compiled", COMPILED), ("plain", PLAIN)):
        monkeypatch.setenv(engines.VARIABLE, "off" if engine == "plain" else "on")
        trainer = start(read(path, as_="text"), preset("gpt2"))
        assert trainer.traits.engine == kind
        learn.run(trainer, Stops(vocab_size=IDS))
        peers.same_steps([(step.left, step.right) for step in merge_steps(trainer)], wanted)
