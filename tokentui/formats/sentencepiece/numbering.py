"""The ids that a tokenizer class of transformers gives to the pieces of a `.model`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tokentui.formats.classes import Numbering
from tokentui.formats.sentencepiece import BYTE, CONTROL, LISTED, SPELLED, UNKNOWN, Piece, Proto


def number(proto: Proto, numbering: Numbering, unknown: str, listed: Mapping[str, int]) -> None:
    """Give the pieces of a model the ids of a class, and add the tokens that only the class has.

    Args:
        proto: The model, which is changed in place.
        numbering: The rules of the class.
        unknown: The unknown token of the class.
        listed: The ids of a `vocab.json`, for a class that has one.
    """
    first = listed or {name: id_ for id_, name in enumerate(numbering.first)}
    after = max(listed.values()) + 1 if listed else numbering.offset + len(proto.pieces)
    unknown_id = first.get(unknown)
    made: list[tuple[int, Piece]] = []  # pieces that text becomes
    others = {after + n: Piece(name, 0.0, CONTROL) for n, name in enumerate(numbering.last)}
    for n, piece in enumerate(proto.pieces):
        id_ = first.get(piece.text, n + numbering.offset)
        if piece.text not in first and unknown_id is not None and (listed or n == 0):
            id_ = unknown_id
        if piece.kind in (*SPELLED, BYTE):
            made.append((id_, piece))
        else:
            others.setdefault(id_, piece)
    taken = {id_ for id_, _ in made}
    for name, id_ in first.items():
        if id_ not in taken:
            others[id_] = replace(others.get(id_, Piece(kind=LISTED if listed else CONTROL)), text=name)
    if unknown_id is not None:
        others = {id_: replace(piece, kind=CONTROL) if piece.kind == UNKNOWN else piece
                  for id_, piece in others.items()}
        others[unknown_id] = Piece(unknown, 0.0, UNKNOWN)
    rows = sorted([*others.items(), *made], key=lambda row: (row[0], row[1].kind != UNKNOWN))
    proto.renumbered = [id_ for id_, _ in rows]
    proto.pieces = [piece for _, piece in rows]
