"""Why a text is not one token: a table of reasons, exactly one of which holds for any text.

A text passes normalization, split and encoder. `Case` inspects it on that way. A case may also be a token of
the vocabulary (`tokentui.encode.reachability`): why no text becomes it. What a training knows beyond the
vocabulary (counts of pairs, future steps) comes as an `Outlook`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tokentui.core.records import dataclass
from tokentui.core.safetext import safe, to_bytes, visible
from tokentui.encode.decode import spelled_units
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.names import Special
from tokentui.encode.results import WhyNot
from tokentui.encode.segment import ENCODING_WAYS, AppliedMerge, WordPart
from tokentui.encode.segment.viterbi import Viterbi
from tokentui.encode.tokenizer import TokenEntry, Tokenizer
from tokentui.encode.vocabulary import Vocabulary, byte_token
from tokentui.text.pretokenize import PreToken
from tokentui.text.split import SPACE_MARK, SPLITS, branches

Facts = dict[str, object]
_SHOWN = 8


class Prospect(NamedTuple):
    """What a training predicts for a text that is not a token.

    Attributes:
        fate: `absent` (no word of the corpus has its units), `comes` (further training makes it), `overtaken`
            (further training never makes it), `waits` (unknown at the furthest computed step), `dropped` (it
            was a piece and left); empty without a training.
        facts: The values of the proof.
    """

    fate: str = ""
    facts: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a training knows: which tokens it may make, and the future of a text.

    Attributes:
        max_length: The largest number of units of a token; None for no limit.
        refuses: Returns True if the filter of the recipe forbids a token with these bytes.
        prospect: Returns the prediction for a case that only lacks a merge.
    """

    max_length: int | None = None
    refuses: Callable[[bytes], bool] = lambda piece: False
    prospect: Callable[[Case], Prospect] = lambda case: Prospect()


NO_OUTLOOK = Outlook()

EMPTY, WHOLE, SPECIAL, CHANGED, NAMED = "empty", "whole", "special", "changed", "named"
NOTHING, CUT, WORD = "nothing", "cut", "word"
"""Stages at which a text stops: it is empty; it is one token; it is the name of a special token; it is
changed before lookup; it contains a name; nothing is left of it; it becomes several words; it is one word
that the encoder splits."""
TWIN, BROKEN, COVERED, CONTEXT = "twin", "broken", "covered", "context"
"""Further stages, for a token of the vocabulary. TWIN: another token has the same spelling. BROKEN: its bytes
are not UTF-8. COVERED: the characters with its byte are tokens themselves. CONTEXT: its units become it
alone, but not inside the texts that contain them."""


