"""Encodes a chat: the origin of each token, and faults of the chat, its template or its tokenizer."""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tokentui.analyze.chat.rendered import Path, Region, Rendered, render_chat
from tokentui.analyze.chat.template import CONFIG, TOKENS, Chat, ChatTemplate
from tokentui.analyze.report import NUMBER, Column, Report, Row, Section, Span, Target, as_row
from tokentui.core.records import dataclass
from tokentui.encode.encoding import EncodedToken, Encoding
from tokentui.encode.names import NameFinder, Special
from tokentui.encode.tokenizer import Tokenizer

ORIGINS = {
    "special": "a special token of the template or the tokenizer",
    "template": "text of the template, or of a message that it has changed",
    "content": "text of a message, a tool or a document, also if it spells a special token",
    "mixed": "text of both",
}
"""The origins of tokens, and their meaning."""
_ROLES = {"special": "strong", "template": "muted", "content": "", "mixed": "warning"}
"""The role of the cells of each origin in a report."""
_LIKE_SPECIAL = re.compile(r"<\|[^\s<>|]{1,60}\|>|<｜[^\s<>｜]{1,60}｜>|<(?:start|end)_of_[a-z]{1,20}>")


class ChatWarning(NamedTuple):
    """A fault of a chat, or of its template and its tokenizer together.

    Attributes:
        code: Its kind, a word that does not change.
        text: The fault in one line.
        token: The token that it is about; None if it is about none.
        message: The number of the message that it is about, from 1; None if it is about none.
    """

    code: str
    text: str
    token: str | None = None
    message: int | None = None


@dataclass(frozen=True)
class ChatEncoding:
    """A chat as tokens.

    Attributes:
        encoding: The rendered text as tokens.
        regions: The stretches of the text that come from the texts of the chat.
        warnings: The faults.
    """

    encoding: Encoding
    regions: tuple[Region, ...]
    warnings: tuple[ChatWarning, ...]

    @functools.cached_property
    def origin(self) -> tuple[str, ...]:
        """For each token one of `ORIGINS`. Needs the places of all tokens, which take 500 bytes a token."""
        return tuple(origins(self.encoding.rows, self.regions))


def encode_chat(
    tokenizer: Tokenizer, template: ChatTemplate, chat: Chat, *, add_generation_prompt: bool = False,
    continue_final_message: bool = False, special_tokens: bool = False,
) -> ChatEncoding:
    """Render messages by a template, and encode the text with its special tokens.

    Args:
        tokenizer: The tokenizer.
        template: The template.
        chat: The messages.
        add_generation_prompt, continue_final_message: As for `render_chat`.
        special_tokens: Also add the tokens that begin and end a text. `apply_chat_template` does not.

    Raises:
        TokentuiError: As `render_chat` and `Tokenizer.encode` do.
        Cancelled: The job is cancelled.
    """
    rendered = render_chat(
        template, chat, add_generation_prompt=add_generation_prompt,
        continue_final_message=continue_final_message,
    )
    encoding = tokenizer.encode(rendered.text, special_tokens=special_tokens, allow_special=True)
    specials = tuple(tokenizer.encoder.special_places(rendered.text))
    warnings = (
        *_unproven(rendered),
        *_doubled(tokenizer, encoding, special_tokens),
        *_missing_prompt(rendered, chat),
        *_spelled(rendered, chat, specials),
        *_lacking(tokenizer, template, rendered, specials),
    )
    return ChatEncoding(encoding, rendered.regions, warnings)


class _Covered:
    """The characters in some regions.

    Args:
        regions: The regions, which may overlap.
    """

    def __init__(self, regions: Iterable[Region]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for region in sorted(regions):
            if self._ends and region.start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], region.end)
            else:
                self._starts.append(region.start)
                self._ends.append(region.end)

    def share(self, start: int, end: int) -> int:
        """Return 2 if all characters of a stretch are in the regions, 1 if some are, else 0.

        An empty stretch is in a region if it is between two characters of it.
        """
        at = bisect_right(self._starts, start) - 1
        inside = at >= 0 and start < self._ends[at]
        if start == end:
            return 2 * (inside and self._starts[at] < start)
        if inside and end <= self._ends[at]:
            return 2
        return int(inside or (at + 1 < len(self._starts) and self._starts[at + 1] < end))


def origins(tokens: Sequence[EncodedToken], regions: Sequence[Region]) -> Iterator[str]:
    """Yield the origin of each token, one of `ORIGINS`. It is content only if that is proven: the whole token
    is in the regions, and in exact ones unless it is special."""
    exact, changed = _Covered(region for region in regions if region.exact), _Covered(regions)
    for token in tokens:
        if token.word < 0:
            yield ("special", "mixed", "content")[changed.share(token.start, token.end)]
        else:
            yield ("template", "mixed", "content")[exact.share(token.start, token.end)]


# ---- warnings


def _unproven(rendered: Rendered) -> Iterator[ChatWarning]:
    """Yield a warning if a limit kept texts of the chat from being found in the rendering."""
    if rendered.limit is not None:
        limit = rendered.limit
        what = f"texts of the chat count as text of the template: {limit.what}"
        yield ChatWarning("unproven-origin", f"{what} ({limit.hint})" if limit.hint else what)


