"""A small folder for each tokenizer class of transformers, with a made-up vocabulary."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import NamedTuple

import tokentui
from tokentui import Tokenizer


class Layout(NamedTuple):
    """How the model of a folder is made.

    Attributes:
        recipe: The recipe.
        specials: The special tokens with the first ids.
        file: The name of the file of the model.
    """

    recipe: str = "sentencepiece-unigram"
    specials: tuple[str, ...] = ("<unk>", "<s>", "</s>")
    file: str = "sentencepiece.bpe.model"


_PIECE = Layout(file="spiece.model")
_T5 = Layout(specials=("<pad>", "</s>", "<unk>"), file="spiece.model")
_BERT = Layout(specials=("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"), file="spm.model")
_LLAMA = Layout("llama2", file="tokenizer.model")
LAYOUTS = {
    "Albert": Layout(specials=("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"), file="spiece.model"),
    "Barthez": Layout(), "BertGeneration": _PIECE,
    "BigBird": Layout("sentencepiece-bpe", ("<pad>", "</s>", "<unk>", "<s>"), "spiece.model"),
    "Camembert": Layout(), "CodeLlama": _LLAMA, "DebertaV2": _BERT, "FNet": _PIECE,
    "GPTSw3": Layout("llama2", ("<pad>", "<|endoftext|>", "<s>", "<unk>"), "spiece.model"),
    "Gemma": Layout("llama2", ("<pad>", "<eos>", "<bos>", "<unk>"), "tokenizer.model"),
    "Llama": _LLAMA, "M2M100": Layout(), "MBart": Layout(), "MBart50": Layout(), "MLuke": Layout(),
    "Marian": Layout(file="source.spm"), "Nllb": Layout("sentencepiece-bpe"),
    "PLBart": Layout("sentencepiece-bpe"), "Pegasus": _T5,
    "Reformer": Layout("sentencepiece-bpe", file="spiece.model"),
    "RemBert": _BERT._replace(file="sentencepiece.model"), "SeamlessM4T": Layout("sentencepiece-bpe"),
    "Siglip": _T5, "Speech2Text": Layout(), "SpeechT5": Layout(file="spm_char.model"), "T5": _T5,
    "XGLM": Layout(), "XLMRoberta": Layout(), "XLNet": _PIECE,
}
"""The layout of each class with a model of sentencepiece."""
LISTED = ("M2M100", "Marian", "Speech2Text")
"""Classes whose ids are in `vocab.json`."""
TEXTS = (
    "the river", "Stones, 12,345 and 3,", "", " ", "  two  spaces ", "a\tb\nc\r\nd", "naïve Ünïcode éÅ",
    "東京 ﬁne Ⅳ ㍿", "▁river ▁▁ stone", "😀👨‍👩‍👧 ok", "it's ``quoted'' don't",
    "UPPER lower.Mixed!!", "x" * 30,
    "\u200bzero\ufeff width\u00ad \u0085next", "rrrr the,the;the",
)
"""Texts on which classes differ."""


@functools.cache
def _model(recipe: str, specials: tuple[str, ...]) -> Tokenizer:
    return tokentui.train("sample:english", recipe, vocab_size=420 if recipe == "llama2" else 150,
                          specials=specials)


def write(folder: Path, name: str, **settings: object) -> Path:
    """Write the folder of a class, with further settings, and return its path."""
    layout = LAYOUTS[name]
    folder.mkdir(exist_ok=True, parents=True)
    model = _model(layout.recipe, layout.specials)
    model.save(folder / layout.file, "sentencepiece")
    if name == "Marian":
        model.save(folder / "target.spm", "sentencepiece")
    if name in LISTED:
        pieces = [entry.piece.decode() for entry in model.entries()][3:]
        kept = [piece for n, piece in enumerate(reversed(pieces)) if n % 20]  # some have no id
        names = ("<s>", "<pad>", "</s>", "<unk>", *kept, "▁elsewhere", ">>de<<")
        (folder / "vocab.json").write_text(json.dumps({piece: n for n, piece in enumerate(names)}))
    if name == "MLuke":
        entities = {entity: n for n, entity in enumerate(("[MASK]", "[UNK]", "[PAD]", "[MASK2]"))}
        (folder / "entity_vocab.json").write_text(json.dumps(entities))
    config = {"tokenizer_class": f"{name}Tokenizer", **settings}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder
