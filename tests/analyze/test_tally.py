"""What is counted, against encoding the documents and each word from scratch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui.analyze import metrics
from tokentui.analyze.compare import compare_on
from tokentui.analyze.metrics import Conventions, WordTally, tally
from tokentui.axes import preset
from tokentui.core import jobs
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import job
from tokentui.encode.tokenizer import Tokenizer
from tokentui.text.corpus import Corpus
from tokentui.tokenizer import train

LEARNED = Corpus.from_text(
    "the cat sat on the mat; the hat that the cat had, a naïve 😂 thing.\n  So the end \n"
)
NAMES = ("gpt2", "bert", "llama2", "hf-bpe", "subword-nmt", "minbpe-basic", "falcon")
TOKENIZERS = {
    name: train(LEARNED, name, merges=20, specials=("[UNK]",) if name == "bert" else ()) for name in NAMES
}
TEXTS = st.lists(st.text(st.sampled_from("thecamsoTH ,;.\n ïé😂zZ9日\udc80"), max_size=30), max_size=4)


def naive_words(tok: Tokenizer, words: list[str], before: str) -> WordTally:
    """Each word encoded as a text by itself."""
    tokens = {word: tok.encode(before + word) for word in words}
    back = {
        word: None not in one.ids
        and tok.decode_bytes(one.ids).removeprefix(b" ") == word.encode("utf-8", "surrogateescape")
        for word, one in tokens.items()
    }
    return WordTally(
        words=len(words), distinct=len(tokens), tokens=sum(len(tokens[word]) for word in words),
        continued=sum(len(tokens[word]) > 1 for word in words),
        single=sum(len(one) == 1 for one in tokens.values()),
        lost=sum(not back[word] for word in words),
    )


def test_a_long_document_is_counted_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A screen and a cancellation come in between."""
    monkeypatch.setattr(jobs, "BLOCK", 30)
    tokenizer, counted = train("sample:hugs", "gpt2", merges=5), list[int]()

    def noted(items: Iterable[object]) -> Iterator[Iterable[object]]:
        for block in jobs.in_blocks(items):
            counted.append(len(listed := list(block)))
            yield listed

    monkeypatch.setattr(metrics, "in_blocks", noted)
    assert tally(tokenizer, Corpus.from_text("hug" * 300)).tokens == sum(counted)
    assert max(counted) == 30


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(NAMES), TEXTS)
def test_counting_is_encoding_everything(name: str, texts: list[str]) -> None:
    tok, corpus = TOKENIZERS[name], Corpus.from_lines(texts)
    found = tally(tok, corpus)
    encodings = [tok.encode(text) for text in texts]
    kinds = Counter(
        piece if number is None else number
        for one in encodings
        for number, piece in zip(one.ids, one.pieces, strict=True)
    )
    assert sorted(found.counts) == sorted(kinds.values())
    assert found.tokens == sum(map(len, encodings))
    assert found.used == sum(isinstance(kind, int) for kind in kinds)
    assert found.characters == sum(map(len, texts))
    assert found.bytes == sum(len(text.encode("utf-8", "surrogateescape")) for text in texts)
    if tok.recipe.unknown != "drop":
        assert found.unknowns == sum(len(one.unknown) for one in encodings)
    words = [word for text in texts for word in text.split()]
    first = next(iter(tok.encode("a").pieces), None) or b""
    own_space = first.startswith((b" ", "▁".encode()))
    assert found.spaced == naive_words(tok, words, "" if own_space else " ")
    assert found.bare == naive_words(tok, words, "")


