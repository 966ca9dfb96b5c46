"""The decoders of files, which change equal parts once, against one look at each part."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui.formats.huggingface.decoders import name_decoder
from tokentui.formats.huggingface.steps import DecoderStep, read_step
from tokentui.formats.source import Node

PARTS = st.lists(st.sampled_from([
    "▁a", "a", "▁", "##b", "##", "a</w>", "</w>", "<0x41>", "<0xC3>", "<0xA9>", " n't", " .", "  a ", "é", "",
]), max_size=8)


def word_piece(parts: list[str]) -> list[str]:
    joined = [part if n == 0 else part[2:] if part.startswith("##") else f" {part}"
              for n, part in enumerate(parts)]
    return [part.replace(" .", ".").replace(" n't", "n't") for part in joined]


def byte_fallback(parts: list[str]) -> list[str]:
    made: list[str] = []
    for is_byte, group in itertools.groupby(parts, lambda part: part.startswith("<0x")):
        run = list(group)
        data = bytes(int(part[3:5], 16) for part in run) if is_byte else b""
        try:
            made += [data.decode()] if is_byte else run
        except UnicodeDecodeError:
            made.append("".join(chr(0xDC00 + byte) if byte >= 0x80 else "\ufffd" for byte in data))
    return made


STEPS: list[tuple[dict[str, Any], Callable[[list[str]], list[str]]]] = [
    ({"type": "WordPiece", "prefix": "##", "cleanup": True}, word_piece),
    (
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
        lambda parts: [part.replace("▁", " " if n else "") for n, part in enumerate(parts)],
    ),
    (
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"},
        lambda parts: [part.replace("▁", " ") for part in parts],
    ),
    (
        {"type": "BPEDecoder", "suffix": "</w>"},
        lambda parts: [part.replace("</w>", " " if n < len(parts) - 1 else "")
                       for n, part in enumerate(parts)],
    ),
    ({"type": "ByteFallback"}, byte_fallback),
    (
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        lambda parts: [part.removeprefix(" ") for part in parts],
    ),
    (
        {"type": "Replace", "pattern": {"String": "a"}, "content": "bb"},
        lambda parts: [part.replace("a", "bb") for part in parts],
    ),
    (
        {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]},
        lambda parts: ["".join(byte_fallback(parts))],
    ),
]


@pytest.mark.parametrize(("step", "plain"), STEPS, ids=[step["type"] for step, _ in STEPS])
@given(parts=PARTS)
@settings(max_examples=100, deadline=None)
@pytest.mark.first_run(cases=2)
def test_a_step_changes_each_part(
    step: dict[str, Any], plain: Callable[[list[str]], list[str]], parts: list[str]
) -> None:
    read: DecoderStep = read_step(Node(step, "decoder"), "decoders")
    wanted = "".join(plain(parts)).encode("utf-8", "surrogateescape")
    assert name_decoder(read)(parts) == wanted
