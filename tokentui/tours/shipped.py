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
    Shipped("spelling", "Why a model cannot spell, or count the letters of strawberry"),
    Shipped("trailing-space", "A space at the end of a prompt"),
    Shipped("drift", "Ids that change when they are decoded and encoded again"),
    Shipped("ranks", "Merges from a file of ranks"),
    Shipped("digits", "Digits by three, from the left or from the right"),
    Shipped("json-yaml", "The same data as JSON and as YAML"),
    Shipped("chat-template", "What a chat template adds"),
    Shipped("rtl", "From right to left, and marks that combine"),
    Shipped("languages", "A language that pays five times"),
)
"""The tours. The first of them have numbers on the first screen."""
FIRST = TOURS[:6]
"""The tours that the first screen shows."""
