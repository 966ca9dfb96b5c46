"""TOML that was written reads back."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokentui.core.toml import toml_key, toml_value

VALUES = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.text(), VALUES)
def test_a_value_reads_back(key: str, value: object) -> None:
    assert tomllib.loads(f"{toml_key(key)} = {toml_value(value)}") == {key: value}


def test_half_a_surrogate_pair_becomes_a_question_mark() -> None:
    assert toml_value("a\udc80") == '"a?"'


@pytest.mark.parametrize("value", [None, b"a", {1, 2}])
def test_a_value_that_toml_lacks_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="no TOML for"):
        toml_value(value)
