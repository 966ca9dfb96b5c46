"""Kernels that train: merges by count and by score, Unigram."""
