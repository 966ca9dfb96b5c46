"""Ids alone, by kernels and without them, are those that encoding with places gives."""

from __future__ import annotations

import functools
import importlib
import itertools
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import oracle
import owners
import peers
import pytest
import scanners
from cancelling import cancel_at, checks_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tokentui import train
from tokentui.core import engines
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import job
from tokentui.encode import batch, id_tables
from tokentui.encode import encoder as word_encoder
from tokentui.encode.id_tables import WordIdTable
from tokentui.encode.segment import PAIRS
from tokentui.encode.segment.viterbi import each_as_read
from tokentui.encode.tokenizer import Tokenizer, tokenizer_of
from tokentui.encode.vocabulary import NO_ID, TokenizerFile
from tokentui.formats.byte_files import build
from tokentui.formats.source import Node
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.normalize import NORMALIZERS

CORPUS = (
    "Hugs and hugging: the mug, the rug; it's a Bug's LIFE... 中文中文 a\u0301e\u0301 1234 12 1 " * 3
    + "\n\n  if x:\n\t\treturn 'x'\r\n" * 3
    + "aaaa aaaaaaaaaaaaaaaa abababababab mmmmmm's 😂😂😂 \u00a0\u3000 ǅ ʰ €"
)
CHARACTERS: dict[str, Any] = {"unit": "char", "base": "sorted"}
RECIPES = {
    "gpt2": Recipe(split="gpt2"),
    "cl100k": Recipe(split="cl100k", base="gpt2-bytes", tie="lowest-ids"),
    "o200k": Recipe(split="o200k"),
    "llama3, few bytes": Recipe(split="llama3", base="sorted", unknown="per-unit"),
    "whitespace, bytes dropped": Recipe(split="whitespace", base="first-seen", unknown="drop"),
    "bytes, end of word": Recipe(split="whitespace", mark="end-symbol:</w>", base="sorted", unknown="error"),
    "bert, characters": Recipe(split="bert", unknown="whole-word", mark="prefix:##", **CHARACTERS),
    "longest": Recipe(split="bert", unknown="rest-of-word", encode="longest-match", **CHARACTERS),
    "longest of bytes": Recipe(split="gpt2", encode="longest-match"),
    "refused": Recipe(split="gpt2", unknown="error", **CHARACTERS),
    "without id": Recipe(split="cl100k-classic", unknown="pass-through", **CHARACTERS),
    "fallback": Recipe(split="o200k", unknown="byte-fallback", **CHARACTERS),
    "ids that move": Recipe(split="whitespace", unit="char", base="frequency", unknown="fused"),
    "bert": Recipe(
        split="bert", normalize=("bert-uncased",), unknown="whole-word", mark="prefix:##",
        encode="longest-match", **CHARACTERS,
    ),
    "qwen": Recipe(split="qwen", normalize=("nfc",)),
    **{f"after {step}": Recipe(split=split, normalize=("nfc", step), unknown="per-unit")
        for step, split in zip(NORMALIZERS, itertools.cycle(("gpt2", "qwen", "o200k", "whitespace")))},
    # Not for kernels.
    "symbols": Recipe(split="gpt2", symbols=("mug",)),
    # Without a rule.
    "metaspace": Recipe(split="metaspace", unknown="fused", **CHARACTERS),
    "falcon": Recipe(split="falcon"),
    "own, in front": Recipe(split=r"regex:\w+|[^\w\s]+", prefix_space=True),
    "no front": Recipe(split="metaspace", prefix_space=False, unknown="error", **CHARACTERS),
    "front": Recipe(split="gpt2", prefix_space=True),
    "own": Recipe(split=r"regex:\w+|\s"),
}
texts = st.lists(
    st.one_of(
        scanners.texts, st.text("ab", max_size=90),
        st.sampled_from([CORPUS[:60], "mug " * 9, "<s>", "</s>", "a" * 70, "hug" * 30]),
    ),
    max_size=5,
).map("".join)
PATCHED = [HealthCheck.function_scoped_fixture]  # one patch does for all examples


