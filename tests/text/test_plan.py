"""A corpus that is counted in parts gives what one count of all of it gives, byte for byte."""

from __future__ import annotations

import gzip
import lzma
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import tokentui
from tokentui.core import engines, limits
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import job
from tokentui.preset_table import PRESETS, preset_named
from tokentui.recipe import Recipe
from tokentui.text import blocks, counted, tally
from tokentui.text.count import Words, count
from tokentui.text.kernels.count import Table
from tokentui.text.parts import FlatWords
from tokentui.text.plan import may_cut, plan
from tokentui.text.read import read
from tokentui.text.sources import counts as rows_of
from tokentui.text.tally import Store, count_here

SHARED = Path(__file__).parents[2].parent / "shared" / "data" / "corpora"
BOOKS = sorted(SHARED.iterdir()) if SHARED.is_dir() else []
GPT2 = preset_named("gpt2").recipe


@pytest.fixture(autouse=True)
def _limits() -> Iterator[None]:
    yield
    limits.use(None)


def in_parts(
    source: str | list[str], recipe: Recipe, size: str = "1K", as_: str | None = None, field: str = "text",
    held: int = 1 << 30, top: int | None = None,
) -> list[tuple[str, int]]:
    """The counts of a corpus in parts of a size."""
    limits.use(limits.now().with_words([f"part-bytes={size}"], ""))
    with Store(held) as store:
        sources = [source] if isinstance(source, str) else source
        count_here(plan(sources, recipe, as_, field), recipe, field, store)
        return list(store.rows(top))


def at_once(
    source: str | list[str], recipe: Recipe, as_: str | None = None, field: str = "text"
) -> list[tuple[str, int]]:
    """The counts of a corpus that is read as a whole."""
    words = count(read(source, as_=as_, field=field), recipe)
    return list(zip(words.words, words.counts, strict=True))


PIECES = [
    *map(str.encode, ["a", "B", " ", "\n", "\r\n", "1", ".", "'s", "ü", "漢", "🌳", "\u0301", "▁", "\ufeff"]),
    b"\xff", b"\xe2\x82", b"\x80", b"\xf0\x9f", b"\xed\xa0\x80", b"\t",
]


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=120), st.integers(1, 40), st.integers(1, 64),
       st.sampled_from(["gpt2", "bert", "gpt4o", "hf-bpe", "llama3", "minbpe-basic", "t5"]))
@example([b"\xf0\x9f", b"\x80"] * 9, 1, 2, "gpt2")
@example([b"\xef\xbb\xbf"] * 5, 1, 2, "gpt2")
def test_any_bytes_in_any_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: list[bytes], size: int, block: int, preset: str
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"".join(data))
    recipe = preset_named(preset).recipe
    wanted = at_once(str(path), recipe)
    with monkeypatch.context() as patched:
        patched.setattr(blocks, "BLOCK", block)
        patched.setattr(blocks, "_WINDOW", 7)
        patched.setattr(blocks, "_NEAR_END", 5)
        assert in_parts(str(path), recipe, str(size)) == wanted


@pytest.mark.parametrize("way", ["lines", "jsonl", "counts", "parquet"])
@pytest.mark.parametrize("preset", ["gpt2", "t5", "sentencepiece-unigram"])
def test_documents_of_every_way(tmp_path: Path, way: str, preset: str) -> None:
    recipe, texts = preset_named(preset).recipe, [f"a line {n} of {n % 7}  ünd" for n in range(200)]
    path = tmp_path / f"a.{way}"
    if way == "parquet":
        arrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
        import pyarrow.parquet as table

        columns = {"text": [*texts, None], "n": list(range(201))}
        table.write_table(arrow.table(columns), path, row_group_size=11)
    else:
        row = {"lines": "{}\r\n", "jsonl": '{{"text": "{}"}}\n', "counts": "{}\t3\n"}[way]
        path.write_text("".join(map(row.format, texts)), newline="")
    as_ = None if way == "parquet" else way
    assert in_parts(str(path), recipe, "500", as_) == at_once(str(path), recipe, as_)
    assert len(plan([str(path)], recipe, as_, "text").parts) > 3


def test_folders_packed_files_utf_16_and_binary_files_are_handled(tmp_path: Path) -> None:
    text = "one two three\nfour five\n" * 200
    (tmp_path / "a.txt").write_text(text)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "c.txt.xz").write_bytes(lzma.compress(b"six " + text.encode()))
    (tmp_path / "d.txt").write_bytes(("seven " + text).encode("utf-16"))
    (tmp_path / "e.bin").write_bytes(b"\0\1\2" * 1000)
    (tmp_path / ".hidden").write_text("eight")
    assert in_parts(str(tmp_path), GPT2) == at_once(str(tmp_path), GPT2)


def test_text_without_cuts_is_counted_whole_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one two three\n" * 400)
    for preset in ("t5", "sentencepiece-unigram", "comp336-no-pretokenization"):
        recipe = preset_named(preset).recipe
        assert not may_cut(recipe)
        limits.use(None)
        assert in_parts(str(path), recipe) == at_once(str(path), recipe)
        limits.use(limits.now().with_words(["document-bytes=2K"], ""))
        with pytest.raises(TokentuiError, match="this recipe can cut nowhere: they would be counted as one"):
            in_parts(str(path), recipe)
    limits.use(limits.now().with_words(["document-bytes=2K"], ""))
    path.write_text('{"text": "' + "x" * 9000 + '"}\n')
    with pytest.raises(TokentuiError, match="a row has more than 2,048 bytes"):
        in_parts(str(path), GPT2, as_="jsonl")


def test_planned_parts_obey_the_limits(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one " * 2000)
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"one " * 2000))
    limits.use(limits.now().with_words(["count-bytes=4K"], ""))
    for name in ("a.txt", "b.gz"):
        with pytest.raises(TokentuiError, match="count-bytes"):
            in_parts(str(tmp_path / name), GPT2)


def test_a_file_that_changes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one " * 2000)
    limits.use(limits.now().with_words(["part-bytes=1K"], ""))
    planned = plan([str(path)], GPT2, None, "text")
    path.write_text("two " * 3000)
    with Store(1 << 20) as store, pytest.raises(TokentuiError, match="the file changed while it was read"):
        count_here(planned, GPT2, "text", store)


def test_plain_python_counts_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("the crowd 漢字 🌳\n".encode() * 300 + b"\xff \xfe")
    wanted = at_once(str(path), GPT2)
    monkeypatch.setenv("TOKENTUI_KERNELS", "off")
    assert in_parts(str(path), GPT2) == wanted


def test_a_kernel_that_fails_costs_no_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not engines.available():
        pytest.skip("there are no kernels here")
    path = tmp_path / "a.txt"
    path.write_text("the crowd\n" * 300)
    wanted, asked = at_once(str(path), GPT2), []

    def fail(self: object, packed: FlatWords) -> None:
        asked.append(packed)
        raise SystemError("a kernel fails")

    monkeypatch.setattr(engines, "failed", [])
    monkeypatch.setattr(engines, "tell", lambda failure: None)
    monkeypatch.setattr(Table, "add", fail)
    assert in_parts(str(path), GPT2) == wanted
    assert len(asked) == 1


words = st.text(st.sampled_from("abü漢\ud800\udc80\n\t"), min_size=1, max_size=3)
rows = st.lists(st.tuples(words, st.integers(1, 9)), max_size=40)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(rows, max_size=6), st.integers(1, 2000), st.none() | st.integers(1, 12))
def test_a_store_that_spills_is_one_that_does_not(
    monkeypatch: pytest.MonkeyPatch, runs: list[list[tuple[str, int]]], most: int, top: int | None
) -> None:
    wanted: dict[str, int] = {}
    for run in runs:
        for word, times in run:
            wanted[word] = wanted.get(word, 0) + times
    best = sorted(enumerate(wanted.items()), key=lambda one: (-one[1][1], one[0]))[:top]
    monkeypatch.setattr(tally, "_MOST_RUNS", 2)
    with Store(most) as store:
        for run in runs:
            store.add(FlatWords.of(Words.of(Counter(_summed(run)))))
        assert list(store.rows(top)) == [row for _, row in sorted(best)]
        assert store.words == len(wanted)
        assert store.occurrences == sum(wanted.values())
        folder = Path(store.spilled) if store.spilled else None
    assert folder is None or not folder.exists()


