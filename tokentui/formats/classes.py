"""The tokenizer classes of transformers whose files need the class: files without a `tokenizer.json`.

A `.model` of sentencepiece, a `vocab.json` with `merges.txt`, or a `vocab.txt` says neither which ids the
model uses nor which tokens come around a text. The class says it. `CLASSES` has one record a class; `REFUSED`
has the reason for each class that is not read. Source: `tokenization_*.py` of transformers 4.57 and 5.24.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from tokentui.core.records import dataclass
from tokentui.formats import languages
from tokentui.formats.published import KIMI, QWEN

Rows = tuple[tuple[str, ...], ...]

MODELS: tuple[str, ...] = (
    "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model", "sentencepiece.model",
    "spm_char.model",
)
"""The names of a file of sentencepiece."""
PAIRS: Rows = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))
LINES: Rows = (("vocab.txt",),)
ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
"""The roles of special tokens, in the order in which transformers adds those that a vocabulary lacks."""
LANGUAGE = "language"
"""The role of the token of the language of a text."""


@dataclass(frozen=True, slots=True)
class Numbering:
    """How a class numbers the pieces of a `.model`.

    Attributes:
        first: The names of the first ids. A piece with one of these names has that id.
        offset: What is added to the index of the other pieces.
        last: The names after the last piece.
        listed: True if a `vocab.json` has the ids. A piece that it lacks has the id of the unknown token.
    """

    first: tuple[str, ...] = ()
    offset: int = 0
    last: tuple[str, ...] = ()
    listed: bool = False


AS_MODEL = Numbering()


@dataclass(frozen=True, slots=True)
class Preparation:
    """What a class does to a text before sentencepiece reads it.

    Attributes:
        kind: A name in `sentencepiece.preparing.KINDS`; empty for nothing.
        flags: The settings that change it, with their defaults.
        commas: True if the class cuts a piece that ends with a digit and a comma again.
    """

    kind: str = ""
    flags: tuple[tuple[str, bool], ...] = ()
    commas: bool = False


def _google(*, lower: bool, accents: bool) -> Preparation:
    flags = (("do_lower_case", lower), ("remove_space", True), ("keep_accents", accents))
    return Preparation("google", flags, commas=True)


@dataclass(frozen=True, slots=True)
class TokenizerClass:
    """What a tokenizer class of transformers reads and adds.

    Attributes:
        files: The files of its vocabulary. The files of a row belong together; the first is read.
        split: The split that the class applies to a file without one; empty for none.
        unit: The unit of its tokens.
        encode: The way of encoding of its model; empty if the files determine it.
        specials: The names of the special tokens after the last rank, with `{}` for the id. Settings take
            precedence.
        tokens: The special token of each role, as `role=token`. Settings take precedence. Those that the
            vocabulary lacks get the ids after the last one.
        more: Further special tokens.
        around: The roles of the tokens around a text, with `*` for the text; empty if the files say it.
        language: The language of a text if the settings name none; empty for no token.
        spelled: How the token of a language is spelled, with `{}` for the language.
        numbering: How it numbers the pieces of a `.model`.
        preparation: What it does to a text before sentencepiece reads it.
        lines: How a `vocab.txt` is used: `wordpieces`, `words` (a word is one token or unknown), or `parts`
            (the longest tokens anywhere in a word).
        types: The `model_type` of models that use the class.
        remark: What it does to a text that is not done here; empty for none.
        newer: What transformers 5 does otherwise with these files; empty for nothing.
    """

    files: Rows
    split: str = ""
    unit: str = "byte"
    encode: str = ""
    specials: tuple[str, ...] = ()
    tokens: str = ""
    more: tuple[str, ...] = ()
    around: str = ""
    language: str = ""
    spelled: str = "{}"
    numbering: Numbering = AS_MODEL
    preparation: Preparation = Preparation()
    lines: str = "wordpieces"
    types: tuple[str, ...] = ()
    remark: str = ""
    newer: str = ""

    @property
    def named(self) -> dict[str, str]:
        """The special token of each role, in the order of `ROLES`."""
        tokens = dict(row.split("=", 1) for row in self.tokens.split())
        return {role: tokens[role] for role in ROLES if role in tokens}

    @property
    def fixed(self) -> bool:
        """True if `add_bos_token` and `add_eos_token` do not change the tokens around a text."""
        return not set(self.around.split()) <= {"bos", "*"}


class OfClass(NamedTuple):
    """What the reader of a file needs of its class.

    Attributes:
        known: The class.
        numbering: How it numbers the pieces of this model.
        listed: The ids of a `vocab.json`; empty for a class without one.
        settings: The settings of `tokenizer_config.json`.
    """

    known: TokenizerClass
    numbering: Numbering
    listed: Mapping[str, int]
    settings: Mapping[str, object]


_MOST_EXTRA = 10_000
"""The most special tokens that a setting may ask for."""


def _extra_ids(count: int) -> tuple[str, ...]:
    """Return the tokens of T5 for masked stretches, in the order of their ids."""
    return tuple(f"<extra_id_{n}>" for n in reversed(range(count)))


_FAIRSEQ = "bos=<s> eos=</s> unk=<unk> sep=</s> pad=<pad> cls=<s> mask=<mask>"
_BRACKETS = "bos=[CLS] eos=[SEP] unk=[UNK] sep=[SEP] pad=[PAD] cls=[CLS] mask=[MASK]"
_FIRST = ("<s>", "<pad>", "</s>", "<unk>")
"""The first ids of models of fairseq."""
_LOWER = (("do_lower_case", True),)
_SMILES = (
    r"regex:\[[^\]]+\]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\(|\)|\.|=|#|-|\+|\\|/|:|~|@|\?|>>?|\*|\$"
    r"|%[0-9]{2}|[0-9]"
)
"""The split of SMILES, the notation of molecules, by DeepChem."""
_MODEL = TokenizerClass(tuple((name,) for name in MODELS), unit="char", around="*")
_UNIGRAM = replace(_MODEL, encode="viterbi")
_LISTED = replace(
    _MODEL, numbering=Numbering(listed=True),
    files=tuple((name, "vocab.json") for name in ("sentencepiece.bpe.model", "spm.model")))
_LLAMA = replace(_MODEL, tokens="bos=<s> eos=</s> unk=<unk>", around="bos *", types=("llama",))
_T5 = replace(
    _UNIGRAM, tokens="eos=</s> unk=<unk> pad=<pad>", around="* eos",
    types=("t5", "mt5", "umt5", "longt5", "switch_transformers"),
    numbering=Numbering(last=_extra_ids(100)))
_FAIRSEQ_MODEL = replace(_UNIGRAM, tokens=_FAIRSEQ, around="cls * sep",
                         numbering=Numbering(_FIRST, 1, ("<mask>",)))
_GPT2 = TokenizerClass(
    PAIRS, "gpt2", tokens="bos=<|endoftext|> eos=<|endoftext|> unk=<|endoftext|>", around="*",
    types=("gpt2", "gptj", "codegen", "opt"))
_ROBERTA = TokenizerClass(PAIRS, "gpt2", tokens=_FAIRSEQ, around="cls * sep")
_BERT = TokenizerClass(LINES, unit="char", encode="longest-match", around="cls * sep",
                       tokens=_BRACKETS.removeprefix("bos=[CLS] eos=[SEP] "))

_CLASSES: Mapping[str, TokenizerClass] = {
    "Albert": replace(_UNIGRAM, tokens=_BRACKETS.replace("[UNK]", "<unk>").replace("[PAD]", "<pad>"),
                      around="cls * sep", preparation=_google(lower=True, accents=False), types=("albert",)),
    "Barthez": replace(_UNIGRAM, tokens=_FAIRSEQ, around="cls * sep", types=("barthez",)),
    "BertGeneration": replace(_MODEL, tokens="bos=<s> eos=</s> unk=<unk> sep=<::::> pad=<pad>",
                              types=("bert-generation",)),
    "BigBird": replace(_MODEL, around="cls * sep", types=("big_bird",),
                       tokens="bos=<s> eos=</s> unk=<unk> sep=[SEP] pad=<pad> cls=[CLS] mask=[MASK]"),
    "Camembert": replace(
        _FAIRSEQ_MODEL, types=("camembert",), more=("<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"),
        numbering=Numbering(("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED"), 4)),
    "CodeLlama": replace(_LLAMA, more=("▁<PRE>", "▁<MID>", "▁<SUF>", "▁<EOT>"), types=("code_llama",)),
    "DebertaV2": replace(_MODEL, tokens=_BRACKETS, around="cls * sep", types=("deberta-v2",),
                         preparation=Preparation("lower", (("do_lower_case", False),))),
    "FNet": replace(_MODEL, tokens="unk=<unk> sep=[SEP] pad=<pad> cls=[CLS] mask=[MASK]",
                    around="cls * sep", preparation=_google(lower=False, accents=True), types=("fnet",)),
    "GPTSw3": replace(_MODEL, tokens="bos=<s> eos=<|endoftext|> unk=<unk> pad=<pad>",
                      preparation=Preparation("gpt-sw3"), types=("gpt-sw3",)),
    "Gemma": replace(_MODEL, tokens="bos=<bos> eos=<eos> unk=<unk> pad=<pad>", around="bos *",
                     types=("gemma", "gemma2")),
    "LayoutXLM": replace(_FAIRSEQ_MODEL, types=("layoutxlm",),
                         remark="the class takes words with boxes; here the text is one such word"),
    "Llama": _LLAMA,
    "M2M100": replace(
        _LISTED, encode="viterbi", tokens="bos=<s> eos=</s> unk=<unk> sep=</s> pad=<pad>",
        around="language * eos", language="en", spelled="__{}__", types=("m2m_100",),
        numbering=Numbering(listed=True, last=tuple(f"__{code}__" for code in languages.M2M100))),
    "MBart": replace(
        _FAIRSEQ_MODEL, around="* eos language", language="en_XX", types=("mbart",),
        numbering=Numbering(_FIRST, 1, (*languages.MBART, "<mask>"))),
    "MBart50": replace(
        _FAIRSEQ_MODEL, tokens=_FAIRSEQ.removeprefix("bos=<s> "), around="language * eos", language="en_XX",
        types=(), numbering=Numbering(_FIRST, 1, (*languages.MBART50, "<mask>"))),
    "MLuke": replace(_FAIRSEQ_MODEL, more=("<ent>", "<ent2>"), types=("mluke",)),
    "MT5": _T5,
    "Marian": replace(
        _LISTED, tokens="eos=</s> unk=<unk> pad=<pad>", around="* eos", types=("marian",),
        files=(("source.spm", "vocab.json"), ("target.spm", "vocab.json"))),
    "Nllb": replace(
        _FAIRSEQ_MODEL, encode="", around="language * eos", language="eng_Latn", more=languages.NLLB,
        types=("nllb-moe",), numbering=Numbering(_FIRST, 1)),
    "PLBart": replace(
        _FAIRSEQ_MODEL, encode="", around="* eos language", types=("plbart",),
        numbering=Numbering(_FIRST, 1, ("__java__", "__python__", "__en_XX__", "<mask>"))),
    "Pegasus": replace(
        _UNIGRAM, tokens="eos=</s> unk=<unk> pad=<pad> mask=<mask_2>", around="* eos",
        types=("pegasus", "pegasus_x", "bigbird_pegasus"),
        numbering=Numbering(("<pad>", "</s>", "<mask_1>", "<mask_2>",
                             *(f"<unk_{n}>" for n in range(2, 103))), 103)),
    "Reformer": replace(_MODEL, tokens="eos=</s> unk=<unk>", types=("reformer",)),
    "RemBert": replace(_MODEL, tokens=_BRACKETS, around="cls * sep", types=("rembert",)),
    "SeamlessM4T": replace(
        _MODEL, tokens=_FAIRSEQ.removesuffix(" mask=<mask>"), around="language * eos", language="eng",
        spelled="__{}__", numbering=Numbering(("<pad>", "<unk>", "<s>", "</s>"), 1),
        types=("seamless_m4t", "seamless_m4t_v2")),
    "Siglip": replace(_UNIGRAM, tokens="eos=</s> unk=<unk> pad=</s>", around="* eos", types=("siglip",),
                      preparation=Preparation("siglip", _LOWER)),
    "Speech2Text": replace(
        _LISTED, tokens="bos=<s> eos=</s> unk=<unk> pad=<pad>", around="language * eos", spelled="<lang:{}>",
        types=("speech_to_text",)),
    "SpeechT5": replace(_MODEL, tokens="bos=<s> eos=</s> unk=<unk> pad=<pad>", around="* eos",
                        types=("speecht5",)),
    "T5": _T5,
    "XGLM": replace(
        _FAIRSEQ_MODEL, tokens=_FAIRSEQ.removesuffix(" mask=<mask>"), around="sep *", types=("xglm",),
        numbering=Numbering(_FIRST, 1, tuple(f"<madeupword{n}>" for n in range(7)))),
    "XLMRoberta": replace(_FAIRSEQ_MODEL, types=("xlm-roberta", "xlm-roberta-xl")),
    "XLNet": replace(_UNIGRAM, tokens="bos=<s> eos=</s> unk=<unk> sep=<sep> pad=<pad> cls=<cls> mask=<mask>",
                     around="* sep cls", more=("<eop>", "<eod>"), types=("xlnet",),
                     preparation=_google(lower=False, accents=False)),
    "GPT2": _GPT2,
    "CodeGen": replace(_GPT2, types=()),
    "Roberta": replace(_ROBERTA, types=("roberta", "data2vec-text", "ibert")),
    **{name: replace(_ROBERTA, types=(name.lower(),)) for name in ("Bart", "Longformer", "LED", "Mvp")},
    "Luke": replace(_ROBERTA, more=("<ent>", "<ent2>"), types=("luke",)),
    "Blenderbot": replace(_ROBERTA, around="* eos", types=("blenderbot",)),
    "Deberta": replace(_ROBERTA, tokens=_BRACKETS, types=("deberta",)),
    "CLIP": TokenizerClass(
        PAIRS, around="bos * eos", types=("clip", "clipseg", "owlvit"),
        tokens="bos=<|startoftext|> eos=<|endoftext|> unk=<|endoftext|> pad=<|endoftext|>"),
    "Whisper": replace(_GPT2, around="<|startoftranscript|> <|notimestamps|> * eos", types=("whisper",)),
    "OpenAIGPT": TokenizerClass(PAIRS, unit="char", tokens="unk=<unk>", around="*", types=("openai-gpt",)),
    "Qwen2": TokenizerClass(PAIRS, QWEN.split, around="*", types=("qwen2", "qwen3"),
                            tokens="eos=<|endoftext|> unk=<|endoftext|> pad=<|endoftext|>"),
    "Bert": replace(_BERT, types=("bert", "visual_bert", "megatron-bert", "nezha", "ernie")),
    **{name: replace(_BERT, types=(name.lower(),))
       for name in ("DistilBert", "Electra", "MobileBert", "LayoutLM", "ConvBert", "Lxmert", "SqueezeBert",
                    "RetriBert", "Realm")},
    **dict.fromkeys(("DPRReader", "DPRQuestionEncoder", "DPRContextEncoder"), _BERT),
    "MPNet": replace(_BERT, tokens=_FAIRSEQ.replace("unk=<unk>", "unk=[UNK]"), types=("mpnet",)),
    "Funnel": replace(
        _BERT, tokens="bos=<s> eos=</s> unk=<unk> sep=<sep> pad=<pad> cls=<cls> mask=<mask>",
        types=("funnel",)),
    "Esm": replace(_BERT, tokens="eos=<eos> unk=<unk> pad=<pad> cls=<cls> mask=<mask>", around="cls * eos",
                   split="whitespace", lines="parts", types=("esm",)),
    "Smiles": replace(_BERT, split=_SMILES, lines="words"),
    "QWen": TokenizerClass((("qwen.tiktoken",),), QWEN.split, specials=tuple(QWEN.specials)),
    "TikToken": TokenizerClass((("tiktoken.model",),), KIMI.split,
                               specials=(KIMI.reserved,) * len(KIMI.specials)),
}
_NORMALIZED = "it normalizes a text otherwise"
_AT_SPACE = "all white space ends a word"
_BARE = "it adds no tokens around a text"
_NEWER: Mapping[str, str] = {
    "Barthez": f"{_NORMALIZED}, and {_BARE}",
    "BigBird": f"{_NORMALIZED}, and merges in another order",
    "Blenderbot": f"it adds a space before a text, and {_BARE}",
    "Camembert": _AT_SPACE, "MT5": _AT_SPACE, "T5": _AT_SPACE, "XLMRoberta": _AT_SPACE,
    "CodeLlama": "a text that begins with a space gets no other one",
    "DebertaV2": _NORMALIZED, "MBart": f"{_NORMALIZED}, and {_AT_SPACE}", "MBart50": _NORMALIZED,
    "FNet": f"{_NORMALIZED}, and {_BARE}",
    "Gemma": f"{_BARE} without add_bos_token",
    "Llama": f"a text that begins with a space gets no other one, and {_BARE} without add_bos_token",
    "MLuke": "it gives the ids of the model",
    "Nllb": f"{_NORMALIZED}, and knows no language that the settings do not name",
    "Pegasus": _NORMALIZED, "Reformer": _NORMALIZED,
    "RemBert": f"{_NORMALIZED}, and {_BARE}",
    "SeamlessM4T": _NORMALIZED,
    "XGLM": "it does not read the model: each word is unknown",
}
CLASSES: Mapping[str, TokenizerClass] = {
    name: replace(known, newer=_NEWER.get(name, "")) for name, known in _CLASSES.items()
}
"""The classes by name, without `Tokenizer` or `TokenizerFast`."""
REFUSED: Mapping[str, str] = {
    "BartPho": "its ids are in dict.txt",
    "BertJapanese": "it cuts words with MeCab, Sudachi or Juman++",
    "Bertweet": "it rewrites words of tweets",
    "BioGpt": "it cuts words with Moses",
    "BlenderbotSmall": "it cuts words by rules of its own",
    "CTRL": "it marks the inside of words by @@",
    "Clvp": "it spells numbers in words",
    "Cpm": "it cuts words with a dictionary of jieba",
    "ErnieM": "its ids are in vocab.txt",
    "FSMT": "it cuts words with Moses",
    "Flaubert": "it cuts words with Moses",
    "GPTNeoXJapanese": "it cuts words by rules of its own",
    "Herbert": "it cuts words by rules of its own",
    "LayoutLMv3": "it takes words with boxes",
    "LayoutLMv2": "it takes words with boxes",
    "MarkupLM": "it takes nodes of HTML",
    "Phobert": "it marks the inside of words by @@",
    "RoCBert": "it gives three ids to a character",
    "RoFormer": "it cuts words with a dictionary of jieba",
    "Splinter": "it puts a token for a question around a text",
    "Tapas": "it takes tables",
    "Udop": "it takes words with boxes",
    "XLM": "it cuts words with Moses",
    "XLMProphetNet": "its ids are in prophetnet.tokenizer",
}
"""The reason for each class that is known and not read."""
GENERIC = ("", "PreTrained", "TokenizersBackend", "SentencePieceBackend", "PythonBackend")
"""Names that say nothing about a file."""


def short_name(name: str) -> str:
    """Return the name of a class without `Tokenizer` and `Fast`."""
    return name.removesuffix("Fast").removesuffix("Tokenizer")


def class_of_type(model_type: object) -> str:
    """Return the class of a `model_type`, as its full name; empty for an unknown one."""
    return next((f"{name}Tokenizer" for name, known in CLASSES.items() if model_type in known.types), "")


def numbering_by(
    known: TokenizerClass, settings: Mapping[str, object], named: Mapping[str, str]
) -> Numbering:
    """Return how a class numbers the pieces, by its settings.

    Args:
        known: The class.
        settings: The settings of `tokenizer_config.json`.
        named: The special token of each role.
    """
    numbering, extra, offset = known.numbering, settings.get("extra_ids"), settings.get("offset")
    if known.numbering is _T5.numbering and type(extra) is int and 0 <= extra <= _MOST_EXTRA:
        return Numbering(last=_extra_ids(extra))
    if known is CLASSES["Pegasus"]:
        sentences = settings.get("mask_token_sent", "<mask_1>")
        offset = offset if type(offset) is int and 0 <= offset <= _MOST_EXTRA else numbering.offset
        masks = (sentences, named["mask"]) if isinstance(sentences, str) else ()
        return Numbering((named["pad"], named["eos"], *masks, *(f"<unk_{n}>" for n in range(2, offset))),
                         offset)
    if known is CLASSES["PLBart"] and settings.get("language_codes") == "multi":
        return replace(numbering, last=(*numbering.last[:3], *(
            f"__{code}__" for code in ("javascript", "php", "ruby", "go"))))
    return numbering
