"""Recipes, and the runs of a training by a recipe.

A recipe holds the settings of a tokenizer: a frozen value of eleven axes. Recipe files (TOML), the option
`--set axis=value`, the Python API and the screen use the same names. A value is written `name`. Where its
record takes a text or has parameters, it is written `name:TEXT` or `name:key=value,…`. This module names no
value except the defaults. The records of an axis are in the package that implements them, and
`tokentui.axes` collects them and checks recipes.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple, TypedDict

from tokentui.core import sandbox
from tokentui.core.choices import UNWRITABLE, Parameter, unwritable
from tokentui.core.errors import TokentuiError, name_of, nearest, shown, shown_path
from tokentui.core.records import dataclass
from tokentui.core.toml import toml_text, toml_value

_EMPTY = ("", "none", "[]")  # how users write an empty list
NEWEST_UNICODE = "18.0"
"""The Unicode tables of a new recipe: the newest of `tokentui.text.unicode`."""


RUN = {one.name: one for one in (
    Parameter("merges", "stop after this many merges"),
    Parameter("vocab_size", "stop at this many ids, special tokens included", least=1),
    Parameter("min_count", "do not merge pairs that occur fewer than N times", 1, least=1),
    Parameter("max_length", "the maximum token length, in units", least=1),
    Parameter("first_id", "the first id", 0),
    Parameter("specials", "special tokens, separated by spaces", (), tuple),
)}
"""The settings of a run, by name."""

SHAPE = {
    one.name: one
    for one in (
        Parameter(
            "coverage",
            "the share of the corpus's characters that the base covers; the rarest become unknown", 1.0,
            float, most=1,
        ),
        Parameter("symbols", "texts that are always one token and that merges never cross", (), tuple),
        Parameter("prefix_space", "whether to add a space before a text", None, bool),
        Parameter(
            "what_if", "changes to the run, such as 12:forbid:%20t+he, 12:force:e+s or 12:leave-out", (),
            tuple,
        ),
    )
}
"""The settings of a recipe that are no axes, by name."""


class Axes(TypedDict, total=False):
    """Keyword arguments that set axes and other training options: the fields of `Recipe`, for type checkers.

    A test compares the keys with `AXIS_NAMES` and `SHAPE`.
    """

    normalize: str | Iterable[str]
    split: str
    unit: str
    mark: str
    base: str
    objective: str
    weight: str
    tie: str
    pieces: str
    encode: str
    unknown: str
    coverage: float | None
    symbols: Iterable[str]
    prefix_space: bool | None
    what_if: Iterable[str]


CORPUS_FACTS = {one.name: one for one in (
    Parameter("corpora", "the named corpora of the training; of hi*7 a word counts seven times", (), tuple),
)}
"""The facts about its corpus that a tokenizer file records, by name."""


FORBID, FORCE, LEAVE_OUT = "forbid", "force", "leave-out"
_CHANGES = "for example 12:forbid:%20t+he, 12:force:e+s or 12:leave-out"
_CHANGE = re.compile(rf"([0-9]{{1,16}}):({FORBID}|{FORCE}|{LEAVE_OUT})(?::(\S+))?")
_ESCAPED = re.compile(rb"%([0-9A-Fa-f]{2})")
_UNESCAPED = frozenset(range(0x21, 0x7F)).difference(b"%+\\\"'")
_WRITTEN = tuple(chr(byte) if byte in _UNESCAPED else f"%{byte:02X}" for byte in range(256))
"""How each byte of a part is written. A table, since a part may have megabytes."""
_PARTS = {FORBID: range(1, 1 << 10), FORCE: range(2, 1 << 10), LEAVE_OUT: range(1)}
"""How many parts a what-if of each kind may name: 1 is a token, 2 a pair."""


class WhatIf(NamedTuple):
    """A change of a run.

    Its text is `STEP:forbid:LEFT+RIGHT`, `STEP:forbid:TOKEN`, `STEP:force:LEFT+RIGHT` or `STEP:leave-out`.
    Letters, digits and ASCII punctuation stand for their bytes; `%`, `+`, quotes, the backslash and all other
    bytes are `%` with two hex digits, as in a URL.

    Attributes:
        step: The first step that is made under it, 1 for the first of a run.
        what: `forbid`: the pair, or every pair that makes the token, is not merged from this step on.
            `force`: this step merges the pair, whatever its rank is. `leave-out`: the pair that this step
            would merge is not merged from here on.
        parts: The exact bytes of the two parts of the pair, or those of the token; none for `leave-out`.

    >>> WhatIf.read("12:forbid:%20t+he")
    WhatIf(step=12, what='forbid', parts=(b' t', b'he'))
    >>> WhatIf(12, "force", (b"1", b"+")).text
    '12:force:1+%2B'
    """

    step: int
    what: str
    parts: tuple[bytes, ...] = ()

    @property
    def text(self) -> str:
        """The what-if as it is written in a recipe."""
        parts = "+".join("".join(map(_WRITTEN.__getitem__, part)) for part in self.parts)
        return f"{self.step}:{self.what}" + (f":{parts}" if parts else "")

    @property
    def summary(self) -> str:
        """The what-if in a few words, spaces as `·`: `without ·the`. It is not safe to draw yet."""
        parts = [part.decode("utf-8", "surrogateescape").replace(" ", "·") for part in self.parts]
        if self.what == LEAVE_OUT:
            return f"without step {self.step:,}"
        return f"without {'+'.join(parts)}" if self.what == FORBID else f"{'+'.join(parts)} at {self.step:,}"

    @classmethod
    def read(cls, text: str) -> WhatIf:
        """Return the what-if that a text describes.

        Raises:
            TokentuiError: The text is no what-if.
        """
        where = f"what_if={text[:80]}"
        match = _CHANGE.fullmatch(text)
        if match is None:
            raise TokentuiError("not a what-if", where, _CHANGES)
        if not int(match[1]):
            raise TokentuiError("there is no step 0", where, "the first step is 1")
        try:
            written = (match[3] or "").encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise TokentuiError(UNWRITABLE, where, "write the bytes of the piece as %E2%82%AC") from None
        if b"%" in _ESCAPED.sub(b"", written):
            raise TokentuiError("% must be followed by two hex digits", where, "write %25 for % itself")
        pieces = written.split(b"+") if written else ()
        parts = tuple(_ESCAPED.sub(lambda byte: bytes((int(byte[1], 16),)), piece) for piece in pieces)
        if not all(parts) or len(parts) not in _PARTS[match[2]]:
            raise TokentuiError(f"not what {match[2]} takes", where, _CHANGES)
        return cls(int(match[1]), match[2], parts)


def check_changes(changes: Iterable[WhatIf]) -> list[WhatIf]:
    """Return what-ifs in order of their steps.

    Raises:
        TokentuiError: One is named twice, or two decide what one step merges.
    """
    changes = sorted(changes)
    for change, following in itertools.pairwise(changes):
        if change == following:
            raise TokentuiError("named twice", f"what_if={change.text}", "name it once")
    decided: dict[int, WhatIf] = {}
    for change in changes:
        if change.what != FORBID and (first := decided.setdefault(change.step, change)) != change:
            what = f"step {change.step:,} has {first.text} already"
            raise TokentuiError(what, f"what_if={change.text}", f"use one {FORCE} or {LEAVE_OUT} for a step")
    return changes


def _in_order(texts: Iterable[str]) -> tuple[str, ...]:
    """Return what-ifs as a recipe has them: in order of their steps, each written in one way.

    Raises:
        TokentuiError: A text is no what-if, or two what-ifs contradict each other.
    """
    return tuple(change.text for change in check_changes(map(WhatIf.read, texts)))


@dataclass(frozen=True, slots=True)
class Recipe:
    """The settings of a tokenizer for training and encoding.

    A recipe is frozen and hashable; `tokentui.axes.check` checks it. The defaults are those of GPT-2's
    tokenizer as Hugging Face would retrain it.

    Attributes:
        normalize: The normalization stages, in order. This and the next ten are the axes.
        coverage: The share of the characters of the corpus that the base covers, above 0 and at most 1. This
            and the next three are the settings of `SHAPE`.
        symbols: Texts that are one token each, and that no merge crosses.
        prefix_space: Whether a space is put in front of a text; None for the rule of the split.
        what_if: The texts of what-ifs, in order of their steps; see `WhatIf`.
        unicode: Whose Unicode tables normalization and split use: a name in `tokentui.text.unicode.TABLES`.
            No axis: a new recipe has the newest tables, a tokenizer from a file those of its owner.

    A list or a setting of `SHAPE` of another type or out of range is refused.
    """

    normalize: tuple[str, ...] = ()
    split: str = "gpt2"
    unit: str = "byte"
    mark: str = "none"
    base: str = "gpt2-bytes"
    objective: str = "count"
    weight: str = "occurrences"
    tie: str = "lowest-ids"
    pieces: str = "any"
    encode: str = "merges"
    unknown: str = "never"
    coverage: float = 1.0
    symbols: tuple[str, ...] = ()
    prefix_space: bool | None = None
    what_if: tuple[str, ...] = ()
    unicode: str = NEWEST_UNICODE

    def __post_init__(self) -> None:
        given: object = self.normalize
        if isinstance(given, str):
            given = [part for part in given.split(",") if part not in _EMPTY]
        if not isinstance(given, list | tuple):
            raise TokentuiError(
                f"expected a list of names, not {shown(given)}", "normalize", "for example ['nfkc']"
            )
        if len(given) == 1 and given[0] in _EMPTY:
            given = ()
        object.__setattr__(self, "normalize", tuple(given))
        for name, word in SHAPE.items():
            object.__setattr__(self, name, word.checked(getattr(self, name)))
        if any(map(unwritable, self.symbols)):
            raise TokentuiError(UNWRITABLE, "symbols", "leave it out")
        object.__setattr__(self, "what_if", _in_order(self.what_if))

    @property
    def shape(self) -> dict[str, object]:
        """The settings of `SHAPE` that are not at their defaults, by name; tuples as lists."""
        return _not_default(SHAPE, self)

    @property
    def changes(self) -> tuple[WhatIf, ...]:
        """The what-ifs, in order of their steps."""
        return tuple(map(WhatIf.read, self.what_if))

    def under(self, changes: Iterable[WhatIf]) -> Recipe:
        """Return this recipe with more what-ifs.

        Raises:
            TokentuiError: A what-if is there already, or two decide what one step merges.
        """
        return dataclasses.replace(self, what_if=(*self.what_if, *(change.text for change in changes)))

    def but(self, changes: Iterable[WhatIf] | None = None) -> Recipe:
        """Return this recipe without some of its what-ifs; without any of them if `changes` is None."""
        removed = set(self.what_if) if changes is None else {change.text for change in changes}
        return dataclasses.replace(self, what_if=tuple(text for text in self.what_if if text not in removed))

    @property
    def mark_kind(self) -> str:
        """The name of the mark, without its text."""
        return self.mark.partition(":")[0]

    @property
    def mark_text(self) -> str:
        """The text of the mark, empty for none."""
        return self.mark.partition(":")[2]

    def axis(self, name: str) -> str:
        """Return the value of an axis or of a setting of `SHAPE` as users write it: `a,b` or `[]` for a
        list."""
        value = getattr(self, name)
        if name in SHAPE:
            return SHAPE[name].written(value)
        return (",".join(value) or "[]") if isinstance(value, tuple) else str(value)

    def with_axes(self, **axes: object) -> Recipe:
        """Return this recipe with other values on some axes, or of settings of `SHAPE`. It is not checked."""
        return dataclasses.replace(self, **_known(axes, (*AXIS_NAMES, *SHAPE), "no such axis"))

    def to_dict(self) -> dict[str, object]:
        """Return the axes by name, tuples as lists, as a tokenizer file has them."""
        return {name: list(v) if isinstance(v := getattr(self, name), tuple) else v for name in AXIS_NAMES}

    @classmethod
    def from_dict(cls, axes: Mapping[str, Any], where: str = "recipe") -> Recipe:
        """Return the recipe of named axes and settings of `SHAPE`. What is absent has its default.

        Raises:
            TokentuiError: An axis is unknown, or a value has the wrong type.
        """
        if not isinstance(axes, Mapping):
            raise TokentuiError(
                f"expected axes and their values, not {shown(axes)}", where, "pass a dict"
            )
        for name, value in axes.items():
            if name in SHAPE:
                continue
            if name not in AXIS_NAMES:
                raise TokentuiError(f"no axis {name!r}", where, nearest(str(name), AXIS_NAMES))
            default = getattr(cls(), name)
            listed = isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)
            if not (isinstance(value, str) or (isinstance(default, tuple) and listed)):
                what = f"axis {name!r} takes text, not {type(value).__name__}"
                example = '["nfkc"]' if isinstance(default, tuple) else json.dumps(default)
                raise TokentuiError(what, where, f"for example {name} = {example}")
        return cls(**axes)

    def to_toml(self) -> str:
        """Return the text of a recipe file: flat TOML with one line for each axis.

        Each setting of `SHAPE` that is not at its default has a line too.
        """
        values = self.to_dict() | self.shape
        return "".join(f"{name} = {toml_value(value)}\n" for name, value in values.items())

    @classmethod
    def from_toml(cls, text: str, where: str = "recipe") -> Recipe:
        """Return the recipe in the text of a recipe file; `where` names the file in errors."""
        import tomllib  # only a recipe file needs it

        try:
            axes = tomllib.loads(name_of(text, where))
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise TokentuiError(
                f"not a recipe file: {error}", where, 'write one axis per line, for example split = "gpt2"'
            ) from None
        return cls.from_dict(axes, where)


def read_recipe(path: str) -> Recipe:
    """Return the recipe of a recipe file.

    Raises:
        TokentuiError: The file cannot be read, or is no recipe file.
    """
    if sandbox.sealed():
        raise TokentuiError("recipe files cannot be read here", shown_path(path), "use a preset and set axes")
    large = "not a recipe file", "a recipe file is a few lines of TOML"
    found = toml_text(path, "recipe file", large)
    return Recipe.from_toml(found.text, found.where)


AXIS_NAMES = tuple(
    one.name for one in dataclasses.fields(Recipe) if one.name not in SHAPE and one.name != "unicode"
)
"""The names of the eleven axes, in the order in which they are written."""


def _known(named: Mapping[str, object], known: Collection[str], what: str) -> Mapping[str, Any]:
    """Return `named`. Raise a `TokentuiError` with the message `what` for a name that is not known."""
    for name in named:
        if name not in known:
            raise TokentuiError(what, name, nearest(name, known))
    return named


def _not_default(settings: Mapping[str, Parameter], source: object) -> dict[str, object]:
    """Return the settings of an object that are not at their defaults, by name; tuples as lists."""
    values = {name: getattr(source, name, setting.default) for name, setting in settings.items()}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value != settings[name].default
    }


@dataclass(frozen=True, slots=True)
class Stops:
    """When a run ends: as soon as one of these holds, or no candidate is left.

    Attributes:
        merges: The most steps, counted from the start of the training; None for no limit.
        vocab_size: The number of ids, special tokens counted; None for no limit.
        min_count: The least count of a candidate that is taken.
        max_length: The most units of a token; None for no limit.
    """

    merges: int | None = None
    vocab_size: int | None = None
    min_count: int = 1
    max_length: int | None = None

    def only(self, names: Iterable[str]) -> Stops:
        """Return stops with only the named ones of these."""
        return Stops(**{name: getattr(self, name) for name in names})


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a training: when it ends, and what its ids begin with.

    Attributes:
        stops: When it ends.
        first_id: The first id given.
        specials: The special tokens, which get the first ids in this order.
    """

    stops: Stops = Stops()
    first_id: int = 0
    specials: tuple[str, ...] = ()

    @classmethod
    def of(cls, words: Mapping[str, object]) -> Run:
        """Return a run from named settings of `RUN`. A setting that is None or absent has its default.

        Raises:
            TokentuiError: A setting is unknown, or its value is invalid.
        """
        words = _known(words, RUN, "no such word of a run")
        named = {name: RUN[name].checked(value) for name, value in words.items() if value is not None}
        first_id, specials = named.pop("first_id", 0), named.pop("specials", ())
        return cls(Stops(**named), first_id, specials)

    def word(self, name: str) -> object:
        """Return the value of a setting of `RUN`, by its name."""
        return getattr(self if hasattr(self, name) else self.stops, name)

    @property
    def words(self) -> dict[str, object]:
        """The settings that are not at their defaults, by name; tuples as lists."""
        return _not_default(RUN, self.stops) | _not_default(RUN, self)

    def sized_like(self, size: int) -> Run:
        """Return this run if it has a size or a number of merges, otherwise one that ends at `size` ids."""
        if self.stops.merges is not None or self.stops.vocab_size is not None:
            return self
        return self.with_words(vocab_size=size)

    def with_words(self, **words: object) -> Run:
        """Return this run with other values for some settings of `RUN`."""
        return Run.of({name: self.word(name) for name in RUN} | words)


def check_names(recipe: Recipe, run: Run) -> None:
    """Raise a `TokentuiError` if a text is a symbol of the recipe and a special token of the run."""
    if both := set(recipe.symbols).intersection(run.specials):
        raise TokentuiError("named twice", f"symbol {min(both)}",
            "make it either a symbol or a special token")


class Ending(NamedTuple):
    """The last step of a run, and how sure it is.

    Attributes:
        step: The last step, None if it is not known.
        kind: How sure the step is. `last`: no further step is possible. `stop`: the stops end the run there.
            `at most`: the stops end it there unless no pair is left before. `about`: an estimate. `open`: not
            known.
    """

    step: int | None = None
    kind: str = "open"

    @property
    def exact(self) -> bool:
        """True if the run ends at exactly this step."""
        return self.kind in ("last", "stop")
