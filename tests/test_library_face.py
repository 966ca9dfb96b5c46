"""The library's face: what a run and a tokenizer give, and what another process gets of them."""

from __future__ import annotations

import copy
import dataclasses
import multiprocessing
import pickle
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from exporting import HOLD, HOSTILE, dumps, preset, unproved
from trainers import replay

import tokentui
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import NO_ID
from tokentui.formats import WRITTEN
from tokentui.formats.files import export
from tokentui.preset_table import PRESETS, preset_named
from tokentui.text.corpus import Corpus

TEXTS = HOSTILE[:40]


# A run.


@pytest.fixture
def run() -> tokentui.Trainer:
    return tokentui.Trainer("sample:sailor", "udl-notebook")


def test_a_path_and_a_preset_s_name_do(tmp_path: Path) -> None:
    path = tmp_path / "small.txt"
    path.write_text("a sailor went to sea sea sea\n" * 3)
    found = []
    for corpus in (str(path), path, [path], tokentui.read(path)):
        for recipe in ("gpt2", tokentui.preset("gpt2")):
            one = tokentui.Trainer(corpus, recipe, first_id=5, specials=["<x>"])
            found.append([step.row for step in one])
    assert all(steps == found[0] for steps in found)
    assert found[0]


def test_steps_until_the_end(run: tokentui.Trainer) -> None:
    made = list(run)
    assert [step.number for step in made] == list(range(1, len(run) + 1))
    assert (run.step(), list(run), run.number) == (None, [], len(run))
    assert list(run.steps()) == made
    assert list(run.steps(3)) == made[2:]
    assert [run[n] for n in range(1, len(run) + 1)] == made
    assert run[-1] == made[-1]
    np = pytest.importorskip("numpy", exc_type=ImportError)
    assert run[np.int64(3)] == made[2]
    run.jump(4)
    assert (run.number, len(run), list(run.steps())) == (4, len(made), made[:4]), "known steps stay known"
    assert next(dataclasses.asdict(step) for step in run.steps())["number"] == 1, "a row has names"
    assert str(len(made)) in repr(run)


@pytest.mark.parametrize("recipe", ["udl-notebook", "gpt2", "wordpiece", "gage", "t5"])
def test_a_step_that_is_none(recipe: str) -> None:
    run = tokentui.Trainer("sample:sailor", recipe)
    for n in (0, 1, -1):
        with pytest.raises(tokentui.TokentuiError, match="this step is unknown"):
            run[n]
    if recipe == "t5":
        run.run(vocab_size=60)
    else:
        run.run(merges=3)
    stood = run.number
    with pytest.raises(
        tokentui.TokentuiError, match=r"step 1000000: the training ends at step (\d+) \(use 0 to \1\)"
    ):
        run.jump(10**6)
    assert run.number == stood
    with pytest.raises(tokentui.TokentuiError, match="out of range"):
        run.jump(-1)
    assert run.jump(len(run)) == len(run)
    for n in (len(run) + 1, -len(run) - 1):
        with pytest.raises(tokentui.TokentuiError, match="this step is unknown"):
            run[n]


@pytest.mark.parametrize(
    "name", [name for name in PRESETS if name in ("gpt2", "bert", "llama2", "t5", "gage", "wordpiece")]
)
def test_a_size_below_the_one_at_the_start(name: str) -> None:
    chosen = preset_named(name)
    run = tokentui.Trainer("sample:sailor", name, specials=chosen.run.specials)
    with pytest.raises(
        tokentui.TokentuiError, match=r"vocab_size=1: .* [\d,]+ ids \(use \d+ or more\)"
    ) as raised:
        run.run(vocab_size=1)
    least = int(raised.value.hint.split()[1])
    assert run.number == 0
    with pytest.raises(tokentui.TokentuiError, match="vocab_size="):
        run.run(vocab_size=least - 1)
    with pytest.raises(tokentui.TokentuiError, match="vocab_size="):
        tokentui.train("sample:sailor", name, specials=chosen.run.specials, vocab_size=least - 1)
    assert run.run(vocab_size=least) == "vocab_size"
    assert run.vocab_size == least == len(run.tokenizer())
    if name != "t5":
        assert run.number == 0


