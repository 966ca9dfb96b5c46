"""Choosing a recipe: presets, axes, stops; senseless ones are refused, and the change is shown before it is
taken."""

from __future__ import annotations

from typing import Any

import pytest
from dialogs import FakeEngine, assert_safe, pasted, shown, tried_on_all_sizes, typed
from textual.pilot import Pilot
from textual.widgets import Input
from waiting import screen_text, text_of, until

from tokentui import learn
from tokentui.axes import AXES, changed, mended, preset
from tokentui.core.errors import TokentuiError
from tokentui.preset_table import PRESETS
from tokentui.recipe import RUN, Recipe, Run
from tokentui.session.views import StageView
from tokentui.text.read import read
from tokentui.ui.dialogs import StatusLine, draft
from tokentui.ui.dialogs.draft import RecipeChoice
from tokentui.ui.dialogs.recipe import RecipeScreen
from tokentui.ui.draw.table import Listing

GPT2 = preset("gpt2")
UNSET = Run()
STAGE = StageView("model", "the model", axis="objective")


def taken(recipe: Recipe, axis: str, value: str) -> Recipe:
    """A recipe with a value on an axis, and with what must change with it."""
    return RecipeChoice(recipe).with_text(axis, value).recipe


def turned(recipe: Recipe, axis: str, by: int) -> Recipe:
    """A recipe with the next value on an axis, or the one before."""
    choice = RecipeChoice(recipe).turned(axis, by)
    assert choice is not None
    return choice.recipe


class Driver:
    """A dialog under test."""

    def __init__(self, dialog: RecipeScreen, pilot: Pilot[Any]) -> None:
        self.dialog, self.pilot = dialog, pilot

    def listing(self, name: str) -> Listing:
        """One of the lists: presets, axes or values."""
        return self.dialog.query_one(f"#{name}", Listing)

    async def at(self, name: str, key: str) -> None:
        """Go to a row of a list."""
        listing = self.listing(name)
        if name != "values" and not listing.has_focus:
            await self.pilot.press("tab")
        await until(self.pilot, lambda: listing.has_focus and listing.index_of(key) is not None)
        index = listing.index_of(key)
        assert index is not None
        listing.move_to(index)
        await until(self.pilot, lambda: listing.cursor_key == key)

    async def said(self, words: str) -> None:
        """Wait for what is said in the line below."""
        await until(self.pilot, lambda: words in text_of(self.dialog.query_one(StatusLine)))

    async def seen(self, words: str) -> None:
        """Wait for what is on the screen."""
        await until(self.pilot, lambda: words in " ".join(screen_text(self.pilot).split()))


async def test_a_preset_is_loaded_shown_and_taken() -> None:
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(GPT2, Run.of({"merges": 1000})), "gpt2")
    async with shown(dialog, (120, 40)) as (app, pilot):
        drive = Driver(dialog, pilot)
        await until(pilot, lambda: drive.listing("presets").cursor_key == "gpt2")
        await drive.at("presets", "minbpe")
        await drive.seen("would change split: gpt2 → cl100k-classic · base: gpt2-bytes → bytes")
        await pilot.press("enter")
        await drive.seen("changes split: gpt2 → cl100k-classic · base: gpt2-bytes → bytes")
        await until(pilot, lambda: drive.listing("axes").has_focus)
        await pilot.press("enter")
        await until(pilot, lambda: app.answered)
        assert app.result.recipe == preset("minbpe")
        assert app.result.run == Run.of({"merges": 1000}), "a preset is a recipe: the run stays"


