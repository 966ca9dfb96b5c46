"""The finder: everyday words find what was meant, and everything that it lists does something."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from exporting import HOSTILE
from key_burst import burst
from screens import explorer
from textual.events import Paste
from textual.pilot import Pilot
from waiting import screen_text, settled, strips_of, text_of, until

from tokentui.axes import AXES
from tokentui.core.safetext import is_safe
from tokentui.preset_table import PRESETS
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.training.finding import FoundToken, FoundWord, Matches, _Texts
from tokentui.ui.app import ExplorerApp
from tokentui.ui.dialogs.copying import CopyScreen
from tokentui.ui.dialogs.finder import FILTERS, FinderScreen, Found, Index, entries_of
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.dialogs.open import AddScreen
from tokentui.ui.dialogs.questions import QuestionsScreen
from tokentui.ui.synonyms import SYNONYMS

TRIED = {
    "screenshot": "action:export_picture", "svg": "action:export_picture",
    "csv": "action:export_table", "zipf": "action:questions",
    "frequency": "action:questions", "rare": "action:questions", "unused": "action:questions",
    "worst": "action:questions", "price": "action:languages", "tree": "preset:sentencepiece-unigram",
    "pad": "action:edit_vocabulary", "count": "action:type", "paste": "action:type", "regex": "action:pieces",
    "split": "action:pieces", "light": "action:theme", "tutorial": "tour:", "quiz": "action:predict",
    "probability": "preset:sentencepiece-unigram", "plot": "action:compare", "chips": "action:boundaries",
    "color": "action:boundaries", "colour": "action:boundaries", "32k": "action:analyze_budget",
    "size": "action:analyze_budget", "tie": "action:why_all", "bpe": "preset:gpt2",
    "wordpiece": "preset:wordpiece", "unigram": "preset:sentencepiece-unigram", "help": "action:help",
    "decode": "action:playground", "hash": "action:analyze_chkhsh", "undo": "action:back",
    "save": "action:export",
    "exit": "action:quit", "dark": "action:theme", "prune": "action:edit_vocabulary",
    "huggingface": "action:export", "welcome": "action:first_screen", "glitch": "action:analyze_glitch",
}
"""Words that newcomers typed into the help, each with the entry that they meant."""
GLOSSARY = {
    "alignment": "action:compare", "axis": "action:algorithm", "base": "axis:base=",
    "byte fallback": "axis:unknown=byte-fallback", "candidate": "action:pane_2", "column": "action:compare",
    "corpus": "action:open", "coverage": "action:algorithm", "divergence": "action:compare",
    "engine": "action:help", "event": "action:steps", "fertility": "action:compare",
    "held-out": "action:compare", "id": "action:pane_3", "kernel": "action:help",
    "lattice": "preset:sentencepiece-unigram", "mark": "axis:mark=", "merge": "action:next",
    "objective": "axis:objective=", "pair": "action:pane_2", "piece": "action:pieces",
    "pre-token": "action:pieces", "preset": "action:algorithm", "rank": "action:steps",
    "recipe": "action:algorithm", "replay": "action:open", "step": "action:steps", "symbol": "action:pane_3",
    "vocabulary": "action:pane_3", "normalize": "axis:normalize=", "unit": "axis:unit=",
    "weight": "axis:weight=", "pieces": "action:pieces", "encode": "action:type", "unknown": "axis:unknown=",
    "bytes": "action:glyphs", "pruning": "preset:sentencepiece-unigram", "documents": "action:open",
    "tokenizer": "action:open", "file": "action:open", "score": "axis:objective=score",
    "likelihood": "action:why_all", "viterbi": "preset:sentencepiece-unigram", "word": "action:life",
    "characters": "action:glyphs", "order": "action:order", "measures": "action:compare",
    "training": "action:play", "random": "action:dropout", "forward": "action:next", "back": "action:back",
    "digits": "sample:digits", "neighboring": "action:pane_2", "tokens": "action:pane_3",
    "segmentations": "preset:sentencepiece-unigram", "graph": "action:compare", "number": "action:go_to",
    "published": "action:algorithm", "llama": "preset:llama", "special": "action:facts",
    "position": "action:go_to", "code": "action:glyphs", "machine": "action:help",
}
"""Words of the glossary and of its sentences, each with the entry that explains or shows the thing."""


@asynccontextmanager
async def index() -> AsyncIterator[Index]:
    app, _ = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        yield Index(entries_of(app.main.key_sections(), app.user_settings))


async def test_each_word_and_each_synonym_finds_what_was_meant() -> None:
    assert len(GLOSSARY) >= 60
    async with index() as found:
        first = {word: [entry.id for _, entry in found.find(word)][:1] for word in {**TRIED, **GLOSSARY}}
        wrong = {
            word: (meant, first[word]) for word, meant in {**TRIED, **GLOSSARY}.items()
            if not first[word] or not first[word][0].startswith(meant)
        }
        assert wrong == {}
        ids = {entry.id for entry in found.entries}
        assert {*SYNONYMS} - ids == {"action:agreement_map"}  # Compare alone has it
        for id, words in SYNONYMS.items():
            for word in words.split() if id in ids else ():
                assert id in [entry.id for _, entry in found.find(word)][:5], (id, word)
        assert len(ids) == len(found.entries)
        assert {f"preset:{name}" for name in PRESETS} <= ids
        assert all(any(id.startswith(f"axis:{axis}=") for id in ids) for axis in AXES)


def entry(name: str, kind: str = "action", **more: Any) -> Found:
    return Found(f"{kind}:{name}", kind, name, "", lambda screen: None, ">", **more)


def test_better_matches_come_first() -> None:
    index = Index([
        entry("to export it"), entry("exported"), entry("other", keys=("export",)), entry("export"),
        entry("reexport"), entry("e x p o r t"), entry("nothing"),
    ])
    assert [found.name for _, found in index.find("export")] == [
        "export", "other", "exported", "to export it", "reexport", "e x p o r t",
    ]


def test_what_is_not_there_gets_the_nearest() -> None:
    index = Index(map(entry, ["export", "questions", "boundaries", "theme", "questioned"]))
    assert index.find("gwestions") == []
    assert [found.name for found in index.nearest("gwestions", 3)][:2] == ["questions", "questioned"]
    assert len(index.nearest("", 3)) == 3


def test_a_text_is_found_exactly_in_front_and_within() -> None:
    texts = _Texts([" the", "other", "THE", "▁there", "", "x\nthe\x00", "Ünder"])
    assert texts.find("the", 9) == [0, 2, 3, 1, 5]
    assert texts.find(" the ", 2) == [0, 2]
    assert texts.find("ün", 9) == [6]
    assert texts.find("nowhere", 9) == []


@asynccontextmanager
async def trained(size: tuple[int, int] = (120, 40)) -> AsyncIterator[tuple[ExplorerApp, Pilot[None]]]:
    app = ExplorerApp(Session, typed="the other", begin=lambda one: one.send(do.Open(("sample:english",))))
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        app.engine.send(do.GoTo(300))
        await settled(pilot)
        yield app, pilot


def listed(app: ExplorerApp) -> list[Any]:
    assert isinstance(app.screen, FinderScreen)
    return [row.key for row in app.screen.listing.rows]


async def sought(pilot: Pilot[None], text: str, found: Callable[[], object]) -> None:
    """Open the finder if it is closed, replace its text, and wait for the rows."""
    app = pilot.app
    if not isinstance(app.screen, FinderScreen):
        await pilot.press("colon")
        await until(pilot, lambda: isinstance(app.screen, FinderScreen) and app.screen.field.has_focus)
    assert isinstance(app.screen, FinderScreen)
    app.screen.field.put(text)
    await until(pilot, found)


async def test_tokens_words_numbers_and_filters() -> None:
    async with trained() as (app, pilot):
        await pilot.press("ctrl+p", *"the")
        await until(pilot, lambda: "token:259" in listed(app) and "word: the" in listed(app))
        assert listed(app)[0] == "token:259"
        await until(pilot, lambda: "step 4 makes it" in screen_text(pilot))
        await sought(pilot, "484", lambda: listed(app)[:2] == ["step:484", "token:484"])
        await sought(pilot, "#484", lambda: listed(app) == ["token:484"])
        await sought(pilot, "@50%", lambda: listed(app) == ["step:50%"])
        await sought(pilot, "=tie large", lambda: listed(app)[:1] == ["axis:tie=largest-pair"])
        await sought(pilot, "zzqq", lambda: listed(app)[-1:] == ["encode:zzqq"])
        assert len(listed(app)) == 5
        assert "The nearest" in screen_text(pilot)
        screen = app.screen
        assert isinstance(screen, FinderScreen)
        await pilot.press("ctrl+u")
        for sign in FILTERS:
            await pilot.press("tab")
            await until(pilot, lambda sign=sign: screen.field.value == sign)  # type: ignore[misc]


async def test_the_finder_opens_over_a_view_and_closes_it_before_it_acts() -> None:
    """The finder encodes a text without a match, decodes ids, and lists tours first for `tour`."""
    async with trained((80, 24)) as (app, pilot):
        await pilot.press("2", "enter")
        await until(pilot, lambda: isinstance(app.screen, InspectScreen))
        await sought(pilot, "tour", lambda: str(listed(app)[0]).startswith("tour:"))
        await sought(pilot, "464 431", lambda: listed(app)[:1] == ["ids:464 431"])
        await sought(pilot, "exercise", lambda: listed(app)[:1] == ["command:quiz"])
        await sought(pilot, "same file", lambda: listed(app)[:1] == ["action:same_file"])
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, AddScreen))
        await pilot.press("escape")
        await sought(pilot, "entropy", lambda: listed(app)[:1] == ["action:questions"])
        await pilot.press("enter")
        await settled(pilot)
        assert "5 measures" in screen_text(pilot)
        await pilot.press("5")
        await until(pilot, lambda: "Shannon efficiency" in screen_text(pilot))
        await pilot.press("escape")
        await sought(pilot, "zq xv", lambda: "encode:zq xv" in listed(app))
        await pilot.press("up", "pagedown", "enter")
        await until(pilot, lambda: app.screen is app.main and app.main.typing)
        await until(pilot, lambda: app.main.encode.line.value == "zq xv")
        await settled(pilot)
        await pilot.press("escape", "i", "a", "b")
        await until(pilot, lambda: app.main.encode.line.value == "ab")
        await pilot.press("escape", "1", "e", "t")
        await until(pilot, lambda: "table of pairs as CSV" in screen_text(pilot))
        assert "tokentui train sample:english" in screen_text(pilot)
        await pilot.press("escape", "3", "1", "e", "t")
        await until(pilot, lambda: isinstance(app.screen, CopyScreen))
        assert "▸ table of vocabulary as TSV" in screen_text(pilot)


async def test_a_token_of_the_typed_name_comes_before_an_action_of_which_it_is_a_synonym() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        session.answers[do.Search] = Matches((FoundToken(5, b" SolidGoldMagikarp", 5, 0),), ())
        for text in ("SolidGold", "SolidGoldMagikarp"):
            await sought(pilot, text, lambda: listed(app)[:1] == ["token:5"])
            assert "action:analyze_glitch" in listed(app)


async def test_a_burst_takes_what_was_typed_a_preset_an_axis_and_a_setting_too() -> None:
    async with trained() as (app, pilot):
        burst(app, "colon", *"unused", "enter")
        await until(pilot, lambda: isinstance(app.screen, QuestionsScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        burst(app, "ctrl+p", *"@120", "enter")
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.main.at.step == 120)
        burst(app, "colon", *"#301", "enter")
        await until(pilot, lambda: isinstance(app.screen, InspectScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await pilot.press("colon")
        await until(pilot, lambda: isinstance(app.screen, FinderScreen) and app.screen.listing.rows)
        assert listed(app)[:3] == ["token:301", "step:120", "action:questions"]  # recent first
        await sought(pilot, "minbpe", lambda: "first steps on this text" in screen_text(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.main.preset == "minbpe")
        await settled(pilot)
        burst(app, "colon", Paste("=tie first"), "enter")
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.main.recipe.tie == "first-seen")
        burst(app, "colon", Paste("=view hex"), "enter")
        await until(pilot, lambda: app.main.mode == "hex")
        burst(app, "colon", Paste("sailor"), "enter")
        await until(pilot, lambda: app.main.snapshot and "sailor" in app.main.snapshot.corpus.name)


@pytest.mark.slow
async def test_hostile_texts_are_shown_safely() -> None:
    app, session = explorer()
    tokens = tuple(FoundToken(n, text.encode(), n, n) for n, text in enumerate(HOSTILE))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        session.answers[do.Search] = Matches(tokens, tuple(FoundWord(text, 1) for text in HOSTILE))
        await pilot.press("colon", "q", "q", "q")
        await until(pilot, lambda: "token:0" in listed(app))
        for size in ((120, 40), (80, 24), (40, 12)):
            await pilot.resize_terminal(*size)
            for _ in range(len(HOSTILE) + 2):
                await pilot.press("down")
                await pilot.pause()
                for strip in strips_of(app):
                    assert all(is_safe(text) for text, _, _ in strip)
        screen = app.screen
        assert isinstance(screen, FinderScreen)
        screen.field.value = HOSTILE[0]
        await pilot.pause()
        assert all(is_safe(text) for strip in strips_of(app) for text, _, _ in strip)


@pytest.mark.slow
async def test_a_recent_file_is_opened(tmp_path: Path) -> None:
    from tokentui.session.persist.session_file import remember

    path = tmp_path / "a corpus.txt"
    path.write_text("one two three " * 30)
    remember(str(path))
    async with trained() as (app, pilot):
        await pilot.press("colon", *"a corpus")
        await until(pilot, lambda: f"file:{path}" in listed(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.main.snapshot and "a corpus" in app.main.snapshot.corpus.name)


@pytest.mark.slow
async def test_an_action_of_a_pane_says_where_it_works() -> None:
    async with trained() as (app, pilot):
        await pilot.press("colon", *"Inspect the selected row", "enter")
        screen = app.screen
        assert isinstance(screen, FinderScreen)
        await until(pilot, lambda: "works in its pane" in text_of(screen.notice))


def test_a_letter_is_found_among_200_000_tokens_without_looking_at_each() -> None:
    words = [f" word{number:x}" for number in range(200_000)]
    texts = _Texts(words)
    for text in ("w", "o", "wo", "ord1f", "zz", "word1"):
        begun = time.thread_time()
        found = texts.find(text, 12)
        assert time.thread_time() - begun < 0.5
        ranks = [
            (word[1:] != text, not word[1:].startswith(text), n)
            for n, word in enumerate(words) if text in word
        ]
        assert found == [n for _, _, n in sorted(ranks)[:12]]
