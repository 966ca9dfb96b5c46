"""Tours: text files of steps that are read strictly, checked against the engine, and written of a walk.

The format is described in `docs/tours.md`. A tour is a list of stops; each stop says where the training
stands, so that a tour can be walked back and entered anywhere. The text of a tour is untrusted, as every
file's: it reaches a terminal through `core/safetext.py` only.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, NoReturn

from tokentui.axes import AXES, changed
from tokentui.core import reach
from tokentui.core.errors import TokentuiError, nearest, shown_path
from tokentui.core.files import read_regular
from tokentui.preset_table import PRESETS, preset_named
from tokentui.recipe import RUN, SHAPE, Recipe, Run
from tokentui.session.claims import FACTS, Expected, Place
from tokentui.session.shipped import TOURS
from tokentui.text.named import SCHEME, named_in

SUFFIX = ".tour"
MOST_SAID = 360
"""The most characters of a stop: the panel of a tour leaves room for the panes at 80x24."""
_LARGEST = 1 << 20
_MOST_STOPS = 1000
_MOST_TEXT = 10_000
_ESCAPE = re.compile(r"\\(.)")


class Does(NamedTuple):
    """An action that a tour may do: its name in the table of actions, and its effect on the step (`by` so
    many, or `to` one; neither for a pane to look at)."""

    name: str
    by: int = 0
    to: int | None = None
    moves: bool = True


DOES = {one.name: one for one in (
    Does("next", 1), Does("back", -1), Does("next_10", 10), Does("back_10", -10), Does("next_100", 100),
    Does("back_100", -100), Does("start", to=0), Does("end", to=None),
    Does("pane_1", moves=False), Does("pane_2", moves=False), Does("pane_3", moves=False),
    Does("follow", moves=False),
)}
"""The actions that a tour may do or wait for. None of them opens a dialog, writes or leaves."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop of a tour.

    Attributes:
        place: The place that the training is brought to.
        said: The text, not yet safe for a terminal.
        does: The panes that it looks at, as names of actions.
        expects: The facts that hold there.
        wait: The action that the tour waits for; empty where it goes on with enter alone.
        line: The line of its text in the file.
    """

    place: Place
    said: str
    does: tuple[str, ...] = ()
    expects: tuple[Expected, ...] = ()
    wait: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Tour:
    """A tour: its name (of a file its path), its title, not yet safe for a terminal, and its stops."""

    name: str
    title: str
    stops: tuple[Stop, ...]


# ---- reading


def read_tour(name: str) -> Tour:
    """The tour of a name, or of a file.

    Raises:
        TokentuiError: There is none, it cannot be read, or a line of it is wrong.
    """
    shipped = {one.name: one for one in TOURS}
    if name in shipped:
        path = Path(__file__).parents[1] / "tours" / f"{name}{SUFFIX}"
        return parsed(path.read_text(encoding="utf-8"), name, name)
    if not (reach.holds(name) and os.path.lexists(name)):
        hint = nearest(name, shipped)
        raise TokentuiError("no such tour", shown_path(name), f"{hint}; or name a file ending in {SUFFIX}")
    data, where = read_regular(name, "tour", _LARGEST + 1), shown_path(name)
    if len(data) > _LARGEST:
        raise TokentuiError("too large for a tour", where, "a tour is a few hundred lines of text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TokentuiError(f"not UTF-8 at byte {error.start}", where, "a tour is UTF-8") from None
    return parsed(text, name, where, os.path.dirname(os.path.abspath(name)))


def parsed(text: str, name: str, where: str, folder: str = "") -> Tour:
    """The tour that a text says.

    Args:
        text: The text.
        name: The name of the tour.
        where: What errors call it.
        folder: The folder that its sources are named from.

    Raises:
        TokentuiError: A line is wrong; it names the line.
    """
    reader = _Reader(where, folder)
    for number, line in enumerate(text.split("\n"), 1):
        reader.take(number, line.rstrip("\r"))
    return reader.tour(name)


class _Reader:
    """Reads a tour line by line."""

    def __init__(self, where: str, folder: str) -> None:
        self._where, self._folder = where, folder
        self._line = 0
        self._title = ""
        self._place = Place()
        self._opened = False
        self._changed = 0
        """The line of the first change since the last `say`; 0 for none."""
        self._waits = False
        """True if the last stop waits for a step: nothing else may move before the next one."""
        self._does: tuple[str, ...] = ()
        self._stops: list[Stop] = []
        self._saying = False

    def _wrong(self, what: str, hint: str) -> NoReturn:
        raise TokentuiError(what, f"{self._where}:{self._line}", hint)

    def take(self, number: int, line: str) -> None:
        """Take in a line."""
        self._line = number
        if self._saying and line[:1] in (" ", "\t") and line.strip():
            self._say_more(line.strip())
            return
        self._saying = False
        if not line.strip() or line.startswith("#"):
            return
        if line[0] in (" ", "\t"):
            self._wrong("an indented line that belongs to no say", "begin the line with a word of the format")
        word, _, rest = line.partition(" ")
        if line.startswith("go to"):
            word, rest = "go to", line[len("go to"):]
        if word not in STATEMENTS:
            self._wrong(f"no such word: {word[:40]}", nearest(word, STATEMENTS))
        if word != "title" and not self._title:
            self._wrong("a tour begins with its title", "such as: title Why the is one token")
        STATEMENTS[word](self, rest.strip())

    def tour(self, name: str) -> Tour:
        """All that was read."""
        if not self._stops:
            self._wrong("a tour without a stop", "write say and a text")
        if self._changed:
            self._line = self._changed
            self._wrong("nothing is said after this", "write say and a text behind it")
        return Tour(name, self._title, tuple(self._stops))

    def _words(self, rest: str, least: int = 1, most: int | None = None) -> list[str]:
        """The words of a line, with quotes as a shell has them."""
        try:
            words = shlex.split(rest)
        except ValueError as error:
            self._wrong(f"{error}".lower(), "put a word with blanks or quotes into \" \"")
        if len(words) < least:
            self._wrong("a word is missing", "docs/tours.md lists the words of the format")
        if most is not None and len(words) > most:
            self._wrong(f"too many words: {words[most][:40]}", "put a word with blanks into \" \"")
        return words

    def _change(self, **changes: object) -> None:
        if self._waits and "typed" not in changes:
            self._wrong("the stop before waits for a step: nothing else may move here", "take its wait away")
        self._place = replace(self._place, **changes)  # type: ignore[arg-type]
        self._changed = self._changed or self._line

    def title(self, rest: str) -> None:
        """The title."""
        if self._title or not rest:
            self._wrong("a tour has one title", "such as: title Why the is one token")
        self._title = rest

    def open(self, rest: str) -> None:
        """A corpus: the training begins again at step 0."""
        (source,) = self._words(rest, 1, 1)
        if source == "-":
            self._wrong("a tour cannot open standard input", "name a file or a sample")
        corpora = named_in(source)
        if corpora is not None and source.startswith(SCHEME):
            source = corpora.by(self._located).text
        else:
            source = self._located(source)
        self._opened = True
        self._change(source=source, text=None, step=0)

    def _located(self, source: str) -> str:
        """A source from the folder of the tour."""
        here = source.startswith("sample:")
        return source if here else os.path.join(self._folder, reach.expanded(source))

    def corpus(self, rest: str) -> None:
        """A corpus that stands in the tour itself."""
        (text,) = self._words(rest, 1, 1)
        if len(text) > _MOST_TEXT:
            self._wrong(f"a text of more than {_MOST_TEXT:,} characters", "open a file")
        self._opened = True
        self._change(source="", text=_ESCAPE.sub(lambda one: "\n" if one[1] == "n" else one[1], text), step=0)

    def recipe(self, rest: str) -> None:
        """A preset, and other values of axes and words of a run: the training begins again at step 0."""
        name, *words = self._words(rest)
        axes: dict[str, object] = {}
        run: dict[str, object] = {}
        try:
            for word in words:
                key, equals, value = word.partition("=")
                known = {**AXES, **SHAPE, **RUN}
                if not equals or key not in known:
                    raise TokentuiError(f"no axis and no word of a run: {word[:40]}", "", nearest(key, known))
                if key in AXES:
                    axes[key] = value
                else:
                    (run if key in RUN else axes)[key] = {**RUN, **SHAPE}[key].read(value)
            recipe = changed(preset_named(name).recipe, **axes)
            self._change(recipe=recipe, run=Run.of(run), step=0)
        except TokentuiError as error:
            what = f"{error.where}: {error.what}" if error.where else error.what
            self._wrong(what, error.hint or "tokentui recipes lists them")

    def go_to(self, rest: str) -> None:
        """A step, or the end."""
        if rest != "end" and not (rest.isascii() and rest.isdigit() and len(rest) < 10):
            self._wrong(f"no step: {rest[:40]}", "such as: go to 12, or go to end")
        self._change(step=None if rest == "end" else int(rest))

    def do(self, rest: str) -> None:
        """An action, by its name in the table of actions."""
        action = self._action(rest)
        if action.moves:
            self._move(action)
            return
        self._does = (*self._does, action.name)
        self._changed = self._changed or self._line

    def _action(self, rest: str) -> Does:
        (name,) = self._words(rest, 1, 1)
        if name not in DOES:
            self._wrong(f"a tour cannot do {name[:40]!r}", "one of: " + ", ".join(DOES))
        return DOES[name]

    def _move(self, action: Does) -> None:
        if not action.by:
            self._change(step=action.to)
        elif self._place.step is None:
            self._wrong("the number of the last step is not known here", "go to a step first")
        else:
            self._change(step=max(0, self._place.step + action.by))

    def type(self, rest: str) -> None:
        """The typed text, to the end of the line; quotes keep blanks at its ends."""
        if rest[:1] in ("'", '"'):
            (rest,) = self._words(rest, 1, 1)
        self._change(typed=rest)

    def say(self, rest: str) -> None:
        """A text; the stop ends with it."""
        if not self._opened:
            self._wrong("nothing is open yet", "write open and a corpus before it")
        if len(self._stops) == _MOST_STOPS:
            self._wrong(f"more than {_MOST_STOPS:,} stops", "make two tours of it")
        self._stops.append(Stop(self._place, "", self._does, line=self._line))
        self._does, self._changed, self._waits, self._saying = (), 0, False, True
        if rest:
            self._say_more(rest)

    def _say_more(self, text: str) -> None:
        said = f"{self._stops[-1].said} {text}".lstrip()
        if len(said) > MOST_SAID:
            self._wrong(f"more than {MOST_SAID} characters are said at once", "begin another say")
        self._stops[-1] = replace(self._stops[-1], said=said)

    def expect(self, rest: str) -> None:
        """A fact that holds at the last stop."""
        name, *words = self._words(rest)
        if not self._stops or self._changed:
            self._wrong("expect stands behind the say that claims it", "move the line")
        if name not in FACTS:
            self._wrong(f"no such fact: {name[:40]}", nearest(name, FACTS))
        if not words:
            self._wrong("a value is missing", f"such as: expect {name} …")
        stop = self._stops[-1]
        one = Expected(name, tuple(words), self._line)
        self._stops[-1] = replace(stop, expects=(*stop.expects, one))

    def wait(self, rest: str) -> None:
        """An action that the tour waits for: the next stop is where it leads."""
        action = self._action(rest)
        if not self._stops or self._changed:
            self._wrong("wait stands behind a say", "move the line")
        self._stops[-1] = replace(self._stops[-1], wait=action.name)
        if action.moves:
            self._move(action)
            self._waits = True


STATEMENTS: Mapping[str, Callable[[_Reader, str], None]] = {
    "title": _Reader.title, "open": _Reader.open, "corpus": _Reader.corpus, "recipe": _Reader.recipe,
    "go to": _Reader.go_to, "do": _Reader.do, "type": _Reader.type, "say": _Reader.say,
    "expect": _Reader.expect, "wait": _Reader.wait,
}
"""The words that a line of a tour begins with."""


# ---- writing


def recipe_words(recipe: Recipe, run: Run) -> list[str]:
    """A recipe and a run as the words of `recipe`: the preset nearest to it, and what differs."""

    def others(of: Recipe) -> list[str]:
        return [
            f"{name}={recipe.axis(name)}" for name in (*AXES, *SHAPE)
            if getattr(recipe, name) != getattr(of, name)
        ]

    near = min(PRESETS.values(), key=lambda one: len(others(one.recipe)))
    words = [f"{name}={RUN[name].written(run.word(name))}" for name in run.words]
    return [near.name, *others(near.recipe), *words]


def written(title: str, stops: Sequence[Stop]) -> str:
    """The text of a tour: a stop says only what differs from the one before.

    Raises:
        TokentuiError: A typed corpus is too long to stand in a tour.
    """
    lines, last = [f"title {_line(title)}"], None
    for stop in stops:
        place, lines = stop.place, [*lines, ""]
        anew = last is None or (last.source, last.text) != (place.source, place.text)
        if anew and place.text is not None:
            if len(place.text) > _MOST_TEXT:
                raise TokentuiError(
                    f"a typed corpus of more than {_MOST_TEXT:,} characters", "the walk", "open it as a file"
                )
            escaped = place.text.replace("\\", "\\\\").replace("\n", "\\n")
            lines.append(f"corpus {shlex.quote(escaped)}")
        elif anew:
            lines.append(f"open {shlex.quote(_line(place.source))}")
        if last is None or (last.recipe, last.run) != (place.recipe, place.run):
            lines.append("recipe " + shlex.join(map(_line, recipe_words(place.recipe, place.run))))
        lines.append("go to " + ("end" if place.step is None else str(place.step)))
        if last is None or last.typed != place.typed:
            lines.append(f"type {shlex.quote(_line(place.typed))}")
        lines += ["say", f"    {_line(stop.said)}"]
        lines += [f"expect {one.name} {shlex.join(map(_line, one.words))}" for one in stop.expects]
        last = place
    return "\n".join(lines) + "\n"


def _line(text: str) -> str:
    """A text on one line."""
    return " ".join(text.splitlines())
