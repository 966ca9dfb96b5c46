"""`tokentui encode`: text to ids."""

from __future__ import annotations

from collections.abc import Iterable

import click

from tokentui.cli.lines import answer_lines, lines_only, one_of, text_of, typed
from tokentui.cli.options import quiet_option, split_of, split_option, tokenizer_option
from tokentui.cli.output import Json, complain, shown, working, write, write_json, write_text
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe_line
from tokentui.encode.decode import NO_ID
from tokentui.encode.explain import WordExplanation
from tokentui.encode.segment.parts import MergeStep, Step
from tokentui.formats.files import load


@click.command(
    epilog="""\b
Examples:
  tokentui encode -t novel.json 'The crowd'
  tokentui encode -t novel.json --explain crowd
  tokentui encode -t novel.json --json < letter.txt
  tokentui encode -t novel.json --jsonl < texts.jsonl > ids.jsonl""",
)
@click.argument("text", metavar="[TEXT]", nargs=-1)
@tokenizer_option
@split_option
@click.option("--json", "as_json", is_flag=True, help="Print a row: text, ids, tokens, hex, offsets.")
@click.option("--jsonl", is_flag=True, help='Answer each line {"text": ...} of standard input by such a row.')
@click.option("--explain", is_flag=True, help="Print each merge or attempt, word by word.")
@click.option(
    "--sample", metavar="SEED", type=int,
    help="Draw a segmentation of a unigram model at random, by this seed."
)
@click.option(
    "--temperature", metavar="T", type=float, default=1.0,
    help="Of --sample: 1 draws by the model, less is tamer."
)
@click.option(
    "--special-tokens", is_flag=True, help="Add the tokens that begin and end a text, such as [CLS], [SEP]."
)
@click.option("--allow-special", is_flag=True, help="Text that spells a special token is that token.")
@quiet_option
def command(
    text: tuple[str, ...],
    tokenizer: str,
    axes: tuple[str, ...],
    as_json: bool,
    jsonl: bool,
    explain: bool,
    sample: int | None,
    temperature: float,
    special_tokens: bool,
    allow_special: bool,
    quiet: bool,
) -> int:
    """Encode TEXT, or all of standard input without its last line end, and print the ids on one line.

    A token that has no id stands as null. With --jsonl a line that cannot be encoded is answered by {"text":
    ..., "error": ...}, and the exit code is 1 at the end. -s split=... names the pattern of a file that holds
    none.
    """
    one_of("encode", json=as_json, jsonl=jsonl, explain=explain)
    if sample is not None and (explain or special_tokens or allow_special):
        raise TokentuiError("goes with --json and --jsonl only", "--sample", "leave the other options out")
    if jsonl:
        lines_only(text, "encode")
    split = split_of(axes)
    tok = load(tokenizer, split)
    if split and split != tok.recipe.split:  # another one would make it another tokenizer
        hint = f"{tokenizer} holds its split: {tok.recipe.split}"
        raise TokentuiError("the split cannot be changed here", f"-s split={split}", hint)
    if not quiet:
        for note in tok.notes:
            complain(note)

    def row(value: object) -> Json:
        if sample is not None:
            encoding = tok.sample(text_of(value), temperature=temperature, seed=sample)
        else:
            encoding = tok.encode(text_of(value), special_tokens=special_tokens, allow_special=allow_special)
        return {name: getattr(encoding, name) for name in ("text", "ids", "tokens", "hex", "offsets")}

    if jsonl:
        return answer_lines("text", '{"text": "..."}', row)
    given = typed(text, "encode")
    if as_json:
        write_json(row(given))
    elif sample is not None:
        _write_ids(tok.sample(given, temperature=temperature, seed=sample).ids)
    elif explain:
        for word in tok.explain(given):
            _explain(word)
        back = tok.round_trip(given)
        if back.lost and back.back is not None:
            write(f"decoding gives back {shown(back.back) or 'nothing'}\n".encode())
        for loss in back.lost:
            write_text(f"  {safe_line(loss)}")
    else:
        with working(quiet) as shown_bar, shown_bar.of("encoding"):
            ids = tok.encode_ids(given, special_tokens=special_tokens, allow_special=allow_special)
        _write_ids(ids)
    return 0


def _write_ids(ids: Iterable[int | None]) -> None:
    write(" ".join("null" if number in (None, NO_ID) else str(number) for number in ids).encode() + b"\n")


def _explain(word: WordExplanation) -> None:
    """A word with its units, a line a step with the pieces after it, and what came out."""
    write(f"{shown(word.text)}: {_pieces(word.units)}\n".encode())
    for number, step in enumerate(word.steps, 1):
        write(f"  {number:>3}  {_step(step)}  {_pieces(word.after(number))}\n".encode())
    ids = " ".join("null" if number is None else str(number) for number in word.ids)
    write(f"  ids  {ids or 'none'}\n".encode())


def _step(step: Step) -> str:
    if isinstance(step, MergeStep):
        return f"rank {step.rank}: {shown(step.left)} + {shown(step.right)} = {shown(step.result)} "
    return f"{shown(step.candidate)} {'found' if step.found else 'is no token'} "


def _pieces(pieces: tuple[bytes, ...]) -> str:
    return " ".join(shown(piece) for piece in pieces)