class Case:
    """A text on its way through a tokenizer.

    Args:
        tokenizer: The tokenizer.
        text: The text.
        outlook: What the training knows.
        entry: The token, if the question is why no text becomes it. Then `text` is its own text.
        has_units: True if words of some texts contain the units of that token side by side.
    """

    def __init__(
        self, tokenizer: Tokenizer, text: str, outlook: Outlook = NO_OUTLOOK, *,
        entry: TokenEntry | None = None,
        has_units: bool = False,
    ) -> None:
        self.text, self.outlook, self.entry, self.has_units = text, outlook, entry, has_units
        self.symbol = None if entry is None else entry.symbol
        self.encoder: WordEncoder = tokenizer.encoder
        self.vocabulary, self.recipe = tokenizer.vocabulary, tokenizer.recipe

    # ---- the way of the text

    @functools.cached_property
    def contents(self) -> list[Special | PreToken]:
        """The words of the text, and the special tokens that it contains by name."""
        symbols = self.encoder.pretokenizer.symbols
        items: list[Special | PreToken] = []
        for section in self.encoder.stretches(self.text, False):
            for part in [section] if isinstance(section, Special) else section:
                if isinstance(part, PreToken) and part.text in symbols:
                    part = Special(part.text, part.start, part.end)
                items.append(part)
        return items

    @functools.cached_property
    def normalized(self) -> str:
        """The text after normalizing."""
        return self.encoder.pretokenizer.normalized(self.text)

    @functools.cached_property
    def stage(self) -> str:
        """The stage at which the text stops, one of the constants above."""
        if self.symbol is not None and (taken := [part.symbol for part in self.parts]) != [self.symbol]:
            alike = len(taken) == 1 and taken[0] is not None
            same = alike and self.vocabulary.spelled(taken[0] or 0) == self.piece
            return TWIN if same else WORD
        if not self.text and self.entry is None:
            return EMPTY
        if self.entry is None and self.whole is not None:
            return WHOLE
        special = self.text in self.vocabulary.specials and self.text not in self.recipe.symbols
        if self.symbol is None and (special or self.byte is not None):
            byte = self.entry is not None and self.byte is not None
            return SPECIAL if not byte else COVERED if self.has_units else BROKEN
        if self.symbol is not None and not _is_text(self.piece):
            return CONTEXT if self.has_units else BROKEN
        if self.changed and (self.symbol is not None or self.typed is not None):
            return CHANGED
        if any(isinstance(part, Special) for part in self.contents):
            return NAMED
        if not self.contents:
            return NOTHING
        if self.entry is not None:
            return CONTEXT if self.has_units else CUT
        return CUT if len(self.contents) > 1 else WORD

    @functools.cached_property
    def whole(self) -> int | None:
        """The id of the token, if the text becomes exactly one; else None."""
        if len(self.contents) != 1:
            return None
        if isinstance(first := self.contents[0], Special):
            return self.vocabulary.special_id(first.name)
        tokens, units = self.encoder.word(first.text), self.encoder.pretokenizer.units(first.text)
        if len(tokens) != 1 or tokens[0].unknown or len(self.encoder.kept_indices(units)) < len(units):
            return None
        return tokens[0].id

    @functools.cached_property
    def byte(self) -> int | None:
        """The id of the byte-fallback token with the text as its name, or None."""
        vocabulary = self.vocabulary
        known = range(256) if vocabulary.byte_tokens else vocabulary.byte_symbols
        return next((vocabulary.byte_id(value) for value in known if byte_token(value) == self.text), None)

    @functools.cached_property
    def changed(self) -> bool:
        """True if normalization also changes the text inside another text."""
        normal = self.encoder.pretokenizer.normalized(f"a {self.text} a")
        return self.text not in normal and self.text.replace(" ", SPACE_MARK) not in normal

    # ---- the one word

    @functools.cached_property
    def word(self) -> str:
        """The single word that the text becomes."""
        if self.symbol is not None:
            return self.piece.decode("utf-8", "replace")
        return next(part.text for part in self.contents if isinstance(part, PreToken))

    @functools.cached_property
    def characters(self) -> int:
        """The number of characters of the word; for a token, of the shortest word that may contain it."""
        return len(self.word) if self.symbol is None else shortest_word(self.vocabulary, self.symbol)

    @functools.cached_property
    def units(self) -> tuple[bytes, ...]:
        if self.symbol is not None:
            return spelled_units(self.encoder, self.symbol)
        return tuple(self.encoder.pretokenizer.units(self.word))

    @functools.cached_property
    def kept(self) -> list[bytes]:
        """The units to encode, without dropped ones."""
        return [self.units[at] for at in self.encoder.kept_indices(self.units)]

    @functools.cached_property
    def piece(self) -> bytes:
        """The bytes of a token with these units."""
        if self.symbol is not None:
            return self.vocabulary.spelled(self.symbol)
        prefix = self.vocabulary.prefix
        return b"".join((*self.units[:1], *(unit.removeprefix(prefix) for unit in self.units[1:])))

    @functools.cached_property
    def parts(self) -> list[WordPart]:
        """The parts that the encoder makes of the units, before the policy for unknown ones."""
        return self.encoder.segmenter.segment(self.kept, self.characters)

    @functools.cached_property
    def pieces(self) -> tuple[bytes | str, ...]:
        """The tokens that the word becomes; an unknown one by its name."""
        if self.symbol is None:
            tokens = self.encoder.word(self.word)
            return tuple(token.text if token.piece is None else token.piece for token in tokens)
        spelled = self.vocabulary.spelled
        return tuple("unknown" if part.symbol is None else spelled(part.symbol) for part in self.parts)

    @property
    def merges(self) -> bool:
        """True if the way of encoding applies merges."""
        return ENCODING_WAYS.of(self.recipe.encode).needs == "merges"

    @functools.cached_property
    def given_up(self) -> bool:
        """True if the word has too many characters for the encoder."""
        parts = self.parts
        return self.encoder.way.gives_up(self.characters) and len(parts) == 1 and parts[0].unknown

    @functools.cached_property
    def unknown(self) -> bytes | None:
        """The first unit without a token, or None."""
        kept_ = set(self.encoder.kept_indices(self.units))
        dropped = next((unit for at, unit in enumerate(self.units) if at not in kept_), None)
        if dropped is not None or self.given_up:
            return dropped
        bytes_ = set(self.vocabulary.byte_symbols.values())
        lacking = (part for part in self.parts if part.symbol is None or part.symbol in bytes_)
        return next((self.kept[part.start] for part in lacking), None)

    @functools.cached_property
    def _spelled(self) -> dict[bytes, list[int]]:
        """The symbols of each spelling that is relevant to this case."""
        wanted = {self.piece, *self._forms, *self._typed}
        spelled: dict[bytes, list[int]] = {}
        for symbol in range(len(self.vocabulary.pieces)):
            if (piece := self.vocabulary.spelled(symbol)) in wanted:
                spelled.setdefault(piece, []).append(symbol)
        return spelled

    @functools.cached_property
    def _targets(self) -> tuple[int | None, int | None]:
        """The symbol with these units that is in use now, and the one that comes into use later. At most one
        is not None."""
        if self.symbol is not None:
            return self.symbol, None
        now = later = None
        for symbol in self._spelled.get(self.piece, ()):
            if spelled_units(self.encoder, symbol) == self.units:
                if self.first_step(symbol) <= self.encoder.merges:
                    now = symbol if now is None else now
                elif not self.was_removed(symbol):
                    later = symbol if later is None else later
        return now, later if now is None else None

    @property
    def target(self) -> int | None:
        """The symbol in use that has these units, or None."""
        return self._targets[0]

    @property
    def later(self) -> int | None:
        """The symbol with these units that comes into use at a known later step, or None."""
        return self._targets[1]

    def first_step(self, symbol: int) -> int:
        """Return the step at which a symbol comes into use, or a step past the last if it was removed."""
        limit = self.vocabulary.limit
        if limit is not None:
            step, first_steps = limit
            return first_steps[symbol] - step + self.encoder.merges
        if self.was_removed(symbol):
            return len(self.vocabulary.sizes)
        return self.vocabulary.made_at(symbol)

    def was_removed(self, symbol: int) -> bool:
        """Return whether a symbol of an event vocabulary was removed up to this step, or no event ever added
        it.

        False for a symbol that is added later, and always for other vocabularies.
        """
        vocabulary, merges = self.vocabulary, self.encoder.merges
        return vocabulary.eventful and vocabulary.made_at(symbol) <= merges and (
            not vocabulary.is_present(symbol, merges)
        )

    @functools.cached_property
    def _forms(self) -> dict[bytes, str]:
        """The spellings that differ from the word only in mark or space, each with a clause that says where
        it occurs."""
        vocabulary, mark, space = self.vocabulary, self.vocabulary.mark, to_bytes(SPACE_MARK)
        plain = b"".join(map(vocabulary.bare, self.units))
        forms = {
            b" " + plain: "which begins with a space",
            space + plain: "which begins a word after a space",
            plain.removeprefix(b" "): "which has no leading space",
            plain.removeprefix(space): "which occurs only inside words",
        }
        if vocabulary.prefix:
            forms[mark + plain] = "which occurs only inside words"
        elif mark:
            forms[plain.removesuffix(mark)] = "which does not end a word"
        return {piece: where for piece, where in forms.items() if piece not in (self.piece, b"")}

    @functools.cached_property
    def marked(self) -> tuple[int, str] | None:
        """A token that differs from the word only in mark or space, with a clause that says where it occurs.
        """
        for piece, where in self._forms.items():
            for symbol in self._spelled.get(piece, ()):
                if self.first_step(symbol) <= self.encoder.merges:
                    return symbol, where
        return None

    @property
    def _typed(self) -> tuple[bytes, ...]:
        """The spellings of a token whose own text is the text as typed."""
        space, data = to_bytes(SPACE_MARK), to_bytes(self.text)
        spaced = data.replace(b" ", space)
        return data, spaced, space + spaced, data + self.vocabulary.mark

    @functools.cached_property
    def typed(self) -> int | None:
        """The symbol of a token that is spelled exactly as typed, or None."""
        wanted = set(self._typed)
        symbols = self.vocabulary.symbols(self.encoder.merges)
        return next((symbol for symbol in symbols if self.vocabulary.spelled(symbol) in wanted), None)

    # ---- flags of one word, of which the predicates are made

    @functools.cached_property
    def lacks_unit(self) -> bool:
        """True if the word is not a token because a unit has no token."""
        return self.unknown is not None and (self.merges or self.target is None)

    @property
    def passed_over(self) -> bool:
        """True if the token and all units exist, and the encoder still chooses other tokens."""
        return (
            self.stage == WORD and self.target is not None and not (self.given_up or self.lacks_unit)
            and self.target not in self.vocabulary.unreachable
        )

    @property
    def orphan(self) -> bool:
        """True if merges encode, and none makes the token."""
        target = self.target
        return target is not None and self.merges and target < self.vocabulary.base_size

    @functools.cached_property
    def absent(self) -> bool:
        """True if the vocabulary has every unit, but no such token, now or later."""
        if self.stage != WORD or self.given_up or self.lacks_unit:
            return False
        return self.target is None and self.later is None

    @functools.cached_property
    def too_long(self) -> bool:
        """True if the word has more units than training allows for a token."""
        most = self.outlook.max_length
        return most is not None and len(self.units) > most

    @functools.cached_property
    def lacks_merge(self) -> bool:
        """True if nothing but the token itself is missing."""
        return self.absent and not self.too_long and not self.refused

    @functools.cached_property
    def foreseen(self) -> bool:
        """True if the training predicts the future of the word, other than that the corpus lacks it."""
        return self.prospect.fate not in ("", "absent")

    @functools.cached_property
    def refused(self) -> bool:
        """True if the training never makes a token with this spelling."""
        return self.outlook.refuses(self.piece)

    @functools.cached_property
    def prospect(self) -> Prospect:
        """The prediction of the training for the word."""
        return self.outlook.prospect(self) if self.lacks_merge else Prospect()

    # ---- words for sentences

    @property
    def after(self) -> str:
        """A clause with the normalized text, if normalization changes it."""
        return f", after normalization to {shown(self.normalized)}," if self.normalized != self.text else ""

    @property
    def cut(self) -> str:
        """The tokens of the word, as the start of a sentence."""
        if self.symbol is not None:
            taken = (
                piece if isinstance(piece, str) else safe(piece, limit=40) for piece in self.pieces[:_SHOWN]
            )
            return f"its own text is encoded as {' '.join(taken)}" + " …" * (len(self.pieces) > _SHOWN)
        return f"It becomes{self.after} {listed(self.pieces)}"

    def identity(self, symbol: int) -> int:
        """Return the id of a symbol."""
        return self.vocabulary.id_of(symbol, self.encoder.merges)