def _doubled(tokenizer: Tokenizer, encoding: Encoding, added: bool) -> Iterator[ChatWarning]:
    """Yield a warning if the text begins or ends with the special token that the tokenizer also adds there,
    or would add."""
    before, after = tokenizer.encoder.around
    ids = encoding.ids[len(before) : len(encoding) - len(after)] if added else encoding.ids
    for code, where, name, number in (
        ("bos", "begins", before[-1:], ids[:1]), ("eos", "ends", after[:1], ids[-1:])
    ):
        if not name or number != (tokenizer.vocabulary.special_id(name[0]),):
            continue
        if added:
            what = f"the text {where} with {name[0]} twice"
            why = "the template writes it, and --special-tokens adds it"
            yield ChatWarning(f"doubled-{code}", f"{what}: {why}", name[0])
        else:
            what = f"the template {where} with {name[0]}, which the tokenizer adds too"
            hint = "encode the rendered text without special tokens"
            yield ChatWarning(f"adds-{code}", f"{what}: {hint}", name[0])


def _missing_prompt(rendered: Rendered, chat: Chat) -> Iterator[ChatWarning]:
    """Yield a warning if a generation prompt is missing after the last message, unless that is of the
    assistant."""
    role = chat.messages[-1].get("role")
    if rendered.prompt_missing and role != "assistant":
        what = f"the last message is of the role {str(role)[:40]}, and no generation prompt follows"
        yield ChatWarning("no-generation-prompt", f"{what}: --add-generation-prompt adds it")


def _spelled(rendered: Rendered, chat: Chat, specials: Sequence[Special]) -> Iterator[ChatWarning]:
    """Yield a warning for each special token that a text of the chat spells, alone or with the template."""
    spelled: dict[tuple[Path, str], bool] = {}
    starts = [token.start for token in specials]
    for region in rendered.regions:
        for token in specials[max(0, bisect_right(starts, region.start) - 1) :]:
            if token.start >= region.end:
                break
            if token.end > region.start:
                whole = region.start <= token.start and token.end <= region.end
                spelled[region.path, token.name] = spelled.get((region.path, token.name), False) or whole
    finder = NameFinder({token.name for token in specials})
    for path in rendered.unplaced:
        text = rendered.texts[path]
        spelled |= {(path, text[start:end]): True for start, end in finder.spans(text)}
    for (path, name), whole in spelled.items():
        message = path[1] + 1 if path[0] == "messages" and isinstance(path[1], int) else None
        how = "spells the special token" if whole else "makes, with the template, the special token"
        yield ChatWarning("special-in-content", f"{_label(chat, path)} {how} {name}", name, message)


def _label(chat: Chat, path: Path) -> str:
    """Name a text of a chat, such as `message 2 (user)` or `tool 1 (function.name)`."""
    kind, number, *keys = path
    place = ".".join(map(str, keys))
    if kind == "messages":
        role = chat.messages[int(number)].get("role")
        place = f"{str(role)[:40]}" + ("" if place == "content" else f", {place[:60]}")
    return f"{str(kind).removesuffix('s')} {int(number) + 1}" + (f" ({place[:120]})" if place else "")


def _lacking(
    tokenizer: Tokenizer, template: ChatTemplate, rendered: Rendered, specials: Sequence[Special]
) -> Iterator[ChatWarning]:
    """Yield a warning for each special token of the template that is not in the vocabulary or not defined."""
    lacking = set()
    for variable in TOKENS:
        name = template.tokens.get(variable)
        if not re.search(rf"\b{variable}\b", template.text):
            continue
        if name is None and variable in TOKENS[:2]:
            source = f"no {CONFIG} beside the tokenizer names"
            if template.names != CONFIG:
                source = f"{template.names} does not name"
            what = f"the template writes {variable}, which {source}"
            yield ChatWarning("undefined-token", f"{what}: it is empty")
        elif name and name not in tokenizer.vocabulary.specials and name not in tokenizer:
            lacking.add(name)
            yield ChatWarning("missing-special", f"{variable} is {name}, which the vocabulary lacks", name)
    spans = {(special.start, special.end) for special in specials}
    covered = _Covered(rendered.regions)
    for match in _LIKE_SPECIAL.finditer(rendered.text):
        name = match.group()
        if name in lacking or match.span() in spans or name in tokenizer:
            continue
        if not covered.share(*match.span()):
            lacking.add(name)
            what = f"the template writes {name}, which is not in the vocabulary"
            yield ChatWarning("missing-special", what, name)


# ---- as a report


def report(chat: ChatEncoding) -> Report:
    """Return a chat as a report: a row for each token. The warnings are only in its value."""
    encoding = chat.encoding
    counts = Counter(chat.origin)
    shares = ", ".join(f"{counts[name]:,} {name}" for name in ORIGINS if counts[name])
    rows = []
    for token, origin in zip(encoding.rows, chat.origin, strict=True):
        piece = token.text if token.piece is None else token.piece
        number = "null" if token.id is None else str(token.id)
        target = None if token.id is None else Target("token", token.id)
        rows.append(Row((number, Span(origin, _ROLES[origin]), Span(piece, _ROLES[origin])), target))
    columns = (NUMBER, Column(), Column(flex=True))
    value = {
        **as_row(encoding, "text", "ids", "tokens", "hex", "offsets"), "origin": chat.origin,
        "warnings": chat.warnings,
    }
    section = Section("tokens", f"{len(encoding):,}: {shares}" if rows else "none", tuple(rows), columns)
    return Report("chat", (section,), value, f"{len(encoding):,} tokens")
