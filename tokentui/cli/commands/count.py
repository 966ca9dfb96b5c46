"""`tokentui count`: count the distinct pre-tokens of a corpus of any size."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO, cast

import click

from tokentui.cli import output as out
from tokentui.cli.commands.convert import STDOUT
from tokentui.cli.options import CORPUS, PATH, QUIET, READING, RECIPE, Count, SharedOptions, options
from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import tick
from tokentui.recipe import Recipe
from tokentui.text import counted
from tokentui.text.blocks import Remarks
from tokentui.text.counting import counting_of
from tokentui.text.plan import Plan, plan
from tokentui.text.tally import Store, count_here


@click.command(
    epilog="""\b
Examples:
  tokentui count novel.txt -r gpt2 -o novel.counts.tsv
  tokentui count texts/ more.jsonl -r gpt2 -o all.parquet --top 1000000
  tokentui count 's3://bucket/texts/*.txt' -r gpt4 -o s3.counts.tsv.gz
  tokentui count texts/ -r gpt2 -o all.counts.tsv --scheduler tcp://10.0.0.1:8786
  tokentui count day1.counts.tsv day2.counts.tsv -r gpt2 -o both.counts.tsv
  tokentui train all.parquet --as counts -r gpt2 --vocab-size 50257 -o my.json""",
)
@options(
    CORPUS,
    *RECIPE,
    *READING,
    click.option("-o", "--output", metavar="FILE", type=PATH, required=True,
                 help=f"Write the counts to FILE ({', '.join(kind.ends[0] for kind in counted.KINDS)}); - is "
                      "standard output."),
    click.option("--scheduler", metavar="ADDRESS", help="Count on the Dask cluster at this address. local "
                 "and local:N start a cluster of N processes on this machine."),
    click.option("--top", metavar="N", type=Count(1), help="Keep only the N most frequent pre-tokens."),
    QUIET,
)
def command(shared: SharedOptions, output: str, scheduler: str | None, top: int | None) -> int:
    """Count the distinct pre-tokens of CORPUS, in order of first appearance. train and the explorer read the
    counts as a corpus. The first row of the file, or the metadata of a Parquet table, stores the
    normalization and the split. Standard output has no such row.

    Only parts of the text are in memory at a time. Text that is larger than the free memory is counted on a
    local Dask cluster, if Dask is installed. If CORPUS contains counts, they are added up.
    """
    recipe, _ = shared.required_recipe()
    if output != STDOUT:
        counted.counts_format(output)
        out.check_target(output)
    from tokentui.formats.refusing import refuse_tokenizers

    refuse_tokenizers(shared.sources, shared.read_as)
    with out.working(shared.quiet) as bar, Store(int(limits.now().count_memory)) as store:
        with bar.phase("looking"):
            planned = plan(shared.sources, recipe, shared.read_as, shared.field)
        address = scheduler or _default_scheduler(planned, shared)
        with bar.phase("counting"):
            noticed = _count(address, planned, recipe, shared.field, store)
        bar.close()
        if planned.folders and not noticed.taken:
            why = ", ".join(noticed.sentences) or "it is empty"
            raise TokentuiError("no text file in this folder", planned.folders[0], why)
        shared.notice(noticed.sentences)
        if store.spilled:
            what = "the words exceed the limit count-memory"
            shared.notice([f"{what}: sorting them on disk, in {store.spilled}"])
        rows = _with_progress(store.rows(top))
        with bar.phase("writing"):
            if output == STDOUT:
                counted.PLAIN.write(cast(BinaryIO, _Stdout()), rows, STDOUT, "")
            else:
                counted.write(output, rows, counting_of(recipe))
        kept = min(store.words, top or store.words)
    most = f", kept the {kept:,} most frequent" if kept < store.words else ""
    parts = f"{len(planned.parts):,} part{'s' * (len(planned.parts) != 1)}"
    shared.notice([f"{store.occurrences:,} pre-tokens, {store.words:,} distinct{most}, in {parts}"])
    return 0


class _Stdout:
    """Standard output as a binary file."""

    def write(self, data: bytes) -> int:
        """Write bytes."""
        out.write_file(data)
        return len(data)


def _with_progress(rows: Iterator[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Yield rows, and report progress every 4,096 rows."""
    for number, row in enumerate(rows):
        if number % 4096 == 0:
            tick(number)
        yield row


def _default_scheduler(planned: Plan, shared: SharedOptions) -> str:
    """Return the default scheduler: a local cluster if the text is larger than the free memory and Dask is
    installed, else empty. Prints a notice if it is a cluster."""
    from tokentui.text.cluster import LOCAL, installed  # Dask itself is not loaded by it

    if planned.size <= _free_memory() or not installed():
        return ""
    shared.notice([f"the text is larger than the free memory: counting on {LOCAL} processes with Dask"])
    return LOCAL


def _free_memory() -> int:
    """Return the free memory in bytes, or a very large number if unknown."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 1 << 62


def _count(address: str, planned: Plan, recipe: Recipe, field: str, store: Store) -> Remarks:
    """Count the pre-tokens into `store`, on a cluster if there is an address, else in this process. Return
    what was noticed."""
    if address:
        from tokentui.text.cluster import count_on

        return count_on(address, planned, recipe, field, store)
    return count_here(planned, recipe, field, store)
