"""Kernels that read files of tokenizers."""
