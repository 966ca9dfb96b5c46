"""sentencepiece's `.model`: pieces with scores, and how a text is normalised, in a protocol buffer."""

from tokentui.formats.sentencepiece.reading import is_model, read

__all__ = ["is_model", "read"]
