"""The public face of the library: read a corpus, train on it, load and save tokenizers."""

from __future__ import annotations

import dataclasses
import operator
import os
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, SupportsIndex

from tokentui import formats
from tokentui.core.arguments import calls, each_of, shown, whole
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe_line
from tokentui.encode.tokenizer import Tokenizer as TokenizerValue
from tokentui.formats.mistaken import refuse_tokenizers
from tokentui.learn import start
from tokentui.learn.base import Cancel, Progress
from tokentui.learn.base import Trainer as Engine
from tokentui.presets import label, preset
from tokentui.recipe import Recipe
from tokentui.text import read as reading
from tokentui.text.corpus import Corpus

LARGEST = 2**53
"""The largest number that a run may name: what every reader of JSON keeps exact."""

_LEAST = {"merges": 0, "vocab_size": 0, "min_count": 1, "max_length": 1, "first_id": 0}
Source = Corpus | str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""A corpus, or what `read` takes."""


def read(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    as_: str | None = None,
    field: str = "text",
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    stdin: BinaryIO | None = None,
) -> Corpus:
    """Read a corpus.

    Args:
        source: A file, a folder (its text files), `-` (standard input), a glob or `sample:NAME`; or several of them. A path
            object is a path and nothing else.
        as_: How files are read: `text`, `lines`, `jsonl` or `counts`; None goes by the name.
        field: The field of JSON rows that holds the text.
        progress: Told (done, total) in bytes of the files as they stand; the total is 0 where it is not known.
        cancel: Asked meanwhile; true raises `Cancelled`.
        stdin: What `-` reads; the program's standard input when None.

    Raises:
        TokentuiError: A source cannot be read, or is a tokenizer file and `as_` does not say how it is read.
    """
    refuse_tokenizers(source, as_, "as_='text'")
    return reading.read(source, as_=as_, field=field, progress=progress, cancel=cancel, stdin=stdin)


class Tokenizer(TokenizerValue):
    """A tokenizer that `load`, `train` and `Trainer.tokenizer` make: the value that encodes, which can be saved."""

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write it to a file, whole or not at all.

        Args:
            path: The file; a symlink's target is written.
            format: One of `tokentui.formats.FORMATS`; by the end of the file's name where None.

        Raises:
            TokentuiError: There is no such format, the name says none, or the file cannot be written.
        """
        formats.save(self, path, format)


def load(path: str | os.PathLike[str], split: str = "") -> Tokenizer:
    """Read a tokenizer file. Its format is told by its content, never by its name.

    Args:
        path: The file.
        split: A value of that axis, for a file that holds none (tiktoken ranks).

    Raises:
        TokentuiError: It cannot be read, is of no known format, or is damaged; the error says what is wrong and where. Or it
            holds a split and another one was named.
    """
    return _public(formats.load(path, split))


def _public(tokenizer: TokenizerValue) -> Tokenizer:
    return Tokenizer(tokenizer.vocabulary, tokenizer.merges, tokenizer.run)


