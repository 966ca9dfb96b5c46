"""SuperBPE: training leaves the segmentation that encoding gives, around the switch of stages."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tokentui import learn
from tokentui.learn import Word, start
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus

STRETCHES = st.text(st.sampled_from("ab \n"), min_size=1, max_size=7)
WORDS = st.lists(STRETCHES, min_size=1, max_size=4, unique=True)


@pytest.mark.parametrize("at", [1, 2, 3])
@settings(max_examples=150)
@given(words=WORDS)
@example(words=["a\n\n\nb", "\n\n\n"])
@example(words=["c\t\n", "a \t\nb"])  # the merge across words comes right before the one inside a word
@pytest.mark.slow
def test_training_leaves_the_segmentation_that_encoding_gives(at: int, words: list[str]) -> None:
    recipe = Recipe(split="none", objective=f"superbpe:at={at},within=gpt2")
    corpus = Corpus.from_counts([(word, len(words) - n) for n, word in enumerate(words)])
    trainer = start(corpus, recipe, Run())
    for number in range(6):
        if number:
            learn.run(trainer, Stops(merges=number))
        if trainer.number < number:
            break
        tokenizer = trainer.tokenizer()
        for word in words:
            trained = [span.symbol for span in trainer.segment(Word(word))]
            assert trained == list(tokenizer.encode_ids(word)), (number, word)
