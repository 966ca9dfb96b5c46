"""What is laid out for a session: read, counted and kept, so that going back to a recipe is instant."""

from __future__ import annotations

from collections import OrderedDict

from tokentui.session import commands as do
from tokentui.session.opening import Hooks, open_corpus, open_tokenizer, prepare, prepare_whole
from tokentui.session.prepared import Prepared, Run
from tokentui.session.requests import Loaded, OpenMany, Rebuild
from tokentui.text.corpus import Corpus
from tokentui.text.patience import asking

KEPT_TRAINERS = 6
"""How many trained recipes are kept, so that going back to one is instant."""
SCRATCH = "scratch"
"""What a corpus is called that the user types."""


class Shelf:
    """Trainings of the corpus that is open."""

    def __init__(self) -> None:
        self._trainings: OrderedDict[tuple[object, ...], Prepared] = OrderedDict()

    def prepared(self, command: Loaded, was: Prepared, hooks: Hooks) -> Prepared:
        """What a command asks for; see `_prepared`. A pattern that takes long asks the hooks whether to go on."""
        with asking(hooks.cancel):
            return self._prepared(command, was, hooks)

    def _prepared(self, command: Loaded, was: Prepared, hooks: Hooks) -> Prepared:
        """Read and lay out what a command asks for, in the place of what was there; a training that is kept is taken again.

        Raises:
            TokentuiError: It cannot be.
        """
        if isinstance(command, do.Use):
            corpus, recipe = was.corpus, command.recipe
            run = Run.of(dict(command.run)) if command.run is not None else was.run
        elif isinstance(command, Rebuild):
            again = prepare(was.corpus, was.recipe, was.run, hooks)
            again.trainer.bound(was.run.stops)
            for step in was.trainer.known, was.trainer.number:  # what little is made meanwhile comes when it is stood on
                again.trainer.jump(step, cancel=hooks.cancel)
            return again
        elif isinstance(command, do.OpenTokenizer):
            for kept in self._trainings.values() if command.kept else ():
                if kept.corpus is was.corpus and kept.opened and kept.opened.view.path == command.path:
                    return kept
            return prepare_whole(was.corpus, open_tokenizer(command.path, command.split, hooks), was.run, hooks, command.path)
        else:
            if isinstance(command, do.Scratch):
                corpus = Corpus.from_text(command.text, SCRATCH)
            else:
                source = command.sources if isinstance(command, OpenMany) else command.source
                corpus = open_corpus(source, command.as_, command.field, hooks)
            if isinstance(command, OpenMany) and (file := command.tokenizer):
                return prepare_whole(corpus, open_tokenizer(file.path, file.split, hooks), was.run, hooks, file.path)
            if was.opened:
                return prepare_whole(corpus, was.opened.tokenizer, was.run, hooks, was.opened.view.path)
            recipe, run = was.recipe, was.run
        for kept in self._trainings.values():
            if kept.corpus is corpus and not kept.opened and kept.recipe == recipe and kept.limits(kept.run) == kept.limits(run):
                return Prepared(corpus, recipe, run, kept.trainer, text=kept.text)
        return prepare(corpus, recipe, run, hooks)

    def keep(self, prepared: Prepared) -> None:
        """Keep a training while its corpus is open."""
        if prepared.partial:
            return
        self._trainings[prepared.key] = prepared
        self._trainings.move_to_end(prepared.key)
        for key in [key for key, kept in self._trainings.items() if kept.corpus is not prepared.corpus]:
            del self._trainings[key]  # trainers of a corpus that is no longer open
        while len(self._trainings) > KEPT_TRAINERS:
            self._trainings.popitem(last=False)
