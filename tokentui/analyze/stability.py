"""End of a prompt: which of its tokens can change when the text continues, and which prefix is stable.

A prompt that ends in `http:` ends in the token `:`, and with `//` after it in `://`. Token healing takes back
such tokens before a model goes on. Two bounds are given. The split proves a prefix that no text after the
prompt changes. A search over continuations made of the vocabulary's tokens finds tokens that do change, each
with a continuation that shows it. Where the two meet, the stable prefix is exact.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from tokentui.analyze.report import Report, Row, Section, as_row, data, muted, strong
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import tick
from tokentui.core.records import dataclass
from tokentui.core.safetext import to_bytes
from tokentui.core.table import plural
from tokentui.encode.completions import completions
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import NO_ID

_MOST_TRIED = 1 << 14
"""Continuations that are tried at most."""
_MOST_CHARS = 1 << 25
"""Characters that are encoded at most for them."""
_MOST_PAIRED = 64
"""Characters of which all pairs are tried."""
_SPACE_MARK = "▁".encode()
FIELDS = ("text", "ids", "stable", "stable_text", "certain", "exact", "tried", "all_tried", "changes")
"""The fields of the result in JSON."""


@dataclass(frozen=True, slots=True)
class TokenChange:
    """A continuation that changes the tokens of a prompt from an index on.

    Attributes:
        place: The index of the first token that changes.
        continuation: The text after the prompt.
        id: The id of the whole text at that index; None if the whole text has fewer tokens, or if the token
            has no id.
        piece: Its exact bytes; empty if `id` is None.
    """

    place: int
    continuation: str
    id: int | None
    piece: bytes


@dataclass(frozen=True, slots=True)
class PrefixStability:
    """The tokens of a prompt, and how many of the first ones cannot change when the text continues.

    Attributes:
        text: The prompt.
        ids: Its ids; None for a token without an id.
        pieces: The exact bytes of its tokens; None for an unknown one.
        certain: The number of first tokens that no continuation changes.
        stable: The number of first tokens that no tried continuation changes, at least `certain`.
        tried: The number of continuations that were tried.
        all_tried: False if there were more candidates than are tried at most.
        changes: For each index from which tokens change, the shortest continuation that changes them, in
            order.
        stable_text: The text of the first `stable` tokens.
    """

    text: str
    ids: tuple[int | None, ...]
    pieces: tuple[bytes | None, ...]
    certain: int
    stable: int
    tried: int
    all_tried: bool
    changes: tuple[TokenChange, ...]
    stable_text: str

    @property
    def exact(self) -> bool:
        """True if `stable` is the number of tokens that no continuation at all changes."""
        return self.certain == self.stable


def prefix_stability(
    tokenizer: Tokenizer, text: str, *, allow_special: bool = False, most: int = _MOST_TRIED
) -> PrefixStability:
    """Find which tokens of a prompt can change when the text continues. A tick of the job is one
    continuation. Continuations that the tokenizer refuses are skipped.

    Args:
        tokenizer: The tokenizer.
        text: The prompt.
        allow_special: Text that spells a special token is that token.
        most: The number of continuations to try at most; fewer are tried after a long prompt.

    Raises:
        TokentuiError: The tokenizer refuses the prompt.
        Cancelled: The job is cancelled.

    >>> import tokentui
    >>> tokenizer = tokentui.train("sample:hugs", "gpt2", merges=6)
    >>> stability = prefix_stability(tokenizer, "pugs hu")
    >>> tokenizer.encode("pugs hu").tokens, stability.stable, stability.exact
    (('p', 'ugs', ' ', 'h', 'u'), 3, False)
    """
    encoding = tokenizer.encode(text, allow_special=allow_special)
    ids, pieces = encoding.ids, encoding.pieces
    certain, head = _certain(tokenizer, text, ids, allow_special)
    most = max(1, min(most, _MOST_CHARS // (len(text) - head + 1)))
    candidates = list(itertools.islice(_continuations(tokenizer, text, allow_special), most + 1))
    shortest: dict[int, tuple[str, int | None]] = {}
    tail, skipped = text[head:], certain if head else 0
    for number, continuation in enumerate(candidates[:most]):
        tick(number, min(most, len(candidates)))
        try:
            longer = tokenizer.encode_ids(tail + continuation, allow_special=allow_special)
        except TokentuiError:
            continue
        place = skipped
        for old, new in zip(ids[skipped:], longer, strict=False):
            if (NO_ID if old is None else old) != new:
                break
            place += 1
        if place == len(ids):
            continue
        if place not in shortest or len(continuation) < len(shortest[place][0]):
            following = longer[place - skipped] if place - skipped < len(longer) else NO_ID
            shortest[place] = continuation, None if following == NO_ID else following
    stable = min(shortest, default=len(ids))
    entries = {entry.id: entry.piece for entry in tokenizer.entries()} if shortest else {}
    changes = [
        TokenChange(place, continuation, number, b"" if number is None else entries.get(number, b""))
        for place, (continuation, number) in sorted(shortest.items())
    ]
    end = encoding.offsets[stable - 1][1] if stable else 0
    return PrefixStability(
        text, ids, pieces, certain, stable, min(most, len(candidates)), len(candidates) <= most,
        tuple(changes), text[:end],
    )


def _certain(
    tokenizer: Tokenizer, text: str, ids: Sequence[int | None], allow_special: bool
) -> tuple[int, int]:
    """Return the number of first tokens that are stable by the split, and the offset of the rest of the text
    if it can be encoded alone (else 0). Both are 0 if nothing is proven.

    A text is cut in two at places where the characters on both sides decide that no word crosses them. The
    tokens before such a place depend on nothing after it, unless the name of a token may cross the place.
    """
    encoder = tokenizer.encoder
    if not ids or encoder.way.scope != "word" or not encoder.splits_plainly(text):
        return 0, 0
    vocabulary = tokenizer.vocabulary
    names = vocabulary.specials if allow_special or vocabulary.imported else vocabulary.recipe.symbols
    limit = len(text[: _name_start(text, names)].rstrip()) if names else len(text)
    cut = 0
    for place in encoder.pretokenizer.cuts(text, 1):
        if place > limit:
            break
        cut = place
    if not cut or (allow_special and any(name in text for name in names)):
        return 0, 0
    before = tokenizer.encode(text[:cut]).ids
    if tuple(ids[: len(before)]) != before:
        return 0, 0
    return len(before), cut if encoder.pretokenizer.in_parts else 0


def _name_start(text: str, names: Iterable[str]) -> int:
    """Return the first offset from which the end of a text is a prefix of one of these names, or the length
    of the text."""
    longest = max(map(len, names), default=0)
    for start in range(max(0, len(text) - longest), len(text)):
        if any(name.startswith(text[start:]) for name in names):
            return start
    return len(text)


def _continuations(tokenizer: Tokenizer, text: str, allow_special: bool) -> Iterator[str]:
    """Yield texts to set after a prompt, each once: first the rests of tokens that begin with its end, then
    first characters of tokens, pairs of them if they are few, the texts of tokens, and these after a space.
    """
    tokens = list(_token_bytes(tokenizer, allow_special))
    ending = to_bytes(text)[-max(map(len, tokens), default=0) :]
    seen = {""}

    def new(texts: Iterable[str]) -> Iterator[str]:
        for continuation in texts:
            if continuation not in seen:
                seen.add(continuation)
                yield continuation

    rests = (
        token[size:] for token in tokens for size in range(min(len(token) - 1, len(ending)), 0, -1)
        if ending.endswith(token[:size])
    )
    yield from new(itertools.chain.from_iterable(map(_texts, rests)))
    texts = list(dict.fromkeys(itertools.chain.from_iterable(map(_texts, tokens))))
    first = list(dict.fromkeys([" ", *(text[0] for text in texts)]))
    yield from new(first)
    if len(first) <= _MOST_PAIRED:
        yield from new(map("".join, itertools.product(first, repeat=2)))
    yield from new(texts)
    yield from new(f" {text}" for text in texts)


def _token_bytes(tokenizer: Tokenizer, allow_special: bool) -> Iterator[bytes]:
    """Yield the bytes of each token as a text has them: without marks, with a space for each ▁ too."""
    vocabulary = tokenizer.vocabulary
    for symbol in vocabulary.symbols(tokenizer.merges):
        front, end = vocabulary.mark_sizes(symbol)
        piece = vocabulary.spelled(symbol)
        piece = piece[front : len(piece) - end]
        if _SPACE_MARK in piece:
            yield piece.replace(_SPACE_MARK, b" ")
        yield piece
    for name in vocabulary.specials if allow_special or vocabulary.imported else vocabulary.recipe.symbols:
        yield to_bytes(name)


def _texts(piece: bytes) -> Iterator[str]:
    """Yield the text of bytes. Bytes that end inside a character yield a text that begins with them, or
    nothing if there is none."""
    try:
        yield piece.decode()
    except UnicodeDecodeError:
        text = next(completions(piece), "")
        if text.encode().startswith(piece):
            yield text


# ---- the report


def report(stability: PrefixStability) -> Report:
    """Report on the end of a prompt: the stable prefix, and the tokens after it with what changes them."""
    count, stable = len(stability.ids), stability.stable
    line = f"{stable:,} of {plural(count, 'token')}"
    if stability.exact:
        bound = "exact: the split proves it, and a continuation changes the next token"
        bound = "exact: the split proves it" if stable == count else bound
    else:
        tried = plural(stability.tried, "continuation")
        bound = f"the split proves {stability.certain:,}; {tried} were tried"
        bound += "" if stability.all_tried else ", not all possible ones"
    changes = {change.place: change for change in stability.changes}
    rows = []
    for place in range(stable, count):
        number, piece = stability.ids[place], stability.pieces[place]
        cells = ("null" if number is None else str(number), b"?" if piece is None else piece)
        change = changes.get(place)
        if change is None:
            rows.append(Row((*cells, muted("changes with those before it"))))
            continue
        replacement = ("nothing",) if change.id is None else (change.piece, f" ({change.id})")
        rows.append(Row((*cells, ("before ", data(change.continuation), " it becomes ", *replacement))))
    sections = [
        Section("stable", line), Section("", bound),
        Section("text", data(stability.stable_text[-80:])),
        Section("may change", plural(len(rows), "token"), tuple(rows)),
    ]
    value = as_row(stability, *FIELDS)
    return Report("The end of a prompt", tuple(sections), value, strong(line))
