"""How long encoding takes, compared with the libraries that people use, and what a key costs in a typed text.

All but bpe-openai, which has only vocabularies of its own, get the same ranks and the same pattern, and what
they return is compared. "new" is a tokenizer that has not seen a word yet; the others have encoded the text
once.
"""

from __future__ import annotations

import functools
import gc
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import files
from harness import (
    Figures,
    Table,
    apart,
    installed,
    kernels,
    median,
    megabytes,
    pieces,
    spread,
    tiktoken_of,
    upper,
    version,
    wall_and_processor_seconds,
)

from tokentui import Tokenizer, load, train
from tokentui.encode.incremental import Typed
from tokentui.text.corpus import Corpus
from tokentui.text.split import SPLITS

Encode = Callable[[], Sequence[int]]
KEYS = 200
THREADS = 2


def _ours(tokenizer: Tokenizer, path: Path, threads: int, known: bool) -> Encode:
    text = path.read_text(encoding="utf-8")

    def encode() -> Sequence[int]:
        compiled = tokenizer.encoder.id_table._text_kernels
        if compiled is not None and not known:
            compiled._idle.clear()
        return tokenizer.encode_ids(text, threads=threads)

    return encode


def _tiktoken(tokenizer: Tokenizer, path: Path, threads: int) -> Encode:
    encoding = tiktoken_of(tokenizer)
    text, parts = path.read_text(encoding="utf-8"), list(pieces(path))
    if threads == 1:
        return lambda: encoding.encode_ordinary(text)
    return lambda: [
        number for ids in encoding.encode_ordinary_batch(parts, num_threads=threads) for number in ids
    ]


def _bpe_openai(path: Path) -> Encode:
    import bpe_openai as module

    encoding, parts = module.get_encoding("cl100k_base"), list(pieces(path))
    return lambda: [number for part in parts for number in encoding.encode_ordinary(part)]