def shortest_word(vocabulary: Vocabulary, symbol: int) -> int:
    """Return the number of characters of the shortest word that may contain a token.

    A mark is not a character. A token that continues a word has at least one character before it.
    """
    piece, (front, end) = vocabulary.spelled(symbol), vocabulary.mark_sizes(symbol)
    own = piece[front : len(piece) - end].decode("utf-8", "replace")
    return len(own) + (front > 0)


def _is_text(piece: bytes) -> bool:
    """Return whether the bytes are valid UTF-8."""
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True


def shown(text: str | bytes) -> str:
    """Return a text, shortened, with all characters visible."""
    return "".join(span.text for span in visible(text, limit=60))


def listed(texts: Sequence[str | bytes]) -> str:
    """Return the first eight texts with all characters visible, and how many more there are."""
    more = f" and {len(texts) - _SHOWN:,} more" if len(texts) > _SHOWN else ""
    return " | ".join(map(shown, texts[:_SHOWN])) + more


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason why a text is not one token, or why no text becomes a token.

    Attributes:
        name: Its name.
        about: A short description.
        holds: Returns True if it is the reason of a case.
        facts: Returns the values of the proof.
        says: Returns the sentence for the case and the values.
        where: What prevents a token, if the reason applies to tokens: the `encoder`, the `split`, the
            `normalisation`, a `twin`, its `name`, or its `bytes`. Empty if it applies only to texts.
    """

    name: str
    about: str
    holds: Callable[[Case], bool]
    facts: Callable[[Case], Facts]
    says: Callable[[Case, Facts], str]
    where: str = ""


def why_not(tokenizer: Tokenizer, text: str, outlook: Outlook = NO_OUTLOOK) -> WhyNot:
    """Return why a text is not one token by itself, or that it is.

    Raises:
        TokentuiError: The pattern of the split takes too long.
    """
    return reason_of(Case(tokenizer, text, outlook))


def reason_of(case: Case) -> WhyNot:
    """Return the first reason that holds for a case, with its proof."""
    for reason in REASONS.values():
        if reason.holds(case):
            facts = reason.facts(case)
            if case.entry is None and case.normalized != case.text:
                facts |= {"normalized": case.normalized}
            return WhyNot(reason.name, reason.says(case, facts), facts)
    raise AssertionError(f"no reason for {case.text!r}")


def _nothing(case: Case) -> Facts:
    return {}


def _one_token(case: Case) -> Facts:
    word = case.contents[0]
    return {"id": case.whole} | ({"name": word.name} if isinstance(word, Special) else {})


def _says_one_token(case: Case, facts: Facts) -> str:
    if "name" in facts:
        kind = "symbol" if facts["name"] in case.recipe.symbols else "token"
        return f"It is one token: the {kind} with id {facts['id']}, which is recognized wherever it occurs."
    return f"It is{case.after} one token: id {facts['id']}."


def _special(case: Case) -> Facts:
    if case.text in case.vocabulary.specials:
        return {"id": case.vocabulary.special_id(case.text), "kind": "special"}
    return {"id": case.byte, "kind": "byte"}


def _says_special(case: Case, facts: Facts) -> str:
    """Say that a special token needs permission, or that the text is the name of a byte's token."""
    if case.entry is not None:
        return "text becomes a special token only if that is allowed"
    if facts["kind"] == "byte":
        return f"It is the name of the token with id {facts['id']}, which is a byte of an unknown character."
    spells = f"It is the name of the special token with id {facts['id']}"
    return f"{spells}, and typed text becomes a special token only if that is allowed."


