"""A chat rendered by its template, with the places of the messages' texts in it.

The places are proven, not guessed. A text of the messages gets a mark before and after it, two characters for
private use that occur nowhere else, and the template is rendered again. If the rendering without the marks is
the plain rendering, the text between two marks is that of the message. A template that cuts whitespace off
gets the marks inside it. Where a template changes a text otherwise, or looks at it, there is no proof.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tokentui.analyze.chat.template import (
    Chat,
    ChatTemplate,
    Render,
    TemplateLimit,
    rendering,
    time_limit,
)
from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.core.records import dataclass

Path = tuple[str | int, ...]
"""The keys and places that lead to a text of a chat, such as `("messages", 0, "content")`."""
_REASONING = ("reasoning_content", "thinking", "reasoning")
_TAG = "CONTINUE_FINAL_MESSAGE_TAG "
_CONTROL = ("role", "type")
"""Keys whose texts a template compares and never prints as they are."""
_PRIVATE = 0xF0000
_MARKS = 0xFFFE
_MOST_RENDERINGS = 64
"""Renderings that look for the places of texts."""
_MOST_REGIONS = 100_000
"""Places of texts that a rendering may have. With more, they are not looked for."""


class Region(NamedTuple):
    """A stretch of a rendering that comes from a text of the chat.

    Attributes:
        start: Its first character.
        end: The character after its last one.
        path: The path of the text in the chat.
        exact: True if it is the text, without whitespace at its ends perhaps; false if the template has
            changed it.
    """

    start: int
    end: int
    path: Path
    exact: bool


@dataclass(frozen=True, slots=True)
class Rendered:
    """A chat as text.

    Attributes:
        text: The text.
        regions: The stretches that come from the texts of the chat, in order.
        texts: The texts of the chat by their paths.
        unplaced: The paths of texts whose places are not proven.
        limit: The limit that left texts unplaced; None if none did.
        prompt_missing: True if a generation prompt would make the text longer or different, and neither it
            nor a continuation was requested.
    """

    text: str
    regions: tuple[Region, ...]
    texts: Mapping[Path, str]
    unplaced: tuple[Path, ...]
    limit: TemplateLimit | None
    prompt_missing: bool


def render_chat(
    template: ChatTemplate, chat: Chat, *, add_generation_prompt: bool = False,
    continue_final_message: bool = False,
) -> Rendered:
    """Render messages as `apply_chat_template` of transformers does, and find their texts in it.

    Args:
        template: The template.
        chat: The messages.
        add_generation_prompt: Begin an answer of the assistant at the end.
        continue_final_message: Leave the last message open, so that the model goes on with it.

    Raises:
        TemplateLimit: The template takes too much processor time or writes too many characters.
        TokentuiError: The template fails, the last message cannot be continued, or both
            options are set.
        Cancelled: The job is cancelled.
    """
    if add_generation_prompt and continue_final_message:
        what = "--add-generation-prompt and --continue-final-message cannot be combined"
        raise TokentuiError(what, "encode", "use one of them")
    variables = {
        **template.tokens, **(chat.variables or {}), "messages": list(chat.messages), "tools": chat.tools,
        "documents": chat.documents, "add_generation_prompt": add_generation_prompt,
    }
    texts = dict(_texts(variables))
    with rendering(template) as render:

        def whole(given: Mapping[str, Any]) -> str:
            messages = [_with_reasoning(message) for message in given["messages"]]
            if not continue_final_message:
                return render({**given, "messages": messages})
            return _continued(render, {**given, "messages": messages}, template)

        plain = whole(variables)
        prompt_missing = not (add_generation_prompt or continue_final_message) and _differs(
            render, variables, plain
        )
        places = _Places(whole, variables, texts, plain, template)
        regions, unplaced = places.located()
    limit = places.limit if unplaced else None
    return Rendered(plain, tuple(sorted(regions)), texts, tuple(unplaced), limit, prompt_missing)


def _differs(render: Render, variables: Mapping[str, Any], plain: str) -> bool:
    """Return whether the template writes something else with a generation prompt; false if it fails then."""
    messages = [_with_reasoning(message) for message in variables["messages"]]
    try:
        return render({**variables, "messages": messages, "add_generation_prompt": True}) != plain
    except TokentuiError:
        return False


def _with_reasoning(message: Mapping[str, object]) -> Mapping[str, object]:
    """Return the message with its reasoning under every name that templates read (`thinking`,
    `reasoning_content`), as transformers 5 does. Return it unchanged if it has no reasoning."""
    reasoning = next((message[name] for name in _REASONING if name in message), None)
    if reasoning is None:
        return message
    return {"thinking": reasoning, **message, "reasoning_content": reasoning}


def _continued(render: Render, variables: Mapping[str, Any], template: ChatTemplate) -> str:
    """Render messages up to the end of the text of the last one.

    Raises:
        TokentuiError: The last message has no text, or the template changes it.
    """
    *others, last = variables["messages"]
    content = last.get("content")
    where, hint = "the last message", "leave --continue-final-message out"
    blocks = content if isinstance(content, list) else []
    texts = [n for n, block in enumerate(blocks)
             if isinstance(block, Mapping) and isinstance(block.get("text"), str)]
    changed: object = None
    if isinstance(content, str):
        final, changed = content, content + _TAG
    elif texts:
        at, final = texts[-1], blocks[texts[-1]]["text"]
        changed = [*blocks[:at], {**blocks[at], "text": final + _TAG}, *blocks[at + 1 :]]
    else:
        raise TokentuiError("it has no text to continue", where, hint)
    text = render({**variables, "messages": [*others, {**last, "content": changed}]})
    if final.strip() not in text or _TAG.strip() not in text:
        raise TokentuiError("the template changes it, so it cannot be continued", where, hint)
    at = text.rindex(_TAG.strip())
    return text[:at] if text.startswith(_TAG, at) else text[:at].rstrip()


# ---- the places of texts


def _texts(variables: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield the texts of the messages, tools and documents, except those that only control the template."""
    waiting: list[tuple[Path, object]] = [
        ((name,), variables[name]) for name in ("documents", "tools", "messages")
    ]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            if value:
                yield path, value
        elif isinstance(value, Mapping):
            waiting += [((*path, key), inner) for key, inner in value.items() if key not in _CONTROL]
        elif isinstance(value, list):
            waiting += [((*path, n), inner) for n, inner in enumerate(value)]