async def test_an_axis_turns_and_the_change_is_shown() -> None:
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(GPT2), "gpt2")
    async with shown(dialog) as (app, pilot):
        drive = Driver(dialog, pilot)
        rules = list(AXES["tie"])
        at = rules.index(GPT2.tie)
        await drive.at("axes", "tie")
        await pilot.press("left")
        await drive.seen(f"changes tie: {GPT2.tie} → {rules[at - 1]}")
        await pilot.press(*["right"] * (len(rules) - at))
        await drive.seen(f"changes tie: {GPT2.tie} → {rules[-1]}")
        await pilot.press("right")
        await drive.seen(f"changes tie: {GPT2.tie} → {rules[0]}")
        await drive.at("axes", draft.TAKE)
        await pilot.press("left")  # this row has no values to turn
        assert dialog.choice.recipe == GPT2.with_axes(tie=rules[0])
        await pilot.press("enter")
        await until(pilot, lambda: app.answered)
        assert app.result.recipe == GPT2.with_axes(tie=rules[0])
        assert app.result.run == UNSET


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("name", AXES["objective"].retired)
async def test_a_retired_objective_is_refused_in_one_line_and_another_is_taken(name: str) -> None:
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(GPT2.with_axes(objective=name)), stages=(STAGE,))
    async with shown(dialog, (120, 40)) as (app, pilot):
        drive = Driver(dialog, pilot)
        await drive.at("axes", draft.TAKE)
        await pilot.press("t")
        retired = "this objective is retired and cannot be trained (use objective="
        await drive.said(f"objective={name}: {retired}")
        assert not app.answered
        await drive.at("axes", "objective")
        await pilot.press("right")
        await pilot.press("t")
        await until(pilot, lambda: app.answered)
        assert app.result.recipe.objective.partition(":")[0] in AXES["objective"]


async def test_a_senseless_value_is_dim_and_is_taken_with_what_must_change_too() -> None:
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(GPT2), "gpt2")
    async with shown(dialog, (120, 40)) as (app, pilot):
        drive = Driver(dialog, pilot)
        await drive.at("axes", "unit")
        await pilot.press("right")
        await drive.said("unit: no other value fits the other axes")
        await pilot.press("enter")
        values = drive.listing("values")
        await until(pilot, lambda: values.has_focus)
        assert [row.dim for row in values.rows] == [False, True, True]
        await drive.seen(
            "char with base=sorted, unknown=error · base=gpt2-bytes: a base of bytes needs unit=byte"
        )
        await pilot.press("down")
        await drive.said("base=gpt2-bytes: a base of bytes needs unit=byte (use base=sorted, or unit=byte)")
        await drive.said("enter changes base=sorted, unknown=error too")
        await drive.seen(
            "would change unit: byte → char · base: gpt2-bytes → sorted · unknown: never → error"
        )
        assert dialog.choice.recipe == GPT2
        assert values.has_focus
        await drive.at("values", "grapheme")
        await pilot.press("enter")
        await drive.seen("changes unit: byte → grapheme · base: gpt2-bytes → sorted · unknown: never → error")
        await pilot.press("t")
        await until(pilot, lambda: app.answered)
        assert app.result.recipe == GPT2.with_axes(unit="grapheme", base="sorted", unknown="error")


@pytest.mark.slow
async def test_following_the_reasons_leads_to_another_unit() -> None:
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(GPT2), "gpt2")
    async with shown(dialog) as (app, pilot):
        drive = Driver(dialog, pilot)
        for axis, value in (("unknown", "error"), ("base", "sorted"), ("unit", "char")):
            await drive.at("axes", axis)
            await pilot.press("enter")
            await drive.at("values", value)
            await pilot.press("enter")
            await until(pilot, lambda axis=axis, value=value: dialog.choice.recipe.axis(axis) == value)  # type: ignore[misc]
            await until(pilot, lambda: drive.listing("axes").has_focus)
        await pilot.press("t")
        await until(pilot, lambda: app.answered)
        assert app.result.recipe == GPT2.with_axes(unknown="error", base="sorted", unit="char")


@pytest.mark.slow
async def test_a_pattern_is_compiled_while_it_is_typed() -> None:
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(GPT2), "gpt2")
    async with shown(dialog) as (_, pilot):
        drive = Driver(dialog, pilot)
        await drive.at("axes", "split")
        await pilot.press("enter")
        await drive.at("values", "regex:PATTERN")
        await pilot.press("enter")
        await drive.said("the pattern compiles")
        await typed(pilot, "(")
        await drive.said("cannot be compiled")
        await pilot.press("enter")
        assert dialog.choice.recipe == GPT2
        await pilot.press("ctrl+u")
        await drive.said("needs text after the colon")
        await typed(pilot, "ab+")
        await drive.said("the pattern compiles")
        await pilot.press("enter")
        await until(pilot, lambda: dialog.choice.recipe.split == "regex:ab+")
        await until(pilot, lambda: drive.listing("axes").has_focus)
        await drive.seen("split: gpt2 → regex:ab+")