def _normalized(case: Case) -> Facts:
    symbol = case.typed if case.symbol is None else case.symbol
    assert symbol is not None
    return {"id": case.identity(symbol), "normalized": case.normalized}


def _says_normalized(case: Case, facts: Facts) -> str:
    if case.symbol is not None:
        return "normalization changes it"
    there = f"The token with id {facts['id']} is spelled that way"
    return f"{there}, but normalization changes the text to {shown(case.normalized) or 'nothing'} first."


def _named(case: Case) -> Facts:
    special = next(special for special in case.contents if isinstance(special, Special))
    return {"name": special.name, "start": special.start, "end": special.end}


def _says_named(case: Case, facts: Facts) -> str:
    return f"It contains {shown(str(facts['name']))}, a token that is recognized wherever it occurs."


def _split(case: Case) -> Facts:
    """Return the words that the split makes of a text, and the branch of the pattern that takes the first
    one."""
    words = [word for word in case.contents if isinstance(word, PreToken)]
    facts: Facts = {
        "words": tuple(word.text for word in words), "at": words[min(1, len(words) - 1)].start,
        "branch": None, "rule": "",
    }
    # If the axes fully describe the steps, the branch that takes the first word is known.
    own = case.vocabulary.file.near or case.encoder.pretokenizer.beyond_axes
    if not own and SPLITS.of(case.recipe.split).is_pattern | SPLITS.of(case.recipe.split).branch_by_word:
        known = branches(case.recipe.split, case.recipe.unicode)
        prepared = case.encoder.pretokenizer.analyze(case.text).prepared
        number = known.of(prepared, words[0].prepared_start, words[0].text)
        if number is not None:
            facts |= {"branch": number + 1, "rule": known.names[number]}
    return facts


