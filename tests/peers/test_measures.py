"""Measures against a recount by the owner's library, for each kind of tokenizer."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import owners
import peers
import pytest
from oracle import large

from tokentui.analyze.metrics import MEASURES, tally
from tokentui.text.corpus import Corpus

pytestmark = pytest.mark.peer

CORPORA = ("english", "hindi", "finnish")
PUBLISHED = (
    "bert-base-uncased/tokenizer.json", "gpt2/tokenizer.json", "llama2/tokenizer.json",
    "t5-small/tokenizer.json", "spm-llama2/tokenizer.model", "spm-xlnet-base-cased/spiece.model",
)
_BEFORE = "a a"
"""A text in front of each counted word, so that the word follows a space whatever a tokenizer adds."""


def recount(owner: owners.Owner, lines: list[str], unknown: int | None) -> dict[str, float]:
    """Compute every measure by its formula from the ids of the owner's library."""
    ids = [number for line in lines for number in owner.encode(line)]
    counts = Counter(ids)
    total = len(ids)
    shares = [count / total for count in counts.values()]
    words = Counter(word for line in lines for word in line.split())
    occurrences = sum(words.values())
    ahead = len(owner.encode(_BEFORE))
    spaced = {word: len(owner.encode(f"{_BEFORE} {word}")) - ahead for word in words}
    bare = {word: owner.encode(word) for word in words}
    shannon = -math.fsum(share * math.log2(share) for share in shares)
    renyi = math.log2(math.fsum(share**2.5 for share in shares)) / (1 - 2.5)
    return {
        "tokens": total,
        "bytes_per_token": sum(len(line.encode()) for line in lines) / total,
        "characters_per_token": sum(map(len, lines)) / total,
        "fertility": sum(spaced[word] * times for word, times in words.items()) / occurrences,
        "continued_words": sum(times for word, times in words.items() if spaced[word] > 1) / occurrences,
        "single_token_words_spaced": sum(size == 1 for size in spaced.values()) / len(words),
        "single_token_words_bare": sum(len(found) == 1 for found in bare.values()) / len(words),
        "shannon_efficiency": shannon / math.log2(owner.size),
        "shannon_efficiency_used": shannon / math.log2(len(counts)),
        "renyi_efficiency": renyi / math.log2(owner.size),
        "renyi_efficiency_used": renyi / math.log2(len(counts)),
        "vocabulary_size": owner.size,
        "vocabulary_in_use": len(counts) / owner.size,
        "dead_tokens": owner.size - len(counts),
        "bits": total * math.log2(owner.size),
        "unknowns": 0 if unknown is None else counts[unknown],
        "round_trip_losses": sum(
            times for word, times in words.items() if owner.decode(bare[word]).removeprefix(" ") != word
        ),
    }


@pytest.mark.parametrize("name", [*owners.TRAINED, *large(*PUBLISHED)])
@pytest.mark.first_run(cases=1)
def test_every_measure_is_that_of_the_owners_library(name: str, tmp_path: Path) -> None:
    ours, owner = owners.read(name, tmp_path), owners.owner_of(name, tmp_path)
    for corpus in CORPORA:
        lines = [line for line in peers.text(corpus).split("\n") if line][:60]
        counted = tally(ours, Corpus.from_lines(lines))
        found = {measure.name: measure.of(counted) for measure in MEASURES}
        expected = recount(owner, lines, ours.vocabulary.unknown_id)
        if name.endswith("/vocab.txt"):
            del found["round_trip_losses"], expected["round_trip_losses"]  # the file names no decoder
        assert found == pytest.approx(expected), corpus


@pytest.mark.parametrize("name", [*owners.TRAINED, *large(*PUBLISHED)])
@pytest.mark.first_run(cases=5)
def test_fertility_times_words_is_the_tokens_of_words_with_a_space_before_each(
    name: str, tmp_path: Path
) -> None:
    ours = owners.read(name, tmp_path)
    words = " ".join(peers.text("hindi").split()[:300])
    counted = tally(ours, Corpus.from_text(words))
    assert counted.spaced is not None
    # Of the first word alone the space may be missing.
    assert abs(counted.spaced.tokens - counted.tokens) <= 2
