"""`tokentui verify`, and the exit codes of `tokentui inspect`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running_cli import cli, done, refused


@pytest.mark.peer
def test_a_training(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    hugs = ("verify", "sample:hugs", "--against", "tokenizers", "-q", "-r", "hf-bpe")
    assert "same         all 3 steps (stopped: merges)\n" in done(*hugs, "--merges", "3")
    assert "same         1 step (stopped: merges)\n" in done(*hugs, "--merges", "1")
    row = json.loads(done(*hugs, "--json"))
    assert (row["peer"], row["alike"], row["differs"]) == ("tokenizers", True, None)
    (tmp_path / "ties.txt").write_text("zy zy ab ab mn mn q")
    words = (
        "verify", str(tmp_path / "ties.txt"), "-q", "-r", "minbpe", "-s", "split=whitespace", "--against",
        "hf",
    )
    result = cli(*words)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[1:] == [
        "same         0 steps",
        "differs      step 1",
        "ours         z + y",
        "theirs       a + b, recounted 2, candidate 2 of ours",
        "candidates   ours, best first, 3 of them tied: tie=first-seen",
        "  1  2  z + y",
        "  2  2  a + b  ← theirs",
        "  3  2  m + n",
    ]
    row = json.loads(cli(*words, "--json").stdout)
    assert row["differs"]["ours"] == {"hex": ["7a", "79"]}
    assert row["differs"]["theirs"] == {"hex": ["61", "62"], "token": "6162", "count": 2, "place": 2}
    assert [one["count"] for one in row["differs"]["candidates"]] == [2, 2, 2]


@pytest.mark.peer
def test_a_file(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    names = ["<unk>", *"abcdefgh \n", "ab"]
    (tmp_path / "t.json").write_text(
        json.dumps(
            {
                "version": "1.0", "added_tokens": [],
                "model": {
                    "type": "BPE", "unk_token": "<unk>", "vocab": {name: n for n, name in enumerate(names)},
                    "merges": [["a", "b"]],
                },
            }
        )
    )
    (tmp_path / "corpus.txt").write_text("abba cab\nfeed a cafe\n")
    words = (
        "verify", str(tmp_path / "corpus.txt"), "-t", str(tmp_path / "t.json"), "--against", "tokenizers",
        "-q",
    )
    assert "same         1 text, " in done(*words)
    row = json.loads(done(*words, "--json"))
    assert (row["texts"], row["tokens"], row["differs"]) == (1, 19, None)


@pytest.mark.peer
def test_a_file_that_differs(tmp_path: Path) -> None:
    """What either gave is printed, and no word for what was not refused."""
    pytest.importorskip("tokenizers")
    names = {"<unk>": 0, "a": 1, "b": 2, " ": 3}
    said = {
        "version": "1.0", "added_tokens": [],
        "model": {"type": "BPE", "unk_token": "<unk>", "vocab": names, "merges": []},
    }
    (tmp_path / "t.json").write_text(json.dumps(said | {"normalizer": {"type": "Lowercase"}}))
    (tmp_path / "corpus.txt").write_text("ab")
    words = ("verify", str(tmp_path / "corpus.txt"), "-t", str(tmp_path / "t.json"), "--against",
        "tokenizers", "-q")
    assert "same         1 text, 2 tokens" in done(*words)
    (tmp_path / "corpus.txt").write_text("ab A")
    # The library reads the file itself: between our reading and its own the step goes.
    from tokentui.formats.files import load

    loaded = load(tmp_path / "t.json")
    (tmp_path / "t.json").write_text(json.dumps(said))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tokentui.cli.commands.verify.load", lambda *_, **__: loaded)
        result = cli(*words)
    assert result.exit_code == 1
    assert [line for line in result.stdout.splitlines() if "str" in line.split()] == []
    assert result.stdout.splitlines()[2:] == [
        "differs      text 1; shortest part found:", "text         A",
        "stage        normalized text", "ours", "  normalized a", "  pre-tokens a", "  tokens     a",
        "  ids        1", "theirs", "  normalized A", "  pre-tokens A", "  tokens     <unk>",
        "  ids        0",
    ]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((), "verify: CORPUS is missing"), (("sample:hugs",), "verify: --against is missing"),
        (
            ("sample:hugs", "--against", "rustbpe"),
            "verify: use either -r (to train) or -t (to encode)",
        ),
        (
            ("sample:hugs", "--against", "rustbpe", "-r", "gpt2", "-t", "x"),
            "verify: use either -r (to train)",
        ),
        (
            ("sample:hugs", "--against", "rustbpe", "-t", "x", "--merges", "3"),
            "verify: --merges is for a training",
        ),
        (("sample:hugs", "--against", "rust", "-r", "gpt2"), "--against: no peer 'rust'"),
        (("sample:hugs", "--against", "rustbpe", "-r", "gpt2", "--merges", "0"),
         "verify: Invalid value for '--merges': 0 is not in the range"),
    ],
)
def test_wrong_words(words: tuple[str, ...], line: str) -> None:
    assert refused("verify", *words).startswith(line)


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize(
    ("normalizer", "strict", "code"),
    [
        ({"type": "Replace", "pattern": {"String": r"\d+"}, "content": "0"}, False, 1), (None, False, 0),
        (None, True, 1),
    ],
)
def test_the_code_of_a_health_report(tmp_path: Path, normalizer: object, strict: bool, code: int) -> None:
    names = ["<unk>", *"abc", "ab"]
    (tmp_path / "t.json").write_text(json.dumps({"version": "1.0", "normalizer": normalizer, "model": {
        "type": "BPE", "unk_token": "<unk>", "vocab": {name: n for n, name in enumerate(names)},
        "merges": [["a", "b"]]}}))
    words = ("inspect", "-t", str(tmp_path / "t.json"), *(["--strict"] if strict else []))
    result = cli(*words)
    assert result.exit_code == code, result.output
    assert ("1 FAIL" in result.stdout) == (normalizer is not None)
    row = json.loads(cli(*words, "--json").stdout)
    found = {one["name"]: one for one in row["checks"]}
    assert found["literals"]["status"] == ("FAIL" if normalizer else "PASS")
    if normalizer:
        assert found["literals"]["examples"] == [
            {"id": None, "text": r"\d+", "hex": rb"\d+".hex(), "note": "in normalizer.Replace"}]
    assert found["bytes"]["threshold"].startswith("WARN: ")


def test_strict_is_for_the_report() -> None:
    assert refused("inspect", "-t", "x", "--strict", "abc").startswith(
        "inspect: --strict is for the health report"
    )
