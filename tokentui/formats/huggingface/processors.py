"""The post-processors of a `tokenizer.json`: which special tokens stand around a text."""

from __future__ import annotations

from typing import Any

from tokentui.formats.checking import Place
from tokentui.formats.huggingface.normalizers import MAX_DEPTH, listed

Around = tuple[tuple[str, ...], tuple[str, ...], list[str]]
"""The names before a text, those after it, and what is in doubt."""


def around(spec: Any, place: Place, depth: int = 0) -> Around:
    """What a post-processor puts around one text.

    Raises:
        TokentuiError: It is damaged, or of a type that is not known.
    """
    if spec is None:
        return (), (), []
    kind = place.mapping(spec).get("type")
    if depth > MAX_DEPTH:
        raise place.error("sequences stand too deep in one another")
    if kind == "ByteLevel":
        return (), (), []
    if kind in ("BertProcessing", "RobertaProcessing"):
        return (_named(spec, "cls", place),), (_named(spec, "sep", place),), []
    if kind == "TemplateProcessing":
        return _template(spec, place)
    if kind == "Sequence":
        before: tuple[str, ...] = ()
        after: tuple[str, ...] = ()
        notes: list[str] = []
        for one in listed(spec, "processors", place):
            outer, behind, more = around(one, place, depth + 1)
            before, after, notes = outer + before, after + behind, notes + more
        return before, after, notes
    raise place.error(f"{str(kind)[:40]!r} is no type that this version reads",
                      "one of: BertProcessing, RobertaProcessing, TemplateProcessing, ByteLevel, Sequence")


def _named(spec: dict[str, Any], name: str, place: Place) -> str:
    token, number = place.key(name).fields(spec.get(name), ("TOKEN", "ID"))
    place.key(name).number(number)
    return place.key(name).text(token)


def _template(spec: dict[str, Any], place: Place) -> Around:
    sides: tuple[list[str], list[str]] = ([], [])
    behind = 0
    known = place.mapping(spec.get("special_tokens") or {})
    for item in listed(spec, "single", place):
        at = place.key("single")
        one = at.mapping(item)
        if "Sequence" in one:
            behind += 1
            continue
        name = at.text(at.mapping(one.get("SpecialToken")).get("id"))
        row = place.key("special_tokens").mapping(known.get(name))
        sides[min(behind, 1)].extend(map(at.text, listed(row, "tokens", place)))
    notes = [] if behind == 1 else [f"the template holds the text {behind} times: it is taken once"]
    return tuple(sides[0]), tuple(sides[1]), notes
