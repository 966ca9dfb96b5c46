"""The public interface of the library: read a corpus, train on it, load and save tokenizers."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, BinaryIO, NoReturn, SupportsIndex, Unpack

from tokentui import learn
from tokentui.analyze.face import Analyzed, Path, Source, suggesting_texts
from tokentui.axes import changed, check_trainable, label
from tokentui.core.errors import TokentuiError, nearest, path_of, shown, shown_path, text_of, whole
from tokentui.core.jobs import Cancel, Progress, job, phase
from tokentui.core.runtime import interrupts_raise
from tokentui.core.safetext import safe_line
from tokentui.encode.elsewhere import TOKENIZER, Hinting, hinting, refuse_name
from tokentui.encode.tokenizer import Tokenizer as TokenizerValue
from tokentui.encode.vocabulary import Vocabulary
from tokentui.formats.refusing import refuse_tokenizers
from tokentui.learn import start
from tokentui.learn.rows import Candidate, Query, Why
from tokentui.learn.steps import Step
from tokentui.learn.trainer import Trainer as Engine
from tokentui.preset_table import resolved
from tokentui.recipe import AXIS_NAMES, SHAPE, Axes, Recipe, Run, Stops
from tokentui.text import read as reading
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words
from tokentui.text.split import SPLITS
from tokentui.text.tally import count_texts, text_batches

if TYPE_CHECKING:
    from tokentui.analyze.diff import Diff
    from tokentui.encode.results import Reachability, WhyNot, WordSegmentations


def read(
    source: Path | Sequence[Path] | Mapping[str, Source] | None = None, *,
    texts: Iterable[str | bytes] | None = None, as_: str | None = None, field: str = "text",
    shares: str = "count", development: Mapping[str, Source] | None = None,
    progress: Progress | None = None, cancel: Cancel | None = None, stdin: BinaryIO | None = None,
) -> Corpus:
    """Read a corpus.

    Args:
        source: A file, a folder (its text files), `-` (standard input), a glob or `sample:NAME`, or a list
            of these. A path object is always a path. A dict maps names to sources: several named corpora
            as one.
        texts: Texts in memory, in place of `source`: an iterable of str. Each text is one document. The
            corpus stores them; `train` and `Trainer` only count them.
        as_: How to read files: `text`, `lines`, `jsonl` or `counts`. By default the file name decides.
        field: The JSON field that contains the text.
        shares: For named corpora: `count`, or `equal` to weight words so that all corpora have the same
            number of bytes.
        development: For named corpora: texts by name that `objective=parity` measures on.
        progress: Called with (done, total) in bytes of the files on disk; the total is 0 if it is unknown.
        cancel: Called regularly; a true result raises `Cancelled`.
        stdin: The stream that `-` reads; by default the program's standard input.

    Raises:
        TokentuiError: A source cannot be read, or a source is a tokenizer file and `as_` is None.

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
    """Check that exactly one of the two is given.

    Raises:
        TokentuiError: Both or none are.
    """
    if texts is None and source is None:
        raise TokentuiError("no corpus is given", "corpus", "name a file, or pass texts=[...]")
    if texts is not None and source is not None:
        raise TokentuiError("corpus and texts cannot be combined", "texts", "leave one of them out")


