"""How long pre-tokenizing and counting takes. All count the pre-tokens of one text, in one process, in turns.

Each gets the text as it likes it best, and that is not timed. What the others offer is a training: theirs is
asked for no merges, so that little else than counting is left.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import Figures, Table, apart, cpu, installed, kernels, median, megabytes, pieces, spread, version

from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.count import count as count_text
from tokentui.text.count import count_steps
from tokentui.text.split import SPLITS

Count = Callable[[], object]
ALL_SPLITS = ("gpt2", "cl100k", "o200k", "llama3", "whitespace")


def counters(path: Path, split: str, repeats_plain: bool) -> dict[str, Count]:
    """What is timed, by its name in the table; the first is what the others are compared with."""
    from tokentui.text.kernels.count import count, count_words

    text = path.read_text(encoding="utf-8")
    recipe, corpus = Recipe(split=split), Corpus.from_text(text)
    found: dict[str, Count] = {
        "kernels, 2 threads": lambda: count([text], split, threads=2),
        "kernels, 1 thread": lambda: count([text], split, threads=1),
        "kernels, to words": lambda: count_words([text], recipe, str.split),
    }
    if repeats_plain:
        found["plain"] = lambda: list(count_steps(corpus, recipe))
        parts = list(pieces(path))
        if installed("tokenizers"):
            found[version("tokenizers")] = _huggingface(parts, split)
        if installed("rustbpe"):
            import rustbpe

            found[version("rustbpe")] = lambda: rustbpe.Tokenizer().train_from_iterator(
                parts, 256, pattern=SPLITS[split].pattern
            )
    return found


def _huggingface(parts: list[str], split: str) -> Count:
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    byte_level: Any = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=split == "gpt2")
    if split != "gpt2":
        # possessive for `regex`, a repetition of repetitions for Oniguruma
        words = SPLITS[split].pattern.replace("}+", "}")
        byte_level = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(words), "isolated"), byte_level])

    def count() -> None:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = byte_level
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=256, min_frequency=0, show_progress=False, initial_alphabet=alphabet
        )
        tokenizer.train_from_iterator(parts, trainer)

    return count


def timed(path: str, split: str, repeats: int, others: bool) -> Figures:
    """Wall and processor seconds of each in turns, after a first time that does not count."""
    kernels()
    found = counters(Path(path), split, others)
    runs: dict[str, list[Figures]] = {name: [] for name in found}
    for turn in range(repeats + 1):
        for name, work in found.items():
            gc.collect()
            used, start = cpu(), time.perf_counter()
            work()
            if turn:
                runs[name].append({"seconds": time.perf_counter() - start, "cpu": cpu() - used})
    return runs


def table(path: Path, repeats: int) -> Table:
    """GPT-2's split with all others, the further ones by kernels alone."""
    size, rows = path.stat().st_size / 1e6, []
    for split in ALL_SPLITS:
        runs = apart("counting", "timed", str(path), split, repeats, split == "gpt2")
        reference = median(next(iter(runs.values())))
        rows += [
            (f"{split}: {name}", *spread([run["seconds"] for run in one]), f"{median(one, 'cpu'):.3f}",
             f"{size / median(one):.0f}", f"{median(one) / reference:.1f}")
            for name, one in runs.items()
        ]
    heads = ("counter", "median s", "least–most", "CPU s", "MB/s", "times ours")
    return Table(f"Pre-tokenizing and counting, {megabytes(path)}", heads, rows)


def presets(path: str, repeats: int) -> Figures:
    """Wall and processor seconds of counting by each preset that counts otherwise than those before it, after
    a first time that does not count."""
    kernels()
    corpus, found = Corpus.from_text(Path(path).read_text(encoding="utf-8")), {}
    known = set()
    for name, preset in PRESETS.items():
        recipe = preset.recipe
        counted = recipe.normalize, recipe.split, recipe.unit, recipe.symbols, recipe.prefix_space
        if counted in known:
            continue  # another one counts the same words
        known.add(counted)
        runs: list[Figures] = []
        for _ in range(repeats + 1):
            gc.collect()
            used, start = cpu(), time.perf_counter()
            count_text(corpus, recipe)
            runs.append({"seconds": time.perf_counter() - start, "cpu": cpu() - used})
        found[name] = runs[1:]
    return found


def presets_table(path: Path, repeats: int) -> Table:
    """Counting by the recipe of each preset, to words, as a training begins."""
    size, rows = path.stat().st_size / 1e6, []
    for name, runs in apart("counting", "presets", str(path), repeats).items():
        seconds = spread([run["seconds"] for run in runs], 1000)
        rows.append((name, *seconds, f"{1000 * median(runs, 'cpu'):.0f}", f"{size / median(runs):.0f}"))
    heads = ("preset", "median ms", "least–most", "CPU ms", "MB/s")
    return Table(f"Counting by each preset, {megabytes(path)}", heads, rows)
