"""`tokentui diff`: what changed between two tokenizers, and which documents of a corpus change."""

from __future__ import annotations

import re

import click

from tokentui.analyze.diff import diff, report
from tokentui.cli.options import (
    COLOR,
    NAMED,
    PATH,
    QUIET,
    READING,
    SPLIT,
    Count,
    SharedOptions,
    corpus_argument,
    json_option,
    options,
)
from tokentui.cli.output import working, write_report
from tokentui.core.errors import TokentuiError
from tokentui.formats.files import load

SAME, DIFFERS = 0, 1
_SHARE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}) ?%")


@click.command(
    epilog="""\b
Examples:
  tokentui diff old.json new.json
  tokentui diff old.json new.json novel.txt --as lines
  tokentui diff old.json new.json novel.txt --max-growth 0.5%
  tokentui diff old.json new.json novel.txt --same-ids -q --json""",
)
@options(
    click.argument("old", metavar="A", type=PATH),
    click.argument("new", metavar="B", type=PATH),
    corpus_argument("[CORPUS]..."),
    *NAMED,
    SPLIT,
    *READING,
    click.option("--rows", metavar="N", type=Count(0), default=10,
                 help="The maximum number of rows in each table [default: 10]."),
    click.option("--same-ids", is_flag=True,
                 help="Fail only if an id of A belongs to another token in B, or to none, or if a text gets "
                 "other ids. Added tokens are allowed."),
    click.option("--max-growth", metavar="SHARE", help="Fail only if the number of tokens grows by more "
                 "than this, such as 0.5%, or if B cannot encode a document that A can."),
    json_option("Print one JSON row with all tokens, and the documents up to --rows."),
    COLOR,
    QUIET,
)
def command(
    shared: SharedOptions, old: str, new: str, rows: int, same_ids: bool, max_growth: str | None,
) -> int:
    """Show what changed from tokenizer A to tokenizer B: the first differing merge, moved ids, added and
    removed tokens, special tokens, steps, and the chat template. With CORPUS, also list the documents whose
    tokens change, largest change first. --as lines makes each line a document.

    The exit code is 1 if the tokenizers differ. With --same-ids or --max-growth, it is 1 only if that check
    fails.
    """
    share = None if max_growth is None else _share(max_growth)
    if share is not None:
        shared.require_corpus()
    split = shared.split_for_file("only the split of a file that does not store one")
    a, b = (load(path, otherwise=split) for path in (old, new))
    for path, tokenizer in ((old, a), (new, b)):
        shared.notice(f"{path}: {note}" for note in tokenizer.notes)
    with working(shared.quiet) as bar:
        corpus = shared.read_corpus(bar) if shared.sources else None
        with bar.phase("comparing"):
            changes = diff(a, b, corpus, rows=rows)
    bounds: dict[str, bool] = {}
    if same_ids:
        bounds["--same-ids"] = changes.same_ids
    if share is not None:
        bounds[f"--max-growth {max_growth}"] = not changes.grows_more(share)
    write_report(shared.as_json, report(changes, (old, new), (a, b), bounds, rows), shared.marks)
    return SAME if (all(bounds.values()) if bounds else changes.same) else DIFFERS


def _share(text: str) -> float:
    if (number := _SHARE.fullmatch(text.strip())) is None:
        raise TokentuiError("not a share", f"--max-growth {text[:40]}", "for example 0.5%")
    return float(number[1]) / 100