async def test_esc_leaves_one_thing_at_a_time_and_takes_nothing() -> None:
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(GPT2), "gpt2")
    async with shown(dialog) as (app, pilot):
        drive = Driver(dialog, pilot)
        await pilot.press("tab", "t")
        await drive.said("nothing is changed")
        assert not app.answered
        await drive.at("axes", "merges")
        await pilot.press("enter", "5")
        await until(pilot, lambda: dialog.field.value == "5")
        dialog.field.post_message(Input.Submitted(dialog.field, "5"))  # on its way when esc is done
        dialog.action_leave()
        await until(pilot, lambda: drive.listing("axes").has_focus)
        await pilot.pause()
        assert dialog.choice == RecipeChoice(GPT2)
        await drive.at("axes", "mark")
        await pilot.press("enter")
        await drive.at("values", "prefix:TEXT")
        await pilot.press("enter")
        await until(pilot, lambda: dialog.focused is not None and not isinstance(dialog.focused, Listing))
        await pilot.press("escape")
        await until(pilot, lambda: drive.listing("values").has_focus)
        await pilot.press("escape")
        await until(pilot, lambda: drive.listing("axes").has_focus)
        assert not app.answered
        await pilot.press("escape")
        await until(pilot, lambda: app.answered)
        assert app.result is None


@pytest.mark.slow
async def test_normalizers_are_put_in_and_taken_out_in_order() -> None:
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(GPT2), "gpt2")
    async with shown(dialog) as (_, pilot):
        drive = Driver(dialog, pilot)
        await drive.at("axes", "normalize")
        await pilot.press("enter")
        for value, wanted in (
            ("nfkc", ("nfkc",)), ("lowercase", ("nfkc", "lowercase")),
            ("nfkc", ("lowercase",)), ("nfd", ("lowercase", "nfd")),
        ):
            await drive.at("values", value)
            await pilot.press("enter")
            await until(pilot, lambda wanted=wanted: dialog.choice.recipe.normalize == wanted)  # type: ignore[misc]
        marks = {row.key: row.mark for row in drive.listing("values").rows}
        assert (marks["lowercase"], marks["nfd"], marks["nfkc"]) == ("1", "2", "")
        await pilot.press("escape")
        await drive.seen("normalize: none → lowercase,nfd")


async def test_stops_are_typed_and_checked() -> None:
    run = Run.of({"merges": 1000, "vocab_size": 20_000, "specials": ["<a>"]})
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(GPT2, run), "gpt2")
    async with shown(dialog, (120, 40)) as (app, pilot):
        drive = Driver(dialog, pilot)
        await drive.at("axes", "merges")
        await pilot.press("enter", "x")
        await drive.said("merges: expected a whole number (0 or more, or none)")
        await pilot.press("enter", "ctrl+u")
        await pasted(pilot, "50,000")
        await drive.said("stop after this many merges")
        await pilot.press("enter")
        await drive.seen("merges: 1,000 → 50,000")
        await drive.at("axes", "specials")
        await pilot.press("enter")
        await pasted(pilot, " <b> <a>")
        await pilot.press("enter")
        await drive.seen("specials: <a> → <a> <b>")
        await drive.at("axes", "merges")
        await pilot.press("enter", "ctrl+u", "enter")
        await drive.seen("merges: 1,000 → none")
        await drive.at("axes", "vocab_size")
        await pilot.press("enter")
        await until(pilot, lambda: dialog.field.value == "20000")
        await pilot.press(*"20", "enter")  # the first digit takes the place of the number
        await until(pilot, lambda: dialog.choice.run.word("vocab_size") == 20)
        await pilot.press("home", "enter")
        await until(pilot, lambda: app.answered)
        assert app.result.recipe == GPT2
        assert app.result.run == Run.of({"vocab_size": 20, "specials": ("<a>", "<b>")})


