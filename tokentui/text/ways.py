"""The ways to read a file, apart from the reading: the words of a command are known before anything is read."""

from __future__ import annotations

READ_AS = {
    "text": "a document a file",
    "lines": "a document a line, line ends left out",
    "jsonl": "a document a row of JSON",
    "counts": "a word a row, with its count",
}
"""By their names."""

_TOKENIZER_ENDS = (".json", ".model", ".tiktoken", ".bpe", ".codes", "merges.txt", "vocab.txt", "vocab_16e6.txt")


def named_like_tokenizer(path: str) -> bool:
    """Whether a file's name is one that tokenizers have, packed or not. Its content tells whether it is one."""
    return path.lower().removesuffix(".gz").endswith(_TOKENIZER_ENDS)
