"""Whatever Textual parses as markup comes from the safe-text functions, never from a raw string.

A `str` given to a title, a label, a tooltip, a cell or an entry of the palette is markup: a file named
`a[/]b` ends the app, `[red]x[/red]` loses its brackets, `[@click=app.quit]a` becomes a link that quits. The
names of the sinks are Textual's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "tokentui" / "ui").rglob("*.py"))
SAFE = {"safe_content", "join"}
"""The functions that make content of text: `tokentui/ui/draw/text.py`."""
ATTRIBUTES = {"border_title", "border_subtitle", "tooltip", "placeholder", "sub_title"}
KEYWORDS = {"tooltip", "placeholder"}
ARGUMENTS: dict[str, dict[str | int, None]] = {
    name: dict.fromkeys(places)
    for name, places in {
        "Static": (0, "content"), "Label": (0, "content"), "Button": (0, "label"), "Checkbox": (0, "label"),
        "RadioButton": (0, "label"), "Tab": (0, "label"), "TabPane": (0, "title"), "Collapsible": ("title",),
        "Option": (0, "prompt"), "Hit": (1, "match_display", "help"), "DiscoveryHit": (0, "display", "help"),
        "SystemCommand": (0, 1, "title", "help"), "with_tooltip": (0, "tooltip"), "add_column": (0, "label"),
        "add_columns": (0, 1, 2, 3, 4, 5, 6, 7), "add_row": (0, 1, 2, 3, 4, 5, 6, 7), "add_rows": (0, "rows"),
        "update_cell": (2, "value"), "update_cell_at": (1, "value"), "add_option": (0, "option"),
        "add_options": (0, "new_options"), "set_options": (0, "options"), "update": (0, "content"),
        "from_markup": (0, "markup"), "render_str": (0, "text_content"),
    }.items()
}
"""The sinks that are called, and which of their arguments are parsed."""
WIDGETS = {name for name in ARGUMENTS if name[0].isupper()}
COLLECTIONS = (
    ast.Set, ast.Dict, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.BinOp,
)
"""What `update` of a set or a dictionary is given."""


def is_safe(node: ast.expr, names: dict[str, list[ast.expr]]) -> bool:
    """True if an expression is content, a literal without markup, or nothing. `names` are local
    assignments."""
    match node:
        case ast.Constant(value=value):
            return not isinstance(value, str) or "[" not in value
        case ast.Call(func=ast.Name(id=name)) if name in SAFE:
            return True
        case ast.Call(func=ast.Attribute(attr=name, value=ast.Name())) if name in SAFE:
            return True
        case ast.Call(func=ast.Name(id="Content"), args=args):
            return all(isinstance(given, ast.Constant) for given in args)
        case ast.Call(func=ast.Attribute(attr="join", value=ast.Call() as separator)):
            return is_safe(separator, names)
        case ast.IfExp(body=body, orelse=other):
            return is_safe(body, names) and is_safe(other, names)
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(is_safe(part, names) for part in parts)
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name.isupper()  # a constant of the class
        case ast.Name(id=name):
            return bool(names.get(name)) and all(is_safe(given, {}) for given in names[name])
    return False


def raw_strings(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each sink that is given something else than safe content."""
    tree = ast.parse(text)
    own = {
        alias.asname or alias.name
        for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith("tokentui") for alias in node.names
    }
    own |= {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.FunctionDef)}

    def visit(node: ast.AST, names: dict[str, list[ast.expr]], bases: set[str]) -> Iterator[tuple[int, str]]:
        if isinstance(node, ast.ClassDef):
            bases = {getattr(base, "id", getattr(base, "attr", "")) for base in node.bases}
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = {}
            for child in ast.walk(node):
                if isinstance(child, ast.Assign):
                    for target in child.targets:
                        if isinstance(target, ast.Name):
                            names.setdefault(target.id, []).append(child.value)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                attribute = target.attr if isinstance(target, ast.Attribute) else ""
                if attribute in ATTRIBUTES and node.value is not None and not is_safe(node.value, names):
                    yield node.lineno, attribute
        if isinstance(node, ast.Call):
            yield from called(node, names, bases)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, names, bases)

    def called(
        node: ast.Call, names: dict[str, list[ast.expr]], bases: set[str]
    ) -> Iterator[tuple[int, str]]:
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if ast.unparse(node.func) == "super().__init__":
            name = next(iter(bases & WIDGETS), "")
        if name == "Binding":
            return  # only our own help shows them, which parses no markup
        ours = isinstance(node.func, ast.Name) and name in own
        places = {} if ours else ARGUMENTS.get(name, {})
        given: dict[str | int, ast.expr] = dict(enumerate(node.args))
        given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        for place, argument in given.items():
            if place not in places and place not in KEYWORDS:
                continue
            if name == "update" and isinstance(argument, (*COLLECTIONS, ast.Tuple, ast.List)):
                continue
            if not is_safe(argument, names) and not passes_on(argument, place):
                yield node.lineno, name or str(place)

    def passes_on(argument: ast.expr, place: str | int) -> bool:
        """True for `placeholder=placeholder` in the class of our own input lines, whose callers are judged;
        and for a placeholder of safe text, which `Input` parses no markup in."""
        if place == "placeholder" and isinstance(argument, ast.Call):
            return ast.unparse(argument.func) == "safe"
        return place in KEYWORDS and isinstance(argument, ast.Name) and argument.id == place

    yield from visit(tree, {}, set())


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT / "tokentui" / "ui")))
@pytest.mark.first_run(cases=29)
def test_no_raw_string_is_parsed_as_markup(path: Path) -> None:
    assert list(raw_strings(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "line",
    [
        "self.border_title = name", "box.border_subtitle = f'{name}'", "row.tooltip = 'in ' + name",
        "Static(name)", "Label(safe(name))", "self.line.update(str(path))", "self.update(', '.join(names))",
        "table.add_row(join(cell), name)", "table.add_columns(name)", "OptionList(Option(name))",
        "Hit(score, matcher.highlight(name), run)", "DiscoveryHit(display=name, command=run)",
        "Input(placeholder=f'{name}')", "from tokentui.ui.field import Field\nField(placeholder=name)",
        "button.with_tooltip(name)", "Content.from_markup(name)",
        "Static('[b]bold[/b]')", "Static(Content(name))",
        "def show():\n    text = name\n    line.update(text)",
        "class Line(Static):\n    def __init__(self):\n        super().__init__(name)",
    ],
)
def test_a_raw_string_is_found(line: str) -> None:
    assert len(list(raw_strings(line))) == 1


@pytest.mark.parametrize(
    "line",
    [
        "self.border_title = safe_content(name) if name else None", "Static('plain')", "Static(join(cell))",
        "self.line.update(ui_text.join(cell))", "self.update(Content('\\n').join(map(join, cells)))",
        "names.update({name})", "table.add_row(safe_content(a), join(b))", "Input(placeholder='a file')",
        "def show():\n    text = safe_content(name)\n    line.update(text)",
        "from tokentui.ui.dialogs.draft import Option\nOption(name)", "Field(placeholder=self.PLACEHOLDER)",
    ],
)
def test_safe_content_is_none(line: str) -> None:
    assert list(raw_strings(line)) == []
