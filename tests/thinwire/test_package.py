"""The package stands alone: what it imports, what it exports, and what its page names."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

from tokentui import thinwire

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tokentui" / "thinwire"


def test_it_imports_the_standard_library_rich_and_textual_only() -> None:
    imported = set()
    for path in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not node.level, path
                imported.add(node.module or "")
            elif isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
    others = {name for name in imported if name.split(".")[0] not in sys.stdlib_module_names}
    assert {name for name in others if not name.startswith(("rich", "textual", "tokentui.thinwire"))} == set()


def test_it_loads_nothing_else_of_tokentui() -> None:
    code = (
        "import sys, tokentui; before = set(sys.modules); import tokentui.thinwire;"
        "print(*(m for m in set(sys.modules) - before if m.startswith('tokentui') and 'thinwire' not in m))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == []


def test_every_public_name_is_documented() -> None:
    page = (ROOT / "docs" / "thinwire.md").read_text(encoding="utf-8")
    for name in thinwire.__all__:
        assert f"`{name}" in page, name
        member = getattr(thinwire, name)
        if inspect.isclass(member) or inspect.isfunction(member):
            assert inspect.getdoc(member), name
            functions = inspect.getmembers(member, inspect.isfunction) if inspect.isclass(member) else []
            for title, function in functions:
                if not title.startswith("_") and function.__module__.startswith("tokentui"):
                    assert inspect.getdoc(function), f"{name}.{title}"


def test_private_parts_are_used_through_one_file_only() -> None:
    """Names of Textual or Rich that begin with an underscore are imported in `private.py` alone."""
    for path in FOLDER.rglob("*.py"):
        if path.name == "private.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("rich", "textual")):
                names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
                assert not any(name.startswith("_") for name in names), path
