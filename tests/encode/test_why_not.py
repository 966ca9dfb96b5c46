"""Why a text is not one token: the reasons against encoding, against each other, and against training on."""

from __future__ import annotations

import functools
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import lowest_rank_first

import tokentui
from tokentui import learn
from tokentui.core.errors import TokentuiError
from tokentui.encode.completions import completions
from tokentui.encode.reachability import neighbors, reachability_of
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.encode.why_not import REASONS, Case, Outlook, why_not
from tokentui.learn import Query
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus

PLAIN = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")
UNIGRAM = Recipe(
    split="none", unit="char", base="frequency", objective="unigram", encode="viterbi", unknown="fused"
)


@functools.cache
def made(name: str, merges: int) -> tokentui.Tokenizer:
    """A tokenizer of a preset, small."""
    specials = PRESETS[name].run.specials
    words = {"specials": specials} if specials else {}
    run = tokentui.Trainer(Corpus.from_text("low lower lowest, New newer newest wide wider 12 " * 4), name,
                           **words)  # type: ignore[arg-type]
    if run._engine.traits.grows:
        run.run(merges=merges)
    else:
        run.run(vocab_size=max(60, run._engine.traits.least_size + 20) - merges)
    return run.tokenizer()


TEXTS = st.text("lowernst idN,12#é▁<u>k" + "\x01\udc80A", max_size=9) | st.sampled_from(
    ["lowest", " lowest", "LOW", "<unk>", "[UNK]", "<s>", "<0x41>", "low" * 50, "newer", "▁wide", "est", "ˇ"]
)


@settings(max_examples=60)
@given(text=TEXTS, name=st.sampled_from(sorted(PRESETS)), merges=st.integers(0, 20),
       longest=st.none() | st.integers(1, 4), hard=st.booleans())
def test_exactly_one_reason_applies_to_any_text(
    text: str, name: str, merges: int, longest: int | None, hard: bool
) -> None:
    """For any recipe and text; and it is `one-token` just where the encoding is one known token."""
    tokenizer = made(name, merges // 5 * 5)
    known = Outlook(longest, lambda piece: hard and len(piece) > 3)
    holding = [one.name for one in REASONS.values() if one.holds(Case(tokenizer, text, known))]
    assert len(holding) == 1
    said = why_not(tokenizer, text, known)
    assert said.reason == holding[0]
    assert said.sentence.endswith(".")
    assert "\n" not in said.sentence
    try:
        encoding = tokenizer.encode(text)
    except TokentuiError:
        assert said.reason in ("unknown", "too-long", "split", "normalised", "special", "named")
        return
    whole = len(encoding) == 1 and not encoding.unknown and tokenizer.recipe.unknown != "drop"
    assert (said.reason == "one-token") >= whole
    if said.reason == "one-token":
        assert encoding.ids == (said.facts["id"],)
    assert (said.reason in ("empty", "nothing-left")) <= (not encoding.ids)


@settings(max_examples=75)
@given(pairs=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=9),
       word=st.text("abc", min_size=1, max_size=6))
def test_merges_against_a_naive_model(pairs: list[tuple[int, int]], word: str) -> None:
    """Of any merges, not only of those that a training makes: what is there, what blocks it, what is missing.
    """
    vocabulary = Vocabulary(PLAIN, [b"a", b"b", b"c"])
    for left, right in pairs:
        if max(left, right) < len(vocabulary.pieces) and (left, right) not in vocabulary.ranks:
            vocabulary.add(left, right, 1)
    tokenizer = Tokenizer(vocabulary)
    symbols = lowest_rank_first([vocabulary.units[char.encode()] for char in word], vocabulary.ranks, 3)
    said = why_not(tokenizer, word)
    if len(symbols) == 1:
        number = vocabulary.id_of(symbols[0], tokenizer.merges)
        assert (said.reason, said.facts["id"]) == ("one-token", number)
        return
    there = word.encode() in vocabulary.pieces
    assert said.reason == ("blocked" if there else "missing")
    assert said.facts["pieces"] == tuple(vocabulary.pieces[symbol] for symbol in symbols)
    if not there:
        assert (said.facts["left"], said.facts["right"]) == said.facts["pieces"][:2]
        assert all(pair not in vocabulary.ranks for pair in pairwise(symbols))
        return
    # the merge that blocks it is the first that makes what is no part of the token's own making
    target = vocabulary.pieces.index(word.encode())
    tree = nodes(vocabulary, target, 0)
    step, by = said.facts["by_step"], said.facts["by"]
    first = next((one for one in tokenizer.explain(word)[0].steps if (one.start, one.end) not in tree), None)
    if first is None:
        assert by == ()
    else:
        assert (step, by) == (first.rank + 1, (first.left, first.right))  # type: ignore[union-attr]


