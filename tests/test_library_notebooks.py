"""The library where it is used from day to day: notebooks, tables, threads, an edited vocabulary."""

from __future__ import annotations

import html
import itertools
import re
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from exporting import HOSTILE, preset, put

import tokentui
from tokentui.core.colors import contrast
from tokentui.core.safetext import is_safe, visible
from tokentui.core.tints import LIGHT, tints


def written(page: str) -> str:
    """The text of a page, without its tags. It is one whole element."""
    return "".join(ET.fromstring(page).itertext())


@pytest.mark.parametrize("name", ["gpt2", "bert", "t5"])
@pytest.mark.parametrize("text", ["<b>crowd</b> & 'a\"", "\x1b[31mred\x07", "\u202ea\u202c\n", "", "🇫🇮 é"])
def test_an_encoding_shows_its_tokens_in_a_notebook(name: str, text: str) -> None:
    encoding = preset(name).encode(text)
    page = encoding._repr_html_()
    seen = written(page)
    data = (row.text if row.piece is None else row.piece for row in encoding.rows)
    assert seen == "".join(span.text for one in data for span in visible(one))
    assert is_safe(seen)
    assert re.findall('title="([^"]*)"', page) == [
        "no id" if one is None else str(one) for one in encoding.ids
    ]


def test_tokens_have_the_tints_of_the_screen() -> None:
    """Neighbors differ. A chip sets both colors, so its text can be read on any page."""
    encoding = preset("gpt2").encode("A crowd in the street")
    styles = [dict(row.split(":") for row in style.split(";"))
              for style in re.findall('style="([^"]*padding[^"]*)"', encoding._repr_html_())]
    starts = [start for start, _ in encoding.offsets]
    assert [style["background"] for style in styles] == [LIGHT[tint].color for tint in tints(starts)]
    assert all(contrast(style["background"], style["color"]) >= 4.5 for style in styles)
    assert all(a != b for a, b in itertools.pairwise(styles))
    page = preset("gpt2")._repr_html_()
    assert len(set(re.findall("background:(#[0-9a-f]*)", page))) == len(LIGHT)


def test_a_long_encoding_is_cut() -> None:
    encoding = preset("gpt2").encode("a b " * 2_000)
    page = encoding._repr_html_()
    assert page.count("<span") == 500
    assert f"… and {len(encoding) - 500:,} more" in page


def test_a_tokenizer_and_a_run_show_themselves() -> None:
    run = tokentui.Trainer("sample:hugs", "gpt2")
    assert "<svg" not in run._repr_html_()
    run.run(merges=5)
    seen = written(run._repr_html_())
    assert "step 5 of 5 known" in seen
    assert f"tokens of the corpus: {run._engine.tokens_at(0)} at step 0, {run.tokens} at step 5" in seen
    tok = run.tokenizer()
    assert f"{len(tok)} ids · 5 merges" in written(tok._repr_html_())
    hostile = tokentui.train(tokentui.Corpus.from_text("</div><script>x</script> " * 9), "gpt2",
                             split="none", specials=["</div><img src=x>"])
    assert "<script" not in hostile._repr_html_()
    assert "<img" not in hostile._repr_html_()
    assert html.escape("</div><img·src=x>") in hostile._repr_html_()


def test_steps_candidates_and_entries_are_rows_of_a_table() -> None:
    pandas = pytest.importorskip("pandas")
    run = tokentui.Trainer("sample:english", "gpt2")
    run.run(merges=20)
    table = pandas.DataFrame(run.steps())
    assert list(table["number"]) == list(range(1, 21))
    assert list(table["count"]) == [step.row["count"] for step in run.steps()]
    entries = pandas.DataFrame(run.tokenizer().entries())
    assert len(entries) == run.vocab_size
    assert {"id", "piece"} <= {*entries.columns}
    assert len(pandas.DataFrame(run.candidates(10))) == 10


@pytest.mark.parametrize("name", ["gpt2", "bert", "t5", "llama2"])
@pytest.mark.slow
def test_threads_share_a_tokenizer(name: str, tmp_path: Path) -> None:
    """Eight threads ask one tokenizer at once, each for all of it; a read one as well as a trained one."""
    path, texts = tmp_path / "t.json", [text for text in HOSTILE if text][:20]
    put(preset(name), path, "huggingface")

    def trained() -> tokentui.Tokenizer:
        return tokentui.Tokenizer(preset(name).vocabulary, preset(name).merges)

    def read() -> tokentui.Tokenizer:
        return tokentui.load(path)

    for make in (trained, read):
        want = [_asked(make(), text) for text in texts]
        shared = make()
        with ThreadPoolExecutor(8) as pool:
            found = [pool.submit(lambda one: [_asked(one, text) for text in texts], shared) for _ in range(8)]
        assert [one.result() for one in found] == [want] * 8


def _asked(tok: tokentui.Tokenizer, text: str) -> object:
    """All that is asked of a tokenizer about a text."""
    try:
        ids = [one for one in tok.encode_ids(text) if one >= 0]
        encoding = tok.encode(text)
    except tokentui.TokentuiError as error:
        return str(error)
    named = [tok.id_to_token(one) for one in ids]
    return ids, tok.decode(ids), encoding.tokens, encoding.offsets, named, str(tok.why_not(text[:20]).reason)


def test_an_edited_tokenizer_is_one_of_the_library() -> None:
    tok = tokentui.train("sample:english", "gpt2", merges=200)
    corpus = tokentui.read("sample:parallel/english", as_="lines")
    found = tok.edited(prune=corpus, keep=400, extend=corpus, vocab_size=450, add=["zq"], special=["<x>"])
    assert isinstance(found.tokenizer, tokentui.Tokenizer)
    assert len(found.tokenizer) == 452
    assert [one.text for one in found.added] == ["zq", "<x>"]
    assert found.pruned is not None
    assert found.pruned.kept <= 400
    assert len(found.ids) == len(tok)
    both = tok.edited(merge=tokentui.train("sample:finnish", "gpt2", merges=50)).tokenizer
    assert len(both) > len(tok)
    with pytest.raises(tokentui.TokentuiError, match="must be used together"):
        tok.edited(extend=corpus)
    with pytest.raises(tokentui.TokentuiError, match="expected a Tokenizer"):
        tok.edited(merge="a.json")  # type: ignore[arg-type]
    with pytest.raises(tokentui.TokentuiError, match="not a whole number"):
        tok.edited(prune=corpus, keep=1.5)  # type: ignore[arg-type]