def _with_texts(value: Any, texts: Mapping[Path, str], path: Path = ()) -> Any:
    """Return a copy of a value with the texts at some paths replaced; others stay."""
    if isinstance(value, str):
        return texts.get(path, value)
    if isinstance(value, Mapping):
        return {key: _with_texts(inner, texts, (*path, key)) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_texts(inner, texts, (*path, n)) for n, inner in enumerate(value)]
    return value


class _Places:
    """Locates the texts of a chat in a rendering, in at most `_MOST_RENDERINGS` renderings with marks.

    Attributes:
        limit: The last limit that stopped a rendering, or the search; None if none did.

    Args:
        render: Renders the variables.
        variables: The variables of the template.
        texts: The texts in them by their paths.
        plain: The rendering.
        template: The template.
    """

    def __init__(
        self, render: Callable[[Mapping[str, Any]], str], variables: Mapping[str, Any],
        texts: Mapping[Path, str], plain: str, template: ChatTemplate,
    ) -> None:
        self._render, self._variables, self._texts, self._plain = render, variables, texts, plain
        self._where = template.where
        self._end = time.thread_time() + limits.now().template_seconds
        self.limit: TemplateLimit | None = None
        used = {ord(char) for text in (plain, template.text, *texts.values()) for char in set(text)
                if ord(char) >= _PRIVATE}
        marks = [chr(code) for code in range(_PRIVATE, _PRIVATE + _MARKS) if code not in used]
        self._marks = {path: (marks[2 * n], marks[2 * n + 1])
                       for n, path in enumerate(texts) if 2 * n + 1 < len(marks)}
        self._left = _MOST_RENDERINGS
        self._cut: set[Path] = set()

    def located(self) -> tuple[list[Region], list[Path]]:
        """Return the regions, and the paths of the texts that are not placed."""
        regions, missing = self._locate(list(self._marks))
        missing += [path for path in self._texts if path not in self._marks or path in self._cut]
        return regions, missing

    def _locate(self, paths: Sequence[Path]) -> tuple[list[Region], list[Path]]:
        """Return the regions of these texts, and the paths of those that are not placed. Tries all at once,
        then each half."""
        for inside in (False, True):
            if paths and (regions := self._try_marks(paths, inside)) is not None:
                return regions, []
        if len(paths) < 2:
            return [], list(paths)
        half = len(paths) // 2
        first, second = self._locate(paths[:half]), self._locate(paths[half:])
        return first[0] + second[0], first[1] + second[1]

    def _try_marks(self, paths: Sequence[Path], inside: bool) -> list[Region] | None:
        """Return the regions of the texts in the rendered chat. Return None if marking the texts changes the
        rendering or fails, or no renderings or time are left. Uses up a rendering.

        Args:
            paths: The paths of the texts.
            inside: True to put the marks inside the whitespace at the ends of a text.
        """
        if self._left == 0:
            return None
        self._left -= 1
        if time.thread_time() > self._end:
            self._left, self.limit = 0, time_limit(self._where)
            return None
        marked = {}
        for path in paths:
            text, (begin, end) = self._texts[path], self._marks[path]
            inner = text.strip() if inside else text
            before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
            marked[path] = f"{before}{begin}{inner}{end}{after}" if inside else f"{begin}{inner}{end}"
        try:
            return self._regions(self._render(_with_texts(self._variables, marked)), paths)
        except TemplateLimit as error:
            self.limit = error
        except TokentuiError:
            pass
        return None

    def _regions(self, rendering: str, paths: Sequence[Path]) -> list[Region] | None:
        """Return the regions between the marks of the texts; a text may have several or none. Return None if
        the rendering without its marks differs from the plain one. Texts with only one mark are noted in
        `_cut`.

        Raises:
            TemplateLimit: There are too many regions.
        """
        owners = {mark: (path, side) for path in paths for side, mark in enumerate(self._marks[path])}
        parts: list[str] = []
        opened: dict[Path, int] = {}
        regions = []
        size = at = 0
        for match in re.finditer(f"[{''.join(owners)}]", rendering):
            parts.append(rendering[at : match.start()])
            size += match.start() - at
            at = match.end()
            path, side = owners[match.group()]
            if side == 0:
                opened[path] = size
            elif path in opened:
                regions.append((opened.pop(path), size, path))
                if len(regions) > _MOST_REGIONS:
                    times = f"{_MOST_REGIONS:,} times"
                    raise TemplateLimit(f"the template writes texts more than {times}", self._where)
        plain = "".join([*parts, rendering[at:]])
        if plain != self._plain:
            return None
        # A part of a text, which has only one of its marks, is not placed.
        seen = {owners[mark][0] for mark in set(rendering) & owners.keys()}
        self._cut |= seen - {path for _, _, path in regions}
        return [
            Region(start, end, path, plain[start:end].strip() == self._texts[path].strip())
            for start, end, path in regions
        ]
