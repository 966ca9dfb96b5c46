"""Tools that know nothing of tokenizers: errors, limits, files, safe text, compiled kernels."""
