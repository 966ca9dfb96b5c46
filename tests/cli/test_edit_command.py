"""`tokentui edit`: tokens that are added or taken out, the map of the ids, and what is lost."""

from __future__ import annotations

import itertools
import json
import struct
from collections import Counter
from pathlib import Path

import pytest
from naive import Naive, lowest_rank_first
from running_cli import cli, done, refused, rows

from tokentui.formats import WRITTEN
from tokentui.formats.files import load
from tokentui.text.count import count
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.read import read
from tokentui.text.sources import find_sample

WORDS = ("--prune", "sample:parallel/english", "--as", "lines", "-q")


@pytest.fixture(scope="module")
def novel(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("edit") / "novel.json")
    done("train", "sample:english", "-r", "gpt2", "--merges", "400", "--special", "<|end|>", "-o", path)
    return path


def texts() -> list[str]:
    return Path(find_sample("parallel/english").path).read_text(encoding="utf-8").splitlines()


def numbers(path: Path) -> list[int]:
    """The int64 values of a file of NumPy's, read by its description."""
    data = path.read_bytes()
    (size,) = struct.unpack("<H", data[8:10])
    assert data[:8] == b"\x93NUMPY\x01\x00"
    assert (10 + size) % 64 == 0
    body = data[10 + size :]
    assert f"'shape': ({len(body) // 8},)".encode() in data[10 : 10 + size]
    return list(struct.unpack(f"<{len(body) // 8}q", body))


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("recipe", ["gpt2", "bert", "sentencepiece-bpe", "sentencepiece-unigram"])
def test_a_pruned_vocabulary_encodes_its_corpus_alike(recipe: str, tmp_path: Path) -> None:
    old, new, ids = tmp_path / "old.json", tmp_path / "new.json", tmp_path / "ids.json"
    size = ("--vocab-size", "1200") if "unigram" in recipe else ("--merges", "400")
    done("train", "sample:english", "-r", recipe, *size, "-o", str(old), "-q")
    row, = rows(done("edit", str(old), str(new), *WORDS, "--json", "--map", str(ids)))
    before, after, moved = load(old), load(new), json.loads(ids.read_text())
    assert row["pruned"]["changed"] == []
    assert row["pruned"]["kept"] == after.vocab_size < before.vocab_size
    assert sorted(one for one in moved if one >= 0) == list(range(after.vocab_size))
    for text in texts():
        a, b = before.encode(text), after.encode(text)
        assert a.pieces == b.pieces
        assert [one if one is None else moved[one] for one in a.ids] == list(b.ids)


def test_with_fewer_ids_the_documents_that_change_are_told(novel: str, tmp_path: Path) -> None:
    out = str(tmp_path / "out.json")
    result = cli("edit", novel, out, *WORDS, "--keep", "290", "--json", "--same-pieces")
    assert result.exit_code == 1
    row, = rows(result.stdout)
    before, after = load(novel), load(out)
    assert after.vocab_size == row["ids"] <= 290
    assert row["pruned"]["changed"] == [
        number for number, text in enumerate(texts(), 1)
        if before.encode(text).pieces != after.encode(text).pieces
    ]


def test_the_map_has_the_same_numbers_in_both_formats(novel: str, tmp_path: Path) -> None:
    for name in ("ids.json", "ids.npy"):
        done("edit", novel, str(tmp_path / "out.json"), *WORDS, "--map", str(tmp_path / name))
    moved = json.loads((tmp_path / "ids.json").read_text())
    assert numbers(tmp_path / "ids.npy") == moved
    assert len(moved) == load(novel).vocab_size
    assert -1 in moved


