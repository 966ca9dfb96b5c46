"""Tokenizer files that were given as a corpus: formats are imported only for a name that one has."""

from __future__ import annotations

import os

from tokentui.core.errors import TokentuiError
from tokentui.formats import named_like
from tokentui.text.named import sources_in


def refuse_tokenizers(source: object, as_: str | None, option: str = "--as text") -> None:
    """Refuse tokenizer files among the sources of a corpus, unless `as_` names the way to read them.

    Args:
        source: The sources, as `read` takes them.
        as_: How to read the files, one of `READ_AS`; None to decide by their names.
        option: The option that reads a file as text, for the hint.

    Raises:
        TokentuiError: A source is a tokenizer. If it is damaged, the message has the fault and its place.
    """
    if as_ is not None:
        return
    for name in sources_in(source):
        path = os.fspath(name) if isinstance(name, str | os.PathLike) else None
        if not isinstance(path, str) or not named_like(path):
            continue
        from tokentui.formats.files import mistaken  # with it come all formats

        if error := mistaken(path):
            raise TokentuiError(error.what, error.where, f"name a text, or use {option} to read it as one")