def _says_split(case: Case, facts: Facts) -> str:
    """Name the pre-tokens that the split makes of the text, with the branch of its pattern if known.

    For a token of the vocabulary, say only that no word tried contains it.
    """
    if case.symbol is not None:
        return "no word after the split contains it, in any context tried"
    words = facts["words"]
    assert isinstance(words, tuple)
    cuts = f"The split {shown(case.recipe.split)} cuts it{case.after} into {len(words):,} pre-tokens"
    branch = f" Branch {facts['branch']} of its pattern matches the first one: {safe(str(facts['rule']))}."
    return f"{cuts}, {listed(words)}, and no token crosses pre-tokens." + (branch if facts["branch"] else "")


def _given_up(case: Case) -> Facts:
    return {"characters": case.characters, "most": case.encoder.way.most}


def _says_given_up(case: Case, facts: Facts) -> str:
    if case.symbol is not None:
        return "its own text is too long for the encoder"
    most = f"longest match gives up on words of more than {facts['most']}"
    return f"It has{case.after} {facts['characters']} characters, and {most}."


def _unknown(case: Case) -> Facts:
    return {"unit": case.unknown, "pieces": case.pieces}


def _says_unknown(case: Case, facts: Facts) -> str:
    what = "represents a pair" if case.vocabulary.substitutes_bytes else "is not in the vocabulary"
    cause = f"{shown(case.unknown or b'')} {what}"
    return cause if case.symbol is not None else f"It cannot{case.after} be one token: {cause}."


def _alike(case: Case) -> Facts:
    (part,) = case.parts
    assert part.symbol is not None
    return {"id": case.identity(part.symbol)}


def _says_alike(case: Case, facts: Facts) -> str:
    return f"another token has the same spelling: id {facts['id']}"


def _target(case: Case) -> Facts:
    assert case.target is not None
    return {"id": case.identity(case.target), "pieces": case.pieces}


