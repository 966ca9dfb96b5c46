"""`tokentui diff`."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from running_cli import cli, done, refused

import tokentui
from tokentui.text.corpus import Corpus

LINES = ["low lower lowest", "new newer newest", "a wide window", ""]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two tokenizers and a text, which is the current one."""
    corpus = Corpus.from_lines(LINES)
    tokentui.train(corpus, "gpt2", merges=4).save(tmp_path / "old.json")
    tokentui.train(Corpus.from_lines(LINES[1:]), "gpt2", merges=6).save(tmp_path / "new.json")
    (tmp_path / "novel.txt").write_text("\n".join(LINES))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def row(*words: str, code: int = 1) -> dict[str, Any]:
    result = cli("diff", *words, "--json")
    assert result.exit_code == code, result.output
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def test_the_examples_of_the_help_run(here: Path) -> None:
    examples = done("diff", "--help").partition("Examples:\n")[2].strip().splitlines()
    assert len(examples) > 2
    for line in examples:
        words = shlex.split(line)
        assert words[:2] == ["tokentui", "diff"]
        result = cli(*words[1:])
        assert result.exit_code in (0, 1), line
        assert result.stdout, line
        assert result.exit_code == (0 if "--max-growth" in words else 1), line


def test_the_row_has_the_figures_of_the_library(here: Path) -> None:
    found = tokentui.diff("old.json", "new.json", tokentui.read("novel.txt", as_="lines"))
    answer = row("old.json", "new.json", "novel.txt", "--as", "lines")
    assert (answer["same"], answer["same_ids"], answer["reused"]) == (False, False, found.reused)
    for name in ("went", "came"):
        assert [(one["id"], one["hex"], one["uses"]) for one in answer[name]] == [
            (one.id, one.piece.hex(), one.uses) for one in getattr(found, name)
        ]
    texts = found.documents
    assert texts is not None
    for name in ("documents", "changed", "recut", "grown", "shrunk", "a", "b", "growth"):
        assert answer["corpus"][name] == getattr(texts, name)
    assert [one["number"] for one in answer["corpus"]["worst"]] == [one.number for one in texts.worst]
    assert found.merges is not None
    assert answer["merges"]["step"] == found.merges.step
    assert answer["merges"]["a"]["token"]["hex"] == (found.merges.a and found.merges.a.token.hex())


def test_the_text_has_the_numbers_of_the_row(here: Path) -> None:
    words = ["old.json", "new.json", "novel.txt", "--as", "lines"]
    answer, text = row(*words), cli("diff", *words).stdout
    corpus = answer["corpus"]
    assert f"{corpus['documents']:,} documents: {corpus['changed']:,} with different ids" in text
    assert f"{corpus['a']:,} → {corpus['b']:,}, {corpus['growth']:+.3%}" in text
    assert f"first difference at step {answer['merges']['step']}" in text
    for name, title in (("went", "removed"), ("came", "added")):
        assert re.search(rf"^{title} +{len(answer[name])} token", text, re.M)
    numbers = [int(number) for number in re.findall(r"^  document (\d+):", text, re.M)]
    assert numbers == [one["number"] for one in corpus["worst"]]


def test_exit_codes(here: Path) -> None:
    assert done("diff", "old.json", "old.json", "novel.txt").endswith("+0.000%\n")
    assert "no differences" in done("diff", "old.json", "old.json")
    assert cli("diff", "old.json", "new.json").exit_code == 1
    assert cli("diff", "old.json", "new.json", "--same-ids").exit_code == 1
    tokentui.train(Corpus.from_lines(LINES), "gpt2", merges=5).save(here / "more.json")
    assert cli("diff", "old.json", "more.json").exit_code == 1
    held = row("old.json", "more.json", "--same-ids", code=0)
    assert (held["same"], held["bounds"]) == (False, {"--same-ids": True})
    broken = row("old.json", "more.json", "novel.txt", "--same-ids", code=1)
    assert broken["corpus"]["changed"] == 1
    (shrunk,) = {row("old.json", "more.json", "novel.txt", "--max-growth", "0%", code=0)["corpus"]["growth"]}
    assert shrunk < 0
    growth = row("more.json", "old.json", "novel.txt", "--max-growth", "0%")["corpus"]["growth"]
    assert growth > 0
    for share, code in ((growth * 100 + 0.01, 0), (growth * 100 - 0.01, 1)):
        row("more.json", "old.json", "novel.txt", "--max-growth", f"{share:.6f}%", code=code)
    both = row("old.json", "more.json", "novel.txt", "--max-growth", "1%", "--same-ids", code=1)
    assert both["bounds"] == {"--same-ids": False, "--max-growth 1%": True}


@pytest.mark.parametrize(("words", "said"), [
    ((), "Missing argument 'B'"), (("--max-growth", "1%"), "CORPUS is missing"),
    (("novel.txt", "--max-growth", "0.5"), "for example 0.5%"),
    (("novel.txt", "--rows", "-1"), "-1 is not in the range"),
    (("novel.txt", "--max-growth", "x%"), "not a share"), (("none.txt",), "no such file"),
    (("-s", "tie=first-seen"), "only the split"), (("old.json",), "a tokenizer"),
])
def test_what_cannot_be(here: Path, words: tuple[str, ...], said: str) -> None:
    files = ("old.json",) if not words else ("old.json", "new.json")
    assert said in refused("diff", *files, *words)


def test_hostile_names_and_texts_are_drawn_safely(here: Path) -> None:
    hostile = "\x1b]0;x\x07\u202eabc\u0300\u0300 low\x9b31m\ud800"
    data = hostile.encode("utf-8", "surrogatepass")
    (here / "bad.txt").write_bytes(data + b"\n" + data)
    tokentui.train(Corpus.from_lines([hostile.replace("\ud800", "")] * 3), "gpt2", merges=9,
                   specials=["\x1b[31m"]).save(here / "bad.json")
    result = cli("diff", "old.json", "bad.json", "bad.txt", "--as", "lines", "-q")
    assert result.exit_code == 1
    assert "document 1" in result.stdout
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(result.stdout)
    assert row("old.json", "bad.json", "bad.txt", "-q")["corpus"]["documents"] == 1
