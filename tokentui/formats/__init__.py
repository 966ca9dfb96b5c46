"""Tokenizers in files: `files` loads, saves and exports them, `registry` has the table of formats."""
