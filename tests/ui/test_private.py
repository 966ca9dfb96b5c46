"""Each private part of Textual that the screens use still exists."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from textual.app import App
from textual.document._document import Document
from textual.document._document_navigator import DocumentNavigator
from textual.document._wrapped_document import WrappedDocument
from textual.widgets import Input, TextArea

from tokentui.ui.private import OVERRIDDEN


@pytest.mark.parametrize(
    ("owner", "name"), [(owner, name) for owner, parts in OVERRIDDEN.items() for name in parts]
)
async def test_a_part_exists(owner: str, name: str) -> None:
    module, _, title = owner.partition(":")
    kind = getattr(importlib.import_module(module), title)
    instance: Any = kind
    if not hasattr(kind, name):
        async with App[None]().run_test() as pilot:
            document = WrappedDocument(Document("a"))
            instances = [
                pilot.app, pilot.app.screen, pilot.app.set_timer(1), Input(), TextArea(), Document("a"),
                document, DocumentNavigator(document),
            ]
            instance = next(made for made in instances if isinstance(made, kind))
    assert hasattr(instance, name), f"{owner} has no {name} any more: it {OVERRIDDEN[owner][name]}"
