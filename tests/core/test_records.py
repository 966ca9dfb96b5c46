"""Data classes that are defined quickly are those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from tokentui.core import records


def made(maker: Callable[..., Any], **words: Any) -> list[Any]:
    """A class, a child of it, and one with a method of its own for each."""

    @maker(**words)
    class Parent:
        """A parent."""

        left: int
        right: str = "b"
        seen: list[int] = dataclasses.field(default_factory=list, compare=False)
        hidden: float = dataclasses.field(default=0.5, repr=False)

        def both(self) -> str:
            return f"{self.left}{self.right}"

    @maker(**words)
    class Child(Parent):
        more: tuple[int, ...] = ()
        counted: int = dataclasses.field(default=7, init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "counted", len(self.more))

    @maker(**words)
    class Own:
        only: Any = None

        def __repr__(self) -> str:
            return "own"

        def __hash__(self) -> int:
            return 5

    @maker(**words)
    class Empty:
        pass

    return [Parent, Child, Own, Empty]


def result(ask: Callable[[], Any]) -> Any:
    """What is returned, or the kind of what is raised."""
    try:
        return ask()
    except Exception as error:
        return type(error)


SHAPES = [
    {"frozen": frozen, "slots": slots, "kw_only": kw_only, "eq": eq}
    for frozen in (False, True) for slots in (False, True) for kw_only in (False, True)
    for eq in (False, True)
]


def answers(maker: Callable[..., Any], words: dict[str, bool]) -> list[Any]:
    """All that the classes can be asked."""
    parent, child, own, empty = made(maker, **words)
    first, other, thrown = parent(left=1), child(left=1, right="c", more=(2, 3)), parent(left=1)
    nan = float("nan")
    return [
        repr(first).replace("Parent", "x"), repr(other), repr(own()), repr(empty()),
        result(lambda: setattr(thrown, "left", 9)), result(lambda: delattr(thrown, "right")),
        other.both(), other.counted, other.seen is child(left=1).seen,
        result(lambda: parent(left=1) == parent(left=1, seen=[4])), first == other, own() == own(),
        empty() == empty(), first != 3, result(lambda: hash(own(only=nan))),
        result(lambda: hash(parent(left=1)) == hash(parent(left=1))),
        result(lambda: hash(child(left=1))) is TypeError, result(lambda: hash(empty())) is TypeError,
        result(lambda: parent(1)) is TypeError, result(parent), result(lambda: parent(left=1, wrong=2)),
        result(lambda: dataclasses.replace(other, left=4).left), dataclasses.asdict(other),
        [one.name for one in dataclasses.fields(child)], parent.__match_args__, copy.copy(other).more,
        copy.deepcopy(other).counted, hasattr(first, "__dict__"), child.__doc__ is None,
        result(lambda: setattr(first, "wrong", 1)) is None,
    ]


@pytest.mark.first_run(cases=10)
@pytest.mark.parametrize("first", [0, records._FIRST], ids=["many objects", "few objects"])
@pytest.mark.parametrize("words", SHAPES, ids=str)
def test_records_behave_like_standard_dataclasses(
    words: dict[str, bool], first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "_FIRST", first)
    assert answers(records.dataclass, words) == answers(dataclasses.dataclass, words)


@pytest.mark.parametrize("words", SHAPES, ids=str)
def test_objects_compare_as_the_tuples_of_their_fields(words: dict[str, bool]) -> None:
    """On every Python. The standard library's do so up to 3.12; from 3.13 on they compare field by field, so
    that an object with a NaN is not equal to one that holds the same NaN."""
    _, _, own, _ = made(records.dataclass, **words)
    nan, other = float("nan"), float("nan")
    assert (own(only=nan) == own(only=nan)) is words["eq"]
    assert own(only=nan) != own(only=other)


@records.dataclass(frozen=True, slots=True)
class Kept:
    """A class that can be found again."""

    one: int
    other: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Further(Kept):
    """A child that the standard library made."""

    third: int = 3


@records.dataclass(frozen=True, slots=True)
class Furthest(Further):
    """A grandchild that this made again."""

    fourth: int = 4


def test_both_kinds_mix() -> None:
    one = Furthest(1, ("a",))
    assert (one.one, one.other, one.third, one.fourth) == (1, ("a",), 3, 4)
    assert one == Furthest(1, ("a",), 3, 4) != Furthest(2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.third = 4  # type: ignore[misc]
    assert Further(1) == Further(1, (), 3)


def test_an_argument_is_missing_from_the_first_object_on() -> None:
    @records.dataclass
    class Two:
        one: int
        other: int

    with pytest.raises(TypeError, match="other"):
        Two(1)  # type: ignore[call-arg]


def test_the_objects_of_both_ways_to_begin_are_equal() -> None:
    @records.dataclass(frozen=True, slots=True)
    class Two:
        one: int
        other: tuple[str, ...] = ("a",)

    made = [Two(1) for _ in range(3 * records._FIRST)]
    assert set(made) == {Two(1, ("a",))}
    assert not hasattr(Two.__init__, "__closure__") or Two.__init__.__code__.co_argcount == 3


def test_they_are_pickled() -> None:
    for one in (Kept(1, ("b",)), Furthest(1)):
        assert pickle.loads(pickle.dumps(one)) == one


def test_a_subclass_may_have_attributes_of_its_own() -> None:
    class Below(Kept):
        pass

    below = Below(1)
    below.more = 2  # type: ignore[attr-defined]
    with pytest.raises(dataclasses.FrozenInstanceError):
        below.one = 2  # type: ignore[misc]
    assert below == Below(1) != Kept(1)
