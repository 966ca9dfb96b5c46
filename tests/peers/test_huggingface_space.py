"""A space in front of a text: Hugging Face's trainer learns the same with `add_prefix_space` and
`prepend_scheme`."""

from __future__ import annotations

import json
from typing import Any

import peers
import pytest
import soak
from trainers import merge_steps, start

from tokentui import learn
from tokentui.axes import preset
from tokentui.recipe import Recipe, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.split import spaced

tokenizers = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.peer

BYTES = preset("gpt2")
CHARACTERS = preset("hf-bpe", split="metaspace")
STEPS = 300


def theirs(recipe: Recipe, documents: list[str], size: int) -> Any:
    one = tokenizers.Tokenizer(tokenizers.models.BPE())
    alphabet: list[str] = []
    if recipe.unit == "byte":
        one.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=spaced(recipe))
        alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    else:
        one.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(
            prepend_scheme="always" if spaced(recipe) else "never"
        )
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=size, min_frequency=0, show_progress=False, initial_alphabet=alphabet,
        limit_alphabet=100_000,
    )
    one.train_from_iterator(documents, trainer)
    return one


@pytest.mark.first_run(cases=4)
@pytest.mark.parametrize("base", [BYTES, CHARACTERS], ids=["bytes", "metaspace"])
@pytest.mark.parametrize(
    ("name", "spaced"), soak.covering(["english", "python", "numbers"], [True, False])
)
def test_training(base: Recipe, spaced: bool, name: str) -> None:
    recipe = base.with_axes(prefix_space=spaced)
    documents = [*peers.lines(name).documents, " begins with a space", "  with two"]
    trainer = start(Corpus.from_lines(documents), recipe)
    learn.run(trainer, Stops(merges=STEPS))
    one = theirs(recipe, documents, trainer.size_at(trainer.number))
    made = ["".join(pair) for pair in json.loads(one.to_str())["model"]["merges"]]
    ours = [step.token for step in merge_steps(trainer)]
    if recipe.unit == "byte":
        from tokentui.formats import tokens

        peers.same_steps(ours, [tokens.spelled(token) for token in made])
    else:
        peers.same_steps([token.decode() for token in ours], made)
    tokenizer = trainer.tokenizer()
    for text in [*documents, *peers.PROBES]:
        if "<|endoftext|>" not in text:
            assert list(tokenizer.encode(text).ids) == one.encode(text).ids, text