@pytest.fixture(scope="session")
def kernels(loaded: None) -> ModuleType:
    """The module `tokentui.encode.kernels.encode`."""
    return importlib.import_module("tokentui.encode.kernels.encode")


@pytest.fixture
def always(kernels: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels for texts of any length, in chunks of a few characters, which are forgotten after some words.
    """
    monkeypatch.setattr(id_tables, "KERNEL_CHARS", 0)
    monkeypatch.setattr(id_tables, "MANY_WORDS", 0)
    monkeypatch.setattr(importlib.import_module("tokentui.text.kernels.count"), "CHUNK_CHARS", 30)
    monkeypatch.setattr(kernels, "KEPT_WORDS", 40)


@functools.cache
def trained(name: str) -> Tokenizer:
    specials = ("<unk>", "<s>", "</s>") if name != "gpt2" else ()
    return train(Corpus.from_text(CORPUS), RECIPES[name], merges=60, specials=specials)


def outcome(numbers: Callable[[], Iterable[int | None]]) -> list[int] | str:
    """Ids, or what the error says."""
    try:
        return [NO_ID if number is None else number for number in numbers()]
    except TokentuiError as error:
        return str(error)


def answer(work: Callable[[], object]) -> object:
    """What some work returns, or what the error says."""
    try:
        return work()
    except TokentuiError as error:
        return str(error)


def compare(tokenizer: Tokenizer, text: str, threads: int = 1, **more: Any) -> None:
    """Both ways come to the same."""
    wanted = outcome(lambda: tokenizer.encode(text, **more).ids)
    assert outcome(lambda: tokenizer.encode_ids(text, threads=threads, **more)) == wanted


def by_kernels(tokenizer: Tokenizer) -> bool:
    """Whether the last text went through kernels."""
    table = tokenizer.encoder.id_table
    kernels = table._text_kernels if isinstance(table, WordIdTable) else None
    return kernels is not None and kernels.knows


# --- any text ---


@pytest.mark.parametrize("name", RECIPES)
@settings(max_examples=20, suppress_health_check=PATCHED)
@given(text=texts, specials=st.booleans(), threads=st.integers(1, 3))
@pytest.mark.first_run(cases=4)
def test_any_text(always: None, name: str, text: str, specials: bool, threads: int) -> None:
    """With kernels, as a long text and as a short one, and without them."""
    tokenizer = trained(name)
    more: dict[str, Any] = {"allow_special": specials, "special_tokens": specials}
    wanted = outcome(lambda: tokenizer.encode(text, **more).ids)
    assert outcome(lambda: tokenizer.encode_ids(text, threads=threads, **more)) == wanted
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(id_tables, "KERNEL_CHARS", len(text) + 1)
        assert outcome(lambda: tokenizer.encode_ids(text, **more)) == wanted
        patch.setenv(engines.VARIABLE, "off")
        assert outcome(lambda: tokenizer.encode_ids(text, **more)) == wanted


@pytest.mark.parametrize(("most_bytes", "most_of_word"), [(1 << 14, 1 << 8), (20, 1 << 8), (1 << 14, 3)])
@pytest.mark.parametrize("name", ["gpt2", "metaspace", "bert", "falcon", "qwen", "no front"])
@pytest.mark.first_run(cases=3)
def test_short_texts_one_by_one(
    kernels: ModuleType, name: str, most_bytes: int, most_of_word: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels encode them as soon as their tables are built: until then, and while the table of words grows,
    is forgotten, or meets words that the merges do not encode, the ids are those of plain Python."""
    monkeypatch.setattr(id_tables, "MANY_CHARS", 40)
    monkeypatch.setattr(kernels, "SHORT_BYTES", most_bytes)
    monkeypatch.setattr(kernels, "SHORT_WORD", most_of_word)
    monkeypatch.setattr(kernels, "KEPT_WORDS", 1000)
    tokenizer, plain = Tokenizer(trained(name).vocabulary), Tokenizer(trained(name).vocabulary)
    listed = [
        "", "the mug", "a pug's", "\udcff mug", "é ▁ <s> mug\n", "hug" * 90, "  ",
        *(" ".join(f"{at * 7919 % 9973:x}" for at in range(n, n + 60)) for n in range(0, 1500, 60)),
        "the mug",
    ]
    found = [answer(functools.partial(tokenizer.encode_ids, text)) for text in listed]
    assert by_kernels(tokenizer)
    with job(cancel=lambda: True), pytest.raises(Cancelled):
        tokenizer.encode_ids("the mug")
    monkeypatch.setenv(engines.VARIABLE, "off")
    assert found == [answer(functools.partial(plain.encode_ids, text)) for text in listed]


@pytest.mark.parametrize("name", RECIPES)
@settings(max_examples=20, suppress_health_check=PATCHED)
@given(listed=st.lists(texts, max_size=12), specials=st.booleans(), call=st.integers(1, 200))
@pytest.mark.first_run(cases=3)
def test_many_short_texts_by_one_call(
    kernels: ModuleType, name: str, listed: list[str], specials: bool, call: int
) -> None:
    """They are those of one text after the other, also where one is empty, refused, or long."""
    tokenizer = trained(name)
    more: dict[str, Any] = {"allow_special": specials, "special_tokens": specials}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch, "CALL_CHARS", call)
        patch.setattr(id_tables, "KERNEL_CHARS", 60)
        patch.setattr(kernels, "KEPT_WORDS", 40)
        wanted = answer(lambda: [tokenizer.encode(text, **more) for text in listed])
        assert answer(lambda: tokenizer.encode_batch(listed, **more)) == wanted


