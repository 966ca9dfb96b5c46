"""Exercises: TOML files that a teacher can write, and those that ship.

An exercise is a corpus, a recipe and a size; it may have hidden corpora for functions, texts to encode,
limits for Python files, and claims that the engine checks. The keys are in `KEYS`. docs/teach/exercises.md
describes them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tokentui import learn
from tokentui.axes import recipe_of
from tokentui.core import sandbox
from tokentui.core.errors import TokentuiError, nearest, shown
from tokentui.core.jobs import silent
from tokentui.core.toml import shipped_or_named, toml_table
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.trainer import Trainer
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

_FOLDER = Path(__file__).with_name("exercises")
_MOST_TEXT, _MOST_TEXTS, MOST_MERGES = 20_000, 100, 20_000


class Shipped(NamedTuple):
    """An exercise that ships: its name, and its title."""

    name: str
    title: str


EXERCISES = (
    Shipped("cs336", "CS336, assignment 1: train_bpe"),
    Shipped("cs336-encode", "CS336, assignment 1: encode and decode with given merges"),
    Shipped("minbpe-1", "minbpe, step 1: BasicTokenizer"),
    Shipped("minbpe-2", "minbpe, step 2: RegexTokenizer"),
    Shipped("minbpe-3", "minbpe, step 3: merges from the ranks of a file"),
    Shipped("minbpe-4", "minbpe, step 4: special tokens"),
    Shipped("minbpe-5", "minbpe, step 5: characters, as in sentencepiece"),
    Shipped("hf-course-bpe", "Hugging Face course, chapter 6: byte-pair encoding"),
    Shipped("hf-course-wordpiece", "Hugging Face course, chapter 6: WordPiece"),
    Shipped("hf-course-unigram", "Hugging Face course, chapter 6: Unigram"),
    Shipped("jurafsky", "Jurafsky and Martin: low lower newest"),
    Shipped("udl-sailor", "Understanding Deep Learning, notebook 12.3: a sailor went to sea"),
)
"""The exercises that ship."""


class Key(NamedTuple):
    """A key of an exercise: the types of its value, and an example."""

    kinds: tuple[type, ...]
    example: str


KEYS: Mapping[str, Key] = {
    "title": Key((str,), '"Train byte-pair encoding"'),
    "about": Key((str,), '"Hand in the first 20 merges."'),
    "corpus": Key((str,), '"sample:sailor"'),
    "corpus_text": Key((str,), '"low lower lowest"'),
    "recipe": Key((str, dict), '"minbpe-basic", or { preset = "gpt2", tie = "first-seen" }'),
    "merges": Key((int,), "20"),
    "vocab_size": Key((int,), "300"),
    "specials": Key((list,), '["<|endoftext|>"]'),
    "call": Key((str,), '"train_bpe(input_path, vocab_size, special_tokens)"'),
    "encode_call": Key((str,), '"Tokenizer(vocab, merges, special_tokens)"'),
    "hidden": Key((list,), '["another corpus", "aaa aaab"]'),
    "texts": Key((list,), '["a text to encode"]'),
    "hidden_texts": Key((list,), '["a text to encode"]'),
    "limits": Key((dict,), "{ seconds = 10, memory_mb = 1024, file_mb = 16, processes = 0 }"),
    "claims": Key((dict,), '{ merges = [["u", "g"]], tokens = { hugs = ["hug", "s"] } }'),
    "expect": Key((dict,), '{ tokens = { "a text" = ["a", " text"] } }'),
}
"""The keys of an exercise."""


class Limit(NamedTuple):
    """A limit of the process that runs a Python file."""

    default: int
    least: int
    most: int


LIMITS: Mapping[str, Limit] = {
    "seconds": Limit(10, 1, 3600), "memory_mb": Limit(1024, 64, 65536), "file_mb": Limit(16, 0, 4096),
    "processes": Limit(0, 0, 256),
}
"""The limits that an exercise can set."""
ARGUMENTS = (
    "input_path", "text", "documents", "words", "vocab_size", "num_merges", "special_tokens", "vocab",
    "merges",
    "ranks",
)
"""What a call of an exercise can pass to a function."""


class Call(NamedTuple):
    """The call that an exercise makes: the name of a function or class, and what it passes, in order."""

    name: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.arguments)})"


@dataclass(frozen=True)
class Exercise:
    """An exercise.

    Attributes:
        name: Its name, or the path of its file.
        title: Its title, not yet safe for a terminal.
        about: What is to be done.
        corpus: The training text.
        source: The name of the corpus as commands take it; empty for a text in the exercise.
        recipe: The right recipe, without symbols.
        merges: The number of merges; None if `vocab_size` says it, or if nothing is trained.
        vocab_size: The number of ids, special tokens included.
        specials: Special tokens, which are borders of the text.
        call: The call that trains.
        encode_call: The call that makes an encoder, or encodes.
        hidden: Corpora that a Python file is tried on too.
        texts: Texts to encode.
        hidden_texts: More of them, which are not shown.
        limits: The limits of the process that runs a Python file, by name.
        claims: Facts that the engine must confirm: `merges` and `tokens`.
        expect: Answers that no engine here computes: `tokens` of texts.
    """

    name: str
    title: str
    about: str = ""
    corpus: Corpus = field(default_factory=lambda: Corpus("none"))
    source: str = ""
    recipe: Recipe = field(default_factory=Recipe)
    merges: int | None = None
    vocab_size: int | None = None
    specials: tuple[str, ...] = ()
    call: Call | None = None
    encode_call: Call | None = None
    hidden: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    hidden_texts: tuple[str, ...] = ()
    limits: Mapping[str, int] = field(default_factory=lambda: {name: limit.default for name,
        limit in LIMITS.items()})
    claims: Mapping[str, Any] = field(default_factory=dict)
    expect: Mapping[str, Any] = field(default_factory=dict)

    @property
    def trains(self) -> bool:
        """True if merges are trained. Otherwise the answers are in `expect`."""
        return not self.expect

    @property
    def borders(self) -> tuple[str, ...]:
        """The special tokens that a student has to cut the text at: none if the call does not pass them."""
        calls = [call for call in (self.call, self.encode_call) if call is not None]
        passed = not calls or any("special_tokens" in call.arguments for call in calls)
        return self.specials if passed else ()

    @cached_property
    def whole_recipe(self) -> Recipe:
        """The recipe with the special tokens as symbols, which no merge crosses."""
        return replace(self.recipe, symbols=(*self.recipe.symbols, *self.specials))

    def start(self, corpus: Corpus | None = None) -> Trainer:
        """Start the right training, on the corpus of the exercise or on another one."""
        with silent():
            return learn.start(corpus or self.corpus, self.whole_recipe, Run())

    def asked(self, trainer: Trainer) -> int:
        """Return how many merges are asked for in a training, at least 0; the training may have fewer
        pairs."""
        if self.merges is not None:
            return self.merges
        assert self.vocab_size is not None
        return max(0, self.vocab_size - self.base_size(trainer))

    def base_size(self, trainer: Trainer) -> int:
        """Return the number of ids before the first merge: units and special tokens."""
        return trainer.tokenizer().vocabulary.base_size + len(self.specials)

    def trained(self, corpus: Corpus | None = None) -> tuple[Trainer, int]:
        """Run the right training, on the corpus of the exercise or on another one. Return it at its end, and
        how many merges were asked for. It is trained again at each call."""
        trainer = self.start(corpus)
        asked = self.asked(trainer)
        with silent():
            learn.run(trainer, Stops(merges=asked))
        return trainer, asked

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The right tokenizer."""
        return self.trained()[0].tokenizer()


