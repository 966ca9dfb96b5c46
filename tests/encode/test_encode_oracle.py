"""Encode, decode and error of every trained oracle case, from its recorded merges."""

from __future__ import annotations

from collections import Counter
from typing import Any

import oracle
import pytest

from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer

GPT2_BYTES = [*range(33, 127), *range(161, 173), *range(174, 256), *range(33), *range(127, 161), 173]


def cases() -> list[Any]:
    asked = ("encode", "decode", "error")
    found = [(parameter, parameter.values[0]) for parameter in oracle.cases("train")]
    return [one for one, case in found if "match" not in case and any(case.get(key) for key in asked)]


def corpus_words(corpus: dict[str, Any], recipe: Recipe) -> Counter[str]:
    if "counts" in corpus:
        documents, times = [word for word, _ in corpus["counts"]], [n for _, n in corpus["counts"]]
    elif "ref" in corpus:
        text = oracle.texts()[corpus["ref"].removeprefix("texts:")]
        documents = text.splitlines() if corpus["as"] == "lines" else [text]
        times = [1] * len(documents)
    else:
        documents = corpus.get("lines") or [corpus["text"]]
        times = [1] * len(documents)
    words: Counter[str] = Counter()
    for document, n in zip(documents, times, strict=True):
        for word in Pretokenizer(recipe).words(document):
            words[word] += n
    return words


def base_units(case: dict[str, Any], recipe: Recipe) -> list[bytes]:
    """The recorded base, or the one that the axis makes of the corpus."""
    if "base" in case["expect"]:
        return [bytes.fromhex(code) for code in case["expect"]["base"]]
    if recipe.base == "bytes":
        return [bytes((value,)) for value in range(256)]
    if recipe.base == "gpt2-bytes":
        return [bytes((value,)) for value in GPT2_BYTES]
    counts: Counter[bytes] = Counter()
    for word, n in corpus_words(case["corpus"], recipe).items():
        for unit in Pretokenizer(recipe).units(word):
            counts[unit] += n
    if recipe.base == "sorted":
        return sorted(counts)
    if recipe.base == "frequency":
        return sorted(counts, key=lambda unit: (-counts[unit], unit))
    return list(counts)


def rebuilt(case: dict[str, Any]) -> Tokenizer:
    recipe = Recipe(**case["recipe"])
    run = case["run"]
    vocabulary = Vocabulary(recipe, base_units(case, recipe), run.get("specials", ()), run.get("first_id", 0))
    symbols = dict(vocabulary.units)
    for left, right, made in case["expect"]["hex"]:
        symbol = vocabulary.add(symbols[bytes.fromhex(left)], symbols[bytes.fromhex(right)], 1)
        assert vocabulary.pieces[symbol].hex() == made
        symbols[bytes.fromhex(made)] = symbol
    return Tokenizer(vocabulary, None, run)


def test_the_oracle_is_there() -> None:
    assert len(cases()) > 50


@pytest.mark.first_run(cases=50)
@pytest.mark.parametrize("case", cases())
def test_encoding_of_recorded_merges(case: dict[str, Any]) -> None:
    tokenizer = rebuilt(case)
    if "vocab_size" in case["expect"]:
        assert tokenizer.vocab_size == case["expect"]["vocab_size"]
    for item in case.get("encode", ()):
        got = tokenizer.encode(item["text"])
        if "ids" in item:
            assert list(got.ids) == item["ids"], item["text"]
        if "hex" in item:
            # A byte-fallback token may be written as the bare byte too.
            want = [code.encode().hex() if code and code.startswith("<0x") else code for code in item["hex"]]
            assert list(got.hex) == want, item["text"]
        if tokenizer.recipe.unknown == "pass-through":
            assert list(got.unknown) == item.get("unknown", []), item["text"]
        elif "hex" in item:
            assert list(got.unknown) == [n for n, code in enumerate(item["hex"]) if code is None], item[
                "text"
            ]
    for item in case.get("decode", ()):
        assert tokenizer.decode(item["ids"]) == item["text"]
    for item in case.get("error", ()):
        with pytest.raises(TokentuiError) as raised:
            tokenizer.encode(item["text"])
        line = str(raised.value)
        assert "\n" not in line
        assert any(unit in line for unit in item["unknown"])
        assert item["text"][int(line.removeprefix("offset ").partition(":")[0])] in item["unknown"]