@pytest.mark.slow
def test_added_tokens_follow_the_last_id_and_are_found_before_merges(novel: str, tmp_path: Path) -> None:
    out, size = str(tmp_path / "out.json"), load(novel).vocab_size
    told = done("edit", novel, out, "--add", "the crowd", "--special", "<|user|>", "-q")
    assert f"{size}  the·crowd" in told
    assert "lost" in told
    made = load(out)
    assert (made.token_to_id("the crowd"), made.token_to_id("<|user|>")) == (size, size + 1)
    assert size in made.encode_ids("See the crowds")
    assert size + 1 not in made.encode_ids("<|user|>")
    assert list(made.encode_ids("<|user|>", allow_special=True)) == [size + 1]
    for text in texts():
        if "the crowd" not in text:
            assert load(novel).encode_ids(text) == made.encode_ids(text)


@pytest.mark.slow
@pytest.mark.parametrize("format", ["huggingface", "tokentui"])
def test_an_added_token_is_special_only_if_it_was_named_so(format: str, novel: str, tmp_path: Path) -> None:
    source = str(tmp_path / "in.json")
    done("convert", novel, source, "--to", format, "-q")
    words = ("--add", "the crowd", "--special", "<|user|>", "--format", format, "--json", "-q")
    answer = json.loads(done("edit", source, str(tmp_path / "out.json"), *words))
    kinds = {row["id"]: row["kind"] for row in answer["came"]}
    assert {row["text"]: kinds[row["id"]] == "special" for row in answer["added"]} == {
        row["text"]: row["special"] for row in answer["added"]
    }


@pytest.mark.slow
def test_every_format_that_holds_it_gives_it_back(novel: str, tmp_path: Path) -> None:
    pruned, written = str(tmp_path / "pruned.json"), []
    done("edit", novel, pruned, *WORDS)
    for name, format in WRITTEN.items():
        folder = tmp_path / name
        folder.mkdir()
        target = folder if len(format.files) > 1 else folder / format.files[0]
        result = cli("edit", novel, str(target), "--to", name, *WORDS)
        if result.exit_code == 1:
            assert "nothing is written" in result.stderr
            assert list(folder.iterdir()) == []
            continue
        assert result.exit_code == 0, result.output
        written.append(name)
        back = load(folder / format.files[0], "gpt2" if format.needs_split else "")
        for text in texts()[:10]:
            assert back.encode(text).pieces == load(pruned).encode(text).pieces
    assert {"tokentui", "huggingface", "tiktoken"} <= set(written)