def read_exercise(name: str) -> Exercise:
    """Return the exercise that ships under a name, or that of a file.

    Raises:
        TokentuiError: There is no such exercise, or the file is no exercise.
    """
    found = shipped_or_named(name, "an exercise", [exercise.name for exercise in EXERCISES], _FOLDER)
    return parse_exercise(found.text, name, found.where, found.folder)


def parse_exercise(text: str, name: str, where: str, folder: str = "") -> Exercise:
    """Return the exercise of a TOML text.

    Args:
        text: The text.
        name: The name of the exercise.
        where: The name of the file in errors.
        folder: The folder that the path of a corpus starts from.

    Raises:
        TokentuiError: The text is no exercise. The error names the key.
    """
    table = toml_table(text, where, "see docs/teach/exercises.md", 80)
    return _Reader(where, folder).exercise(table, name)


class _Reader:
    """Reads the table of an exercise.

    Args:
        where: The name of the file in errors.
        folder: The folder that paths of corpora start from.
    """

    def __init__(self, where: str, folder: str) -> None:
        self._where, self._folder = where, folder

    def _error(self, key: str, what: str, hint: str = "") -> TokentuiError:
        return TokentuiError(what, f"{self._where}: {key}" if key else self._where,
                             hint or f"for example {key} = {KEYS[key].example}")

    def exercise(self, table: Mapping[str, Any], name: str) -> Exercise:
        """Return the exercise.

        Raises:
            TokentuiError: A key is unknown, missing or of another type, or a value is too large.
        """
        for key, value in table.items():
            if key not in KEYS:
                raise self._error("", f"no such key: {key[:40]}", nearest(key, KEYS))
            if type(value) not in KEYS[key].kinds:
                raise self._error(key, f"wrong type: {shown(value)}")
        title = " ".join(table.get("title", "").split())
        if not title or len(title) > 200:
            raise self._error("title", "the title is missing" if not title else "more than 200 characters")
        expect = self._answers("expect", table.get("expect", {}))
        if not expect and not ("recipe" in table and ("merges" in table) != ("vocab_size" in table)):
            key = "recipe" if "recipe" not in table else "merges"
            raise self._error(key, "an exercise needs a recipe, and either merges or vocab_size")
        recipe = self._recipe(table["recipe"]) if "recipe" in table else Recipe()
        for key in ("merges", "vocab_size"):
            if key in table and not 0 < table[key] <= MOST_MERGES:
                raise self._error(key, f"not 1 to {MOST_MERGES:,}")
        texts = {key: self._texts(key, table.get(key, [])) for key in ("hidden", "texts", "hidden_texts")}
        return Exercise(
            name=name, title=title, about=" ".join(table.get("about", "").split())[:2000],
            corpus=self._corpus(table, needed=not expect), source=self._source(table), recipe=recipe,
            merges=table.get("merges"), vocab_size=table.get("vocab_size"),
            specials=self._texts("specials", table.get("specials", [])),
            call=self._call("call", table.get("call")), encode_call=self._call("encode_call",
                table.get("encode_call")),
            limits=self._limits(table.get("limits", {})),
            claims=self._answers("claims", table.get("claims", {})), expect=expect, **texts,
        )

    def _texts(self, key: str, values: Sequence[object]) -> tuple[str, ...]:
        """Check a list of texts, and return it as a tuple.

        Raises:
            TokentuiError: One is not a string, empty, too long or listed twice, or there are too many.
        """
        if len(values) > _MOST_TEXTS:
            raise self._error(key, f"more than {_MOST_TEXTS} texts", "remove some")
        texts: list[str] = []
        for value in values:
            if not isinstance(value, str) or not value:
                raise self._error(key, f"not a text: {shown(value)}")
            if len(value) > _MOST_TEXT:
                raise self._error(key, f"a text of more than {_MOST_TEXT:,} characters", "shorten it")
            texts.append(value)
        if len(set(texts)) < len(texts):
            raise self._error(key, "a text is listed twice", "remove one")
        return tuple(texts)

    def _source(self, table: Mapping[str, Any]) -> str:
        """Return the name of the corpus as commands take it; empty if it is in the exercise."""
        source = str(table.get("corpus", ""))
        if not source or source.startswith("sample:"):
            return source
        return os.path.join(self._folder, sandbox.expanded(source))

    def _corpus(self, table: Mapping[str, Any], *, needed: bool) -> Corpus:
        """Read the corpus from `corpus_text`, or from the file or sample of `corpus`. One that is missing is
        empty, unless it is `needed`.

        Raises:
            TokentuiError: Both are given, the needed one is missing, or it is standard input, a URL or not
                readable.
        """
        if "corpus" in table and "corpus_text" in table:
            raise self._error("corpus", "there is a corpus_text too", "remove one of them")
        if "corpus_text" in table:
            if not 0 < len(table["corpus_text"]) <= _MOST_TEXT:
                raise self._error("corpus_text", f"not 1 to {_MOST_TEXT:,} characters", "name a file")
            return Corpus.from_text(table["corpus_text"], "the corpus of the exercise")
        source = table.get("corpus", "")
        if not source and not needed:
            return Corpus("none")
        if source in ("", "-"):
            raise self._error("corpus", "the corpus is missing")
        if "://" in source:
            raise self._error("corpus", "an exercise reads no URL", "name a file or a sample")
        with silent():
            try:
                return read(self._source(table))
            except TokentuiError as error:
                raise self._error("corpus", *_what_and_hint(error)) from None

    def _recipe(self, value: str | dict[str, Any]) -> Recipe:
        """Read the recipe of an exercise: the name of a preset, or a table.

        Raises:
            TokentuiError: It is not a recipe, its objective is not `count` or `score`, or an axis has a value
                that is not graded.
        """
        try:
            recipe, _ = recipe_of(value)
        except TokentuiError as error:
            raise self._error("recipe", *_what_and_hint(error)) from None
        if recipe.objective not in ("count", "score"):
            raise self._error("recipe", f"objective={recipe.objective} merges no pairs by a value",
                              "use objective=count or score, or give the answers in expect")
        if recipe.pieces != "any" or recipe.coverage != 1 or recipe.symbols or recipe.what_if:
            raise self._error("recipe",
                "a graded recipe has pieces=any, coverage=1, no symbols and no what-ifs",
                              "set them")
        return recipe

    def _call(self, key: str, value: str | None) -> Call | None:
        """Read `name(argument, …)`; None for None.

        Raises:
            TokentuiError: It has another form, or an argument is unknown.
        """
        if value is None:
            return None
        found = re.fullmatch(r"\s*([A-Za-z_]\w{0,60})\s*\(([\w\s,]*)\)\s*", value)
        arguments = tuple(filter(None, (part.strip() for part in found[2].split(",")))) if found else ()
        if found is None:
            raise self._error(key, f"not a call: {shown(value)}")
        for argument in arguments:
            if argument not in ARGUMENTS:
                raise self._error(key, f"nothing is called {argument[:40]}", nearest(argument, ARGUMENTS))
        return Call(found[1], arguments)

    def _limits(self, table: Mapping[str, object]) -> dict[str, int]:
        """Return all limits, with defaults for those that the table leaves out.

        Raises:
            TokentuiError: A name is unknown, or a value is not a whole number in its range.
        """
        for name, value in table.items():
            if name not in LIMITS:
                raise self._error("limits", f"no such limit: {name[:40]}", nearest(name, LIMITS))
            limit = LIMITS[name]
            if type(value) is not int or not limit.least <= value <= limit.most:
                raise self._error("limits",
                    f"{name} is {shown(value)}, not {limit.least:,} to {limit.most:,}")
        return {name: table.get(name, limit.default) for name, limit in LIMITS.items()}  # type: ignore[misc]

    def _answers(self, key: str, table: Mapping[str, Any]) -> dict[str, Any]:
        """Check the types of the listed answers and return them; `merges` are allowed for claims only.

        Raises:
            TokentuiError: An answer is unknown or has another type.
        """
        known = ("merges", "tokens") if key == "claims" else ("tokens",)
        for name in table:
            if name not in known:
                raise self._error(key, f"no such answer: {name[:40]}", nearest(name, known))
        pairs, tokens = table.get("merges", []), table.get("tokens", {})
        if not (isinstance(pairs, list) and all(
            isinstance(pair, list) and len(pair) == 2 and all(isinstance(part,
                str) for part in pair) for pair in pairs
        )):
            raise self._error(key, "merges is not a list of pairs of texts")
        if not (isinstance(tokens, dict) and all(
            isinstance(row, list) and all(isinstance(part, str) for part in row) for row in tokens.values()
        )):
            raise self._error(key, "tokens is not a table of texts and their tokens")
        return dict(table)