@pytest.mark.slow
@pytest.mark.parametrize("begun", ["", "/"])
async def test_letters_search_the_presets_and_enter_takes_the_marked_one(begun: str) -> None:
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(GPT2), "gpt2")
    async with shown(dialog, (120, 40)) as (app, pilot):
        drive = Driver(dialog, pilot)
        presets = drive.listing("presets")
        await typed(pilot, f"{begun}UDL")
        await until(pilot, lambda: presets.cursor_key == "udl-notebook")
        for row in presets.rows:
            if (one := PRESETS.get(str(row.key))) is not None:
                assert "udl" in f"{one.name} {one.about} {one.family}".lower()
        await drive.seen("would change")
        await pilot.press("enter")
        await until(pilot, lambda: drive.listing("axes").has_focus and not dialog.editing)
        assert dialog.choice.recipe == preset("udl-notebook")
        assert {row.key for row in presets.rows} > PRESETS.keys(), "the search has ended"
        await pilot.press("enter")
        await until(pilot, lambda: app.answered)
        assert app.result.recipe == preset("udl-notebook")


@pytest.mark.parametrize("letter", sorted({name[0] for name in PRESETS} | set("tpljk")))
@pytest.mark.first_run(cases=1)
async def test_every_letter_that_is_typed_at_the_presets_searches_them(letter: str) -> None:
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(GPT2), "gpt2", follow=print, live=False)
    async with shown(dialog, (80, 24)) as (app, pilot):
        presets = Driver(dialog, pilot).listing("presets")
        await pilot.press(letter)
        await until(pilot, lambda: presets.find == letter)
        found = [name for _, members in draft.families(letter) for name in members]
        keys = [row.key for row in presets.rows if row.key is not None]
        assert keys == [one.name for one in found], letter
        assert presets.cursor_key == keys[0]
        await pilot.press("down")
        await until(pilot, lambda: len(keys) == 1 or presets.cursor_key == keys[1])
        await pilot.press("escape")
        await until(pilot, lambda: presets.has_focus and {row.key for row in presets.rows} > PRESETS.keys())
        assert not app.answered
        assert dialog.choice == RecipeChoice(GPT2)


@pytest.mark.slow
async def test_a_search_that_finds_nothing_says_so_and_takes_nothing() -> None:
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(GPT2), "gpt2")
    async with shown(dialog) as (app, pilot):
        drive = Driver(dialog, pilot)
        await typed(pilot, "zzz")
        await drive.said("no preset or value matches ‘zzz’")
        await pilot.press("enter")
        await pilot.press("tab")
        await until(pilot, lambda: drive.listing("axes").has_focus)
        assert dialog.choice == RecipeChoice(GPT2)
        assert not app.answered


@pytest.mark.slow
async def test_a_size_that_was_not_asked_for_is_the_one_that_the_run_ends_at() -> None:
    unigram, corpus = preset("sentencepiece-unigram"), read("sample:english")
    sizes = []
    for run in (Run(), Run.of({"vocab_size": RecipeChoice(unigram).size})):
        trainer = learn.start(corpus, unigram, run)
        learn.run(trainer, run.stops)
        sizes.append([trainer.size_at(step) for step in range(trainer.number + 1)])
    assert sizes[0] == sizes[1]
    assert RecipeChoice(GPT2).size is None
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(unigram), "sentencepiece-unigram")
    async with shown(dialog, (120, 40)) as (_, pilot):
        drive = Driver(dialog, pilot)
        await drive.at("axes", "vocab_size")
        await drive.seen(f"vocab_size {RecipeChoice(unigram).size:,} (default)")
        await pilot.press("enter")
        await typed(pilot, "2000")
        await pilot.press("enter")
        await drive.seen("changes vocab_size: 8,000 (default) → 2,000")
        assert dialog.choice.run == Run.of({"vocab_size": 2000})


@pytest.mark.slow
async def test_where_another_recipe_goes_on_from_is_a_row() -> None:
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(GPT2, keep_place="size"), "gpt2")
    async with shown(dialog, (120, 40)) as (app, pilot):
        drive = Driver(dialog, pilot)
        await drive.at("axes", draft.PLACE)
        await drive.said("position after a change of recipe")
        await pilot.press("left")
        await drive.seen("changes place: same vocabulary size → same number of merges")
        await pilot.press("enter")
        await drive.seen("nothing is changed")
        await pilot.press("right", "t")
        await until(pilot, lambda: app.answered)
        assert app.result == RecipeChoice(GPT2, UNSET, "step")


