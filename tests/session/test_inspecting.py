"""What is told of one token and one word, against recounts over the whole corpus."""

from __future__ import annotations

from typing import Any

import pytest

from tokentui import learn
from tokentui.axes import preset
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import to_bytes
from tokentui.learn import Word, jump
from tokentui.recipe import Run, Stops
from tokentui.session.commands import Command, InspectToken, LifeOfWord, TokenPlaces, TokenThere, perform
from tokentui.session.engine.state import State
from tokentui.session.training.token_values import TokenView, WordLife
from tokentui.session.training.training import prepare
from tokentui.session.views import CorpusPlace
from tokentui.text.corpus import Corpus
from tokentui.text.read import read


def state(name: str, step: int, source: str | Corpus = "sample:english") -> State:
    corpus = read(source) if isinstance(source, str) else source
    it = State(prepare(corpus, preset(name), Run(stops=Stops(merges=200, vocab_size=400))))
    jump(it.main.trainer, step)
    it.sync.adopt_position(it.main)
    return it


def asked(it: State, command: Command[Any]) -> Any:
    answers: list[Any] = []
    perform(command, it, answers.append)
    return answers[0]


def all_tokens(it: State) -> list[tuple[CorpusPlace, int]]:
    """Each token of the corpus with its place, from the trainer's cut of each pre-token."""
    trainer, window = it.main.trainer, it.main.training.text
    found = []
    for document in range(window.documents):
        for at, word, _ in window.words(document, 0, len(window.text(document))):
            spans = trainer.segment(Word(word))
            if trainer.recipe.unit == "byte":
                sizes = [len(to_bytes(word[:n])) for n in range(len(word) + 1)]
                starts = [max(n for n, size in enumerate(sizes) if size <= span.start) for span in spans]
            else:
                starts = [min(span.start, len(word)) for span in spans]
            found += [(CorpusPlace(document, at + start), span.symbol)
                      for start, span in zip(starts, spans, strict=True)]
    return found


@pytest.mark.parametrize("name", ["gpt2", "wordpiece", "subword-nmt", "llama2", "sentencepiece-unigram"])
@pytest.mark.first_run(cases=1)
def test_the_places_of_a_token_are_all_its_uses(name: str) -> None:
    it = state(name, 4 if "unigram" in name else 120)
    trainer, tokenizer = it.main.trainer, it.main.trainer.tokenizer()
    vocabulary, corpus = tokenizer.vocabulary, all_tokens(it)
    known = vocabulary.symbols_by_id(tokenizer.merges)
    symbols = sorted(known.values(), key=lambda one: -trainer.uses[one])
    tried = [*symbols[:3], *symbols[40:120:17]]
    for symbol in tried:
        number = vocabulary.id_of(symbol, tokenizer.merges)
        wanted = [at for at, one in corpus if one == symbol]
        found, after = [], None
        while some := asked(it, TokenPlaces(number, after, 50)).found:
            found += some
            after = some[-1].place
        assert [one.place for one in found] == wanted
        assert len(found) == trainer.uses[symbol]
        for one in found[:20]:
            text = it.main.training.text.text(one.place.document)
            at = one.place.offset
            mark = vocabulary.mark.decode() if vocabulary.recipe.mark_kind.startswith("end") else ""
            whole = (one.before + one.shown + one.after).replace("▁", " ")
            assert whole.strip() in text[max(0, at - 62) : at + 90].replace("▁", " ")
            assert to_bytes(one.shown + mark).find(vocabulary.spelled(symbol).removeprefix(b"##")[:1]) >= 0
    for part in it.snapshot().main.corpus.parts[:20]:
        for within in range(len(part.text)):
            found = asked(it, TokenThere(part.place, within))
            over = [one.start for one in part.tokens if one.start <= within < one.end]
            assert (found is None) == (not over)
            if found is not None:
                number, there = found
                assert there.start.offset - part.place.offset in over
                assert known.get(number, -1) in {one for place, one in corpus if place == there.start}


def test_a_token_of_a_huge_word_is_found_stretch_by_stretch() -> None:
    text = "abcab" * 9000 + "é" * 3
    it = state("minbpe-basic", 2, Corpus.from_text(text))
    trainer, corpus = it.main.trainer, all_tokens_of_one(it, text)
    for symbol in range(256, 258):
        wanted = [at for at, one in corpus if one == symbol]
        found = asked(it, TokenPlaces(symbol, None, 1 << 20)).found
        assert [one.place.offset for one in found] == wanted
        assert len(wanted) == trainer.uses[symbol]
        middle = asked(it, TokenPlaces(symbol, CorpusPlace(0, wanted[8000]), 3)).found
        assert [one.place.offset for one in middle] == wanted[8001:8004]


