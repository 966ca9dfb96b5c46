"""The keys of the user: the table `[keys]` of the settings file, checked against the bindings of all screens.

Textual's keymap gives bindings other keys by their ids. It does not check them: measured on Textual 8.2.8, a
binding of two keys (`"n,right"`) and two bindings that swap keys are reported as clashes, and of two bindings
that do clash only one is named and the other is dropped. So the table is checked here, when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import NamedTuple

from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import Keys

from tokentui.core.choices import Ref
from tokentui.core.safetext import safe
from tokentui.ui.bindings import (
    FAMILIES,
    NO_KEY,
    BoundAction,
    Hint,
    bindings_of,
    is_text,
    key_name,
    key_sections,
    member_of,
    split_keys,
)

_APP = Ref("tokentui.ui.app:ExplorerApp")
SCREENS = {
    "main": Ref("tokentui.ui.main_screen:MainScreen"),
    "compare": Ref("tokentui.ui.compare_screen:CompareScreen"),
    "tour": Ref("tokentui.ui.tour_screen:TourScreen"),
    "practice": Ref("tokentui.ui.practice_screen:PracticeScreen"),
}
"""The screens with panes."""
DIALOGS = {
    "Dialogs": Ref("tokentui.ui.dialogs:Dialog"),
    "Dialogs: reports": Ref("tokentui.ui.dialogs.report_screen:ReportScreen"),
    "Dialog: rows of a picture": Ref("tokentui.ui.dialogs.picture_rows:PictureRowsScreen"),
    "Dialogs: choosing a file": Ref("tokentui.ui.dialogs.picker:Picker"),
    "Dialog: open": Ref("tokentui.ui.dialogs.open:OpenScreen"),
    "Dialog: add a column": Ref("tokentui.ui.dialogs.open:AddScreen"),
    "Dialog: inspect": Ref("tokentui.ui.dialogs.inspect:InspectScreen"),
    "Dialog: life of a word": Ref("tokentui.ui.dialogs.life:LifeScreen"),
    "Dialog: algorithm": Ref("tokentui.ui.dialogs.recipe:RecipeScreen"),
    "Dialog: steps": Ref("tokentui.ui.dialogs.steps:StepsScreen"),
    "Dialog: why": Ref("tokentui.ui.dialogs.steps:WhyScreen"),
    "Dialog: what if": Ref("tokentui.ui.dialogs.what_if:WhatIfScreen"),
    "Dialog: questions": Ref("tokentui.ui.dialogs.questions:QuestionsScreen"),
    "Dialog: facts": Ref("tokentui.ui.dialogs.facts:FactsScreen"),
    "Dialog: analyses": Ref("tokentui.ui.dialogs.analysis:AnalysisScreen"),
    "Dialog: sizes": Ref("tokentui.ui.dialogs.sizes:SizesScreen"),
    "Dialog: languages": Ref("tokentui.ui.dialogs.languages:LanguagesScreen"),
    "Dialog: differences": Ref("tokentui.ui.dialogs.diff:DiffScreen"),
    "Dialog: dropout": Ref("tokentui.ui.dialogs.drawn:DrawnScreen"),
    "Dialog: chat": Ref("tokentui.ui.dialogs.chat:ChatScreen"),
    "Dialog: change the vocabulary": Ref("tokentui.ui.dialogs.edit:EditScreen"),
    "Dialog: export": Ref("tokentui.ui.dialogs.export:ExportScreen"),
    "Dialog: pre-tokens": Ref("tokentui.ui.dialogs.pieces:PiecesScreen"),
    "Dialog: compressed text": Ref("tokentui.ui.dialogs.pieces:CompressedScreen"),
    "Dialog: copy": Ref("tokentui.ui.dialogs.copying:CopyScreen"),
    "Dialog: colors": Ref("tokentui.ui.dialogs.colors:ColorsScreen"),
    "Dialog: settings": Ref("tokentui.ui.dialogs.settings_screen:SettingsScreen"),
    "Dialog: help": Ref("tokentui.ui.dialogs.help:HelpScreen"),
    "Dialog: finder": Ref("tokentui.ui.dialogs.finder:FinderScreen"),
    "Dialog: go to": Ref("tokentui.ui.dialogs.ask:GoToScreen"),
    "Dialog: run until": Ref("tokentui.ui.dialogs.ask:UntilScreen"),
    "Dialog: find": Ref("tokentui.ui.dialogs:FindScreen"),
    "First screen": Ref("tokentui.ui.start_screen:StartScreen"),
    "Dialog: save of the playground": Ref("tokentui.ui.dialogs.play:PlaySaveScreen"),
    "Playground": Ref("tokentui.ui.play_screen:PlayScreen"),
    "Playground: text": Ref("tokentui.ui.panes.played:PlayEditor"),
    "Playground: tokens": Ref("tokentui.ui.panes.played:ChipList"),
}
"""The dialogs by their titles in the reference; bases come before their subclasses."""
_LIST = Ref("tokentui.ui.draw.table:Listing")
_TYPED_PARTS = {"line", "presets"}
"""The parts of dialogs that take characters as text."""
_TYPING_PANES = "encode", "editor"
"""The panes whose keys work while a text is typed."""
_TEXT = Ref("tokentui.ui.field:TypedLine"), Ref("tokentui.ui.panes.editor:CorpusEditor")
"""The widgets that a text is typed into."""
ALIASES = {
    "to_parting": "first_difference", "next_parting": "next_difference",
    "last_parting": "previous_difference", "in_step": "sync_by", "piece_on": "next_piece",
    "palette": "finder", "piece_back": "previous_piece", "pieces_on": "next_100_pieces",
    "pieces_back": "previous_100_pieces", "curves_left": "chart_left", "curves_right": "chart_right",
    "curves_back": "chart_back", "curves_on": "chart_on", "curves_first": "chart_first",
    "curves_last": "chart_last",
}
"""Earlier names of ids, which a settings file may still have."""
ID_PAGE = "docs/reference/keys.md"
"""The page that lists the ids."""
_SHOWN = 40


def sections_of(screen: str) -> dict[str, list[BoundAction]]:
    """Return the actions of a screen of `SCREENS` by pane, with their default keys; see `key_sections`."""
    kind = SCREENS[screen].resolve()
    return key_sections(kind, _APP.resolve(), kind.KEY_OWNERS, {})


def dialog_sections() -> dict[str, list[BoundAction]]:
    """Return the actions of dialogs that have an id, by title, each only under the first dialog that has it.
    """
    seen = set[str]()
    sections: dict[str, list[BoundAction]] = {}
    for title, dialog in DIALOGS.items():
        actions = {
            binding.id: BoundAction(binding.id, keys, binding.description, binding.tooltip, binding.action)
            for binding, keys in bindings_of(dialog.resolve())
            if binding.id is not None and binding.id not in seen
        }
        seen |= actions.keys()
        if actions:
            sections[title] = [*actions.values()]
    return sections


def all_actions() -> dict[str, BoundAction]:
    """Return the actions of all screens and dialogs by id."""
    sections = [*map(sections_of, SCREENS), dialog_sections()]
    return {action.id: action for panes in sections for actions in panes.values() for action in actions}


# The check of the table.


class _Id(NamedTuple):
    """The bindings that share an id.

    Attributes:
        label: Its label.
        keys: Its default keys.
        typing: True if it works while a text is typed.
        places: The panes in which it works, each with its screen; a dialog is a place too.
        fixed: The keys in its dialogs that have no id.
    """

    label: str
    keys: tuple[str, ...]
    typing: bool
    places: frozenset[tuple[str, str]]
    fixed: frozenset[str] = frozenset()


def _known_ids(wanted: Collection[str]) -> dict[str, _Id]:
    """Return all ids that have keys. Those of dialogs are left out unless a wanted id may belong to one:
    importing the dialogs takes 0.2 s of processor time."""
    ids: dict[str, _Id] = {}

    def add(
        node: type[DOMNode], typing: bool | None, places: frozenset[tuple[str, str]],
        fixed: frozenset[str] = frozenset(),
    ) -> None:
        for binding, keys in bindings_of(node):
            if binding.id is not None:
                new = _Id(binding.description or binding.action, keys, False, frozenset())
                before = ids.get(binding.id, new)
                ids[binding.id] = _Id(
                    before.label, tuple(dict.fromkeys((*before.keys, *keys))),
                    before.typing or (_typed_in_dialog(binding) if typing is None else typing),
                    places | before.places, fixed | before.fixed,
                )

    for screen, reference in SCREENS.items():
        kind = reference.resolve()
        panes = dict[str, list[type[DOMNode]]]()
        for pane, owner in kind.KEY_OWNERS:
            panes.setdefault(pane, []).append(owner.resolve() if isinstance(owner, Ref) else owner)
        everywhere = frozenset((screen, pane) for pane in panes)
        add(kind, False, everywhere)
        add(_APP.resolve(), True, everywhere)
        for pane, nodes in panes.items():
            for node in nodes:
                add(node, pane in _TYPING_PANES, frozenset({(screen, pane)}))
    both = {binding.id for shared in (_APP, _LIST) for binding, _ in bindings_of(shared.resolve())}
    if not any(id in both or id not in ids for id in wanted):
        return ids
    in_dialogs = frozenset(("dialog", title) for title in DIALOGS)
    add(_APP.resolve(), True, in_dialogs)
    add(_LIST.resolve(), False, in_dialogs)
    for title, dialog in DIALOGS.items():
        fixed = {key for binding, keys in bindings_of(dialog.resolve()) if binding.id is None for key in keys}
        add(dialog.resolve(), None, frozenset({("dialog", title)}), frozenset(fixed))
    return ids


def _typed_in_dialog(binding: Binding) -> bool:
    """Return whether a binding of a dialog works while a text is typed: not if it is only for a list, or if
    its key is a character."""
    parts = binding.group.pane.split() if isinstance(binding.group, Hint) else ()
    return not any(map(is_text, split_keys(binding.key))) and (not parts or bool(_TYPED_PARTS & {*parts}))


def _known_keys() -> set[str]:
    """Return Textual's names of keys, without those of characters."""
    return {key.value for key in Keys if not key.value.startswith("<") and key.value != "ignore"}


