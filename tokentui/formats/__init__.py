"""The table of file formats. A record has all that other rooms need to know of a format; its module is
imported at first use.

A new format is one module with a `Codec`, and one entry of the table.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from tokentui.core.choices import Ref
from tokentui.core.errors import TokentuiError
from tokentui.core.records import dataclass

if TYPE_CHECKING:
    from tokentui.encode.tokenizer import Tokenizer
    from tokentui.formats.source import Source
    from tokentui.formats.spec import Fitted, Spec

ASPECTS = (
    "counts", "recipe", "what_if", "symbols", "space", "merges", "split", "normalize", "specials", "around",
    "flags", "dropout", "lengths", "limit",
)
"""The aspects of a tokenizer that a format keeps or loses, in the order in which losses are reported; see
`proof.EXAMPLES`."""


@dataclass(frozen=True, slots=True)
class Holds:
    """The recipes that a format can represent. An empty tuple means any.

    Attributes:
        ways: Ways of encoding, by `EncodingWay.written`.
        units: Values of the axis `unit`.
        marks: Values of the axis `mark`, or kinds of them, such as `prefix`.
        splits: Values of the axis `split`.
        pattern: True if the split must be one pattern.
        normalize: True if text may be normalized.
    """

    ways: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    pattern: bool = False
    normalize: bool = True


def _only_read(given: object) -> NoReturn:
    raise TokentuiError("the format is read-only")


class Codec(NamedTuple):
    """The functions of a format.

    Attributes:
        sniff: Returns True if a file has the format, by its content.
        read: Returns the tokenizer of a file. Raises `TokentuiError`, with the place, if the file is damaged.
        to_format: Converts a tokenizer to the structure of the format. Raises `Unsupported` if that is
            impossible.
        write: Returns the bytes of each file of what `to_format` returned.
    """

    sniff: Callable[[Source], bool]
    read: Callable[[Source], Tokenizer]
    to_format: Callable[[Spec], Fitted] = _only_read
    write: Callable[[Fitted], tuple[bytes, ...]] = _only_read


@dataclass(frozen=True, slots=True)
class Format:
    """A file format.

    Attributes:
        name: Its name in commands: `--format`, `--to`.
        about: A short description.
        files: The usual name of its file, or the names of its files.
        functions: The `Codec` with its functions.
        begins: (suffix, pattern of the first bytes) of files that count as tokenizers even if the rest is
            damaged. The pattern is empty if `sniff` needs only the first bytes.
        suffixes: The suffixes that select the format for writing; empty if it is only read.
        holds: The recipes that it can represent.
        keeps: The names of `ASPECTS` that it keeps. All others are lost.
        also: Other names of its files, each as long as `files`.
        specials: The special tokens that other programs expect in it. If they include an unknown token, a
            tokenizer without one gets it as a new id on writing.
        takes_bytes: True if its programs take a text as bytes, which may be other than UTF-8.
        says: What its file, a JSON object, says under the key `format`; empty if only the functions can
            recognize a file.
    """

    name: str
    about: str
    files: tuple[str, ...]
    functions: Ref
    begins: tuple[tuple[str, bytes], ...] = ()
    suffixes: tuple[str, ...] = ()
    holds: Holds = Holds()
    keeps: tuple[str, ...] = ()
    also: tuple[tuple[str, ...], ...] = ()
    specials: tuple[str, ...] = ()
    takes_bytes: bool = False
    says: str = ""

    @property
    def codec(self) -> Codec:
        """The functions of the format. Their module is imported here."""
        codec: Codec = self.functions.resolve()
        return codec

    def recognizes(self, source: Source) -> bool:
        """Return whether a file has the format, by its content."""
        return source.document.get("format") == self.says if self.says else self.codec.sniff(source)

    @property
    def needs_split(self) -> bool:
        """True if the user must name the split of a file, because the format does not store it."""
        return "split" not in self.keeps

    @property
    def says_text(self) -> bool:
        """True if the file, together with a split, defines how text is prepared. For other formats the
        loading program decides that."""
        return "normalize" in self.keeps

    def added_unknown(self, specials: Iterable[str]) -> str:
        """Return the name of the unknown token that writing adds to these special tokens; empty for none.

        None is added if they include an unknown token, or the format expects none.
        """
        from tokentui.encode.vocabulary import UNKNOWN_NAMES  # the table of formats needs no vocabulary

        if not set(UNKNOWN_NAMES).isdisjoint(specials):
            return ""
        return next((name for name in self.specials if name in UNKNOWN_NAMES), "")


_STEPS = rb'"(?:truncation|padding|added_tokens|normalizer|pre_tokenizer|post_processor|decoder|model)"\s*:'
_IDS = rb'\s*\{\s*"(?:[^"\\]|\\.)+"\s*:\s*[0-9]+\s*[,}]'
_MERGES = rb'"?[\w.]*#version'
_RANKS = rb'vocab"\s*:\s*\[\s*\{\s*"rank")'
_BYTES = Holds(("merges", "ranks"), ("byte",), ("none",), pattern=True, normalize=False)

FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        Format(
            "tokentui", "tokentui's own format", ("tokenizer.json",),
            Ref("tokentui.formats.own:CODEC"), ((".json", rb'\s*\{\s*"format"\s*:\s*"tokentui"'),),
            (".json",),
            keeps=ASPECTS, takes_bytes=True, says="tokentui",
        ),
        Format(
            "huggingface", "Hugging Face's tokenizer.json", ("tokenizer.json",),
            Ref("tokentui.formats.huggingface.file:HUGGINGFACE"),
            (
                (".json", rb'\s*\{\s*"version"\s*:\s*"[0-9.]+"\s*,\s*' + _STEPS),
                ("tokenizer.json", rb"\s*\{.*" + _STEPS), (".hf.json", rb"\s*\{.*" + _STEPS),
            ),
            (".hf.json",),
            Holds(("merges", "ranks", "viterbi", "longest-match"), marks=("none", "prefix", "end-suffix")),
            ASPECTS[3:],
        ),
        Format(
            "gguf", "the vocabulary of a GGUF file", ("model.gguf",), Ref("tokentui.formats.gguf.file:GGUF"),
            ((".gguf", b""),), keeps=ASPECTS[3:], takes_bytes=True,
        ),
        Format(
            "tiktoken", "tiktoken's ranks", ("ranks.tiktoken",), Ref("tokentui.formats.byte_files:TIKTOKEN"),
            ((".tiktoken", b""),), (".tiktoken",), _BYTES, ("merges", "normalize"),
        ),
        Format(
            "sentencepiece", "sentencepiece's .model", ("tokenizer.model",),
            Ref("tokentui.formats.sentencepiece.file:SENTENCEPIECE"), ((".model", b""),), (".model",),
            Holds(("merges", "ranks", "viterbi"), ("char",), ("none",), ("metaspace", "none")),
            ("symbols", "space", "merges", "split", "normalize", "specials", "around"),
            specials=("<unk>", "<s>", "</s>"), takes_bytes=True,
        ),
        Format(
            "clip", "CLIP's bpe_simple_vocab", ("bpe_simple_vocab_16e6.txt",),
            Ref("tokentui.formats.merge_files:CLIP_FILE"),
            (("vocab_16e6.txt", _MERGES),),
        ),
        Format(
            "gpt2", "vocab.json with merges.txt, of GPT-2, GPT-1 and CLIP", ("vocab.json", "merges.txt"),
            Ref("tokentui.formats.merge_files:GPT2"),
            (("vocab.json", _IDS), ("encoder.json", _IDS), ("merges.txt", _MERGES), (".bpe", _MERGES)),
            ("vocab.json", "merges.txt"),
            Holds(("merges", "ranks"), ("byte", "char"), ("none", "end-suffix:</w>")), ("merges", "specials"),
            (("encoder.json", "vocab.bpe"),),
        ),
        Format(
            "rwkv", "RWKV's world vocabulary", ("rwkv_vocab_v20230424.txt",),
            Ref("tokentui.formats.rwkv:RWKV"),
            (("vocab_v20230424.txt", rb"[0-9]+ b?['\"]"),), ("vocab_v20230424.txt",),
            Holds(("longest-match",), ("byte",), ("none",), ("none",), normalize=False),
            ("split", "normalize"),
        ),
        Format(
            "bert", "BERT's vocab.txt", ("vocab.txt",), Ref("tokentui.formats.vocab_txt:BERT"),
            (("vocab.txt", rb"\[(?:PAD|UNK|CLS|unused[0-9]+)\]\r?\n"),), ("vocab.txt",),
            Holds(("longest-match",), ("char",), ("prefix:##",)), ("specials", "around", "limit"),
            specials=("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
        ),
        Format(
            "subword-nmt", "subword-nmt's codes", ("bpe.codes",), Ref("tokentui.formats.merge_files:CODES"),
            (("codes", _MERGES),), ("codes",),
            Holds(("merges",), ("byte", "char"), ("end-suffix:</w>", "end-symbol:</w>")), ("merges",),
        ),
        Format(
            "minbpe", "minbpe's .model", ("tokenizer.model",), Ref("tokentui.formats.byte_files:MINBPE"),
            ((".model", rb"minbpe v[0-9]"),), (".minbpe.model", ".model"), _BYTES,
            ("merges", "split", "normalize", "specials"),
        ),
        Format(
            "tekken", "Mistral's tekken.json", ("tekken.json",), Ref("tokentui.formats.byte_files:TEKKEN"),
            ((".json", rb'\s*\{\s*"(?:config"\s*:\s*\{.*"(?:pattern|num_vocab_tokens)|' + _RANKS),),
            ("tekken.json",), _BYTES, ("merges", "split", "normalize", "specials"),
        ),
    )
}
"""The formats by name, in the order in which a file is tried. The first one is the project's own."""

OWN = next(iter(FORMATS.values()))
WRITTEN: dict[str, Format] = {name: format for name, format in FORMATS.items() if format.suffixes}
"""The formats that can be written. The first is the default for targets without a file name, such as standard
output."""


def recognized(source: Source) -> Format | None:
    """Return the first format that recognizes a `Source`, None if none does. The name is ignored.

    Raises:
        TokentuiError: It begins like a JSON object but is damaged.
    """
    return next((format for format in FORMATS.values() if format.recognizes(source)), None)


def named_like(path: str) -> list[tuple[Format, bytes]]:
    """Return the formats of files with such a name, compressed or not, each with the pattern of their first
    bytes."""
    name = os.path.basename(path).lower().removesuffix(".gz")
    return [(format, pattern) for format in FORMATS.values() for end, pattern in format.begins
            if name.endswith(end)]