def _huggingface(tokenizer: Tokenizer, path: Path) -> Encode:
    from tokenizers import Regex, models, pre_tokenizers
    from tokenizers import Tokenizer as Theirs

    from tokentui.formats.tokens import LETTERS

    def name(piece: bytes) -> str:
        return "".join(LETTERS[value] for value in piece)

    spelled = tokenizer.vocabulary.pieces
    vocabulary = {name(entry.piece): entry.id for entry in tokenizer.entries() if entry.kind != "special"}
    rows = [
        (name(spelled[left]), name(spelled[right]))
        for left, right in tokenizer.vocabulary.merges[: tokenizer.merges]
    ]
    theirs = Theirs(models.BPE(vocabulary, rows, ignore_merges=True))
    pattern = pre_tokenizers.Split(
        Regex(SPLITS[tokenizer.recipe.split].pattern.replace("}+", "}")), "isolated"
    )
    theirs.pre_tokenizer = pre_tokenizers.Sequence(
        [pattern, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    parts = list(pieces(path))
    return lambda: [number for one in theirs.encode_batch_fast(parts) for number in one.ids]


RIVALS = ("gigatoken", "fastokens")
"""Libraries that get the tokenizer.json."""


def _rival(tokenizer: Tokenizer, path: Path, name: str) -> Encode:
    text = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "tokenizer.json")
        tokenizer.save(file, "huggingface")
        library = files.LIBRARIES[name](str(file))
    return lambda: library.encode(text)


def encoders(tokenizer: Tokenizer, path: Path) -> dict[str, Encode]:
    """What is timed, by its name in the table; the first is what the others are compared with."""
    found: dict[str, Encode] = {
        "tokentui, 1 thread": _ours(tokenizer, path, 1, True),
        "tokentui, 1 thread, new": _ours(tokenizer, path, 1, False),
        f"tokentui, {THREADS} threads": _ours(tokenizer, path, THREADS, True),
        f"tokentui, {THREADS} threads, new": _ours(tokenizer, path, THREADS, False),
    }
    if installed("tiktoken"):
        found[f"{version('tiktoken')}, 1 thread"] = _tiktoken(tokenizer, path, 1)
        found[f"{version('tiktoken')}, {THREADS} threads"] = _tiktoken(tokenizer, path, THREADS)
    if installed("bpe_openai"):
        found[f"{version('bpe-openai')}, cl100k's own ranks"] = _bpe_openai(path)
    for name in filter(installed, RIVALS):
        found[f"{version(name)}, 1 text"] = _rival(tokenizer, path, name)
    if installed("tokenizers"):
        found[f"{version('tokenizers')}, all threads"] = _huggingface(tokenizer, path)
    return found


def bulk(path: str, file: str, vocab_size: int, repeats: int) -> Figures:
    """Wall and processor seconds of each in turns, after a first time that does not count; and whether the
    ids are ours."""
    kernels()
    tokenizer = _tokenizer(path, file, vocab_size)
    found = encoders(tokenizer, Path(path))
    runs: dict[str, list[Figures]] = {name: [] for name in found}
    wanted: list[int] = []
    alike: dict[str, bool] = {}
    for turn in range(repeats + 1):
        for name in list(found)[:: -1 if turn % 2 else 1]:
            seconds, used, ids = wall_and_processor_seconds(found[name])
            if turn:
                runs[name].append({"seconds": seconds, "cpu": used})
            else:
                wanted = wanted or list(ids)
                alike[name] = list(map(int, ids)) == wanted
    return {"runs": runs, "alike": alike, "size": tokenizer.vocab_size, "split": tokenizer.recipe.split}


def _tokenizer(path: str, file: str, vocab_size: int) -> Tokenizer:
    if file:
        return load(file)
    return train(Corpus.from_text(Path(path).read_text(encoding="utf-8")), "gpt2", vocab_size=vocab_size)


def typing(path: str, vocab_size: int, chars: int) -> Figures:
    """Seconds a key by the place that is typed at, with the collector off as a session has it."""
    kernels()
    tokenizer = _tokenizer(path, "", vocab_size)
    text = Path(path).read_text(encoding="utf-8")
    text = text[len(text) // 2 :][:chars]
    found: Figures = {}
    gc.collect()
    gc.disable()
    for place, at in {"the end": len(text), "the middle": len(text) // 2, "the start": 0}.items():
        typed = Typed()
        times = []
        for key in range(KEYS + 1):
            now = text[:at] + ("a few words more, and then some. " * KEYS)[:key] + text[at:]
            times += clocked_once(
                lambda now=now, typed=typed: typed.encode(tokenizer.vocabulary, tokenizer.merges, now)
            )  # type: ignore[misc]
        found[place] = {"first": times[0], "keys": times[1:]}
    return found


def batches(path: str, vocab_size: int, repeats: int) -> Figures:
    """Wall and processor seconds of `encode_batch` by the length of the texts, in one thread and in several,
    in turns; the first time does not count."""
    from tokentui.text.kernels import count

    kernels()
    tokenizer, text = _tokenizer(path, "", vocab_size), Path(path).read_text(encoding="utf-8")
    found: Figures = {}
    several = count.threads_for
    for size in (300, 1_000, 10_000, 100_000):
        texts = [text[at : at + size] for at in range(0, len(text), size)]
        runs: dict[str, list[Figures]] = {"1 thread": [], "several": []}
        for turn in range(repeats + 1):
            for name, threads in (("1 thread", lambda chars: 1), ("several", several)):
                count.threads_for = threads
                encode = functools.partial(tokenizer.encode_batch, texts)
                seconds, used, _ = wall_and_processor_seconds(encode)
                if turn:
                    runs[name].append({"seconds": seconds, "cpu": used})
        count.threads_for = several
        found[f"{size:,}"] = runs
    return found


def batch_table(path: Path, vocab_size: int, repeats: int) -> Table:
    """A whole corpus as many texts."""
    rows = []
    for size, runs in apart("encoding", "batches", str(path), vocab_size, repeats).items():
        one = median(runs["1 thread"])
        rows += [
            (f"{size} characters, {name}", *spread([run["seconds"] for run in each]),
             f"{median(each, 'cpu'):.3f}", f"{one / median(each):.2f}")
            for name, each in runs.items()
        ]
    heads = ("texts of", "median s", "least–most", "CPU s", "times 1 thread")
    return Table(f"encode_batch, {megabytes(path)}", heads, rows)


def clocked_once(work: Callable[[], object]) -> list[float]:
    """Seconds of one call."""
    start = time.perf_counter()
    work()
    return [time.perf_counter() - start]


def table(path: Path, vocab_size: int, repeats: int, file: str = "") -> Table:
    """Whole texts."""
    found = apart("encoding", "bulk", str(path), file, vocab_size, repeats)
    runs = found["runs"]
    reference = median(next(iter(runs.values())))
    size = path.stat().st_size / 1e6
    rows = [
        (
            name, *spread([run["seconds"] for run in one]), f"{median(one, 'cpu'):.3f}",
            f"{size / median(one):.0f}", f"{median(one) / reference:.1f}",
            "yes" if found["alike"][name] else "own ids",
        )
        for name, one in runs.items()
    ]
    theirs = next(
        (median(one) for name, one in runs.items() if name.startswith("tiktoken") and "1 thread" in name), 0.0
    )
    heads = ("encoder", "median s", "least–most", "CPU s", "MB/s", "times ours", "same ids")
    title = f"Encoding, {megabytes(path)}, {found['split']}, {found['size']:,} ids"
    figures: Figures = {
        "encoders": {
            name: {"cpu": median(one, "cpu"), "alike": found["alike"][name]} for name, one in runs.items()
        },
    }
    return Table(title, heads, rows, {**figures, "tiktoken": reference / theirs} if theirs else figures)


def typing_table(path: Path, vocab_size: int, chars: int = 10_000) -> Table:
    """Typed text."""
    found = apart("encoding", "typing", str(path), vocab_size, chars)
    rows = []
    for place, one in found.items():
        median_ms, *_ = spread(one["keys"], 1000)
        p99, _, most = upper(one["keys"])
        rows.append(
            (place, f"{one['first'] * 1000:.2f}", median_ms, f"{p99 * 1000:.3f}", f"{most * 1000:.3f}")
        )
    heads = ("typed at", "first of all", "median", "p99", "most")
    most = max(upper(one["keys"])[0] for one in found.values())
    return Table(
        f"A key in a text of {chars:,} characters, encoded with places, milliseconds", heads, rows,
        {"p99": most},
    )
