"""Analysis of tokenizers: measures, usage, agreement, the facts of a token, health, other libraries."""
