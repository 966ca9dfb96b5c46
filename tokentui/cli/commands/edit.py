"""`tokentui edit`: a changed vocabulary, with the map from old ids to new ones."""

from __future__ import annotations

from dataclasses import replace

import click

from tokentui.analyze.edit import add, changes, id_map, init_file, new_ids, prune, unchanged
from tokentui.analyze.edit import report as report_on
from tokentui.analyze.grow import extend, merge
from tokentui.cli import output as out
from tokentui.cli.commands.convert import STDOUT, check_output
from tokentui.cli.options import (
    CLASS,
    COUNT_HINT,
    EXACT,
    PATH,
    QUIET,
    READING,
    SPLIT,
    Count,
    SharedOptions,
    corpus_option,
    format_option,
    json_option,
    options,
)
from tokentui.core.errors import TokentuiError
from tokentui.core.files import write_together
from tokentui.formats.files import format_of, load, targets, written_format
from tokentui.formats.proof import contents

DONE, DIFFERS = 0, 1
_LISTED = 10


@click.command(
    epilog="""\b
Examples:
  tokentui edit novel.json out.json --prune novel.txt --keep 300 --map ids.npy
  tokentui edit tokenizer.json chat.hf.json --special "<|user|>" --add tokenizer
  tokentui edit novel.json small.json --prune en.txt --as lines --json
  tokentui edit tokenizer.json longer.hf.json --extend novel.txt --vocab-size 2000
  tokentui edit novel.json more.json --extend en.txt --vocab-size 2000 --init rows.json
  tokentui edit novel.json both.json --merge theirs.json""",
)
@options(
    click.argument("source", metavar="IN", type=PATH),
    click.argument("output", metavar="OUT", type=PATH),
    CLASS,
    click.option("--add", "texts", metavar="TEXT", multiple=True, help="Add a token that is matched in text "
                 "exactly. Its id follows the last one. Can be repeated."),
    click.option("--special", "names", metavar="TEXT", multiple=True, help="Add a special token. Its id "
                 "follows the last one and those of --add. Can be repeated."),
    corpus_option("--prune", "corpus_name",
                  about="Remove the tokens that this corpus does not use, and renumber the ids."),
    click.option("--keep", metavar="N", type=Count(1),
                 help="With --prune: keep at most N ids, those of the most used tokens."),
    corpus_option("--extend", "more_name", about="Continue training on this corpus."),
    click.option("--vocab-size", "size", metavar="N", type=Count(1),
                 help=f"With --extend: the number of ids to train to{COUNT_HINT}"),
    click.option("--merge", "other", metavar="OTHER", type=PATH,
                 help="Append the merges of this tokenizer that IN lacks."),
    click.option("--map", "map_", metavar="FILE", type=PATH, help="Write the new id of each old id, or "
                 "-1 for a removed token: a list in .json, or int64 in .npy."),
    click.option("--init", metavar="FILE", type=PATH, help="Write for each new id the old ids of its "
                 "text, so that its embedding can start as the mean of theirs: .json or .tsv."),
    format_option("--to", "OUT"),
    SPLIT,
    *READING,
    click.option("--same-pieces", is_flag=True,
                 help="Exit with code 1 if --prune changes the tokens of a document."),
    json_option("Print one JSON row."),
    EXACT,
    QUIET,
)
def command(
    shared: SharedOptions, source: str, output: str, texts: tuple[str, ...], names: tuple[str, ...],
    corpus_name: str | None, keep: int | None, more_name: str | None, size: int | None, map_: str | None,
    init: str | None, format_: str | None, other: str | None, same_pieces: bool, exact: bool,
) -> int:
    """Write the tokenizer IN to OUT with a changed vocabulary. Tokens are removed first. Then training
    continues. Then the merges of OTHER and new tokens are added.

    The extension of OUT selects the format; --to overrides it. If OUT ends in .json, the format of IN is kept
    if its files have that extension, as those of Hugging Face do.

    With --prune, each document is encoded before and after, and documents whose tokens change are listed.
    With --extend, a tokenizer that tokentui trained continues with its recipe. A file from another tool has
    no recipe: the most frequent pair is merged, and ties go to the shorter one. Then each pre-token is
    encoded again, and the exit code is 1 if any result differs from training. Like convert, it prints what
    OUT cannot store. If OUT would encode differently, nothing is written.
    """
    if not (texts or names or [name for name in (corpus_name, more_name, other) if name is not None]):
        raise TokentuiError("no change is given", "edit",
                            "use --add, --special, --prune, --extend or --merge")
    if (more_name is None) != (size is None):
        raise TokentuiError("--extend and --vocab-size must be used together", "edit", "use both")
    if keep is not None and corpus_name is None:
        raise TokentuiError("needs a corpus", f"--keep {keep}", "add --prune CORPUS")
    if same_pieces and corpus_name is None:
        raise TokentuiError("needs a corpus", "--same-pieces", "add --prune CORPUS")
    if exact and size is None:
        raise TokentuiError("--exact requires --vocab-size", "edit", "name a size")
    if output == STDOUT:
        raise TokentuiError("standard output is used for the report", f"OUT {STDOUT}", "name a file")
    if map_ is not None:
        id_map(map_, ())  # a wrong name is reported before the work
        out.check_target(map_)
    if init is not None:
        init_file(init, ())
        out.check_target(init)
    tokenizer = load(source, shared.split_for_file(), class_name=shared.class_name)
    shared.notice(tokenizer.notes)
    behind = None if other is None else load(other, otherwise=shared.split_for_file())
    format = format_of(output, tokenizer.recipe, format_, option="--to", like=written_format(source))
    check_output(output, format)
    out.check_apart(targets(output, format), {"--map": map_, "--init": init})
    edited = unchanged(tokenizer)
    trained_size = tokenizer.vocab_size
    with out.working(shared.quiet) as bar:
        if corpus_name is not None:
            corpus = replace(shared, sources=(corpus_name,)).read_corpus(bar)
            with bar.phase("encoding"):
                edited = prune(edited, corpus, keep)
        if more_name is not None and size is not None:
            corpus = replace(shared, sources=(more_name,)).read_corpus(bar)
            with bar.phase("training"):
                edited = extend(edited, corpus, size)
                trained_size = edited.tokenizer.vocab_size
        if behind is not None:
            edited = merge(edited, behind)
        with bar.phase("checking"):
            edited = add(edited, [*((text, False) for text in texts), *((name, True) for name in names)])
            report, files = contents(edited.tokenizer, format)
    if report.refused:
        out.complain(f"{output}: {format.name} cannot store it: {report.refused} (nothing is written)")
        return DIFFERS
    maps = [] if map_ is None else [(map_, id_map(map_, edited.ids))]
    maps += [] if init is None else [(init, init_file(init, new_ids(edited, tokenizer)))]
    went, came = changes(edited, tokenizer)
    out.write_report(shared.as_json, report_on(
        tokenizer.vocab_size, edited.tokenizer.vocab_size, went, came, added=edited.added,
        pruned=edited.pruned, grown=edited.grown, losses=edited.losses, written=report,
    ))
    write_together([*zip(targets(output, format), files, strict=True), *maps])
    changed = same_pieces and edited.pruned is not None and edited.pruned.changed
    unlike = changed or (edited.grown is not None and edited.grown.unlike)
    missed = ""
    if size is not None and trained_size != size:
        missed = f"--vocab-size {size}: training stopped at {trained_size:,} ids"
        missed += ": no pairs remain" if trained_size < size else ""
    return shared.report_missed(missed, exact=exact) or (DIFFERS if unlike else DONE)

