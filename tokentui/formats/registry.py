"""The table of file formats: a record holds all that other rooms know of a format; its functions load when
they are called.

A new format is one module with `sniff`, `read` and, where it is written, `fit` and `write`, and one entry of
the table.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from tokentui.core.lazy import Ref

ASPECTS = (
    "counts", "recipe", "symbols", "space", "merges", "split", "normalize", "specials", "around", "flags",
    "dropout", "lengths",
)
"""The aspects of a tokenizer that a format keeps or loses, in the order in which losses are told; see
`proof.EXAMPLES`.
"""


@dataclass(frozen=True, slots=True)
class Holds:
    """The recipes that a format can hold. An empty tuple means any.

    Attributes:
        ways: The ways of encoding, by their names in `spec.WAYS`.
        units: Values of the axis `unit`.
        marks: Values of the axis `mark`, or kinds of them, such as `prefix`.
        splits: Values of the axis `split`.
        pattern: Whether the split has to be one pattern.
        normalize: Whether text may be normalised.
    """

    ways: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    pattern: bool = False
    normalize: bool = True


@dataclass(frozen=True, slots=True)
class Format:
    """A file format.

    Attributes:
        name: Its name in commands: `--format`, `--to`.
        about: What it is, in a few words.
        files: The usual name of its file, or the names of its files where it has several.
        sniff: Returns whether a `Source` is such a file, by its content.
        read: Returns the tokenizer of a `Source`.
        begins: (end of a name, pattern of the first bytes) of files that are tokenizers also where the rest
            is damaged; the pattern is empty where `sniff` tells by the first bytes.
        suffixes: The ends of file names that ask for the format when a tokenizer is written.
        fit: Brings a `Spec` into the shape of the format; None for a format that is only read.
        write: Returns the bytes of each file of what `fit` returned.
        holds: The recipes that it can hold.
        keeps: The names of `ASPECTS` that it keeps; all others are lost.
        also: Other names of its files, as many as `files` each.
    """

    name: str
    about: str
    files: tuple[str, ...]
    sniff: Callable[..., bool]
    read: Ref
    begins: tuple[tuple[str, bytes], ...] = ()
    suffixes: tuple[str, ...] = ()
    fit: Ref | None = None
    write: Ref | None = None
    holds: Holds = Holds()
    keeps: tuple[str, ...] = ()
    also: tuple[tuple[str, ...], ...] = ()

    @property
    def needs_split(self) -> bool:
        """Return whether the split has to be named where a file is read: it holds none."""
        return "split" not in self.keeps

    @property
    def says_text(self) -> bool:
        """Return whether the file, with the split named, says what is done to a text. Else the program that
        loads it says that.
        """
        return "normalize" in self.keeps


_STEPS = rb'"(?:truncation|padding|added_tokens|normalizer|pre_tokenizer|post_processor|decoder|model)"\s*:'
_IDS = rb'\s*\{\s*"(?:[^"\\]|\\.)+"\s*:\s*[0-9]+\s*[,}]'
_MERGES = rb'"?[\w.]*#version'
_BYTES = Holds(("merges", "ranks"), ("byte",), ("none",), pattern=True, normalize=False)

FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        Format(
            "tokentui", "the project's own, one JSON document", ("tokenizer.json",),
            Ref("tokentui.formats.native:sniff"), Ref("tokentui.formats.native:read"),
            ((".json", rb'\s*\{\s*"format"\s*:\s*"tokentui"'),), (".json",),
            Ref("tokentui.formats.native:fit"), Ref("tokentui.formats.native:write"), keeps=ASPECTS,
        ),
        Format(
            "huggingface", "Hugging Face's tokenizer.json", ("tokenizer.json",),
            Ref("tokentui.formats.huggingface.file:sniff"), Ref("tokentui.formats.huggingface.file:read"),
            ((".json", rb'\s*\{\s*"version"\s*:\s*"[0-9.]+"\s*,\s*' + _STEPS),
             ("tokenizer.json", rb"\s*\{.*" + _STEPS), (".hf.json", rb"\s*\{.*" + _STEPS)),
            (".hf.json",), Ref("tokentui.formats.huggingface.file:fit"),
            Ref("tokentui.formats.huggingface.file:write"),
            Holds(("merges", "ranks", "viterbi", "longest-match"), marks=("none", "prefix", "end-suffix")),
            ("symbols", "space", "merges", "split", "normalize", "specials", "around", "flags", "dropout",
             "lengths"),
        ),
        Format(
            "tiktoken", "tiktoken's ranks", ("ranks.tiktoken",),
            Ref("tokentui.formats.tiktoken:sniff"), Ref("tokentui.formats.tiktoken:read"),
            ((".tiktoken", b""),), (".tiktoken",),
            Ref("tokentui.formats.tiktoken:fit"), Ref("tokentui.formats.tiktoken:write"), _BYTES,
            ("merges", "normalize"),
        ),
        Format(
            "sentencepiece", "sentencepiece's .model", ("tokenizer.model",),
            Ref("tokentui.formats.sentencepiece.file:sniff"), Ref("tokentui.formats.sentencepiece.file:read"),
            ((".model", b""),), (".model",),
            Ref("tokentui.formats.sentencepiece.file:fit"), Ref("tokentui.formats.sentencepiece.file:write"),
            Holds(("merges", "ranks", "viterbi"), ("char",), ("none",), ("metaspace", "none")),
            ("symbols", "space", "merges", "split", "normalize", "specials", "around"),
        ),
        Format(
            "clip", "CLIP's bpe_simple_vocab", ("bpe_simple_vocab_16e6.txt",),
            Ref("tokentui.formats.clip:sniff"), Ref("tokentui.formats.clip:read"),
            (("vocab_16e6.txt", _MERGES),),
        ),
        Format(
            "gpt2", "vocab.json with merges.txt, of GPT-2, GPT-1 and CLIP", ("vocab.json", "merges.txt"),
            Ref("tokentui.formats.merge_files:sniff"), Ref("tokentui.formats.merge_files:read"),
            (("vocab.json", _IDS), ("encoder.json", _IDS), ("merges.txt", _MERGES), (".bpe", _MERGES)),
            ("vocab.json", "merges.txt"),
            Ref("tokentui.formats.merge_files:fit"), Ref("tokentui.formats.merge_files:write"),
            Holds(("merges", "ranks"), ("byte", "char"), ("none", "end-suffix:</w>")), ("merges", "specials"),
            (("encoder.json", "vocab.bpe"),),
        ),
        Format(
            "bert", "BERT's vocab.txt", ("vocab.txt",),
            Ref("tokentui.formats.vocab_txt:sniff"), Ref("tokentui.formats.vocab_txt:read"),
            (("vocab.txt", rb"\[(?:PAD|UNK|CLS|unused[0-9]+)\]\r?\n"),), ("vocab.txt",),
            Ref("tokentui.formats.vocab_txt:fit"), Ref("tokentui.formats.vocab_txt:write"),
            Holds(("longest-match",), ("char",), ("prefix:##",)), ("specials", "around"),
        ),
        Format(
            "subword-nmt", "subword-nmt's codes", ("bpe.codes",),
            Ref("tokentui.formats.subword_nmt:sniff"), Ref("tokentui.formats.subword_nmt:read"),
            ((".codes", _MERGES),), (".codes", "codes"),
            Ref("tokentui.formats.subword_nmt:fit"), Ref("tokentui.formats.subword_nmt:write"),
            Holds(("merges",), ("byte", "char"), ("end-suffix:</w>", "end-symbol:</w>")), ("merges",),
        ),
        Format(
            "minbpe", "minbpe's .model", ("tokenizer.model",),
            Ref("tokentui.formats.minbpe:sniff"), Ref("tokentui.formats.minbpe:read"),
            ((".model", rb"minbpe v[0-9]"),), (".minbpe.model", ".model"),
            Ref("tokentui.formats.minbpe:fit"), Ref("tokentui.formats.minbpe:write"), _BYTES,
            ("merges", "split", "normalize", "specials"),
        ),
        Format(
            "tekken", "Mistral's tekken.json", ("tekken.json",),
            Ref("tokentui.formats.tekken:sniff"), Ref("tokentui.formats.tekken:read"),
            ((".json", rb'\s*\{\s*"(?:config"\s*:\s*\{.*"(?:pattern|num_vocab_tokens)|vocab"\s*:\s*\[\s*\{\s*"rank")'),),
            ("tekken.json",), Ref("tokentui.formats.tekken:fit"),
            Ref("tokentui.formats.tekken:write"), _BYTES,
            ("merges", "split", "normalize", "specials"),
        ),
    )
}
"""The formats by name, in the order in which a file is tried. The first one is the project's own."""

OWN = next(iter(FORMATS.values()))
WRITTEN: dict[str, Format] = {name: format for name, format in FORMATS.items() if format.write is not None}
"""The formats that are written; what has no name to tell it by (standard output, a device) gets the first
one.
"""


def recognised(source: object) -> Format | None:
    """The format that a `Source` is of, None for none.

    Raises:
        TokentuiError: It begins like a JSON object and is damaged.
    """
    return next((format for format in FORMATS.values() if format.sniff(source)), None)


def named_like(path: str) -> list[tuple[Format, bytes]]:
    """The formats that files of such a name have, packed or not, each with the pattern of their first bytes.
    """
    name = os.path.basename(path).lower().removesuffix(".gz")
    return [(format, pattern) for format in FORMATS.values() for end, pattern in format.begins
            if name.endswith(end)]