@pytest.mark.parametrize("name", NAMES)
def test_whole_documents_give_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The way of files that find tokens in a text by their names."""
    texts = ["the cat sat\n on THE hat, zzz 9", "", "naïve 😂 \udc80 thing"]
    corpora = [Corpus.from_lines(texts), Corpus.from_counts([("the", 3), ("zZ9", 2)])]
    in_parts = [tally(TOKENIZERS[name], corpus) for corpus in corpora]
    pairs = compare_on([(0, TOKENIZERS[name]), (1, TOKENIZERS["bert"])], corpora[0])
    for module in ("metrics", "compare"):
        monkeypatch.setattr(f"tokentui.analyze.{module}.in_parts", lambda vocabulary: False)
    whole = [tally(TOKENIZERS[name], corpus) for corpus in corpora]
    assert [replace(one, counts=()) for one in whole] == [replace(one, counts=()) for one in in_parts]
    assert [sorted(one.counts) for one in whole] == [sorted(one.counts) for one in in_parts]
    assert (
        compare_on([(0, TOKENIZERS[name]), (1, TOKENIZERS["bert"])], corpora[0])[0].agreement
        == pairs[0].agreement
    )


def test_what_is_dropped_counts_as_unknown() -> None:
    tok = train(Corpus.from_text("ab ab b"), "hf-bpe", merges=0)
    found = tally(tok, Corpus.from_text("azb zz ab"))
    assert (found.tokens, found.unknowns) == (4, 3)
    assert found.bare is not None
    assert found.bare.lost == 2


def test_losses_of_normalization_are_seen() -> None:
    tok = train(Corpus.from_text("the cat"), "bert", merges=10)
    found = tally(tok, Corpus.from_text("the The cat THE the"))
    assert found.spaced is not None
    assert (found.spaced.words, found.spaced.lost) == (5, 2)


def test_one_special_for_all_unknowns_is_one_kind() -> None:
    tok = train(Corpus.from_text("the cat"), "bert", merges=10, specials=("[UNK]",))
    found = tally(tok, Corpus.from_text("the xyz zyx cat"))
    assert (found.tokens, found.unknowns, found.used) == (4, 2, 3)


def test_counted_words_are_pretokens_as_they_are() -> None:
    counted = Corpus.from_counts([("hug", 10), ("pug", 5), ("a b", 2)])
    tok = train(counted, preset("hf-bpe"), merges=3)
    found = tally(tok, counted)
    cut = {word: len(tok.encode(word)) for word in ("hug", "pug")}
    assert found.spaced == found.bare
    assert found.spaced is not None
    assert (found.spaced.words, found.spaced.distinct) == (17, 3)
    assert found.tokens == found.spaced.tokens == 10 * cut["hug"] + 5 * cut["pug"] + 2 * 3
    assert found.characters == found.bytes == 17 * 3


def test_words_by_another_splitter() -> None:
    tok = TOKENIZERS["gpt2"]
    corpus = Corpus.from_text("the cat's hat, the end.")
    counts = {
        name: tally(tok, corpus, Conventions(name)).bare
        for name in ("whitespace", "words", "bert", "regex:[a-z]+")
    }
    assert {name: one and one.words for name, one in counts.items()} == {
        "whitespace": 5, "words": 9, "bert": 9, "regex:[a-z]+": 6
    }


def test_a_corpus_that_is_refused_names_the_unit() -> None:
    tok = train(Corpus.from_text("a sailor"), "udl-notebook", merges=3)
    with pytest.raises(
        TokentuiError, match=r"^the pre-token 'zebra': 'z' is not in the vocabulary"
    ) as caught:
        tally(tok, Corpus.from_text("a zebra"))
    assert "\n" not in str(caught.value)


def test_a_space_that_no_corpus_had_leaves_words_without_a_value() -> None:
    corpus = Corpus.from_lines(["hug", "pug"])
    tok = train(corpus, preset("udl-notebook", split="none"), merges=1)
    found = tally(tok, corpus)
    assert found.spaced is None
    assert found.bare is not None
    assert found.bare.words == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"splitter": "gpt2"}, "splitter: no splitter 'gpt2' for words"),
        ({"splitter": "whitespaces"}, "did you mean whitespace?"),
        ({"splitter": "regex:["}, "split=regex:: the pattern cannot be compiled"),
        ({"splitter": "regex:"}, "needs text after the colon"),
        ({"alpha": -1.0}, "alpha=-1.0: out of range"),
        ({"alpha": float("nan")}, "alpha=nan: out of range"),
    ],
)
def test_conventions_that_cannot_be(words: dict[str, object], says: str) -> None:
    with pytest.raises(TokentuiError) as caught:
        Conventions(**words)  # type: ignore[arg-type]
    assert says in str(caught.value)


def test_progress_and_cancel() -> None:
    seen: list[tuple[int, int]] = []
    with job(lambda *now: seen.append(now)):
        tally(TOKENIZERS["gpt2"], LEARNED)
    assert seen
    assert seen[0][0] == 0
    assert all(0 <= done <= total for done, total in seen)
    with job(cancel=lambda: True), pytest.raises(Cancelled):
        tally(TOKENIZERS["gpt2"], LEARNED)