def nodes(vocabulary: Vocabulary, symbol: int, at: int) -> set[tuple[int, int]]:
    """The places of a token and its parts, by the length of their spelling."""
    size = len(vocabulary.pieces[symbol])
    if symbol < vocabulary.base_size:
        return {(at, at + size)}
    left, right = vocabulary.merges[symbol - vocabulary.base_size]
    middle = at + len(vocabulary.pieces[left])
    return {(at, at + size)} | nodes(vocabulary, left, at) | nodes(vocabulary, right, middle)


@settings(max_examples=60)
@given(pieces=st.dictionaries(st.text("ab", min_size=2, max_size=4), st.integers(1, 40), max_size=6),
       word=st.text("ab", min_size=1, max_size=5))
def test_probabilities_against_all_ways(pieces: dict[str, int], word: str) -> None:
    scores = {"a": -9 / 7, "b": -11 / 7} | {piece: -score / 7 for piece, score in pieces.items()}
    tokenizer = Tokenizer(
        Vocabulary(UNIGRAM, [piece.encode() for piece in scores], ("<unk>",), 0, scores.values())
    )

    def best(text: str) -> float:
        """The best sum over all ways."""
        ends = (end for end in range(1, len(text) + 1) if text[:end] in scores)
        return max((scores[text[:end]] + best(text[end:]) for end in ends), default=0.0)

    said = why_not(tokenizer, word)
    if word not in scores:
        assert said.reason == "no-token"
    elif said.reason == "less-probable":
        assert said.facts["score"] == scores[word]
        assert said.facts["best"] == pytest.approx(best(word))
        assert said.facts["difference"] == pytest.approx(best(word) - scores[word])
    else:
        assert said.reason == "one-token"
        assert scores[word] == pytest.approx(best(word))


@settings(max_examples=30, deadline=None)
@given(words=st.lists(st.text("abc", min_size=1, max_size=6), min_size=1, max_size=6),
       text=st.text("abc", min_size=2, max_size=5), step=st.integers(0, 6), encode=st.booleans())
def test_prospects_agree_with_continued_training(
    words: list[str], text: str, step: int, encode: bool
) -> None:
    """The step at which a text is one token is that of the training itself; of others it never is."""
    recipe = PLAIN.with_axes(encode="longest-match" if encode else "merges")
    corpus = Corpus.from_text(" ".join(words))
    run = tokentui.Trainer(corpus, recipe)
    run.run(merges=step)
    said = run.tokenizer().why_not(text, run)
    number = run.number
    on = tokentui.Trainer(corpus, recipe)
    on.run()

    def whole(at: int) -> bool:
        encoding = on.tokenizer().at(at).encode(text)
        return len(encoding) == 1

    if said.reason == "unknown":
        assert not set(text) <= set("".join(words))
        return
    steps = [at for at in range(number, on.number + 1) if whole(at)]
    if said.reason == "one-token":
        assert steps[0] == number
    elif said.reason == "comes":
        assert steps[0] == said.facts["step"] != number
    elif said.reason == "absent":
        assert not any(text in word for word in words)
        assert not steps
    elif said.reason == "blocked":
        assert text.encode() in run.tokenizer().vocabulary.pieces
    else:
        assert said.reason == "overtaken"
        assert not steps
        assert any(text in word for word in words)
    assert run.number == number, "the run stays where it is"
    if said.reason in ("comes", "overtaken", "absent") and said.facts["place"]:
        row = run.candidates(1, said.facts["place"] - 1)[0]  # type: ignore[operator]
        facts = said.facts
        assert isinstance(row, tokentui.Candidate)
        assert (row.left, row.right, row.count) == (facts["left"], facts["right"], facts["count"])
    assert run.tokenizer().why_not(text, run, 0).reason in (said.reason, "waits")


