"""Entries of the vocabulary that are out of use are one row, where that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tokentui import learn, train
from tokentui.axes import preset
from tokentui.formats.files import load
from tokentui.learn import Entry, Query, Trainer
from tokentui.recipe import Run
from tokentui.session.training.training import prepare_tokenizer
from tokentui.text.corpus import Corpus

TEXT = "hug pug hugs bun pun hug hug pugs " * 3


def trained(name: str) -> Trainer:
    """A trainer of a preset at its fourth step."""
    trainer = learn.start(Corpus.from_text(TEXT), preset(name), Run())
    trainer.advance(4, trainer.limits, 60.0)
    return trainer


def opened(folder: Path) -> Trainer:
    """A file whose tokens this corpus uses in part, at its last step."""
    train(Corpus.from_text(TEXT + "zebra " * 9), "gpt2", merges=20).save(folder / "file.json")
    trainer = prepare_tokenizer(Corpus.from_text(TEXT), load(folder / "file.json"), Run()).trainer
    trainer.advance(None, trainer.limits, 60.0)
    return trainer


def unused_base(one: Entry) -> bool:
    return one.kind == "base" and one.uses == 0


def unused(one: Entry) -> bool:
    return one.kind == "left" or one.uses == 0


@pytest.mark.parametrize(("name", "folds"), [("gpt2", unused_base), ("gage", unused_base), ("t5", unused)])
@pytest.mark.parametrize("order", ["newest", "most used"])
def test_unused_entries_are_the_last_row(name: str, folds: Callable[[Entry], bool], order: str) -> None:
    check(trained(name), folds, order)


@pytest.mark.parametrize("order", ["newest", "most used"])
def test_unused_tokens_of_a_file_are_folded(tmp_path: Path, order: str) -> None:
    check(opened(tmp_path), unused, order)


def check(trainer: Trainer, folds: Callable[[Entry], bool], order: str) -> None:
    """The rows are those of the whole list but for what folds, and the last one says how many do."""
    whole = learn.entries(trainer, Query(0, 10_000, order)).rows
    page = learn.entries(trainer, Query(0, 10_000, order, folded=True))
    kept = [one for one in whole if not folds(one)]
    assert len(kept) < len(whole)
    assert list(page.rows[:-1]) == kept
    assert (page.rows[-1].kind, page.rows[-1].uses) == ("folded", len(whole) - len(kept))
    assert (page.total, page.folded) == (len(kept) + 1, len(whole) - len(kept))
    # Any part of it, the last row alone as well.
    for top, rows in ((0, 2), (1, 3), (len(kept), 5), (len(kept) + 9, 5)):
        part = learn.entries(trainer, Query(top, rows, order, folded=True))
        assert part.rows == page.rows[part.top : part.top + rows]
        assert part.top == min(top, len(kept))


def test_a_search_and_other_orders_see_all_rows() -> None:
    trainer = trained("gpt2")
    for query in (Query(0, 500, "id"), Query(0, 500, "longest"), Query(0, 500, "newest", (b"z",))):
        assert learn.entries(trainer, query._replace(folded=True)) == learn.entries(trainer, query)


def test_no_row_is_folded_if_all_entries_are_used() -> None:
    trainer = learn.start(Corpus.from_text(TEXT), preset("subword-nmt"))
    page = learn.entries(trainer, Query(0, 100, "newest", folded=True))
    assert page == learn.entries(trainer, Query(0, 100, "newest"))
    assert page.folded == 0