class Tokenizer(Analyzed, metaclass=Hinting):
    """An immutable tokenizer that encodes, decodes and can be saved.

    Get one from `load`, `train` or `Trainer.tokenizer`. A name that another library uses for a method or an
    argument raises an error that gives the name used here.
    """

    encode = hinting(Analyzed.encode)
    encode_batch = hinting(Analyzed.encode_batch)
    encode_padded = hinting(Analyzed.encode_padded)
    encode_ids = hinting(Analyzed.encode_ids)
    decode = hinting(Analyzed.decode)
    decode_batch = hinting(Analyzed.decode_batch)

    def __init__(
        self, vocabulary: Vocabulary, merges: int | None = None, run: Mapping[str, object] | None = None
    ) -> None:
        if not isinstance(vocabulary, Vocabulary):
            raise TokentuiError(
                f"expected a vocabulary, not {shown(vocabulary)}", "Tokenizer",
                "use train, Trainer or load",
            )
        if not isinstance(run, Mapping | None):
            raise TokentuiError(f"expected a dict of run settings, not {shown(run)}", "run", "pass a dict")
        super().__init__(vocabulary, None if merges is None else whole(merges, "merges"), run)

    if not TYPE_CHECKING:  # a type checker goes on reporting names that are not there

        def __getattr__(self, name: str) -> NoReturn:
            refuse_name(f"{type(self).__name__!r} object", name, TOKENIZER)

    def __repr__(self) -> str:
        return f"<Tokenizer {safe_line(label(self.recipe), limit=80)}, {self.vocab_size:,} ids>"

    def why_not(
        self, text: str | bytes, trainer: Trainer | None = None, ahead: SupportsIndex | None = None
    ) -> WhyNot:
        """Explain why a text is not a single token.

        Args:
            text: The text.
            trainer: The training that made this tokenizer, at the same step. It adds facts about the missing
                pair: its count, its rank, and the step at which the text becomes one token.
            ahead: The number of steps that a copy of the training may go on to find that step. By default
                the limit `ahead-steps`; 0 for none.

        Returns:
            The reason, one of `tokentui.encode.why_not.REASONS`. Exactly one reason applies to a text; one
            of them says that the text is a single token.

        Raises:
            TokentuiError: The pattern of the split takes too long, or the trainer is at another step.
        """
        from tokentui.encode.why_not import why_not  # a training needs none of it
        from tokentui.learn.outlook import outlook

        if not isinstance(trainer, Trainer | None):
            raise TokentuiError(f"expected a Trainer, not {shown(trainer)}", "trainer", "leave it out")
        steps = None if ahead is None else whole(ahead, "ahead", 0, "for example 1000")
        known = outlook(self, None if trainer is None else trainer._engine, steps)
        return why_not(self, _typed(text), known)

    def segmentations(self, text: str | bytes, limit: SupportsIndex = 10) -> WordSegmentations:
        """List the segmentations of a text into tokens of the vocabulary, and count all of them.

        Segmentations with fewer tokens come first, then those with longer first tokens. For a unigram model
        they are ordered by probability, and each has its share of the total probability.

        Args:
            text: The text.
            limit: The maximum number of segmentations to list. The count covers all.

        Raises:
            TokentuiError: A pre-token has more units than the limit `ways-units`.
        """
        from tokentui.encode.segmentations import segmentations  # a training needs none of it

        return segmentations(self.encoder, _typed(text), whole(limit, "limit", 0, "for example 10"))

    def unreachable(
        self, *, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> list[Reachability]:
        """List the tokens that encoding never produces, ordered by id, each with its reason.

        Special tokens are listed if encoding produces them only when special tokens are allowed. A token that
        only bytes that are not UTF-8 produce is listed with these bytes as its text.
        """
        from tokentui.encode.reachability import reachability_of_all  # a training needs none of it

        with job(progress, cancel):
            return [token for token in reachability_of_all(self) if token.reason]

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write the tokenizer to a file. The write is atomic.

        Args:
            path: The file. If it is a symlink, its target is written.
            format: One of `tokentui.formats.WRITTEN`. By default the file name decides.

        Raises:
            TokentuiError: The format is unknown, the file name implies none, the format cannot express this
                tokenizer, or the file cannot be written.

        Warns:
            UserWarning: The format requires an unknown token that the `vocab_size` of the training did not
                count. The file has one more id.
        """
        from tokentui.formats import files  # with them come all formats

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
    """Return bytes as text; bytes that are not UTF-8 become lone surrogates."""
    text = text_of(text)
    return text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text


def load(path: str | os.PathLike[str], split: str = "", *, class_name: str = "") -> Tokenizer:
    """Read a tokenizer file, model folder, GGUF file or hub repository.

    The content decides the format, never the file name.

    Args:
        path: A file, a folder, a URL, `hf:OWNER/NAME`, or the name of a published encoding.
        split: The split, for a file that has none (tiktoken ranks).
        class_name: The tokenizer class of transformers to read it by; empty for that of its folder.

    Raises:
        TokentuiError: The file cannot be read, has an unknown format or is damaged, or it has a split and
            `split` names a different one.
    """
    from tokentui.formats import files  # with them come all formats

    return _public(files.load(path, split, class_name=class_name))


def _public(tokenizer: TokenizerValue) -> Tokenizer:
    return Tokenizer(tokenizer.vocabulary, tokenizer.merges, tokenizer.run)


def diff(
    old: TokenizerValue | Path, new: TokenizerValue | Path, corpus: Source | None = None, *,
    rows: SupportsIndex = 10, progress: Progress | None = None, cancel: Cancel | None = None,
) -> Diff:
    """Find what changed between two tokenizers.

    Args:
        old: A tokenizer, or its file.
        new: A tokenizer, or its file.
        corpus: A corpus, or anything that `read` takes. The result lists its documents whose encoding
            changes.
        rows: The maximum number of documents to list.
        progress: Called with (done, total): in bytes while reading, then in characters.
        cancel: Called regularly; a true result raises `Cancelled`.

    Raises:
        TokentuiError: A file or the corpus cannot be read.

    >>> old, new = (train("sample:hugs", "gpt2", merges=merges) for merges in (3, 4))
    >>> [(token.piece, token.id) for token in diff(old, new).came]
    [(b'un', 259)]
    """
    from tokentui.analyze import diff as differences  # a training needs none of it
    from tokentui.formats import files

    most = whole(rows, "rows", 0, "for example 10")
    a, b = (
        source if isinstance(source, TokenizerValue) else files.load(source) for source in (old, new)
    )
    with job(progress, cancel):
        read_ = corpus if isinstance(corpus, Corpus | None) else read(corpus)
        return differences.diff(a, b, read_, rows=most)


class Trainer:
    """A training that moves forward and back, one step or many at a time.

    Every number is exact: a recount from scratch at the same step gives the same. The type of a step and of a
    candidate depends on the objective; a training by merges has `tokentui.Step` and `tokentui.Candidate`.

    Iterating makes steps until the end. `len(run)` is the number of known steps, `run[512]` is step 512 and
    `run[-1]` the last known step.

    Args:
        corpus: A corpus, or anything that `read` takes.
        recipe: A recipe, or the name of a preset.
        texts: Texts in memory, in place of a corpus: an iterable of str, such as a list or a generator. Each
            text is one document. Texts are counted as they arrive and not stored, except by a unigram
            training with `split=metaspace`.
        published: Use the sizes, special tokens and first id that the preset was published with, unless
            named. `run` without stops then goes to that size.
        first_id: The first id; 0 by default.
        specials: Special tokens. They take the first ids, in this order.
        progress: Called with (done, total): in bytes while reading, in characters while counting, then in
            parts of the preparation before the first step.
        cancel: Called regularly; a true result raises `Cancelled`.
        axes: Values of axes and other training options, as for `preset`.

    Raises:
        TokentuiError: The corpus cannot be read, the preset does not exist, or an option is invalid.
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
        **axes: Unpack[Axes],
    ) -> None:
        asked, self._run = _resolved(recipe, published, axes, first_id=first_id, specials=specials)
        with job(progress, cancel):
            self._engine = _started(corpus, asked, self._run, texts)

    def __getstate__(self) -> object:
        """Refuse to be pickled or deep-copied: the engine holds pointers of compiled code.

        Raises:
            TokentuiError: Always.
        """
        hint = "pickle its tokenizer(), or train again from the corpus, the recipe and the step"
        raise TokentuiError("a training cannot be pickled or copied", "Trainer", hint)

    def __copy__(self) -> Trainer:
        """Return an object that shares this training: a step of one is a step of both."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        return other

    def __repr__(self) -> str:
        name = safe_line(label(self.recipe), limit=80)
        return f"<Trainer {name} at step {self.number:,} of {self.known:,} known, {self.vocab_size:,} ids>"

    def _repr_html_(self) -> str:
        """Return the position and a curve of the corpus length in tokens, for a notebook."""
        from tokentui.encode.html import run_html
        return run_html(label(self.recipe), self.number, self.known, self.vocab_size, self._engine.tokens_at)

    @property
    def recipe(self) -> Recipe:
        """The recipe."""
        return self._engine.recipe

    @property
    def number(self) -> int:
        """The current step; 0 at the start."""
        return self._engine.number

    @property
    def known(self) -> int:
        """The furthest step made so far. Steps up to it repeat without choosing."""
        return self._engine.computed

    @property
    def tokens(self) -> int:
        """The length of the corpus in tokens at this step."""
        return self._engine.tokens_at(self.number)

    @property
    def vocab_size(self) -> int:
        """The number of ids at this step, special tokens included."""
        return self._engine.size_at(self.number)

    def step(self) -> Step | None:
        """Make the next step.

        Returns:
            The step, or None at the end. A training by merges returns `tokentui.Step`.
        """
        with interrupts_raise():
            return learn.step(self._engine)

    def back(self) -> Step | None:
        """Undo the last step.

        Returns:
            The step that was undone, or None at the start.
        """
        with interrupts_raise():
            return learn.back(self._engine)

    def jump(
        self, number: SupportsIndex, *, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> int:
        """Go to a step, back or forward.

        Args:
            number: The step; 0 is the start.
            progress: Called with (done, total) in steps.
            cancel: Called regularly; a true result raises `Cancelled` and leaves the run where it is then.

        Returns:
            The number of the step.

        Raises:
            TokentuiError: The training ends before this step. The run is back where it was.
        """
        asked, before = whole(number, "step", 0, "use the number of a step"), self.number
        with job(progress, cancel), interrupts_raise():
            arrived = learn.jump(self._engine, asked)
        if arrived != asked:
            learn.jump(self._engine, before)
            what = f"the training ends at step {arrived:,}"
            raise TokentuiError(what, f"step {shown(asked)}", f"use 0 to {arrived}")
        return arrived

    def run(
        self, *, merges: int | None = None, vocab_size: int | None = None, min_count: int | None = None,
        max_length: int | None = None, progress: Progress | None = None, cancel: Cancel | None = None,
    ) -> str:
        """Train until a stop is reached or no candidate is left.

        Args:
            merges: Stop at this number of merges, counted from the start of the training.
            vocab_size: Stop at this number of ids, special tokens included.
            min_count: Stop before a pair that occurs less often; 1 by default.
            max_length: Make no token of more units than this.
            progress: Called with (done, total) in steps; the total is 0 if it is unknown.
            cancel: Called regularly; a true result raises `Cancelled` and leaves the run where it is then.

        Returns:
            Why it stopped: `merges`, `vocab_size`, `min_count` or `no pair left`.

        Raises:
            TokentuiError: A stop is invalid, or the size is below the initial one.
        """
        run = self._run.with_words(**_named(
            merges=merges, vocab_size=vocab_size, min_count=min_count, max_length=max_length
        ))
        with job(progress, cancel), interrupts_raise():
            return _ran(self._engine, run.stops)

    def what_if(
        self, *changes: str, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> Trainer:
        """Fork the training with changes, and move the fork to the current step.

        This training stays unchanged. The fork takes over the steps before the first change. If it ends
        early, it stays at its last step.

        Args:
            changes: Each is `STEP:forbid:LEFT+RIGHT`, `STEP:forbid:TOKEN`, `STEP:force:LEFT+RIGHT` or
                `STEP:leave-out`. Bytes are percent-encoded as in a URL: `%20` is a space.
            progress: Called with (done, total) in steps.
            cancel: Called regularly; a true result raises `Cancelled`.

        Raises:
            TokentuiError: This is not a training by merges, or a change is invalid.

        >>> import tokentui
        >>> run = tokentui.Trainer("sample:hugs", "gpt2")
        >>> [step.token for step in (run.step(), run.step())]
        [b'ug', b' p']
        >>> other = run.what_if("1:forbid:u+g")
        >>> [step.token for step in other.steps()]
        [b'pu', b' pu']
        """
        asked, other = Recipe(what_if=changes).changes, copy.copy(self)
        with job(progress, cancel), interrupts_raise():
            other._engine = learn.what_if(self._engine, asked)
        return other

    def candidates(self, limit: int = 100, start: int = 0) -> list[Candidate]:
        """List the candidates of the next step, best first.

        Candidates are pairs to merge, or pieces that the next pruning may drop. A training by merges returns
        `tokentui.Candidate`.

        Args:
            limit: The maximum number to return.
            start: The number of candidates to skip from the top.
        """
        rows, top = whole(limit, "limit", 0, "for example 100"), whole(start, "start", 0, "for example 0")
        page = learn.with_plain_fallback(self._engine, learn.candidates, Query(top, rows))
        return list(page.rows) if page.top == top else []

    def why(self) -> Why:
        """Explain the next step, or why there is none.

        Raises:
            TokentuiError: This is a unigram training, which has no next pair.
        """
        engine = self._engine
        why = learn.with_plain_fallback(engine, learn.why, engine.limits)
        if why.round is not None:
            raise TokentuiError("a unigram training has no next pair", "why", "use candidates()")
        return why

    def steps(self, first: int = 1) -> Iterator[Step]:
        """Iterate over the steps from `first` to the current step. pandas reads them as rows of a table."""
        return learn.steps(self._engine, whole(first, "first", 1, "for example 1"))

    def tokenizer(self) -> Tokenizer:
        """Return the tokenizer at the current step."""
        return _public(self._engine.tokenizer())

    def __iter__(self) -> Iterator[Step]:
        """Make steps until the end."""
        while (made := self.step()) is not None:
            yield made

    def __len__(self) -> int:
        """Return the number of known steps."""
        return self.known

    def __getitem__(self, number: SupportsIndex) -> Step:
        """Return a known step: 1 is the first, -1 the last known one."""
        known = self.known
        asked = whole(number, "step", hint="use the number of a step")
        asked = asked if asked >= 0 else known + 1 + asked
        if not 1 <= asked <= known:
            make = f"known are 1 to {known}; step, run and jump make more"
            hint = make if known else "step, run and jump make the first"
            raise TokentuiError("this step is unknown", f"step {shown(number)}", hint)
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
    **axes: Unpack[Axes],
) -> Tokenizer:
    """Train a tokenizer until a stop is reached or no candidate is left.

    This is `Trainer(...)`, `run(...)` and `tokenizer()` in one call.

    Args:
        corpus: A corpus, or anything that `read` takes.
        recipe: A recipe, or the name of a preset.
        texts: Texts in memory, in place of a corpus; see `Trainer`.
        merges: Stop at this number of merges.
        vocab_size: Stop at this number of ids, special tokens included.
        min_count: Stop before a pair that occurs less often; 1 by default.
        max_length: Make no token of more units than this.
        published: Use the sizes, special tokens and first id that the preset was published with, unless
            named.
        first_id: The first id; 0 by default.
        specials: Special tokens. They take the first ids, in this order.
        progress: Called with (done, total): in bytes while reading, in characters while counting, in parts
            of the preparation before the first step, then in steps.
        cancel: Called regularly; a true result raises `Cancelled`.
        axes: Values of axes and other training options, as for `preset`.

    Raises:
        TokentuiError: The corpus cannot be read, the preset does not exist, or an option is invalid.

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
    """Return the arguments that are not None."""
    return {name: value for name, value in words.items() if value is not None}


