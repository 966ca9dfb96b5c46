"""Presets: the recipes of known tokenizers, one line each in `PRESETS`.

A preset says how a system is trained; its run has the size that the authors chose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, fields, replace
from functools import cache, partial
from typing import Any

from tokentui.core.errors import TokentuiError, name_of, nearest
from tokentui.core.records import dataclass
from tokentui.recipe import Recipe, Run, Stops


@dataclass(frozen=True, slots=True)
class Preset:
    """A named recipe.

    Attributes:
        name: Its name.
        family: The heading that it is listed under.
        about: A description in one line.
        source: Where its settings come from.
        recipe: The recipe of the system.
        run: The size, special tokens and first id of the published system. They are used only on request.
    """

    name: str
    family: str
    about: str
    source: str
    recipe: Recipe
    run: Run = field(default_factory=Run)


_GPT2 = Recipe()
_PLAIN = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")
_BYTES = Recipe(unit="byte", base="bytes", tie="first-seen", unknown="never")
_PIECE = Recipe(
    normalize=("nmt-nfkc",), split="metaspace", unit="char", base="frequency", tie="shortest",
    pieces="sentencepiece", unknown="fused",
)
_BERT = Recipe(
    normalize=("bert-uncased",), split="bert", unit="char", mark="prefix:##", base="sorted",
    encode="longest-match", unknown="whole-word",
)
_UNIGRAM = replace(_PIECE, objective="unigram", encode="viterbi")
_XLNET = ("<eop>", ".", "(", ")", '"', "-", "–", "£", "€")
"""The user-defined symbols of XLNet's model, and the order of their ids."""
_SPM = ("<unk>", "<s>", "</s>")
_BERT_SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def _like(recipe: Recipe, **axes: Any) -> Callable[[], Recipe]:
    """Return a function that makes a recipe which differs from another one in some axes."""
    return partial(replace, recipe, **axes)


class _Presets(Mapping[str, Preset]):
    """The presets by name. Each is made at its first access: making all takes 3 % of the instructions of a
    first training of 1 MB."""

    def __init__(self, *rows: tuple[str, Callable[[], Preset]]) -> None:
        self._rows = dict(rows)

    def __getitem__(self, name: str) -> Preset:
        return self._rows[name]()

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _preset(
    name: str, family: str, about: str, source: str, recipe: Callable[[], Recipe],
    specials: tuple[str, ...] = (), first_id: int = 0, **stops: int,
) -> tuple[str, Callable[[], Preset]]:
    """Return the name of a preset, and a function that makes it once."""

    @cache
    def make() -> Preset:
        return Preset(name, family, about, source, recipe(), Run(Stops(**stops), first_id, specials))

    return name, make