def _textual_name(key: str) -> str:
    """Return Textual's name of a key that a user wrote: `question_mark` for `?`; other names are unchanged. A
    member of a family is two keys: `v c`."""
    if " " in key:
        return " ".join(map(_textual_name, key.split()))
    (binding,) = Binding.make_bindings([Binding(key, "")])
    return binding.key


class Problem(NamedTuple):
    """A problem of the table `[keys]`.

    Attributes:
        id: The name in the table; empty if the problem is the table.
        what: The fault and what to do about it, as safe text.
        holds: True if the line takes effect all the same, and the problem says what else it changes.
    """

    id: str
    what: str
    holds: bool = False

    def describe(self, file: str, line_of: Callable[[str], int | None]) -> str:
        """Return the problem as a line of safe text: file, line, what, what to do.

        Args:
            file: The name of the file.
            line_of: Returns the line number of an id; None if it is not known.
        """
        if not self.id:
            return f"{file}: {self.what}"
        line = line_of(self.id)
        where = file if line is None else f"{file}, line {line}"
        said = f"{where}, [keys], {safe(self.id, limit=_SHOWN)}: {self.what}"
        return said if self.holds else f"{said}; the default stays"


def read_keys(table: object) -> tuple[dict[str, str], list[Problem]]:
    """Check the table `[keys]` of the settings file.

    Args:
        table: The table as it was read: ids of bindings, each with keys such as `"n,right"`.

    Returns:
        The keys by id, as Textual's keymap takes them; and the problems. The bindings of a problem keep their
        default keys.
    """
    if not isinstance(table, Mapping):
        return {}, [Problem("", 'keys is not a table: write [keys], then lines such as next = "n,right"')]
    written = {ALIASES.get(name, name): name for name, _ in _flat(table)}
    ids = _known_ids(written)
    wanted: dict[str, tuple[str, ...]] = {}
    problems: list[Problem] = []
    for name, value in _flat(table):
        try:
            wanted[ALIASES.get(name, name)] = _checked(ALIASES.get(name, name), value, ids)
        except ValueError as error:
            problems.append(Problem(name, str(error)))
    while clashes := dict(_clashes(wanted, ids)):
        for id, problem in clashes.items():
            problems.append(Problem(written[id], problem))
            del wanted[id]
    lost = {family: (id, key) for family, id, key in _lost_families(wanted, ids)}
    for family, (id, key) in lost.items():
        name = next(one.name for one in FAMILIES.values() if one.id == family)
        problems.append(Problem(
            written[id], f"{key_name(key)} does this now; the keys of {name} are in the finder (:)", True))
    keys = {id: ",".join(_with_members(keys, ids[id])) for id, keys in wanted.items()}
    return {**keys, **dict.fromkeys(lost, NO_KEY)}, problems