def _resolved(
    recipe: Recipe | str | None, published: bool, axes: Mapping[str, object], **words: object
) -> tuple[Recipe, Run]:
    """Return the recipe and the run for the arguments of a training; None means that one is not named."""
    if not isinstance(published, bool):
        raise TokentuiError(
            f"expected True or False, not {shown(published)}", "published", "for example True"
        )
    if not isinstance(recipe, Recipe | str):
        raise TokentuiError(f"expected a recipe, not {shown(recipe)}", "recipe", "for example 'gpt2'")
    chosen, run = resolved(recipe, published)
    for name in axes:
        if name not in AXIS_NAMES and name not in SHAPE:
            raise TokentuiError("unknown argument", name, nearest(name, (*AXIS_NAMES, *SHAPE, *words)))
    return check_trainable(changed(chosen, **_named(**axes))), run.with_words(**_named(**words))


def _ran(engine: Engine, stops: Stops) -> str:
    """Train until a stop is reached.

    Raises:
        TokentuiError: The size is below the number of ids that the training starts with or must keep.
    """
    size, least = stops.vocab_size, engine.traits.least_size
    if size is not None and size < least:
        held = "before the first merge there are" if engine.traits.grows else "the units alone take"
        raise TokentuiError(f"{held} {least:,} ids", f"vocab_size={size}", f"use {least} or more")
    return learn.run(engine, stops).value
