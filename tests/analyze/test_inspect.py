"""The facts of tokens, why a text is not one token, and the health of vocabularies."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui import learn
from tokentui.analyze.health import examine
from tokentui.analyze.inspect import find_tokens, string_facts, token_facts
from tokentui.analyze.report import Span, spans
from tokentui.analyze.results import TokenFacts
from tokentui.analyze.token_words import mark_sections
from tokentui.axes import preset
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import job
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.encode.why_not import why_not
from tokentui.learn import start
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

PLAIN = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")


@pytest.fixture(scope="module")
def slide() -> Tokenizer:
    """The tokenizer of the slides, of a run that went on."""
    run = start(read("sample:hugs"), preset("comp336"), Run(first_id=1))
    learn.run(run, Stops(merges=21))
    return run.tokenizer().at(7)


def orphan() -> Tokenizer:
    """abc is made of ab and c, but b and c are merged first."""
    vocabulary = Vocabulary(PLAIN, [b"a", b"b", b"c"])
    vocabulary.add(1, 2, 9)
    vocabulary.add(0, 1, 5)
    vocabulary.add(4, 2, 2)
    return Tokenizer(vocabulary)


def named(tokenizer: Tokenizer, token: str | bytes) -> TokenFacts:
    """The facts of the first token that is spelled so."""
    return token_facts(tokenizer, find_tokens(tokenizer, token)[0].id)


def test_a_merge(slide: Tokenizer) -> None:
    facts = named(slide, " pug")
    assert facts == token_facts(slide, 17) == named(slide, b" pug")
    assert (facts.id, facts.kind, facts.step, facts.count, facts.piece) == (17, "merge", 4, 2, b" pug")
    assert facts.parents == (b" p", b"ug")
    assert facts.units == (b" ", b"p", b"u", b"g")
    assert facts.children == ((18, b" pugs"),)
    assert facts.code_points[0] == "U+0020 SPACE"
    assert [(one.depth, one.piece, one.step) for one in facts.tree] == [
        (0, b" pug", 4), (1, b" p", 2), (2, b" ", 0), (2, b"p", 0), (1, b"ug", 1), (2, b"u", 0), (2, b"g", 0),
    ]
    assert facts.tree_size == 7
    assert facts.unreachable == ""


def test_relatives_differ_in_space_case_and_mark(slide: Tokenizer) -> None:
    assert named(slide, "hug").others == ((20, b" hug"),)
    run = start(Corpus.from_lines(["The the the", "bathe lathe"]), preset("gpt1", normalize=()))
    learn.run(run, Stops(merges=30))
    assert {piece for _, piece in named(run.tokenizer(), "the</w>").others} == {b"The</w>"}


def test_a_unit_a_special_and_a_byte() -> None:
    run = start(read("sample:hugs"), preset("llama2"), Run(specials=("<unk>", "<s>")))
    learn.run(run, Stops(merges=1))
    tokenizer = run.tokenizer()
    assert [token_facts(tokenizer, number).kind for number in (0, 1, 2)] == ["unknown", "special", "byte"]
    assert named(tokenizer, "<0x00>").id == 2
    unit = named(tokenizer, "h")
    assert (unit.kind, unit.step, unit.parents, unit.tree) == ("unit", None, (), ())


def test_a_part_of_a_character() -> None:
    run = start(Corpus.from_text("éèéê"), preset("minbpe-basic"))
    learn.run(run, Stops(merges=1))
    facts = named(run.tokenizer(), b"\xc3")
    assert (facts.code_points, facts.unreachable) == ((), "")


@pytest.mark.parametrize("token", [99, -1, 10**30])
def test_there_is_no_such_token(token: int, slide: Tokenizer) -> None:
    with pytest.raises(TokentuiError, match="no such id"):
        token_facts(slide, token)


@pytest.mark.parametrize("token", ["hu", b"\xff", ""])
def test_no_token_is_spelled_so(token: str | bytes, slide: Tokenizer) -> None:
    assert find_tokens(slide, token) == []


@pytest.mark.slow
def test_a_deep_tree_is_cut_and_counted() -> None:
    vocabulary = Vocabulary(PLAIN, [b"a"])
    for last in range(1200):  # deeper than Python recurses
        vocabulary.add(last, 0, 1)
    facts = token_facts(Tokenizer(vocabulary), 1200)
    assert facts.tree_size == 2401
    assert len(facts.tree) == 127


def test_an_orphan_cannot_be_made_and_why() -> None:
    tokenizer = orphan()
    assert named(tokenizer, "abc").unreachable == "its own text is encoded as a bc"
    assert why_not(tokenizer, "abc").sentence == (
        "It becomes a | bc: there is a token for it, made from ab + c at step 3, but b + c (step 1) is "
        "merged "
        "first and prevents it."
    )
    assert examine(tokenizer).facts.unreachable == ((5, b"abc", "its own text is encoded as a bc"),)


def test_two_tokens_spelled_alike() -> None:
    vocabulary = Vocabulary(PLAIN, [b"a", b"b", b"c"])
    for left, right in ((0, 1), (3, 2), (1, 2), (0, 5)):
        vocabulary.add(left, right, 1)
    tokenizer = Tokenizer(vocabulary)
    found = examine(tokenizer).facts
    assert found.duplicates == ((b"abc", (4, 6)),)
    assert (6, b"abc", "another token has the same spelling: id 4") in found.unreachable
    assert [entry.id for entry in find_tokens(tokenizer, "abc")] == [4, 6]


def test_a_token_that_the_split_never_leaves_whole() -> None:
    vocabulary = Vocabulary(PLAIN.with_axes(split="bert"), [b"a", b"-"])
    vocabulary.add(0, 1, 1)
    assert named(Tokenizer(vocabulary), "a-").unreachable.startswith("no word after the split contains it")


def test_a_token_that_normalizing_removes() -> None:
    vocabulary = Vocabulary(PLAIN.with_axes(normalize="lowercase"), [b"A", b"a"])
    assert [number for number, _, _ in examine(Tokenizer(vocabulary)).facts.unreachable] == [0]


def test_health_counts(slide: Tokenizer) -> None:
    found = examine(slide).facts
    assert (found.vocab_size, found.first_id, found.merges) == (20, 1, 7)
    assert found.kinds == (("unit", 13), ("merge", 7))
    assert found.longest[0] == (18, b" pugs")
    assert (found.unreachable, found.duplicates, found.not_utf8) == ((), (), ())
    assert found.spaces == ((1, b" "),)
    with job(cancel=lambda: True), pytest.raises(Cancelled):
        examine(slide)


def test_health_of_bytes() -> None:
    run = start(Corpus.from_text("雨雪雲雨雪雲"), preset("minbpe-basic"))
    learn.run(run, Stops(merges=3))
    found = examine(run.tokenizer()).facts
    assert found.missing_bytes == ()
    pieces = {entry.piece for entry in run.tokenizer().entries() if entry.kind == "merge"}
    broken = {piece for piece in pieces if b"\xef\xbf\xbd" in piece.decode("utf-8", "replace").encode()}
    assert {piece for _, piece in found.not_utf8} == broken


@pytest.mark.parametrize(("text", "why"), [
    ("", "It is the empty text, which has no tokens."),
    (" hug", "It is one token: id 20."),
    (" hugs", "It becomes ·hug | s: no token is spelled that way, and no merge joins ·hug and s."),
    ("hug pug", "The split before cuts it into 2 pre-tokens, hug | ·pug, and no token crosses pre-tokens. "
     "Branch 2 of "
     "its pattern matches the first one: a beginning with neither space nor punctuation  [^\\s\\p{P}]+."),
    ("apple", "It cannot be one token: l is not in the vocabulary."),
    ("pugs",
        "It becomes p | ug | s: no token is spelled that way; there is ·pugs, which begins with a space."),
    (" puns", "It becomes ·p | un | s: a token for it is made only at step 21."),
])
def test_why_it_is_not_one_token(text: str, why: str, slide: Tokenizer) -> None:
    assert why_not(slide, text).sentence == why


def test_why_by_other_ways() -> None:
    run = start(read("sample:english"), preset("bert"), Run(specials=("[UNK]",)))
    learn.run(run, Stops(merges=300))
    bert = run.tokenizer()
    assert "there is ##ing, which occurs only inside words" in why_not(bert, "ing").sentence
    assert (
        why_not(bert, "THE").sentence
        == "It is, after normalization to the, one token: id " + f"{bert.encode('the').ids[0]}."
    )
    assert "longest match gives up on words of more than 100" in why_not(bert, "a" * 101).sentence
    assert why_not(bert, "[UNK]").sentence.startswith("It is the name of the special token with id 0")
    assert why_not(bert, " ").sentence == "Nothing of it is left after the split: it has no tokens."


def test_why_by_probability() -> None:
    recipe = Recipe(
        split="none", unit="char", base="frequency", objective="unigram", encode="viterbi", unknown="fused"
    )
    tokenizer = Tokenizer(Vocabulary(recipe, [b"a", b"b", b"ab"], ("<unk>",), 0, [-1.0, -1.0, -3.0]))
    assert why_not(tokenizer, "ab").sentence == (
        "It becomes a | b: the token for the whole text (log probability -3.0000) is less probable than "
        "these "
        "(-2.0000)."
    )
    assert named(tokenizer, "ab").unreachable == "its own text is encoded as a b"
    (word,) = string_facts(tokenizer, "ab").words
    assert [(edge.piece, edge.best) for edge in word.lattice] == [(b"a", True), (b"ab", False), (b"b", True)]


_units: set[tuple[bytes, str]] = set()


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(
    texts=st.lists(st.text(alphabet="abc d", min_size=1, max_size=12), min_size=1, max_size=4),
    name=st.sampled_from(["comp336", "gpt2", "bert", "gpt1", "udl-notebook", "llama2", "minbpe-basic"]),
    merges=st.integers(0, 15),
)
def test_what_a_training_makes_can_be_made(texts: list[str], name: str, merges: int) -> None:
    run = start(Corpus.from_lines(texts), preset(name), Run(specials=("<unk>",)))
    learn.run(run, Stops(merges=merges))
    tokenizer = run.tokenizer()
    if preset(name).encode == "merges":
        used = {number for text in texts for number in tokenizer.encode(text).ids}
        dead = {number for number, _, _ in examine(tokenizer).facts.unreachable}
        assert not used & dead
    for entry in tokenizer.entries():
        # a unit of a kind has its facts once
        if entry.kind != "unit" or (entry.piece, tokenizer.recipe.unit) not in _units:
            assert token_facts(tokenizer, entry.id).id == entry.id
            _units.add((entry.piece, tokenizer.recipe.unit))


@settings(max_examples=30, deadline=None)
@given(text=st.text(max_size=12), name=st.sampled_from(sorted(PRESETS)))
def test_any_string_has_its_facts(text: str, name: str) -> None:
    tokenizer = _small(name)
    found = string_facts(tokenizer, text)
    assert found.why.endswith(".")
    assert "\n" not in found.why
    assert (found.encoding is None) == bool(found.refusal)
    encoding = found.encoding
    if (
        encoding is not None
        and len(encoding) == 1
        and not encoding.unknown
        and tokenizer.recipe.unknown != "drop"
    ):
        assert "one token: id" in found.why or "special" in found.why


_made: dict[str, Tokenizer] = {}


def _small(name: str) -> Tokenizer:
    if name not in _made:
        run = start(read("sample:hugs"), preset(name), Run(specials=PRESETS[name].run.specials))
        learn.run(run, Stops(merges=5))
        _made[name] = run.tokenizer()
    return _made[name]


@pytest.mark.parametrize(("piece", "marks", "mark", "where"), [
    (b"##ing", (2, 0), b"##", "at the start"), (b"low</w>", (0, 4), b"</w>", "at the end"),
])
def test_a_mark_is_shown_with_the_end_of_the_token_that_has_it(
    piece: bytes, marks: tuple[int, int], mark: bytes, where: str
) -> None:
    (section,) = mark_sections(piece, marks)
    shown, note = spans(section.summary)
    assert isinstance(shown, Span)
    assert isinstance(note, Span)
    assert (section.name, shown.text) == ("mark", mark)
    assert where in str(note.text)
