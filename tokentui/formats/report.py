"""Reports on writing a tokenizer to a file format: what is lost, why it is refused, on how many texts it was checked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loss:
    """What a file format cannot hold of a tokenizer.

    `what` names it in a word or two, `consequence` says what comes of that, `example` shows it (may be empty).
    """

    what: str
    consequence: str
    example: str = ""


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What becomes of a tokenizer in a file format.

    Attributes:
        format: The name of the format.
        about: What it is, in a few words.
        files: The names of its files where it has several, else the end of a usual name.
        losses: What it cannot hold.
        refused: Why it is not written, empty where it is.
        checked: On how many texts the written file was found to give the same, 0 where that was not tried.
    """

    format: str
    about: str
    files: tuple[str, ...]
    losses: tuple[Loss, ...] = ()
    refused: str = ""
    checked: int = 0
