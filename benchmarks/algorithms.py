"""Train all objectives on one corpus to one size, and write docs/algorithms.md:
`python benchmarks/algorithms.py [CORPUS] [--only NAME] [--size N] [--most SECONDS] [--jobs N] [--out FILE]`.

CORPUS is a text of about a megabyte; without one it is the built-in texts, which are shorter. `--only NAME`
trains one objective or preset and prints its row and its note, to put into the page.

What is trained is read from the records: every objective on the recipe of GPT-2, with the fewest other axes
changed that it makes sense with, and the presets of the papers as they are. Each trains in a fresh process.
One that takes longer than allowed is left where it has come to, and its row says so.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from harness import HERE, ROOT, Figures, Table, apart, kernels, machine, megabytes

from tokentui import learn
from tokentui.analyze.compare import compare_on
from tokentui.analyze.metrics import MEASURES, tally
from tokentui.axes import mended
from tokentui.core import engines
from tokentui.core.jobs import silent
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.objectives import OBJECTIVES
from tokentui.preset_table import presets
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.joining import joined
from tokentui.text.sources import samples

OUT = ROOT / "docs" / "algorithms.md"
PLAIN = Recipe()
"""The recipe that all are compared with: byte-level BPE as GPT-2 has it."""
FAMILY = "papers"
AGREED = 100_000
"""The characters at the start of the corpus that the agreement is counted on."""
BESIDE = "wordpiece", "sentencepiece-unigram"
"""The presets of other families that stand beside those of the papers."""
SHOWN = {
    "tokens": "tokens", "bytes_per_token": "bytes per token", "renyi_efficiency": "Rényi efficiency",
    "dead_tokens": "unused",
}
"""The measures of a row, by their names in the records."""
HEADS = ("what", "ids", "steps", *SHOWN.values(), "agreement", "CPU s", "engine", "tie rule")
CAVEATS = {
    "count": "The others are held beside it.",
    "parity": "The two halves of the corpus, cut at the end of a line, stand for two languages, and "
    "judge themselves. Equal counts: our tie rules; the authors take the largest pair.",
    "score": "Without a least count pairs that stand once win; what is learned late is rare.",
    "unigram": "No merges. Its time is that of pruning from many pieces down.",
    "superbpe": "A first-stage merge that stands nowhere on the stretches stays; the authors drop it. "
    "The limits on words and colons are those of the authors' code.",
    "boundless": "Of a word and a joined word of the same count the joined one is taken. A part that was "
    "taken apart keeps its id, as in the authors' code: it counts among the ids, and is unused.",
    "picky": "The reference has no tie rule, and two of its runs differ; here the recipe's holds.",
    "greedtok": "The reference leaves ties to a hash table; here they are fixed.",
    "length-max": "The paper and the two programs of its authors have three scores and two tie rules; "
    "ours are parameters, and the tie rule of the recipe.",
    "pathpiece": "The trainer of the paper was not published: one token a step leaves, ties are ours.",
}
"""What to know when one reads the row of an objective."""


class Entrant(NamedTuple):
    """What is trained: a name for people, and the recipe."""

    name: str
    recipe: Recipe

    @property
    def objective(self) -> str:
        """The name of its objective."""
        return self.recipe.objective.partition(":")[0]

    @property
    def differs(self) -> str:
        """Its axes that are not those of the plain recipe, beside the objective."""
        names = "normalize", "split", "unit", "mark", "base", "encode"
        axes = {name: self.recipe.axis(name) for name in names}
        return ", ".join(f"{name}={value}" for name, value in axes.items() if value != PLAIN.axis(name))


def by_objective() -> list[Entrant]:
    """Each objective that learns a vocabulary of a size that one asks for, on the plain recipe."""
    published = {one.objective: one.recipe for one in by_preset()}
    found = []
    for name, one in OBJECTIVES.items():
        # where tokens cross words, the pre-tokens have to be longer than words
        crosses = any(parameter.name == "within" for parameter in one.parameters)
        base = PLAIN.with_axes(split=published[name].split) if crosses and name in published else PLAIN
        recipe = None if one.substitutes_bytes else mended(base, "objective", name)
        found += [] if recipe is None else [Entrant(name, recipe)]
    return found


def by_preset() -> list[Entrant]:
    """The presets of the papers, and some beside them."""
    return [
        Entrant(one.name, one.recipe) for one in presets() if one.family == FAMILY or one.name in BESIDE
    ]


# ---- in a process of its own


def halves(text: str) -> dict[str, Corpus]:
    """A text as two corpora."""
    middle = text.find("\n", len(text) // 2) + 1 or len(text) // 2
    return {"first": Corpus.from_text(text[:middle]), "second": Corpus.from_text(text[middle:])}


def trained(text: str, recipe: Recipe, size: int, most: float) -> tuple[Tokenizer, Figures]:
    """Train until a size, or for about so many seconds."""
    apart_too = OBJECTIVES.of(recipe.objective).per_corpus
    corpus = joined(halves(text)) if apart_too else Corpus.from_text(text)
    stops = Stops(vocab_size=size)
    began = time.process_time()
    with silent():
        trainer, reason = learn.start(corpus, recipe, Run(stops)), None
        while not reason and time.process_time() - began < most:
            reason = learn.with_plain_fallback(trainer, lambda trainer: trainer.advance(None, stops))
    spent = time.process_time() - began
    return trainer.tokenizer(), {
        "cpu": spent, "steps": trainer.number, "engine": trainer.traits.engine, "ended": bool(reason),
        "ids": trainer.size_at(trainer.number),
    }


def measured(path: str, kind: str, name: str, size: int, most: float) -> Figures:
    """The figures of an entrant."""
    engines.available()
    text = Path(path).read_text(encoding="utf-8")
    entrants = by_objective() if kind == "objective" else by_preset()
    recipe = next(one.recipe for one in entrants if one.name == name)
    plain, _ = trained(text, PLAIN, size, most)  # first, so that all is loaded when the clock runs
    tokenizer, figures = trained(text, recipe, size, most)
    corpus = Corpus.from_text(text)
    with silent():
        counted = tally(tokenizer, corpus)
        pairs = compare_on([(0, plain), (1, tokenizer)], Corpus.from_text(text[:AGREED]))
    figures |= {one.name: one.of(counted) for one in MEASURES if one.name in SHOWN}
    agreed = pairs[0].agreement if pairs else None
    both = agreed.boundaries_a + agreed.boundaries_b if agreed else 0
    return {**figures, "agreement": 2 * agreed.shared / both if agreed and both else None}


# ---- the page


def row(one: Entrant, found: Figures) -> list[str]:
    """The row of an entrant."""
    def said(value: Any, digits: int) -> str:
        return "n/a" if value is None else f"{value:,.{digits}f}"

    def percent(share: float | None) -> str:
        return "n/a" if share is None else f"{share:.1%}"

    digits = {"tokens": 0, "dead_tokens": 0}
    part = "" if found["ended"] else " (stopped)"
    return [
        f"`{one.name}`", f"{found['ids']:,}{part}", f"{found['steps']:,}",
        *(said(found[name], digits.get(name, 3)) for name in SHOWN), percent(found["agreement"]),
        said(found["cpu"], 2), found["engine"], one.recipe.tie,
    ]


def notes(entrants: list[Entrant], size: int, found: dict[str, Figures]) -> str:
    """What to know of each row: its axes, where it ended, and how it differs from what was published."""
    lines = []
    for one in entrants:
        said = [f"`{one.name}`: {OBJECTIVES.of(one.recipe.objective).about}."]
        said += [f"On {one.differs}."] if one.differs else []
        figures = found[one.name]
        if not figures["ended"]:
            said.append(f"Stopped when its time was up, at {figures['ids']:,} of {size:,} ids: a part.")
        elif figures["ids"] < size:
            said.append(f"It ended at {figures['ids']:,} ids: nothing was left to do.")
        said += [CAVEATS[one.objective]] if one.objective in CAVEATS else []
        lines.append("- " + " ".join(said))
    return "\n".join(lines)


def only(path: Path, name: str, size: int, most: float) -> str:
    """Return the rows of one objective or preset, each with its note, and the corpus that it was trained on.
    """
    parts = [_under(path, size)]
    for kind, entrants in (("objective", by_objective()), ("preset", by_preset())):
        for entrant in entrants:
            if entrant.name == name:
                found = apart("algorithms", "measured", str(path), kind, name, size, most)
                parts.append("| " + " | ".join(row(entrant, found)) + " |")
                parts.append(notes([entrant], size, {name: found}))
    if len(parts) == 1:
        known = ", ".join(one.name for one in (*by_objective(), *by_preset()))
        raise SystemExit(f"--only {name}: no such objective or preset of the page: {known}")
    return "\n".join(parts)


def _under(path: Path, size: int) -> str:
    return f"{megabytes(path)} of `{path.name}`, {size:,} ids; {machine()}; {datetime.date.today()}"


def built_in(folder: Path) -> Path:
    """Write the built-in texts, one after the other, into a file of a folder, and return its path."""
    path = folder / "built-in.txt"
    texts = [one.path.read_text(encoding="utf-8") for one in samples() if one.as_ == "text"]
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


def page(path: Path, size: int, most: float, jobs: int) -> str:
    """The page, all measured anew, so many at a time."""
    text = (HERE / "algorithms.md").read_text(encoding="utf-8")
    for kind, entrants, title in (
        ("objective", by_objective(), "Objectives on the recipe of GPT-2"),
        ("preset", by_preset(), "Presets"),
    ):
        names = [one.name for one in entrants]

        def figures(name: str, kind: str = kind) -> Figures:
            print(f"{kind} {name}", file=sys.stderr, flush=True)
            return apart("algorithms", "measured", str(path), kind, name, size, most)

        with ThreadPoolExecutor(jobs) as pool:
            found = dict(zip(names, pool.map(figures, names), strict=True))
        table = Table(title, HEADS, [row(one, found[one.name]) for one in entrants])
        text = text.replace("{{" + kind + "}}", str(table))
        text = text.replace("{{notes of " + kind + "}}", notes(entrants, size, found))
    return text.replace("{{under}}", _under(path, size)).replace("{{most}}", f"{most:,.0f}").replace(
        "{{agreed}}", f"{AGREED:,}"
    )


def main(words: list[str] | None = None) -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description="Train all objectives on one corpus to one size.")
    parser.add_argument("corpus", type=Path, nargs="?", help="a text; the built-in texts where left out")
    parser.add_argument("--only", metavar="NAME", help="print the row of one objective or preset")
    parser.add_argument("--size", type=int, default=8000, help="the ids that each run ends at")
    parser.add_argument("--most", type=float, default=60, help="the CPU seconds that one may train")
    parser.add_argument("--jobs", type=int, default=1, help="how many train at a time")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args(words)
    kernels()
    with tempfile.TemporaryDirectory() as folder:
        corpus = built_in(Path(folder)) if given.corpus is None else given.corpus.resolve()
        if given.only:
            print(only(corpus, given.only, given.size, given.most))
        else:
            text = page(corpus, given.size, given.most, given.jobs)
            given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
