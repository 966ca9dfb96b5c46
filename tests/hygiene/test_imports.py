"""What is loaded when: the engine without a screen, a command without the explorer."""

from __future__ import annotations

import ast
import graphlib
import json
import pkgutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

import tokentui
from tokentui.core.choices import Ref

ROOT = Path(__file__).resolve().parents[2]
SCREEN = ("tokentui.ui", "tokentui.thinwire")
WORDS = ("tokentui.cli", "tokentui.__main__")
BEFORE_THE_FIRST_PAINT = (
    "tokentui.session.engine.driver", "tokentui.learn.pairs", "tokentui.encode.tokenizer",
    "tokentui.encode.encoder", "tokentui.formats.files", "tokentui.formats.spec", "tokentui.text.corpus",
    "tokentui.text.count", "numpy", "regex",
)
"""What no first paint waits for: it comes after it."""
_LIGHT = ("tokentui.analyze.analyses", "tokentui.analyze.report")
"""The records of analyses, which have keys, and the value that commands print."""
NOT_FOR_ITS_OWN_FORMAT = (
    "tokentui.formats.huggingface", "tokentui.formats.sentencepiece", "numpy", "regex", "decimal", "random",
    "concurrent.futures",
)
"""What no training waits for: kernels come when the corpus is worth it, other tools' formats when one is
named."""

# Each module in turn, so that the first that loads something is the one that is named.
PROBE = """
import importlib, json, sys
names, unwanted = json.load(sys.stdin)
found = []
for name in names:
    if name != "tokentui.building":  # for developers: it needs Numba
        importlib.import_module(name)
    loaded = [one for one in unwanted if one in sys.modules]
    if loaded:
        found.append([name, loaded])
        break
print(json.dumps(found))
"""


def modules() -> list[str]:
    """Every module of the package."""
    return sorted(module.name for module in pkgutil.walk_packages(tokentui.__path__, "tokentui."))


def below(name: str, rooms: Iterable[str]) -> bool:
    return any(name == room or name.startswith(room + ".") for room in rooms)


@pytest.mark.parametrize(
    ("names", "unwanted"),
    [
        (
            [name for name in modules() if not below(name, SCREEN + WORDS)],
            ["textual", "rich", "click", "numpy", "numba", "llvmlite"],
        ),
        ([name for name in modules() if below(name, WORDS)], ["textual", "rich", "tokentui.ui"]),
        (["tokentui.cli.commands.explore", "tokentui.ui", "tokentui.ui.app"], [*BEFORE_THE_FIRST_PAINT, *(
            name for name in modules()
            if name.startswith("tokentui.analyze.") and name not in _LIGHT
        )]),
        (["tokentui.cli.commands.train"], [*NOT_FOR_ITS_OWN_FORMAT]),
    ],
    ids=["engine", "commands", "first paint", "training"],
)
@pytest.mark.slow
def test_nothing_else_is_loaded(names: list[str], unwanted: list[str]) -> None:
    assert names
    done = subprocess.run(
        [sys.executable, "-c", PROBE], input=json.dumps([names, unwanted]),
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


NOT_FOR_A_TRAINING = (
    "tokentui.learn.replay", "tokentui.encode.segment.viterbi", "tokentui.formats.files", "regex", "pathlib",
    "urllib.parse",
)
"""Modules that a training of a file by kernels does not load."""
NOT_FOR_A_LINE = (
    "tokentui.analyze.explained", "tokentui.analyze.drawings", "tokentui.formats.classes",
    "tokentui.formats.folder", "tokentui.formats.oniguruma", "tokentui.formats.sentencepiece", "pathlib",
)
"""Modules that encoding a line by a `tokenizer.json` does not load."""
WORK = {
    "training": ("import tokentui; tokentui.train('corpus.txt', 'gpt2', merges=20)", NOT_FOR_A_TRAINING),
    "a line": (
        "from tokentui.cli.main import run; run(['encode', '-t', 'tokenizer.json', 'a line'])", NOT_FOR_A_LINE
    ),
}


@pytest.mark.parametrize("name", WORK)
@pytest.mark.slow
def test_work_loads_nothing_else(loaded: None, tmp_path: Path, name: str) -> None:
    text = "so many words, so few of them new\n" * 500
    (tmp_path / "corpus.txt").write_text(text, encoding="utf-8")
    tokentui.train(None, "gpt2", texts=[text], merges=20).save(tmp_path / "tokenizer.json", "huggingface")
    code, unwanted = WORK[name]
    code += f"; import sys; print([one for one in {unwanted!r} if one in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_rooms_import_what_they_may() -> None:
    """The contracts of import-linter."""
    pytest.importorskip("importlinter")
    code = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def references() -> list[tuple[str, str]]:
    """Each `Ref("module:name")` of the package: the file it stands in and its target; empty where that is no
    literal."""
    found = []
    for path in sorted((ROOT / "tokentui").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Ref":
                (argument,) = node.args
                written = isinstance(argument, ast.Constant) and isinstance(argument.value, str)
                found.append((path.name, argument.value if written else ""))  # type: ignore[attr-defined]
    return found


@pytest.mark.slow
def test_each_reference_stands_for_something() -> None:
    for file, target in references():
        package = target.partition(":")[0].partition(".")[0]
        known = package == "tokentui" or package in sys.stdlib_module_names
        assert known, f"{file}: write the module and the name in full"
        assert Ref(target).resolve() is not None


def imported(name: str, path: Path, known: set[str]) -> set[str]:
    """The modules of the package that a file imports, at its top and in functions; not those for types alone:
    a widget names the type of its app.
    """
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        node for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if node in for_types:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            up = package.split(".")[: len(package.split(".")) - max(node.level - 1, 0)] if node.level else []
            base = ".".join([*up, *([node.module] if node.module else [])])
            for alias in node.names:
                within = f"{base}.{alias.name}"
                found.add(within if within in known else base)
    return (found & known) - {name}


@pytest.mark.slow
def test_no_two_files_import_each_other() -> None:
    root = Path(tokentui.__path__[0])
    paths = {
        ".".join(("tokentui", *path.relative_to(root).with_suffix("").parts)).removesuffix(".__init__"): path
        for path in root.rglob("*.py")
    }
    graph = {name: imported(name, path, set(paths)) for name, path in paths.items()}
    assert len(graph) > 200
    assert sum(map(len, graph.values())) > 1000
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle
