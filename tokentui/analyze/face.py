"""The analyses of a tokenizer as methods, for the library: each is what a command prints."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, SupportsIndex

from tokentui.core.errors import TokentuiError, each_of, name_of, shown, whole
from tokentui.core.jobs import Cancel, Progress, job
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.refusing import refuse_tokenizers
from tokentui.preset_table import resolved
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.read import MissingFile, read

if TYPE_CHECKING:  # an analysis is imported where it is asked for
    from tokentui.analyze.budget import Budget
    from tokentui.analyze.drift import Drift
    from tokentui.analyze.edit import Edit
    from tokentui.analyze.glitches import Glitch
    from tokentui.analyze.languages import Languages
    from tokentui.analyze.stability import PrefixStability
    from tokentui.analyze.verify.trained import TrainedReport

Path = str | os.PathLike[str]
Source = Corpus | Path | Sequence[Path]
"""A corpus, or what `tokentui.read` takes."""


def corpus_of(source: Source) -> Corpus:
    """Return a corpus unchanged, or read the corpus that a source names.

    Raises:
        TokentuiError: It cannot be read, or is a tokenizer file.
    """
    if isinstance(source, Corpus):
        return source
    refuse_tokenizers(source, None, "tokentui.read(…, as_='text')")
    with suggesting_texts():
        return read(source)


@contextmanager
def suggesting_texts() -> Iterator[None]:
    """Add a hint at `tokentui.read(texts=...)` to the error of a file that does not exist. Other errors pass.

    Raises:
        TokentuiError: A file does not exist.
    """
    try:
        yield
    except MissingFile as error:
        hint = f"{error.hint}; texts in memory are texts=[...] of tokentui.read, train and Trainer"
        raise TokentuiError(error.what, error.where, hint) from None


class Analyzed(Tokenizer):
    """A tokenizer that can be asked for analyses."""

    def languages(
        self, corpora: Mapping[str, Source] | None = None, by: str | None = None, words: str = "whitespace",
        *, progress: Progress | None = None, cancel: Cancel | None = None,
    ) -> Languages:
        """Compute the cost of the same text in many languages, cheapest language first.

        Args:
            corpora: The texts by the names of their languages; None for the built-in set, 40 plain sentences
                with the same meaning in twelve languages.
            by: The unit that tokens are divided by: `sentences`, `bytes`, `characters` or `words`. By
                sentences, each document is a sentence, and all texts have the same ones. By default sentences
                for the built-in set, bytes for other texts.
            words: The split that defines words.
            progress: Called with (done, total) in languages.
            cancel: Called regularly; a true result raises `Cancelled`.

        Raises:
            TokentuiError: A text cannot be read, the texts are not parallel, or there is no such basis or
                split.
        """
        from tokentui.analyze.languages import costs, parallel_corpora

        named: object = corpora
        if not isinstance(named, Mapping | None):
            what = f"expected a dict from language names to texts, not {shown(named)}"
            raise TokentuiError(what, "corpora", "pass a dict, or None")
        with job(progress, cancel):
            if corpora is None:
                return costs(self, parallel_corpora(), "sentences" if by is None else by, words)
            texts = {str(name): corpus_of(source) for name, source in corpora.items()}
            return costs(self, texts, "bytes" if by is None else by, words)

    def glitches(
        self, corpus: Source | None = None, *, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> list[Glitch]:
        """Return the glitch tokens in order of their ids: tokens that no text produces, tokens that only text
        produces that people do not type, and, with a corpus, tokens that occur only inside longer ones. See
        `tokentui.analyze.glitches.glitches`.

        Args:
            corpus: A corpus, or what `read` takes.
            progress: Called with (done, total) in tokens.
            cancel: Called regularly; a true result raises `Cancelled`.

        Raises:
            TokentuiError: The corpus cannot be read, or the tokenizer refuses it.
        """
        from tokentui.analyze.glitches import glitches

        with job(progress, cancel):
            return list(glitches(self, None if corpus is None else corpus_of(corpus)))

    def drift(
        self, ids: Iterable[int | None], *, special_tokens: bool = False, allow_special: bool = False
    ) -> Drift:
        """Compare ids with the ids that encoding their text gives.

        Args:
            ids: Integers of any kind, such as the tokens that a model sampled.
            special_tokens, allow_special: As for `encode`.

        Returns:
            The first place where they differ, the tokens of both cuts there, and the reason.

        Raises:
            TokentuiError: An id does not exist.
        """
        from tokentui.analyze.drift import DriftCheck

        return DriftCheck(self, special_tokens=special_tokens, allow_special=allow_special)(ids)

    def prefix_stability(
        self, text: str, *, allow_special: bool = False, progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> PrefixStability:
        """Find which tokens at the end of a prompt can change when the text continues.

        Args:
            text: The prompt.
            allow_special: Text that spells a special token is that token.
            progress: Called with (done, total) in continuations that were tried.
            cancel: Called regularly; a true result raises `Cancelled`.

        Returns:
            The number of first tokens that stay: proven (`certain`), and by a search (`stable`).

        Raises:
            TokentuiError: The tokenizer refuses the prompt.
        """
        from tokentui.analyze.stability import prefix_stability

        with job(progress, cancel):
            return prefix_stability(self, name_of(text, "text"), allow_special=allow_special)

    def budget(
        self, corpus: Source, second: Source | None = None, target: str | None = None, *,
        progress: Progress | None = None, cancel: Cancel | None = None,
    ) -> Budget:
        """Count the tokens of a corpus at each vocabulary size. Find the knee of the curve, and the size that
        meets a target.

        Args:
            corpus: A corpus, or what `read` takes.
            second: Another corpus, under the same vocabulary.
            target: Tokens per byte, such as `0.25`; or the dimensions of the embedding and the tokens that
                one parameter is worth, such as `768:0.001`.
            progress: Called with (done, total) in words.
            cancel: Called regularly; a true result raises `Cancelled`.

        Raises:
            TokentuiError: A corpus cannot be read or encoded, the tokens do not come one by one, or the
                target is none.
        """
        from tokentui.analyze.budget import BudgetTarget, budget

        parsed = None if target is None else BudgetTarget.parse(name_of(target, "target"))
        with job(progress, cancel):
            named = [corpus] if second is None else [corpus, second]
            return budget(self, [corpus_of(source) for source in named], parsed)

    def edited(
        self, *, prune: Source | None = None, keep: SupportsIndex | None = None,
        extend: Source | None = None, vocab_size: SupportsIndex | None = None,
        merge: Tokenizer | None = None, add: Sequence[str] = (), special: Sequence[str] = (),
        progress: Progress | None = None, cancel: Cancel | None = None,
    ) -> Edit:
        """Return a copy with a changed vocabulary. Edits are applied in this order: prune, continue training,
        merge another tokenizer, add tokens.

        Args:
            prune: A corpus whose tokens are kept, or what `read` takes.
            keep: The maximum number of ids to keep, those that the corpus uses most; None for all used ones.
            extend: A corpus to continue training on, from where the vocabulary ends.
            vocab_size: The number of ids to train on to. `extend` and `vocab_size` need each other.
            merge: Another tokenizer, whose missing merges are appended.
            add: Tokens that are matched in a text literally.
            special: Special tokens.
            progress: Called with (done, total) in documents, then in merges.
            cancel: Called regularly; a true result raises `Cancelled`.

        Returns:
            The tokenizer, the new id of each old one (`ids`, -1 for a removed one), and the results on the
            corpora. Without arguments, nothing changes. This tokenizer never changes.

        Raises:
            TokentuiError: A corpus cannot be read, or the vocabulary cannot be changed so.
        """
        from tokentui.analyze import edit as edits
        from tokentui.analyze import grow

        if (extend is None) != (vocab_size is None):
            raise TokentuiError("extend and vocab_size must be used together", "edited", "name both")
        if not isinstance(merge, Tokenizer | None):
            raise TokentuiError(f"expected a Tokenizer, not {shown(merge)}", "merge", "use load")
        edit = edits.unchanged(self)
        with job(progress, cancel):
            if prune is not None:
                least = None if keep is None else whole(keep, "keep", 1, "for example 4000")
                edit = edits.prune(edit, corpus_of(prune), least)
            if extend is not None and vocab_size is not None:
                edit = grow.extend(edit, corpus_of(extend), whole(vocab_size, "vocab_size", 1))
            if merge is not None:
                edit = grow.merge(edit, merge)
            edit = edits.add(edit, [*_texts(add, "add", False), *_texts(special, "special", True)])
        edited = edit.tokenizer
        return replace(edit, tokenizer=type(self)(edited.vocabulary, edited.merges, edited.run))

    def trained_from(
        self, corpus: Source, recipe: Recipe | str | None = None, *, merges: SupportsIndex | None = None,
        progress: Progress | None = None, cancel: Cancel | None = None,
    ) -> TrainedReport:
        """Compare the merges with those of a training run: how many first merges agree, the first that
        differs, and which change of one axis would make more agree.

        Args:
            corpus: The corpus to train on, or what `read` takes.
            recipe: The recipe to train by, or the name of a preset; None for its own.
            merges: The maximum number of merges to compare; None for all.
            progress: Called with (done, total) in steps, then in changes that were tried.
            cancel: Called regularly; a true result raises `Cancelled`.

        Raises:
            TokentuiError: The corpus cannot be read, there is no such preset, or there are no merges.
        """
        from tokentui.analyze.verify.trained import verify_trained

        chosen = self.recipe if recipe is None else resolved(recipe)[0]
        most = None if merges is None else whole(merges, "merges", 0)
        with job(progress, cancel):
            return verify_trained(self, corpus_of(corpus), chosen, most)


def _texts(texts: Sequence[str], where: str, special: bool) -> list[tuple[str, bool]]:
    """Return the texts of the tokens to add, each with whether it is special."""
    named = each_of(texts, where, "pass a list, such as ['<|user|>']")
    return [(name_of(text, where), special) for text in named]
