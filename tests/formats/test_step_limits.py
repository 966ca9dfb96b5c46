"""Limits hold for every pattern and every step of a tokenizer.json: one line, in no time and in little
memory."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from protomake import message

from tokentui.axes import check
from tokentui.core.errors import TokentuiError
from tokentui.core.limits import spread
from tokentui.formats.files import load
from tokentui.formats.huggingface import AlignedText
from tokentui.formats.huggingface.words import Added, Finder
from tokentui.recipe import Recipe
from tokentui.text.split import SPLITS

FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
MEMORY = 500 << 20
WIDE = 100
"""Seconds of the processor: far more than any of it takes, far less than what is refused would."""


def document(**steps: Any) -> bytes:
    model = {"type": "BPE", "vocab": {name: n for n, name in enumerate("abx ")}, "merges": []}
    return json.dumps({"version": "1.0", "model": model} | steps).encode()


def cut(pattern: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def replace(pattern: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def sequence(name: str, step: dict[str, Any], times: int) -> dict[str, Any]:
    return {"type": "Sequence", name: [step] * times}


HUGE: dict[str, tuple[dict[str, Any], str]] = {
    "counted repeats": ({"pre_tokenizer": cut("(?:(?:a{1000}){1000}){1000}")}, "repeats too many times"),
    "counted repeats of a step": (
        {"normalizer": replace("(?:(?:[ab]{9,1000}){1000}){2,1000}", "")}, "repeats too many times",
    ),
    "counted repeats of the decoder": (
        {"decoder": replace("(?:(?:a{1000}){1000}){1000}", "")}, "repeats too many times",
    ),
    "one replacement": ({"normalizer": replace(".", "a" * 1_000_000)}, "more than 64 times"),
    "doubled and doubled": (
        {"normalizer": sequence("normalizers", replace("a", "aa"), 60)}, "more than 64 times",
    ),
    "letters of letters": (
        {"normalizer": sequence("normalizers", {"type": "ByteLevel"}, 60)}, "more than 64 times",
    ),
    "letters of letters again": (
        {
            "pre_tokenizer": sequence(
                "pretokenizers",
                {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False, "trim_offsets": True},
                60,
            )
        },
        "more than 64 times",
    ),
    "in front": ({"normalizer": {"type": "Prepend", "prepend": "a" * 10_000_000}}, "more than 64 times"),
    "around a text": (
        {
            "post_processor": {
                "type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x"}}] * 50_000,
                "special_tokens": {"x": {"tokens": ["a"] * 50_000}},
            }
        },
        "more than 1,000 tokens around a text",
    ),
    "in front of each unit": (
        {"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [], "continuing_subword_prefix": "#" * 10**7}},
        "256 no real tokenizer has more than",
    ),
    "many steps": (
        {"normalizer": sequence("normalizers", {"type": "Lowercase"}, 200_000)}, "more than 1,000 steps",
    ),
}


@pytest.mark.slow
def test_a_line(tmp_path: Path) -> None:
    """Each is refused in a line, by a process that has that much memory for one after the other."""
    paths = [tmp_path / f"{number}.json" for number in range(len(HUGE))]
    for path, (steps, _) in zip(paths, HUGE.values(), strict=True):
        path.write_bytes(document(**steps))
    program = (
        "import sys; from tokentui.formats.files import load; from tokentui.core.errors import "
        "TokentuiError\n"
        "for path in sys.argv[1:]:\n"
        "    try:\n        tokenizer = load(path); tokenizer.decode(tokenizer.encode('aé a').ids)\n"
        "    except TokentuiError as error: print(error, flush=True)\n"
    )

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (WIDE, WIDE))

    words = [sys.executable, "-c", program, *map(str, paths)]
    done = subprocess.run(words, capture_output=True, text=True, preexec_fn=bounded, check=False)
    told = done.stdout.splitlines()
    assert done.returncode == 0, (list(HUGE)[len(told) : len(told) + 1], done.stderr[-500:])
    for name, (_, line), said in zip(HUGE, HUGE.values(), told, strict=True):
        assert line in said, name


def test_what_the_decoder_makes(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(document(decoder=sequence("decoders", replace("a", "aa"), 60)))
    with pytest.raises(TokentuiError, match="more than 64 times"):
        load(path).decode([0])


@pytest.mark.slow
def test_many_added_tokens(tmp_path: Path) -> None:
    """Fifty thousand are found as few are, each by its whole name."""
    path = tmp_path / "tokenizer.json"
    many = [FLAGS | {"id": 4 + n, "content": f"<t{n}>"} for n in range(50_000)]
    path.write_bytes(document(added_tokens=many))
    assert load(path).encode("a<t7><t47777>b<t50000>", allow_special=True).ids[:4] == (0, 11, 47_781, 1)


@pytest.mark.slow
def test_many_names(tmp_path: Path) -> None:
    """Half as many symbols of sentencepiece's, and specials of minbpe's."""
    rows = [("<unk>", 2), ("▁", 1), ("a", 1), *((f"<t{n}>", 4) for n in range(25_000))]
    pieces = ((1, message([(1, name.encode()), (2, -1.0), (3, kind)])) for name, kind in rows)
    (tmp_path / "m.model").write_bytes(message([*pieces, (2, message([(3, 2)]))]))
    assert load(tmp_path / "m.model").encode("a<t7><t7777").ids == (1, 2, 10, 0)
    specials = "".join(f"<t{n}> {n + 256}\n" for n in range(25_000))
    (tmp_path / "x.model").write_text(f"minbpe v1\n\\w+|\\W\n25000\n{specials}", "utf-8")
    assert load(tmp_path / "x.model").encode("a<t7>", allow_special=True).ids == (97, 263)


def test_added_tokens_are_found_leftmost_and_longest() -> None:
    names = ["ab", "abc", "abcd", "bc", "c", "é", "éa", "]", "^", "-", "aa"]
    finder = Finder({name: Added(n, name, False, False) for n, name in enumerate(names)})
    any_of_them = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))
    for text in ("abcabcdab", "aaab", "xéab]^-x", "ababéa", "", "bcd"):
        found = [part.text for token, part in finder.cut(AlignedText.typed(text), True) if token is not None]
        assert found == any_of_them.findall(text)


def test_a_pattern_has_its_own_time(tmp_path: Path, limited: Callable[..., None]) -> None:
    limited(file_pattern_seconds=0.02)
    path = tmp_path / "tokenizer.json"
    path.write_bytes(document(normalizer=replace("(?:x|xx|xxx)+(?<!x)", "")))
    with pytest.raises(TokentuiError, match=r"takes too long.*file-pattern-seconds"):
        load(path).encode("x" * 60)


@pytest.mark.parametrize(("pattern", "size"), [
    ("abc", 3), ("a{5}", 5), ("a{2}{3}", 6), ("a{2,7}", 7), ("a{,7}", 7), ("a{7,}", 7),
    (r"\p{L}{3}", 3), ("[a-z]{4}x", 5), (r"\{2}", 3),
])
def test_spread(pattern: str, size: int) -> None:
    assert spread(pattern) == size


def test_a_pattern_of_a_recipe() -> None:
    with pytest.raises(TokentuiError, match="repeats too many times"):
        check(Recipe(split="regex:(?:(?:a{1000}){1000}){1000}"))


def test_known_patterns_are_small() -> None:
    assert max(spread(entry.pattern) for entry in SPLITS.values()) < 1000