@pytest.mark.parametrize(("words", "says"), [
    ((), "edit: no change is given (use --add"),
    (("--keep", "9", "--add", "x y"), "--keep 9: needs a corpus"),
    (("--add", ""), "--add : a token cannot be empty"),
    (("--add", "a"), "--add a: already a token, with id "),
    (("--special", "<|end|>"), "--special <|end|>: already a token, with id 0"),
    (("--add", "x y", "--special", "x y"), "--special x y: named twice"),
    (("--add", "x y", "--map", "a.txt"), "a.txt: unknown file extension (use .json or .npy)"),
    ((*WORDS, "--keep", "12"), "--keep 12: base units and specials alone are 257 ids (use 257 or more)"),
    (("--prune", "none.txt"), "none.txt: no such file"),
])
def test_what_cannot_be_is_one_line(novel: str, tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    out = tmp_path / "out.json"
    assert refused("edit", novel, str(out), *words).startswith(says)
    assert not out.exists()


def test_a_compression_is_not_pruned(tmp_path: Path) -> None:
    path = str(tmp_path / "gage.json")
    done("train", "sample:hugs", "-r", "gage", "--merges", "3", "-o", path)
    assert "encodes by all of its steps" in refused("edit", path, str(tmp_path / "x.json"), *WORDS)


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize(("recipe", "axes"), [
    ("gpt2", ()), ("gpt2", ("-s", "tie=largest-pair")), ("gpt2", ("-s", "tie=lowest-ids")),
    ("gpt1", ("-s", "base=sorted")), ("bert", ("-s", "objective=count", "-s", "base=sorted")),
])
def test_training_goes_on_as_a_naive_model_does(recipe: str, axes: tuple[str, ...], tmp_path: Path) -> None:
    old, new = str(tmp_path / "old.json"), str(tmp_path / "new.json")
    done("train", "sample:english", "-r", recipe, *axes, "--merges", "60", "-o", old, "-q")
    before = load(old)
    assert not rows(done("edit", old, new, "--extend", "sample:english", "--vocab-size",
                         str(before.vocab_size + 15), "--json", "-q"))[0]["added"]
    after, vocabulary = load(new), before.vocabulary
    assert after.vocab_size == before.vocab_size + 15
    assert after.vocabulary.merges[:60] == vocabulary.merges
    words = count(read("sample:english"), before.recipe)
    cut = Pretokenizer(before.recipe).units
    start = [lowest_rank_first([vocabulary.units[unit] for unit in cut(word)], vocabulary.ranks,
                               vocabulary.base_size) for word in words.words]
    model = Naive(start, list(words.counts), list(vocabulary.pieces), before.recipe.tie,
                  prefix=len(vocabulary.prefix))
    for merge in after.vocabulary.merges[60:]:
        best = model.ranked(model.counts())[0]
        assert best == merge
        model.merge(best)
    assert after.vocabulary.pieces == model.pieces


@pytest.mark.slow
@pytest.mark.parametrize("format", ["huggingface", "tiktoken"])
def test_a_file_goes_on_as_a_naive_model_does(novel: str, format: str, tmp_path: Path) -> None:
    """The pair of most places; of equals the one of fewer bytes, then in order of these. Ranks merge what two
    neighbors spell, whichever two."""
    old, new, most = str(tmp_path / "old.file"), str(tmp_path / "new.file"), 25
    done("convert", novel, old, "--to", format)
    split = ("-s", "split=gpt2") if format == "tiktoken" else ()
    before = load(old, "gpt2")
    row, = rows(done("edit", old, new, "--to", format, *split, "--extend", "sample:parallel/english",
                     "--vocab-size", str(before.vocab_size + most), "--json", "-q"))
    after = load(new, "gpt2")
    words = count(read("sample:parallel/english"), before.recipe)
    cut = [[token.piece or b"" for token in before.encoder.word(word)] for word in words.words]
    known = {entry.piece for entry in before.entries()}
    came: list[bytes] = []
    while len(came) < most:
        counts: Counter[tuple[bytes, bytes] | bytes] = Counter()
        for parts, times in zip(cut, words.counts, strict=True):
            for left, right in itertools.pairwise(parts):
                if left + right not in known:
                    counts[left + right if split else (left, right)] += times
        places, _, made, best = min((-n, len(b"".join(key) if isinstance(key, tuple) else key),
                                     b"".join(key) if isinstance(key, tuple) else key, key)
                                    for key, n in counts.items())
        assert places < 0
        known.add(made)
        came.append(made)
        for parts in cut:
            at = 0
            while at < len(parts) - 1:
                pair = parts[at], parts[at + 1]
                if (pair[0] + pair[1] if split else pair) == best:
                    parts[at : at + 2] = [made]
                at += 1
    assert [bytes.fromhex(one["hex"]) for one in row["came"]] == came
    assert row["grown"]["unlike"] == []
    assert row["grown"]["after"] == sum(
        len(parts) * times for parts, times in zip(cut, words.counts, strict=True)
    )
    for word, pieces in zip(words.words, cut, strict=True):
        assert [token.piece for token in after.encoder.word(word)] == pieces


def test_a_unigram_model_is_not_trained_on(novel: str, tmp_path: Path) -> None:
    path, out = str(tmp_path / "unigram.json"), str(tmp_path / "out.json")
    words = ("--extend", "sample:hugs", "--vocab-size", "9000")
    done("train", "sample:english", "-r", "sentencepiece-unigram", "--vocab-size", "1200", "-o", path, "-q")
    assert "objective=unigram does not train merges" in refused("edit", path, out, *words)
    assert "it has 657 ids already" in refused("edit", novel, out, *words[:3], "657")


def test_the_tokens_of_another_follow_with_their_merges(novel: str, tmp_path: Path) -> None:
    second, out = str(tmp_path / "second.json"), str(tmp_path / "out.json")
    done("train", "sample:parallel/german", "-r", "gpt2", "--merges", "300", "-o", second, "-q")
    done("edit", novel, out, "--merge", second, "-q")
    a, b, both = load(novel), load(second), load(out)
    ours, theirs = ({one.piece for one in each.entries()} for each in (a, b))
    assert {one.piece for one in both.entries()} == ours | theirs
    assert list(both.entries())[: a.vocab_size] == list(a.entries())
    for one in list(both.entries())[a.vocab_size :]:
        assert one.piece in theirs - ours


def test_tokens_that_need_another_base_are_told(tmp_path: Path) -> None:
    names: list[str] = []
    for sample in ("hugs", "parallel/german"):
        names.append(str(tmp_path / f"{len(names)}.json"))
        words = ("-r", "gpt1", "-s", "base=sorted", "--merges", "20", "-q")
        done("train", f"sample:{sample}", *words, "--special", f"<{sample}>", "-o", names[-1])
    row, = rows(done("edit", *names[:1], str(tmp_path / "out.json"), "--merge", names[1], "--json", "-q"))
    (loss,) = [one for one in row["losses"] if one["what"] == "tokens"]
    assert [one["example"] for one in row["losses"] if one["what"] == "specials"] == ["<parallel/german>"]
    gone = int(loss["consequence"].split()[0])
    assert gone > 0
    there = {one.piece for one in load(str(tmp_path / "out.json")).entries()}
    second = load(names[1]).vocabulary
    assert sum(one not in there for one in second.pieces[second.base_size :]) == gone


def test_tokenizers_of_other_units_are_not_put_together(novel: str, tmp_path: Path) -> None:
    path = str(tmp_path / "second.json")
    done("train", "sample:hugs", "-r", "gpt1", "-s", "base=sorted", "--merges", "3", "-o", path, "-q")
    said = refused("edit", novel, str(tmp_path / "out.json"), "--merge", path)
    assert said.startswith("--merge: unit=char, not byte (both need the same unit)")


@pytest.mark.parametrize("recipe", ["gpt2", "bert", "subword-nmt"])
def test_the_old_ids_of_new_tokens(recipe: str, tmp_path: Path) -> None:
    old, new, init = str(tmp_path / "old.json"), str(tmp_path / "new.json"), tmp_path / "init.json"
    done("train", "sample:english", "-r", recipe, "--merges", "200", "-o", old, "-q")
    before = load(old)
    size = str(before.vocab_size + 30)
    done("edit", old, new, "--extend", "sample:english", "--vocab-size", size, "--init", str(init), "-q")
    after, made = load(new), json.loads(init.read_text("utf-8"))
    entries = {entry.id: entry for entry in after.entries()}
    assert [row["id"] for row in made] == list(range(before.vocab_size, after.vocab_size))
    for row in made:
        assert len(row["old"]) > 1
        pieces = [before.vocabulary.bare(entry.piece) for number in row["old"]
                  for entry in before.entries() if entry.id == number]
        assert b"".join(pieces) == before.vocabulary.bare(entries[row["id"]].piece)
        assert row["text"] == entries[row["id"]].text


@pytest.mark.slow
def test_the_old_ids_of_a_special_token(novel: str, tmp_path: Path) -> None:
    init = tmp_path / "init.tsv"
    done("edit", novel, str(tmp_path / "o.json"), "--special", "<a\tb>", "--to", "huggingface", "-q",
         "--init", str(init))
    before = load(novel)
    old = " ".join(map(str, before.encode("<a\tb>").ids))
    assert init.read_text("utf-8") == f"id\ttext\told\n{before.vocab_size}\t<a\\tb>\t{old}\n"
    told = refused("edit", novel, str(tmp_path / "o.json"), "--special", "x", "--init", "rows.csv")
    assert told == "rows.csv: unknown file extension (use .json or .tsv)"
    same = str(tmp_path / "one.json")
    told = refused("edit", novel, str(tmp_path / "o.json"), "--special", "x", "--init", same, "--map", same)
    assert "two outputs cannot be the same file" in told
