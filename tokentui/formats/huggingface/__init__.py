"""Hugging Face's `tokenizer.json`: one document with the model and every step before and after it.

Source of the rules: huggingface/tokenizers, `3ba8ad0` of June 2026, which writes and reads these files.
"""
