"""The built-in corpora: all there, readable, of a fair size; the small ones are the oracle's to the letter.
"""

from __future__ import annotations

import doctest
import sys
import types
import unicodedata

import oracle
import pytest

from tokentui.core.errors import TokentuiError
from tokentui.text.read import read
from tokentui.text.sources import READ_AS, Sample, find_sample, parallel, samples

EXAMPLES = {
    "cat-bat-rat": "swift-cat-bat-rat-bat",
    "sailor": "udl-sailor-50",
    "woodchuck": "udl-woodchuck",
    "hugs": "comp336-bpe-20",
    "halo": "wicaksono-bpe-first-seen",
    "hai": "wicaksono-wordpiece",
    "gage": "gage-xxxd",
}
LESSONS = ("course", "abac", "hug", "digits", "contractions", "counting")
"""Short texts that tours are about."""
SCRIPTS = {"ar": "ARABIC", "hi": "DEVANAGARI", "ko": "HANGUL", "zh": "CJK", "ja": "HIRAGANA"}


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.name)
def test_each_sample_reads(sample: Sample) -> None:
    corpus = read(f"sample:{sample.name}")
    assert corpus.name == sample.name
    assert sample.as_ in READ_AS
    assert (corpus.invalid, corpus.notes) == (None, ())
    assert corpus.size > 0
    assert sample.title
    assert find_sample(sample.name).path == sample.path
    if sample.name not in (*EXAMPLES, *LESSONS):
        assert 3_000 <= sample.bytes == corpus.size <= 30_000
        assert unicodedata.is_normalized("NFC", corpus.documents[0])


@pytest.mark.parametrize("language", SCRIPTS)
def test_a_text_is_in_its_script(language: str) -> None:
    (sample,) = [one for one in samples() if one.language == language]
    letters = [letter for letter in sample.path.read_text(encoding="utf-8") if letter.isalpha()]
    own = sum(unicodedata.name(letter, "").startswith(SCRIPTS[language]) for letter in letters)
    assert own > len(letters) * (0.4 if language == "ja" else 0.9)


def test_names_are_unlike_and_unknown_ones_are_refused() -> None:
    names = [sample.name for sample in samples()]
    assert len(set(names)) == len(names)
    with pytest.raises(TokentuiError, match="did you mean japanese") as caught:
        find_sample("japanes")
    assert caught.value.where == "sample:japanes"


def test_the_readme_names_every_file() -> None:
    folder = find_sample("english").path.parent
    readme = (folder / "README.md").read_text(encoding="utf-8")
    listed = {line.split("`")[1] for line in readme.splitlines() if line.startswith("| `")}
    assert listed == {sample.path.name for sample in samples()}
    assert listed == {path.name for path in folder.iterdir()} - {"README.md", "parallel"}


def test_the_parallel_set_is_line_by_line() -> None:
    """Twelve languages with as many lines, each a sentence of its own that ends as sentences do."""
    folder = find_sample("parallel/english").path.parent
    assert {sample.path for sample in parallel()} == set(folder.iterdir())
    readme = (folder.parent / "README.md").read_text(encoding="utf-8").partition("## The parallel set")[2]
    for sample in parallel():
        corpus = read(f"sample:{sample.name}")
        assert (len(corpus.documents), len(set(corpus.documents))) == (40, 40)
        assert (corpus.invalid, corpus.notes, sample.as_) == (None, (), "lines")
        assert sample.title in readme
        for line in corpus.documents:
            assert unicodedata.is_normalized("NFC", line)
            assert line == line.strip()
            assert line[-1] in ".?!؟।。？！"
            assert not any(letter.isdigit() for letter in line)
    # A question is one in all languages, and a call too.
    lines = zip(*(read(f"sample:{sample.name}").documents for sample in parallel()), strict=True)
    marks = {"Japanese"}  # where a question ends with か and a full stop
    asked = [n for n, line in enumerate(parallel()) if line.title not in marks]
    for row in lines:
        assert len({one[-1] in "?؟？" for n, one in enumerate(row) if n in asked}) == 1, row


def test_the_program_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("timetables")
    monkeypatch.setitem(sys.modules, "timetables", module)  # where dataclasses look for their module
    exec(
        compile(find_sample("python").path.read_text(encoding="utf-8"), "python.txt", "exec"), module.__dict__
    )
    result = doctest.testmod(module)
    assert (result.failed, result.attempted > 4) == (0, True)
    module.main()
    assert "07:10 Hill --40--> Market 07:21" in capsys.readouterr().out


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_the_oracles(name: str) -> None:
    cases = oracle.load("seeds.json")["cases"]
    (want,) = [case["corpus"] for case in cases if case["name"] == EXAMPLES[name]]
    corpus = read(f"sample:{name}")
    if "counts" in want:
        assert corpus.counts == tuple(map(tuple, want["counts"]))
    else:
        assert corpus.documents == tuple(want.get("lines") or [want["text"]])
