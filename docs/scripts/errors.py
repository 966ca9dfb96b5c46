"""The catalog of errors, made from the code: `python docs/scripts/errors.py` writes docs/errors.md.

A place of the package that makes a `TokentuiError` is an entry, with the error's what, where and hint as
they are written there; what is put in at run time stands as `…`. With `--raised FILE` it compares the entries
with those that a run of the tests raised (`TOKENTUI_RAISED=FILE python -m pytest`), prints those that no test
raised, and exits 1 where there is one.
"""

from __future__ import annotations

import ast
import itertools
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pages import plain, write

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "tokentui"
BASE = "TokentuiError"
ROOMS = {
    "recipe": "Recipes", "preset_table": "Recipes", "axes": "Recipes", "text": "Corpora and text",
    "encode": "Encoding", "learn": "Training", "formats": "Tokenizer files",
    "analyze": "Measuring and comparing", "session": "The explorer", "ui": "The explorer",
    "tours": "Tours", "cli": "Commands", "tokenizer": "The library", "core": "Files, limits and values",
}
"""The heading of each room."""
_FIELDS = ("what", "where", "hint")


@dataclass(frozen=True)
class Entry:
    """An error as it is written in the code.

    Attributes:
        file: The file, from the root of the package on.
        first: The first line of the call that makes it.
        last: The last line of it.
        what: What is wrong; `…` for what is put in at run time.
        where: The thing it is wrong with.
        hint: What would do instead.
    """

    file: str
    first: int
    last: int
    what: str
    where: str
    hint: str


def constants(trees: Sequence[ast.Module]) -> dict[str, str]:
    """The texts that have a name at the top of a file, where all files mean the same by it."""
    found: dict[str, set[str]] = {}
    for tree in trees:
        for node in tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(text))):
                    found.setdefault(name, set()).add(text)
    return {name: texts.pop() for name, texts in found.items() if len(texts) == 1}


def template(node: ast.expr | None, named: Mapping[str, str]) -> str:
    """A text as it is written, with `…` for what is put in at run time."""
    match node:
        case ast.Name(id=name) if name in named:
            return named[name]
        case ast.Tuple(elts=elements):
            return " / ".join(template(one, named) for one in elements)
        case None:
            return ""
        case ast.Constant(value=value):
            return str(value)
        case ast.JoinedStr(values=values):
            return "".join(template(value, named) for value in values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return template(left, named) + template(right, named)
        case ast.IfExp(body=body, orelse=other):
            return " / ".join(dict.fromkeys((template(body, named), template(other, named))))
        case _:
            return "…"


def name_of(call: ast.Call) -> str:
    """The last name of what is called."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def families(nodes: Iterable[ast.AST]) -> set[str]:
    """The names of `TokentuiError` and of the classes below it."""
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    names = {BASE}
    while True:
        found = {
            node.name for node in classes
            if any(isinstance(base, ast.Name) and base.id in names for base in node.bases)
        }
        if found <= names:
            return names
        names |= found


def makers(nodes: Iterable[ast.AST], family: set[str]) -> dict[str, list[str]]:
    """The functions that give an error back, each with the names of its arguments."""
    found = {}
    for node in nodes:
        if not isinstance(node, ast.FunctionDef) or not isinstance(node.returns, ast.Name):
            continue
        if node.returns.id in family:
            found[node.name] = [one.arg for one in node.args.args if one.arg != "self"]
    return found


def entries() -> list[Entry]:
    """The errors of the package, in order of files and lines."""
    paths = sorted(PACKAGE.rglob("*.py"))
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    nodes = {path: [*ast.walk(tree)] for path, tree in trees.items()}
    family = families(itertools.chain(*nodes.values()))
    made_by = makers(itertools.chain(*nodes.values()), family)
    texts = constants([*trees.values()])
    return [entry for path, own in nodes.items() for entry in _of_file(path, own, family, made_by, texts)]


def _of_file(
    path: Path, nodes: Sequence[ast.AST], family: set[str], made_by: dict[str, list[str]],
    texts: Mapping[str, str],
) -> Iterator[Entry]:
    within = {id(one) for node in nodes if isinstance(node, ast.FunctionDef) and node.name in made_by
              for one in ast.walk(node)}
    raised = {id(node.exc) for node in nodes if isinstance(node, ast.Raise)}
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        name = name_of(node)
        if name in family:
            if id(node) in within and all(template(one, texts) == "…" for one in node.args[:1]):
                continue  # it only hands on what its caller says
            arguments: Sequence[str] = _FIELDS
        elif name == "Refusal":
            arguments = ("where", "what", "hint")
        elif name in made_by and id(node) in raised:
            arguments = made_by[name]
        else:
            continue
        given = dict(zip(arguments, (template(one, texts) for one in node.args), strict=False))
        given |= {one.arg: template(one.value, texts) for one in node.keywords if one.arg}
        what = given.get("what", "")
        if not what or not what.strip(" …/"):
            continue  # its words are those of another entry
        yield Entry(
            str(path.relative_to(PACKAGE)), node.lineno, node.end_lineno or node.lineno, what,
            given.get("where", ""), given.get("hint", ""),
        )


def page(found: Sequence[Entry]) -> str:
    """The page of the catalog."""
    lines = [
        "# Errors", "",
        "Every error is one line: `where: what (hint)`. For example,", "",
        "    novel.txt: no such file (name a file, - or sample:english)", "",
        "To find yours, search this page for the words after the first colon. `…` marks text that differs",
        "from case to case, such as a number or a name. The library raises `tokentui.TokentuiError` with",
        "the three parts as attributes `where`, `what` and `hint`. Commands print the line on standard error",
        "and exit with code 2. `python docs/scripts/errors.py` makes this page.", "",
    ]
    by_room: dict[str, list[Entry]] = {}
    for entry in found:
        by_room.setdefault(ROOMS[entry.file.split("/")[0].removesuffix(".py")], []).append(entry)
    for title, listed in sorted(by_room.items()):
        rows = sorted({(one.what, one.where, one.hint) for one in listed})
        lines += [f"## {title}", "", "| message | where | hint |", "|---|---|---|"]
        lines += [f"| {' | '.join(map(plain, row))} |" for row in rows]
        lines.append("")
    return "\n".join(lines)


def missing(found: Sequence[Entry], raised: Path) -> list[Entry]:
    """The entries that no test raised.

    Args:
        found: The entries.
        raised: The file that the tests wrote: JSON lines of file and line.
    """
    seen: dict[str, set[int]] = {}
    for line in raised.read_text(encoding="utf-8").splitlines():
        file, number = json.loads(line)
        seen.setdefault(file, set()).add(number)
    return [one for one in found if not seen.get(one.file, set()) & {*range(one.first, one.last + 1)}]


def main(words: Sequence[str]) -> int:
    """Write or check the page, or print what no test raised. Returns the exit code."""
    found = entries()
    if words[:1] == ["--raised"]:
        left = missing(found, Path(words[1]))
        for one in left:
            sys.stdout.write(f"{one.file}:{one.first}: {one.what}\n")
        sys.stdout.write(f"{len(found) - len(left)} of {len(found)} errors were raised by a test\n")
        return 1 if left else 0
    return write({"errors.md": page(found)}, words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