async def test_one_list_at_a_time_where_there_is_no_room() -> None:
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(GPT2), "gpt2")
    async with shown(dialog, (40, 12)) as (_, pilot):
        drive = Driver(dialog, pilot)
        presets, axes = drive.listing("presets"), drive.listing("axes")
        await until(pilot, lambda: presets.display and not axes.display)
        await pilot.press("tab")
        await until(pilot, lambda: axes.has_focus and axes.display and not presets.display)
        await pilot.press("shift+tab")
        await until(pilot, lambda: presets.has_focus and presets.display)
        await pilot.press("right")
        await until(pilot, lambda: axes.has_focus)


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("keys", [(), ("tab", "down", "down", "enter"), ("tab", "end", "enter")])
async def test_all_sizes(keys: tuple[str, ...]) -> None:
    hostile = GPT2.with_axes(split="regex:[/]\x1b]31m\u202e\n", mark="prefix:\x9b[b]")
    dialog = RecipeScreen(
        FakeEngine(), RecipeChoice(hostile, Run.of({"specials": ("\x1b]0;x\x07", "[/]")})), ""
    )
    async with shown(dialog) as (_, pilot):
        await pilot.press(*keys)
        assert_safe(pilot)
        await tried_on_all_sizes(pilot)


# The draft, without a screen.


@pytest.mark.first_run(cases=25)
@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_value_of_every_axis_is_taken_or_refused_with_a_reason(name: str) -> None:
    recipe = PRESETS[name].recipe
    for axis in AXES:
        choices = draft.options(recipe, axis)
        assert [choice.label for choice in choices] == list(AXES[axis].written().values())
        for choice in choices:
            if not choice.refused:
                assert isinstance(changed(recipe, **{axis: draft.put(recipe, axis, choice.value)}), Recipe)
            else:
                with pytest.raises(TokentuiError) as refusal:
                    changed(recipe, **{axis: draft.put(recipe, axis, choice.value)})
                assert str(refusal.value) == choice.refused


@pytest.mark.parametrize("base", ["gpt2", "wordpiece", "t5", "llama2", "gage", "subword-nmt"])
@pytest.mark.parametrize("first", sorted(AXES))
@pytest.mark.first_run(cases=3)
def test_any_two_values_of_two_axes_make_sense_together_or_give_way_with_a_reason(
    base: str, first: str
) -> None:
    for choice in draft.options(PRESETS[base].recipe, first):
        if choice.refused and not choice.goes_with:
            assert choice.text, "only a text can be past mending"
            continue
        one = taken(PRESETS[base].recipe, first, choice.value)
        for second in AXES:
            for other in draft.options(one, second) if second != first else ():
                # Taken alone it leaves all else as it is; with others it names each of them, and why.
                both = taken(one, second, other.value)
                changes = {change.name for change in RecipeChoice(one).changes(RecipeChoice(both))} & set(
                    AXES
                ) - {second}
                assert changes == {change.name for change in other.goes_with}
                assert bool(changes) == bool(other.refused)
                assert getattr(both, second) == other.value or second == "normalize"


@pytest.mark.parametrize(
    ("name", "axis", "value", "wanted"),
    [
        ("gpt2", "objective", "unigram", {"encode": "viterbi"}),
        ("t5", "objective", "count", {"encode": "merges"}),
        ("t5", "encode", "merges", {"objective": "count"}),
        ("t5", "encode", "fewest-tokens", {}),
        ("gpt2", "unit", "char", {"base": "sorted", "unknown": "error"}),
        ("gpt2", "objective", "gage", {"split": "none", "base": "bytes"}),
        (
            "bert", "objective", "gage",
            {"split": "none", "unit": "byte", "mark": "none", "base": "bytes", "encode": "merges"},
        ),
        ("gpt2", "pieces", "sentencepiece", {"unit": "char", "base": "sorted", "unknown": "error"}),
        ("t5", "unknown", "pass-through", {"encode": "merges", "objective": "count"}),
    ],
)
def test_the_nearest_thing_that_works(name: str, axis: str, value: str, wanted: dict[str, str]) -> None:
    choice = next(one for one in draft.options(PRESETS[name].recipe, axis) if one.value == value)
    assert {change.name: change.new for change in choice.goes_with} == wanted


def test_a_pattern_that_does_not_compile_is_past_mending() -> None:
    assert mended(PRESETS["gage"].recipe, "split", "regex:(") is None
    with pytest.raises(TokentuiError):
        taken(PRESETS["gage"].recipe, "split", "regex:(")
    assert taken(PRESETS["gage"].recipe, "split", "regex:a+").objective == "count"


