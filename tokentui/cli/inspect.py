"""`tokentui inspect`: facts and a health report of a tokenizer, of a token, of any string.

In tables the texts of a corpus come last in a line, so that they move no other cell. In rows `text` is for
people and `hex` the exact form.
"""

from __future__ import annotations

from dataclasses import replace

import click
from click.shell_completion import CompletionItem

from tokentui.analyze.analyses import ANALYSES, Analysis
from tokentui.analyze.health import CHECKS, FAIL, WARN, examine, worst
from tokentui.analyze.health.report import report as report_on
from tokentui.analyze.inspect import find_tokens, string_facts, string_report, token_facts
from tokentui.analyze.metrics import MeasureRow, rows_of, tally
from tokentui.analyze.health import CHECKS, FAIL, INFO, NONE, PASS, WARN, examine, worst
from tokentui.analyze.metrics import MeasureRow, ratio, rows_of, tally
from tokentui.analyze.metrics import shown as number
from tokentui.analyze.report import Json, as_json, as_row, piece_row
    CheckResult,
    HealthReport,
    StringFacts,
    TokenFacts,
    UnusedToken,
    VocabularyReport,
    WordFacts,
    costs,
)
from tokentui.analyze.token_table import check_table_name, table_bytes, token_rows
from tokentui.analyze.token_table import report as table_report
from tokentui.analyze.vocabulary import usage, vocabulary_report
from tokentui.cli import output
from tokentui.cli.budget import print_budget
from tokentui.cli.options import (
    EXACT,
    OPENED,
    QUIET,
    READING,
    TOKENIZER,
    Given,
    corpus_option,
    json_option,
    named_or_plain,
    options,
    typed,
)
from tokentui.cli.program import completions
from tokentui.core import jobs
from tokentui.core.errors import TokentuiError, nearest
from tokentui.encode.pretokens import Pretokens
from tokentui.core.files import write_whole
from tokentui.core.safetext import safe, safe_line
from tokentui.core.table import Table
from tokentui.encode.decode import bare
from tokentui.encode.segment import AppliedMerge, SplitStep, Step
from tokentui.encode.tokenizer import Tokenizer


