"""The prompts of dialogs."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from dialogs import FakeEngine
from textual.app import App
from textual.widgets import Static
from waiting import settled

import tokentui.ui.dialogs
from tokentui.ui.dialogs import Dialog, labeled_input
from tokentui.ui.field import Field


def prompts() -> list[tuple[str, str]]:
    """Return each dialog whose source calls `labeled_input`, or that has a `PROMPT`, with each text that may
    be its prompt."""
    found = []
    for path in sorted(Path(tokentui.ui.dialogs.__file__).parent.glob("*.py")):
        module = import_module(f"tokentui.ui.dialogs.{path.stem}")
        found += [
            (name, screen.PROMPT) for name, screen in vars(module).items()
            if getattr(screen, "__module__", "") == module.__name__ and getattr(screen, "PROMPT", "")
        ]
        for owner in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(owner, ast.ClassDef):
                continue
            texts = {
                node.targets[0].id: node.value for node in ast.walk(owner)
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
            }
            for node in ast.walk(owner):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "labeled_input":
                    text = node.args[0]
                    text = texts[text.id] if isinstance(text, ast.Name) else text
                    found += [
                        (owner.name, part.value) for part in ast.walk(text)
                        if isinstance(part, ast.Constant) and isinstance(part.value, str)
                    ]
    return found


PROMPTS = prompts()


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12)])
@pytest.mark.parametrize(("dialog", "prompt"), PROMPTS)
@pytest.mark.first_run(cases=5)
async def test_a_prompt_is_not_cut(dialog: str, prompt: str, size: tuple[int, int]) -> None:
    def init(self: Any) -> None:
        Dialog.__init__(self, FakeEngine())
        self.parts = (labeled_input(prompt, Field()),)

    app: App[None] = App()
    async with app.run_test(size=size) as pilot:
        await app.push_screen(type(dialog, (Dialog,), {"__init__": init})())
        await settled(pilot)
        line = app.screen.query_one(".prompt", Static)
        assert line.content_size.width >= len(prompt)
        if not prompt.endswith(" "):
            assert line.outer_size.width > len(prompt), "the prompt touches what is typed"


def test_the_prompts_are_derived() -> None:
    assert {"Write to >", "Download as >", "text", "word", ">"} <= {prompt for _, prompt in PROMPTS}
