"""Encode a text by BPE-dropout, and keep each random draw."""

from __future__ import annotations

from tokentui.core.choices import Choice, Parameter
from tokentui.core.errors import TokentuiError, nearest, shown
from tokentui.core.records import dataclass
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.encoding import Encoding
from tokentui.encode.segment import DROPOUT
from tokentui.encode.segment.dropout import LIKE, Draw, P
from tokentui.encode.vocabulary import Vocabulary

SEEDS = 1 << 31
"""Upper bound of seeds that are chosen here."""
DRAWN = Choice(
    "dropout", "merges of which some are left out at random",
    parameters=(
        Parameter("p", "the share of candidate merges to skip", str(P), str),
        Parameter("like", "the library whose sampling to reproduce", next(iter(LIKE)), str),
    ),
)
"""How a user names sampling with merges: `dropout:p=0.1,like=tokenizers`."""


@dataclass(frozen=True, slots=True)
class DrawnWord:
    """A pre-token with its draws.

    Attributes:
        text: The pre-token.
        units: Its units.
        draws: The draws in order; places in them are indices of `units`.
        pieces: The exact bytes of its tokens; None for an unknown one.
        ids: The ids of its tokens; None for a token without an id.
    """

    text: str
    units: tuple[bytes, ...]
    draws: tuple[Draw, ...]
    pieces: tuple[bytes | None, ...]
    ids: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A sampled encoding of a text, with its draws.

    Attributes:
        encoding: Its tokens.
        words: Its pre-tokens.
        p: The share of candidates that are dropped.
        like: The library whose draws these are.
        seed: The seed. The same seed gives the same draws.
    """

    encoding: Encoding
    words: tuple[DrawnWord, ...]
    p: float
    like: str
    seed: int


def encode_with_dropout(
    vocabulary: Vocabulary, merges: int, text: str | bytes, p: float = P, like: str = "tokenizers",
    seed: int | None = None,
) -> Drawn:
    """Encode a text by BPE-dropout, and return the tokens with the random draws that led to them.

    Each occurrence of a pre-token has new draws; see `tokentui.encode.segment.dropout`. A symbol of the
    recipe is a pre-token without draws. Special tokens are not read from the text. The result has the seed,
    also if it was chosen here.

    Args:
        vocabulary: A vocabulary with merges.
        merges: How many merges count.
        text: The text.
        p: The share of candidates that are dropped, from 0 to 1.
        like: A name of `LIKE`.
        seed: The seed; None to choose one at random.

    Raises:
        TokentuiError: The text cannot be encoded, the vocabulary has no merges, or p, `like` or the seed is
            invalid.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | None):
        raise TokentuiError(f"not a whole number: {shown(seed)}", "seed", "for example 1, or None")
    from random import randrange  # only where one draws

    seed = randrange(SEEDS) if seed is None else seed
    log: list[list[Draw]] = []
    encoder = WordEncoder(vocabulary, merges, way=DROPOUT.with_tables(p=p, like=like, seed=seed, log=log))
    encoding = encoder.encode(text)
    words, logged = [], iter(log)
    of_word: dict[int, list[int]] = {}
    for at, word in enumerate(encoding.words):
        of_word.setdefault(word, []).append(at)
    number = 0
    for part in encoder.stretches(encoding.text, False):
        for pretoken in part if isinstance(part, list) else ():
            units = encoder.pretokenizer.units(pretoken.text)
            units = [units[at] for at in encoder.kept_indices(units)]
            tokens = of_word.get(number, [])
            draws = () if pretoken.text in encoder.pretokenizer.symbols else tuple(next(logged))
            words.append(DrawnWord(
                pretoken.text, tuple(units), draws, tuple(encoding.pieces[at] for at in tokens),
                tuple(encoding.ids[at] for at in tokens),
            ))
            number += 1
    return Drawn(encoding, tuple(words), float(p), like, seed)


def read_sample(text: str) -> tuple[float, str]:
    """Parse `dropout` or `dropout:p=0.1,like=tokenizers`. Return the share p and the library.

    Raises:
        TokentuiError: The text is invalid.
    """
    name = text.partition(":")[0]
    if name != DRAWN.name:
        raise TokentuiError(f"no way to sample: {text[:40]!r}", "--sample", nearest(name, [DRAWN.name]))
    arguments = DRAWN.arguments(text)
    like = LIKE.check(str(arguments["like"])).name
    try:
        return float(str(arguments["p"])), like
    except ValueError:
        raise TokentuiError("expected a share from 0 to 1", f"p={arguments['p']}",
            f"for example {P}") from None
