"""The public face of the library: read a corpus, train on it, load and save tokenizers."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, SupportsIndex

from tokentui import learn
from tokentui.analyze import diff as differences
from tokentui.analyze.face import Analysed, Path, Source, suggesting_texts
from tokentui.axes import changed, check_trainable, label
from tokentui.core.errors import TokentuiError, nearest, path_of, shown, shown_path, text_of, whole
from tokentui.core.jobs import Cancel, Progress, job, phase
from tokentui.core.runtime import interrupts_cancel
from tokentui.core.safetext import safe_line
from tokentui.encode.elsewhere import TOKENIZER, Hinting, hinting, refuse_name
from tokentui.encode.reachability import reachability_of_all
from tokentui.encode.results import Reachability, Ways, WhyNot
from tokentui.encode.segmentations import segmentations
from tokentui.encode.tokenizer import Tokenizer as TokenizerValue
from tokentui.encode.vocabulary import Vocabulary
from tokentui.encode.why_not import why_not
from tokentui.formats import files
from tokentui.formats.files import refuse_tokenizers
from tokentui.learn import start
from tokentui.learn.outlook import outlook
from tokentui.learn.rows import Query, Why
from tokentui.learn.trainer import Trainer as Engine
from tokentui.preset_table import resolved
from tokentui.recipe import AXIS_NAMES, SHAPE, Recipe, Run, Stops
from tokentui.text import read as reading
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words
from tokentui.text.split import SPLITS
from tokentui.text.tally import count_texts, text_batches


def read(
    source: Path | Sequence[Path] | Mapping[str, Source] | None = None, *,
    texts: Iterable[str | bytes] | None = None, as_: str | None = None, field: str = "text",
    shares: str = "count", development: Mapping[str, Source] | None = None,
    progress: Progress | None = None, cancel: Cancel | None = None, stdin: BinaryIO | None = None,
) -> Corpus:
    """Read a corpus.

    Args:
        source: A file, a folder (its text files), `-` (standard input), a glob or `sample:NAME`; or several
            of them. A path object is a path and nothing else. Or a dict of these: named corpora as one.
        texts: Texts in memory, in place of `source`: an iterable of str. Each text is one document. The
            corpus stores them; `train` and `Trainer` only count them.
        as_: The way to read files: `text`, `lines`, `jsonl` or `counts`; None goes by the name.
        field: The field of JSON rows that holds the text.
        shares: Of named corpora: `count`, or `equal` for words that count until all have as many bytes.
        development: Of named corpora, by name: texts that only judge a training by `parity`.
        progress: Told (done, total) in bytes of the files as they stand; the total is 0 where it is not
            known.
        cancel: Asked meanwhile; true raises `Cancelled`.
        stdin: The stream that `-` reads; the program's standard input when None.

    Raises:
        TokentuiError: A source cannot be read, or is a tokenizer file and `as_` does not say how it is read.

    >>> [part.name for part in read({"en": "sample:english", "hi": "sample:hindi"}).named]
    ['en', 'hi']
    >>> read(texts=["a sailor went", "to sea"]).documents
    ('a sailor went', 'to sea')
    """
    _check_source(source, texts)
    with job(progress, cancel):
        if texts is not None:
            return Corpus.from_lines([text for batch in text_batches(texts) for text in batch], "texts")
        assert source is not None
        refuse_tokenizers(source, as_, "as_='text'")
        with suggesting_texts():
            return reading.read(
                source, as_=as_, field=field, stdin=stdin, shares=shares, development=development
            )


def _check_source(source: object, texts: object) -> None:
    """Refuse a corpus that is given as both a source and texts, or not at all.

    Raises:
        TokentuiError: It is.
    """
    if texts is None and source is None:
        raise TokentuiError("no corpus is given", "corpus", "name a file, or hand in texts=[...]")
    if texts is not None and source is not None:
        raise TokentuiError("a corpus and texts exclude each other", "texts", "leave one of them out")


class Tokenizer(Analysed, metaclass=Hinting):
    """A tokenizer that `load`, `train` and `Trainer.tokenizer` make: the value that encodes, which can be
    saved.

    A name that another library has for an attribute or an argument raises an error with the name here.
    """

    encode = hinting(Analysed.encode)
    encode_batch = hinting(Analysed.encode_batch)
    encode_ids = hinting(Analysed.encode_ids)
    decode = hinting(Analysed.decode)
    decode_batch = hinting(Analysed.decode_batch)

    def __init__(
        self, vocabulary: Vocabulary, merges: int | None = None, run: Mapping[str, object] | None = None
    ) -> None:
        if not isinstance(vocabulary, Vocabulary):
            raise TokentuiError(
                f"a vocabulary belongs here, not {shown(vocabulary)}", "Tokenizer",
                "take train, Trainer or load",
            )
        if not isinstance(run, Mapping | None):
            raise TokentuiError(f"the words of a run belong here, not {shown(run)}", "run", "hand in a dict")
        super().__init__(vocabulary, None if merges is None else whole(merges, "merges"), run)

    if not TYPE_CHECKING:  # a type checker goes on reporting names that are not there

        def __getattr__(self, name: str) -> NoReturn:
            refuse_name(f"{type(self).__name__!r} object", name, TOKENIZER)

    def __repr__(self) -> str:
        return f"<Tokenizer {safe_line(label(self.recipe), limit=80)}, {self.vocab_size:,} ids>"

    def why_not(
        self, text: str | bytes, trainer: Trainer | None = None, ahead: SupportsIndex | None = None
    ) -> WhyNot:
        """Why a text is not one token by itself, or that it is one.

        Args:
            text: The text.
            trainer: The run that the tokenizer is of, at the same step. It tells of the pair that is missing:
                its count, its place in line, and the step at which the text is one token.
            ahead: How many steps a copy of the run is trained on at most to find that step; the limit
                `ahead-steps` where None, 0 for none.

        Returns:
            The reason, one of `tokentui.encode.why_not.REASONS`; of these exactly one holds for any text.

        Raises:
            TokentuiError: The pattern of the split takes too long, or the run is at another step.
        """
        if not isinstance(trainer, Trainer | None):
            raise TokentuiError(f"a Trainer belongs here, not {shown(trainer)}", "trainer", "leave it out")
        steps = None if ahead is None else whole(ahead, "ahead", 0, "such as 1000")
        known = outlook(self, None if trainer is None else trainer._engine, steps)
        return why_not(self, _typed(text), known)

    def segmentations(self, text: str | bytes, limit: SupportsIndex = 10) -> Ways:
        """The ways to write a text in the tokens of the vocabulary, best first, and how many there are.

        Those with fewer tokens come first, then those whose first tokens are longer. Of a unigram model the
        more probable ones come first, each with its share of the probability of all.

        Args:
            text: The text.
            limit: The most ways that are listed.

        Raises:
            TokentuiError: A pre-token has more units than the limit `ways-units`.
        """
        return segmentations(self.encoder, _typed(text), whole(limit, "limit", 0, "such as 10"))

    def unreachable(
        self, *, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> list[Reachability]:
        """The tokens that no text becomes, in order of the ids, each with the reason.

        Special tokens are among them where a text holds them only if that is allowed. A token that only bytes
        become which are not UTF-8 is listed with these as its text.
        """
        with job(progress, cancel):
            return [one for one in reachability_of_all(self) if one.reason]

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write it to a file, whole or not at all.

        Args:
            path: The file; a symlink's target is written.
            format: One of `tokentui.formats.WRITTEN`; by the end of the file's name where None.

        Raises:
            TokentuiError: There is no such format, the name says none, or the file cannot be written.

        Warns:
            UserWarning: The format requires an unknown token that the `vocab_size` of the training did not
                count, so that the file has one id more.
        """
        files.export(self, path, format)
        chosen = files.format_of(path_of(path, "path"), self.recipe, format)
        asked = self.run.get("vocab_size")
        added = chosen.added_unknown(self.vocabulary.specials)
        if asked is not None and asked == self.vocab_size and added:
            warnings.warn(
                f"{shown_path(os.fspath(path))}: the file has {added} besides the {asked:,} ids that "
                f"were asked for: {chosen.name} requires it; train with specials=[{added!r}] or "
                "published=True to count it",
                stacklevel=2,
            )


