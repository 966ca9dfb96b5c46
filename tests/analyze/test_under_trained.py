"""Tokens that a model has not learned, in matrices of our own."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from running_cli import done, refused
from safetensors_files import model

import tokentui
from tokentui.analyze import under_trained as analysis
from tokentui.analyze.under_trained import COSINE, INDICATORS, NORM, under_trained, unused_rows
from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import safetensors, weights
from tokentui.formats.weights import open_model

COLUMNS, MERGES, SPECIALS = 16, 300, [f"<unused{n}>" for n in range(6)]
IN, OUT = "model.embed_tokens.weight", "lm_head.weight"
Rows = Sequence[Sequence[float]]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return tokentui.train("sample:english", "gpt2", merges=MERGES, specials=SPECIALS)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("weights") / "t.json"
    done("train", "sample:english", "-r", "gpt2", "--merges", str(MERGES), "-q", "-o", str(file),
         *(word for name in SPECIALS for word in ("--special", name)))
    return str(file)


def planted(tokenizer: Tokenizer) -> list[int]:
    """Ids of tokens that text produces, whose rows are not trained: a bit more than one in a hundred."""
    return [entry.id for entry in tokenizer.entries() if entry.kind == "merge"][10::60]


def matrices(tokenizer: Tokenizer, extra: int = 4, columns: int = COLUMNS) -> tuple[Rows, Rows]:
    """Input and output rows: those of untrained tokens are near 0 in one, near one vector in the other."""
    numbers = random.Random(1)
    still = {*planted(tokenizer), *unused_rows(tokenizer, tokenizer.vocab_size + extra)}
    center = [numbers.gauss(0, 1) for _ in range(columns)]
    first, second = [], []
    for number in range(tokenizer.vocab_size + extra):
        untrained = number in still
        first.append([numbers.gauss(0, 0.02 if untrained else 1) for _ in range(columns)])
        second.append([value + numbers.gauss(0, 0.02 if untrained else 1) for value in center])
    return first, second


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("tied", [False, True])
def test_all_planted_rows_are_found(
    plain: bool, tied: bool, tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if plain:
        for module in (safetensors, analysis):
            monkeypatch.setattr(module, "numpy", lambda: None)
    first, second = matrices(tokenizer)
    tensors = {IN: (second, "F32")} if tied else {IN: (first, "BF16"), OUT: (second, "F16")}
    (tmp_path / "model.safetensors").write_bytes(model(tensors))
    found = under_trained(tokenizer, open_model(str(tmp_path), tokenizer.vocab_size))
    assert found.indicators[0] == (COSINE if tied else NORM)
    assert set(found.indicators) == set(INDICATORS)
    candidates = {token.id for token in found.candidates if token.category == "ok"}
    assert candidates >= set(planted(tokenizer))
    assert len(candidates - set(planted(tokenizer))) <= math.ceil(0.03 * found.tokens)
    assert found.tied == tied
    unused = unused_rows(tokenizer, found.rows)
    assert set(found.unused) == set(unused) >= set(range(tokenizer.vocab_size, found.rows))
    reserved = {token.id: token.reason for token in (*found.candidates, *found.others)}
    assert all(reserved[number] == "reserved" for number in range(6))
    assert sum(found.histogram[2]) == found.tokens


def test_numpy_and_the_standard_library_agree(
    tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numpy")
    first, second = matrices(tokenizer)
    (tmp_path / "m.safetensors").write_bytes(model({IN: (first, "F32"), OUT: (second, "F32")}))
    monkeypatch.setattr(analysis, "_SAMPLE", (4096, 4096))
    rapid = under_trained(tokenizer, open_model(str(tmp_path), tokenizer.vocab_size))
    for module in (safetensors, analysis):
        monkeypatch.setattr(module, "numpy", lambda: None)
    plain = under_trained(tokenizer, open_model(str(tmp_path), tokenizer.vocab_size))
    assert [token.id for token in plain.candidates] == [token.id for token in rapid.candidates]
    for a, b in zip(plain.candidates, rapid.candidates, strict=True):
        assert a.values == pytest.approx(b.values, abs=1e-5)


def test_values_by_hand(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """Rows of two numbers: u is (1, 0); the row (0, 2) has norm 2, cosine distance 1, distance √5."""
    count = tokenizer.vocab_size
    unused = set(unused_rows(tokenizer, count))
    rows = [[1.0, 0.0] if number in unused else [0.0, 2.0] for number in range(count)]
    (tmp_path / "m.safetensors").write_bytes(model({IN: (rows, "F64"), OUT: (rows, "F64")}))
    found = under_trained(tokenizer, open_model(str(tmp_path), count))
    values = dict(zip(found.indicators, found.candidates[-1].values, strict=True))
    assert values[NORM] == 2
    assert values[COSINE] == pytest.approx(1)
    assert values["distance"] == pytest.approx(math.sqrt(5))


def test_a_zero_row_has_the_cosine_distance_one() -> None:
    assert analysis._cosine([0.0, 0.0], [1.0, 2.0]) == 1


def test_one_matrix_needs_unused_tokens(tmp_path: Path) -> None:
    tokenizer = tokentui.train("sample:hugs", "hf-bpe", merges=5)
    rows = [[1.0, float(number)] for number in range(tokenizer.vocab_size)]
    (tmp_path / "m.safetensors").write_bytes(model({IN: (rows, "F32")}))
    opened = open_model(str(tmp_path), tokenizer.vocab_size)
    if not unused_rows(tokenizer, len(rows)):
        with pytest.raises(TokentuiError, match="no token is known to be unused"):
            under_trained(tokenizer, opened)


# ---- where the matrices are


def test_shards_are_read_by_their_index(path: str, tokenizer: Tokenizer, tmp_path: Path) -> None:
    first, second = matrices(tokenizer)
    (tmp_path / "model-1.safetensors").write_bytes(model({IN: (first, "F32")}))
    (tmp_path / "model-2.safetensors").write_bytes(model({OUT: (second, "F32")}))
    files = {IN: "model-1.safetensors", OUT: "model-2.safetensors", "x": "model-3.safetensors"}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))
    found = json.loads(done("inspect", "-t", path, "--glitch", "--weights", str(tmp_path), "--json"))
    assert found["indicators"][0] == NORM
    (tmp_path / "config.json").write_text('{"tie_word_embeddings": true}')
    tied = json.loads(done("inspect", "-t", path, "--glitch", "--weights", str(tmp_path), "--json"))
    assert tied["tied"]
    text = done("inspect", "-t", path, "--glitch", "--weights", str(tmp_path))
    assert "candidates" in text
    assert "a list to look at, not a claim" in text


@pytest.mark.parametrize(("index", "said"), [
    ("[]", "not a JSON object"), ('{"weight_map": 3}', "does not name files"), ("{", "not a JSON object"),
    ('{"weight_map": {"a": {"file": "x"}}}', "does not name files"),
    ('{"weight_map": {"model.embed_tokens.weight": "../x.safetensors"}}', "no file next to it"),
    ('{"weight_map": {"model.embed_tokens.weight": "/etc/passwd"}}', "no file next to it"),
    ('{"weight_map": {"model.embed_tokens.weight": "gone.safetensors"}}', "not there"),
    ("[" * 100_000, "not a JSON object"),
])  # fmt: skip
def test_an_index_that_makes_no_sense_is_refused(index: str, said: str, path: str, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(index)
    assert said in refused("inspect", "-t", path, "--glitch", "--weights", str(tmp_path))


def test_what_cannot_be_read(path: str, tokenizer: Tokenizer, tmp_path: Path) -> None:
    words = "inspect", "-t", path, "--glitch", "--weights"
    assert "there are no safetensors" in refused(*words, str(tmp_path))
    few = tmp_path / "few.safetensors"
    few.write_bytes(model({IN: ([[1.0, 2.0]] * 9, "F32")}))
    assert "9 rows" in refused(*words, str(few))
    wide = [[1.0, 2.0]] * tokenizer.vocab_size
    two = tmp_path / "two.safetensors"
    two.write_bytes(model({"x.weight": (wide, "F32"), "y.weight": (wide, "F32")}))
    assert "--embedding: 'x.weight', 'y.weight'" in refused(*words, str(two))
    assert done(*words, str(two), "--embedding", "x.weight", "--head", "y.weight")
    assert "no such tensor" in refused(*words, str(two), "--embedding", "z")
    assert "2 files" in refused(*words, str(tmp_path))
    assert "--glitch" in refused("inspect", "-t", path, "--weights", str(two))
    assert "gone" in refused(*words, str(tmp_path / "gone"))


def test_a_matrix_of_nans_is_told_and_is_no_candidate(
    path: str, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    count = tokenizer.vocab_size
    rows = [[math.nan, 1.0] if number % 2 else [float(number), 1.0] for number in range(count)]
    (tmp_path / "m.safetensors").write_bytes(model({IN: (rows, "F32"), OUT: (rows, "F32")}))
    found = json.loads(done("inspect", "-t", path, "--glitch", "--weights", str(tmp_path), "--json"))
    assert found["not_numbers"] == tokenizer.vocab_size // 2
    assert all(token["values"][0] is not None for token in found["candidates"])


@pytest.mark.parametrize(
    "name", ["bert.embeddings.word_embeddings.weight", "shared.weight", "transformer.wte.weight"]
)
def test_names_of_families(name: str, tokenizer: Tokenizer, tmp_path: Path) -> None:
    wide = [[1.0, 2.0]] * tokenizer.vocab_size
    (tmp_path / "m.safetensors").write_bytes(model({name: (wide, "F32"), "x.weight": (wide, "F32")}))
    assert open_model(str(tmp_path), tokenizer.vocab_size).input.tensor.name == name
    assert len(set(weights.INPUTS)) == len(weights.INPUTS)