# A tokenizer.


def test_tokens_and_their_ids() -> None:
    tok = preset("gpt2")
    assert len(tok) == tok.vocab_size == len(list(tok.entries()))
    for entry in tok.entries():
        assert tok.id_to_token(entry.id) == entry.text
        assert tok.token_to_id(entry.piece) == entry.id
        if "\ufffd" not in entry.text:
            assert tok.token_to_id(entry.text) == entry.id
            dotted = entry.text.replace(" ", "·")
            assert tok.token_to_id(dotted) in (entry.id, tok.token_to_id(dotted.encode()))
            assert entry.text in tok
    for encoding in map(tok.encode, TEXTS):
        assert (
            tuple(tok.id_to_token(number) for number in encoding.ids if number is not None) == encoding.tokens
        )
        assert tuple(map(tok.token_to_id, encoding.pieces)) == encoding.ids  # type: ignore[arg-type]
    assert tok.token_to_id(" t") == tok.token_to_id("·t") == tok.encode(" t").ids[0]
    assert "·t" in tok
    for none in ("no such token", b"no such token", "", 5, None):
        assert none not in tok
    assert tok.token_to_id("no such token") is None
    assert tok.id_to_token(10**9) is tok.id_to_token(-1) is None
    assert tok.token_to_id("<|endoftext|>") == tok.vocabulary.special_id("<|endoftext|>")


@pytest.mark.slow
def test_a_token_as_its_file_spells_it(tmp_path: Path) -> None:
    """Beside its bytes and its text; the file's own name counts last."""
    export(preset("gpt2"), tmp_path / "a.hf.json")
    tok = tokentui.load(tmp_path / "a.hf.json")
    assert (
        tok.token_to_id("Ġt")
        == tok.token_to_id(" t")
        == tok.token_to_id("·t")
        == tok.token_to_id(b" t")
        is not None
    )
    export(preset("llama2"), tmp_path / "b.model")
    tok = tokentui.load(tmp_path / "b.model")
    assert tok.token_to_id("▁t") == tok.encode("t").ids[0]
    byte = tok.encode("\x01").ids[-1]
    assert byte is not None
    assert tok.token_to_id("<0x01>") == byte


def test_many_texts() -> None:
    tok = preset("gpt2")
    assert tok.encode_batch(TEXTS) == [tok.encode(text) for text in TEXTS]
    assert tok.encode_batch(iter(TEXTS[:0])) == []
    assert tok.encode_batch(["<|endoftext|>"], allow_special=True)[0].ids == (0,)


def test_ids_are_a_buffer_and_come_back() -> None:
    for name in ("gpt2", "subword-nmt", "hf-bpe", "t5"):
        tok = preset(name)
        for text in TEXTS:
            np = pytest.importorskip("numpy", exc_type=ImportError)
            buffer = np.asarray(tok.encode_ids(text))
            ids = tok.encode(text).ids
            assert [None if number == NO_ID else number for number in buffer.tolist()] == list(ids)
            assert tok.decode(buffer) == tok.decode(ids)
            assert tok.decode_bytes(buffer) == tok.decode_bytes(ids)


# Copies, and other processes.


def files(folder: Path) -> Iterator[tuple[Tokenizer, str]]:
    """A tokenizer of each format that is read, and what it is."""
    for format, name in (
        ("huggingface", "gpt2"), ("huggingface", "llama2"), ("huggingface", "bert"), ("huggingface", "t5"),
        ("tiktoken", "gpt2"), ("sentencepiece", "llama2"), ("sentencepiece", "t5"), ("gpt2", "gpt2"),
        ("gpt2", "gpt1"), ("bert", "bert"), ("subword-nmt", "subword-nmt"), ("minbpe", "minbpe"),
        ("tekken", "gpt4o"),
    ):
        assert name in HOLD[format]
        here = folder / f"{format}-{name}"
        here.mkdir()
        tok = preset(name)
        for file, data in zip(WRITTEN[format].files, unproved(tok, format), strict=True):
            (here / file).write_bytes(data)
        split = tok.recipe.split if WRITTEN[format].needs_split else ""
        for path in sorted(here.iterdir()):
            read = tokentui.load(path, split)
            yield read, f"{format} {name} {path.name}"
        (here / "own.json").write_text(dumps(read), "utf-8")
        yield tokentui.load(here / "own.json"), f"tokentui of {format} {name}"
    for name in ("gpt2", "bert", "wordpiece", "t5", "gage", "llama2", "subword-nmt"):
        (folder / f"{name}.json").write_text(dumps(preset(name)), "utf-8")
        yield tokentui.load(folder / f"{name}.json"), f"tokentui {name}"
        yield preset(name), f"trained {name}"
    yield tokentui.load(clip_file(folder)), "CLIP"