def all_tokens_of_one(it: State, text: str) -> list[tuple[int, int]]:
    spans = it.main.trainer.segment(Word(text))
    places = [at for at, char in enumerate(text) for _ in to_bytes(char)]
    return [(places[span.start], span.symbol) for span in spans]


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("name", ["gpt2", "wordpiece", "subword-nmt", "sentencepiece-unigram"])
def test_the_figures_of_a_token(name: str) -> None:
    it = state(name, 4 if "unigram" in name else 120)
    trainer, tokenizer = it.main.trainer, it.main.trainer.tokenizer()
    vocabulary = tokenizer.vocabulary
    known, uses = vocabulary.symbols_by_id(tokenizer.merges), list(trainer.uses)
    ids = sorted(entry.id for entry in tokenizer.entries())
    for number in sorted(known)[:: max(1, len(known) // 9)]:
        symbol = known[number]
        view = asked(it, InspectToken(number))
        assert isinstance(view, TokenView)
        assert (view.symbol, view.uses, view.number) == (symbol, uses[symbol], trainer.number)
        assert view.rank == sorted(uses, reverse=True).index(uses[symbol]) + 1
        assert view.tokens == len([count for count in uses if count])
        assert view.over[-1].uses == uses[symbol]
        assert view.made == (learn.steps_of_symbols(trainer)(symbol) or None)
        by_symbol = {token.token.id: token.uses for token in view.makes}
        parts = {vocabulary.id_of(vocabulary.base_size + n, tokenizer.merges)
                 for n, pair in enumerate(vocabulary.merges[: tokenizer.merges]) if symbol in pair}
        assert set(by_symbol) == parts or len(by_symbol) == 40
        assert all(uses[known[one]] == count for one, count in by_symbol.items())
        spelled = {vocabulary.spelled(one): n for n, one in known.items()}
        assert all(spelled.get(one.piece) == one.id for one in view.spellings)
        at = ids.index(number)
        assert view.before == (ids[at - 1] if at else None)
        assert view.after == (ids[at + 1] if at + 1 < len(ids) else None)
        # A piece is asked for by its bytes, too.
        if [*spelled].count(vocabulary.spelled(symbol)) == 1:
            assert asked(it, InspectToken(vocabulary.spelled(symbol))).facts.id == number


def test_what_a_token_lost_is_what_others_took() -> None:
    it = state("gpt2", 150)
    trainer = it.main.trainer
    vocabulary = trainer.tokenizer().vocabulary
    symbol = vocabulary.base_size
    view = asked(it, InspectToken(vocabulary.id_of(symbol, trainer.number)))
    lost = view.lost()
    assert len(lost) > 3
    for piece, by, step in lost:
        assert symbol in vocabulary.merges[step - 1]
        assert vocabulary.pieces[vocabulary.base_size + step - 1] == piece
        (made,) = trainer.step_at(step).events
        assert by == made.replaced * vocabulary.merges[step - 1].count(symbol)
    assert max(one.uses for one in view.over) - sum(by for _, by, _ in lost) == view.uses


def test_no_token_is_said_so() -> None:
    it = state("gpt2", 3)
    with pytest.raises(TokentuiError, match="no token has this spelling at this step"):
        asked(it, InspectToken(b"never made"))
    with pytest.raises(TokentuiError, match="no such id"):
        asked(it, InspectToken(10**6))
    it = state("llama2", 3)
    special = asked(it, InspectToken(it.main.trainer.tokenizer().vocabulary.byte_id(65)))
    assert (special.symbol, special.uses, special.over) == (None, None, ())


@pytest.mark.parametrize("name", ["gpt2", "wordpiece", "sentencepiece-unigram", "gage"])
def test_the_life_of_a_word_is_each_step_that_cuts_it(name: str) -> None:
    it = state(name, 4 if "unigram" in name else 60)
    trainer = it.main.trainer
    at_step = trainer.number
    life = asked(it, LifeOfWord("in the street", 4))
    assert isinstance(life, WordLife)
    assert (life.number, life.turns[0].number) == (at_step, 0)
    before = None
    cut = {}
    for number in range(at_step + 1):
        pieces = tuple(token.piece or b"" for token in trainer.tokenizer(number).encoder.word(life.word))
        if pieces != before:
            cut[number] = before = pieces
    assert {turn.number: turn.pieces for turn in life.turns} == cut
    for turn in life.turns[1:]:
        if trainer.traits.grows:
            vocabulary = trainer.tokenizer().vocabulary
            assert turn.parts == tuple(map(vocabulary.spelled, vocabulary.merges[turn.number - 1]))
        else:
            assert turn.said == trainer.step_at(turn.number).sentence
    with pytest.raises(TokentuiError, match="there is no word at the cursor"):
        asked(it, LifeOfWord("", 0))