PRESETS: Mapping[str, Preset] = _Presets(
    _preset("gpt2", "GPT", "GPT-2 and GPT-3: byte-level BPE",
            "openai/gpt-2; retrained as Hugging Face does", _like(_GPT2), ("<|endoftext|>",),
            vocab_size=50257),
    _preset("gpt4", "GPT", "GPT-4 (cl100k): case-blind contractions, numbers by three", "openai/tiktoken",
            _like(_GPT2, split="cl100k"), vocab_size=100256),
    _preset("gpt4o", "GPT", "GPT-4o (o200k): words cut by case", "openai/tiktoken",
            _like(_GPT2, split="o200k"), vocab_size=199998),
    _preset("gpt1", "GPT", "GPT-1: characters, </w> attached to the last one",
            "openai/finetune-transformer-lm", _like(_PLAIN, normalize=("bert-uncased",), split="bert",
            mark="end-suffix:</w>", tie="largest-pair", unknown="per-unit"), ("<unk>",), merges=40000),
    _preset("llama3", "Llama", "Llama-3: byte-level BPE on the GPT-4 pattern as published",
            "meta-llama/llama3", _like(_GPT2, split="llama3"), vocab_size=128000),
    _preset("llama2", "Llama",
            "Llama-2: sentencepiece BPE, single digits, byte fallback, without tokens for runs of spaces",
            "sentencepiece 0.2.3", _like(_PIECE, normalize=(), unknown="byte-fallback",
            pieces="sentencepiece-digits", coverage=0.99995), _SPM, vocab_size=32000),
    _preset("falcon", "Falcon", "Falcon: punctuation apart, digits by three", "tiiuae/falcon-7b",
            _like(_GPT2, split="falcon"), vocab_size=65024),
    _preset("jurassic", "AI21", "Jurassic: bytes of whole texts, not pre-tokenized", "COMP 336 slides",
            _like(_BYTES, split="none"), vocab_size=256000),
    _preset("sentencepiece-bpe", "sentencepiece",
            "sentencepiece's BPE, its defaults; it reads lines (--as lines)", "sentencepiece 0.2.3",
            _like(_PIECE, coverage=0.9995), _SPM, vocab_size=8000),
    _preset("sentencepiece-unigram", "sentencepiece",
            "a unigram model, pruned; it reads lines (--as lines)", "sentencepiece 0.2.3",
            _like(_UNIGRAM, coverage=0.9995), _SPM, vocab_size=8000),
    _preset("t5", "sentencepiece", "T5: unigram", "google-research/text-to-text-transfer-transformer",
            _like(_UNIGRAM), ("<pad>", "</s>", "<unk>"), vocab_size=32000),
    _preset("albert", "sentencepiece", "ALBERT: unigram, lower case", "google-research/albert",
            _like(_UNIGRAM, normalize=("nmt-nfkc", "lowercase")),
            ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"), vocab_size=30000),
    _preset("xlnet", "sentencepiece", "XLNet: unigram, some signs as symbols", "zihangdai/xlnet",
            _like(_UNIGRAM, coverage=0.99995, symbols=_XLNET), _SPM, vocab_size=32000),
    _preset("bert", "BERT", "BERT as Hugging Face trains it: BPE by count with ##",
            "tokenizers, WordPieceTrainer", _like(_BERT, base="alphabet", tie="lowest-ids"),
            _BERT_SPECIALS, vocab_size=30522),
    _preset("wordpiece", "BERT", "WordPiece by score: c(xy)/(c(x)·c(y))",
            "Hugging Face course, chapter 6", _like(_BERT, tie="first-seen", objective="score"),
            _BERT_SPECIALS, vocab_size=30522),
    _preset("subword-nmt", "translation", "Sennrich's BPE 0.2: </w> attached to the last character",
            "subword-nmt 0.3.8", _like(_PLAIN, split="space", mark="end-suffix:</w>",
            tie="largest-pair", unknown="pass-through"), merges=10000, min_count=2),
    _preset("subword-nmt-0.1", "translation", "Sennrich's BPE 0.1: </w> as a separate unit",
            "subword-nmt 0.3.8", _like(_PLAIN, split="space", mark="end-symbol:</w>",
            tie="largest-pair", unknown="pass-through"), merges=10000, min_count=2),
    _preset("hf-bpe", "Hugging Face", "Hugging Face's BpeTrainer on words of characters",
            "tokenizers 0.23.3, BpeTrainer", _like(_PLAIN, tie="lowest-ids", unknown="drop"),
            vocab_size=30000),
    _preset("minbpe", "teaching", "minbpe's RegexTokenizer", "karpathy/minbpe", _like(_BYTES,
            split="cl100k-classic"), vocab_size=32768),
    _preset("minbpe-basic", "teaching", "minbpe's BasicTokenizer: bytes, no pre-tokenization",
            "karpathy/minbpe", _like(_BYTES, split="none"), vocab_size=512),
    _preset("rustbpe", "teaching", "rustbpe's trainer (bpeasy ties alike), GPT-4's pattern",
            "rustbpe 0.1.0", _like(_BYTES, split="cl100k-classic", tie="lowest-ids"),
            vocab_size=32768),
    _preset("nanochat", "teaching", "nanochat: rustbpe's trainer, digits by two", "karpathy/nanochat",
            _like(_BYTES, split="nanochat", tie="lowest-ids"), vocab_size=32759),
    _preset("tiktoken-edu", "teaching", "tiktoken's educational module",
            "tiktoken 0.14.0, _educational.py", _like(_BYTES, split="gpt2"), vocab_size=600),
    _preset("cs336", "teaching", "CS336, assignment 1: GPT-2's pattern, bytes, largest pair",
            "Stanford CS336, assignment 1", _like(_BYTES, split="gpt2", tie="largest-pair"),
            ("<|endoftext|>",), vocab_size=10000),
    _preset("minbpe-gpt2", "teaching", "minbpe's RegexTokenizer with GPT-2's pattern",
            "karpathy/minbpe", _like(_BYTES, split="gpt2"), vocab_size=512),
    _preset("hf-course-bpe", "teaching", "Hugging Face course: BPE on the bytes that occur",
            "Hugging Face course, chapter 6",
            _like(_BYTES, split="gpt2", base="sorted", unknown="drop"),
            ("<|endoftext|>",), vocab_size=50),
    _preset("hf-course-wordpiece", "teaching", "Hugging Face course: WordPiece by score",
            "Hugging Face course, chapter 6", _like(_BERT, normalize=(), tie="first-seen",
            objective="score"), _BERT_SPECIALS, vocab_size=70),
    _preset("hf-course-unigram", "teaching", "Hugging Face course: Unigram, as sentencepiece trains it",
            "Hugging Face course, chapter 6", _like(_UNIGRAM, normalize=()), ("<unk>",),
            vocab_size=100),
    _preset("swift-talk", "documents", "Swift Talk: characters as a reader sees them",
            "Swift Talk, byte-pair encoding", _like(_PLAIN, unit="grapheme", base="first-seen"),
            merges=10),
    _preset("swift-talk-distinct", "documents", "Swift Talk's shortcut: each distinct word counts once",
            "Swift Talk, byte-pair encoding", _like(_PLAIN, unit="grapheme", base="first-seen",
            weight="distinct"), merges=10),
    _preset("udl-notebook", "documents",
            "Understanding Deep Learning, notebook 12.3: </w> as a separate unit",
            "Prince, Understanding Deep Learning", _like(_PLAIN, mark="end-symbol:</w>",
            base="first-seen"), merges=50),
    _preset("comp336", "documents", "COMP 336: cut before spaces and punctuation, which stay in tokens",
            "COMP 336 slides", _like(_PLAIN, split="before"), first_id=1, vocab_size=20),
    _preset("comp336-no-spaces", "documents", "COMP 336: spaces dropped, # in front of what continues",
            "COMP 336 slides", _like(_PLAIN, split="bert", mark="prefix:#"), first_id=1, vocab_size=24),
    _preset("comp336-no-pretokenization", "documents", "COMP 336: tokens may cross words",
            "COMP 336 slides", _like(_PLAIN, split="none"), merges=100),
    _preset("comp336-bytes", "documents", "COMP 336: bytes of whole texts", "COMP 336 slides",
            _like(_BYTES, split="none"), merges=100),
    _preset("wicaksono-bpe", "documents", "Wicaksono's slides: BPE on words",
            "Wicaksono, subword tokenization", _like(_PLAIN, base="first-seen", tie="largest-pair"),
            vocab_size=13),
    _preset("wicaksono-wordpiece", "documents", "Wicaksono's slides: WordPiece by score",
            "Wicaksono, subword tokenization", _like(_PLAIN, mark="prefix:##", objective="score",
            encode="longest-match", unknown="rest-of-word"), ("[UNK]",), vocab_size=30),
    _preset("gage", "documents", "Gage 1994: a free byte replaces the most frequent pair",
            "Gage, A New Algorithm for Data Compression", _like(_BYTES, split="none",
            tie="largest-pair", objective="gage"), min_count=2),
    _preset("superbpe", "papers", "SuperBPE: tokens cross words after 1,000 merges (paper: 100,000)",
            "Liu et al. 2025", _like(_GPT2, split="superwords", objective="superbpe:at=1000")),
    _preset("boundlessbpe", "papers", "BoundlessBPE: whole words join, once they are tokens",
            "Schmidt et al. 2025", _like(_BYTES, split="none", tie="smallest-pair",
            objective="boundless:threshold=0.9")),
    _preset("pickybpe", "papers", "PickyBPE: a part that rarely occurs on its own is removed",
            "Chizhov et al. 2024", _like(_PIECE, normalize=(), base="sorted", tie="smallest-pair",
            pieces="any", objective="picky:threshold=0.9", unknown="per-unit", coverage=0.9999),
            ("<pad>", "<unk>", "<s>", "</s>"), vocab_size=8192),
    _preset("greedtok", "papers", "GreedTok: the text whose cover saves the most tokens",
            "Lim et al. 2025",
            _like(_GPT2, tie="smallest-pair", objective="greedtok")),
    _preset("length-max", "papers", "Length-MAX: runs of 2 to 5 tokens by count times length",
            "Dong and Su 2025", _like(_GPT2, tie="smallest-pair", objective="length-max:most=5,by=tokens")),
    _preset("pathpiece", "papers", "PathPiece: removes the tokens whose absence lengthens the text least",
            "Schmidt et al. 2024", _like(_GPT2, objective="pathpiece:longest=16", encode="fewest-tokens")),
)
"""The presets by name."""


def presets() -> tuple[Preset, ...]:
    """Return all presets, family by family."""
    return tuple(PRESETS.values())


@dataclass(frozen=True, slots=True)
class Published(Recipe):
    """A recipe with the size, special tokens and first id that it was published with.

    Attributes:
        run: These settings.
    """

    run: Run = field(default_factory=Run)

    @property
    def plain(self) -> Recipe:
        """The recipe without the run."""
        return Recipe(**{axis.name: getattr(self, axis.name) for axis in fields(Recipe)})


def resolved(recipe: Recipe | str, published: bool = False) -> tuple[Recipe, Run]:
    """Return a recipe, and the run that it was published with.

    Args:
        recipe: A recipe, or the name of a preset.
        published: Whether to return the published run; otherwise the run is empty. A `Published` recipe
            always has its run.

    Raises:
        TokentuiError: The preset is unknown, or `published` is set for a recipe that is no preset.
    """
    if isinstance(recipe, Published):
        return recipe.plain, recipe.run
    name = recipe if isinstance(recipe, str) else preset_of(recipe) if published else ""
    if published and not name:
        raise TokentuiError("this recipe is not a preset", "published=True", "name a preset")
    known = preset_named(name) if name else None
    plain = recipe if isinstance(recipe, Recipe) else preset_named(recipe).recipe
    return plain, known.run if known is not None and published else Run()


REMOVED = {"scaffold-bpe": "pickybpe"}
"""Presets of earlier versions, and the preset to use in place of each."""


def preset_named(name: str) -> Preset:
    """Return the preset of this name.

    Raises:
        TokentuiError: There is none, or it was removed; the hint names another one.
    """
    if name_of(name, "preset") in REMOVED:
        raise TokentuiError("this preset was removed", name, f"use {REMOVED[name]}")
    if name not in PRESETS:
        raise TokentuiError("no such preset", name or "''", nearest(name, PRESETS))
    return PRESETS[name]


def preset_of(recipe: Recipe) -> str:
    """Return the name of the first preset with this recipe, empty if none has it."""
    return next((preset.name for preset in PRESETS.values() if preset.recipe == recipe), "")