def _blocked(case: Case) -> Facts:
    """Return the step and pair of the token, and the first merge whose result is not part of it."""
    assert case.target is not None
    vocabulary = case.vocabulary
    spans = _spans(case.encoder, case.target)
    facts = _target(case) | {
        "step": vocabulary.made_at(case.target),
        "parts": tuple(map(vocabulary.spelled, vocabulary.parts(case.target))), "by": (), "by_step": None,
    }
    for step in case.encoder.segmenter.steps(case.kept, case.characters):
        if isinstance(step, AppliedMerge) and (step.start, step.end) not in spans:
            return facts | {"by": (step.left, step.right), "by_step": step.rank + 1}
    return facts


def _says_blocked(case: Case, facts: Facts) -> str:
    """Say that a token exists and which earlier merge keeps the text from it."""
    if case.symbol is not None:
        return case.cut
    parts, by = facts["parts"], facts["by"]
    assert isinstance(parts, tuple)
    assert isinstance(by, tuple)
    clause = f"there is a token for it, made from {' + '.join(map(shown, parts))} at step {facts['step']:,}"
    if not by:
        return f"{case.cut}: {clause}, but the merges never reach it."
    barring = f"{' + '.join(map(shown, by))} (step {facts['by_step']:,})"
    return f"{case.cut}: {clause}, but {barring} is merged first and prevents it."


def _spans(encoder: WordEncoder, symbol: int) -> set[tuple[int, int]]:
    """Return the (start, end) in units of every token in the merge tree of a symbol."""
    vocabulary, spans, waiting, at = encoder.vocabulary, set[tuple[int, int]](), [symbol], 0
    while waiting:
        current = waiting.pop()
        spans.add((at, at + len(spelled_units(encoder, current))))
        if current >= vocabulary.base_size:
            waiting += reversed(vocabulary.parts(current))
        else:
            at += len(spelled_units(encoder, current))
    return spans


def _says_orphan(case: Case, facts: Facts) -> str:
    if case.symbol is not None:
        return case.cut
    return f"{case.cut}: there is a token for it, id {facts['id']}, but no merge makes it."


def _probable(case: Case) -> Facts:
    """Return the scores of the token and of the tokens that the encoder prefers."""
    segmenter = case.encoder.segmenter
    assert isinstance(segmenter, Viterbi)
    edges = segmenter.lattice(case.kept)
    assert case.target is not None
    scores = (edge.score for edge in edges if edge.symbol == case.target)
    whole = next(scores, case.vocabulary.scores[case.target])
    best = sum(edge.score for edge in edges if edge.best)
    return _target(case) | {"score": whole, "best": best, "difference": best - whole}


def _says_probable(case: Case, facts: Facts) -> str:
    if case.symbol is not None:
        return case.cut
    whole = f"the token for the whole text (log probability {facts['score']:.4f})"
    return f"{case.cut}: {whole} is less probable than these ({facts['best']:.4f})."


def _says_reserved(case: Case, facts: Facts) -> str:
    if case.symbol is not None:
        return "the file marks it as unreachable from text" if case.parts else case.cut
    there = f"the token with id {facts['id']} is spelled that way"
    return f"{case.cut}: {there}, but the file marks it as unreachable."


def _says_passed(case: Case, facts: Facts) -> str:
    if case.symbol is not None:
        return case.cut
    there = f"the token with id {facts['id']} is spelled that way"
    return f"{case.cut}: {there}, but the encoder never looks it up."


def _later(case: Case) -> Facts:
    assert case.later is not None
    more = case.first_step(case.later) - case.encoder.merges
    limit = case.vocabulary.limit
    return {"step": more + (case.encoder.merges if limit is None else limit[0]), "pieces": case.pieces}


def _says_later(case: Case, facts: Facts) -> str:
    return f"{case.cut}: a token for it is made only at step {facts['step']:,}."


def _marked(case: Case) -> Facts:
    """Return the facts of the token that has the text and a mark. The case must have one."""
    assert case.marked is not None
    symbol, where = case.marked
    return {
        "id": case.identity(symbol), "piece": case.vocabulary.spelled(symbol), "where": where,
        "pieces": case.pieces,
    } | ({"absent": True, **case.prospect.facts} if case.prospect.fate == "absent" else {})


def _says_marked(case: Case, facts: Facts) -> str:
    piece = facts["piece"]
    assert isinstance(piece, bytes)
    absent = f", and {_nowhere(facts)}" if facts.get("absent") else ""
    return f"{case.cut}: no token is spelled that way{absent}; there is {shown(piece)}, {facts['where']}."


