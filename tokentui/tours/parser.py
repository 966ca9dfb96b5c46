"""Tours: TOML files of stops. This module reads and writes them.

`docs/tours.md` describes the format. Each stop has a whole place, so that a tour can go back and can begin at
any stop. The text of a tour is untrusted: it reaches a terminal only through `core/safetext.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from tokentui.axes import nearest_preset, recipe_of
from tokentui.core import sandbox
from tokentui.core.errors import TokentuiError, nearest, shown
from tokentui.core.toml import shipped_or_named, toml_key, toml_table, toml_value
from tokentui.recipe import Recipe, Run
from tokentui.text.named import SCHEME, named_in
from tokentui.tours.facts import FACTS, Claim, Place
from tokentui.tours.shipped import TOURS

MOST_TEXT = 360
"""The most characters in the text of a stop. The panel then leaves room for the panes at 80x24."""
END = "end"
"""The value of `step` that stands for the end of the run."""
_MOST_STOPS = 1000
_MOST_CORPUS = 10_000


class Move(NamedTuple):
    """The effect of an action on the step: `by` so many steps, or, where that is 0, `to` a step."""

    by: int = 0
    to: int | None = None


MOVES = {
    "next": Move(1), "back": Move(-1), "next_10": Move(10), "back_10": Move(-10), "next_100": Move(100),
    "back_100": Move(-100), "start": Move(to=0), "end": Move(to=None),
}
"""The actions that a tour can wait for and that change the step."""
ACTIONS = ("pane_1", "pane_2", "pane_3", "follow")
"""The actions that a tour can do by itself. None opens a dialog, writes a file or leaves."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop of a tour.

    Attributes:
        place: The place that the explorer goes to.
        text: The text, not yet safe for a terminal.
        actions: The names of the actions that are done there.
        claims: The facts that hold there.
        wait: The action that leads to the next stop, beside enter; may be empty.
    """

    place: Place
    text: str
    actions: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    wait: str = ""


@dataclass(frozen=True, slots=True)
class Tour:
    """A tour.

    Attributes:
        name: The name of a tour that ships, or the path of its file.
        title: The title, not yet safe for a terminal.
        stops: The stops, in order; at least one.
    """

    asks: ClassVar[bool] = False
    """Whether its stops are questions."""
    name: str
    title: str
    stops: tuple[Stop, ...]


# ---- reading


class Key(NamedTuple):
    """A key of a stop: the types of its value, and a value as a tour writes it."""

    kinds: tuple[type, ...]
    example: str


KEYS = {
    "corpus": Key((str,), '"sample:hugs"'),
    "corpus_text": Key((str,), '"low lower lowest"'),
    "recipe": Key((str, dict), '"gpt2", or { preset = "gpt2", tie = "first-seen" }'),
    "step": Key((int, str), f'12, or "{END}"'),
    "typed": Key((str,), '"hugs"'),
    "text": Key((str,), '"The pair `u+g` is next."'),
    "actions": Key((list,), '["pane_2"]'),
    "claims": Key((dict,), '{ pair = ["u", "g"], places = 4 }'),
    "wait": Key((str,), '"next"'),
}
"""The keys of a stop."""
_TITLE = 'for example title = "Which pair is first"'
_PLACED = ("corpus", "corpus_text", "recipe", "step")


def read_tour(name: str) -> Tour:
    """Return the tour that ships under a name, or that of a file.

    Raises:
        TokentuiError: There is no such tour, or the file is no tour.
    """
    found = shipped_or_named(name, "a tour", [tour.name for tour in TOURS], Path(__file__).parent)
    return parse_tour(found.text, name, found.where, found.folder)


def parse_tour(text: str, name: str, where: str, folder: str = "") -> Tour:
    """Return the tour of a TOML text.

    Args:
        text: The text.
        name: The name of the tour.
        where: The name of the file in errors.
        folder: The folder that paths of corpora start from.

    Raises:
        TokentuiError: The text is no tour. The error names the stop and the key.
    """
    tables = toml_table(text, where, "see docs/tours.md")
    title, stops = tables.pop("title", None), tables.pop("stop", None)
    for key in tables:
        raise TokentuiError(f"no such key: {key[:40]}", where, nearest(key, ("title", "stop")))
    if not isinstance(title, str) or not title.strip():
        raise TokentuiError("the title is missing", where, _TITLE)
    if not isinstance(stops, list) or not stops or not all(isinstance(stop, dict) for stop in stops):
        raise TokentuiError("there are no stops", where, "add [[stop]] tables")
    if len(stops) > _MOST_STOPS:
        raise TokentuiError(f"more than {_MOST_STOPS:,} stops", where, "make two tours of it")
    read: list[Stop] = []
    for number, table in enumerate(stops, 1):
        read.append(_Reader(f"{where}: stop {number}", folder).stop(table, read[-1] if read else None))
    return Tour(name, " ".join(title.split()), tuple(read))


class _Reader:
    """Reads one stop.

    Args:
        where: The name of the stop in errors.
        folder: The folder that paths of corpora start from.
    """

    def __init__(self, where: str, folder: str) -> None:
        self._where, self._folder = where, folder

    def _error(self, key: str, what: str, hint: str) -> TokentuiError:
        return TokentuiError(what, f"{self._where}: {key}" if key else self._where, hint)

    def stop(self, table: Mapping[str, Any], before: Stop | None) -> Stop:
        """Return the stop of a table.

        Args:
            table: The table.
            before: The stop before it. What the table does not name is as there.
        """
        for key, value in table.items():
            if key not in KEYS:
                raise self._error("", f"no such key: {key[:40]}", nearest(key, KEYS))
            if type(value) not in KEYS[key].kinds:
                raise self._error(key, f"wrong type: {shown(value)}", f"for example {KEYS[key].example}")
        place = self._place(table, before)
        text = " ".join(line.strip() for line in table.get("text", "").splitlines() if line.strip())
        if not text:
            raise self._error("text", "the text is missing", f"for example {KEYS['text'].example}")
        if len(text) > MOST_TEXT:
            raise self._error("text", f"more than {MOST_TEXT} characters", "make two stops of it")
        actions, wait = table.get("actions", []), table.get("wait", "")
        for action in actions:
            self._check_name("actions", action, ACTIONS)
        if "wait" in table:
            self._check_name("wait", wait, (*MOVES, *ACTIONS))
            if wait in MOVES and MOVES[wait].by and place.step is None:
                raise self._error("wait", f"no {wait} from the end of the run", "name a step first")
        return Stop(place, text, tuple(actions), tuple(self._claims(table.get("claims", {}))), wait)

    def _check_name(self, key: str, name: object, names: Sequence[str]) -> None:
        if name not in names:
            raise self._error(key, f"unknown action: {shown(name)}", "one of: " + ", ".join(names))

    def _place(self, table: Mapping[str, Any], before: Stop | None) -> Place:
        place = before.place if before is not None else Place()
        if before is not None and before.wait in MOVES:
            for key in _PLACED:
                if key in table:
                    what = f"the stop before it waits for {before.wait}, which leads here"
                    raise self._error(key, what, "remove this key, or that wait")
            place = replace(place, step=step_after(before))
        if "corpus" in table and "corpus_text" in table:
            raise self._error("corpus", "there is a corpus_text too", "remove one of them")
        if "corpus" in table:
            place = replace(place, source=self._source(table["corpus"]), text=None, step=0)
        elif "corpus_text" in table:
            if not 0 < len(table["corpus_text"]) <= _MOST_CORPUS:
                raise self._error("corpus_text", f"not 1 to {_MOST_CORPUS:,} characters", "name a file")
            place = replace(place, source="", text=table["corpus_text"], step=0)
        elif before is None:
            raise self._error("corpus", "the first stop needs a corpus",
                f"for example {KEYS['corpus'].example}")
        if "recipe" in table:
            recipe, run = self._recipe(table["recipe"])
            place = replace(place, recipe=recipe, run=run, step=0)
        if "step" in table:
            place = replace(place, step=self._step(table["step"]))
        typed = table.get("typed", place.typed)
        if len(typed.splitlines()) > 1:
            raise self._error("typed", "more than one line", "write one line")
        return replace(place, typed=typed)

    def _source(self, source: str) -> str:
        if source in ("", "-"):
            raise self._error("corpus", "a tour needs a named corpus", "name a file or a sample")
        try:
            corpora = named_in(source)
            if corpora is not None and source.startswith(SCHEME):
                return corpora.by(self._located).text
        except TokentuiError as error:
            raise self._error("corpus", *_of(error)) from None
        return self._located(source)

    def _located(self, source: str) -> str:
        """Return a source as seen from the folder of the tour."""
        if source.startswith("sample:"):
            return source
        return os.path.join(self._folder, sandbox.expanded(source))

    def _step(self, step: int | str) -> int | None:
        if step == END:
            return None
        if isinstance(step, str) or not 0 <= step < 10**9:
            raise self._error("step", f"no step: {shown(step)}", f"for example {KEYS['step'].example}")
        return step

    def _recipe(self, value: str | dict[str, Any]) -> tuple[Recipe, Run]:
        try:
            return recipe_of(value)
        except TokentuiError as error:
            what, hint = _of(error)
            raise self._error("recipe", what, hint or "tokentui recipes lists them") from None

    def _claims(self, table: Mapping[str, Any]) -> Iterable[Claim]:
        for name, value in table.items():
            if name not in FACTS:
                raise self._error("claims", f"no such fact: {name[:40]}", nearest(name, FACTS))
            kind = FACTS[name].kind
            parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            of = int if kind is dict else str
            if type(value) is not kind or any(type(part) is not of for part in parts) or value == {}:
                hint = f"for example {name} = {FACTS[name].example}"
                raise self._error(f"claims.{name}", f"wrong type: {shown(value)}", hint)
            yield Claim(name, value)


def _of(error: TokentuiError) -> tuple[str, str]:
    """Return what an error says about a value inside a stop, and its hint."""
    return f"{error.where}: {error.what}" if error.where else error.what, error.hint


def step_after(stop: Stop) -> int | None:
    """Return the step that the wait of a stop leads to: its own where it waits for no move."""
    move, step = MOVES.get(stop.wait), stop.place.step
    if move is None:
        return step
    return max(0, step + move.by) if move.by and step is not None else move.to


# ---- writing


def tour_text(title: str, stops: Sequence[Stop]) -> str:
    """Return a tour as TOML. A stop names only what differs from the one before.

    Raises:
        TokentuiError: A typed corpus is too long for a tour.
    """
    lines, before = [f"title = {toml_value(title)}"], None
    for stop in stops:
        lines += ["", "[[stop]]"]
        lines += [f"{toml_key(key)} = {toml_value(value)}" for key, value in _table(stop, before).items()]
        before = stop
    return "\n".join(lines) + "\n"


def _table(stop: Stop, before: Stop | None) -> dict[str, object]:
    """Return the table of a stop."""
    place, table, step = stop.place, dict[str, object](), 0 if before is None else step_after(before)
    was = before.place if before is not None else None
    if was is None or (was.source, was.text) != (place.source, place.text):
        if place.text is None:
            table["corpus"] = place.source
        elif len(place.text) > _MOST_CORPUS:
            what = f"a typed corpus of more than {_MOST_CORPUS:,} characters"
            raise TokentuiError(what, "the walk", "open it as a file")
        else:
            table["corpus_text"] = place.text
        step = 0
    if was is None or (was.recipe, was.run) != (place.recipe, place.run):
        table["recipe"], step = _recipe_value(place.recipe, place.run), 0
    if step != place.step:
        table["step"] = END if place.step is None else place.step
    if place.typed != (was.typed if was is not None else ""):
        table["typed"] = " ".join(place.typed.splitlines())
    table["text"] = stop.text
    if stop.actions:
        table["actions"] = stop.actions
    if stop.claims:
        table["claims"] = dict(stop.claims)
    if stop.wait:
        table["wait"] = stop.wait
    return table


def _recipe_value(recipe: Recipe, run: Run) -> object:
    """Return a recipe and a run as the value of `recipe`: the nearest preset, and what differs from it."""
    preset, names = nearest_preset(recipe)
    values = {name: getattr(recipe, name) for name in names}
    others = {name: "none" if value is None else value for name, value in (values | run.words).items()}
    return {"preset": preset, **others} if others else preset
