"""A text on its way through a tokenizer, up to the place where it stops being one token.

`tokentui.encode.why_not` has the reasons, each of which asks a case. What a training knows beyond the
vocabulary (the counts of pairs, the steps to come) comes in as an `Outlook`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tokentui.core.records import dataclass
from tokentui.core.safetext import safe, to_bytes, visible
from tokentui.encode.decode import spelled_units
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.segment import WAYS, Part
from tokentui.encode.tokenizer import Entry, Tokenizer
from tokentui.encode.vocabulary import Special, Vocabulary, byte_token
from tokentui.text.pretokenize import PreToken
from tokentui.text.split import SPACE_MARK

_SHOWN = 8


class Prospect(NamedTuple):
    """The future of a text that a training has made no token of.

    Attributes:
        fate: `absent` (no word of the corpus has its units), `comes` (training on makes it),
            `overtaken` (training on never makes it), `waits` (that is not known as far as was trained on),
            `dropped` (it was a piece); empty where there is no training.
        facts: The values behind that.
    """

    fate: str = ""
    facts: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class Outlook:
    """The knowledge of a training: the tokens that it makes, and the future of a text.

    Attributes:
        max_length: The greatest number of units of a token; None for any.
        refuses: True if the filter of the recipe forbids a token, by its exact bytes.
        prospect: Tells of a case that only lacks a merge.
    """

    max_length: int | None = None
    refuses: Callable[[bytes], bool] = lambda piece: False
    prospect: Callable[[Case], Prospect] = lambda case: Prospect()


NO_OUTLOOK = Outlook()

EMPTY, WHOLE, SPECIAL, CHANGED, NAMED = "empty", "whole", "special", "changed", "named"
NOTHING, CUT, WORD = "nothing", "cut", "word"
"""The places where a text stops: it is empty; one token; the name of a special token; changed before it is
looked up; holds a name; nothing is left; several words are; one word is, which the encoder takes apart."""
TWIN, BROKEN, COVERED, CONTEXT = "twin", "broken", "covered", "context"
"""The places where a token stops besides: another one is spelled alike; no UTF-8 has its bytes; the
characters that have its byte are tokens; its units become it, but not where a text has them."""


class Case:
    """A text on its way through a tokenizer.

    Args:
        tokenizer: The tokenizer.
        text: The text.
        outlook: What is known of the training.
        entry: Where the question is why no text becomes a token: the token. `text` is its own text then.
        held: True if words of some texts have the units of that token side by side.
    """

    def __init__(
        self, tokenizer: Tokenizer, text: str, outlook: Outlook = NO_OUTLOOK, *, entry: Entry | None = None,
        held: bool = False,
    ) -> None:
        self.text, self.outlook, self.entry, self.held = text, outlook, entry, held
        self.symbol = None if entry is None else entry.symbol
        self.encoder: WordEncoder = tokenizer.encoder
        self.vocabulary, self.recipe = tokenizer.vocabulary, tokenizer.recipe

    # ---- the way of the text

    @functools.cached_property
    def found(self) -> list[Special | PreToken]:
        """The words of the text, and what stands in it by its name."""
        symbols = self.encoder.pretokenizer.symbols
        found: list[Special | PreToken] = []
        for part in self.encoder.stretches(self.text, False):
            for one in [part] if isinstance(part, Special) else part:
                if isinstance(one, PreToken) and one.text in symbols:
                    one = Special(one.text, one.start, one.end)
                found.append(one)
        return found

    @functools.cached_property
    def normalized(self) -> str:
        """The text after normalising."""
        return self.encoder.pretokenizer.normalized(self.text)

    @functools.cached_property
    def stage(self) -> str:
        """The place where the text stops."""
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
            return SPECIAL if not byte else COVERED if self.held else BROKEN
        if self.symbol is not None and not _is_text(self.piece):
            return CONTEXT if self.held else BROKEN
        if self.changed and (self.symbol is not None or self.typed is not None):
            return CHANGED
        if any(isinstance(one, Special) for one in self.found):
            return NAMED
        if not self.found:
            return NOTHING
        if self.entry is not None:
            return CONTEXT if self.held else CUT
        return CUT if len(self.found) > 1 else WORD

    @functools.cached_property
    def whole(self) -> int | None:
        """The id of the one token that the text becomes, None where it becomes none or several."""
        if len(self.found) != 1:
            return None
        if isinstance(one := self.found[0], Special):
            return self.vocabulary.special_id(one.name)
        tokens, units = self.encoder.word(one.text), self.encoder.pretokenizer.units(one.text)
        if len(tokens) != 1 or tokens[0].unknown or len(self.encoder.kept(units)) < len(units):
            return None
        return tokens[0].id

    @functools.cached_property
    def byte(self) -> int | None:
        """The id of the byte-fallback token whose name the text is."""
        vocabulary = self.vocabulary
        known = range(256) if vocabulary.byte_tokens else vocabulary.byte_symbols
        return next((vocabulary.byte_id(value) for value in known if byte_token(value) == self.text), None)

    @functools.cached_property
    def changed(self) -> bool:
        """True if the normalisation changes the text also inside another one."""
        normal = self.encoder.pretokenizer.normalized(f"a {self.text} a")
        return self.text not in normal and self.text.replace(" ", SPACE_MARK) not in normal

    # ---- the one word

    @functools.cached_property
    def word(self) -> str:
        """The word that the text is."""
        if self.symbol is not None:
            return self.piece.decode("utf-8", "replace")
        return next(one.text for one in self.found if isinstance(one, PreToken))

    @functools.cached_property
    def characters(self) -> int:
        """Its characters; of a token those of the shortest word that may hold it."""
        return len(self.word) if self.symbol is None else shortest_word(self.vocabulary, self.symbol)

    @functools.cached_property
    def units(self) -> tuple[bytes, ...]:
        """Its units."""
        if self.symbol is not None:
            return spelled_units(self.encoder, self.symbol)
        return tuple(self.encoder.pretokenizer.units(self.word))

    @functools.cached_property
    def kept(self) -> list[bytes]:
        """The units that take part."""
        return [self.units[at] for at in self.encoder.kept(self.units)]

    @functools.cached_property
    def piece(self) -> bytes:
        """The bytes of the token that the units would be."""
        if self.symbol is not None:
            return self.vocabulary.spelled(self.symbol)
        prefix = self.vocabulary.prefix
        return b"".join((*self.units[:1], *(unit.removeprefix(prefix) for unit in self.units[1:])))

    @functools.cached_property
    def parts(self) -> list[Part]:
        """The parts that the encoder makes of the units, before any policy for unknown ones."""
        return self.encoder.segmenter.segment(self.kept, self.characters)

    @functools.cached_property
    def pieces(self) -> tuple[bytes | str, ...]:
        """The tokens that the word becomes, an unknown one by its name."""
        if self.symbol is None:
            tokens = self.encoder.word(self.word)
            return tuple(token.text if token.piece is None else token.piece for token in tokens)
        spelled = self.vocabulary.spelled
        return tuple("unknown" if part.symbol is None else spelled(part.symbol) for part in self.parts)

    @property
    def merges(self) -> bool:
        """True if the encoder merges."""
        return WAYS.of(self.recipe.encode).needs == "merges"

    @functools.cached_property
    def given_up(self) -> bool:
        """True if the word has too many characters for the encoder."""
        parts = self.parts
        return self.encoder.way.gives_up(self.characters) and len(parts) == 1 and parts[0].unknown

    @functools.cached_property
    def unknown(self) -> bytes | None:
        """The first unit that the encoder finds no token for."""
        held = set(self.encoder.kept(self.units))
        dropped = next((unit for at, unit in enumerate(self.units) if at not in held), None)
        if dropped is not None or self.given_up:
            return dropped
        bytes_ = set(self.vocabulary.byte_symbols.values())
        lacking = (part for part in self.parts if part.symbol is None or part.symbol in bytes_)
        return next((self.kept[part.start] for part in lacking), None)

    @functools.cached_property
    def _spelled(self) -> dict[bytes, list[int]]:
        """The symbols of each spelling that matters here."""
        wanted = {self.piece, *self._forms, *self._typed}
        found: dict[bytes, list[int]] = {}
        for symbol in range(len(self.vocabulary.pieces)):
            if (piece := self.vocabulary.spelled(symbol)) in wanted:
                found.setdefault(piece, []).append(symbol)
        return found

    @functools.cached_property
    def _there(self) -> tuple[int | None, int | None]:
        """The symbol that these units spell, and the one that comes into use later."""
        if self.symbol is not None:
            return self.symbol, None
        now = later = None
        for symbol in self._spelled.get(self.piece, ()):
            if spelled_units(self.encoder, symbol) == self.units:
                if self.made(symbol) <= self.encoder.merges:
                    now = symbol if now is None else now
                elif not self.left(symbol):
                    later = symbol if later is None else later
        return now, later if now is None else None

    @property
    def target(self) -> int | None:
        """The symbol of the token that the units spell, where it is in use."""
        return self._there[0]

    @property
    def later(self) -> int | None:
        """The symbol of the token that comes into use at a known step, where none is there now."""
        return self._there[1]

    def made(self, symbol: int) -> int:
        """The step at which a symbol comes into use, past all for one that never does."""
        limit = self.vocabulary.limit
        if limit is not None:
            number, made = limit
            return made[symbol] - number + self.encoder.merges
        if self.left(symbol):
            return len(self.vocabulary.sizes)
        return self.vocabulary.made_at(symbol)

    def left(self, symbol: int) -> bool:
        """True if steps took a symbol out of the vocabulary, or named it alone."""
        vocabulary, merges = self.vocabulary, self.encoder.merges
        return vocabulary.eventful and vocabulary.made_at(symbol) <= merges and (
            not vocabulary.is_there(symbol, merges)
        )

    @functools.cached_property
    def _forms(self) -> dict[bytes, str]:
        """The spellings that differ from the word in its mark or its space alone, and where they stand."""
        vocabulary, mark, space = self.vocabulary, self.vocabulary.mark, to_bytes(SPACE_MARK)
        plain = b"".join(map(vocabulary.bare, self.units))
        forms = {
            b" " + plain: "which begins with a space",
            space + plain: "which begins a word after a space",
            plain.removeprefix(b" "): "which has no space in front",
            plain.removeprefix(space): "which stands inside a word only",
        }
        if vocabulary.prefix:
            forms[mark + plain] = "which stands inside a word only"
        elif mark:
            forms[plain.removesuffix(mark)] = "which does not end a word"
        return {piece: where for piece, where in forms.items() if piece not in (self.piece, b"")}

    @functools.cached_property
    def marked(self) -> tuple[int, str] | None:
        """A token that differs in its mark or its space alone, and where it stands."""
        for piece, where in self._forms.items():
            for symbol in self._spelled.get(piece, ()):
                if self.made(symbol) <= self.encoder.merges:
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
        """The symbol of a token that is spelled as the text is typed."""
        wanted = set(self._typed)
        symbols = self.vocabulary.symbols(self.encoder.merges)
        return next((one for one in symbols if self.vocabulary.spelled(one) in wanted), None)

    # ---- flags of one word, of which the predicates are made

    @functools.cached_property
    def lacks_unit(self) -> bool:
        """True if a unit without a token keeps the word from being one."""
        return self.unknown is not None and (self.merges or self.target is None)

    @property
    def passed_over(self) -> bool:
        """True if the token is there, its units are, and the encoder takes others."""
        return (
            self.stage == WORD and self.target is not None and not (self.given_up or self.lacks_unit)
            and self.target not in self.vocabulary.never
        )

    @property
    def orphan(self) -> bool:
        """True if merges encode, and none makes the token."""
        target = self.target
        return target is not None and self.merges and target < self.vocabulary.base_size

    @functools.cached_property
    def absent(self) -> bool:
        """True if the vocabulary has no such token, now or later, and every unit."""
        if self.stage != WORD or self.given_up or self.lacks_unit:
            return False
        return self.target is None and self.later is None

    @functools.cached_property
    def too_long(self) -> bool:
        """True if the training makes no token of so many units."""
        most = self.outlook.max_length
        return most is not None and len(self.units) > most

    @functools.cached_property
    def lacks_merge(self) -> bool:
        """True if all that is missing is a token."""
        return self.absent and not self.too_long and not self.refused

    @functools.cached_property
    def foreseen(self) -> bool:
        """True if the training tells what becomes of the word, and not only that no word of the corpus has
        its units.
        """
        return self.prospect.fate not in ("", "absent")

    @functools.cached_property
    def refused(self) -> bool:
        """True if the training makes no token that is spelled so."""
        return self.outlook.refuses(self.piece)

    @functools.cached_property
    def prospect(self) -> Prospect:
        """The future of the word, as the training says."""
        return self.outlook.prospect(self) if self.lacks_merge else Prospect()

    # ---- words for sentences

    @property
    def after(self) -> str:
        """A clause on the normalised text where it is another one."""
        return f", after normalising it to {shown(self.normalized)}," if self.normalized != self.text else ""

    @property
    def cut(self) -> str:
        """The tokens of the word, as the beginning of a sentence."""
        if self.symbol is not None:
            taken = (one if isinstance(one, str) else safe(one, limit=40) for one in self.pieces[:_SHOWN])
            return f"its own text is encoded as {' '.join(taken)}" + " …" * (len(self.pieces) > _SHOWN)
        return f"It is{self.after} {listed(self.pieces)}"

    def identity(self, symbol: int) -> int:
        """The id of a symbol."""
        return self.vocabulary.id_of(symbol, self.encoder.merges)



def shortest_word(vocabulary: Vocabulary, symbol: int) -> int:
    """Return the number of characters of the shortest word that may hold a token.

    A mark is no character. A token that continues a word has at least one character before it.
    """
    piece, (front, end) = vocabulary.spelled(symbol), vocabulary.mark_sizes(symbol)
    own = piece[front : len(piece) - end].decode("utf-8", "replace")
    return len(own) + (front > 0)


def _is_text(piece: bytes) -> bool:
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True


def shown(text: str | bytes) -> str:
    """A text of which every character can be seen, short."""
    return "".join(span.text for span in visible(text, limit=60))


def listed(texts: Sequence[str | bytes]) -> str:
    more = f" and {len(texts) - _SHOWN:,} more" if len(texts) > _SHOWN else ""
    return " | ".join(map(shown, texts[:_SHOWN])) + more
