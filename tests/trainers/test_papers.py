"""The trainings of three papers: their worked examples at every step, forward and back, and naive models that
judge them on random small corpora."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from papers import boundless, picky, replaced, replayed, superbpe

import tokentui
from tokentui import learn
from tokentui.axes import check
from tokentui.core.errors import TokentuiError
from tokentui.learn import EventStep, Query, Trainer, Word
from tokentui.preset_table import preset_named
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words

NONE = Stops()
CHARACTERS = Recipe(
    split="none", unit="char", base="sorted", tie="smallest-pair", unknown="error", objective="picky"
)
COUNTS = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
LINES = (
    "by the way , the cat sat on the mat", "by the way , the dog sat on the log",
    "by the way note: the end of the day",
)
DOCUMENTS = (
    "the cat sat on the mat and the cat sat on the hat", "on the mat the cat and the dog sat on a log",
    "the dog and the cat sat on the mat with a hat", "one two three four five six the end",
)
BYTES = {"unit": "byte", "base": "gpt2-bytes", "unknown": "never"}


def started(counts: Mapping[str, int], objective: str, **axes: str) -> Trainer:
    """A training on counted pre-tokens, at step 0."""
    recipe = check(CHARACTERS.with_axes(objective=objective, **axes))
    return learn.start(None, recipe, words=Words(tuple(counts), tuple(counts.values())))


def step_at(trainer: Trainer, number: int) -> EventStep:
    """A known step."""
    step = trainer.step_at(number)
    assert isinstance(step, EventStep)
    return step


def told(step: EventStep) -> list[tuple[str, ...]]:
    """The events of a step as the naive models tell them, without what is unlocked."""
    first = "join" if step.kind == "superword" else "merge"
    merge = (first, step.token.decode(), step.left.decode(), step.right.decode())
    return [merge, *(
        (kind, piece.decode(), *(part.decode() for part in parts))
        for kind, piece, parts in step.following if kind != "unlock"
    )]


def tokens(trainer: Trainer, text: str) -> list[str]:
    """The tokens of a text at the present step."""
    return [token.piece.decode() for token in trainer.tokenizer().encoder.word(text) if token.piece]


def assert_back_and_forth(trainer: Trainer) -> None:
    """Every step is the same on the way back and forward again."""
    last, words = trainer.number, trainer.words.words

    def digest() -> object:
        return (
            trainer.tokens_at(trainer.number), trainer.size_at(trainer.number), list(trainer.uses)[:99],
            [trainer.segment(Word(word)) for word in words], learn.candidates(trainer, Query(rows=9)),
            [tokens(trainer, word) for word in words],
        )

    seen = {last: digest()}
    for number in range(last - 1, -1, -1):
        learn.jump(trainer, number)
        seen[number] = digest()
        spans = {word: trainer.segment(Word(word)) for word in words}
        pieces = trainer.tokenizer().vocabulary.pieces
        assert all([pieces[span.symbol].decode() for span in spans[word]] == tokens(trainer, word)
                   for word in words)
    for number in range(1, last + 1):
        learn.jump(trainer, number)
        now, was = digest(), seen[number]
        size = sum(1 for _ in trainer.tokenizer().vocabulary.symbols(number))
        assert size
        assert [part for n, part in enumerate(now) if n != 2] == [  # type: ignore[arg-type, var-annotated]
            part for n, part in enumerate(was) if n != 2  # type: ignore[arg-type]
        ]


# ---- the worked examples


def test_the_example_of_pickybpe() -> None:
    counts = {f"▁{word}": count for word, count in COUNTS.items()}
    trainer = started(counts, "picky:threshold=0.9")
    steps = [
        ("es", 9, []), ("est", 9, ["es"]), ("lo", 7, []), ("low", 7, ["lo"]), ("▁low", 7, ["low"]),
        ("ew", 6, []), ("ewest", 6, ["ew"]), ("newest", 6, ["ewest"]), ("▁newest", 6, ["newest"]),
        ("dest", 3, ["est"]), ("idest", 3, ["dest"]),
    ]
    facts = {
        2: ["es: 9 / (0 + 9) = 1.000"], 7: ["ew: 6 / (0 + 6) = 1.000", "est: 6 / (3 + 6) = 0.667, it stays"],
        10: ["est: 3 / (0 + 3) = 1.000, above 0.9: it goes"],
    }
    for number, (token, count, gone) in enumerate(steps, 1):
        said = learn.why(trainer, NONE).facts
        assert all(any(part in fact for fact in said) for part in facts.get(number, []))
        learn.jump(trainer, number)
        step = step_at(trainer, number)
        assert (step.token.decode(), step.count) == (token, count)
        assert [piece.decode() for _, piece, _ in step.following] == gone
    learn.jump(trainer, 11)
    assert tokens(trainer, "▁lowest") == ["▁low", "e", "s", "t"]
    assert tokens(trainer, "▁newer") == ["▁", "n", "e", "w", "e", "r"]
    assert_back_and_forth(trainer)
    early = started(counts, "picky:threshold=0.6")
    learn.jump(early, 7)
    assert [piece.decode() for _, piece, _ in step_at(early, 7).following] == ["ew", "est"]
    plain = started(counts, "picky:threshold=1")
    learn.jump(plain, 8)
    assert tokens(plain, "▁lowest") == ["▁low", "est"]


def test_the_example_of_superbpe() -> None:
    trainer = started(
        dict.fromkeys(LINES, 1), "superbpe:at=12", split="superwords", tie="lowest-ids", **BYTES
    )
    wanted = (
        "h+e 9|t+he 9|_+the 9|a+t 4|a+y 4|b+y 3|w+ay 3|_+o 3|_+way 3|o+g 2|s+at 2|_+, 2|"
        "_the+_ 6|_the+_way 3|by+_the_way 3|n+_the_ 2|_+sat 2|_o+n_the_ 2|_,+_the_ 2|_sat+_on_the_ 2|c+at 1"
    ).replace("_", " ").split("|")
    for number, row in enumerate(wanted, 1):
        assert any(f"stage {1 if number <= 12 else 2}" in fact for fact in learn.why(trainer, NONE).facts)
        learn.jump(trainer, number)
        step = step_at(trainer, number)
        assert f"{step.left.decode()}+{step.right.decode()} {step.count}" == row
        assert step.kind == ("superword" if step.token.decode().strip().count(" ") or (
            number > 12 and step.token.endswith(b" ")) else "merge")
    assert tokens(trainer, "by the way , the cat sat") == ["by the way", " , the ", "cat", " sat"]
    learn.jump(trainer, 20)
    assert tokens(trainer, "note: the cat") == ["n", "o", "t", "e", ":", " the ", "c", "at"]
    assert_back_and_forth(trainer)


def test_a_superword_has_at_most_four_words() -> None:
    trainer = started({"a b c d e f": 3}, "superbpe:at=0", split="superwords", tie="lowest-ids", **BYTES)
    learn.run(trainer, NONE)
    made = [step_at(trainer, number).token.decode() for number in range(1, trainer.number + 1)]
    assert made == ["a ", "b ", "c ", "d ", "e ", "a b ", "c d ", "e f", "a b c d "]


@pytest.mark.slow
def test_the_example_of_boundlessbpe() -> None:
    trainer = started(
        dict.fromkeys(DOCUMENTS, 1), "boundless", **BYTES | {"base": "bytes"}
    )
    wanted = (
        "at|th|the|_the|on|_a|_s|_c|_on|_cat|_sat|+_sat_on|nd|+_cat_sat_on|+_cat_sat_on_the|_m|_and|+_and_the|"
        "_mat"
    ).replace("_", " ").split("|")
    learn.jump(trainer, len(wanted))
    assert [
        "+" * (step.kind == "superword") + step.token.decode()
        for step in (step_at(trainer, number) for number in range(1, len(wanted) + 1))
    ] == wanted
    broken = {
        number: [piece.decode() for kind, piece, _ in step_at(trainer, number).following if kind == "break"]
        for number in range(1, len(wanted) + 1)
    }
    assert {number: gone for number, gone in broken.items() if gone} == {10: [" c"], 19: [" m"]}
    assert (step_at(trainer, 1).count, step_at(trainer, 2).count) == (13, 13)
    assert any("words are unlocked" in fact for fact in learn.why(trainer, NONE).facts)
    assert tokens(trainer, "the cat sat on the log")[:3] == ["the", " cat sat on the", " "]
    assert_back_and_forth(trainer)


# ---- naive models

words = st.dictionaries(st.text("abc", min_size=1, max_size=7), st.integers(1, 9), min_size=1, max_size=6)
spaced = st.text("ab :'", min_size=1, max_size=14).map(lambda text: re.sub(" {2,}", " ", text))
texts = st.dictionaries(spaced.filter(lambda text: bool(text.strip())), st.integers(1, 4), min_size=1,
                        max_size=4)


def before(text: str) -> list[str]:
    """The words of split=before: each whitespace or punctuation mark begins one."""
    return re.findall(r"[\s:'][^\s:']*|[^\s:']+", text)


@pytest.mark.slow
@settings(max_examples=25)
@given(words, st.sampled_from(["0.5", "0.6", "0.75", "0.9", "1"]), st.text("abc", max_size=9))
def test_pickybpe_is_its_naive_model(counts: dict[str, int], threshold: str, text: str) -> None:
    trainer = started(counts, f"picky:threshold={threshold}")
    log = []
    for number, (events, size) in enumerate(picky(counts, threshold, 14), 1):
        assert learn.jump(trainer, number) == number
        assert told(step_at(trainer, number)) == events
        assert trainer.size_at(number) == size
        log += events
    for word in counts:
        assert tokens(trainer, word) == replaced(log, list(word))
    if set(text) <= {char for word in counts for char in word}:
        assert tokens(trainer, text) == replaced(log, list(text))
    assert_back_and_forth(trainer)


@settings(max_examples=25)
@given(texts, st.integers(0, 8))
def test_superbpe_is_its_naive_model(counts: dict[str, int], at: int) -> None:
    trainer = started(counts, f"superbpe:at={at},within=before", split="none")
    number = 0
    model = superbpe(counts, at, 16, before, lambda pair: (pair[0].encode(), pair[1].encode()))
    for number, (pair, count, length) in enumerate(model, 1):
        assert learn.jump(trainer, number) == number
        step = step_at(trainer, number)
        assert (step.left.decode(), step.right.decode(), step.count) == (*pair, count)
        assert trainer.tokens_at(number) == length
    if number > at:
        assert_back_and_forth(trainer)


@settings(max_examples=25)
@given(texts, st.sampled_from(["0.4", "0.5", "0.9", "1", "2"]), spaced)
def test_boundlessbpe_is_its_naive_model(counts: dict[str, int], tau: str, text: str) -> None:
    trainer = started(counts, f"boundless:threshold={tau},within=before")
    log = []
    for number, (events, length) in enumerate(boundless(counts, tau, 16, before), 1):
        assert learn.jump(trainer, number) == number
        assert told(step_at(trainer, number)) == events
        assert trainer.tokens_at(number) == length
        log += events
    if set(text) <= {char for one in counts for char in one}:
        assert tokens(trainer, text) == replayed(log, text, before)
    assert_back_and_forth(trainer)


# ---- files

@pytest.mark.parametrize("objective", [
    "picky:threshold=0.8", "superbpe:at=30", "boundless:threshold=0.8",
])
@pytest.mark.parametrize("steps", [0, 12, 60])
@pytest.mark.first_run(cover=1)
def test_the_own_file_encodes_the_same(objective: str, steps: int, tmp_path: object) -> None:
    split = {"superbpe": "superwords", "boundless": "none"}.get(objective.partition(":")[0], "gpt2")
    recipe = Recipe(objective=objective, split=split, tie="smallest-pair")
    made = tokentui.train(Corpus.from_lines(DOCUMENTS), recipe, merges=steps)
    path = f"{tmp_path}/own.json"
    made.save(path)
    again = tokentui.load(path)
    for text in (*DOCUMENTS, *LINES, "the cats sat: a hat'll do"):
        assert again.encode(text).ids == made.encode(text).ids
        assert again.decode(again.encode(text).ids) == text
    again.save(f"{tmp_path}/again.json")
    with open(path, "rb") as one, open(f"{tmp_path}/again.json", "rb") as other:
        assert one.read() == other.read()


@pytest.mark.parametrize("objective", ["picky", "boundless"])
def test_a_file_that_cannot_hold_events_is_refused(objective: str, tmp_path: object) -> None:
    recipe = Recipe(objective=objective, split="none" if objective == "boundless" else "gpt2")
    made = tokentui.train(Corpus.from_lines(DOCUMENTS), recipe, merges=12)
    with pytest.raises(TokentuiError, match="encoded with events"):
        made.save(f"{tmp_path}/tokenizer.json", format="huggingface")


def test_superwords_stand_in_a_file_of_hugging_face(tmp_path: object) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    recipe = Recipe(objective="superbpe:at=30", split="superwords")
    made = tokentui.train(Corpus.from_lines([*DOCUMENTS, *LINES]), recipe, merges=60)
    path = f"{tmp_path}/tokenizer.json"
    made.save(path, format="huggingface")
    theirs = tokenizers.Tokenizer.from_file(path)
    for text in (*DOCUMENTS, *LINES, "on the 2024 log -- and\nthe  end: a cat"):
        assert theirs.encode(text).ids == list(made.encode(text).ids)
    with pytest.raises(TokentuiError, match="inside words"):
        made.at(20).save(f"{tmp_path}/early.json", format="huggingface")


def test_recipes_that_make_no_sense_are_refused() -> None:
    for axes, what in (
        ({"encode": "longest-match"}, "encode"), ({"mark": "prefix:##"}, "mark"),
        ({"base": "frequency"}, "base"),
        ({"objective": "superbpe", "split": "whitespace"}, "split"),
        ({"objective": "superbpe:within=nothing"}, "split"),
        ({"objective": "boundless", "split": "metaspace"}, "split"),
        ({"objective": "picky:threshold=2"}, "threshold"),
    ):
        with pytest.raises(TokentuiError, match=what):
            check(CHARACTERS.with_axes(**axes))


def test_a_run_ends_at_a_size() -> None:
    trainer = started(COUNTS, "picky")
    learn.run(trainer, Stops(vocab_size=13))
    assert trainer.size_at(trainer.number) == 13
    assert trainer.size_at(trainer.number - 1) < 13
    assert math.isfinite(trainer.memory())
    assert Run().stops.vocab_size is None


@pytest.mark.parametrize("objective", ["picky", "boundless", "superbpe:at=1,within=none"])
def test_the_places_of_a_letter_beside_itself_are_foretold(objective: str) -> None:
    """A merge of "aaa" replaces one place of two."""
    trainer = started({"aaa": 3, "aaaaa": 2}, objective, split="none")
    for number in range(1, 3):
        foretold = learn.why(trainer, NONE).replaced
        trainer.advance(number, NONE, math.inf)
        step = step_at(trainer, number)
        assert (step.left, step.right, foretold) == (*{1: (b"a", b"a"), 2: (b"aa", b"a")}[number],
                                                     step.replaced)


@pytest.mark.parametrize("objective", ["picky", "boundless"])
def test_events_are_encoded_in_their_order_alone(objective: str) -> None:
    """A way that looks tokens up would give out those that left; none of the merges can be left out."""
    tokenizer = tokentui.train("sample:english", preset_named("gpt2").recipe.with_axes(objective=objective),
                               merges=30)
    for way in ("longest-match", "longest-suffix", "fewest-tokens", "merges-by-length"):
        with pytest.raises(TokentuiError, match="with its events, in their order"):
            tokenizer.encoded_by(way)
    with pytest.raises(TokentuiError, match="leaves merges out where a text is encoded by merges and"):
        tokenizer.draws("the crowd", p=0.0, seed=1)


def test_no_draw_crosses_words_before_the_switch() -> None:
    """Without a dropped merge a draw is the encoding; before the switch merges stay inside words."""
    recipe = preset_named("superbpe").recipe.with_axes(objective="superbpe:at=20")
    before, after = (tokentui.train("sample:english", recipe, merges=merges) for merges in (19, 30))
    with pytest.raises(TokentuiError, match="leaves merges out where a text is encoded by merges inside"):
        before.draws("the crowd", p=0.0, seed=1)
    text = "the crowd in the street"
    assert after.draws(text, p=0.0, seed=1).encoding.ids == after.encode(text).ids
