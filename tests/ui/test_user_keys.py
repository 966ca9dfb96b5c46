"""Keys of the user: `[keys]` in the settings file is checked when it is read, and shown wherever a key is."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from screens import explorer
from textual.binding import Binding
from textual.keys import Keys
from waiting import notes_of, screen_text, settled, until

from tokentui.core.safetext import is_safe
from tokentui.session.commands import GoTo, Move
from tokentui.session.persist.settings_file import keep_setting, line_of, read_settings, settings_path
from tokentui.ui import dialogs
from tokentui.ui.bindings import EVERYWHERE, FAMILIES, NO_KEY, Family, member_of, split_keys
from tokentui.ui.dialogs.ask import AskLine, GoToScreen
from tokentui.ui.dialogs.finder import FinderScreen
from tokentui.ui.dialogs.help import HelpScreen
from tokentui.ui.keymap import DIALOGS, Problem, all_actions, read_keys


def described(problem: Problem) -> str:
    return problem.describe("settings.toml", lambda _: None)


@pytest.mark.parametrize(("table", "keys"), [
    ({}, {}),
    ({"next": "n,f8"}, {"next": "n,f8"}),
    ({"next": " n , ? ", "help": "f1"}, {"next": "n,question_mark", "help": "f1"}),
    ({"next": "é"}, {"next": "é"}),
    ({"next": "n,n"}, {"next": "n"}),
    ({"repaint": "f5"}, {"repaint": "f5"}),
    ({"clear": "ctrl+b"}, {"clear": "ctrl+b"}),
    # Actions swap their keys.
    ({"next": "b,left", "back": "n,right"}, None),
    ({"open": "a", "algorithm": "g", "go_to": "o"}, None),
    # Actions of different screens, panes and dialogs share a key.
    ({"follow": "f8", "held_out": "f8", "inspect": "f9", "encode_it": "f9"}, None),
    # A member of a family keeps its place there, unless the user names another one.
    ({"boundaries": "f5"}, {"boundaries": "f5,v c"}), ({"theme": "v x, f9"}, {"theme": "v x,f9"}),
    ({"view_family": "f8"}, None),
    # Earlier names.
    ({"to_parting": "f8", "in_step": "f7", "piece_on": "f6"}, {
        "first_difference": "f8,d d", "sync_by": "f7,d s", "next_piece": "f6"}),
    ({"inspect.next": "left", "inspect.previous": "right", "steps.why": "f8", "facts.all": "f8", "next": "f8",
        "edit.keep": "t", "edit.train": "n"}, None),
    # TOML reads `inspect.next` without quotes, and `[keys.inspect]`, as a table.
    ({"dialog": {"leave": "f10"}, "inspect": {"next": "f8"}}, {"dialog.leave": "f10", "inspect.next": "f8"}),
], ids=str)
def test_a_table_without_problems(table: dict[str, Any], keys: dict[str, str] | None) -> None:
    """None: the keys of the table itself."""
    assert read_keys(table) == (table if keys is None else keys, [])


def test_every_dialog_is_checked() -> None:
    """A dialog that the table of dialogs lacks could be left without a key."""
    known = {dialog.resolve() for dialog in DIALOGS.values()}
    for file in Path(dialogs.__file__).parent.glob("*.py"):
        importlib.import_module(f"{dialogs.__name__}.{file.stem}".removesuffix(".__init__"))

    def subclasses(kind: type[dialogs.Dialog[Any]]) -> Iterator[type[dialogs.Dialog[Any]]]:
        for subclass in kind.__subclasses__():
            yield subclass
            yield from subclasses(subclass)

    with_ids = {
        kind for kind in subclasses(dialogs.Dialog) if kind.__module__.startswith("tokentui.")
        and any(isinstance(one, Binding) and one.id for one in kind.__dict__.get("BINDINGS", ()))
    }
    assert len(with_ids) > 20
    assert with_ids <= known | {dialogs.ListDialog, dialogs.TableDialog, AskLine}


REFUSED: list[tuple[Any, ...]] = [
    ({"nxt": "n"}, "nxt: unknown id; did you mean next?"),
    ({"?!": "n"}, "?!: unknown id; the ids are in docs/reference/keys.md"),
    ({"next": "nn"}, "next: unknown key 'nn'; write a character, or a name such as f5, ctrl+b or pageup"),
    ({"next": "n,"}, "next: no key is left for it; name one (that of a comma is comma)"),
    ({"next": ""}, "next: no key is left for it; name one (that of a comma is comma)"),
    ({"next": 3}, 'next: keys are a text, such as "n,right"'),
    ({"next": ["n"]}, 'next: keys are a text, such as "n,right"'),
    ({"repaint": "k"}, "repaint: k is needed to type text; take a key such as ctrl+b or f5"),
    ({"clear": "?"}, "clear: ? is needed to type text; take a key such as ctrl+b or f5"),
    ({"suspend": "backspace"}, "suspend: backspace is needed to type text; take a key such as ctrl+b or f5"),
    ({"open": "x"}, "open: x is also the key of what_if (what if); give open (open) or what_if another "
        "one"),
    ({"open": "j"}, "open: j is also the key of row_down (row down); give open (open) or row_down another "
        "one"),
    ({"inspect.nxt": "n"}, "inspect.nxt: unknown id; did you mean inspect.next?"),
    ({"inspect.next": "w"}, "inspect.next: w is also the key of inspect.life (life); give inspect.next "
        "(next) or inspect.life another one"),
    ({"inspect.next": "enter"}, "inspect.next: enter is a key of the dialog that cannot be changed; use "
        "another key"),
    ({"inspect.next": "j"}, "inspect.next: j is also the key of row_down (row down); give inspect.next "
        "(next) or row_down another one"),
    ({"inspect.next": ""}, "inspect.next: no key is left for it; name one (that of a comma is comma)"),
    ({"dialog.leave": "l"}, "dialog.leave: l is needed to type text; take a key such as ctrl+b or f5"),
    ({"dialog.copy": "n"}, "dialog.copy: n is also the key of edit.keep (to N ids); give "
        "dialog.copy (copy) or edit.keep another one"),
    ({"repaint": "ctrl+t"}, "repaint: ctrl+t is also the key of recipe.preset_steps (first steps); give "
        "repaint (repaint) or recipe.preset_steps another one"),
    ({"theme": "x y"}, "theme: no such member of a family: 'x y'; write for example v x, with one of v w F e "
        "d in front"),
    ({"clear": "v x"}, "clear: no such member of a family: 'v x'; write for example v x, with one of v w F e "
        "d in front"),
    ({"theme": "v c"}, "theme: v c is also the key of boundaries (boundaries); give theme (colors) or "
        "boundaries another one"),
    ({"zoom": "J"}, "zoom: J is also the key of next_difference (disagree); give zoom (zoom) or "
        "next_difference another one"),
    ({"inspect": {"back": "nn"}}, "inspect.back: unknown key 'nn'; write a character, or a name such as f5, "
        "ctrl+b or pageup"),
    # A key of two changed actions is refused for both.
    ({"next": "f8", "go_to": "f8"},
        "next: f8 is also the key of go_to (go); give next (next) or go_to another one",
        "go_to: f8 is also the key of next (next); give go_to (go) or next another one"),
    # `next` gives its key away, but is refused itself: then its key is not free.
    ({"next": "nn", "back": "n"},
        "next: unknown key 'nn'; write a character, or a name such as f5, ctrl+b or pageup",
        "back: n is also the key of next (next); give back (back) or next another one"),
]
"""Tables, each with its problems."""


@pytest.mark.parametrize(("table", "problems"), [(table, problems) for table, *problems in REFUSED], ids=str)
def test_a_problem_is_one_line_and_the_default_stays(table: dict[str, object], problems: list[str]) -> None:
    keys, found = read_keys({**table, "type": "f7"})
    assert keys == {"type": "f7"}
    assert list(map(described, found)) == [
        f"settings.toml, [keys], {problem}; the default stays" for problem in problems
    ]


def test_no_table() -> None:
    for table in (5, "n", ["next"], None, True):
        keys, (problem,) = read_keys(table)
        assert keys == {}
        assert described(problem) == f"settings.toml: {problem.what}"
        assert "write [keys]" in problem.what


def test_hostile_names_are_shown_safely() -> None:
    _, problems = read_keys({"\x1b[31m[/]\u202e" * 99: "\x1b", "next": "\x1b]0;x\x07"})
    assert len(problems) == 2
    assert all(is_safe(line) and len(line) < 300 for line in map(described, problems))


@pytest.mark.parametrize("id", all_actions())
@pytest.mark.first_run(cases=40)
def test_every_action_with_a_key_takes_another_one(id: str) -> None:
    action = all_actions()[id]
    if action.keys:
        assert read_keys({id: "f12"}) == ({id: ",".join(["f12", *filter(member_of, action.keys)])}, [])
        first = ",".join([action.keys[0], *filter(member_of, action.keys[1:])])
        assert read_keys({id: action.keys[0]})[0] in ({id: first}, {})


def test_all_names_of_textual_are_known() -> None:
    for key in (Keys.F20, Keys.ControlB, Keys.ShiftLeft, Keys.PageUp, Keys.Insert):
        assert read_keys({"next": key.value})[0] in ({"next": key.value}, {})


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_a_key_of_the_user_wins_over_a_family(family: Family) -> None:
    id = "zoom" if family.letter == "d" else "follow"
    keys, (problem,) = read_keys({id: family.letter})
    assert keys[id].split(",")[0] == family.letter
    assert keys[family.id] == NO_KEY
    assert described(problem) == (
        f"settings.toml, [keys], {id}: {family.letter} does this now; the keys of {family.name} are in the "
        "finder (:)"
    )


async def test_a_key_of_the_user_acts_at_once_and_the_family_is_not_shown() -> None:
    app, session = explorer(kept={"keys": {"next": "v", "back": "w", "start": "e"}})
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        session.sent.clear()
        await pilot.press("v", "w", "e")
        await until(pilot, lambda: len(session.sent) >= 3)
        assert [command.steps for command in session.of(Move)] == [1, -1]
        assert session.of(GoTo)
        footer = screen_text(pilot).splitlines()[-1]
        assert "F▸" in footer
        assert not any(f"{letter}▸" in footer for letter in "vwe")
        assert sum("are in the finder" in note for note in app.messages) == 3
        assert app.main.family == ""


async def test_footer_help_and_palette_show_the_keys_of_the_user_and_they_work() -> None:
    """A problem of the file names its line."""
    settings_path().parent.mkdir(parents=True, exist_ok=True)
    settings_path().write_text("# mine\n[keys]\nnext = 'f8,g'\ngo_to = 'n'\nfollow = 'nn'\n")
    app, session = explorer(kept=read_settings()[0])
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        assert "f8 next" in screen_text(pilot).splitlines()[-1]
        said = "settings.toml, line 5, [keys], follow: unknown key 'nn'"
        assert any(note.startswith(said) for note in notes_of(app))
        for key in ("f8", "g"):
            session.sent.clear()
            await pilot.press(key)
            await until(pilot, lambda: session.of(Move))
            assert [command.steps for command in session.of(Move)] == [1]
        session.sent.clear()
        await pilot.press("right")  # a default key that is not in the table has gone
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, GoToScreen))
        assert session.of(Move) == []
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        shown = {action.id: action.keys for action in app.main.key_sections()[EVERYWHERE]}
        assert (shown["next"], shown["go_to"]) == (("f8", "g"), ("n",))
        await pilot.press("question_mark", "question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen) and "f8 b" in screen_text(pilot))


@pytest.mark.slow
async def test_keys_of_a_dialog_are_shown_in_its_footer_and_work() -> None:
    app, _ = explorer(kept={"keys": {"dialog.leave": "f10", "help.search": "s"}})
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        assert notes_of(app) == []
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        await until(pilot, lambda: "s find" in screen_text(pilot) and "f10 back" in screen_text(pilot))
        await pilot.press("escape", "slash", "s")
        await until(pilot, lambda: isinstance(app.screen, FinderScreen))
        await pilot.press("f10")
        await until(pilot, lambda: app.screen is app.main)


@pytest.mark.slow
async def test_a_character_that_is_a_key_by_default_is_typed_once_the_key_is_another() -> None:
    app, _ = explorer(kept={"keys": {"copy.next": "f8"}})
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("question_mark", "colon", "slash")
        await until(pilot, lambda: isinstance(app.screen, FinderScreen))
        await until(pilot, lambda: cast(FinderScreen, app.screen).field.value == "/")


@pytest.mark.slow
async def test_a_key_of_the_main_screen_is_said_in_compare_as_the_user_has_it() -> None:
    app, _ = explorer(kept={"keys": {"until": "@", "follow": "U"}})
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        assert app.user_keys == {"until": "at", "follow": "U"}
        app.compare(())
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press("U")
        said = "U (follow) works on the main screen"
        await until(pilot, lambda: any(note.startswith(said) for note in notes_of(app)))


@pytest.mark.usefixtures("tmp_path")
def test_a_setting_that_is_kept_leaves_the_keys_alone() -> None:
    settings_path().parent.mkdir(parents=True, exist_ok=True)
    text = '# mine\ntheme = "textual-dark"\n\n[keys]\n# two keys\nnext = "n,f8"\n'
    settings_path().write_text(text)
    assert keep_setting("speed", 5) == ""
    assert keep_setting("theme", "nord") == ""
    kept, wrong = read_settings()
    assert wrong == ""
    assert kept == {"theme": "nord", "speed": 5, "keys": {"next": "n,f8"}}
    assert settings_path().read_text().endswith('[keys]\n# two keys\nnext = "n,f8"\n')


@pytest.mark.parametrize(("text", "line"), [
    ('[keys]\nnext = "n"', 2),
    ("theme = 'x'\n\n[keys]  # mine\n# next = 'b'\nback='b'\n  next= 'n' # next = 1\n", 6),
    ('[keys]\n"next" = "n"', 2),
    ("[keys]\r\n'next'\t= 'n'\r\n", 2),
    ('[ "keys" ]\nnext.a = 1\n', None),
    ('keys.back = "b"\nkeys.next = "n"', 2),
    ('keys = {next = "n"}', 1),
    ('next = 1\n[other]\nnext = 2\n[keys]\nnext = "n"\n[more]\nnext = 3', 5),
    ("a = '''\n[keys]\nnext = 1\n'''\n[keys]\nnext = 2", 6),
    ('keys = {back = "b", next = "n"}', None),
    ("[keys]\nnext = '''\nn'''", None),
    ("[keys]\nnext = [\n'n']", None),
    ('[keys]\n"ne\\u0078t" = "n"', None),
    ("[keys]\nnext_100 = 'n'", None),
    ("next = 'n'", None),
    ("keys = 1", None),
    ("[keys]\nnext = 'n' =", None),
    ("", None),
], ids=repr)
def test_the_line_of_a_key(text: str, line: int | None) -> None:
    assert line_of(text, "keys", "next") == line


_NAMES = st.sampled_from(["next", "back", "a.b", "next_10", "x", "keys"])
_SPELLINGS = st.sampled_from(["{}", '"{}"', "'{}'", " {}", '\t"{}"\t'])


@given(st.dictionaries(_NAMES, st.tuples(_SPELLINGS, st.text("n=,#]ö '", max_size=5), st.booleans())),
    st.sampled_from(["[keys]", '["keys"] # x', "next = 1\n[keys]", "s = '''\n[keys]\n'''\n[keys]"]))
def test_each_line_of_a_table_is_found(lines: dict[str, tuple[str, str, bool]], head: str) -> None:
    text, expected = head, dict[str, int]()
    for name, (spelling, value, comment) in lines.items():
        text += "\n# next = 'n'\n" if comment else "\n"
        expected[name] = text.count("\n") + 1
        spelling = '"{}"' if "." in name else spelling
        text += f'{spelling.format(name)} = "{value}"  # {name} = 1'
    assert {name: line_of(text, "keys", name) for name in lines} == expected


def test_keys_are_split_at_commas() -> None:
    assert split_keys("n, right") == ("n", "right")