def test_the_sentences_of_a_training() -> None:
    run = tokentui.Trainer(Corpus.from_text("hug hug hug pug pun bun bugs"), PLAIN)
    run.run(merges=1)
    tok = run.tokenizer()
    assert tok.why_not("hug", run).sentence == (
        "It becomes h | ug. The first missing pair is h + ug: it occurs 3 times and is number 1 in the queue "
        "at step 1; continued training makes it one token at step 2."
    )
    assert tok.why_not("hug", run, 0).reason == "waits"
    assert tok.why_not("gs", run).sentence == (
        "It becomes g | s. The first missing pair is g + s: it is not a candidate at this step; it never "
        "becomes the best pair: training ends at step 8."
    )
    assert tok.why_not("hugs", run).reason == "absent"
    with pytest.raises(TokentuiError, match="the tokenizer is that of step 0"):
        tok.at(0).why_not("hug", run)
    with pytest.raises(TokentuiError, match="expected a Trainer"):
        tok.why_not("hug", "run")  # type: ignore[arg-type]
    short = tokentui.train(Corpus.from_text("hug hug hug"), PLAIN, max_length=2)
    assert short.why_not("hug").reason == "max-length"
    digits = tokentui.train(Corpus.from_text("a1 a1 a1"), "llama2", specials=["<unk>"], merges=2)
    assert digits.why_not("a1").reason == "filter"


@settings(max_examples=30, deadline=None)
@given(words=st.lists(st.text("12x", min_size=1, max_size=6), min_size=1, max_size=6),
       text=st.text("12x", min_size=2, max_size=3), weight=st.sampled_from(["occurrences", "distinct"]))
def test_text_inside_of_words_against_a_recount(words: list[str], text: str, weight: str) -> None:
    """A text that stands inside of words only is not said to stand nowhere."""
    recipe = PLAIN.with_axes(mark="prefix:##", weight=weight)
    run = tokentui.Trainer(Corpus.from_text(" ".join(words)), recipe)
    said = run.tokenizer().why_not(text, run)
    counted = words if weight == "occurrences" else set(words)
    inside = sum(word.startswith(text, at) for word in counted for at in range(len(word)))
    if said.reason == "absent":
        assert not any(word.startswith(text) for word in words)
        assert said.facts["inside"] == inside
        assert ("in the corpus it occurs only inside longer words" in said.sentence) == (inside > 0)
        assert ("no word of the corpus is spelled that way" in said.sentence) == (inside == 0)
    else:
        assert said.reason == "unknown" or any(word.startswith(text) for word in words)


def test_a_text_outside_words_names_the_missing_pair() -> None:
    run = tokentui.Trainer(Corpus.from_text("hug hug hug pug pun bun bugs"), PLAIN)
    run.run(merges=1)
    row = next(row for row in run.candidates(9) if row.parts == (b"h", b"ug"))
    said = run.tokenizer().why_not("hugs", run)
    assert said.reason == "absent"
    assert said.sentence == (
        "It becomes h | ug | s: no token is spelled that way, and no word of the corpus is spelled that way. "
        f"The first missing pair is h + ug: it occurs {row.places} times and is number 1 in the queue at "
        f"step 1."
    )
    nowhere = run.tokenizer().why_not("sb", run)
    assert nowhere.sentence == (
        "It becomes s | b: no token is spelled that way, and no word of the corpus is spelled that way. The "
        "first missing pair is s + b: it is not a candidate at this step."
    )