@pytest.mark.parametrize(("name", "joined"), [
    ("gpt2", True), ("cl100k", True), ("o200k", True), ("whitespace, bytes dropped", True),
    ("metaspace", True), ("bert", True), ("symbols", False), ("qwen", True),
])
def test_which_short_texts_go_by_one_call(
    kernels: ModuleType, name: str, joined: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the split leaves white space out, and where it is normalized."""
    monkeypatch.setattr(id_tables, "KERNEL_CHARS", 60)
    tokenizer = Tokenizer(trained(name).vocabulary)
    listed = ["hug mug", "", "a pug's", "mug  hug"] * 10
    wanted = [tokenizer.encode(text) for text in listed]
    monkeypatch.setattr(word_encoder.WordEncoder, "encode", lambda *_, **__: "alone")
    assert tokenizer.encode_batch(listed) == (wanted if joined else ["alone"] * len(listed))


def test_which_go_through_kernels(always: None) -> None:
    found = {}
    for name in RECIPES:
        tokenizer = trained(name).at(30)
        compare(tokenizer, "the mug")
        found[name] = by_kernels(tokenizer)
    assert [name for name, used in found.items() if not used] == ["symbols"]


@settings(max_examples=30, suppress_health_check=PATCHED)
@given(text=texts, merges=st.integers(0, 60))
def test_some_merges(always: None, text: str, merges: int) -> None:
    compare(trained("gpt2").at(merges), text)


@settings(max_examples=20, suppress_health_check=PATCHED)
@given(text=st.text("abm", min_size=49, max_size=400))
def test_long_words(always: None, text: str) -> None:
    compare(trained("gpt2"), text)


# --- vocabularies of files ---


@settings(max_examples=40, suppress_health_check=PATCHED)
@given(
    pieces=st.sets(
        st.one_of(st.text("abc", min_size=2, max_size=5), st.text("aé中", min_size=1, max_size=3)).map(
            str.encode
        ),
        max_size=30,
    ),
    text=st.one_of(st.text("abcé中 ", max_size=30), texts),
    missing=st.integers(0, 255), merges=st.integers(0, 30), order=st.randoms(),
)
def test_ranks(always: None, pieces: set[bytes], text: str, missing: int, merges: int, order: Any) -> None:
    """Tokens that no merge makes, tokens in any order, a byte without a token, ids with holes."""
    ordered = sorted(pieces - {bytes((value,)) for value in range(256)})
    order.shuffle(ordered)
    names = [bytes((value,)) for value in range(256) if value != missing] + ordered
    tokenizer = build({name: 3 * n for n, name in enumerate(names)}, "gpt2", {}, Node(None, "ranks"))
    compare(tokenizer, text)
    assert by_kernels(tokenizer) or not text
    compare(tokenizer.at(min(merges, len(tokenizer.vocabulary.merges))), text)


@settings(max_examples=60, suppress_health_check=PATCHED)
@given(
    pieces=st.sets(st.text("abé中", min_size=1, max_size=5).map(str.encode), max_size=30),
    order=st.randoms(), merges=st.integers(0, 30),
)
def test_pairs_as_arrays(kernels: ModuleType, pieces: set[bytes], order: Any, merges: int) -> None:
    """They are those that plain Python lists, and pairs of tokens that are not in use yet."""
    ordered = sorted(pieces - {bytes((value,)) for value in range(256)})
    order.shuffle(ordered)
    names = [*(bytes((value,)) for value in range(256)), *ordered]
    tokenizer = build({name: n for n, name in enumerate(names)}, "gpt2", {}, Node(None, "ranks"))
    tokenizer = tokenizer.at(min(merges, len(tokenizer.vocabulary.merges)))
    segmenter: Any = tokenizer.encoder.segmenter
    table, width = segmenter.pair_table(), len(tokenizer.vocabulary.pieces)
    found = {
        (key // width, key % width, table.makes[rank])
        for key, rank in zip(table.keys, table.ranks, strict=True)
        if max(key // width, key % width, table.makes[rank]) < table.limit
    }
    assert found == {(left, right, made) for left, right, _, made in segmenter.pairs()}
    assert not table.tied


@settings(max_examples=40, suppress_health_check=PATCHED)
@given(
    rows=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=40),
    text=st.text("abcd ", max_size=80),
)
def test_rows_of_pairs(always: None, rows: list[tuple[int, int]], text: str) -> None:
    """A token may stand in several rows."""
    recipe = Recipe(split="gpt2", base="sorted", unknown="error")
    pieces = [b"a", b"b", b"c", b"d", b" "]
    symbols = {piece: n for n, piece in enumerate(pieces)}
    table: dict[tuple[int, int], int] = {}
    makes: list[int] = []
    merges: list[tuple[int, int]] = []
    for left, right in rows:
        if max(left, right) < len(pieces) and (left, right) not in table:
            piece = pieces[left] + pieces[right]
            if piece not in symbols:
                symbols[piece] = len(pieces)
                pieces.append(piece)
                merges.append((left, right))
            table[left, right] = len(makes)
            makes.append(symbols[piece])
    by_number = {left * len(pieces) + right: row for (left, right), row in table.items()}
    way = PAIRS.with_tables(rows=by_number, makes=makes)
    units = {piece: n for n, piece in enumerate(pieces[:5])}
    tokenizer = tokenizer_of(
        TokenizerFile("", recipe, pieces, list(range(len(pieces))), merges, units, way=way)
    )
    compare(tokenizer, text)
    compare(tokenizer.at(len(merges) // 2), text)


@pytest.mark.parametrize("name", [
    *owners.TRAINED,
    *oracle.large("spm-test/test_ja_model.model"),
    *oracle.large(
        "gpt2/tokenizer.json", "falcon/tokenizer.json", "bert-base-uncased/tokenizer.json",
        "llama2/tokenizer.json", "t5-small/tokenizer.json", marks=[pytest.mark.soak],
    ),
])
@pytest.mark.first_run(cases=5)
def test_files_of_other_tools_encode_alike_with_kernels(always: None, name: str, tmp_path: Path) -> None:
    """Whatever they do to a text: cut out tokens, normalize, look back."""
    tokenizer = owners.read(name, tmp_path)
    for text in (CORPUS, "no name here", "a<|endoftext|>b </s> [SEP] <pad>", ""):
        for allowed in (False, True):
            compare(tokenizer, text, allow_special=allowed, special_tokens=allowed)


@pytest.mark.peer
@pytest.mark.parametrize("name", [
    "trained/ranks/r.tiktoken",
    *oracle.large("tiktoken_cl100k_base/cl100k_base.tiktoken", marks=[pytest.mark.soak]),
])
def test_tiktoken_gives_the_same(kernels: ModuleType, name: str, tmp_path: Path) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    tokenizer, ranks = owners.read(name, tmp_path), owners.ranks_of(owners.path_of(name, tmp_path))
    pattern = importlib.import_module("tokentui.text.split").SPLITS[tokenizer.recipe.split].pattern
    peer = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    large = [] if name.startswith("trained/") else sorted(oracle.shared("corpora").glob("*.txt"))
    given = [path.read_text(encoding="utf-8", errors="replace")[:200_000] for path in large]
    for text in given or [oracle.texts()["en_mid"], *map(peers.text, peers.CORPORA)]:
        assert tokenizer.encode_ids(text).tolist() == peer.encode_ordinary(text), text[:80]
    assert by_kernels(tokenizer)


# --- what is around it ---


def test_ids_that_do_not_fit_into_32_bits(always: None) -> None:
    for first in (2**31 - 300, 2**31 - 100, 2**31, 2**40):
        tokenizer = train(Corpus.from_text(CORPUS), RECIPES["gpt2"], merges=50, first_id=first)
        compare(tokenizer, CORPUS)
        assert tokenizer.encode_ids("mug").typecode == ("i" if first < 2**31 - 299 else "q")


def test_bytes_are_taken_as_they_are(always: None) -> None:
    tokenizer = trained("gpt2")
    assert (
        tuple(tokenizer.encode_ids(b"mug \xff\x80 \xe4\xb8"))
        == tokenizer.encode(b"mug \xff\x80 \xe4\xb8").ids
    )


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_progress_and_cancelling(
    engine: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "plain":
        monkeypatch.setenv(engines.VARIABLE, "off")
    else:
        request.getfixturevalue("kernels")
        monkeypatch.setattr(importlib.import_module("tokentui.text.kernels.count"), "CHUNK_CHARS", 1000)
    tokenizer, text = trained("gpt2").at(40), CORPUS * 300
    told: list[tuple[int, int]] = []
    found = tokenizer.encode_ids(text, progress=lambda *one: told.append(one))
    assert told == sorted(told)
    assert told[0] == (0, len(text))
    assert len(told) > 3
    assert by_kernels(tokenizer) == (engine == "compiled")
    asked = iter([False, False, True])
    with pytest.raises(Cancelled):
        tokenizer.encode_ids(text, cancel=lambda: next(asked))
    assert tokenizer.encode_ids(text) == found


def test_the_tables_of_words_are_made_between_two_checks(
    always: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a long file they take as long as the words of a block. Scores are read in four parts."""
    kernels, done = importlib.import_module("tokentui.encode.kernels.batch"), list[str]()
    tables_of = kernels.batch

    def noted(*given: Any, **more: Any) -> Any:
        done.append("tables")
        encode = tables_of(*given, **more)

        def encoded(words: list[str]) -> Any:
            done.append("words")
            return encode(words)

        return encoded

    def cancel() -> bool:
        done.append("check")
        return False

    monkeypatch.setattr(kernels, "batch", noted)
    with job(cancel=cancel):
        trained("gpt2").at(40).encoder.id_table.ids([" mug", " hug"])
    at = done.index("tables")
    parts = [name for name, _ in itertools.groupby(done[at - 1 :])]
    assert parts[:4] == ["check", "tables", "check", "words"]
    assert checks_of(lambda: each_as_read((-1.25, -2.5, -13.75))) == 3


def test_a_batch_can_be_cancelled_between_calls(always: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "CALL_CHARS", 100)
    tokenizer, listed = trained("gpt2").at(40), ["the mug and the hug"] * 200
    wanted = tokenizer.encode_batch(listed)
    checks = checks_of(lambda: tokenizer.encode_batch(listed))
    assert checks > 30
    for number in (0, 7, checks - 1):
        cancel_at(number, lambda: tokenizer.encode_batch(listed))
    assert tokenizer.encode_batch(listed) == wanted


def test_an_error_leaves_no_trace(always: None) -> None:
    tokenizer = trained("refused")
    wanted = tokenizer.encode("the mug").ids
    for _ in range(3):
        with pytest.raises(TokentuiError, match="offset 4"):
            tokenizer.encode_ids("mug Ω the")
        assert tuple(tokenizer.encode_ids("the mug")) == wanted
