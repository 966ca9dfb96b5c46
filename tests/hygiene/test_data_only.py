"""A file is data: nothing that is read is ever run, and no other tokenizer library is loaded where the screen
is."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import tokentui

RUNS_CODE = {
    "pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle", "yaml", "jinja2",
    "torch",
}
FOREIGN = {
    "tokenizers", "transformers", "tiktoken", "sentencepiece", "rustbpe", "subword_nmt", "bpeasy",
    "youtokentome",
}
CALLS = {"eval", "exec", "__import__", "np.load", "numpy.load"}
HINTS = RUNS_CODE | FOREIGN | CALLS | {"allow_pickle", "child"}
"""A module that holds none of these words need not be parsed."""
CHILDREN = {
    "tokentui/analyze/verify/child.py": FOREIGN, "tokentui/analyze/chat/child.py": {"jinja2"},
    "tokentui/analyze/grading/child.py": {"exec"},  # a student's program, under limits
}
"""What runs in a process of its own, by its name, and what it alone may load; nothing imports it."""


def called(call: ast.Call) -> str:
    """What is called, by its last two names at most."""
    what = call.func
    if isinstance(what, ast.Attribute):
        return f"{what.value.id}.{what.attr}" if isinstance(what.value, ast.Name) else what.attr
    return what.id if isinstance(what, ast.Name) else ""


def imported(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """The dotted names of what is imported, by a statement or by its name."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif (
            isinstance(node, ast.Call)
            and called(node).endswith("import_module")
            and isinstance(node.args[0], ast.Constant)
        ):
            yield str(node.args[0].value)


def offences(source: str, path: str) -> list[str]:
    """What a module does that none may."""
    if not any(hint in source for hint in HINTS):
        return []
    nodes = list(ast.walk(ast.parse(source)))
    names = set(imported(nodes))
    roots = {name.split(".")[0] for name in names}
    found = sorted(roots & (RUNS_CODE | FOREIGN) - CHILDREN.get(path, set()))
    modules = tuple(child.removesuffix(".py").replace("/", ".") for child in CHILDREN)
    found += [name for name in names if name.startswith(modules)]
    for node in nodes:
        if isinstance(node, ast.Call) and (
            called(node) in (CALLS | {"marshal.loads"}) - CHILDREN.get(path, set())
            or any(word.arg == "allow_pickle" for word in node.keywords)
        ):
            found.append(called(node))
    return found


@pytest.mark.slow
def test_no_file_is_ever_more_than_data() -> None:
    root = Path(tokentui.__file__).parent
    names = {path.relative_to(root.parent).as_posix(): path for path in root.rglob("*.py")}
    assert CHILDREN.keys() <= names.keys()
    found = {name: offences(path.read_text(encoding="utf-8"), name) for name, path in names.items()}
    assert {name: what for name, what in found.items() if what} == {}


@pytest.mark.parametrize(
    "line",
    [
        "import pickle", "from marshal import loads", "eval('1')", "import tokenizers",
        "importlib.import_module('yaml')", "load(x, allow_pickle=True)", "np.load(x)",
        "from tokentui.analyze.verify import child", "from tokentui.analyze.chat import child",
        "import jinja2.sandbox",
    ],
)
def test_such_a_line_would_be_found(line: str) -> None:
    assert offences(line, "tokentui/x.py")
