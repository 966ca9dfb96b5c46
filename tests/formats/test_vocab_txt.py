"""BERT's vocab.txt: a token a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tokentui.core.errors import TokentuiError
from tokentui.formats import FORMATS
from tokentui.formats.files import export, load
from tokentui.formats.spec import Spec

TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "a", "##", "é")


def write(path: Path, *tokens: str, end: str = "\n") -> Path:
    path.write_text("".join(token + end for token in tokens), "utf-8", newline="")
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n", " \n"])
def test_a_file(tmp_path: Path, end: str) -> None:
    tokenizer = load(write(tmp_path / "vocab.txt", *TOKENS, end=end))
    assert tokenizer.encode("Unaffable, a").ids == (4, 5, 6, 1, 7)
    assert tokenizer.encode("a", special_tokens=True).ids == (2, 7, 3)
    assert tokenizer.encode("[SEP]").ids == (1, 1, 1)
    assert tokenizer.encode("[SEP]", allow_special=True).ids == (3,)
    assert tokenizer.decode([2, 4, 5, 6, 7, 3]) == "[CLS] unaffable a [SEP]"
    assert tokenizer.vocab_size == len(TOKENS)
    assert tokenizer.recipe.normalize == ("bert-uncased",)
    assert "lower-cased" in tokenizer.notes[0]


def test_capital_letters_keep_case(tmp_path: Path) -> None:
    tokenizer = load(write(tmp_path / "vocab.txt", *TOKENS, "A"))
    assert tokenizer.recipe.normalize == ("bert-cased",)
    assert tokenizer.encode("A a é").ids == (10, 7, 9)


@pytest.mark.parametrize("most", [0, 50, 100, 150])
def test_another_limit_of_words_is_told(tmp_path: Path, most: int) -> None:
    model = {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "a": 1, "##a": 2},
             "continuing_subword_prefix": "##", "max_input_chars_per_word": most}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"model": model, "normalizer": {
        "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
        "lowercase": True}, "pre_tokenizer": {"type": "BertPreTokenizer"}}))
    tokenizer = load(path)
    whole = (1, *[2] * (most - 1)) if most else ()
    assert tokenizer.encode("a" * most + " " + "a" * (most + 1)).ids == (*whole, 0)
    report = export(tokenizer, tmp_path / "vocab.txt")
    fitted = FORMATS["bert"].codec.to_format(Spec(tokenizer))
    for length in (1, most, most + 1, 99, 100, 101, most + 99):  # a text differs only between the limits
        differs = min(most, 100) < length <= max(most, 100)
        assert fitted.excused("a" * length) == (differs and most != 100), length
    told = [loss.example for loss in report.losses if loss.what == "long words"]
    assert told == ([] if most == 100 else [f"those of more than {most} are given up here"])


def test_a_token_in_two_lines_is_noted(tmp_path: Path) -> None:
    tokenizer = load(write(tmp_path / "vocab.txt", *TOKENS, "a"))
    assert tokenizer.encode("a").ids == (10,)
    assert "tokens in two lines: 1, such as 'a'; the last line counts" in tokenizer.notes
    with pytest.raises(TokentuiError, match="no such id: 7"):
        tokenizer.decode([7])


def test_lines_without_the_unknown_token_are_no_vocabulary(tmp_path: Path) -> None:
    with pytest.raises(TokentuiError, match="not a supported tokenizer file"):
        load(write(tmp_path / "notes.txt", "##one", "two"))
