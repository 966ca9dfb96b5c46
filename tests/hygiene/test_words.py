"""Labels, titles and help use one word for each thing, and that word for nothing else.

`docs/glossary.md` has the words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tokentui.analyze.analyses import ANALYSES
from tokentui.ui.bindings import FAMILIES
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.dialogs import Dialog
from tokentui.ui.dialogs.help import PANES
from tokentui.ui.keymap import DIALOGS, all_actions
from tokentui.ui.main_screen import MainScreen
from tokentui.ui.settings import SETTINGS


class Rule(NamedTuple):
    """A word of the glossary.

    Attributes:
        word: The word.
        others: The words that must not stand for it, as a pattern.
        but: The places where they mean something else.
    """

    word: str
    others: str
    but: tuple[str, ...] = ()


UNIGRAM = (
    "key next_piece", "key previous_piece", "key next_100_pieces", "key previous_100_pieces", "pane pairs",
    "key pane_2", "about pairs",
)
"""Places about the pieces of Unigram."""
RULES = (
    Rule("pre-token", r"\bpieces?\b|\bpretokens?\b|\bpre-tokenizations?\b", UNIGRAM),
    Rule("token", r"\bsub-?words?\b|\bsymbols?\b|\bword ?pieces?\b"),
    Rule("unit", r"\bbase (?:units?|tokens?|bytes?|characters?)\b|\balphabets?\b|\batoms?\b"),
    Rule("step", r"\biterations?\b|\bepochs?\b|\bmerges? (?:number|count)\b"),
    Rule("segmentation", r"\btoken(?:iz|is)ations?\b|\bcuts?\b|\bfragment",
        ("key practice_up", "key practice_down")),
    Rule("corpus", r"\btraining (?:text|data|set)\b|\bdata ?sets?\b"),
    Rule("preset", r"\brecipe names?\b|\bprofiles?\b|\btemplates?\b",
        ("key chat", "key chat_of_text", "key play_chat", "key chat.template")),
    Rule("typed text", r"\bprompts?\b|\binput text\b|\byour text\b", ("key chat.prompt",)),
    Rule("vocabulary", r"\bvocab\b|\blexicons?\b|\bdictionar", ("short vocabulary",)),
)


def labels() -> Iterator[tuple[str, str]]:
    """Yield each text of the program's tables with its place."""
    for screen in (MainScreen, CompareScreen):
        for entry in screen.PANES:
            yield f"pane {entry.name}", f"{entry.title} · {entry.help}"
            yield f"short {entry.name}", entry.short_title
    for id, action in all_actions().items():
        yield f"key {id}", f"{action.label} · {action.help}"
    for name, reference in DIALOGS.items():
        kind = reference.resolve()
        yield f"dialog {name}", name.removeprefix("Dialog: ")
        if issubclass(kind, Dialog):
            yield f"dialog {name}", kind.HEADING
    for family in FAMILIES.values():
        yield f"family {family.letter}", " · ".join((family.name, family.about, *family.members.values()))
    for name, setting in SETTINGS.items():
        yield f"setting {name}", setting.title
    for analysis in ANALYSES.values():
        yield f"analysis {analysis.name}", f"{analysis.name} · {analysis.about}"
    for pane, about in PANES.items():
        yield f"about {pane}", f"{about.shows} {about.marks} {about.example}"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.word)
def test_no_label_uses_another_word_for_a_thing(rule: Rule) -> None:
    strange = [
        (place, text) for place, text in labels()
        if re.search(rule.others, text, re.IGNORECASE) and place not in rule.but
    ]
    assert strange == []
