"""The command line of a state makes that state."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from running_cli import done

from tokentui import learn
from tokentui.axes import preset
from tokentui.formats.files import load
from tokentui.learn import jump
from tokentui.recipe import Recipe, Run
from tokentui.session.shell_line import CORPUS, train_line
from tokentui.text.read import read


@pytest.mark.parametrize(
    ("recipe", "run"),
    [
        (preset("gpt2"), Run.of({"merges": 5, "min_count": 100})),
        (preset("bert"), Run.of({"specials": ["[UNK]", "a b"], "max_length": 4})),
        (preset("gpt2", split="whitespace", tie="first-seen"), Run.of({"first_id": 7})),
        (preset("llama2", coverage=0.98, symbols=["<sep>", "at"], prefix_space=False), Run()),
        (preset("sentencepiece-unigram"), Run.of({"vocab_size": 200, "specials": ["<unk>"]})),
    ],
    ids=["gpt2", "bert", "axes", "words", "unigram"],
)
def test_the_command_makes_the_tokenizer(recipe: Recipe, run: Run, tmp_path: Path) -> None:
    trainer = learn.start(read("sample:english"), recipe, run)
    if trainer.traits.shrinks:
        learn.run(trainer, run.stops.only(trainer.traits.shaped_by))
    else:
        jump(trainer, 12)
    line = train_line("sample:english", recipe, run, trainer.number, trainer.traits.shaped_by)
    program, *words = shlex.split(line)
    assert program == "tokentui"
    out = tmp_path / "own.json"
    done(*words, "-q", "-o", str(out))
    text = "the hall behind the old swimming pool"
    assert load(str(out)).encode(text).ids == trainer.tokenizer().encode(text).ids
    assert load(str(out)).vocab_size == trainer.size_at(trainer.number)


def test_a_corpus_without_a_name_has_a_word() -> None:
    assert shlex.split(train_line("", preset("gpt2"), Run(), 3))[2] == CORPUS
