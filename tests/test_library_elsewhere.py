"""Names of other libraries are answered with the names here."""

from __future__ import annotations

import copy
import inspect
import itertools
import pickle
import re
import traceback
from typing import Any

import pytest
from exporting import preset

import tokentui
from tokentui.encode.elsewhere import ENCODING, KEYWORDS, MODULE, TOKENIZER
from tokentui.recipe import Recipe


@pytest.fixture(scope="module")
def tokenizer() -> tokentui.Tokenizer:
    made = preset("gpt2")
    return tokentui.Tokenizer(made.vocabulary, made.merges, made.run)


def test_a_name_of_a_tokenizer(tokenizer: tokentui.Tokenizer) -> None:
    for owner, (name, hint) in itertools.product((tokenizer, tokentui.Tokenizer), TOKENIZER.items()):
        assert not hasattr(owner, name), "a name that works needs no hint"
        with pytest.raises(AttributeError, match=re.escape(f"{name!r} (use {hint})")):
            getattr(owner, name)


def test_a_name_of_an_encoding(tokenizer: tokentui.Tokenizer) -> None:
    encodings = tokenizer.encode("a"), tokentui.Encoding.of("", ())
    for encoding, (name, hint) in itertools.product(encodings, ENCODING.items()):
        with pytest.raises(AttributeError, match=re.escape(f"{name!r} (use {hint})")):
            getattr(encoding, name)


@pytest.mark.parametrize("name", MODULE)
def test_a_name_of_the_module(name: str) -> None:
    assert name not in tokentui.__all__
    with pytest.raises(AttributeError, match=re.escape(f"{name!r} (use {MODULE[name]})")):
        getattr(tokentui, name)


@pytest.mark.parametrize("name", KEYWORDS)
def test_a_name_of_an_argument(name: str, tokenizer: tokentui.Tokenizer) -> None:
    calls: list[tuple[Any, object]] = [
        (tokenizer.encode, "a"), (tokenizer.encode_ids, "a"), (tokenizer.encode_batch, ["a"]),
        (tokenizer.decode, [1]), (tokenizer.decode_batch, [[1]]),
    ]
    for method, value in calls:
        with pytest.raises(TypeError, match=re.escape(f"{name!r} (use {KEYWORDS[name]})")):
            method(value, **{name: True})


def test_the_expressions_exist(tokenizer: tokentui.Tokenizer) -> None:
    owners: dict[str, object] = {
        "tokenizer": tokenizer, "encoding": tokenizer.encode("a"), "tokentui": tokentui,
        "token": next(tokenizer.entries()),
    }
    checked = 0
    for table in (TOKENIZER, ENCODING, MODULE, KEYWORDS):
        for hint in table.values():
            for owner, path in re.findall(r"\b(tokenizer|encoding|tokentui|token)\.([a-zA-Z_.]+\w)", hint):
                value = owners[owner]
                for name in path.split("."):
                    value = getattr(value, name)
                checked += 1
    assert checked > 80
    parameters = inspect.signature(tokenizer.encode).parameters
    for hint in KEYWORDS.values():
        for argument in re.findall(r"^(\w+)=", hint):
            assert argument in parameters


def test_a_hint_is_the_only_suggestion(tokenizer: tokentui.Tokenizer) -> None:
    """From 3.12 on Python adds one of its own to the error of an attribute, if that names an object."""
    asked: list[tuple[object, str]] = [
        *((owner, name) for owner in (tokenizer, tokentui.Tokenizer) for name in TOKENIZER),
        *((tokenizer.encode("a"), name) for name in ENCODING), *((tokentui, name) for name in MODULE),
    ]
    for owner, name in asked:
        with pytest.raises(AttributeError) as told:
            getattr(owner, name)
        assert "".join(traceback.format_exception_only(told.value)).endswith(")\n")


def test_another_name_and_another_fault(tokenizer: tokentui.Tokenizer) -> None:
    owners: list[object] = [tokenizer, tokentui.Tokenizer, tokenizer.encode("a"), tokentui]
    name = "nonsense"
    for owner in owners:
        with pytest.raises(AttributeError, match=r"has no attribute 'nonsense'$"):
            getattr(owner, name)
    encode: Any = tokenizer.encode
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        encode("a", nonsense=1)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        encode()


def test_it_is_a_tokenizer_still(tokenizer: tokentui.Tokenizer) -> None:
    for other in (copy.copy(tokenizer), copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer))):
        assert other.encode("a b").ids == tokenizer.encode("a b").ids
    assert isinstance(tokenizer.recipe, Recipe)
    assert list(inspect.signature(tokentui.Tokenizer.encode).parameters)[:2] == ["self", "text"]
    batch = [tokenizer.encode(text).ids for text in ("a b", "", "é")]
    assert tokenizer.decode_batch(batch) == ["a b", "", "é"]
    with pytest.raises(tokentui.TokentuiError, match="no such id: -7"):
        tokenizer.decode_batch([[1], [-7]])
