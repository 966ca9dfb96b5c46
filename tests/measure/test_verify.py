"""Trainings and files, held against other libraries in a process of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tokentui.errors import Cancelled, TokentuiError
from tokentui.formats import load
from tokentui.measure.verify import PEERS, Peer, peer_of, verify_encoding, verify_training
from tokentui.measure.verify.encoding import shorten
from tokentui.measure.verify.peers import asking
from tokentui.presets import preset
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

TEXT = "she sells sea shells by the sea shore; the shells she sells are sea shells, I'm sure. " * 3


def peer(name: str) -> Peer:
    pytest.importorskip(PEERS[name].module)
    return peer_of(name)


def test_names_of_peers() -> None:
    with pytest.raises(TokentuiError, match="no peer 'tokeniser'"):
        peer_of("tokeniser")
    pytest.importorskip("tokenizers")
    assert peer_of("HuggingFace").name == peer_of("hf").name == "tokenizers"


def test_a_library_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(TokentuiError, match="the library is not installed") as raised:
        peer_of("rustbpe")
    assert raised.value.hint == "pip install rustbpe"


def test_nothing_of_a_peer_is_imported_here() -> None:
    import tokentui.measure.verify.child as child

    assert not {"tokenizers", "sentencepiece", "tiktoken", "rustbpe", "subword_nmt"} & set(vars(child))


@pytest.mark.peer
@pytest.mark.parametrize(("name", "recipe", "merges"), [
    ("tokenizers", "gpt2", None), ("tokenizers", "hf-bpe", 20), ("rustbpe", "rustbpe", None), ("tiktoken", "tiktoken-edu", 15),
    ("subword-nmt", "subword-nmt", None), ("sentencepiece", "sentencepiece-bpe", None),
])
def test_trainings_that_are_alike(name: str, recipe: str, merges: int | None) -> None:
    found = verify_training(Corpus.from_lines([TEXT]), preset(recipe), peer(name), merges)
    assert found.parting is None
    assert found.steps == merges or (merges is None and found.steps > 10)
    assert found.version


@pytest.mark.peer
def test_the_first_tie_parts_them() -> None:
    """Of equal counts one takes the first seen, the other the lowest ids."""
    found = verify_training(Corpus.from_text("zy zy ab ab mn mn q"), preset("minbpe", split="whitespace"), peer("tokenizers"))
    parting = found.parting
    assert parting is not None
    assert (found.steps, parting.step, parting.ours, parting.tied) == (0, 1, (b"z", b"y"), 3)
    assert parting.theirs is not None
    assert (parting.theirs.left, parting.theirs.right, parting.theirs.count) == (b"a", b"b", 2)
    assert parting.theirs.place is not None
    assert [one.count for one in parting.candidates] == [2, 2, 2]


@pytest.mark.peer
def test_a_token_without_its_pair_is_looked_up_again() -> None:
    found = verify_training(Corpus.from_text("zy zy ab ab mn mn q"), preset("minbpe", split="whitespace"), peer("rustbpe"))
    assert found.parting is not None
    assert found.parting.theirs is not None
    assert (found.parting.theirs.left, found.parting.theirs.right, found.parting.theirs.token) == (b"a", b"b", b"ab")


@pytest.mark.parametrize(("name", "recipe"), [
    ("tokenizers", "bert"), ("rustbpe", "hf-bpe"), ("tiktoken", "wordpiece"), ("subword-nmt", "gpt2"), ("sentencepiece", "gpt2"),
])
def test_recipes_that_a_library_cannot_train(name: str, recipe: str) -> None:
    with pytest.raises(TokentuiError, match="cannot train by this recipe"):
        verify_training(Corpus.from_text(TEXT), preset(recipe), PEERS[name])


def document(merges: list[list[str]]) -> dict[str, Any]:
    names = ["<unk>", *"abcdefgh", "ab", "abc", "bc"]
    model = {"type": "BPE", "unk_token": "<unk>", "vocab": {name: n for n, name in enumerate(names)}, "merges": merges}
    return {"version": "1.0", "added_tokens": [], "normalizer": {"type": "Lowercase"}, "post_processor": None, "decoder": None,
            "pre_tokenizer": {"type": "WhitespaceSplit"}, "model": model}


@pytest.mark.peer
def test_a_text_that_differs_is_made_short(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    ours.write_text(json.dumps(document([["a", "b"], ["ab", "c"]])), "utf-8")
    theirs.write_text(json.dumps(document([["b", "c"], ["a", "b"], ["a", "bc"]])), "utf-8")
    documents = ["ab ab gh\nde fg", "nothing here differs", "de gh ABx\nfabd eabCg ab"]
    assert verify_encoding(load(ours), str(ours), peer("tokenizers"), documents).parting is None
    found = verify_encoding(load(ours), str(theirs), peer("tokenizers"), [*documents, "de fbc h"])
    assert (found.texts, found.parting and found.parting.number) == (3, 4)
    assert found.parting is not None
    assert (found.parting.text, found.parting.stage) == ("bc", "ids")
    assert found.parting.ours.words == found.parting.theirs.words == ("bc",)
    assert (found.parting.ours.tokens, found.parting.theirs.tokens) == (("b", "c"), ("bc",))


@pytest.mark.peer
@pytest.mark.parametrize(("step", "value", "stage", "text"), [
    ("normalizer", None, "normalized text", "A"),
    ("pre_tokenizer", {"type": "Punctuation", "behavior": "Isolated"}, "pre-tokens", " "),
])
def test_the_stage_where_they_part(tmp_path: Path, step: str, value: Any, stage: str, text: str) -> None:
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    ours.write_text(json.dumps(document([["a", "b"]])), "utf-8")
    theirs.write_text(json.dumps(document([["a", "b"]]) | {step: value}), "utf-8")
    found = verify_encoding(load(ours), str(theirs), peer("tokenizers"), ["Ab cd, ef"]).parting
    assert found is not None
    assert (found.stage, found.text) == (stage, text)


@pytest.mark.peer
def test_a_library_that_refuses(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps(document([["a", "b"]])), "utf-8")
    with pytest.raises(TokentuiError, match="the library refuses: "):
        verify_encoding(load(tmp_path / "t.json"), str(tmp_path / "t.json"), peer("sentencepiece"), ["a"])
    with pytest.raises(TokentuiError, match="rustbpe reads no file of ids"):
        verify_encoding(load(tmp_path / "t.json"), str(tmp_path / "t.json"), PEERS["rustbpe"], ["a"])


def child(monkeypatch: pytest.MonkeyPatch, folder: Path, program: str) -> None:
    (folder / "child.py").write_text(program)
    monkeypatch.setattr("tokentui.measure.verify.peers._CHILD", folder / "child.py")


def test_a_process_that_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child(monkeypatch, tmp_path, "import os, sys\nprint('thread panicked at x', file=sys.stderr, flush=True)\nos.abort()\n")
    with asking(PEERS["rustbpe"]) as asked, pytest.raises(TokentuiError) as raised:
        asked.ask(20, do="train", words=["a" * 1_000_000])
    assert str(raised.value).startswith("rustbpe: the library ended with signal 6: thread panicked at x")


def test_a_process_that_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child(monkeypatch, tmp_path, "import time\ntime.sleep(600)\n")
    with asking(PEERS["rustbpe"]) as asked, pytest.raises(TokentuiError, match="the library took more than 0 s"):
        asked.ask(0.2, do="train")
    with asking(PEERS["rustbpe"], lambda: True) as asked, pytest.raises(Cancelled):
        asked.ask(20, do="train")


def test_what_a_library_prints_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tokentui.measure.verify import child as program

    whole = Path(program.__file__).read_text().replace('    "tokenizers": train_tokenizers', '    "tokenizers": noisy')
    noisy = "def noisy(asked):\n    print('hello')\n    raise SystemExit('no')\n\n\nTRAIN:"
    child(monkeypatch, tmp_path, whole.replace("TRAIN:", noisy, 1))
    with asking(PEERS["tokenizers"]) as asked, pytest.raises(TokentuiError, match="the library refuses: SystemExit: no"):
        asked.ask(20, do="train")


def test_shortest_part() -> None:
    assert shorten("the quick brown fox jumps", lambda part: "q" in part and "x" in part) == "qx"
    assert shorten("aaaa", lambda part: len(part) >= 3) == "aaa"
    assert shorten("abc", lambda part: False) == "abc"


@pytest.mark.peer
def test_a_sample_against_ranks(tmp_path: Path) -> None:
    """Ranks without a pattern: the one that was named goes to the library too."""
    import base64

    rows = [base64.b64encode(bytes((value,))) + b" %d\n" % value for value in range(256)]
    rows += [base64.b64encode(piece) + b" %d\n" % (256 + n) for n, piece in enumerate([b"th", b" a", b" the", b"in", b"the"])]
    path = tmp_path / "r.tiktoken"
    path.write_bytes(b"".join(rows))
    found = verify_encoding(load(path, "cl100k"), str(path), peer("tiktoken"), read("sample:english").documents)
    assert found.parting is None
    assert found.tokens > 1000