def _typed(text: str | bytes) -> str:
    """A text as it is looked at: bytes that are not UTF-8 are lone surrogates."""
    text = text_of(text)
    return text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text


def load(path: str | os.PathLike[str], split: str = "") -> Tokenizer:
    """Read a tokenizer file. Its format is told by its content, never by its name.

    Args:
        path: The file.
        split: A value of that axis, for a file that holds none (tiktoken ranks).

    Raises:
        TokentuiError: It cannot be read, is of no known format, or is damaged; the error says what is wrong
            and where. Or it holds a split and another one was named.
    """
    return _public(files.load(path, split))


def _public(tokenizer: TokenizerValue) -> Tokenizer:
    return Tokenizer(tokenizer.vocabulary, tokenizer.merges, tokenizer.run)


def diff(
    old: TokenizerValue | Path, new: TokenizerValue | Path, corpus: Source | None = None, *,
    rows: SupportsIndex = 10, progress: Progress | None = None, cancel: Cancel | None = None,
) -> differences.Diff:
    """Find what changed between two tokenizers.

    Args:
        old: A tokenizer, or its file.
        new: The other one.
        corpus: A corpus, or what `read` takes, of which the documents that change are listed; None for none.
        rows: The most documents listed.
        progress: Told (done, total): in bytes while reading, then in characters.
        cancel: Asked meanwhile; true raises `Cancelled`.

    Raises:
        TokentuiError: A file or the corpus cannot be read.

    >>> old, new = (train("sample:hugs", "gpt2", merges=merges) for merges in (3, 4))
    >>> [(token.piece, token.id) for token in diff(old, new).came]
    [(b'un', 259)]
    """
    most = whole(rows, "rows", 0, "such as 10")
    a, b = (one if isinstance(one, TokenizerValue) else files.load(one) for one in (old, new))
    with job(progress, cancel):
        read_ = corpus if isinstance(corpus, Corpus | None) else read(corpus)
        return differences.diff(a, b, read_, rows=most)


class Trainer:
    """A training at one of its steps. Forward and back are exact: every number is what a recount from scratch
    would give.

    What a step and a candidate hold depends on the objective: of a training by merges they are
    `tokentui.Step` and `tokentui.Candidate`. Iterating makes steps until the end. `len(run)` is the number of
    known steps, `run[512]` is step 512, `run[-1]` the last one.

    Args:
        corpus: A corpus, or what `read` takes.
        recipe: A recipe, or the name of a preset.
        texts: Texts in memory, in place of a corpus: an iterable of str, such as a list or a generator. Each
            text is one document. They are counted as they come and not stored; only a unigram training with
            `split=metaspace` stores them.
        published: True if the first id, the special tokens and the sizes are those that the preset was
            published with, where they are not named. A `run` without stops goes to these sizes.
        first_id: The first id given, 0 where None.
        specials: Special tokens, which take the first ids in this order; none where None.
        progress: Told (done, total): in bytes while reading, in characters while counting,
            then in parts of the preparation before the first step.
        cancel: Asked meanwhile; true raises `Cancelled`.
        axes: Other values on some axes, and other words of `SHAPE`, as `preset` takes them.

    Raises:
        TokentuiError: The corpus cannot be read, there is no such preset, or a number, a special token or a
            value of an axis cannot be.
    """

    def __init__(
        self,
        corpus: Source | None = None,
        recipe: Recipe | str | None = None,
        *,
        texts: Iterable[str | bytes] | None = None,
        published: bool = False,
        first_id: int | None = None,
        specials: Sequence[str] | None = None,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
        **axes: object,
    ) -> None:
        asked, self._run = _resolved(recipe, published, axes, first_id=first_id, specials=specials)
        with job(progress, cancel):
            self._engine = _started(corpus, asked, self._run, texts)

    def __getstate__(self) -> object:
        """Refuse to be pickled: the engine holds compiled code.

        Raises:
            TokentuiError: Always.
        """
        hint = "pickle its tokenizer(), or train again from the corpus, the recipe and the step"
        raise TokentuiError("a training cannot be pickled or copied", "Trainer", hint)

    def __copy__(self) -> Trainer:
        """Return another object for the same training: a step of one is a step of both."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        return other

    def __repr__(self) -> str:
        name = safe_line(label(self.recipe), limit=80)
        return f"<Trainer {name} at step {self.number:,} of {self.known:,} known, {self.vocab_size:,} ids>"

    def _repr_html_(self) -> str:
        """Its place, and the curve of the corpus in tokens, for a notebook."""
        from tokentui.encode.html import run_html
        return run_html(label(self.recipe), self.number, self.known, self.vocab_size, self._engine.tokens_at)

    @property
    def recipe(self) -> Recipe:
        """The recipe that is trained."""
        return self._engine.recipe

    @property
    def number(self) -> int:
        """The present step, 0 at the start."""
        return self._engine.number

    @property
    def known(self) -> int:
        """The furthest step that was made."""
        return self._engine.computed

    @property
    def tokens(self) -> int:
        """The length of the corpus in tokens at this step."""
        return self._engine.tokens_at(self.number)

    @property
    def vocab_size(self) -> int:
        """The number of ids at this step, specials counted."""
        return self._engine.size_at(self.number)

    def step(self) -> Any:
        """Make the next step. Returns it, None at the end."""
        with interrupts_cancel(at_end=True):
            return learn.step(self._engine)

    def back(self) -> Any:
        """Undo the last step. Returns it, None at the start."""
        with interrupts_cancel(at_end=True):
            return learn.back(self._engine)

    def jump(
        self, number: SupportsIndex, *, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> int:
        """Go to a step, back or forward.

        Args:
            number: The step, 0 for the start.
            progress: Told (done, total) in steps.
            cancel: Asked meanwhile; true raises `Cancelled`, and the run stays where it is.

        Returns:
            The number of the step.

        Raises:
            TokentuiError: There is no such step; the run is where it was.
        """
        asked, before = whole(number, "step", 0, "take the number of a step"), self.number
        with job(progress, cancel), interrupts_cancel(at_end=True):
            arrived = learn.jump(self._engine, asked)
        if arrived != asked:
            learn.jump(self._engine, before)
            what = f"the training ends at step {arrived:,}"
            raise TokentuiError(what, f"step {shown(asked)}", f"take 0 to {arrived}")
        return arrived

    def run(
        self, *, merges: int | None = None, vocab_size: int | None = None, min_count: int | None = None,
        max_length: int | None = None, progress: Progress | None = None, cancel: Cancel | None = None,
    ) -> str:
        """Go on until a stop holds or nothing is left to do.

        Args:
            merges: Stop after so many merges, from the start of the training.
            vocab_size: Stop at so many ids, specials counted.
            min_count: Stop before a pair that occurs less often; 1 where None.
            max_length: Make no token of more units.
            progress: Told (done, total) in merges; the total is 0 where it is not known.
            cancel: Asked meanwhile; true raises `Cancelled`, and the run stays where it is.

        Returns:
            Why it stopped: `merges`, `vocab_size`, `min_count` or `no pair left`.

        Raises:
            TokentuiError: A number that cannot be, or a size below the one at the start.
        """
        run = self._run.with_words(**_named(
            merges=merges, vocab_size=vocab_size, min_count=min_count, max_length=max_length
        ))
        with job(progress, cancel), interrupts_cancel(at_end=True):
            return _ran(self._engine, run.stops)

    def what_if(
        self, *changes: str, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> Trainer:
        """Another training at the same step, or as far as its steps last, under what-ifs. This one stays as
        it is; the steps before the first change are taken over.

        Args:
            changes: Each `STEP:forbid:LEFT+RIGHT`, `STEP:forbid:TOKEN`, `STEP:force:LEFT+RIGHT` or
                `STEP:leave-out`; bytes are written as in a URL, a space as `%20`.
            progress: Told (done, total) in steps.
            cancel: Asked meanwhile; true raises `Cancelled`.

        Raises:
            TokentuiError: It is no training by merges, or a what-if cannot be.

        >>> import tokentui
        >>> run = tokentui.Trainer("sample:hugs", "gpt2")
        >>> [step.token for step in (run.step(), run.step())]
        [b'ug', b' p']
        >>> other = run.what_if("1:forbid:u+g")
        >>> [step.token for step in other.steps()]
        [b'pu', b' pu']
        """
        asked, other = Recipe(what_if=changes).changes, copy.copy(self)
        with job(progress, cancel), interrupts_cancel(at_end=True):
            other._engine = learn.what_if(self._engine, asked)
        return other

    def candidates(self, limit: int = 100, start: int = 0) -> list[Any]:
        """The candidates of the next step, best first: pairs, or the pieces that a pruning judges.

        Args:
            limit: The most to return.
            start: The number of the best to leave out.
        """
        rows, top = whole(limit, "limit", 0, "such as 100"), whole(start, "start", 0, "such as 0")
        page = learn.tried(self._engine, lambda: self._engine.candidates(Query(top, rows)))
        return list(page.rows) if page.top == top else []

    def why(self) -> Why:
        """The reasons of the next step, or why there is none; not of a training that only drops pieces."""
        engine = self._engine
        why = learn.tried(engine, lambda: engine.why(engine.limits))
        if why.round is not None:
            raise TokentuiError("a unigram training has no next pair", "why", "take candidates()")
        return why

    def steps(self, first: int = 1) -> Iterator[Any]:
        """The steps from this one on up to the present one: values with names, rows of a table."""
        return learn.steps(self._engine, whole(first, "first", 1, "such as 1"))

    def tokenizer(self) -> Tokenizer:
        """The tokenizer of this very step."""
        return _public(self._engine.tokenizer())

    def __iter__(self) -> Iterator[Any]:
        """Make steps until the end."""
        while (made := self.step()) is not None:
            yield made

    def __len__(self) -> int:
        """The number of known steps."""
        return self.known

    def __getitem__(self, number: SupportsIndex) -> Any:
        """A known step: 1 is the first, -1 the last known one."""
        known = self.known
        asked = whole(number, "step", hint="take the number of a step")
        asked = asked if asked >= 0 else known + 1 + asked
        if not 1 <= asked <= known:
            make = f"known are 1 to {known}; step, run and jump make more"
            hint = make if known else "step, run and jump make the first"
            raise TokentuiError("no such step is known", f"step {shown(number)}", hint)
        return self._engine.step_at(asked)


def train(
    corpus: Source | None = None,
    recipe: Recipe | str | None = None,
    *,
    texts: Iterable[str | bytes] | None = None,
    merges: int | None = None,
    vocab_size: int | None = None,
    min_count: int | None = None,
    max_length: int | None = None,
    published: bool = False,
    first_id: int | None = None,
    specials: Sequence[str] | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    **axes: object,
) -> Tokenizer:
    """Train a tokenizer until a stop holds or no pair is left: `Trainer`, its `run` and its `tokenizer` in
    one.

    Args:
        corpus: A corpus, or what `read` takes.
        recipe: A recipe, or the name of a preset.
        texts: Texts in memory, in place of a corpus; see `Trainer`.
        merges: Stop after so many merges.
        vocab_size: Stop at so many ids, specials counted.
        min_count: Stop before a pair that occurs less often; 1 where None.
        max_length: Make no token of more units.
        published: True if the sizes too are those that the preset was published with, where they are not
            named.
        first_id: The first id given, 0 where None.
        specials: Special tokens, which take the first ids in this order; none where None.
        progress: Told (done, total): in bytes while reading, in characters while counting, in parts
            of the preparation before the first step, then in steps.
        cancel: Asked meanwhile; true raises `Cancelled`.
        axes: Other values on some axes, and other words of `SHAPE`, as `preset` takes them.

    Raises:
        TokentuiError: The corpus cannot be read, there is no such preset, a number, a special token or a
            value of an axis cannot be, or the size is below the one at the start.

    >>> train(texts=["hug pug", "pun bun"], recipe="gpt2", merges=2).vocab_size
    258
    """
    asked, run = _resolved(
        recipe, published, axes, merges=merges, vocab_size=vocab_size, min_count=min_count,
        max_length=max_length, first_id=first_id, specials=specials,
    )
    with job(progress, cancel):
        engine = _started(corpus, asked, run, texts)
        _ran(engine, run.stops)
    return _public(engine.tokenizer(run=_named(**asdict(run.stops))))


def _started(
    corpus: Source | None, recipe: Recipe, run: Run, texts: Iterable[str | bytes] | None
) -> Engine:
    _check_source(corpus, texts)
    if texts is None:
        assert corpus is not None
        found = corpus if isinstance(corpus, Corpus) else read(corpus)
        return start(found, recipe, run)
    if recipe.objective == "unigram" and SPLITS.of(recipe.split).marks_spaces:
        # it reads the ends of the documents
        return start(read(texts=texts), recipe, run)
    with phase("counting"):
        words: Words = count_texts(texts, recipe)
    return start(None, recipe, run, words)


def _named(**words: object) -> dict[str, object]:
    """The words that are not None."""
    return {name: value for name, value in words.items() if value is not None}


def _resolved(
    recipe: Recipe | str | None, published: bool, axes: Mapping[str, object], **words: object
) -> tuple[Recipe, Run]:
    """The recipe and the run that the arguments of a training name; those that are None are not named."""
    if not isinstance(published, bool):
        raise TokentuiError(
            f"True or False belongs here, not {shown(published)}", "published", "such as True"
        )
    if not isinstance(recipe, Recipe | str):
        raise TokentuiError(f"a recipe belongs here, not {shown(recipe)}", "recipe", "such as 'gpt2'")
    chosen, run = resolved(recipe, published)
    for name in axes:
        if name not in AXIS_NAMES and name not in SHAPE:
            raise TokentuiError("no such argument", name, nearest(name, (*AXIS_NAMES, *SHAPE, *words)))
    return check_trainable(changed(chosen, **_named(**axes))), run.with_words(**_named(**words))


def _ran(engine: Engine, stops: Stops) -> str:
    """Go on until a stop holds. Refuse a number of ids below the one that a training starts with, or must
    keep.

    Raises:
        TokentuiError: The size is below it.
    """
    size, least = stops.vocab_size, engine.traits.least_size
    if size is not None and size < least:
        held = "before the first merge there are" if engine.traits.grows else "the units alone take"
        raise TokentuiError(f"{held} {least:,} ids", f"vocab_size={size}", f"take {least} or more")
    return learn.run(engine, stops).value
