"""Live comparisons with other libraries: the corpora, the texts to encode, and the first step that differs.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from trainers import merge_steps

from tokentui.learn import Trainer
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

CORPORA = (
    "english", "indonesian", "japanese", "chinese", "arabic", "hindi", "korean", "finnish", "turkish",
    "emoji", "python",
    "numbers",
)
"""The built-in corpora that are texts; the others are examples of a line."""

PROBES = (
    "",
    "a",
    "The kettle that nobody could mend is humming again.",
    "I'll say it's what they've said: WE'RE late, aren't we?",
    "  two  spaces,\ttabs\t\tand\n\nempty lines \n at the end  ",
    "1234567 3.14 2026-11-05 +49 (0)30 ½ ² Ⅷ ٣٤",
    "def f(x):\n    return {k: v[0] for k, v in x.items()}  # done\n",
    "雨の日の図書館で、傘を忘れた。",
    "修钟表的人说：“时间不等人”。",
    "في المخبز خبزٌ طازج كلَّ صباح",
    "आख़िरी बस छूट गई, क्या करें?",
    "옥상 텃밭에 상추를 심었다",
    "Saunapolulla käveltiin hiljaa; İstanbul'da vapur ığdır ÇŞÖ",
    "👩‍👩‍👧 🇫🇮🇹🇷 👍🏽 ok 🙃🙃🙃",
    "naïve café, cafe\u0301, \u2028\u00a0\u3000\ufeff",
    "<|endoftext|> </w> ## ▁ @@ \\1 \u0000\u007f",
    "xyzzyqwv ꙮ \U0001f9ff \U00013000",
)
"""What is encoded after a training: every script of the corpora, and much that none of them has."""

Merge = tuple[bytes, bytes]


@functools.cache
def corpus(name: str) -> Corpus:
    """A built-in corpus, read once."""
    return read(f"sample:{name}")


def text(name: str) -> str:
    """The text of a built-in corpus."""
    (document,) = corpus(name).documents
    return document


def lines(name: str) -> Corpus:
    """A built-in corpus as a document a line."""
    return Corpus.from_lines(text(name).split("\n"), name)


def merges(trainer: Trainer) -> list[Merge]:
    """The pairs of a run in order."""
    return [(step.left, step.right) for step in merge_steps(trainer)]


def made(trainer: Trainer) -> list[bytes]:
    """The tokens that a run made in order."""
    return [step.token for step in merge_steps(trainer)]


def same_steps(ours: Sequence[object], theirs: Sequence[object]) -> None:
    """Fail at the first step that differs, or where one list ends before the other.

    A comparison of nothing with nothing fails as well.
    """
    assert theirs, "the other library made no step"
    for step, (our, their) in enumerate(zip(ours, theirs, strict=False), 1):
        assert our == their, f"the first step that differs is {step}: ours {our!r}, theirs {their!r}"
    assert len(ours) == len(theirs), (
        f"the first {min(len(ours), len(theirs))} steps are the same, then one ends"
    )
