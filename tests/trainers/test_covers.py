"""GreedTok, Length-MAX and PathPiece: the worked examples of their descriptions, naive models, files, and
where else they show."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from covers import costs, covered, greedtok, joined, length_max, pathpiece, placed, shortest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tokentui
from tokentui import learn
from tokentui.axes import check, preset, refusal_of
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import job
from tokentui.encode.segment import UNKNOWN
from tokentui.formats.files import export
from tokentui.learn import Made, Query, Size, Trainer, Word
from tokentui.learn.objectives import Material
from tokentui.learn.pathpiece import PathTrainer
from tokentui.recipe import Recipe, Run, Stops, WhatIf
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words

NONE = Stops()
CHARACTERS = Recipe(
    split="none", unit="char", base="sorted", tie="smallest-pair", unknown="error", objective="greedtok"
)
COUNTS = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
ENDED = {f"{word}$": count for word, count in COUNTS.items()}
LINES = (
    "the cat sat on the mat and the cat sat on the hat", "on the mat the cat and the dog sat on a log",
    "by the way , the dog sat on the log", "one two three four five six the end",
)
OWN = {"pathpiece": {"encode": "fewest-tokens"}}
"""The axes that an objective needs."""


def started(counts: Mapping[str, int], objective: str, **axes: str) -> Trainer:
    """A training on counted pre-tokens, at step 0."""
    axes = {**OWN.get(objective.partition(":")[0], {}), **axes}
    recipe = check(CHARACTERS.with_axes(objective=objective, **axes))
    return learn.start(None, recipe, words=Words(tuple(counts), tuple(counts.values())))


def gram(trainer: Trainer, number: int) -> Any:
    """A known step that made a token of a run of tokens."""
    step = trainer.step_at(number)
    assert step.kind in ("cover", "merge")
    return step


def removal(trainer: Trainer, number: int) -> Any:
    """A known step that removed tokens."""
    step = trainer.step_at(number)
    assert step.kind == "remove"
    return step


def tokens(trainer: Trainer, text: str) -> list[str]:
    """The tokens of a text at the present step."""
    return [token.piece.decode() for token in trainer.tokenizer().encoder.word(text) if token.piece]


def cut(trainer: Trainer, word: str) -> list[str]:
    """A word of the corpus as the training has it."""
    return [word[span.start : span.end] for span in trainer.segment(Word(word))]


def digest(trainer: Trainer) -> object:
    """All that a step shows of itself; rows of what counted nothing then are left out."""
    words = trainer.words.words
    return (
        trainer.tokens_at(trainer.number), trainer.size_at(trainer.number),
        [cut(trainer, word) for word in words], learn.candidates(trainer, Query(rows=9)).rows,
        [tokens(trainer, word) for word in words], sum(trainer.uses), trainer.changed(),
    )


def assert_back_and_forth(trainer: Trainer) -> None:
    """Every step is the same on the way back and forward again."""
    last = trainer.number
    seen = {last: digest(trainer)}
    for number in range(last - 1, -1, -1):
        assert learn.jump(trainer, number) == number
        seen[number] = digest(trainer)
    for number in range(1, last + 1):
        learn.jump(trainer, number)
        assert digest(trainer) == seen[number]


# ---- the worked examples


def test_the_example_of_greedtok() -> None:
    trainer = started(COUNTS, "greedtok")
    wanted = [("newest", 30, "n e w e s t"), ("widest", 15, "w i d e s t"), ("low", 14, "l o w"),
              ("lower", 4, "low e r")]
    for number, (token, saved, parts) in enumerate(wanted, 1):
        why = learn.why(trainer, NONE)
        assert why.best is not None
        assert (why.best.token.decode(), why.best.worth, why.replaced) == (token, saved, saved)
        assert any(f"saves {saved}" in fact for fact in why.facts)
        learn.jump(trainer, number)
        step = gram(trainer, number)
        assert (step.token.decode(), step.worth, step.saved) == (token, saved, saved)
        assert [part.decode() for part in step.parts] == parts.split()
    assert learn.run(trainer, NONE) == "no pair left"
    assert trainer.number == 4
    assert {text: tokens(trainer, text) for text in ("lowest", "slowest", "newer")} == {
        "lowest": ["low", "e", "s", "t"], "slowest": ["s", "low", "e", "s", "t"],
        "newer": ["n", "e", "w", "e", "r"],
    }
    assert_back_and_forth(trainer)


@pytest.mark.parametrize(("objective", "tie", "wanted"), [
    ("length-max:by=tokens,most=5", "smallest-pair",
     "e+s+t+$ 9 36|n+e+w+est$ 6 24|l+o+w 7 21|w+i+d+est$ 3 12|low+$ 5 10|low+e+r+$ 2 8"),
    ("length-max:by=saved,most=6", "largest-pair",
     "n+e+w+e+s+t 6 30|w+i+d+e+s+t 3 15|l+o+w+$ 5 15|l+o+w+e+r+$ 2 10|newest+$ 6 6|widest+$ 3 3"),
])
def test_the_examples_of_length_max(objective: str, tie: str, wanted: str) -> None:
    trainer = started(ENDED, objective, tie=tie)
    for number, row in enumerate(wanted.split("|"), 1):
        run, count, value = row.split()
        assert any(f"= {value}" in fact for fact in learn.why(trainer, NONE).facts)
        learn.jump(trainer, number)
        step = gram(trainer, number)
        assert (b"+".join(step.parts).decode(), step.count, step.worth) == (run, int(count), int(value))
    assert learn.run(trainer, NONE) == "no pair left"
    assert trainer.number == 6
    if tie == "smallest-pair":
        assert [tokens(trainer, f"{word}$") for word in ("lowest", "newer", "lower")] == [
            ["low", "est$"], ["n", "e", "w", "e", "r", "$"], ["lower$"],
        ]
    assert_back_and_forth(trainer)


def test_the_example_of_pathpiece() -> None:
    trainer = started(COUNTS, "pathpiece")
    assert (trainer.size_at(0), trainer.tokens_at(0)) == (46, 16)
    assert learn.run(trainer, NONE) == "the last step"
    assert trainer.number == 36
    assert all(removal(trainer, number).longer == 0 for number in range(1, 33))
    wanted = [("lower", 4, 20), ("low", 14, 34), ("widest", 15, 49), ("newest", 30, 79)]
    for number, (token, cost, length) in enumerate(wanted, 33):
        step = removal(trainer, number)
        assert ([piece.decode() for piece in step.removed], step.cost, step.tokens) == ([token], cost, length)
    learn.jump(trainer, 32)
    best = learn.why(trainer, NONE).best
    assert best is not None
    assert (best.token, best.worth, best.parts, best.places) == (b"lower", -4, (b"low", b"e", b"r"), 2)
    assert_back_and_forth(trainer)


def test_pathpiece_from_a_vocabulary_of_its_own() -> None:
    recipe = check(CHARACTERS.with_axes(objective="pathpiece", encode="fewest-tokens"))
    material = Material.of(Words(tuple(COUNTS), tuple(COUNTS.values())), recipe)
    trainer = PathTrainer(material, b"es est lo low ew ne new wi id".split())
    assert learn.run(trainer, Stops(vocab_size=11)) == "vocab_size"
    steps = [removal(trainer, number) for number in range(1, trainer.number + 1)]
    assert [(step.removed[0].decode(), step.cost, step.tokens) for step in steps] == [
        ("es", 0, 32), ("ew", 0, 32), ("id", 0, 32), ("lo", 0, 32), ("ne", 0, 32), ("wi", 3, 35),
        ("new", 12, 47), ("low", 14, 61),
    ]
    assert trainer.tokenizer().vocabulary.pieces[-1] == b"est"
    assert_back_and_forth(trainer)


# ---- naive models

letters = st.text("abc", min_size=1, max_size=7)
words = st.dictionaries(letters, st.integers(1, 9), min_size=1, max_size=6)


@pytest.mark.slow
@settings(max_examples=40)
@given(words, st.integers(2, 7), st.text("abc", max_size=9))
@example({"aab": 7, "baba": 1}, 3, "")  # a text that stands once is among the best
def test_greedtok_is_its_naive_model(counts: dict[str, int], longest: int, text: str) -> None:
    trainer, covers = started(counts, f"greedtok:longest={longest}"), list[str]()
    now = {word: list(word) for word in counts}
    for number, (token, saved, length) in enumerate(greedtok(counts, longest), 1):
        assert learn.jump(trainer, number) == number
        step = gram(trainer, number)
        assert (step.token.decode(), step.worth, step.saved, step.tokens) == (token, saved, saved, length)
        covers.append(token)
        now = {word: covered(one, token)[0] for word, one in now.items()}
        for word in counts:
            assert cut(trainer, word) == now[word] == tokens(trainer, word) == placed(covers, word)
    assert learn.step(trainer) is None
    if set(text) <= {char for word in counts for char in word}:
        assert tokens(trainer, text) == placed(covers, text)
    assert_back_and_forth(trainer)


@pytest.mark.slow
@settings(max_examples=40)
@given(
    words, st.integers(2, 5), st.sampled_from(["tokens", "saved", "characters"]), st.text("abc", max_size=9)
)
def test_length_max_is_its_naive_model(counts: dict[str, int], most: int, by: str, text: str) -> None:
    trainer, merges = started(counts, f"length-max:most={most},by={by}"), list[tuple[str, ...]]()
    for number, (run, value, count, length) in enumerate(length_max(counts, most, by), 1):
        assert learn.jump(trainer, number) == number
        step = gram(trainer, number)
        assert tuple(part.decode() for part in step.parts) == run
        assert (step.worth, step.count, step.tokens) == (value, count, length)
        merges.append(run)
    assert learn.step(trainer) is None
    known = set("".join(counts))
    for word in (*counts, *([text] if set(text) <= known else ())):
        now = list(word)
        for run in merges:
            now = joined(now, run)
        assert tokens(trainer, word) == now
        assert word not in counts or cut(trainer, word) == now
    assert_back_and_forth(trainer)


@pytest.mark.slow
@settings(max_examples=40)
@given(words, st.integers(0, 30), st.integers(2, 7), st.integers(1, 3), st.text("abc", max_size=7))
def test_pathpiece_is_its_naive_model(
    counts: dict[str, int], seeds: int, longest: int, many: int, text: str
) -> None:
    trainer = started(counts, f"pathpiece:seeds={seeds},longest={longest},at={many}")
    there = {piece.decode() for piece in trainer.tokenizer().vocabulary.pieces}
    for number, (gone, cost, length) in enumerate(pathpiece(counts, seeds, longest, many)):
        assert learn.jump(trainer, number) == number
        assert trainer.tokens_at(number) == length
        if number:
            step = removal(trainer, number)
            assert ([piece.decode() for piece in step.removed], step.cost) == (gone, cost)
        there -= set(gone)
        assert {piece.decode() for piece in trainer.tokenizer().vocabulary.pieces} == there
        known = {char for word in counts for char in word}
        for word in (*counts, *([text] if text and set(text) <= known else ())):
            way = [word[first:last] for first, last in shortest(word, there)]
            assert tokens(trainer, word) == way
            assert word not in counts or cut(trainer, word) == way
        cost_now = costs(counts, there)
        rows = learn.candidates(trainer, Query(rows=99)).rows
        assert {row.token.decode(): -row.worth for row in rows} == {
            one: cost_now[one] for one in there if len(one) > 1
        }
    assert learn.step(trainer) is None
    assert_back_and_forth(trainer)


@settings(max_examples=40)
@given(words, st.integers(0, 9), st.sampled_from(["greedtok", "length-max", "pathpiece"]))
def test_a_life_and_uses_are_those_of_the_steps(counts: dict[str, int], number: int, objective: str) -> None:
    trainer = started(counts, objective)
    number = learn.jump(trainer, number)
    lives: dict[str, list[tuple[int, tuple[str, ...]]]] = {word: [] for word in counts}
    uses: dict[bytes, list[tuple[int, int]]] = {}
    for step in range(number + 1):
        learn.jump(trainer, step)
        vocabulary = trainer.tokenizer().vocabulary
        for word in counts:
            pieces = tuple(tokens(trainer, word))
            if not lives[word] or lives[word][-1][1] != pieces:
                lives[word].append((step, pieces))
        for symbol, used in enumerate(trainer.uses):
            turns = uses.setdefault(vocabulary.pieces[symbol], [(0, 0)] if step else [])
            if not turns or turns[-1][1] != used:
                turns.append((step, used))
    for word in counts:
        life = learn.life(trainer, word)
        found = [(one.number, tuple(piece.decode() for piece in one.pieces)) for one in life]
        assert found == lives[word]
    vocabulary = trainer.tokenizer().vocabulary
    for symbol in vocabulary.symbols(trainer.tokenizer().merges):
        told = [(one.number, one.uses) for one in learn.uses_over(trainer, symbol)()]
        assert told == uses[vocabulary.pieces[symbol]]


@pytest.mark.parametrize("unknown", UNKNOWN)
@pytest.mark.parametrize("specials", [(), ("<s>", "</s>")])
def test_the_size_of_a_step_is_that_of_its_tokenizer(unknown: str, specials: tuple[str, ...]) -> None:
    axes = {"objective": "pathpiece", "encode": "fewest-tokens", "unknown": unknown}
    recipe = CHARACTERS.with_axes(**axes)
    if refusal_of(recipe) is not None:
        return
    counted = Words(tuple(COUNTS), tuple(COUNTS.values()))
    trainer = learn.start(None, recipe, Run(specials=specials), counted)
    for number in (0, 1, 7):
        learn.jump(trainer, number)
        assert trainer.size_at(number) == trainer.tokenizer().vocab_size
    learn.run(trainer, NONE)
    assert trainer.size_at(trainer.number) == trainer.traits.least_size == trainer.tokenizer().vocab_size


# ---- files


@pytest.mark.parametrize(("objective", "axes"), [
    ("greedtok", {}), ("length-max", {}), ("length-max:by=saved,most=6", {"encode": "fewest-tokens"}),
    ("length-max", {"encode": "longest-match"}), ("greedtok", {"encode": "merges-by-length"}),
    ("greedtok", {"encode": "longest-suffix"}), ("pathpiece:seeds=90", {}),
])
@pytest.mark.parametrize("steps", [0, 20])
@pytest.mark.first_run(cover=1)
def test_the_own_file_encodes_the_same(
    objective: str, axes: dict[str, str], steps: int, tmp_path: object
) -> None:
    axes = {**OWN.get(objective.partition(":")[0], {}), **axes}
    recipe = Recipe(objective=objective).with_axes(**axes)
    made = tokentui.train(Corpus.from_lines(LINES), recipe, merges=steps)
    path = f"{tmp_path}/own.json"
    made.save(path)
    again = tokentui.load(path)
    for text in (*LINES, "the cats sat: a hat'll do"):
        assert again.encode(text).ids == made.encode(text).ids
        assert again.decode(again.encode(text).ids) == text
    again.save(f"{tmp_path}/again.json")
    with open(path, "rb") as one, open(f"{tmp_path}/again.json", "rb") as other:
        assert one.read() == other.read()


@pytest.mark.parametrize(("objective", "said"), [
    ("greedtok", "events"), ("length-max", "events"), ("pathpiece", "fewest"),
])
def test_a_file_that_cannot_hold_it_is_refused(objective: str, said: str, tmp_path: object) -> None:
    recipe = Recipe(objective=objective).with_axes(**OWN.get(objective, {}))
    made = tokentui.train(Corpus.from_lines(LINES), recipe, merges=12)
    with pytest.raises(TokentuiError, match=said):
        made.save(f"{tmp_path}/tokenizer.json", format="huggingface")


# ---- where else they show


def test_recipes_that_make_no_sense_are_refused() -> None:
    for axes, what in (
        ({"mark": "prefix:##"}, "mark"), ({"base": "frequency"}, "base"), ({"encode": "viterbi"}, "encode"),
        ({"objective": "length-max:by=lines"}, "length of a run"),
        ({"objective": "length-max:most=1"}, "most"), ({"objective": "greedtok:longest=1"}, "longest"),
        ({"objective": "pathpiece"}, "encode"),
        ({"objective": "pathpiece", "encode": "fewest-tokens", "mark": "end-suffix:</w>"}, "mark"),
    ):
        with pytest.raises(TokentuiError, match=what):
            check(CHARACTERS.with_axes(**axes))
    with pytest.raises(TokentuiError, match="has none"):
        check(replace(CHARACTERS.with_axes(objective="pathpiece", encode="fewest-tokens"),
                      what_if=("1:leave-out",)))


@pytest.mark.parametrize("name", ["greedtok", "length-max", "pathpiece"])
def test_presets_train_and_stop(name: str) -> None:
    made = tokentui.train(Corpus.from_lines(LINES), preset(name), vocab_size=265)
    assert made.vocab_size == 265
    for text in LINES:
        assert made.decode(made.encode(text).ids) == text


@pytest.mark.parametrize("objective", ["greedtok", "length-max", "pathpiece"])
def test_a_token_that_spells_a_special_has_no_id_of_its_own(objective: str, tmp_path: object) -> None:
    counts, run = COUNTS, Run(specials=("low", "<s>"), first_id=5)
    recipe = check(CHARACTERS.with_axes(objective=objective, **OWN.get(objective, {})))
    trainer = learn.start(None, recipe, run, Words(tuple(counts), tuple(counts.values())))
    while learn.step(trainer) is not None:
        made = trainer.tokenizer(run=run.words)
        assert made.vocab_size == trainer.size_at(trainer.number)
        assert made.decode(made.encode("newest").ids) == "newest"
    export(trainer.tokenizer(run=run.words), f"{tmp_path}/own.json")
    again = tokentui.load(f"{tmp_path}/own.json")
    assert again.encode("lowest").ids == trainer.tokenizer().encode("lowest").ids


@pytest.mark.parametrize("objective", ["greedtok", "length-max", "pathpiece"])
def test_goals_and_stops(objective: str) -> None:
    trainer = started(COUNTS, objective, **OWN.get(objective, {}))
    size = trainer.size_at(0) + (3 if trainer.traits.grows else -3)
    assert learn.run(trainer, Stops(vocab_size=size)) == "vocab_size"
    assert (trainer.number, learn.find(trainer, Size(size))) == (3, 3)
    taken = trainer.taken(2)
    assert taken is not None
    assert learn.find(trainer, Made(frozenset({taken.token}))) == 2
    assert trainer.memory() > 0
    trainer = started(COUNTS, objective, **OWN.get(objective, {}))
    assert learn.run(trainer, Stops(max_length=2)) in ("no pair left", "the last step")
    pieces = trainer.tokenizer(0 if objective == "pathpiece" else None).vocabulary.pieces
    assert max(map(len, pieces)) == 2


@pytest.mark.parametrize("objective", ["greedtok", "length-max", "pathpiece"])
def test_a_trace_row_is_written_and_read(objective: str) -> None:
    trainer = started(COUNTS, objective, **OWN.get(objective, {}))
    step = learn.step(trainer)
    assert step is not None
    row = json.loads(json.dumps(step.row))
    assert (row["step"], row["tokens"], row["vocab_size"]) == (1, step.tokens, step.vocab_size)
    taken = trainer.taken(1)
    assert taken is not None
    assert [bytes.fromhex(one) for one in row["hex"]][-1] == taken.token


@pytest.mark.parametrize("objective", ["greedtok", "length-max", "pathpiece"])
def test_a_training_is_cancelled_where_it_is(objective: str) -> None:
    trainer = started({**COUNTS, "abcdefghij" * 6: 2}, objective, **OWN.get(objective, {}))

    def stop(done: int, total: int) -> None:
        if done:
            raise Cancelled

    learn.jump(trainer, 1)
    with pytest.raises(Cancelled), job(stop):
        learn.run(trainer, NONE)
    now = trainer.number
    assert trainer.advance(now, NONE, math.inf) == "merges"
    assert trainer.number == now


@pytest.mark.parametrize("unknown", ["fused", "per-unit", "byte-fallback"])
@pytest.mark.parametrize("objective", ["greedtok", "length-max", "pathpiece"])
def test_rare_characters_are_no_part_of_a_token(objective: str, unknown: str) -> None:
    """No token crosses a character that the base does not cover; the length is that of the encoded corpus."""
    counts = {**{word: 10 * count for word, count in COUNTS.items()}, "loqw": 1, "qz": 1, "lozlow": 2}
    recipe = check(CHARACTERS.with_axes(
        objective=objective, unknown=unknown, coverage=0.99, **OWN.get(objective, {})
    ))
    trainer = learn.start(None, recipe, words=Words(tuple(counts), tuple(counts.values())))
    while True:
        encoder = trainer.tokenizer().encoder
        length = sum(len(encoder.word(word)) * count for word, count in counts.items())
        assert trainer.tokens_at(trainer.number) == length
        pieces = trainer.tokenizer().vocabulary.pieces
        assert not any(b"q" in piece or b"z" in piece for piece in pieces)
        if learn.step(trainer) is None:
            break
    assert trainer.number > 4


@pytest.mark.parametrize(("parts", "added"), [((b"a", b"b", b"d"), 1), ((b"x", b"y", b"z"), 0)])
def test_a_forced_run_counts_once_among_the_candidates(parts: tuple[bytes, ...], added: int) -> None:
    """Length-MAX takes no run that occurs once: such a run is a candidate only if it is forced."""
    trainer = started({"abc": 5, "abd": 1, "xyz": 2}, "length-max")
    page = learn.candidates(trainer, Query())
    assert (parts in [row.parts for row in page.rows]) == (not added)
    forced = learn.candidates(trainer.fork(0, (WhatIf(1, "force", parts),)), Query())
    assert forced.total == page.total + added
    assert [row.parts for row in forced.rows].count(parts) == 1


@pytest.mark.parametrize("objective", ["greedtok", "length-max:most=2", "picky"])
def test_a_candidate_is_forbidden_before_its_parts_are_made(objective: str) -> None:
    trainer = started(COUNTS, objective)
    for number in range(1, learn.jump(trainer, 8) + 1):
        taken = trainer.taken(number)
        assert taken is not None
        other = learn.what_if(trainer, [WhatIf(1, "forbid", taken.parts)])
        made = [candidate.parts for step in learn.steps(other) if (candidate := other.taken(step.number))]
        assert made, "nothing is trained"
        assert taken.parts not in made, f"step {number} is taken all the same"
