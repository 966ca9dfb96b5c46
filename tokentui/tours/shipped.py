"""The tours that ship, by name and title: all that the table of actions needs of them."""

from __future__ import annotations

from typing import NamedTuple


class Shipped(NamedTuple):
    """A tour that ships with the program: its name and its title."""

    name: str
    title: str


TOURS = (
    Shipped("ties", "The tie in aaabdaaabac, and how five libraries break it"),
    Shipped("hugs", "hug and pug by BPE, WordPiece and Unigram"),
    Shipped("bytes", "Why an emoji costs four tokens, and Hindi more than English"),
    Shipped("numbers", "1234567 in GPT-2, GPT-4 and Llama"),
    Shipped("glitch", "A token that cannot be produced, and the life of a glitch token"),
    Shipped("gage", "Gage 1994: from compression to language models"),
)
"""The tours, in the order of their numbers on the first screen."""
