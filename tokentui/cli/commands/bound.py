"""`tokentui bound`: a proved lower bound on the tokens of a corpus with any vocabulary of a size."""

from __future__ import annotations

import click

from tokentui import learn
from tokentui.analyze import bound_certificate
from tokentui.analyze.bound import ROUNDS, BoundedCorpus, report
from tokentui.cli import output
from tokentui.cli.options import (
    CORPUS,
    COUNT_HINT,
    NAMED,
    PATH,
    QUIET,
    READING,
    RECIPE,
    Count,
    SharedOptions,
    json_option,
    options,
)
from tokentui.core.errors import TokentuiError
from tokentui.core.files import write_whole
from tokentui.encode.tokenizer import Tokenizer
from tokentui.text.corpus import Corpus


@click.command(
    epilog="""\b
Examples:
  tokentui bound -t novel.json novel.txt
  tokentui bound -t novel.json novel.txt --vocab-size 8000
  tokentui bound -r gpt2 novel.txt --vocab-size 8000 -o novel.bound
  tokentui bound --check novel.bound
  tokentui bound --check novel.bound -t novel.json novel.txt
  tokentui bound -t novel.json page.txt --lp --json""",
)
@options(
    CORPUS,
    *NAMED,
    click.option("-t", "--tokenizer", metavar="TOKENIZER", type=PATH,
                 help="The tokenizer file that is compared with the bound."),
    *RECIPE,
    click.option("--vocab-size", "size", metavar="N", type=Count(1),
                 help=f"The ids, special tokens included{COUNT_HINT} [default: those of the file]."),
    click.option("--rounds", metavar="N", type=Count(1), default=ROUNDS,
                 help=f"The most rounds of the search [default: {ROUNDS}]."),
    click.option("-o", "--output", "out", metavar="FILE", type=PATH,
                 help="Write the certificate of the bound to FILE."),
    click.option("--check", "checked", metavar="FILE", type=PATH,
                 help="Check a certificate; with -t or -r and a CORPUS, also that it is about them."),
    click.option("--lp", is_flag=True,
                 help="Also solve the linear program, of a tiny corpus (needs the extra lp)."),
    *READING,
    json_option("Print one JSON object."),
    QUIET,
)
def command(
    shared: SharedOptions, tokenizer: str | None, size: int | None, rounds: int, out: str | None,
    checked: str | None, lp: bool,
) -> int:
    """Prove how few tokens are possible: for the pre-tokens and base units of a tokenizer, how much of the
    tokens of CORPUS any vocabulary of this size could save at most.

    No merges are asked for: the bound holds for BPE, WordPiece, Unigram and every encoder that loses nothing
    on the same pre-tokens and units. It is proved by whole numbers, which -o writes and --check verifies by
    other code. More rounds give a better bound; any number of rounds gives a true one.

    With -r the recipe is trained on CORPUS to --vocab-size ids first. The exit code of --check is 1 if the
    certificate does not prove its claim, or is about another corpus.
    """
    named = tokenizer is not None or shared.recipe is not None
    if checked is not None:
        return _check(shared, checked, tokenizer, size, named)
    if (shared.recipe is None) == (tokenizer is None):
        what = "use either -t (a file) or -r (to train)"
        raise TokentuiError(what, shared.command, "for example -t FILE, or -r gpt2 --vocab-size 8k")
    shared.require_corpus()
    if out is not None:
        output.check_target(out)
    with output.working(shared.quiet) as bar:
        corpus = shared.read_corpus(bar)
        with bar.phase("training" if tokenizer is None else "reading"):
            opened = _tokenizer(shared, tokenizer, corpus, size)
        with bar.phase("counting"):
            bounded = BoundedCorpus(opened, corpus)
        with bar.phase("bounding"):
            found, proofs = bounded.bounds(() if size is None else (size,), rounds)
            value = None
            if lp:
                from tokentui.analyze.bound_program import solve  # needs SciPy

                value = solve(bounded.candidates, found.sizes[0].vocab_size - found.base)
    if out is not None:
        write_whole(out, bound_certificate.written(found, found.sizes[0], bounded, proofs[0]))
    output.write_report(shared.as_json, report(found, value))
    return 0


def _tokenizer(shared: SharedOptions, path: str | None, corpus: Corpus, size: int | None) -> Tokenizer:
    """Load the tokenizer, or train the recipe on the corpus.

    Raises:
        TokentuiError: There is a recipe without a size, or its training ends before the size.
    """
    if path is not None:
        return shared.load_tokenizer(path)
    if size is None:
        raise TokentuiError("-r requires --vocab-size", shared.command, "name a size, such as 8k")
    recipe, run = shared.recipe_and_run(shared.recipe or "")
    run = run.with_words(vocab_size=size)
    trainer = learn.start(corpus, recipe, run)
    learn.run(trainer, run.stops)
    made = trainer.tokenizer()
    if made.vocab_size < size:
        what = f"the training ended at {made.vocab_size:,} ids"
        raise TokentuiError(what, f"--vocab-size {size}", "name a smaller size")
    return made


def _check(shared: SharedOptions, path: str, tokenizer: str | None, size: int | None, named: bool) -> int:
    """Check a certificate, also against the corpus if a tokenizer or recipe is `named`, and print the report.
    Return the exit code: 1 if it does not hold.

    Raises:
        TokentuiError: Only one of tokenizer and corpus is named, or the file is not a certificate.
    """
    if named != bool(shared.sources):
        raise TokentuiError("-t or -r and CORPUS go together", shared.command, "name both or none of them")
    with output.working(shared.quiet) as bar:
        rows = None
        if named:
            corpus = shared.read_corpus(bar)
            with bar.phase("counting"):
                rows = BoundedCorpus(_tokenizer(shared, tokenizer, corpus, size), corpus).rows
        with bar.phase("checking"):
            result = bound_certificate.check(path, rows)
    output.write_report(shared.as_json, bound_certificate.report(result))
    return 0 if result.holds else 1
