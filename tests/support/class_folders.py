"""A small folder for each tokenizer class of transformers, with a made-up vocabulary."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import NamedTuple

from exporting import put

import tokentui
from tokentui import Tokenizer
from tokentui.formats.huggingface.words import CLIP
from tokentui.formats.tokens import LETTERS


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
_FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>", "<mask>", "<|endoftext|>", "<|startoftext|>")
_BRACKETS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<s>")
_PAIRS = Layout("gpt2", _FAIRSEQ, "gpt2")
_LINES = Layout("bert", _BRACKETS, "bert")
OTHERS = {
    **dict.fromkeys(("GPT2", "Roberta", "Bart", "Longformer", "LED", "Mvp", "Blenderbot"), _PAIRS),
    "CodeGen": _PAIRS, "Deberta": Layout("gpt2", _BRACKETS, "gpt2"),
    "CLIP": Layout("clip", ("<|startoftext|>", "<|endoftext|>", "<s>"), "gpt2"),
    "Whisper": Layout("gpt2", ("<|endoftext|>", "<|startoftranscript|>", "<|notimestamps|>"), "gpt2"),
    "OpenAIGPT": Layout("gpt1", ("<unk>", "<s>"), "gpt2"),
    **dict.fromkeys(("Bert", "DistilBert", "Electra", "MobileBert", "LayoutLM", "ConvBert", "Lxmert",
                     "SqueezeBert"), _LINES),
    "DPRReader": _LINES, "MPNet": Layout("bert", (*_FAIRSEQ, "[UNK]"), "bert"),
    "Funnel": Layout("bert", ("<unk>", "<sep>", "<cls>", "<pad>", "<mask>", "<s>", "</s>"), "bert"),
}
"""The layout of each class with `vocab.json` and `merges.txt`, or with `vocab.txt`; its file is a format."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,!'`;:"
WORDS = ("the", "river", "stone", "##s", "##es", "two", "sp", "##ac", "##er", "up", "low", "東", "京", "▁")
"""Tokens of a vocabulary of BERT, besides the characters."""
AMINO = ("<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO.-", "<null_1>", "<mask>")
"""The lines of a vocabulary of proteins."""
LISTED = ("M2M100", "Marian", "Speech2Text")
"""Classes whose ids are in `vocab.json`."""
TEXTS = (
    "the river", "Stones, 12,345 and 3,", "", " ", "  two  spaces ", "a\tb\nc\r\nd", "naïve Ünïcode éÅ",
    "東京 ﬁne Ⅳ ㍿", "▁river ▁▁ stone", "😀👨‍👩‍👧 ok", "it's ``quoted'' don't",
    "UPPER lower.Mixed!!", "x" * 30,
    "\u200bzero\ufeff width\u00ad \u0085next", "rrrr the,the;the", "MEK L  AGX<mask>ba",
    "M\tE-K.\u00a0L LLLLL" + "A" * 120,
)
"""Texts on which classes differ."""


@functools.cache
def _model(recipe: str, specials: tuple[str, ...]) -> Tokenizer:
    size = {"llama2": 420, "gpt2": 350, "clip": 600, "gpt1": 200}.get(recipe, 150)
    taken = CLIP if recipe == "clip" else recipe
    return tokentui.train("sample:english", taken, vocab_size=size, specials=specials)


def write(folder: Path, name: str, **settings: object) -> Path:
    """Write the folder of a class, with further settings, and return its path."""
    folder.mkdir(exist_ok=True, parents=True)
    config = {"tokenizer_class": f"{name}Tokenizer", **settings}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    if name == "Esm":
        (folder / "vocab.txt").write_text("\n".join(AMINO))
        return folder
    if name in OTHERS:
        recipe, specials, format = OTHERS[name]
        if format == "bert":
            lines = (*specials, *_LETTERS, *(f"##{letter}" for letter in _LETTERS), *WORDS)
            (folder / "vocab.txt").write_text("\n".join(lines))
            return folder
        put(_model(recipe, specials), folder, format)
        if name == "CLIP":  # its vocabulary has each byte, also at the end of a word
            ids = json.loads((folder / "vocab.json").read_text())
            units = (unit + end for end in ("", "</w>") for unit in LETTERS)
            missing = dict.fromkeys(unit for unit in units if unit not in ids)
            ids |= {unit: len(ids) + n for n, unit in enumerate(missing)}
            (folder / "vocab.json").write_text(json.dumps(ids))
        return folder
    layout = LAYOUTS[name]
    model = _model(layout.recipe, layout.specials)
    put(model, folder / layout.file, "sentencepiece")
    if name == "Marian":
        put(model, folder / "target.spm", "sentencepiece")
    if name in LISTED:
        pieces = [entry.piece.decode() for entry in model.entries()][3:]
        kept = [piece for n, piece in enumerate(reversed(pieces)) if n % 20]  # some have no id
        names = ("<s>", "<pad>", "</s>", "<unk>", *kept, "▁elsewhere", ">>de<<")
        (folder / "vocab.json").write_text(json.dumps({piece: n for n, piece in enumerate(names)}))
    if name == "MLuke":
        entities = {entity: n for n, entity in enumerate(("[MASK]", "[UNK]", "[PAD]", "[MASK2]"))}
        (folder / "entity_vocab.json").write_text(json.dumps(entities))
    return folder