def _summed(run: list[tuple[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for word, times in run:
        found[word] = found.get(word, 0) + times
    return found


def test_cancelled(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one two\n" * 3000)
    seen: list[int] = []
    with pytest.raises(Cancelled), job(lambda done, total: seen.append(done), lambda: len(seen) > 2):
        in_parts(str(path), GPT2)
    assert 0 < seen[-1] < path.stat().st_size


WORDS = [("the", 5), (" crowd", 3), ("漢", 2), ("\n", 2), ("a\tb", 1), ("\udcff", 1), ("\ud800", 4),
         ("\ufeff", 1)]


@pytest.mark.parametrize("kind", counted.KINDS, ids=lambda kind: kind.ends[0])
def test_files_of_counts_are_read_again(tmp_path: Path, kind: counted.CountsFormat) -> None:
    if kind.ends[0] == ".parquet":
        pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    for end in kind.ends:
        path = tmp_path / f"a{end}"
        counted.write(str(path), WORDS)
        first = path.read_bytes()
        counted.write(str(path), iter(WORDS))
        assert path.read_bytes() == first
        assert tokentui.read(path, as_="counts").counts == tuple(WORDS)
        assert in_parts(str(path), GPT2, as_="counts") == WORDS
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(f"a{end}" for end in kind.ends)


def test_a_table_with_texts_and_counts_is_read_by_the_named_field(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    import pyarrow.parquet as table

    path = tmp_path / "a.parquet"
    table.write_table(arrow.table({"word": ["a", "b"], "count": [2, 3], "text": ["x y", "z"]}), path)
    assert tokentui.read(path).documents == ("x y", "z")
    assert tokentui.read(path, field="word").documents == ("a", "b")
    assert tokentui.read(path, as_="counts").counts == (("a", 2), ("b", 3))
    with pytest.raises(TokentuiError, match=r"no column 'count' of texts \(--field takes one of: word, "):
        tokentui.read(path, field="count")
    table.write_table(arrow.table({"word": ["a", None], "count": [2, 0]}), path)
    with pytest.raises(TokentuiError, match="not a word and a count"):
        tokentui.read(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(TokentuiError, match="damaged Parquet data"):
        tokentui.read(path)


def test_without_pyarrow_there_is_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(TokentuiError, match=r"not installed \(pip install 'tokentui\[parquet\]'\)"):
        tokentui.read(tmp_path / "a.parquet")
    with pytest.raises(TokentuiError, match="not installed"):
        counted.write(str(tmp_path / "b.parquet"), WORDS)
    assert not (tmp_path / "b.parquet").exists()


def test_a_name_that_says_no_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TokentuiError, match="unknown file extension"):
        counted.write(str(tmp_path / "a.csv"), WORDS)


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("preset", ["gpt2", "bert"])
@pytest.mark.parametrize("tie", ["first-seen", "lowest-ids"])
def test_every_tie_rule_merges_as_on_the_text(tmp_path: Path, preset: str, tie: str) -> None:
    recipe = tokentui.preset(preset, tie=tie)
    (tmp_path / "a.txt").write_text(tokentui.read("sample:english").documents[0])
    target = tmp_path / "a.counts.tsv"
    counted.write(str(target), in_parts(str(tmp_path / "a.txt"), recipe, "200"))
    assert rows_of(target.read_text(), "") == at_once(str(tmp_path / "a.txt"), recipe)
    of_text, of_counts = (tokentui.Trainer(str(one), recipe) for one in (tmp_path / "a.txt", target))
    assert of_text.run(merges=100) == of_counts.run(merges=100)
    assert [step.row for step in of_text] == [step.row for step in of_counts]


@pytest.mark.shared
@pytest.mark.soak
@pytest.mark.parametrize("book", BOOKS, ids=lambda path: path.name)
@pytest.mark.parametrize("preset", sorted(PRESETS.keys() - {"comp336-no-pretokenization", "gage"}))
def test_every_corpus_in_parts(book: Path, preset: str) -> None:
    recipe, field = preset_named(preset).recipe, "question" if book.suffix == ".jsonl" else "text"
    assert in_parts(str(book), recipe, "300K", field=field) == at_once(str(book), recipe, field=field)
