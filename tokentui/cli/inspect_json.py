"""What `tokentui inspect --json` prints: facts as one JSON object. Texts are for people, hex is the exact form."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from tokentui.analyze.results import Answers, Check, Health, TokenFacts, UnusedToken, Ways
from tokentui.analyze.strings import StringFacts, WordFacts
from tokentui.encode import MergeStep
from tokentui.encode.segment.parts import Step
from tokentui.encode.tokenizer import Tokenizer
from tokentui.tokenizer import LARGEST


def report(tok: Tokenizer, health: Health, checks: Sequence[Check], asked: Answers | None) -> dict[str, Any]:
    """A tokenizer: its recipe and run, its health, and what a corpus makes of it."""
    return {
        "tokenizer": {
            "recipe": tok.recipe.to_dict(), "run": dict(tok.run), "vocab_size": health.vocab_size, "first_id": health.first_id,
            "merges": health.merges, "kinds": dict(health.kinds), "scripts": dict(health.scripts),
            "lengths": {str(length): count for length, count in health.lengths}, "notes": list(tok.notes),
        },
        "health": {
            "longest": [_token(number, piece) for number, piece in health.longest],
            "unreachable": [_token(number, piece) | {"why": why} for number, piece, why in health.unreachable],
            "duplicates": [_piece(piece) | {"ids": list(ids)} for piece, ids in health.duplicates],
            "not_utf8": [_token(number, piece) for number, piece in health.broken],
            "spaces": [_token(number, piece) for number, piece in health.spaces],
            "missing_bytes": list(health.missing_bytes),
            "holes": [list(hole) for hole in health.holes],
            "shared_ids": list(health.shared),
        },
        "checks": [_check(check) for check in checks],
        "corpus": None if asked is None else _corpus(asked),
    }


def string(
    text: str | None, facts: TokenFacts | None, found: StringFacts | None, used: tuple[int, UnusedToken | None] | None
) -> dict[str, Any]:
    """A string, or the token of an id."""
    encoding = found.encoding if found is not None else None
    row: dict[str, Any] = {
        "string": text,
        "token": None if facts is None else _facts(facts),
        "uses": None if used is None else {"count": used[0]} | (_why(used[1]) if used[1] else {"why": None, "into": []}),
    }
    if found is not None:
        names = ("ids", "tokens", "hex", "offsets")
        row["encoding"] = None if encoding is None else {name: getattr(encoding, name) for name in names}
        row["error"] = found.refusal or None
        row["why"] = found.why
        row["words"] = [_word(word) for word in found.words]
    return row


def _piece(piece: bytes) -> dict[str, Any]:
    return {"text": piece.decode("utf-8", "replace"), "hex": piece.hex()}


def _token(number: int | None, piece: bytes) -> dict[str, Any]:
    return {"id": number} | _piece(piece)


def _why(one: UnusedToken) -> dict[str, Any]:
    return {"why": one.why, "into": [_piece(piece) for piece in one.into]}


def _check(check: Check) -> dict[str, Any]:
    row = {name: getattr(check, name) for name in ("name", "title", "about", "status", "observed", "threshold", "value", "count")}
    return row | {"examples": [_token(one.id, one.piece) | {"note": one.note} for one in check.examples]}


def _corpus(asked: Answers) -> dict[str, Any]:
    return {
        "units": asked.units,
        "tokens": asked.tokens,
        "used": asked.used,
        "unused": [_token(one.id, one.piece) | {"kind": one.kind} | _why(one) for one in asked.unused],
        "document_count": asked.document_count,
        "documents": [dataclasses.asdict(document) for document in asked.documents],
        "exhausted": None if asked.exhausted is None else dataclasses.asdict(asked.exhausted),
    }


def _facts(facts: TokenFacts) -> dict[str, Any]:
    return _token(facts.id, facts.piece) | {
        "kind": facts.kind,
        "score": facts.score,
        "code_points": list(facts.code_points),
        "units": [unit.hex() for unit in facts.units],
        "step": facts.step,
        "count": facts.count,
        "parents": [_piece(piece) for piece in facts.parents],
        "children": [_token(number, piece) for number, piece in facts.children],
        "child_count": facts.child_count,
        "tree": [{"depth": one.depth, "step": one.step} | _token(one.id, one.piece) for one in facts.tree],
        "tree_size": facts.tree_size,
        "others": [_token(number, piece) for number, piece in facts.others],
        "unreachable": facts.unreachable or None,
        "marks": list(facts.marks),
    }


def _word(word: WordFacts) -> dict[str, Any]:
    told = word.explanation
    return {
        "text": told.text,
        "offsets": [told.start, told.end],
        "units": [unit.hex() for unit in told.units],
        "steps": [_step(step) for step in told.steps],
        "ids": list(told.ids),
        "ways": None if word.ways is None else _ways(word.ways),
        "lattice": [
            {"start": edge.start, "end": edge.end, "score": edge.score, "posterior": edge.posterior, "best": edge.best,
             "token": edge.symbol is not None} | _piece(edge.piece)
            for edge in word.lattice
        ],
    }


def _step(step: Step) -> dict[str, Any]:
    if isinstance(step, MergeStep):
        pieces = [step.left.hex(), step.right.hex(), step.result.hex()]
        return {"step": step.rank + 1, "hex": pieces, "start": step.start, "middle": step.middle, "end": step.end}
    return {"hex": step.candidate.hex(), "start": step.start, "end": step.end, "found": step.found}


def _ways(ways: Ways) -> dict[str, Any]:
    return {
        "count": ways.count if ways.count <= LARGEST else str(ways.count),
        "first": [{"hex": [piece.hex() for piece in way], "score": score} for way, score in ways.ways],
        "chosen": [piece.hex() for piece in ways.chosen],
        "how": ways.how,
    }
