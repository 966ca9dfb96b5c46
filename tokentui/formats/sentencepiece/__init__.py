"""sentencepiece's `.model`: pieces with scores, and how a text is normalised, in a protocol buffer."""
