"""What changed between two tokenizers, against plain scripts: with the owners' libraries and without."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import oracle
import peers
import pytest
from exporting import put
from gguf_files import NORMAL, gguf, vocabulary

import tokentui
from tokentui.analyze import documents
from tokentui.analyze.diff import Diff, diff
from tokentui.core import forks
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import job
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import load
from tokentui.text.corpus import Corpus
from tokentui.text.split import SPLITS

Encode = Callable[[str], list[int]]


def lines() -> list[str]:
    """Documents of several languages, some of them empty."""
    return [line for name in peers.CORPORA for line in peers.text(name).split("\n")][::7]


# ---- the owners' libraries


def _hugging_face(path: Path) -> tuple[Encode, dict[bytes, int]]:
    theirs = pytest.importorskip("tokenizers").Tokenizer.from_file(str(path))
    theirs.no_truncation()
    theirs.no_padding()
    return lambda text: list(theirs.encode(text, add_special_tokens=False).ids), {}


def _tiktoken(path: Path) -> tuple[Encode, dict[bytes, int]]:
    library = pytest.importorskip("tiktoken")
    from owners import ranks_of

    ranks = ranks_of(path)
    theirs = library.Encoding("x", pat_str=SPLITS["cl100k"].pattern, mergeable_ranks=ranks, special_tokens={})
    return theirs.encode_ordinary, ranks


def _sentencepiece(path: Path) -> tuple[Encode, dict[bytes, int]]:
    theirs = pytest.importorskip("sentencepiece").SentencePieceProcessor(model_file=str(path))
    return theirs.encode, {}


OWNERS = {
    "gpt2/tokenizer.json": _hugging_face, "bert-base-uncased/tokenizer.json": _hugging_face,
    "tiktoken_cl100k_base/cl100k_base.tiktoken": _tiktoken, "spm-llama2/tokenizer.model": _sentencepiece,
    "llama2/tokenizer.json": _hugging_face, "t5-small/tokenizer.json": _hugging_face,
    "openai-gpt/tokenizer.json": _hugging_face,
}
PAIRS = [
    ("gpt2/tokenizer.json", "tiktoken_cl100k_base/cl100k_base.tiktoken"),
    ("spm-llama2/tokenizer.model", "llama2/tokenizer.json"),
    ("spm-llama2/tokenizer.model", "t5-small/tokenizer.json"),
    ("bert-base-uncased/tokenizer.json", "openai-gpt/tokenizer.json"),
]


@pytest.mark.shared
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_published_files_change_documents_as_their_owners_libraries_do(one: str, other: str) -> None:
    paths = [oracle.shared(f"tokenizers/{name}") for name in (one, other)]
    texts = lines()
    a, b = (load(path, otherwise="cl100k") for path in paths)
    found = diff(a, b, Corpus.from_lines(texts), rows=30)
    theirs = [OWNERS[name](path)[0] for name, path in zip((one, other), paths, strict=True)]
    rows = [(len(theirs[0](text)), len(theirs[1](text)), theirs[0](text) != theirs[1](text))
            for text in texts]
    got = found.documents
    assert got is not None
    assert got.documents == len(texts)
    assert (got.a, got.b) == (sum(a for a, _, _ in rows), sum(b for _, b, _ in rows))
    assert got.changed == sum(changed for _, _, changed in rows)
    assert got.grown == sum(b > a for a, b, _ in rows)
    assert got.shrunk == sum(b < a for a, b, _ in rows)
    order = sorted(
        (n for n, row in enumerate(rows) if row[2]),
        key=lambda n: (-abs(rows[n][1] - rows[n][0]), rows[n][1] < rows[n][0], n),
    )
    assert [(one.number, one.a, one.b) for one in got.worst] == [
        (n + 1, *rows[n][:2]) for n in order[:30]
    ]


@pytest.mark.shared
def test_the_tokens_of_gpt2_and_cl100k_by_a_plain_script() -> None:
    gpt2, cl100k = (oracle.shared(f"tokenizers/{name}") for name in PAIRS[0])
    found = diff(load(gpt2), load(cl100k, "cl100k"))
    letters = pytest.importorskip("tokenizers").decoders.ByteLevel()
    document = json.loads(gpt2.read_text("utf-8"))["model"]
    from owners import ranks_of

    from tokentui.formats.tokens import LETTERS

    values = {letter: value for value, letter in enumerate(LETTERS)}
    assert letters.decode(["Ġt"]) == bytes(values[one] for one in "Ġt").decode()
    one = {
        bytes(values[letter] for letter in name): number for name, number in document["vocab"].items()
        if name != "<|endoftext|>"
    }
    other = ranks_of(cl100k)
    assert {token.piece: token.id for token in found.went} == {
        piece: number for piece, number in one.items() if piece not in other
    }
    special = {token.piece for token in found.came if token.kind == "special"}
    assert {token.piece: token.id for token in found.came if token.piece not in special} == {
        piece: number for piece, number in other.items() if piece not in one
    }
    moved = {number: other[piece] for piece, number in one.items() if other.get(piece, number) != number}
    ours = {number: number + run.by for run in found.moved for number in range(run.first, run.last + 1)}
    end = document["vocab"]["<|endoftext|>"]
    assert ours.pop(end) == 100_257
    assert ours == moved
    assert found.moved_count == len(moved) + 1
    taken = set(other.values())
    assert found.reused == len(taken.intersection([*moved, *(token.id for token in found.went), end]))
    first = found.merges
    assert first is not None
    rows = [tuple(row.split(" ")) if isinstance(row, str) else tuple(row) for row in document["merges"]]
    assert first.a is not None
    assert first.b is not None
    assert (first.step, first.a.token) == (1, bytes(values[letter] for letter in "".join(rows[0])))
    assert first.b.token == next(piece for piece, rank in other.items() if rank == 256)


# ---- trainings


@pytest.fixture(scope="module")
def trained() -> tuple[Tokenizer, Tokenizer, list[str], list[str]]:
    """Two trainings that differ by one document."""
    texts = peers.text("english").split(". ")[:120]
    more = [*texts, "zzyzx zzyzx zzyzx " * 20]
    one, other = (
        tokentui.train(Corpus.from_lines(some), "gpt2", merges=200, specials=["<s>"])
        for some in (texts, more)
    )
    return one, other, texts, more


def naive(a: Tokenizer, b: Tokenizer, texts: list[str], found: Diff) -> None:
    """Recount all that differences say of vocabularies and documents."""
    ids = [{entry.piece: entry.id for entry in way.entries()} for way in (a, b)]
    assert {one.piece: one.id for one in found.went} == {k: v for k, v in ids[0].items() if k not in ids[1]}
    assert {one.piece: one.id for one in found.came} == {k: v for k, v in ids[1].items() if k not in ids[0]}
    moved = {v: ids[1][k] for k, v in ids[0].items() if ids[1].get(k, v) != v}
    assert {n: n + run.by for run in found.moved for n in range(run.first, run.last + 1)} == moved
    got = found.documents
    assert got is not None
    encoded = [[list(way.encode_ids(text)) for way in (a, b)] for text in texts]
    spelled = [[way.encode(text).pieces for way in (a, b)] for text in texts]
    assert got.changed == sum(x != y for x, y in encoded)
    assert got.recut == sum(x != y for x, y in spelled)
    assert (got.a, got.b) == tuple(sum(len(row[n]) for row in encoded) for n in (0, 1))
    changed = [n for n, (x, y) in enumerate(spelled) if x != y]
    for tokens, side in ((found.went, 0), (found.came, 1)):
        for token in tokens:
            assert token.uses == sum(encoded[n][side].count(token.id) for n in changed)
    for one in got.worst:
        x, y = spelled[one.number - 1]
        place = one.place
        if place is None:
            assert x == y
            continue
        first = next(n for n in range(len(x) + 1) if x[n : n + 1] != y[n : n + 1])
        way, text = a.encode(texts[one.number - 1]), texts[one.number - 1]
        assert place.start == (way.offsets[first][0] if first < len(way) else len(text))
        assert place.before + place.text == text[: place.start + len(place.text)][-len(
            place.before + place.text):]
        assert way.tokens[first] == place.a[0]


def test_two_trainings_that_differ_by_a_document(
    trained: tuple[Tokenizer, Tokenizer, list[str], list[str]]
) -> None:
    one, other, _, more = trained
    found = diff(one, other, Corpus.from_lines(more), rows=len(more))
    naive(one, other, more, found)
    pairs = [[tuple(way.vocabulary.pieces[n] for n in pair) for pair in way.vocabulary.merges]
             for way in (one, other)]
    first = next(n for n, (x, y) in enumerate(zip(*pairs, strict=True)) if x != y)
    assert found.merges is not None
    assert found.merges.step == first + 1
    for side, own, there in (
        (found.merges.a, pairs[0], pairs[1]), (found.merges.b, pairs[1], pairs[0])
    ):
        assert side is not None
        assert side.parts == own[first]
        assert side.elsewhere == (there.index(own[first]) + 1 if own[first] in there else None)
    assert not found.same
    assert not found.same_ids


def test_nothing_differs_from_itself(
    trained: tuple[Tokenizer, Tokenizer, list[str], list[str]], tmp_path: Path
) -> None:
    one, _, texts, _ = trained
    assert diff(one, one, Corpus.from_lines(texts)).same
    one.save(tmp_path / "own.json")  # type: ignore[attr-defined]
    put(one, tmp_path / "a.hf.json", "huggingface")
    for name in ("own.json", "a.hf.json"):
        found = tokentui.diff(one, tmp_path / name, Corpus.from_lines(texts))
        assert found.same, found


def test_ids_that_move_alone_change_ids_and_no_token() -> None:
    corpus = Corpus.from_lines(peers.text("english").split(". ")[:30])
    one, other = (tokentui.train(corpus, "gpt2", merges=50, first_id=first) for first in (0, 7))
    found = diff(one, other, corpus)
    assert [(run.first, run.last, run.by) for run in found.moved] == [(0, 305, 7)]
    assert found.documents is not None
    assert (found.documents.recut, found.documents.growth) == (0, 0)
    assert found.documents.changed == sum(bool(text) for text in corpus.documents)
    assert (found.merges, found.came, found.went, found.same_ids) == (None, (), (), False)


def test_an_id_that_is_given_to_another_token_changes_texts_that_look_alike() -> None:
    """The ids of the text are equal by their numbers, its tokens are not."""
    one = tokentui.train(Corpus.from_lines(["ab ab"]), "gpt2", split="none", merges=1)
    other = tokentui.train(Corpus.from_lines(["cd cd"]), "gpt2", split="none", merges=1)
    found = diff(one, other, Corpus.from_lines(["abcd"]))
    assert found.reused == 1
    assert found.documents is not None
    assert found.documents.recut == 1


def test_tokens_that_came_behind_all_others_keep_ids() -> None:
    corpus = Corpus.from_lines(["low lower lowest"] * 3)
    one, other = (tokentui.train(corpus, "gpt2", merges=n) for n in (4, 6))
    assert diff(one, other).same_ids
    assert not diff(one, other, corpus).same_ids
    assert not diff(other, one).same_ids


def test_scores_count() -> None:
    text = peers.text("english")
    one, other = (
        tokentui.train(Corpus.from_text(some), "t5", vocab_size=120, specials=["<unk>"])
        for some in (text, text[: len(text) // 2])
    )
    found = diff(one, other)
    held = [{entry.piece: entry.score for entry in way.entries() if entry.score is not None}
            for way in (one, other)]
    wanted = {piece: (x, held[1][piece]) for piece, x in held[0].items() if held[1].get(piece, x) != x}
    assert wanted
    assert {row.piece: (row.a, row.b) for row in found.rescored} == wanted


# ---- steps, specials, templates of files


def changed_file(tmp_path: Path, change: Callable[[Any], None]) -> tuple[Path, Path]:
    """A file of Hugging Face's, and the same with a change."""
    corpus = Corpus.from_lines(["low lower lowest"] * 3)
    paths = tmp_path / "a.hf.json", tmp_path / "b.hf.json"
    put(tokentui.train(corpus, "gpt2", merges=6, specials=["<s>"]), paths[0], "huggingface")
    document = json.loads(paths[0].read_text("utf-8"))
    change(document)
    paths[1].write_text(json.dumps(document), "utf-8")
    return paths


