"""`tokentui bound`: the claim, the certificate and its check."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running_cli import cli, done, refused

import tokentui
from tokentui.analyze.bound import BoundedCorpus
from tokentui.analyze.bound_certificate import proved, read_certificate

TEXT = "sample:hugs"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("bound") / "t.json"
    tokentui.train("sample:english", "gpt2", merges=60).save(file)
    return str(file)


@pytest.fixture(scope="module")
def certificate(path: str) -> str:
    file = Path(path).with_name("c.bound")
    done("bound", "-t", path, "sample:english", "-o", str(file), "--rounds", "30", "-q")
    return str(file)


def test_the_sentence_and_the_figures_agree(path: str) -> None:
    found = json.loads(done("bound", "-t", path, TEXT, "--json"))
    (size,) = found["sizes"]
    corpus = tokentui.read(TEXT)
    tokens = sum(len(tokentui.load(path).encode(text)) for text in corpus.documents)
    assert size["tokens"] == tokens
    assert size["bound"] <= size["reached"] <= tokens
    assert size["bound"] >= max(size["simple"], found["pretokens"])
    assert size["most_saved"] == 1 - size["bound"] / tokens
    text = done("bound", "-t", path, TEXT)
    assert f"at most {-(-size['most_saved'] * 1e4 // 1) / 100:.2f} % of the tokens could be saved" in text


@pytest.mark.parametrize(
    "preset", ["gpt2", "bert", "wordpiece", "sentencepiece-unigram", "llama2", "minbpe-basic"]
)
@pytest.mark.first_run(cases=1)
def test_no_recipe_is_better_than_the_bound(preset: str) -> None:
    words = "bound", "-r", preset, "sample:english", "--vocab-size", "400", "--rounds", "30", "--json"
    found = json.loads(done(*words))
    (size,) = found["sizes"]
    assert size["vocab_size"] == 400
    assert 0 < size["bound"] <= size["reached"] <= size["tokens"]


def test_a_smaller_size_is_a_step_of_the_file(path: str) -> None:
    (size,) = json.loads(done("bound", "-t", path, TEXT, "--vocab-size", "280", "--json"))["sizes"]
    corpus = tokentui.read(TEXT)
    then = tokentui.load(path).at(24)
    assert size["tokens"] == sum(len(then.encode(text)) for text in corpus.documents)
    assert "the vocabulary ends at 316 ids" in refused("bound", "-t", path, TEXT, "--vocab-size", "317")


def test_a_certificate_is_checked_by_other_code(path: str, certificate: str) -> None:
    found = json.loads(done("bound", "-t", path, "sample:english", "--rounds", "30", "--json"))
    read = read_certificate(certificate)
    assert proved(read) == read.tokens == found["sizes"][0]["bound"]
    assert "the numbers prove it" in done("bound", "--check", certificate)
    assert json.loads(done("bound", "--check", certificate, "-t", path, "sample:english", "--json"))["same"]
    other = cli("bound", "--check", certificate, "-t", path, TEXT, "--json")
    assert other.exit_code == 1
    assert json.loads(other.stdout)["same"] is False


def test_a_claim_that_is_too_high_is_found(certificate: str, tmp_path: Path) -> None:
    head, *rest = Path(certificate).read_text().splitlines()
    claim = json.loads(head)
    claim["tokens"] += 1
    (tmp_path / "c").write_text("\n".join([json.dumps(claim), *rest]))
    result = cli("bound", "--check", str(tmp_path / "c"))
    assert result.exit_code == 1
    assert "the numbers do not prove it" in result.stdout


_HEAD = '{"format": "tokentui bound", "version": 1, "tokens": 1, "vocab_size": 3, "base": 2, "scale": 4}'


_WORDS = (
    '{"units": [], "count": 1, "g": null}', '{"units": ["61"], "count": -1, "g": null}',
    '{"units": ["61"], "count": true, "g": null}', '{"units": ["61", "62"], "count": 1, "g": [1]}',
    '{"units": ["61", "62"], "count": 1, "g": [5, 1]}', '{"units": ["61", 2], "count": 1, "g": [1, 1]}',
    '{"units": "ab", "count": 1, "g": [1, 1]}', '{"units": ["61", "62"], "count": 1, "g": ["1", 1]}',
    "[]", "{", "[" * 100_000, json.dumps({"units": ["a"] * 5000, "count": 1, "g": [1] * 5000}),
)


@pytest.mark.parametrize("text", [
    "", "{}", "[]", "\0\xff", _HEAD.replace("4}", "0}"), _HEAD.replace("4}", "1e3}"),
    _HEAD.replace('"base": 2', '"base": 9'), *(f"{_HEAD}\n{word}" for word in _WORDS),
])  # fmt: skip
def test_what_is_no_certificate_is_refused_in_a_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(text.encode("latin-1"))
    assert refused("bound", "--check", str(tmp_path / "c")).count("\n") <= 1


def test_numbers_of_other_programs_prove_what_they_prove(tmp_path: Path) -> None:
    """The six words with the numbers by hand."""
    rows = [f'{{"units": ["61", "62", "{c}"], "count": 1, "g": [4, 2, 4]}}' for c in ("63", "64", "65")]
    rows += [f'{{"units": ["62", "{c}"], "count": 1, "g": [4, 4]}}' for c in ("63", "64", "65")]
    head = _HEAD.replace('"tokens": 1', '"tokens": 11').replace('"vocab_size": 3', '"vocab_size": 4')
    (tmp_path / "c").write_text("\n".join([head, *rows]))
    found = json.loads(done("bound", "--check", str(tmp_path / "c"), "--json"))
    assert (found["holds"], found["proved"]) == (True, 11)


def test_what_cannot_be_asked(path: str, tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    for words, said in (
        (["-t", path], "CORPUS is missing"), ([TEXT], "either -t"),
        ([TEXT, "-t", path, "-r", "gpt2"], "either -t"),
        ([TEXT, "-r", "gpt2"], "--vocab-size"), (["-t", path, str(tmp_path / "empty")], "no pre-token"),
        ([TEXT, "-r", "gpt2", "--vocab-size", "9000"], "the training ended"),
        (["--check", str(tmp_path / "none")], "none"), (["--check", path, "-t", path], "go together"),
    ):
        assert said in refused("bound", *words)


def test_words_that_the_tokenizer_loses_are_left_out() -> None:
    tokenizer = tokentui.train(None, "wordpiece", texts=["abc abd abe"], specials=["[UNK]"], merges=2)
    corpus = tokentui.read(texts=["abc zzz abd zzz"])
    bounded = BoundedCorpus(tokenizer, corpus)
    assert (bounded.left_out, len(bounded.rows)) == (2, 2)


def test_the_curve_of_sizes(path: str) -> None:
    words = "budget", "-t", path, "sample:english", "--sizes", "280,300", "--bound"
    rows = json.loads(done(*words, "--json"))["corpora"][0]["sizes"]
    row = rows[-1]  # it starts from that of another size
    sizes = done("bound", "-t", path, "sample:english", "--vocab-size", str(row["size"]), "--json")
    (size,) = json.loads(sizes)["sizes"]
    assert row["tokens"] == size["tokens"]
    assert abs(row["bound"] - size["bound"]) < 0.01 * row["bound"]
    assert all(row["bound"] <= row["tokens"] for row in rows)
    assert "saveable" in done("budget", "-t", path, TEXT, "--sizes", "280", "--bound")


def test_the_program_agrees(path: str) -> None:
    pytest.importorskip("scipy")
    found = json.loads(done("bound", "-t", path, TEXT, "--lp", "--json"))
    size = found["sizes"][0]
    assert size["bound"] <= -(-round(found["program"], 6) // 1)
    assert found["program"] <= size["reached"]
