r"""Rewrite set operations in the brackets of a pattern, such as `[\p{L}&&[^\p{Han}]]`.

Oniguruma and Rust's regex crate support them. Python's `regex` reads `&&` as two characters, unless the whole
pattern is read as version 1, which also changes case folding. So only classes with a set operation are
rewritten, with lookaheads.
"""

from __future__ import annotations

import re

from tokentui.core.errors import TokentuiError

_MEMBER = re.compile(
    r"\\[pP]\{[^{}]*\}|\\[xuU]\{[^{}]*\}|\\N\{[^{}]*\}|\[:\^?\w+:\]|\\.|[^\\]", re.DOTALL
)
_POSIX = re.compile(r"\[:\^?\w+:\]")
_OPERATION = re.compile(r"&&|--(?=\[|\\[pPdDwWsS])|~~(?=\[|\\[pPdDwWsS])")
_DEEPEST = 50
_ASCII = {
    "L": "A-Za-z", "Lu": "A-Z", "Ll": "a-z", "Lt": "", "Lm": "", "Lo": "", "M": "", "N": "0-9", "Han": "",
}
"""The ASCII characters of the properties in the patterns of splits, as members of a class."""
_ITEM = re.compile(r"\\p\{(\w+)\}|\\.|.", re.DOTALL)


def in_ascii(pattern: str) -> re.Pattern[str] | None:
    r"""Return a pattern of `re` that has the matches in ASCII text of a pattern of `regex`. None if it has a
    property that is not known here, or a class without ASCII characters.

    >>> in_ascii(r" ?\p{L}+|[^\s\p{L}\p{N}]+").findall("it is 5!")
    ['it', ' is', '!']
    """
    parts: list[str] = []
    inside, members = False, ""
    for item in _ITEM.finditer(pattern):
        part, name = item.group(), item[1]
        if part[:2] in (r"\p", r"\P"):
            if name not in _ASCII:
                return None
            part = _ASCII[name] if inside else f"[{_ASCII[name]}]" if _ASCII[name] else "(?!)"
        if part == "]" and members in ("[", "[^"):
            return None
        inside = (inside or part == "[") and part != "]"
        members = members + part if inside else ""
        parts.append(part)
    return re.compile("".join(parts), re.ASCII)


def expanded(pattern: str) -> str:
    r"""Return an equivalent pattern without set operations. A pattern without any is returned unchanged.

    Intersection (`&&`), difference (`--`) and symmetric difference (`~~`) work from left to right. The last
    two are operations only before a class, such as `[…]` or `\p{…}`.

    Raises:
        TokentuiError: An operand is empty, or a bracket is not closed.

    >>> expanded(r"[\p{L}&&[^\p{Han}]]+|[&]")
    '(?:(?=[\\p{L}])[^\\p{Han}])+|[&]'
    """
    if not _OPERATION.search(pattern):
        return pattern
    parts, at = [], 0
    while at < len(pattern):
        if pattern[at] == "\\":
            end = at + 2
        elif pattern[at] == "[":
            end = class_end(pattern, at)
        else:
            end = at + 1
        part = pattern[at:end]
        if part[0] == "[" and (_has_operation(part) or _plain_end(pattern, at) != end):
            part, _ = _class(pattern, at)
        parts.append(part)
        at = end
    return "".join(parts)


def class_end(pattern: str, at: int) -> int:
    """Return the offset after the class that opens at an offset. As in `regex`, brackets nest only if the
    class has a set operation."""
    end = _nested_end(pattern, at)
    if end is not None and _has_operation(pattern[at:end]):
        return end
    return _plain_end(pattern, at)


def _plain_end(pattern: str, at: int) -> int:
    """Return the offset after a class in which brackets do not nest."""
    at += 1
    if pattern.startswith("^", at):
        at += 1
    if pattern.startswith("]", at):
        at += 1
    while at < len(pattern) and pattern[at] != "]":
        match = _MEMBER.match(pattern, at)
        at = match.end() if match else at + 1
    return min(at + 1, len(pattern))


def _nested_end(pattern: str, at: int) -> int | None:
    """Return the offset after a class in which brackets nest, or None if it is not closed."""
    depth = 0
    while at < len(pattern):
        if pattern[at] == "[" and not (depth and _POSIX.match(pattern, at)):
            depth += 1
            at += 1 + pattern.startswith("^", at + 1)
            at += pattern.startswith("]", at)
            continue
        if pattern[at] == "]":
            depth -= 1
            at += 1
            if not depth:
                return at
            continue
        match = _MEMBER.match(pattern, at)
        at = match.end() if match else at + 1
    return None


def _has_operation(text: str) -> bool:
    """Return whether a class, from its opening bracket on, has an unescaped set operation."""
    at = 1
    while at < len(text):
        if _OPERATION.match(text, at):
            return True
        match = _MEMBER.match(text, at)
        at = match.end() if match else at + 1
    return False


def _class(pattern: str, at: int, depth: int = 0) -> tuple[str, int]:
    """Return a class as a pattern of one character, and the offset after it.

    Raises:
        TokentuiError: Brackets are nested too deeply, or not closed.
    """
    if depth > _DEEPEST:
        raise _error("brackets too deep in one another", at)
    begin = at
    at += 1
    negated = pattern.startswith("^", at)
    at += negated
    whole, operation = "", ""
    members, inner = "", list[str]()
    while True:
        if at >= len(pattern):
            raise _error("a bracket that is not closed", begin)
        match = _OPERATION.match(pattern, at)
        closes = pattern[at] == "]" and (members or inner or operation)
        if match or closes:
            whole = _joined(whole, operation, _union(members, inner, at))
            members, inner = "", []
            if closes:
                at += 1
                break
            assert match is not None
            operation = match.group()
            at = match.end()
            continue
        posix = _POSIX.match(pattern, at)
        if pattern[at] == "[" and not posix:
            inner_class, at = _class(pattern, at, depth + 1)
            inner.append(inner_class)
            continue
        part = posix or _MEMBER.match(pattern, at)
        assert part is not None
        text = part.group()
        members += rf"\{text}" if text in "[]^" else text
        at = part.end()
    if not negated:
        return whole, at
    if whole.startswith("[") and whole.endswith("]") and not whole.startswith("[^"):
        return f"[^{whole[1:]}", at
    return rf"(?:(?!{whole})(?s:.))", at


def _union(members: str, inner: list[str], at: int) -> str:
    """Return the pattern of an operand.

    Raises:
        TokentuiError: The operand is empty.
    """
    sides = [f"[{members}]"] * bool(members) + inner
    if not sides:
        raise _error("a set operation with an empty side", at)
    return sides[0] if len(sides) == 1 else f"(?:{'|'.join(sides)})"


def _joined(left: str, operation: str, right: str) -> str:
    """Return the pattern of one set with another: `&&` intersection, `--` difference, `~~` symmetric
    difference; of any other operation only `right`."""
    if operation == "&&":
        return f"(?:(?={left}){right})"
    if operation == "--":
        return f"(?:(?!{right}){left})"
    if operation == "~~":
        return f"(?:(?!{right}){left}|(?!{left}){right})"
    return right


def _error(what: str, at: int) -> TokentuiError:
    return TokentuiError(
        f"the pattern cannot be compiled: {what} at position {at}", "split=regex:", "fix the pattern"
    )
