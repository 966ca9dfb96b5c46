"""How long encoding takes beside the libraries that people use, and what a key costs in a typed text.

All but bpe-openai, which has only vocabularies of its own, get the same ranks and the same pattern, and what
they return is compared. "new" is a tokenizer that has not seen a word yet; the others have encoded the text
once.
"""

from __future__ import annotations

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
    clocked,
    installed,
    kernels,
    median,
    megabytes,
    pieces,
    spread,
    upper,
    version,
)

from tokentui import Tokenizer, load, train
from tokentui.encode.incremental import Typed
from tokentui.encode.vocabulary import NO_ID
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
    import tiktoken as module

    ranks = {entry.piece: entry.id for entry in tokenizer.entries() if entry.kind != "special"}
    pattern = SPLITS[tokenizer.recipe.split].pattern
    encoding = module.Encoding("one", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
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
            gc.collect()
            cpu, wall = time.process_time(), time.perf_counter()
            ids = found[name]()
            seconds, used = time.perf_counter() - wall, time.process_time() - cpu
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
                gc.collect()
                cpu, wall = time.process_time(), time.perf_counter()
                tokenizer.encode_batch(texts)
                seconds, used = time.perf_counter() - wall, time.process_time() - cpu
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


COLD = ("bert", "falcon", "gpt1", "gpt2", "llama2", "t5", "xlnet")
"""Presets whose texts go through different steps."""


def first_call(path: str, name: str) -> Figures:
    """Processor seconds of the first and the second time that a process encodes a text with a file."""
    text = Path(path).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "tokenizer.json")
        train(Corpus.from_text(text), name, vocab_size=8192).save(file)
        found = load(file)
    figures = []
    for _ in range(2):
        start = time.process_time()
        found.encode_ids(text)
        figures.append(time.process_time() - start)
    return {"first": figures[0], "again": figures[1]}


def cold_table(path: Path, repeats: int) -> Table:
    """The first text of a tokenizer that was read, each time in a process of its own."""
    size, rows = path.stat().st_size / 1e6, []
    for name in COLD:
        runs = [apart("encoding", "first_call", str(path), name) for _ in range(repeats)]
        first = median(runs, "first")
        rows.append((name, f"{first:.3f}", f"{size / first:.0f}", f"{median(runs, 'again'):.3f}"))
    heads = ("tokenizer.json of", "CPU s, first", "MB/s", "CPU s, again")
    return Table(f"The first text of a file, {megabytes(path)}", heads, rows)


DECODED = 320_000
"""Ids that each library decodes."""


def decoders(name: str, path: Path, folder: Path) -> tuple[list[int], dict[str, Callable[[], str]]]:
    """The ids of a text by a preset trained on it, and the decoders of the libraries that read its file."""
    text = path.read_text(encoding="utf-8")
    trained = train(Corpus.from_text(text), name, vocab_size=8192)
    file = folder / "tokenizer.json"
    trained.save(file, "huggingface")
    ours = load(file)
    unknown = (NO_ID, trained.vocabulary.unknown_id)  # each library has a text of its own for it
    some = [number for number in trained.encode_ids(text[: 4 * DECODED]) if number not in unknown]
    ids = (some * (DECODED // len(some) + 1))[:DECODED]
    found: dict[str, Callable[[], str]] = {
        "tokentui": lambda: trained.decode(ids), "tokentui, tokenizer.json": lambda: ours.decode(ids),
    }
    if installed("tokenizers"):
        from tokenizers import Tokenizer as Theirs

        hugging_face = Theirs.from_file(str(file))
        found[version("tokenizers")] = lambda: hugging_face.decode(ids, skip_special_tokens=False)
    if installed("tiktoken") and SPLITS.of(trained.recipe.split).is_pattern and trained.recipe.unit == "byte":
        import tiktoken as module

        ranks = {entry.piece: entry.id for entry in trained.entries() if entry.kind != "special"}
        pattern = SPLITS[trained.recipe.split].pattern
        named = {entry.text: entry.id for entry in trained.entries() if entry.kind == "special"}
        bytes_ = module.Encoding("one", pat_str=pattern, mergeable_ranks=ranks, special_tokens=named)
        found[version("tiktoken")] = lambda: bytes_.decode(ids)
    if installed("sentencepiece") and name.startswith("sentencepiece"):
        import sentencepiece as library

        trained.save(folder / "m.model", "sentencepiece")
        processor = library.SentencePieceProcessor(model_file=str(folder / "m.model"))
        found[version("sentencepiece")] = lambda: processor.decode(ids)
    return ids, found


def decode(path: str, name: str, repeats: int) -> Figures:
    """Processor seconds of each decoder in turns, after a first time that does not count; and whether the
    text is ours."""
    with tempfile.TemporaryDirectory() as folder:
        ids, found = decoders(name, Path(path), Path(folder))
        wanted = found["tokentui"]()
        runs: dict[str, list[Figures]] = {one: [] for one in found}
        alike = {one: work() == wanted for one, work in found.items()}
        for turn in range(repeats):
            for one in list(found)[:: -1 if turn % 2 else 1]:
                gc.collect()
                start = time.process_time()
                found[one]()
                runs[one].append({"cpu": time.process_time() - start})
    return {"runs": runs, "alike": alike, "ids": len(ids)}


def decode_table(path: Path, repeats: int) -> Table:
    """Many ids back to text, by presets whose tokens become text in different ways."""
    rows = []
    for name in ("gpt2", "sentencepiece-bpe", "bert"):
        found = apart("encoding", "decode", str(path), name, repeats)
        rows += [
            (f"{name}, {one}", *spread([run["cpu"] for run in runs], 1000),
             "yes" if found["alike"][one] else "no")
            for one, runs in found["runs"].items()
        ]
    heads = ("decoder", "median ms", "least–most", "same text")
    return Table(f"Decoding {DECODED:,} ids, {megabytes(path)}", heads, rows)


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


__all__ = [
    "batch_table", "batches", "bulk", "clocked", "cold_table", "decode", "decode_table", "first_call",
    "table", "typing", "typing_table",
]
