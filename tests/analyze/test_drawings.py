"""Drawings of merge trees and lattices: their values are those of the vocabulary, and each line fits."""

from __future__ import annotations

import itertools

import pytest
from hostile import SHORT

import tokentui
from tokentui.analyze.drawings import (
    MOST_UNITS,
    Lattice,
    MergeTree,
    Missing,
    Node,
    tree_of_token,
    tree_of_word,
    viterbi_cells,
)
from tokentui.analyze.explained import lattice_sections
from tokentui.analyze.inspect import string_facts, token_facts
from tokentui.cli.output import cell_text
from tokentui.core.safetext import is_safe
from tokentui.core.table import cell_width
from tokentui.text.sources import find_sample

ENGLISH = find_sample("english").path.read_text("utf-8")


@pytest.fixture(scope="module")
def gpt2() -> tokentui.Tokenizer:
    return tokentui.train("sample:english", "gpt2", merges=400)


@pytest.fixture(scope="module")
def unigram() -> tokentui.Tokenizer:
    return tokentui.train("sample:english", "sentencepiece-unigram", vocab_size=400)


def leaves(node: Node) -> bytes:
    return b"".join(map(leaves, node.parts)) if node.parts else node.piece


def drawn(drawing: MergeTree | Lattice, width: int = 80) -> list[str]:
    return [cell_text(line) for line in drawing.lines(width)]


def test_the_tree_of_a_word_grows_by_its_merges(gpt2: tokentui.Tokenizer) -> None:
    (word,) = gpt2.explain("unbelievable")
    tree = tree_of_word(word, {"left": b"li", "right": b"e", "count": 2, "place": 224})
    assert tree is not None
    assert [root.piece for root in tree.roots] == [*word.pieces]
    assert b"".join(map(leaves, tree.roots)) == b"unbelievable"
    assert tree.missing == Missing(3, 2, 224)
    assert drawn(tree) == [
        "        2 times, number 224 in the queue",
        "                   ┌┄┄┄┴┄┄┄┄┐",
        "u   n    be 296    li 233   e   v    able 107",
        "        ┌┴─┐      ┌┴─┐              ┌─┴──┐",
        "        b  e      l  i              a   ble 86",
        "                                       ┌─┴─┐",
        "                                       b   le 14",
        "                                          ┌┴─┐",
        "                                          l  e",
    ]
    assert "(able" not in drawn(tree, 30)
    assert max(map(cell_width, drawn(tree, 34)), default=0) <= 34
    assert tree.lines(10) == ()


def test_a_file_says_that_no_merge_joins_the_tokens(gpt2: tokentui.Tokenizer) -> None:
    (word,) = gpt2.explain("unbelievable")
    tree = tree_of_word(word, {})
    assert tree is not None
    assert tree.missing == Missing(3)
    assert "no merge" in drawn(tree)[0]


def test_a_word_of_one_token_has_the_tree_of_the_token(gpt2: tokentui.Tokenizer) -> None:
    (word,) = gpt2.explain(" the")
    assert tree_of_word(word, {}) is None
    tree = tree_of_token(token_facts(gpt2, gpt2.encode(" the").ids[0] or 0).tree)
    assert tree is not None
    assert leaves(tree.roots[0]) == b" the"
    assert tree.roots[0].parts[0].step < tree.roots[0].step


def test_what_a_training_knows_of_the_missing_join() -> None:
    trainer = tokentui.Trainer("sample:english", "gpt2")
    trainer.jump(400)
    facts = string_facts(trainer.tokenizer(), "unbelievable", trainer=trainer._engine)
    tree = tree_of_word(facts.words[0].explanation, facts.reason.facts)
    assert tree is not None
    assert tree.missing is not None
    left, right = tree.roots[tree.missing.place : tree.missing.place + 2]
    assert (left.piece, right.piece) == (facts.reason.facts["left"], facts.reason.facts["right"])
    assert tree.missing.words == f"{facts.reason.facts['count']} times, number " \
        f"{facts.reason.facts['place']} in the queue"