def clip_file(folder: Path) -> Path:
    """A file of OpenAI's CLIP: a header, and 48,894 merges that are read of it."""
    from tokentui.formats import tokens

    units = [tokens.LETTERS[value] for value in tokens.ORDER]
    rows = [f"{left} {right}" for left in units for right in units][: 49408 - 256 * 2 - 2]
    path = folder / "bpe_simple_vocab_16e6.txt"
    path.write_text('"bpe_simple_vocab_16e6.txt#version: 0.2\n' + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def facts(tok: Tokenizer) -> list[Any]:
    """What a tokenizer holds, and what it makes of the texts."""
    return [
        list(tok.entries()), tok.recipe, tok.merges, dict(tok.run), tok.notes,
        *(said(tok, text) for text in TEXTS[::4]),
    ]


def same(one: Tokenizer, other: Tokenizer, what: str) -> None:
    assert facts(one) == facts(other), what


def said(tok: Tokenizer, text: str) -> Any:
    try:
        encoding = tok.encode(text)
    except tokentui.TokentuiError as error:
        return str(error)
    return encoding, tok.decode(encoding.ids)


@pytest.mark.slow
def test_every_tokenizer_is_pickled_and_copied(tmp_path: Path) -> None:
    """Also when its files are gone, and a second time."""
    tokenizers = list(files(tmp_path))
    assert len(tokenizers) > 40
    for path in sorted(tmp_path.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    for tok, what in tokenizers:
        tok.encode_ids("x" if tok.recipe.objective != "gage" else "")
        back, known = pickle.loads(pickle.dumps(tok)), facts(tok)
        for twin in (pickle.loads(pickle.dumps(back)), copy.copy(tok), copy.deepcopy({"a": [tok]})["a"][0]):
            assert twin is not tok
            assert facts(twin) == known, what
        assert repr(back) == repr(tok)


def test_a_tokenizer_of_a_step_is_pickled_without_what_came_later() -> None:
    run = tokentui.Trainer("sample:english", "gpt2")
    run.run(merges=40)
    run.jump(7)
    early = run.tokenizer()
    run.jump(40)
    assert early.encode("the crowd").ids == pickle.loads(pickle.dumps(early)).encode("the crowd").ids
    back = pickle.loads(pickle.dumps(early))
    assert (len(back), len(back.vocabulary.merges)) == (len(early), 7)
    same(early, back, "step 7")
    opened = replay(preset("t5")).tokenizer(5)
    same(opened, pickle.loads(pickle.dumps(opened)), "an opened one at its fifth step")


def _ids_in_worker(tok: Tokenizer) -> list[list[int]]:
    return [list(tok.encode_ids(text)) for text in TEXTS]


@pytest.mark.slow
def test_worker_processes(tmp_path: Path) -> None:
    export(preset("gpt2"), tmp_path / "tokenizer.json", "huggingface")
    export(preset("gpt2"), tmp_path, "gpt2")
    some = [tokentui.load(tmp_path / "tokenizer.json"), tokentui.load(tmp_path / "merges.txt"), preset("t5")]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(_ids_in_worker, some)) == list(map(_ids_in_worker, some))


def test_a_corpus_is_pickled(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("größer als eine Zeile\n" * 200_000)
    for corpus in (tokentui.read(path), tokentui.read("sample:hugs"), Corpus.from_counts([("a", 2)])):
        back = pickle.loads(pickle.dumps(corpus))
        assert (back.sha256, back.size, back.characters) == (corpus.sha256, corpus.size, corpus.characters)
        assert list(back.documents) == list(corpus.documents)
