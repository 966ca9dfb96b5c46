"""What the screens show, with hostile texts wherever data may stand."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from hostile import raw
from objectives import GAGE, SCORE_RECIPE, UNIGRAM_RECIPE
from rows import loss_row, pair_row, replay_row, token_row

from tokentui.analyze.results import (
    CheckResult,
    DeadToken,
    DocumentSaved,
    Example,
    Exhausted,
    HealthReport,
    SharedSpelling,
    Token,
    UnusedToken,
    VocabularyFacts,
    VocabularyReport,
    WordSegmentations,
)
from tokentui.encode.encoding import EncodedToken
from tokentui.formats.proof import ExportReport
from tokentui.formats.spec import Loss
from tokentui.learn import (
    Column,
    Compressed,
    Entry,
    PairCandidate,
    PieceCandidate,
    Round,
    TokenCandidate,
    Traits,
    Why,
)
from tokentui.recipe import Recipe
from tokentui.session.persist.session_file import Branch, SavedSession
from tokentui.session.snapshot import PiecePart, PiecesView, PreviewView
from tokentui.session.views import (
    Busy,
    CorpusPart,
    CorpusPlace,
    CorpusView,
    EncodedView,
    OpenedView,
    StageView,
    TokenSpan,
)

REPLAY_COLUMNS = (Column("parts", "", "tokens"), Column("places", "", "count"), Column("place", "", "text"))
"""The columns of the tokens of a file."""


class Poison:
    """Values made of a few texts.

    Args:
        texts: The texts, none of them twice.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(texts)
        self.pieces = tuple(raw(one) for one in texts if one) or (b"\x1b",)
        self._texts, self._pieces = itertools.cycle(self.texts), itertools.cycle(self.pieces)

    @property
    def text(self) -> str:
        """The next text."""
        return next(self._texts)

    @property
    def piece(self) -> bytes:
        """The bytes of the next one."""
        return next(self._pieces)

    # Rows.

    def pairs(self, scored: bool = False, spelled: bool = False) -> tuple[PairCandidate, ...]:
        """Each text as a pair, in two halves; with the uses of its parts, or with what it stands for in the
        end."""
        cuts = [(one[: len(one) // 2], one[len(one) // 2 :], one) for one in self.pieces]
        uses = 9 if scored else 0
        return tuple(pair_row(a, b, c, 900 - n, n % 5 - 2, n % 3 == 0, n % 2 == 0, uses, uses,
            self.piece if spelled else b"")
                     for n, (a, b, c) in enumerate(cuts))  # fmt: skip

    def replayed(self) -> tuple[TokenCandidate, ...]:
        """Each text as a token of an opened file."""
        return tuple(
            replay_row(one, (self.piece, self.piece, self.piece), n + 1, 9, 3, self.text)
            for n, one in enumerate(self.pieces)
        )  # fmt: skip

    def losses(self) -> tuple[PieceCandidate, ...]:
        """Each text as a piece by loss."""
        return tuple(
            loss_row(one, 0.1, 3.5, 2, 1e-6 * n, (self.piece, self.piece), self.text if n % 2 == 0 else "")
            for n, one in enumerate(self.pieces)
        )

    def vocabulary(self) -> tuple[Entry, ...]:
        """Each text as an entry, of every kind."""
        kinds = itertools.cycle(("merge", "special", "base", "orphan", "piece", "left"))
        return tuple(
            token_row(None if (kind := next(kinds)) == "left" else n, one, kind, n, n, n,
            -0.5 if kind in ("piece",
                "left") else None,
                     self.text if kind in ("left", "orphan") else "",
                     (self.piece, self.piece) if kind == "merge" else ())
            for n, one in enumerate(self.pieces)
        )  # fmt: skip

    def corpus(self, counted: bool = False) -> CorpusView:
        """Each text as a word of two tokens, with what is dropped between."""
        parts: list[CorpusPart] = []
        at = 0
        for n, one in enumerate(self.texts):
            half = len(one) // 2
            spans = (
                (TokenSpan(0, half, n % 3 == 0, n % 4 == 0), TokenSpan(half, len(one), n % 5 == 0, False))
                if one
                else ()
            )
            parts.append(CorpusPart(CorpusPlace(0, at), one, spans, n + 1 if counted else None))
            at += len(one)
            if not counted:
                parts.append(CorpusPart(CorpusPlace(0, at), "\n" if n % 3 == 0 else " ", ()))
                at += 1
        return CorpusView(CorpusPlace(), tuple(parts), True, True, 0.0)

    def encoded(self) -> EncodedView:
        """The texts as one that is typed."""
        ends = list(itertools.accumulate(map(len, self.texts)))
        tokens = tuple(
            EncodedToken(None if n % 7 == 0 else n, one, raw(one) if n % 7 else None, end - len(one), end, n)
            for n, (one, end) in enumerate(zip(self.texts, ends, strict=True))
            if one
        )
        return EncodedView("".join(self.texts), tokens, 99, None, (self.text, self.text))

    # Snapshots.

    def changes(self, number: int) -> dict[str, Any]:
        """What a snapshot has of them; the objective goes by the number."""
        base: dict[str, Any] = {
            "corpus_name": self.text, "corpus": self.corpus(number % 3 == 2), "encoding": self.encoded(),
            "engine": self.text,
            "vocabulary": (vocabulary := self.vocabulary()), "vocab_size": len(vocabulary),
            "busy": Busy(self.text, 1, 9) if number % 4 == 3 else None,
        }  # fmt: skip
        pairs: Any = self.pairs()
        objective = number % 5
        if objective == 1:
            stages = tuple(StageView(self.text, self.text, n % 2 == 0, self.text) for n in range(4))
            pairs = self.replayed()
            base["traits"] = Traits(step="token", candidate="token", columns=REPLAY_COLUMNS, replays=True)
            base["opened"] = OpenedView(
                self.text, self.text, self.text, 90, 99, stages, (self.text, self.text)
            )
        elif objective == 2:
            base["recipe"], pairs = SCORE_RECIPE, self.pairs(scored=True)
        elif objective == 3:
            pairs = self.losses()
            base |= {"recipe": UNIGRAM_RECIPE, "last": None, "last_id": None}
        elif objective == 4:
            base["recipe"], pairs = GAGE["recipe"], self.pairs(spelled=True)
        end = self.text if number % 6 == 5 else None
        facts = (self.text, self.text)
        if objective == 3:
            why = Why(None, None, 0, 0, "", end, facts, Round("em", 2, 90, 2, 8.0, 8.1, "prune", 12, 2))
        else:
            best, other = pairs[0], pairs[-1]
            why = Why(
                None if end else best, None if end else other, 3 if number % 2 else 1, 9, "lowest-ids", end,
                facts,
            )
            base |= {"last": best, "last_id": 1}
        return {**base, "pairs": pairs, "pairs_total": len(pairs), "why": why}

    # VocabularyReport.

    def answers(self) -> VocabularyReport:
        """To the questions that a vocabulary raises."""
        whys = ("special", "byte", "swallowed", "not in the corpus", "not chosen", "unreachable")
        unused = tuple(
            UnusedToken(n, one, "merge", whys[n % 6], (self.piece, self.piece))
            for n, one in enumerate(self.pieces)
        )
        documents = tuple(DocumentSaved(n, one, 900, 400) for n, one in enumerate(self.texts))
        ways = tuple(WordSegmentations(
            one, 3, (((raw(one),), -0.5), ((self.piece, self.piece), None)), (self.piece,),
            self.text) for one in self.texts[:8])
        return VocabularyReport(
            9, 99, 50, unused, 900, 400, documents, 9, Exhausted(9, 99, 300, 5, 9, self.text), ways
        )

    def report(self) -> HealthReport:
        """Facts and health."""
        rows = tuple(Token(n, one) for n, one in enumerate(self.pieces))
        dead = tuple(DeadToken(*row, self.text) for row in rows)
        alike = tuple(SharedSpelling(one, (1, 2)) for one in self.pieces)
        health = VocabularyFacts(
            99, 0, 9, (("merge", 9), ("base", 90)), rows, dead, alike, rows, rows, (7, 27),
            (("Latin", 9), ("Common", 3)), ((1, 9), (2, 3)), ((3, 5),), (7,),
        )  # fmt: skip
        examples = tuple(Example(n if n % 2 else None, one, self.text) for n, one in enumerate(self.pieces))
        checks = tuple(
            CheckResult(
                f"check-{status}", self.text, self.text, status, self.text, self.text, 1.0, len(examples),
                examples,
            )
            for status in ("PASS", "WARN", "FAIL", "n/a")
        )
        return HealthReport(9, health, checks)

    def preview(self, error: bool = False) -> PreviewView:
        """The first steps of a recipe."""
        return PreviewView(self.pairs(), (self.text, self.text), self.text, 999, self.text if error else "")

    def cut(self) -> PiecesView:
        """The texts as pieces."""
        ends = list(itertools.accumulate(map(len, self.texts)))
        parts = tuple(
            PiecePart(one, end - len(one), end, n % 3 if n % 4 else None)
            for n, (one, end) in enumerate(zip(self.texts, ends, strict=True))
            if one
        )
        return PiecesView(
            self.text, (self.text, self.text, self.text), parts, CorpusPlace(), parts, 9, 9, 9, self.text
        )

    def reports(self) -> tuple[ExportReport, ...]:
        """What formats would lose."""
        losses = tuple(Loss(self.text, self.text, self.text) for _ in range(3))
        return (
            ExportReport("tokentui", self.text, (".json",), losses),
            ExportReport("tiktoken", self.text, ("a\x1b[2J.tiktoken",), losses, refused=self.text),
            ExportReport("gpt2", self.text, ("vocab.json", "merges.txt"), losses, checked=9),
        )

    def compressed(self) -> Compressed:
        """The texts as Gage leaves them."""
        data = b"".join(self.pieces)[:3000]
        table = tuple((65 + n % 26, one[0], one[-1], one) for n, one in enumerate(self.pieces))
        names = {byte: chr(byte) for byte in range(65, 91)}
        return Compressed(data, (), table, names, len(data), 9, 99)

    def kept(self) -> SavedSession:
        """A session that a line cut off."""
        recipe = Recipe()
        return SavedSession(
            (self.text, self.text), tokenizer=self.text, split=self.text, scratch=None,
            training=Branch(recipe, step=9), branches=(Branch(recipe),), typed=self.text,
            columns=(self.text, Branch(recipe)),
        )
