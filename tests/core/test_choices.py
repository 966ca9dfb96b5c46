"""Values that a user names: what a record cannot take is one line that says why."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tokentui.axes import check
from tokentui.core.choices import Choice, Parameter
from tokentui.core.errors import TokentuiError
from tokentui.recipe import Recipe

_SHARE = Parameter("coverage", "a share", 1.0, float, most=1)
_POWERED = Choice("pmi", "a choice with a parameter", parameters=(Parameter("power", "a power", 2),))


@pytest.mark.parametrize(
    ("named", "says"),
    [
        (lambda: _SHARE.read("most"), "coverage=most: expected a share above 0 and at most 1"),
        (lambda: _SHARE.read("1.5"), "coverage=1.5: expected a share above 0"),
        (lambda: _POWERED.arguments("pmi:pow=3"), "pmi:pow=3: pmi has no parameter 'pow' (did you mean"),
        (lambda: _POWERED.arguments("pmi:power=x"), "power: expected a whole number"),
        (lambda: check(Recipe(split="regex:a\0")), "split=regex:…: a text cannot contain NUL"),
        (lambda: check(Recipe(split="regex:")), "split=regex:: regex: needs text after the colon"),
    ],
)
def test_an_invalid_value_is_refused_in_one_line(named: Callable[[], object], says: str) -> None:
    with pytest.raises(TokentuiError) as raised:
        named()
    assert str(raised.value).startswith(says)


def test_a_parameter_that_is_not_named_has_its_default() -> None:
    assert _POWERED.arguments("pmi") == {"power": 2}
    assert _POWERED.arguments("pmi:power=3") == {"power": 3}