def test_a_piece_that_a_pruning_dropped() -> None:
    run = tokentui.Trainer("sample:english", "sentencepiece-unigram")
    run.run(vocab_size=200)
    rows = learn.entries(run._engine, Query(0, 5000)).rows
    left = {row.piece.decode(): row.reason for row in rows if row.kind == "left"}
    assert left
    for piece, reason in left.items():
        said = run.tokenizer().why_not(piece.removeprefix("▁"), run)
        if piece.startswith("▁") and said.reason != "marked":
            assert (said.reason, said.facts["why"]) == ("dropped", reason)
            assert run.tokenizer().why_not(piece.removeprefix("▁")).reason == "no-token"
    assert run.tokenizer().why_not("zzz", run).reason in ("no-token", "unknown")


# ---- tokens


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(name=st.sampled_from(sorted(PRESETS)), merges=st.sampled_from([0, 10, 20]))
def test_a_token_that_is_reached_has_its_text(name: str, merges: int) -> None:
    """Its text has it; of any other token exactly one reason holds, and no text of some hundreds has it."""
    tokenizer = made(name, merges)
    texts = ["low lower lowest, New newest wide 12", "é☃\x01", "#a</w>", "ABC"]
    held = {number for text in texts for number in encoded(tokenizer, text)}
    for entry in tokenizer.entries():
        found = reachability_of(tokenizer, entry)
        if found.text is not None:
            assert entry.id in tokenizer.encode(found.text).ids
        else:
            assert found.reason in REASONS
            assert REASONS[found.reason].where
            assert entry.id not in held
            case = Case(tokenizer, entry.text, entry=entry, has_units=found.reason in ("context", "covered"))
            assert sum(one.holds(case) for one in REASONS.values()) == 1


def encoded(tokenizer: Tokenizer, text: str) -> set[int | None]:
    try:
        return set(tokenizer.encode(text).ids)
    except TokentuiError:
        return set()


@pytest.mark.slow
@settings(max_examples=30)
@given(pairs=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=8))
def test_tokens_against_all_short_texts(pairs: list[tuple[int, int]]) -> None:
    vocabulary = Vocabulary(PLAIN, [b"a", b"b"])
    for left, right in pairs:
        known = max(left, right) < len(vocabulary.pieces) and (left, right) not in vocabulary.ranks
        if known and len(vocabulary.join(left, right)) <= 6:
            vocabulary.add(left, right, 1)
    tokenizer = tokentui.Tokenizer(vocabulary)
    words = [""]
    used: set[int | None] = set()
    for _ in range(7):
        words = [word + char for word in words for char in "ab"]
        for word in words:
            used.update(tokenizer.encode(word).ids)
    dead = {one.id: one.reason for one in tokenizer.unreachable()}
    assert dead.keys() == {entry.id for entry in tokenizer.entries()} - used
    assert set(dead.values()) <= {"blocked", "alike"}


@pytest.mark.slow
def test_parts_of_characters() -> None:
    """Every text has the bytes, and any byte of UTF-8 is in one."""
    for value in range(256):
        data = bytes((value,))
        found = next(completions(data), None)
        assert (found is None) == (value in (0xC0, 0xC1) or value >= 0xF5)
        assert found is None or data in found.encode()
    having = {chr(code) for code in range(0x110000)
              if not 0xD800 <= code < 0xE000 and b"\xa9" in chr(code).encode()}
    assert set(completions(b"\xa9")) == having
    assert next(completions(b"a\xc3\x28"), None) is None
    assert next(completions(b"\x9f\x98\x80 \xf0")).encode()[1:5] == b"\x9f\x98\x80 "


def test_neighbors_are_texts() -> None:
    assert all(neighbors(made("bert", 20)))


def test_facts_are_kept_with_the_sentence() -> None:
    said = made("gpt2", 10).why_not("low low")
    assert (said.reason, said.facts["words"], said.facts["at"]) == ("split", ("low", " low"), 3)
    assert said == why_not(made("gpt2", 10), "low low")
    assert str(said) == said.sentence
