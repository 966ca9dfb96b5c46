"""Other libraries that train or encode: `PEERS` is the one table of them.

The libraries are never imported here: each runs in a process of its own, with limits, since it sees files
that are not checked and may end in ways that no caller can catch.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokentui.core import children
from tokentui.core.errors import TokentuiError, nearest
from tokentui.core.jobs import check
from tokentui.core.safetext import to_bytes
from tokentui.formats.tokens import LETTERS, name_of
from tokentui.learn.bases import base_units, totals_of
from tokentui.learn.objectives import OBJECTIVES
from tokentui.learn.parity import Rule
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words
from tokentui.text.normalize import normalize
from tokentui.text.parts import CorpusPart
from tokentui.text.pretokenize import MARKS, UNITS, Pretokenizer
from tokentui.text.split import spaced

_CHILD = Path(__file__).with_name("child.py")
_LOOK_S = 0.1
_BYTES = {"unit": ("byte",), "mark": ("none",), "pieces": ("any",)}
_DIGITS = "sentencepiece-digits"
_OWN_RULE = "nmt-nfkc"
_SENTENCE = 4192
"""Bytes of a line that sentencepiece reads by default; it leaves out longer ones without a word."""
_LONGEST_LINE = 1 << 30
_UNKNOWN = "\u2585"


@dataclass(frozen=True, slots=True)
class Peer:
    """A library: one entry of `PEERS`, and its functions in `child.py`.

    Attributes:
        name: Its name for `--against`.
        module: The module that it is imported as; `train_MODULE` of the child trains with it.
        axes: The values of each axis that it trains with, for axes of which it does not take all; a name
            alone stands for all its values. Empty if it does not train.
        package: Its name in a package index; empty if it is `name`.
        also: Other names for `--against`.
        coverage: The least coverage that it trains with; None if it has neither coverage nor symbols.
        documents: True if it trains on documents, which it normalizes and splits itself; false if it trains
            on our pre-tokens.
        breaks: The characters that no pre-token may contain.
        letters: True if it writes bytes as letters, as GPT-2 does.
        few: The steps that are compared by default; None for all.
        least_count: The least count of a pair that it merges.
        asks_more: True if it may be asked for a step more than there are.
        reserved: The special tokens that it always has.
        reads: The files that it encodes with, in words; empty for none.
        folders: True if it reads a whole model folder, and chooses the file itself.
        format: The name of their format in `tokentui.formats`; empty for folders.
        opens: The class of the child that opens such a file.
        pattern: True if such files store no pattern, so that it is passed.
        specials: True if it can find special tokens in a text by their names.
        pinned: A version that runs in an environment of its own; empty for that of this environment.
        python: The interpreter of that environment; empty for this one.
    """

    name: str
    module: str
    axes: Mapping[str, tuple[str, ...]]
    package: str = ""
    also: tuple[str, ...] = ()
    coverage: float | None = None
    documents: bool = False
    breaks: str = ""
    letters: bool = False
    few: int | None = None
    least_count: int = 1
    asks_more: bool = True
    reserved: tuple[str, ...] = ()
    reads: str = ""
    folders: bool = False
    format: str = ""
    opens: str = ""
    pattern: bool = False
    specials: bool = False
    pinned: str = ""
    python: str = ""

    @property
    def version(self) -> str:
        """The pinned or the installed version; empty if unknown."""
        if self.pinned:
            return self.pinned
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.version(self.package or self.name)
        return ""


PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Peer(
            "tokenizers", "tokenizers",
            {
                **_BYTES, "unit": ("byte", "char"), "mark": ("none", "prefix", "end-suffix"),
                "objective": ("count", "parity"),
            },
            also=("huggingface", "hf"), letters=True, reads="tokenizer.json", format="huggingface",
            opens="HuggingFace", specials=True,
        ),
        Peer(
            "sentencepiece", "sentencepiece",
            {
                "pieces": ("sentencepiece", _DIGITS), "unit": ("char",), "split": ("metaspace",),
                "mark": ("none",), "objective": ("count", "unigram"),
            },
            also=("spm",), coverage=0.98, documents=True, least_count=2, asks_more=False,
            reserved=("<unk>", "<s>", "</s>"), reads=".model", format="sentencepiece", opens="SentencePiece",
        ),
        Peer(
            "tiktoken", "tiktoken", _BYTES, few=250, asks_more=False, reads="rank files", format="tiktoken",
            opens="TikToken", pattern=True, specials=True,
        ),
        Peer("rustbpe", "rustbpe", _BYTES),
        Peer(
            "gigatoken", "gigatoken", {}, reads="tokenizer.json", format="huggingface", opens="GigaToken",
            specials=True,
        ),
        Peer(
            "subword-nmt", "subword_nmt",
            {"unit": ("char",), "mark": ("end-suffix:</w>",), "pieces": ("any",)}, also=("subword_nmt",),
            breaks=" \r\n",
        ),
        Peer(
            "transformers", "transformers", {}, letters=True, reads="model folders", folders=True,
            opens="Transformers", specials=True,
        ),
        Peer(
            "llama.cpp", "xllamacpp", {}, package="xllamacpp", also=("xllamacpp", "llama-cpp", "llamacpp"),
            letters=True, reads="GGUF files", format="gguf", opens="LlamaCpp", specials=True,
        ),
    )
}
"""The libraries by name. A new one is an entry here, and a function in `child.py`."""


def known_peer(name: str) -> Peer:
    """Return the library with a name.

    Raises:
        TokentuiError: There is no such library.
    """
    peer = next((peer for peer in PEERS.values() if name.lower() in (peer.name, *peer.also)), None)
    if peer is None:
        raise TokentuiError(f"no peer {name[:40]!r}", "--against", nearest(name.lower(), PEERS))
    return peer


def peer_of(name: str) -> Peer:
    """Return the installed library with a name.

    Raises:
        TokentuiError: There is no such library, or it is not installed.
    """
    peer = known_peer(name)
    if importlib.util.find_spec(peer.module) is None:
        hint = f"pip install {peer.package or peer.name}"
        raise TokentuiError("this library is not installed", f"--against {peer.name}", hint)
    return peer


def check_recipe(recipe: Recipe, peer: Peer) -> None:
    """Check that a library can train with a recipe.

    Other tie rules are allowed: to find them is the purpose. So are `base`, and `encode` and `unknown`, which
    do not affect training; and for a library that trains on our pre-tokens `normalize` and `split`.

    Raises:
        TokentuiError: It cannot; the error names the axis.
    """
    if not peer.axes:
        able = ", ".join(name for name, other in PEERS.items() if other.axes)
        raise TokentuiError(f"{peer.name} cannot be compared by training", "--against", f"use {able}")
    for axis, values in {"objective": ("count",), "weight": ("occurrences",), **peer.axes}.items():
        value = recipe.axis(axis)
        if not {value, value.partition(":")[0]} & {*values}:
            hint = f"it trains with {' or '.join(f'{axis}={allowed}' for allowed in values)}"
            raise TokentuiError(f"{peer.name} cannot train with {axis}={value}", "--against", hint)
    if recipe.what_if:
        what = f"{peer.name} does not support what-ifs"
        raise TokentuiError(what, f"what_if={recipe.axis('what_if')}", "leave them out")
    if peer.coverage is None and (recipe.symbols or recipe.coverage < 1):
        name = "symbols" if recipe.symbols else "coverage"
        raise TokentuiError(f"{peer.name} does not support {name}", f"{name}={recipe.axis(name)}",
            "leave it out")
    if recipe.coverage < (peer.coverage or 0):
        what = f"{peer.name} needs {peer.coverage} to 1"
        raise TokentuiError(what, f"coverage={recipe.axis('coverage')}", "use more")


def request(peer: Peer, recipe: Recipe, corpus: Corpus, words: Words) -> dict[str, object]:
    """Return the training data as a JSON object for the process of a library: counted words, or documents for
    a library that splits text itself.

    Args:
        peer: The library.
        recipe: The recipe.
        corpus: The corpus.
        words: Its pre-tokens, counted.

    Raises:
        TokentuiError: The library cannot read a text or word, or leaves it out.
    """
    if peer.documents:
        return _documents(peer, recipe, corpus)
    if refused := next((word for word in words.words if not set(peer.breaks).isdisjoint(word)), None):
        what = f"{peer.name} rejects the word {refused[:40]!r}"
        raise TokentuiError(what, "CORPUS", "use --as lines, and split=space")
    lettered = peer.letters and UNITS.of(recipe.unit).is_byte
    spelled = [name_of(to_bytes(word), lettered) for word in words.words]
    characters = set().union(*spelled)
    delimiter = next(chr(code) for code in range(0xE000, 0xF900) if chr(code) not in characters)
    alphabet = LETTERS if lettered else ()
    return {
        "words": spelled, "counts": words.counts, "delimiter": delimiter, "alphabet": alphabet,
        **_mark_options(recipe, words, lettered), **_parity(recipe, words, lettered),
    }


def _parity(recipe: Recipe, words: Words, lettered: bool) -> dict[str, object]:
    """Return the rule of parity-aware training by the options of `tokenizers`, and the words of each language
    with its development words, which are its own words if it has no development text. Empty for other
    objectives."""
    if OBJECTIVES.of(recipe.objective) is not OBJECTIVES["parity"]:
        return {}
    rule = Rule.of(recipe.objective)
    parts = words.parts or (CorpusPart("", words),)
    ratios = [*map(float, rule.ratios)] or [1.0] * len(parts)

    def given(words: Words) -> tuple[list[str], Sequence[int]]:
        return [name_of(to_bytes(word), lettered) for word in words.words], words.counts

    by_ratio = rule.variant == "ratio"
    return {
        "parity": {
            "variant": "base" if by_ratio else rule.variant, "global_merges": rule.global_merges,
            "window_size": rule.window_size, "alpha": float(rule.alpha),
        },
        "ratio": ratios if by_ratio else None,
        "languages": [given(part.words) for part in parts],
        "developments": None if by_ratio else [given(part.development or part.words) for part in parts],
    }


def _mark_options(recipe: Recipe, words: Words, lettered: bool) -> dict[str, object]:
    """Return `marks`, the mark of a recipe as an option of `tokenizers`, and `marked`, all base units in the
    order of our ids. Both are empty without a mark.

    `tokenizers` numbers these units in another order in each run, which decides ties.
    """
    kind, mark = MARKS.of(recipe.mark), to_bytes(recipe.mark_text)
    if not mark:
        return {"marks": {}, "marked": ()}
    option = "continuing_subword_prefix" if kind.in_front else "end_of_word_suffix"
    cut = Pretokenizer(recipe).units
    totals = totals_of(map(cut, words.words), words.counts)
    return {
        "marks": {option: name_of(mark, lettered)},
        "marked": [name_of(unit, lettered) for unit in base_units(recipe, totals)],
    }


def _documents(peer: Peer, recipe: Recipe, corpus: Corpus) -> dict[str, object]:
    """Return the documents and options for sentencepiece, which normalizes and splits text itself.

    If the recipe has the rule `nmt-nfkc`, sentencepiece normalizes by its own; otherwise it gets texts that
    are normalized here, and does not change them.
    """
    if corpus.counts is not None:
        what = f"{peer.name} needs texts, not counted words"
        raise TokentuiError(what, corpus.name, "open the text --as lines")
    for place, document in enumerate(corpus.documents, 1):
        where, size = f"text {place}", len(document.encode("utf-8", "replace"))
        if size > _LONGEST_LINE:
            what = f"{peer.name} rejects such long lines"
            raise TokentuiError(what, f"{where}: {size:,} bytes", "use --as lines")
        if _UNKNOWN in document:
            what = f"{peer.name} skips lines that contain {_UNKNOWN}"
            raise TokentuiError(what, where, "remove it from the text")
        for name in peer.reserved:
            if name in document and name not in recipe.symbols:
                what = f"{peer.name} reads {name} in a text as its own token"
                raise TokentuiError(what, where, "remove it from the text")
    own = recipe.normalize == (_OWN_RULE,)
    documents = [
        text if own else normalize(text, recipe.normalize, recipe.unicode) for text in corpus.documents
    ]
    return {
        "documents": documents, "first": len(peer.reserved) + len(recipe.symbols),
        "byte_fallback": recipe.unknown == "byte-fallback", "split_digits": recipe.pieces == _DIGITS,
        "normalization_rule_name": "nmt_nfkc" if own else "identity", "remove_extra_whitespaces": own,
        "max_sentence_length": max([_SENTENCE, *(len(to_bytes(text)) + 1 for text in documents)]),
        "character_coverage": recipe.coverage, "user_defined_symbols": recipe.symbols,
        "add_dummy_prefix": spaced(recipe),
    }


Ask = Callable[..., Any]
"""Calls a function of `child.py` by its name, with values by name, and returns its answer; `seconds` is the
longest time that it may take.