def _what_and_hint(error: TokentuiError) -> tuple[str, str]:
    """Return what an error says about a value, and its hint."""
    return f"{error.where}: {error.what}" if error.where else error.what, error.hint


def false_claims(exercise: Exercise) -> list[str]:
    """Return a line for each claim of an exercise that the engine does not confirm."""
    lines: list[str] = []
    claims = exercise.claims
    if "merges" in claims:
        vocabulary = exercise.tokenizer.vocabulary
        for number, (claimed, pair) in enumerate(zip(claims["merges"], vocabulary.merges, strict=False), 1):
            true = [_text(vocabulary.spelled(part)) for part in pair]
            if claimed != true:
                lines.append(f"merge {number} is {true}, not {claimed}")
        if len(claims["merges"]) > len(vocabulary.merges):
            lines.append(f"there are {len(vocabulary.merges)} merges, not {len(claims['merges'])}")
    for text, claimed in claims.get("tokens", {}).items():
        encoding = exercise.tokenizer.encode(text)
        true = [name if piece is None else _text(piece)
                for name, piece in zip(encoding.tokens, encoding.pieces, strict=True)]
        if claimed != true:
            lines.append(f"the tokens of {shown(text)} are {true}, not {claimed}")
    return lines


def _text(piece: bytes) -> str:
    return piece.decode("utf-8", "surrogateescape")
