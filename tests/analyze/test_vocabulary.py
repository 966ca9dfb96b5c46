"""What a corpus uses, what each document saves, and what comes of going on: as on the slides, and by plain
encoding."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokentui
from tokentui import learn
from tokentui.analyze import results as values
from tokentui.analyze.vocabulary import exhausted, usage, vocabulary_report
from tokentui.axes import preset
from tokentui.core.errors import Cancelled
from tokentui.core.jobs import job
from tokentui.encode.pretokens import Pretokens
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn import Trainer, start
from tokentui.recipe import Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

TRAINED = (
    "comp336", "udl-notebook", "wordpiece", "bert", "gpt2", "llama2", "gpt1", "sentencepiece-unigram",
    "hf-bpe", "minbpe-basic",
)


@pytest.fixture(scope="module")
def hugs() -> Corpus:
    """The three documents of the slides."""
    return read("sample:hugs")


@pytest.fixture
def slide(hugs: Corpus) -> Trainer:
    """The training of the slides, at N = 20."""
    run = start(hugs, preset("comp336"), Run(first_id=1))
    learn.run(run, Stops(vocab_size=20))
    return run


def test_is_every_token_used(slide: Trainer, hugs: Corpus) -> None:
    found = vocabulary_report(slide.tokenizer(), hugs)
    assert [(one.piece, one.why, one.into) for one in found.unused] == [
        (b"h", "swallowed", (b"hug",)),
        (b"p", "swallowed", (b" p",)),
        (b"u", "swallowed", (b"ug", b"un")),
        (b"ug", "swallowed", (b" pug", b"hug")),
        (b" pug", "swallowed", (b" pugs",)),
    ]
    assert (found.step, found.vocab_size, found.used) == (7, 20, 15)


def test_how_much_is_saved_for_each_document(slide: Trainer, hugs: Corpus) -> None:
    found = vocabulary_report(slide.tokenizer(), hugs)
    assert [(one.number, one.name, one.units, one.tokens) for one in found.documents] == [
        (1, "i hug pugs", 10, 3), (2, "hugging pugs is fun", 19, 12), (3, "i make puns", 11, 9),
    ]
    assert (found.units, found.tokens, found.document_count) == (40, 24, 3)
    assert vocabulary_report(slide.tokenizer(), hugs, documents=1).documents == found.documents[:1]


def test_what_happens_when_one_keeps_adding(slide: Trainer, hugs: Corpus) -> None:
    found = vocabulary_report(slide.tokenizer(), hugs, exhaust=True)
    assert found.exhausted == values.Exhausted(
        merges=21, vocab_size=34, tokens=10, whole=8, distinct=8, end="no pair left"
    )
    assert slide.number == 7


def test_another_corpus() -> None:
    run = start(read("sample:hugs"), preset("comp336"))
    learn.run(run, Stops(merges=7))
    found = vocabulary_report(run.tokenizer(), Corpus.from_lines(["hug hug", "zzz"]))
    whys = {one.piece: (one.why, one.into) for one in found.unused}
    assert whys[b"a"] == ("not in the corpus", ())
    assert whys[b"h"] == ("swallowed", (b"hug",))
    assert whys[b" pugs"] == ("not in the corpus", ())
    assert not whys.keys() & {b"hug", b" hug"}
    assert found.tokens == 2 + 3


def test_specials_and_bytes_have_reasons_of_their_own() -> None:
    run = start(read("sample:hugs"), preset("llama2"), Run(specials=("<unk>", "<s>")))
    learn.run(run, Stops(merges=3))
    reasons = Counter(
        (one.kind, one.why) for one in vocabulary_report(run.tokenizer(), read("sample:hugs")).unused
    )
    assert reasons["byte", "byte"] == 256
    assert reasons["special", "special"] == reasons["unknown", "special"] == 1


def test_longest_match_passes_tokens_over() -> None:
    vocabulary = Vocabulary(preset("bert"), [b"a", b"##b", b"##c", b"d"], ("[UNK]",))
    vocabulary.add(0, 1, 1)
    vocabulary.add(1, 2, 1)
    found = vocabulary_report(Tokenizer(vocabulary), Corpus.from_lines(["abc"]))
    assert [(one.piece, one.why, one.into) for one in found.unused] == [
        (b"[UNK]", "special", ()),
        (b"a", "swallowed", (b"ab",)),
        (b"##b", "swallowed", (b"ab",)),
        (b"d", "not in the corpus", ()),
        (b"##bc", "not chosen", ()),
    ]


def test_merges_pass_tokens_over() -> None:
    vocabulary = Vocabulary(preset("hf-bpe"), [b"a", b"b", b"c"])
    for left, right in ((1, 2), (0, 1), (4, 2)):
        vocabulary.add(left, right, 1)
    found = vocabulary_report(Tokenizer(vocabulary), Corpus.from_lines(["abc"]))
    assert [(one.piece, one.why, one.into) for one in found.unused] == [
        (b"b", "swallowed", (b"bc",)),
        (b"c", "swallowed", (b"bc",)),
        (b"ab", "not chosen", ()),
        (b"abc", "unreachable", ()),
    ]


def test_counted_words_are_the_documents() -> None:
    corpus = Corpus.from_counts([("low", 5), ("lower", 2)])
    run = start(corpus, preset("hf-bpe"))
    learn.run(run, Stops(merges=2))
    found = vocabulary_report(run.tokenizer(), corpus)
    assert [(one.number, one.name, one.units, one.tokens) for one in found.documents] == [
        (1, "low", 15, 5), (2, "lower", 10, 6),
    ]
    assert found.document_count == 2


def test_words_that_count_once_in_training_count_as_they_stand_here() -> None:
    corpus = Corpus.from_lines(["low low low", "lower"])
    run = start(corpus, preset("swift-talk-distinct"))
    learn.run(run, Stops(merges=2))
    found = vocabulary_report(run.tokenizer(), corpus)
    assert (found.units, found.tokens) == (14, 6)
    assert sum(one.tokens for one in found.documents) == 6


@pytest.mark.parametrize("name", ["sentencepiece-unigram", "t5"])
def test_a_unigram_model_says_that_it_only_drops(name: str) -> None:
    corpus = read("sample:hugs")
    run = start(corpus, preset(name), Run(specials=("<unk>",)))
    found = exhausted(run.words, run.recipe, Run(specials=("<unk>",)), corpus)
    assert found.merges == 0
    assert found.vocab_size == run.size_at(run.number)
    assert found.end.startswith("a unigram model only drops pieces")


@pytest.mark.parametrize("name", ["comp336", "gage", "wordpiece", "sentencepiece-bpe"])
def test_going_on_says_how_far_it_is_and_can_be_stopped(name: str) -> None:
    run = start(read("sample:woodchuck"), preset(name))
    told: list[tuple[int, int]] = []
    with job(lambda *now: told.append(now)):
        end = exhausted(run.words, run.recipe, Run())
    assert end.end == "no pair left"
    assert told
    assert all(0 <= done <= total for done, total in told)
    with job(cancel=lambda: True), pytest.raises(Cancelled):
        exhausted(run.words, run.recipe, Run())


def test_it_can_be_stopped(slide: Trainer, hugs: Corpus) -> None:
    with job(cancel=lambda: True), pytest.raises(Cancelled):
        vocabulary_report(slide.tokenizer(), hugs)


words = st.text(alphabet="abc", min_size=1, max_size=8)
lines = st.lists(st.lists(words, min_size=1, max_size=6).map(" ".join), min_size=1, max_size=4)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(texts=lines, other=lines, name=st.sampled_from(TRAINED), merges=st.integers(0, 12))
def test_unused_is_what_encoding_the_corpus_misses(
    texts: list[str], other: list[str], name: str, merges: int
) -> None:
    corpus = Corpus.from_lines(texts)
    recipe = preset(name)
    run = start(corpus, recipe, Run(specials=("<unk>",)))
    learn.run(run, Stops(merges=merges))
    tokenizer = run.tokenizer()
    if recipe.unknown == "error":
        other = texts
    for one in (texts, other):
        asked = vocabulary_report(tokenizer, Corpus.from_lines(one))
        encoded = [tokenizer.encode(text) for text in one]
        ids = Counter(number for encoding in encoded for number in encoding.ids)
        del ids[None]
        every = {entry.id for entry in tokenizer.entries()}
        assert [unused.id for unused in asked.unused] == sorted(every - set(ids))
        assert asked.used == len(ids)
        assert asked.tokens == sum(map(len, encoded))
        documents = {document.number: document.tokens for document in asked.documents}
        assert [documents[number] for number in range(1, len(one) + 1)] == list(map(len, encoded))
        for unused in asked.unused:
            assert (unused.why == "swallowed") == bool(unused.into)


@settings(max_examples=20, deadline=None)
@given(texts=lines, merges=st.integers(0, 12))
def test_each_id_stands_as_often_as_in_the_text(texts: list[str], merges: int) -> None:
    run = start(Corpus.from_lines(texts), preset("comp336"))
    learn.run(run, Stops(merges=merges))
    tokenizer = run.tokenizer()
    ids = Counter(number for text in texts for number in tokenizer.encode(text).ids)
    assert usage(tokenizer, run.words).uses == ids


def test_its_progress_never_goes_back() -> None:
    """Words are encoded first, then unused ids are looked at."""
    seen: list[tuple[int, int]] = []
    corpus = read("sample:english")
    tokenizer = tokentui.train(corpus, "gpt2", merges=300)
    words, _ = Pretokens(tokenizer).count(corpus)
    with job(lambda done, total: seen.append((done, total))):
        vocabulary_report(tokenizer, corpus, words)
    ticks = [(done, total) for done, total in seen if total]
    assert len({total for _, total in ticks}) == 1
    assert ticks == sorted(ticks)
    assert len(ticks) > 2