Raises TokentuiError if the library refuses, fails or takes too long, and Cancelled.
"""


@contextlib.contextmanager
def asking(peer: Peer) -> Iterator[Ask]:
    """Start the process of a library, yield the function that calls it, and kill it when the context ends.

    The function takes the name of a call, a time limit in seconds and the arguments. It raises
    `TokentuiError` if the library refuses the call, ends or takes too long, and `Cancelled` if the job is
    cancelled.
    """

    def exchange(data: bytes) -> bytes:
        """Send a line to the process, and wait for the line of its answer; empty if it has ended."""
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(data)
            process.stdin.flush()
        return process.stdout.readline()

    def ask(call: str, seconds: float = 120.0, **values: object) -> object:
        """Call a function of the process, and return its result."""
        end = time.monotonic() + seconds
        line = thread.submit(exchange, json.dumps([call, values]).encode("ascii") + b"\n")
        while not wait([line], _LOOK_S).done:
            check()
            if time.monotonic() > end:
                what = f"the library took more than {seconds:.0f} s"
                raise TokentuiError(what, peer.name, "use less of it")
        if not line.result():
            raise gone()
        answer, error = json.loads(line.result())
        if error.startswith("NoTrainerError"):
            what, where = "this release has no trainer for this in Python", f"{peer.name} {peer.version}"
            raise TokentuiError(what, where, "tokenizers 0.23 has one")
        if error:
            what = f"the library refuses: {error}"
            raise TokentuiError(what, peer.name, "use another file or corpus")
        return answer

    def gone() -> TokentuiError:
        """Wait for the end of the process, and return an error with its exit code and its last message."""
        code = process.wait()
        errors.seek(0)
        lines = map(str.strip, errors.read().decode("utf-8", "replace").splitlines())
        messages = [line for line in lines if line and not line.startswith(("note:", "stack ", "at "))]
        how = f"signal {-code}" if code < 0 else f"code {code}"
        what = f"the library ended with {how}" + (f": {messages[-1][:200]}" if messages else "")
        return TokentuiError(what, peer.name, "use another file or corpus")

    with tempfile.TemporaryFile() as errors, ThreadPoolExecutor(1) as thread:
        # The child of another environment imports nothing of this one.
        own = [peer.python, "-I", str(_CHILD)]
        process = subprocess.Popen(
            own if peer.python else children.command_of_file(str(_CHILD)), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=errors, start_new_session=True, cwd=children.FOLDER,
            env={
                **children.child_environment(), "TOKENIZERS_PARALLELISM": "true", "PYTHONWARNINGS": "ignore",
                "TIKTOKEN_CACHE_DIR": "",  # else a file that was changed is as it was when it was read first
            },
        )
        try:
            yield ask
        finally:
            process.kill()
            thread.shutdown()
            process.communicate()
