"""Docstrings name what exists."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "tokentui"
OTHERS = {("Input", "Submitted"), ("Tokenizer", "from_file"), ("Context", "meta")}
"""Names of other libraries, whose classes have the names of ours."""
_MEMBER = re.compile(r"`([A-Z]\w+)\.(\w+)(?:\(\))?`")


def nodes() -> Iterator[tuple[Path, ast.AST]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield from ((path, node) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def members(node: ast.ClassDef) -> Iterator[str]:
    """Yield the names that a class defines, in its body or on `self`."""
    for one in ast.walk(node):
        match one:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))


@pytest.mark.slow
def test_a_named_member_of_a_class_exists() -> None:
    """In the class or in a base, also of another library, or on an instance."""
    found = list(nodes())
    places: dict[str, list[tuple[Path, ast.ClassDef]]] = {}
    for path, node in found:
        if isinstance(node, ast.ClassDef):
            places.setdefault(node.name, []).append((path, node))

    def has(name: str, member: str) -> bool:
        for path, node in places[name]:
            module = ".".join(("tokentui", *path.relative_to(PACKAGE).with_suffix("").parts))
            own = getattr(importlib.import_module(module.removesuffix(".__init__")), name, None)
            parents = [one.__name__ for one in getattr(own, "__mro__", ())]
            if own is None or hasattr(own, member) or member in members(node):
                return True
            if any(member in members(above) for one in parents for _, above in places.get(one, ())):
                return True
        return False

    wrong = []
    for path, node in found:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for name, member in _MEMBER.findall(ast.get_docstring(node) or ""):
                if name in places and (name, member) not in OTHERS and not has(name, member):
                    wrong.append(f"{path.relative_to(PACKAGE)}: {name}.{member}")
    assert not wrong