def _nowhere(facts: Facts) -> str:
    """Return a clause on a text whose units are side by side in no word of the corpus."""
    inside = facts["inside"]
    if not inside:
        return "no word of the corpus is spelled that way"
    times = "once" if inside == 1 else f"{inside:,} times"
    return f"in the corpus it occurs only inside longer words, {times}"


def _long(case: Case) -> Facts:
    return {"units": len(case.units), "max_length": case.outlook.max_length, "pieces": case.pieces}


def _says_long(case: Case, facts: Facts) -> str:
    return f"{case.cut}: it has {facts['units']:,} units, and no token has more than {facts['max_length']:,}."


def _filtered(case: Case) -> Facts:
    return {"filter": case.recipe.pieces, "pieces": case.pieces}


def _says_filtered(case: Case, facts: Facts) -> str:
    return f"{case.cut}: pieces={facts['filter']} does not allow this token."


def _missing(case: Case) -> Facts:
    """Return the first two neighbors that no merge joins, or those that the training names."""
    spelled = (case.vocabulary.spelled(part.symbol) for part in case.parts if part.symbol is not None)
    left, right = [*spelled][:2]
    return {"left": left, "right": right, "pieces": case.pieces}


def _awaited(case: Case) -> Facts:
    facts = {"pieces": case.pieces, **case.prospect.facts}
    if case.marked is not None:
        facts |= {"like": case.vocabulary.spelled(case.marked[0]), "where": case.marked[1]}
    return facts


def _like(facts: Facts) -> str:
    """Return a sentence about a token that differs only in mark or space; empty if there is none."""
    like = facts.get("like")
    return f" There is {shown(like)}, {facts['where']}." if isinstance(like, bytes) else ""


def _says_missing(case: Case, facts: Facts) -> str:
    joined = " and ".join(map(shown, case.pieces)) if len(case.pieces) == 2 else "any two adjacent tokens"
    return f"{case.cut}: no token is spelled that way, and no merge joins {joined}."


def _pair(facts: Facts) -> str:
    left, right = facts["left"], facts["right"]
    assert isinstance(left, bytes)
    assert isinstance(right, bytes)
    return f"{shown(left)} + {shown(right)}"


def _in_line(facts: Facts) -> str:
    """Return a clause on the missing pair, with its count and its rank, or that it is no candidate."""
    if not facts.get("count"):
        return f"The first missing pair is {_pair(facts)}: it is not a candidate at this step"
    times = "once" if facts["count"] == 1 else f"{facts['count']:,} times"
    place = ""
    if facts["place"]:
        place = f" and is number {facts['place']:,} in the queue at step {facts['at']:,}"
    return f"The first missing pair is {_pair(facts)}: it occurs {times}{place}"


def _says_comes(case: Case, facts: Facts) -> str:
    comes = f"continued training makes it one token at step {facts['step']:,}"
    return f"{case.cut}. {_in_line(facts)}; {comes}.{_like(facts)}"


def _says_overtaken(case: Case, facts: Facts) -> str:
    """Say which later merge breaks up the pair of the text, or that training ends before."""
    by = facts["by"]
    assert isinstance(by, tuple)
    if facts["merged"]:
        never = f"it is merged at step {facts['merged']:,}, and the whole text never is"
    else:
        never = "it never becomes the best pair"
    if by:
        apart = f"{' + '.join(map(shown, by))} (step {facts['by_step']:,}) is merged first and breaks up "
        never += f": {apart}{'the rest' if facts['merged'] else 'it'}"
    else:
        never += f": training ends at step {facts['end']:,}"
    return f"{case.cut}. {_in_line(facts)}; {never}.{_like(facts)}"


def _says_waits(case: Case, facts: Facts) -> str:
    tried = f"; the next {facts['ahead']:,} steps do not make it one token" if facts["ahead"] else ""
    return f"{case.cut}. {_in_line(facts)}{tried}.{_like(facts)}"


def _says_dropped(case: Case, facts: Facts) -> str:
    return f"{case.cut}: training dropped this piece: {facts['why']}.{_like(facts)}"


def _says_absent(case: Case, facts: Facts) -> str:
    return f"{case.cut}: no token is spelled that way, and {_nowhere(facts)}. {_in_line(facts)}."


def _pieces(case: Case) -> Facts:
    return {"pieces": case.pieces}


def _says_none(case: Case, facts: Facts) -> str:
    return f"{case.cut}: no token is spelled that way."


def _fate(name: str) -> Callable[[Case], bool]:
    """Return a predicate for a text that lacks a merge and for which a training predicts `name`.

    If there is a token with another mark or space, that is the reason unless the training predicts something
    else.
    """
    return lambda case: (
        case.lacks_merge and case.prospect.fate == name and (case.marked is None or case.foreseen)
    )