def test_a_lattice_begins_with_the_best_path(unigram: tokentui.Tokenizer) -> None:
    (word,) = unigram.explain("unbelievable")
    lattice = Lattice(word.units, word.lattice)
    lines = lattice.lines(80)
    best = [span.text for span in lines[1] if span.role == "accent" and str(span.text).strip("█")]
    assert best == ["▁un", "b", "e", "l", "i", "e", "v", "able"]
    assert all(span.role != "accent" for line in lines[2:] for span in line)
    assert drawn(lattice)[1].startswith("▁un██████████████ b████ e████")
    assert lattice.lines(15) == ()


@pytest.mark.parametrize("width", [24, 30, 80])
@pytest.mark.parametrize("times", [1, 2, 5, 9])
def test_a_long_word_has_its_lattice_in_rows(times: int, width: int, unigram: tokentui.Tokenizer) -> None:
    """Each unit stands in one row, and each piece of the best segmentation where its units are."""
    text = "unbelievable" * times
    (word,) = unigram.explain(text)
    lattice = Lattice(word.units, word.lattice)
    best = [edge.piece.decode() for edge in word.lattice if edge.best]
    whole = len(word.units) * 3 <= width
    lines = lattice.lines(width)
    rows = [[*group] for blank, group in itertools.groupby(lines, key=lambda line: line == ()) if not blank]
    heads = [cell_text(row[0]).split() for row in rows]
    assert [unit.encode() for head in heads for unit in head] == [*word.units]
    names = [str(span.text) for row in rows for span in row[1] if span.role == "accent"]
    assert [name for name in names if name.strip("█━─┄")] == best
    assert (len(rows) == 1) is whole
    assert all(sum(cell_width(cell_text((span,))) for span in line) <= width for line in lines)
    drawn_pieces = sum(
        not str(span.text).startswith(("…", " ", "and ")) and span.role in ("", "accent") for row in rows
        for line in row[1:] for span in line if str(span.text).strip("█━─┄ "))
    left = [int(line.split()[1]) for line in drawn(lattice, width) if line.startswith("and ")]
    assert drawn_pieces + sum(left) == len(word.lattice)


def test_a_lattice_that_cannot_be_read_is_not_drawn(unigram: tokentui.Tokenizer) -> None:
    (word,) = unigram.explain("unbelievable" * 11)
    assert len(word.units) > MOST_UNITS
    assert Lattice(word.units, word.lattice).lines(300) == ()
    (section,) = lattice_sections(word)
    assert f"{len(word.units)} units are too many to draw (more than {MOST_UNITS})" in str(section.summary)


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("text", ["The crowd in the street is unbelievable.", ENGLISH])
def test_the_walk_finds_the_best_segmentation(text: str, unigram: tokentui.Tokenizer) -> None:
    """Its last total is the probability of the segmentation that the encoder takes."""
    for word in unigram.explain(text):
        cells = {cell.place: cell for cell in viterbi_cells(word)}
        at, found = len(word.units), list[bytes]()
        while at:
            assert cells[at].best
            found.insert(0, cells[at].piece)
            at = cells[at].start
        best = sorted((edge.start, edge.piece, edge.score) for edge in word.lattice if edge.best)
        assert found == [piece for _, piece, _ in best]
        scores = sum(score for *_, score in best)
        assert cells[len(word.units)].total == pytest.approx(scores)


@pytest.mark.first_run(cases=5)
@pytest.mark.parametrize("text", [*SHORT, "漢字かな", "e\u0301\u0302", "👩‍👩‍👧", "a\u202eb", "▁▁"])
def test_no_text_makes_a_line_too_wide_or_unsafe(
    text: str, gpt2: tokentui.Tokenizer, unigram: tokentui.Tokenizer
) -> None:
    for tokenizer in (gpt2, unigram):
        for word, width in itertools.product(tokenizer.explain(text[:60]), (12, 37, 80, 120)):
            pieces = word.after(len(word.steps))
            facts: dict[str, object] = {"left": pieces[0], "right": pieces[1]} if len(pieces) > 1 else {}
            for drawing in (tree_of_word(word, facts), Lattice(word.units, word.lattice)):
                lines = drawn(drawing, width) if drawing is not None else []
                assert all(cell_width(line) <= width for line in lines), lines
                assert all(map(is_safe, lines))
                for line in drawing.lines(width, ascii_only=True) if drawing is not None else ():
                    assert all(span.text.isascii() for span in line if isinstance(span.text, str)), line