@pytest.mark.parametrize("axis", [axis for axis in AXES if axis not in ("normalize", "objective")])
def test_turning_goes_through_all_that_can_be_taken_and_comes_back(axis: str) -> None:
    recipe = GPT2
    seen = []
    for _ in [choice for choice in draft.options(GPT2, axis) if not choice.refused]:
        recipe = turned(recipe, axis, 1)
        seen.append(recipe.axis(axis))
    assert recipe == GPT2
    assert len(set(seen)) == len(seen)
    assert turned(turned(GPT2, axis, 1), axis, -1) == GPT2


def test_turning_the_list_axis_goes_through_none_and_each_alone() -> None:
    assert turned(GPT2, "normalize", 1).normalize == ("lowercase",)
    assert turned(GPT2, "normalize", -1).normalize == ("nmt-nfkc",)
    assert turned(GPT2.with_axes(normalize=("nfc", "nfd")), "normalize", 1).normalize == ()


def test_every_objective_can_be_taken_alone_or_with_others() -> None:
    for choice in draft.options(GPT2.with_axes(encode="longest-match"), "objective"):
        assert not choice.refused or choice.goes_with


def test_the_text_of_a_mark_is_kept_for_another_kind() -> None:
    recipe = GPT2.with_axes(mark="prefix:@@")
    assert [choice.value for choice in draft.options(recipe, "mark")] == [
        "none", "end-symbol:@@", "end-suffix:@@", "prefix:@@",
    ]


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("merges", "", None), ("merges", " 1,000 ", 1000), ("merges", "1_000", 1000), ("merges", "0", 0),
        ("min_count", "", 1), ("first_id", "", 0), ("first_id", "1", 1), ("vocab_size", "256", 256),
        ("specials", "", ()), ("specials", " <a>  <b> <a>", ("<a>", "<b>")),
    ],
)
def test_a_stop_that_was_typed(name: str, text: str, wanted: object) -> None:
    assert RUN[name].read(text) == wanted


@pytest.mark.parametrize(
    ("name", "text"),
    [("merges", "-1"), ("merges", "1.5"), ("merges", "٣"), ("merges", "9" * 5000),
     ("min_count", "0"), ("vocab_size", "0")],
)
def test_a_stop_that_makes_no_sense(name: str, text: str) -> None:
    with pytest.raises(TokentuiError, match=name):
        RUN[name].read(text)


def test_a_preset_leaves_the_run_and_brings_its_own_where_it_is_wanted_as_published() -> None:
    run = Run.of({"merges": 5, "min_count": 3, "first_id": 1, "max_length": 16, "specials": ("<x>",)})
    assert draft.run_of(PRESETS["gpt2"], run, False) == run
    published = {"vocab_size": 50257, "max_length": 16, "specials": ("<|endoftext|>",)}
    assert draft.run_of(PRESETS["gpt2"], run, True) == Run.of(published)
    assert draft.run_of(PRESETS["comp336"], run, True).first_id == 1


@pytest.mark.parametrize(
    "run", [{}, {"merges": 5, "vocab_size": 900, "min_count": 2, "specials": ("<a>", "<b>")}]
)
def test_a_stop_is_read_as_it_is_shown(run: dict[str, Any]) -> None:
    for name, word in RUN.items():
        value = Run.of(run).word(name)
        assert word.read(word.written(value)) == value


@pytest.mark.parametrize("none", ["none", "[]", ["none"], ["[]"], []])
def test_no_normalizer_has_a_name(none: Any) -> None:
    assert GPT2.with_axes(normalize="lowercase").with_axes(normalize=none).normalize == ()


def test_changes_name_axes_and_stops() -> None:
    new = GPT2.with_axes(tie="first-seen", normalize=("nfc",))
    assert RecipeChoice(GPT2).changes(
        RecipeChoice(new, Run.of({"merges": 1000, "min_count": 1, "vocab_size": None}))
    ) == (("normalize", "[]", "nfc"), ("tie", "lowest-ids", "first-seen"), ("merges", "none", "1,000"))
    assert RecipeChoice(GPT2).changes(RecipeChoice(GPT2)) == ()


def test_families_hold_every_preset_once() -> None:
    families = draft.families()
    assert sorted(preset.name for _, members in families for preset in members) == sorted(PRESETS)
    assert len(dict(families)) == len(families)