class Trainer:
    """A training at one of its steps. Forward and back are exact: every number is what a recount from scratch would give.

    Iterating makes steps until the end. `len(run)` is the number of known steps, `run[512]` is step 512, `run[-1]` the last one.

    Args:
        corpus: A corpus, or what `read` takes.
        recipe: A recipe, or the name of a preset.
        first_id: The first id given, 0 where None.
        specials: Special tokens, which take the first ids in this order; none where None.
        coverage: The share of the characters of the corpus that the base covers; as the recipe has it where None, and so on.
        symbols: Texts that are one token each, and that no merge crosses.
        prefix_space: Whether a space is set in front of a text.
        published: Whether the first id, the special tokens and the sizes are those that the preset was published with, where they
            are not named. A `run` without stops goes to these sizes.
        progress: Told (done, total): in bytes while reading, then in characters while counting.
        cancel: Asked meanwhile; true raises `Cancelled`.

    Raises:
        TokentuiError: The corpus cannot be read, there is no such preset, or a number or special token cannot be.
    """

    def __init__(
        self,
        corpus: Source,
        recipe: Recipe | str,
        *,
        first_id: int | None = None,
        specials: Sequence[str] | None = None,
        coverage: float | None = None,
        symbols: Sequence[str] | None = None,
        prefix_space: bool | None = None,
        published: bool = False,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> None:
        calls(progress=progress, cancel=cancel)
        self._engine = _started(
            corpus, recipe, first_id, specials, progress, cancel, coverage=coverage, symbols=symbols,
            prefix_space=prefix_space, published=published,
        )

    def __repr__(self) -> str:
        engine = self._engine
        name = safe_line(label(engine.recipe), limit=80)
        return f"<Trainer {name} at step {engine.number:,} of {engine.known:,} known, {engine.vocab_size:,} ids>"

    @property
    def recipe(self) -> Recipe:
        """What is trained."""
        return self._engine.recipe

    @property
    def number(self) -> int:
        """The step at which it stands, 0 at the start."""
        return self._engine.number

    @property
    def known(self) -> int:
        """The furthest step that was made."""
        return self._engine.known

    @property
    def tokens(self) -> int:
        """The length of the corpus in tokens at this step."""
        return self._engine.tokens

    @property
    def vocab_size(self) -> int:
        """The number of ids at this step, specials counted."""
        return self._engine.vocab_size

    def step(self) -> Any:
        """Make the next step. Returns it, None at the end."""
        return self._engine.step()

    def back(self) -> Any:
        """Undo the last step. Returns it, None at the start."""
        return self._engine.back()

    def jump(self, number: SupportsIndex, *, progress: Progress | None = None, cancel: Cancel | None = None) -> int:
        """Go to a step, back or forward.

        Args:
            number: The step, 0 for the start.
            progress: Told (done, total) in steps.
            cancel: Asked meanwhile; true raises `Cancelled`, and the run stays where it is.

        Returns:
            The number of the step.

        Raises:
            TokentuiError: There is no such step; the run stands where it stood.
        """
        calls(progress=progress, cancel=cancel)
        asked = whole(number, "step", 0, "take the number of a step")
        engine, before = self._engine, self._engine.number
        arrived = engine.jump(asked, progress=progress, cancel=cancel)
        if arrived != asked:
            engine.jump(before)
            raise TokentuiError(f"the training ends at step {arrived:,}", f"step {shown(asked)}", f"take 0 to {arrived}")
        return arrived

    def run(
        self,
        *,
        merges: int | None = None,
        vocab_size: int | None = None,
        min_count: int | None = None,
        max_length: int | None = None,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> str:
        """Go on until a stop holds or nothing is left to do.

        Args:
            merges: Stop after so many merges, from the start of the training.
            vocab_size: Stop at so many ids, specials counted.
            min_count: Stop before a pair that stands less often; 1 where None.
            max_length: Make no token of more units.
            progress: Told (done, total) in merges; the total is 0 where it is not known.
            cancel: Asked meanwhile; true raises `Cancelled`, and the run stays where it is.

        Returns:
            Why it stopped: `merges`, `vocab_size`, `min_count` or `no pair left`.

        Raises:
            TokentuiError: A number that cannot be, or a size below the one at the start.
        """
        calls(progress=progress, cancel=cancel)
        named = _numbers(merges=merges, vocab_size=vocab_size, min_count=min_count, max_length=max_length)
        asked = _asked_of(self._engine, named)
        check_size(self._engine, asked.get("vocab_size"))
        return self._engine.run(**asked, progress=progress, cancel=cancel)

    def candidates(self, limit: int = 100, start: int = 0) -> list[Any]:
        """What the next step may take, best first: pairs, or the pieces that a pruning judges.

        Args:
            limit: How many at most.
            start: How many of the best to leave out.
        """
        return self._engine.candidates(whole(limit, "limit", 0, "such as 100"), whole(start, "start", 0, "such as 0"))

    def why(self) -> Any:
        """Why the next step is what it is, or why there is none; not of a unigram training."""
        why = getattr(self._engine, "why", None)
        if why is None:
            raise TokentuiError("a unigram training has no next pair", "why", "take candidates()")
        return why()

    def steps(self, first: int = 1) -> Iterator[Any]:
        """The steps from this one on up to the present one: values with names, rows of a table."""
        return self._engine.steps(whole(first, "first", 1, "such as 1"))

    def tokenizer(self) -> Tokenizer:
        """The tokenizer of this very step."""
        return _public(self._engine.tokenizer())

    def __iter__(self) -> Iterator[Any]:
        """Make steps until the end."""
        while (made := self._engine.step()) is not None:
            yield made

    def __len__(self) -> int:
        """The number of known steps."""
        return self._engine.known

    def __getitem__(self, number: SupportsIndex) -> Any:
        """A known step: 1 is the first, -1 the last known one."""
        known = self._engine.known
        asked = whole(number, "step", hint="take the number of a step")
        asked = asked if asked >= 0 else known + 1 + asked
        if not 1 <= asked <= known:
            hint = f"known are 1 to {known}; step, run and jump make more" if known else "step, run and jump make the first"
            raise TokentuiError("no such step is known", f"step {shown(number)}", hint)
        return self._engine.step_at(asked)


def train(
    corpus: Source,
    recipe: Recipe | str,
    *,
    merges: int | None = None,
    vocab_size: int | None = None,
    min_count: int | None = None,
    max_length: int | None = None,
    first_id: int | None = None,
    specials: Sequence[str] | None = None,
    coverage: float | None = None,
    symbols: Sequence[str] | None = None,
    prefix_space: bool | None = None,
    published: bool = False,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> Tokenizer:
    """Train a tokenizer until a stop holds or no pair is left.

    Args:
        corpus: A corpus, or what `read` takes.
        recipe: A recipe, or the name of a preset.
        merges: Stop after so many merges.
        vocab_size: Stop at so many ids, specials counted.
        min_count: Stop before a pair that stands less often; 1 where None.
        max_length: Make no token of more units.
        first_id: The first id given, 0 where None.
        specials: Special tokens, which take the first ids in this order; none where None.
        coverage: The share of the characters of the corpus that the base covers; as the recipe has it where None, and so on.
        symbols: Texts that are one token each, and that no merge crosses.
        prefix_space: Whether a space is set in front of a text.
        published: Whether the sizes, the first id and the special tokens are those that the preset was published with, where they
            are not named.
        progress: Told (done, total): in bytes while reading, in characters while counting, then in merges.
        cancel: Asked meanwhile; true raises `Cancelled`.

    Raises:
        TokentuiError: The corpus cannot be read, there is no such preset, a number or special token cannot be, or the size
            is below the one at the start.
    """
    calls(progress=progress, cancel=cancel)
    named = _numbers(merges=merges, vocab_size=vocab_size, min_count=min_count, max_length=max_length)
    run = _started(
        corpus, recipe, first_id, specials, progress, cancel, coverage=coverage, symbols=symbols, prefix_space=prefix_space,
        published=published,
    )
    asked = _asked_of(run, named)
    check_size(run, asked.get("vocab_size"))
    run.run(**asked, progress=progress, cancel=cancel)
    return _public(run.tokenizer(dict(asked)))


def _asked_of(trainer: Engine, named: dict[str, int]) -> dict[str, int]:
    """The stops that were named, and where none was those that the recipe was published with."""
    known = dataclasses.asdict(trainer.known_for)
    return {name: value for name, value in known.items() if value is not None} | named


def _started(
    corpus: Source, recipe: Recipe | str, first_id: int | None, specials: Sequence[str] | None, progress: Progress | None,
    cancel: Cancel | None, *, published: bool = False, **shape: Any,
) -> Engine:
    first = _numbers(first_id=first_id).get("first_id")
    if specials is not None:
        check_run(specials)
    if not isinstance(published, bool):
        raise TokentuiError(f"True or False belongs here, not {shown(published)}", "published", "such as True")
    chosen = _recipe(recipe)
    source = corpus if isinstance(corpus, Corpus) else read(corpus, progress=progress, cancel=cancel)
    return start(
        source, chosen, first_id=first, specials=None if specials is None else tuple(specials), published=published,
        progress=progress, cancel=cancel, **shape,
    )


def _numbers(**asked: int | None) -> dict[str, int]:
    """The numbers that were named, as Python's own."""
    check_run((), **asked)
    return {name: operator.index(value) for name, value in asked.items() if value is not None}


def _recipe(recipe: Recipe | str) -> Recipe | str:
    """A recipe, or the name of a preset that there is."""
    if isinstance(recipe, str):
        preset(recipe)
    elif not isinstance(recipe, Recipe):
        raise TokentuiError(f"a recipe belongs here, not {shown(recipe)}", "recipe", "such as 'gpt2'")
    return recipe


def check_size(trainer: Engine, vocab_size: int | None) -> None:
    """Refuse a number of ids that is below the one that a training starts with, or must keep.

    Raises:
        TokentuiError: It is.
    """
    if vocab_size is not None and vocab_size < trainer.least_size:
        least = trainer.least_size
        held = "the units alone take" if trainer.recipe.objective == "unigram" else "before the first merge there are"
        raise TokentuiError(f"{held} {least:,} ids", f"vocab_size={vocab_size}", f"take {least} or more")


def check_run(specials: Sequence[str], **numbers: int | None) -> None:
    """Refuse words of a run that cannot be.

    Raises:
        TokentuiError: A number out of its range, or special tokens that are empty or named twice.
    """
    for name, value in numbers.items():
        if value is None:
            continue
        if not _LEAST[name] <= whole(value, name) <= LARGEST:
            raise TokentuiError("out of range", f"{name}={shown(value)}", f"take {_LEAST[name]} or more, at most 2**53")
    if isinstance(specials, str):
        raise TokentuiError("a list of texts belongs here, not a text", "specials", f"write [{shown(specials)}]")
    specials = each_of(specials, "specials", "hand in a list of texts")
    for place, special in enumerate(specials):
        if not isinstance(special, str):
            raise TokentuiError(f"a text belongs here, not {shown(special)}", "specials", "such as ['<unk>']")
        if not special:
            raise TokentuiError("a special token cannot be empty", "specials", "leave it out")
        if special in specials[:place]:
            raise TokentuiError("named twice", f"special {special}", "name it once")