def _with_members(keys: tuple[str, ...], known: _Id) -> tuple[str, ...]:
    """Return the keys of a user, and the default ones in families unless the user names others there."""
    if any(map(member_of, keys)):
        return keys
    return (*keys, *filter(member_of, known.keys))


def _lost_families(
    wanted: Mapping[str, tuple[str, ...]], ids: Mapping[str, _Id]
) -> Iterator[tuple[str, str, str]]:
    """Yield each family whose key the user gave to another action in the same place, as (id of the family, id
    of the action, key)."""
    for family in (family.id for family in FAMILIES.values() if family.id not in wanted):
        for id, keys in wanted.items():
            if ids[id].places & ids[family].places:
                yield from ((family, id, key) for key in ids[family].keys if key in keys)


def _flat(table: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the names and values of a table. Names in nested tables are joined, as in `dialog.leave`."""
    for name, value in table.items():
        if isinstance(value, Mapping) and value:
            yield from ((f"{name}.{inner}", keys) for inner, keys in value.items())
        else:
            yield name, value


def _checked(id: str, value: object, ids: Mapping[str, _Id]) -> tuple[str, ...]:
    """Return the keys of a binding by Textual's names.

    Raises:
        ValueError: The id or a key is unknown, there is no key, or an input line needs it.
    """
    if id not in ids:
        near = get_close_matches(id, ids, n=1)
        hint = f"did you mean {near[0]}?" if near else f"the ids are in {ID_PAGE}"
        raise ValueError(f"unknown id; {hint}")
    if not isinstance(value, str):
        raise ValueError('keys are a text, such as "n,right"')
    keys: list[str] = []
    for written in value.split(","):
        shown = safe(written.strip(), limit=_SHOWN)
        if not written.strip():
            raise ValueError("no key is left for it; name one (that of a comma is comma)")
        key = _textual_name(written.strip())
        if (member := member_of(key)) is not None:
            if member[0] not in FAMILIES or not is_text(member[1]) or not _on_screens(ids[id]):
                raise ValueError(
                    f"no such member of a family: {shown!r}; write for example v x, with one of "
                    f"{' '.join(FAMILIES)} in front"
                )
        elif len(written.strip()) > 1 and key not in _known_keys() and not is_text(key):
            raise ValueError(
                f"unknown key {shown!r}; write a character, or a name such as f5, ctrl+b or pageup"
            )
        if ids[id].typing and key not in ids[id].keys and _is_typed(key):
            raise ValueError(f"{shown} is needed to type text; take a key such as ctrl+b or f5")
        if key in ids[id].fixed and key not in ids[id].keys:
            raise ValueError(f"{shown} is a key of the dialog that cannot be changed; use another key")
        keys.append(key)
    return tuple(dict.fromkeys(keys))


def _on_screens(known: _Id) -> bool:
    """Return whether an id belongs only to screens with families, and not to a dialog or a line."""
    return not known.typing and all(screen in SCREENS for screen, _ in known.places)


def _is_typed(key: str) -> bool:
    """Return whether typing in a line or an editor needs a key."""
    return is_text(key) or any(
        key in keys for text in _TEXT for binding, keys in bindings_of(text.resolve()) if binding.id is None
    )


def _clashes(wanted: Mapping[str, tuple[str, ...]], ids: Mapping[str, _Id]) -> Iterator[tuple[str, str]]:
    """Yield (id, problem) for each id of the table with a key of another action that can be active at the
    same time.

    By default the keys of a pane take precedence over those of its screen: `right` moves the cursor of the
    corpus, not the run. A key that is already shared in this way is no clash.
    """

    def shared(key: str, id: str, other: str) -> bool:
        return key in ids[other].keys and any(
            key in known.keys and known.places == ids[id].places
            for name, known in ids.items() if name != other
        )

    families = {family.id for family in FAMILIES.values()}
    keys = {id: wanted.get(id, known.keys) for id, known in ids.items()}
    for id in wanted:
        for other, theirs in keys.items():
            if other == id or not ids[id].places & ids[other].places:
                continue
            if other not in wanted and other in families:
                continue  # its key goes to the user's action
            for key in keys[id]:
                if key in theirs and not (shared(key, id, other) or shared(key, other, id)):
                    yield id, (
                        f"{key_name(key)} is also the key of {other} ({ids[other].label}); "
                        f"give {id} ({ids[id].label}) or {other} another one"
                    )