def _at(stage: str) -> Callable[[Case], bool]:
    return lambda case: case.stage == stage


REASONS: dict[str, Reason] = {reason.name: reason for reason in (
    Reason("empty", "the text is empty", _at(EMPTY), _nothing,
           lambda case, facts: "It is the empty text, which has no tokens."),
    Reason("one-token", "it is one token", _at(WHOLE), _one_token, _says_one_token),
    Reason("special", "it spells a special token", _at(SPECIAL), _special, _says_special, where="name"),
    Reason("normalised", "normalization changes it", _at(CHANGED), _normalized, _says_normalized,
           where="normalisation"),
    Reason("named", "it contains a token that is matched by name", _at(NAMED), _named, _says_named,
           where="split"),
    Reason("nothing-left", "nothing of it is left to encode", _at(NOTHING), _nothing,
           lambda case, facts: f"Nothing of it is left{case.after or ' after the split'}: it has no tokens.",
           where="split"),
    Reason("split", "the split cuts it into several pre-tokens", _at(CUT), _split, _says_split,
           where="split"),
    Reason("too-long", "longest match gives up on so long a word",
           lambda case: case.stage == WORD and case.given_up, _given_up, _says_given_up, where="encoder"),
    Reason("unknown", "it contains a unit that is not in the vocabulary",
           lambda case: case.stage == WORD and not case.given_up and case.lacks_unit, _unknown, _says_unknown,
           where="encoder"),
    Reason("alike", "another token has the same spelling", _at(TWIN), _alike, _says_alike, where="twin"),
    Reason("reserved", "the file marks its token as unreachable",
           lambda case: case.stage == WORD and not (case.given_up or case.lacks_unit)
           and case.target in case.vocabulary.unreachable, _target, _says_reserved, where="encoder"),
    Reason("orphan", "no merge makes its token", lambda case: case.passed_over and case.orphan, _target,
           _says_orphan, where="encoder"),
    Reason("blocked", "another merge comes first and prevents its token",
           lambda case: case.passed_over and case.merges and not case.orphan, _blocked, _says_blocked,
           where="encoder"),
    Reason("less-probable", "its token is less probable than several others together",
           lambda case: case.passed_over and isinstance(case.encoder.segmenter, Viterbi), _probable,
           _says_probable, where="encoder"),
    Reason("passed-over", "the encoder never looks its token up",
           lambda case: case.passed_over
           and not (case.merges or isinstance(case.encoder.segmenter, Viterbi)), _target, _says_passed,
           where="encoder"),
    Reason("later", "its token is made at a later step",
           lambda case: case.stage == WORD and not (case.given_up or case.lacks_unit)
           and case.later is not None, _later, _says_later),
    Reason("marked", "its token has a different mark or space",
           lambda case: case.absent and case.marked is not None and not case.foreseen, _marked,
           _says_marked),
    Reason("max-length", "its token would have too many units",
           lambda case: case.absent and case.marked is None and case.too_long, _long, _says_long),
    Reason("filter", "the pieces filter does not allow its token",
           lambda case: case.absent and case.marked is None and not case.too_long and case.refused,
           _filtered, _says_filtered),
    Reason("missing", "no merge joins its tokens",
           lambda case: case.merges and _fate("")(case), _missing, _says_missing),
    Reason("absent", "no word of the corpus is spelled that way", _fate("absent"), _awaited, _says_absent),
    Reason("comes", "continued training makes it one token", _fate("comes"), _awaited, _says_comes),
    Reason("overtaken", "continued training merges its tokens with others", _fate("overtaken"), _awaited,
           _says_overtaken),
    Reason("waits", "its pair is still in the queue", _fate("waits"), _awaited, _says_waits),
    Reason("dropped", "training dropped its piece", _fate("dropped"), _awaited, _says_dropped),
    Reason("no-token", "no token is spelled that way", lambda case: not case.merges and _fate("")(case),
           _pieces,
           _says_none),
    Reason("not-utf8", "its bytes are not valid UTF-8", _at(BROKEN), _nothing,
           lambda case, facts: "only invalid UTF-8 becomes it", where="bytes"),
    Reason("covered", "its character has its own token", _at(COVERED), _nothing,
           lambda case, facts: "each character with this byte has its own token", where="encoder"),
    Reason("context", "other tokens take its place", _at(CONTEXT), _nothing,
           lambda case, facts: "every text tried that contains it becomes other tokens",
           where="encoder"),
)}
"""The reasons, by name. For any text exactly one holds; for a token that no text becomes, one with `where`.
"""
