"""The arrays in `docs/merge.md` are those of the engine, before and after a merge."""

from __future__ import annotations

from pathlib import Path

from tokentui import learn
from tokentui.learn.bpe import PlainPairs
from tokentui.learn.objectives import Material
from tokentui.learn.start_pairs import pair_trainer
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.count import count

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "merge.md").read_text(encoding="utf-8")
CORPUS = Corpus.from_counts([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)])
RECIPE = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")


def line(name: str, values: list[object]) -> str:
    return f"{name:<9}" + "".join(f"{value!s:>4}" for value in values)


def arrays(pairs: PlainPairs) -> list[str]:
    """The lines of the page: the cells, then a row for each pair."""
    pieces = [piece.decode() for piece in pairs.vocabulary.pieces]
    texts = ["" if symbol < 0 else pieces[symbol] for symbol in pairs.symbols]
    lines = [
        line("cell", [*range(len(pairs.symbols))]), line("text", [*texts]), line("symbols", [*pairs.symbols]),
        line("pair_at", [*pairs._pair_at]), line("weights", [*pairs._weights]),
    ]
    for pair in range(1, len(pairs.counts)):
        parts = f"{pieces[pairs.left[pair]]}+{pieces[pairs.right[pair]]}"
        places = " ".join(map(str, pairs._places[pair]))
        lines.append(f"{pair:>2}  {parts:<5} {pairs.counts[pair]:>5}  {places}".rstrip())
    return [text.rstrip() for text in lines]


def test_the_arrays_of_the_page_are_those_of_the_engine() -> None:
    trainer = pair_trainer(Material.of(count(CORPUS, RECIPE), RECIPE), compiled=False)
    shown, pairs = PAGE.splitlines(), trainer.engine
    assert isinstance(pairs, PlainPairs)
    for number in range(2):
        learn.jump(trainer, number)
        assert [text for text in arrays(pairs) if text not in shown] == []
    assert (pairs._log_place, pairs._log_left) == ([2, 6, 18], [1, 3, 1])
    assert {"log_place   2   6  18", "log_left    1   3   1"} <= set(shown)
