"""Merges compared by what they mean: a space is a space however it is written, and one boundary however it is
marked."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainers import merge_steps

from tokentui import learn
from tokentui.analyze.divergence import Meanings, first_divergences
from tokentui.axes import preset
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import export, load
from tokentui.learn import MergeStep, Trainer, start
from tokentui.recipe import Recipe, Run
from tokentui.session.training.training import prepare_tokenizer
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

ENGLISH = read("sample:english")


def training(recipe: str | Recipe, corpus: Corpus = ENGLISH, merges: int = 0) -> Trainer:
    trainer = start(corpus, preset(recipe) if isinstance(recipe, str) else recipe)
    learn.jump(trainer, merges)
    return trainer


def replayed(tokenizer: Tokenizer, corpus: Corpus = ENGLISH) -> Trainer:
    return prepare_tokenizer(corpus, tokenizer, Run()).trainer


def differing_steps(a: Trainer, b: Trainer, limit: int) -> list[int | None]:
    """The first steps that differ by meaning, and as they are spelled."""
    return [one.step if one else None for one in first_divergences(a, b, limit)]


def test_a_space_in_front_is_one_however_it_is_written() -> None:
    gpt2, pieces = training("gpt2"), training("sentencepiece-bpe")
    assert differing_steps(gpt2, pieces, 200)[1] == 1
    found = differing_steps(gpt2, pieces, 200)[0]
    made: list[list[tuple[str, str]]] = []
    for trainer in (gpt2, pieces):
        learn.jump(trainer, 200)
        steps = (step for step in learn.steps(trainer) if isinstance(step, MergeStep))
        made.append(
            [(step.left.decode("utf-8", "replace"), step.right.decode("utf-8", "replace")) for step in steps]
        )
    spaced = [(left.replace("▁", " "), right.replace("▁", " ")) for left, right in made[1]]
    assert found == next(
        n for n, (one, other) in enumerate(zip(made[0], spaced, strict=True), 1) if one != other
    )
    assert found > 1


def test_a_mark_at_the_end_and_a_space_in_front_are_one_boundary() -> None:
    corpus = Corpus.from_text(" t t t t t u")
    a, b = training("gpt2", corpus), training("udl-notebook", corpus)
    assert differing_steps(a, b, 1)[1] == 1
    assert differing_steps(a, b, 1)[0] is None
    for trainer, shown in ((a, b" t"), (b, b"t</w>")):
        learn.jump(trainer, 1)
        assert [step.token for step in merge_steps(trainer)] == [shown]


END_SYMBOL, END_SUFFIX, PREFIX = "udl-notebook", "subword-nmt", "bert"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("gpt2", " ", "t"), ("sentencepiece-bpe", "▁", "t"), True),
        (("gpt2", " ", "t"), (END_SYMBOL, "t", "</w>"), True),
        (("gpt2", " e", "r"), (END_SUFFIX, "e", "r</w>"), True),
        (("gpt2", " e", "r"), (END_SYMBOL, "e", "r</w>"), True),
        (("gpt2", " e", "r"), (PREFIX, "e", "##r"), True),
        (("gpt2", "e", "r"), (PREFIX, "##e", "##r"), True),
        (("gpt2", "e", "r"), ("hf-bpe", "e", "r"), True),
        (("gpt2", "e", "r"), (END_SUFFIX, "e", "r</w>"), False),
        (("gpt2", " e", "r"), ("hf-bpe", "e", "r"), False),
        (("gpt2", " ", "t"), (END_SYMBOL, "s", "</w>"), False),
        (("gpt2", " ", "  t"), ("sentencepiece-bpe", "▁", "▁▁t"), True),
        (("gpt2", " ", " "), ("gpt2", " ", "  "), False),
        (("gpt2", "a", "bc"), ("gpt2", "ab", "c"), False),
        (("gpt2", "▁", "t"), ("sentencepiece-bpe", "▁", "t"), False),
        (("gpt2", "##", "t"), (PREFIX, "##", "##t"), False),
    ],
)
def test_what_means_the_same(one: tuple[str, str, str], other: tuple[str, str, str], same: bool) -> None:
    read_as = [
        Meanings(training(name).tokenizer().vocabulary).of_pieces(left.encode(), right.encode())
        for name, left, right in (one, other)
    ]
    assert (read_as[0] == read_as[1]) is same


@pytest.mark.parametrize(
    "name", ["gpt2", "subword-nmt", "udl-notebook", "bert", "wordpiece", "sentencepiece-bpe", "hf-bpe"]
)
def test_steps_that_are_spelled_alike_mean_the_same(name: str) -> None:
    trainer = training(name, merges=60)
    reader = Meanings(trainer.tokenizer().vocabulary)
    vocabulary = trainer.tokenizer().vocabulary
    meant: dict[object, tuple[bytes, bytes]] = {}
    for left, right in vocabulary.merges:
        spelled = vocabulary.pieces[left], vocabulary.pieces[right]
        assert reader.of_symbols(left, right) == reader.of_pieces(*spelled)
        assert meant.setdefault(reader.of_symbols(left, right), spelled) == spelled, (
            "within one training no two merges are one"
        )
    assert first_divergences(trainer, training(name), 60) == (None, None)


def test_a_text_that_spells_a_mark_is_text() -> None:
    recipe = preset("bert", split="whitespace")
    trainer = training(recipe, Corpus.from_text("###a ###a ###a b##a"), 3)
    reader, vocabulary = Meanings(trainer.tokenizer().vocabulary), trainer.tokenizer().vocabulary
    whole = [b"".join(reader.of_symbols(*pair)[1]) for pair in vocabulary.merges]
    texts = (b"###a", b"b##a")
    assert all(any(text in word for word in texts) for text in whole)


@pytest.mark.slow
@pytest.mark.parametrize("format_", ["huggingface", "sentencepiece", "tokentui"])
def test_a_file_is_read_as_its_training(tmp_path: Path, format_: str) -> None:
    trainer = training("sentencepiece-bpe", merges=80)
    path = tmp_path / "t.model"
    export(trainer.tokenizer(), path, format_)
    file = replayed(load(path))
    gpt2 = training("gpt2")
    limit = 80
    assert differing_steps(file, trainer, limit)[0] is None
    assert differing_steps(file, gpt2, limit)[0] == differing_steps(trainer, gpt2, limit)[0]
    assert differing_steps(file, gpt2, limit)[1] == 1