def _complete_check(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return completions({one.name: one.title for one in CHECKS}, incomplete)


@click.command(
    epilog="""\b
Examples:
  tokentui inspect -t novel.json
  tokentui inspect -t novel.json --corpus novel.txt --exhaust
  tokentui inspect -t novel.json ' crowd'
  tokentui inspect -t novel.json --id 300 --json
  tokentui inspect -t tokenizer.json --strict
  tokentui inspect -t tokenizer.json --strict --ignore spaces --ignore controls
  tokentui inspect -t tokenizer.json --glitch novel.txt
  tokentui inspect -t novel.json --budget novel.txt --second second.txt --target 0.4
  tokentui inspect -t novel.json --budget novel.txt --target 768:0.001
  tokentui inspect -t novel.json --table novel.tsv
  tokentui inspect -t cl100k_base.tiktoken -s split=cl100k
  tokentui inspect -t novel.json -- --crowd""",
)
@options(
    click.argument("string", metavar="[STRING]", nargs=-1),
    TOKENIZER,
    OPENED,
    click.option("--id", "number", metavar="ID", type=int, help="The token of an id, in place of STRING."),
    corpus_option("--corpus", "sources", multiple=True,
                  about="Say also what this corpus uses, or this part of it as NAME=CORPUS. May be given "
                  "many times."),
    *READING,
    click.option("--exhaust", is_flag=True,
                 help="Train a copy on the corpus until no pair is left, and tell what comes of it."),
    *(click.option(f"--{analysis.name}", analysis.name, is_flag=True,
                   help=f"{analysis.about}. STRING is the corpus then.") for analysis in ANALYSES.values()),
    corpus_option("--second", about="With --budget: another corpus, under the same vocabulary."),
    click.option("--target", metavar="TARGET",
                 help="With --budget: the size with so many tokens a byte (0.4); or where tokens and the "
                 "price of the ids together are least, for dimensions worth so many tokens (768:0.001)."),
    click.option("--table", metavar="FILE", type=click.Path(),
                 help="Write a row for each id: id, text, hex, bytes (as decoded), kind, score, rank, "
                 "reachable, reason; as .tsv, .jsonl or .parquet."),
    click.option("--strict", is_flag=True,
                 help="End with code 1 also where a check of the health report is a WARN."),
    click.option("--ignore", "ignored", metavar="CHECK", multiple=True, shell_complete=_complete_check,
                 help="A check of the health report that does not change the exit code. May be given many "
                 "times."),
    json_option("Print one JSON object."),
    EXACT,
    QUIET,
)
def command(
    given: Given, string: tuple[str, ...], tokenizer: str, number: int | None, exhaust: bool,
    second: str | None, target: str | None, strict: bool, ignored: tuple[str, ...], exact: bool,
    **wanted: bool,
    given: Given, string: tuple[str, ...], tokenizer: str, number: int | None, exhaust: bool, glitch: bool,
    budget: bool, second: str | None, target: str | None, table: str | None, strict: bool,
    ignored: tuple[str, ...], exact: bool,
) -> int:
    """Inspect a tokenizer, or what it makes of STRING: its token if it is one, each merge or attempt, every
    way to write it, and why it is not one token.

    The health report has checks that are PASS, INFO, WARN or FAIL; the exit code is 1 where one is FAIL.
    INFO is what nearly every published tokenizer has. With --corpus: which tokens are not used and why, what
    is saved for each document, and the measures. The JSON object has "tokenizer", "health", "checks",
    "corpus" and "measures", or for a STRING "string", "token", "uses", "encoding", "why" and "words", with
    "reason" and "facts" (the proof) and "decoded" and "lost" (what comes back); bytes are in hex, and a
    number of ways above 2**53 is a text of digits.
    """
    given = replace(given, sources=named_or_plain(given.sources))
    for name in ignored:
        if name not in (known := [one.name for one in CHECKS]):
            raise TokentuiError("no such check", f"--ignore {name}", nearest(name, known))
    analyses = [name for name in ANALYSES if wanted[name]]
    if (second is not None or target is not None) and analyses != ["budget"]:
        raise TokentuiError("--second and --target go with --budget", given.where, "name it")
    if exact and target is None:
        raise TokentuiError("--exact goes with --budget --target", given.where, "name a target")
    if analyses:
        if number is not None or exhaust or strict or ignored or len(analyses) > 1:
    if table is not None:
        if string or number is not None or given.sources or any((exhaust, glitch, budget, strict, ignored)):
            raise TokentuiError("--table is of all ids, and goes alone", given.where, "leave the rest out")
        return _write_table(given, tokenizer, table)
    if glitch or budget:
        if number is not None or exhaust or strict or ignored or (glitch and budget):
            what = f"--{'glitch' if glitch else 'budget'} goes with a corpus alone"
            out = "leave out --id, --exhaust, --strict, --ignore and the other one"
            raise TokentuiError(f"--{analyses[0]} goes with a corpus alone", given.where, out)
        named, opened = replace(given, sources=(*given.sources, *string)), given.opened(tokenizer)
        if second is not None or target is not None:
            return print_budget(named, opened, second, target, exact)
        return _print_analysis(named, opened, ANALYSES[analyses[0]])
    whole, out = not string and number is None, "leave one of them out"
    for fault, what, hint in (
        (string and number is not None, "a STRING and --id exclude each other", "take one of them"),
        (exhaust and not given.sources, "--exhaust trains on a corpus, and none is named",
         "such as --corpus novel.txt"),
        (exhaust and not whole, "--exhaust tells of the whole corpus, not of one token", out),
        (bool(ignored) and not whole, "--ignore is for the health report, not for one token", out),
        (strict and not whole, "--strict is for the health report, not for one token", out),
    ):
        if fault:
            raise TokentuiError(what, given.where, hint)
    tok = given.opened(tokenizer)
    text, report = typed(string, given.where) if string else None, None
    measures: tuple[MeasureRow, ...] = ()
    found = None if text is None else string_facts(tok, text)
    if found is not None and number is None:
        ids = found.encoding.ids if found.encoding is not None else ()
        number = next((entry.id for entry in find_tokens(tok, found.text)), ids[0] if len(ids) == 1 else None)
    token, uses = None if number is None else token_facts(tok, number), None
    with output.working(given.quiet) as bar:
        if given.sources and (whole or token is not None):
            corpus = given.corpus(bar)
            with bar.of("counting"):
                pretokens = Pretokens(tok)
                words, fixed = pretokens.count(corpus)
                given.remark(pretokens.coverage(corpus, words, fixed).notes)
            if token is None:
                with bar.of("measuring"):
                    measures = rows_of([tally(tok, corpus)])
            with bar.of("encoding"):
                if token is None:
                    report = vocabulary_report(tok, corpus, words, exhaust=exhaust)
                else:
                    used = usage(tok, words)
                    unused = next((one for one in used.unused if one.id == token.id), None)
                    uses = used.uses.get(token.id, 0), unused
        if whole:
            with bar.of("inspecting"):
                health = examine(tok)
        jobs.check()
    if not whole:
        output.write_report(given.as_json, string_report(found, token, uses))
        return 0
    output.write_report(given.as_json, report_on(tok, health, report, measures))
    status = worst(one for one in health.checks if one.name not in ignored)
    return 1 if status == FAIL or (strict and status == WARN) else 0


def _print_analysis(given: Given, tokenizer: Tokenizer, analysis: Analysis) -> int:
    """Print the report of an analysis, on a corpus if one is named."""
    if analysis.needs_corpus:
        given.needs_corpus()
    with output.working(given.quiet) as bar:
        corpus = given.corpus(bar) if given.sources else None
        with bar.of("looking at tokens"):
            report = analysis.report(tokenizer, corpus)
    output.write_report(given.as_json, report)
    return 0
def _write_table(given: Given, tokenizer: str, path: str) -> int:
    """Write a row for each id to a file. Returns the exit code."""
    check_table_name(path)
    output.check_target(path)
    tok = given.opened(tokenizer)
    with output.working(given.quiet) as bar, bar.of("looking at tokens"):
        rows = list(token_rows(tok))
    write_whole(path, table_bytes(path, rows))
    output.write_report(given.as_json, table_report(path, rows))
    return 0


# ---- a tokenizer


def _report_tables(
    tok: Tokenizer, health: HealthReport, corpus: VocabularyReport | None, measures: Sequence[MeasureRow]
) -> Iterator[Table]:
    """A tokenizer: its recipe, its facts, a corpus, its health."""
    recipe, facts = tok.recipe, health.facts
    yield output.fact("recipe", label(recipe))
    yield from _wrapped("", [f"{name}={output.shown(recipe.axis(name))}" for name in AXES], " ")
    kinds = ", ".join(f"{times:,} {kind}" for kind, times in facts.kinds)
    span = ", {} to {}".format(*bounds) if (bounds := tok.decoder.bounds) else ""
    yield output.fact("ids", f"{facts.vocab_size:,}{span}" + (f" ({kinds})" if kinds else ""))
    yield output.fact("merges", f"{facts.merges:,}")
    for n, note in enumerate(tok.notes):
        yield output.fact("" if n else "remarks", safe_line(note))
    yield from _wrapped("written in", [f"{count:,} {script}" for script, count in facts.scripts])
    yield from _wrapped("characters", [f"{count:,} of {length}" for length, count in facts.lengths[:_ROWS]])
    sized = [(one, f"{len(bare(recipe, piece)):>4} B", output.shown(piece)) for one, piece in facts.longest]
    yield _tokens("longest", "" if sized else "none", sized)
    dead = [(number, f"{output.shown(piece)}  {why}") for number, piece, why in facts.unreachable]
    yield _tokens("unreachable", _some(dead, "no text becomes these"), dead)
    alike = [(f"{' '.join(map(str, one.ids))}  {output.shown(one.piece)}",)
             for one in facts.duplicates[:_ROWS]]
    yield output.fact("duplicates", _some(facts.duplicates, "spelled as another token is"), alike)
    for name, what, tokens in (
        ("not UTF-8", "tokens of several bytes that are no text by themselves", facts.not_utf8),
        ("spaces", "white space alone", facts.spaces),
    ):
        yield _tokens(name, _some(tokens, what), [(number, output.shown(piece)) for number, piece in tokens])
    if UNITS.of(recipe.unit).is_byte:
        missing = " ".join(f"{value:02X}" for value in facts.missing_bytes)
        there = f"{256 - len(facts.missing_bytes)} of 256"
        yield output.fact("bytes", there + (f"; not {missing}" if missing else ""))
    holes = [str(first) if first == last else f"{first}–{last}" for first, last in facts.holes[:_ROWS]]
    yield output.fact("holes", " ".join(holes) or "none")
    if corpus is not None:
        yield from _corpus_tables(corpus)
        yield _measures(measures)
    yield _checks(health.checks)


def _report_row(
    tok: Tokenizer, health: HealthReport, corpus: VocabularyReport | None, measures: Sequence[MeasureRow]
) -> Json:
    """The same as a row."""
    facts = health.facts
    return {
        "tokenizer": {
            "recipe": tok.recipe.to_dict(), "run": dict(tok.run),
            **as_row(facts, "vocab_size", "first_id", "merges"), "kinds": dict(facts.kinds),
            "scripts": dict(facts.scripts),
            "lengths": {str(length): count for length, count in facts.lengths}, "notes": list(tok.notes),
        },
        "health": as_row(facts, "longest", "unreachable", "duplicates", "not_utf8", "spaces",
                                "missing_bytes", "holes", "shared_ids"),
        "checks": as_json(health.checks),
        "corpus": corpus and as_row(corpus, "units", "tokens", "used", "unused", "document_count",
                                           "documents", "exhausted", *(["parts"] if corpus.parts else [])),
        "measures": [measure_row(row) for row in measures],
    }


def _checks(checks: Sequence[CheckResult]) -> Table:
    """The results of the checks; below each that is not well its reason, its limits and examples."""
    counted = Counter(check.status for check in checks)
    told = [f"{counted[status]} {status}" for status in (FAIL, WARN, INFO, PASS, NONE) if counted[status]]
    rows: list[tuple[str, ...]] = []
    for check in checks:
        rows.append((check.status, check.title, safe_line(check.observed)))
        if check.status not in (FAIL, WARN, INFO):
            continue
        rows.append((f"      {check.about} ({check.threshold})",))
        for one in check.examples[:_FEW]:
            text = output.shown(one.piece)
            text = text if len(text) <= _WIDE else text[:_WIDE] + "…"
            named = " ".join(filter(None, ("" if one.id is None else str(one.id), text)))
            rows.append((f"        {named}" + (f"  {safe_line(one.note)}" if one.note else ""),))
        if check.count > _FEW:
            rows.append((f"        … and {check.count - _FEW:,} more (--json has ten at most)",))
    return replace(output.fact("health", ", ".join(told), rows), right=())


def _measures(measures: Sequence[MeasureRow]) -> Table:
    """Return the measures of the tokenizer on the corpus."""
    rows = [(row.measure.title, *(figure.shown for figure in row.figures if figure), safe(row.under))
            for row in measures]
    return replace(output.fact("measures", f"{len(rows):,}", rows), right=(1,))


def _corpus_tables(corpus: VocabularyReport) -> Iterator[Table]:
    saved = corpus.units - corpus.tokens
    yield output.fact("corpus", f"{corpus.units:,} units, {corpus.tokens:,} tokens: {saved:,} saved")
    parts = [
        (one.name, f"{one.tokens:,} tokens", f"{number(ratio(one.bytes, one.tokens))} B/token",
         f"{number(cost, 2)} × the cheapest")
        for one, cost in zip(corpus.parts, costs(corpus.parts), strict=True)
    ]
    if parts:
        yield replace(output.fact("corpora", f"{len(parts):,}", parts), right=(1, 2, 3))
    yield output.fact("used", f"{corpus.used:,} of {corpus.vocab_size:,} ids")
    unused = [
        (one.id, f"{one.kind:<7}", f"{output.shown(one.piece)}  {_why(one)}") for one in corpus.unused[:_ROWS]
    ]
    tokens = _tokens("unused", _some(corpus.unused, "with why"), unused)
    yield replace(tokens, total=len(corpus.unused))
    rows = [
        (f"{one.number:>6}", f"{one.units:>9,} units {one.tokens:>9,} tokens", output.shown(one.name))
        for one in corpus.documents
    ]
    count = corpus.document_count
    documents = output.fact("documents", f"{count:,}; those that save most, first", rows, _ROWS)
    yield replace(documents, total=count, more="more")
    if (end := corpus.exhausted) is not None:
        made = f"{end.merges:,} merges, {end.vocab_size:,} ids, {end.tokens:,} tokens"
        yield output.fact("to the end", made)
        whole = f"{end.whole:,} of {end.distinct:,} distinct pre-tokens are one token"
        yield output.fact("", f"{whole}; ended by: {end.end}")


def _tokens(name: str, text: str, tokens: Iterable[tuple[int, *tuple[str, ...]]]) -> Table:
    """A list of tokens, each with its id in front."""
    return output.fact(name, text, [(str(number), *cells) for number, *cells in tokens], _ROWS)


def _wrapped(name: str, parts: Sequence[str], between: str = ", ") -> Iterator[Table]:
    """A label and parts in lines of some width, none of which is broken."""
    kept = "\x1f"  # a blank at which no line is broken
    text = between.join(part.replace(" ", kept) for part in parts)
    for n, line in enumerate(textwrap.wrap(text, _WIDE, break_on_hyphens=False)):
        yield output.fact("" if n else name, line.replace(kept, " "))


def _some(items: Sequence[object], what: str) -> str:
    return f"{len(items):,}, {what}" if items else "none"


# ---- a token or a string


_Uses = tuple[int, UnusedToken | None] | None
"""The uses of a token in a corpus; where there are none, why."""


def _string_tables(found: StringFacts | None, token: TokenFacts | None, uses: _Uses) -> Iterator[Table]:
    if found is not None:
        yield output.fact("string", output.shown(found.text))
    if token is not None:
        yield from _token_tables(token)
    if uses is not None:
        times, unused = uses
        yield output.fact("uses", f"{times:,} in the corpus" + (f": {_why(unused)}" if unused else ""))
    if found is None:
        return
    refused = f"none: {safe_line(found.refusal)}"
    ids = "" if found.encoding is None else ids_line(found.encoding.ids)
    yield output.fact("encoding", refused if found.encoding is None else ids or "no tokens")
    back, lost = found.round_trip
    if back is not None and lost:
        yield output.fact("decoded", output.shown(back) or "nothing", [(safe_line(loss),) for loss in lost])
    yield output.fact("one token", found.why)
    for word in found.words:
        yield from _word_tables(word)


def _string_row(found: StringFacts | None, token: TokenFacts | None, uses: _Uses) -> Json:
    """The same as a row."""
    row: Json = {"string": None if found is None else found.text, "token": None, "uses": None}
    if token is not None:
        row["token"] = as_row(token) | {"unreachable": token.unreachable or None}
    if uses is not None:
        times, unused = uses
        why = as_row(unused, "why", "into") if unused else {"why": None, "into": []}
        row["uses"] = {"count": times, **why}
    if found is not None:
        row["encoding"] = None if found.encoding is None else as_row(found.encoding, *ENCODED)
        row |= {"error": found.refusal or None, "why": found.why}
        facts = {name: as_json(value) for name, value in found.reason.facts.items()}
        row |= {"reason": found.reason.reason, "facts": facts}
        row |= {"decoded": found.round_trip.back, "lost": list(found.round_trip.lost)}
        row["words"] = [_word_row(word) for word in found.words]
    return row


def _why(one: UnusedToken) -> str:
    return f"{one.why} by {shown_pieces(one.into)}" if one.into else one.why


def _token_tables(facts: TokenFacts) -> Iterator[Table]:
    yield output.fact("token", f"id {facts.id}, {facts.kind}: {output.shown(facts.piece)}")
    front, end = facts.piece[: facts.marks[0]], facts.piece[len(facts.piece) - facts.marks[1] :]
    if front:
        yield output.fact("mark", f"{output.shown(front)} in front: it goes on with a word")
    if end:
        yield output.fact("mark", f"{output.shown(end)} at the end: a word ends with it")
    yield output.fact("bytes", f"{facts.bare.hex(' ')} ({len(facts.bare)})")
    points = facts.code_points[len(front.decode()) : len(facts.code_points) - len(end.decode())]
    for n, point in enumerate(points[:_ROWS]):
        yield output.fact("" if n else "characters", point)
    if len(points) > _ROWS:
        yield Table(notes=[f"  … and {len(points) - _ROWS:,} more (--json has them)"])
    if facts.piece and not facts.code_points:
        yield output.fact("characters", "not UTF-8 by itself: a part of a character")
    if facts.score is not None:
        yield output.fact("probability", f"log {facts.score:.4f}")
    if facts.step is not None:
        count = facts.count or 0
        times = "once" if count == 1 else f"{count:,} times"
        yield output.fact("made", f"at step {facts.step:,}, of a pair that stood {times}")
        yield output.fact("parents", output.merged(facts.parents))
    if facts.kind in ("unit", "merge"):
        left = facts.child_count - len(facts.children)
        more = f" and {left:,} more" if left else ""
        children = " ".join(output.shown(piece) for _, piece in facts.children) + more
        yield output.fact("children", f"{facts.child_count:,}" + (f": {children}" if children else ""))
    if facts.others:
        others = " ".join(f"{output.shown(piece)} ({number})" for number, piece in facts.others)
        yield output.fact("spelled also", others)
    if facts.kind in ("unit", "merge", "piece"):
        yield output.fact("can be made", f"no: {facts.unreachable}" if facts.unreachable else "yes")
    if facts.tree:
        rows = [
            ("  " * one.depth + output.shown(one.piece) + ("" if one.id is None else f"  {one.id}")
             + (f", step {one.step:,}" if one.step else ""),)
            for one in facts.tree
        ]
        yield Table(rows, "tree", indent=2, total=facts.tree_size, more="more nodes")


def _word_tables(word: WordFacts) -> Iterator[Table]:
    told = explained(word.explanation)
    yield output.fact("word", told.title, told.rows)
    if word.ways is None:
        yield output.fact("ways", "not counted: the word is too long")
    else:
        yield ways_table(word.ways)
    yield from lattice(word.explanation)


def _word_row(word: WordFacts) -> Json:
    told, ways = word.explanation, word.ways
    return {
        "text": told.text,
        "offsets": [told.start, told.end],
        "units": as_json(told.units),
        "steps": [_step_row(step) for step in told.steps],
        "ids": list(told.ids),
        "ways": None if ways is None else {
            "count": ways.count if ways.count <= LARGEST else str(ways.count),
            "first": [
                {"hex": as_json(way), "score": score, "share": share}
                for (way, score), share in itertools.zip_longest(ways.ways, ways.shares)
            ],
            "chosen": as_json(ways.chosen),
            "how": ways.how,
        },
        "lattice": [
            as_row(edge, "start", "end", "score", "posterior", "best")
            | {"token": edge.symbol is not None} | piece_row(edge.piece)
            for edge in word.lattice
        ],
    }


def _step_row(step: Step) -> Json:
    if isinstance(step, AppliedMerge):
        pieces = as_json((step.left, step.right, step.result))
        return {"step": step.rank + 1, "hex": pieces} | as_row(step, "start", "middle", "end")
    if isinstance(step, SplitStep):
        pieces = as_json((step.piece, *step.parts))
        return {"step": step.rank + 1, "hex": pieces} | as_row(step, "start", "cuts", "end")
    return {"hex": step.candidate.hex()} | as_row(step, "start", "end", "found")
