"""`tokentui encode`: text to ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from tokentui.cli import output
from tokentui.cli.options import QUIET, SPLIT, TOKENIZER, Given, check_ways, json_option, options, typed
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe_line
from tokentui.encode.explain import WordExplanation
from tokentui.encode.offsets import Encoding
from tokentui.encode.segment.ways import MergeStep, Step
from tokentui.formats.files import load

ENCODED = ("ids", "tokens", "hex", "offsets")
"""The names of the values of an encoding in a row."""


@click.command(
    epilog="""\b
Examples:
  tokentui encode -t novel.json 'The crowd'
  tokentui encode -t novel.json --explain crowd
  tokentui encode -t novel.json --json < letter.txt
  tokentui encode -t novel.json --jsonl < texts.jsonl > ids.jsonl""",
)
@options(
    click.argument("text", metavar="[TEXT]", nargs=-1),
    TOKENIZER,
    SPLIT,
    json_option("Print a row: text, ids, tokens, hex, offsets."),
    click.option("--jsonl", is_flag=True,
                 help='Answer each line {"text": ...} of standard input by such a row.'),
    click.option("--explain", is_flag=True, help="Print each merge or attempt, word by word."),
    click.option("--sample", metavar="SEED", type=int,
                 help="Draw a segmentation of a unigram model at random, by this seed."),
    click.option("--temperature", metavar="T", type=float, default=1.0,
                 help="Of --sample: 1 draws by the model, less is tamer."),
    click.option("--special-tokens", is_flag=True,
                 help="Add the tokens that begin and end a text, such as [CLS], [SEP]."),
    click.option("--allow-special", is_flag=True, help="Text that spells a special token is that token."),
    QUIET,
)
def command(
    given: Given, text: tuple[str, ...], tokenizer: str, jsonl: bool, explain: bool, sample: int | None,
    temperature: float, **special: Any,
) -> int:
    """Encode TEXT, or all of standard input without its last line end, and print the ids on one line.

    A token that has no id stands as null. With --jsonl a line that cannot be encoded is answered by {"text":
    ..., "error": ...}, and the exit code is 1 at the end. -s split=... names the pattern of a file that holds
    none.
    """
    check_ways(given.where, text, json=given.as_json, jsonl=jsonl, explain=explain)
    if sample is not None and (explain or any(special.values())):
        raise TokentuiError("goes with --json and --jsonl only", "--sample", "leave the other options out")
    split = given.split()
    tok = load(tokenizer, split)
    if split and split != tok.recipe.split:  # another one would make it another tokenizer
        hint = f"{tokenizer} holds its split: {tok.recipe.split}"
        raise TokentuiError("the split cannot be changed here", f"-s split={split}", hint)
    given.remark(tok.notes)

    def encoded(text: str) -> Encoding:
        if sample is None:
            return tok.encode(text, **special)
        return tok.sample(text, temperature=temperature, seed=sample)

    def row(value: object) -> output.Json:
        return output.as_row(encoded(output.text_of(value)), "text", *ENCODED)

    if jsonl:
        return output.answer_lines("text", '{"text": "..."}', row)
    whole = typed(text, given.where)
    if given.as_json:
        output.write_json(row(whole))
    elif explain:
        for word in tok.explain(whole):
            for line in _explained(word):
                output.write(f"{line}\n".encode())
        back = tok.round_trip(whole)
        if back.lost and back.back is not None:
            output.write(f"decoding gives back {output.shown(back.back) or 'nothing'}\n".encode())
        for loss in back.lost:
            output.write_text(f"  {safe_line(loss)}")
    elif sample is not None:
        output.write(f"{output.ids_line(encoded(whole).ids)}\n".encode())
    else:
        with output.working(given.quiet) as bar, bar.of("encoding"):
            ids = tok.encode_ids(whole, **special)
        output.write(f"{output.ids_line(ids)}\n".encode())
    return 0


def _explained(word: WordExplanation) -> Iterator[str]:
    """A word with its units, a line a step with the pieces after it, and the ids."""
    yield f"{output.shown(word.text)}: {_pieces(word.units)}"
    for number, step in enumerate(word.steps, 1):
        yield f"  {number:>3}  {_step(step)}  {_pieces(word.after(number))}"
    yield f"  ids  {output.ids_line(word.ids) or 'none'}"


def _step(step: Step) -> str:
    if isinstance(step, MergeStep):
        return f"rank {step.rank}: {output.merged((step.left, step.right), step.result)} "
    return f"{output.shown(step.candidate)} {'found' if step.found else 'is no token'} "


def _pieces(pieces: tuple[bytes, ...]) -> str:
    return " ".join(map(output.shown, pieces))