def test_a_step_that_changes_is_named_by_its_place(tmp_path: Path) -> None:
    def change(document: Any) -> None:
        document["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "NFC"}]}
        document["added_tokens"][0]["lstrip"] = True

    found = tokentui.diff(*changed_file(tmp_path, change))
    assert [(one.where, one.a, one.b) for one in found.steps] == [
        ("normalizer", "null", None), ("normalizer.type", None, "Sequence"),
        ("normalizer.normalizers[0].type", None, "NFC"),
    ]
    assert [(one.where, one.a, one.b) for one in found.specials] == [("lstrip of <s>", "false", "true")]


# ---- the first text that differs, and its stage


def _nfc(document: Any) -> None:
    document["normalizer"] = {"type": "NFC"}


def _cut(document: Any) -> None:
    cut = {"type": "Split", "pattern": {"String": "w"}, "behavior": "Isolated", "invert": False}
    document["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [cut, document["pre_tokenizer"]]}


def _fewer_merges(document: Any) -> None:
    document["model"]["merges"] = document["model"]["merges"][:1]


def _swapped(document: Any) -> None:
    vocabulary = document["model"]["vocab"]
    vocabulary["w"], vocabulary["t"] = vocabulary["t"], vocabulary["w"]


def _bare(document: Any) -> None:
    document["post_processor"] = None


def _added(document: Any) -> None:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    document["added_tokens"].append({"id": document["model"]["vocab"]["lo"], "content": "lo", **flags})


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize(("change", "stage", "text", "a", "b"), [
    (_nfc, "normalization", "e\u0301", "e\u0301", "\xe9"),
    (_cut, "split", "low", ("low",), ("lo", "w")),
    (_fewer_merges, "model", "low", ("low",), ("lo", "w")),
    (_swapped, "ids", "w", None, None),
    (_bare, "post-processing", "x", ("<s>", "x"), ("x",)),
    (_added, "added tokens", "low", ("low",), ("lo", "w")),
])
def test_the_first_text_and_the_stage_where_two_part(
    change: Callable[[Any], None], stage: str, text: str, a: Any, b: Any, tmp_path: Path
) -> None:
    corpus = Corpus.from_lines(["x"] if stage == "post-processing" else ["x", "cafe\u0301 low 200 w", "lows"])
    one, other = map(load, changed_file(tmp_path, change))
    first = diff(one, other, corpus).first
    assert first is not None
    assert (first.number, first.text, first.stage) == (1 if stage == "post-processing" else 2, text, stage)
    part = {"normalization": "normalized", "split": "words"}.get(stage, "tokens")
    if a is not None:
        assert (getattr(first.a, part), getattr(first.b, part)) == (a, b)
    if stage == "ids":
        assert first.a.tokens == first.b.tokens
        assert first.a.ids != first.b.ids
    if stage != "post-processing":
        assert diff(one, other, Corpus.from_lines(["x", "x"])).first is None


def test_a_gguf_file_of_another_split_parts_at_the_split(tmp_path: Path) -> None:
    """`pre=default` splits otherwise than the model's own file: ollama/ollama#17698."""
    made = tokentui.train(Corpus.from_lines(['the "light" "is" "on"'] * 9), "llama3", merges=4)
    folder = tmp_path / "model"
    folder.mkdir()
    put(made, folder / "tokenizer.json", "huggingface")
    model = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]
    merges = [row if isinstance(row, str) else " ".join(row) for row in model["merges"]]
    found = {}
    for pre in ("llama-bpe", "default"):
        path = tmp_path / f"{pre}.gguf"
        path.write_bytes(gguf(vocabulary("gpt2", list(model["vocab"]), [NORMAL] * len(model["vocab"]),
                                         merges=merges, pre=pre, add_bos_token=False)))
        found[pre] = tokentui.diff(path, folder, Corpus.from_lines(["the light", 'is "on"?'])).first
    assert found["llama-bpe"] is None
    first = found["default"]
    assert first is not None
    assert (first.number, first.stage) == (2, "split")
    assert first.a.words != first.b.words
    assert "".join(first.a.words) == "".join(first.b.words) == first.text


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize(("old", "new", "said"), [
    (None, None, None), ("a\nb", "a\nb", None), ("a\nb", "a\nc", ("chat template, line 2", "b", "c")),
    ("a", "a\nb", ("chat template, line 2", None, "b")), (None, "a\nb", ("chat template", None, "2 lines")),
    ([{"name": "x", "template": "1"}], [{"name": "x", "template": "2"}],
     ("chat template, line 2", "1", "2")),
])
def test_chat_templates(tmp_path: Path, old: Any, new: Any, said: Any) -> None:
    paths = changed_file(tmp_path, lambda document: None)
    for path, template in zip(paths, (old, new), strict=True):
        document = json.loads(path.read_text("utf-8"))
        if template is not None:
            document["chat_template"] = template
        path.write_text(json.dumps(document), "utf-8")
    found = tokentui.diff(*paths)
    assert (found.template and (found.template.where, found.template.a, found.template.b)) == said
    assert found.same == (said is None)


# ---- the corpus


def test_a_document_that_one_refuses() -> None:
    corpus = Corpus.from_lines(["ab", "ba", "abc"])
    one = tokentui.train(corpus, "udl-notebook", merges=1)
    other = tokentui.train(Corpus.from_lines(["ab"]), "udl-notebook", merges=1)
    found = diff(one, other, corpus)
    got = found.documents
    assert got is not None
    assert (got.refused_a, got.refused_b, got.only_b_refuses) == (0, 1, 1)
    assert (got.worst[0].number, got.worst[0].b) == (3, None)
    assert "'c'" in got.worst[0].refusals[1]
    assert found.grows_more(10.0)
    assert diff(other, one, corpus).grows_more(10.0) is False


def test_counted_words_count_as_often_as_they_stand() -> None:
    counted = Corpus.from_counts([("abab", 3), ("x", 2)])
    one, other = (tokentui.train(Corpus.from_lines(["abab abab"]), "gpt2", merges=n) for n in (1, 2))
    plain = Corpus.from_lines(["abab"] * 3 + ["x"] * 2)
    ours, theirs = diff(one, other, counted).documents, diff(one, other, plain).documents
    assert ours is not None
    assert theirs is not None
    for name in ("documents", "changed", "recut", "grown", "shrunk", "a", "b", "uses_a", "uses_b"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert ours.changed == 3


@pytest.mark.skipif(sys.platform != "linux", reason="no process is forked elsewhere")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_processes_and_blocks_change_no_figure(
    trained: tuple[Tokenizer, Tokenizer, list[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other, _, more = trained
    whole = diff(one, other, Corpus.from_lines(more), processes=1)
    monkeypatch.setattr(documents, "BLOCK_CHARS", 500)
    assert diff(one, other, Corpus.from_lines(more), processes=1) == whole
    monkeypatch.setattr(documents, "FORK_CHARS", 0)
    forked: list[int] = []
    in_forks = forks.in_forks

    def counted(works: Any, done: int, total: int) -> list[object]:
        forked.append(len(works))
        return in_forks(works, done, total)

    monkeypatch.setattr(documents, "in_forks", counted)
    told: list[tuple[int, int]] = []
    with job(lambda *at: told.append(at)):
        assert diff(one, other, Corpus.from_lines(more), processes=2) == whole
    assert forked == [2]
    assert told[-1][1] == sum(map(len, more))
    with pytest.raises(Cancelled), job(cancel=lambda: True):
        diff(one, other, Corpus.from_lines(more), processes=2)


def test_the_place_of_a_long_document_is_that_of_the_whole(
    trained: tuple[Tokenizer, Tokenizer, list[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other, texts, _ = trained
    long = Corpus.from_lines([" ".join(texts) + " zzyzx"])
    whole = diff(one, other, long)
    monkeypatch.setattr(documents, "_LONG", 64)
    assert diff(one, other, long).documents == whole.documents


@pytest.mark.parametrize("wrong", [None, 5, "no/such.json"])
def test_what_is_no_tokenizer(wrong: Any) -> None:
    with pytest.raises(TokentuiError):
        tokentui.diff(wrong, wrong)
