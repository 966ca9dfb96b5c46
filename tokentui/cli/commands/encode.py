"""`tokentui encode`: encode text to ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from tokentui.analyze.report import ENCODED, Json, as_row, ids_line
from tokentui.cli import output
from tokentui.cli.options import (
    COLOR,
    ENCODE,
    PATH,
    QUIET,
    READING,
    SPLIT_OR_ENCODE,
    TOKENIZER,
    Count,
    SharedOptions,
    check_exclusive,
    corpus_option,
    json_option,
    options,
    read_standard_input,
    text_argument,
)
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import to_bytes
from tokentui.core.table import plural
from tokentui.encode.encoding import Encoding
from tokentui.encode.flat import TYPES
from tokentui.encode.pretokens import Pretokens
from tokentui.encode.tokenizer import Tokenizer
from tokentui.text.count import COVERED

if TYPE_CHECKING:
    from tokentui.cli.chips import Marks


@click.command(
    epilog="""\b
Examples:
  tokentui encode -t novel.json 'The crowd'
  tokentui encode -t novel.json --color always 'The crowd'
  tokentui encode -t novel.json --explain crowd
  tokentui encode -t novel.json -s encode=longest-suffix --explain crowd
  tokentui encode -t novel.json --sample dropout:p=0.1,like=tokenizers --seed 7 --n 3 'The crowd'
  tokentui encode -t novel.json --prefix-stability 'The crow'
  tokentui encode -t novel.json --html 'The crowd'
  tokentui encode -t novel.json --json < letter.txt
  tokentui encode -t novel.json --jsonl < texts.jsonl > ids.jsonl
  tokentui encode -t novel.json --corpus novel.txt -o novel.bin
  tokentui encode -t tokenizer.json --chat messages.json --add-generation-prompt --explain""",
)
@options(
    click.argument("text", metavar="[TEXT]", nargs=-1),
    TOKENIZER,
    SPLIT_OR_ENCODE,
    json_option("Print one JSON row: text, ids, tokens, hex, offsets."),
    click.option("--jsonl", is_flag=True,
                 help='Answer each line {"text": ...} of standard input with such a row.'),
    click.option("--html", "as_html", is_flag=True,
                 help="Print the tokens as HTML, each on its color, as notebooks show them."),
    click.option("--explain", is_flag=True, help="Print each merge, attempt or probability, word by word."),
    click.option("--prefix-stability", "prefix_stability_", is_flag=True,
                 help="Print the tokens at the end of TEXT that could change if the text continued, and the "
                 "prefix that is stable."),
    click.option("--sample", metavar="SEED|WAY",
                 help="Sample an encoding. SEED samples a segmentation of a unigram model. "
                 "dropout:p=0.1,like=tokenizers skips merges with probability p, as tokenizers, subword-nmt "
                 "or sentencepiece does. --explain prints each draw."),
    click.option("--temperature", metavar="T", type=float,
                 help="With --sample SEED: 1 samples from the model, and smaller values favor the best "
                 "segmentation."),
    click.option("--seed", metavar="N", type=click.IntRange(min=0),
                 help="With --sample dropout: the random seed [default: a random one]."),
    click.option("--n", "times", metavar="N", type=Count(min=1), default=1,
                 help="With --sample dropout: print N samples, one per line, with consecutive seeds."),
    click.option("--special-tokens", is_flag=True,
                 help="Add the tokens that begin and end a text, such as [CLS] and [SEP]."),
    click.option("--allow-special", is_flag=True,
                 help="Encode text that spells a special token as that token."),
    corpus_option("--corpus", "sources", multiple=True,
                  about="With --output: encode the documents of this corpus. Can be repeated."),
    *READING,
    click.option("-o", "--output", "target", metavar="FILE", type=PATH,
                 help="Write the ids to FILE as numbers of 16 or 32 bits, one after the other."),
    click.option("--dtype", metavar="TYPE", type=click.Choice(list(TYPES)),
                 help="With --output: uint16 or uint32 [default: uint16 if all ids of the vocabulary fit]."),
    click.option("--chat", metavar="FILE", type=PATH,
                 help="Encode messages with the chat template of the tokenizer. FILE is a JSON list, or an "
                 "object with messages, tools, documents and chat_template_kwargs; - is standard input. "
                 "--explain prints the origin of each token."),
    click.option("--chat-template", metavar="FILE", type=PATH,
                 help="With --chat: a template file, the name of one of the templates of the tokenizer, or "
                 "chatml or llama2."),
    click.option("--add-generation-prompt", is_flag=True, help="With --chat: begin a reply at the end."),
    click.option("--continue-final-message", is_flag=True, help="With --chat: leave the last message open."),
    COLOR,
    QUIET,
)
def command(
    shared: SharedOptions, text: tuple[str, ...], tokenizer: str, jsonl: bool, as_html: bool, explain: bool,
    prefix_stability_: bool, sample: str | None, temperature: float | None, seed: int | None, times: int,
    special_tokens: bool, allow_special: bool, target: str | None, dtype: str | None,
    chat: str | None, chat_template: str | None, add_generation_prompt: bool, continue_final_message: bool,
) -> int:
    """Encode TEXT, or standard input without its final newline, and print the ids on one line. On a terminal,
    print the tokens in color, each above its id.

    A token without an id is printed as null. With --jsonl, a line that cannot be encoded is answered with
    {"text": ..., "error": ...}, and the exit code is 1. A notice is printed if TEXT already begins with the
    token that --special-tokens adds.

    --prefix-stability prints how many tokens stay the same however TEXT continues, according to the split
    alone. It also tries continuations made of vocabulary tokens, and prints each further token that one of
    them changes, with the shortest continuation that does so. If the two results agree, the stable prefix
    is exact.
    """
    if prefix_stability_:
        ways = {"prefix-stability": True, "jsonl": jsonl, "html": as_html, "explain": explain,
                "sample": sample is not None, "special-tokens": special_tokens}
    else:
        ways = {"json": shared.as_json, "jsonl": jsonl, "html": as_html, "explain": explain}
    check_exclusive(shared.command, text, **ways)
    if target is None and (dtype or shared.sources):
        option = "--dtype" if dtype else "--corpus"
        raise TokentuiError("requires --output", option, "add -o FILE")
    if target is not None:
        others = {"--sample": sample is not None, "--chat": chat is not None} | {
            f"--{name}": named for name, named in ways.items()
        }
        if other := next((name for name, named in others.items() if named), ""):
            raise TokentuiError(f"--output and {other} cannot be combined", shared.command, "use one of them")
        if text and shared.sources:
            raise TokentuiError("TEXT and --corpus cannot be combined", shared.command, "use one of them")
        return _write_flat(
            shared, text, tokenizer, target, dtype, special_tokens=special_tokens, allow_special=allow_special
        )
    if chat is not None:
        others = {"TEXT": bool(text), "--jsonl": jsonl, "--html": as_html, "--sample": sample is not None,
                  "--prefix-stability": prefix_stability_}
        if other := next((name for name, named in others.items() if named), ""):
            raise TokentuiError(f"--chat and {other} cannot be combined", shared.command, "use one of them")
        return _write_chat(
            shared, chat, tokenizer, chat_template or "", explain=explain, special_tokens=special_tokens,
            add_generation_prompt=add_generation_prompt, continue_final_message=continue_final_message,
        )
    if chat_template or add_generation_prompt or continue_final_message:
        option = "--chat-template" if chat_template else "--add-generation-prompt" if (
            add_generation_prompt) else "--continue-final-message"
        raise TokentuiError("requires --chat", option, "add --chat FILE")
    by_model = sample is not None and (sample.isascii() and sample.lstrip("-").isdigit())
    dropout = None
    if sample is not None and not by_model:
        from tokentui.encode.sampling import read_sample  # few ask for it

        dropout = read_sample(sample)
    if sample is not None and ((explain and by_model) or special_tokens or allow_special):
        what = "can only be combined with --json and --jsonl"
        raise TokentuiError(what, "--sample", "leave the other options out")
    if dropout is None and (seed is not None or times > 1):
        raise TokentuiError("--seed and --n require --sample dropout", shared.command, "name it")
    if explain and (special_tokens or allow_special):
        option = "--special-tokens" if special_tokens else "--allow-special"
        raise TokentuiError(f"--explain and {option} cannot be combined", shared.command, "use one of them")
    if not by_model and temperature is not None:
        raise TokentuiError("--temperature requires --sample SEED", shared.command, "name a seed")
    if times > 1 and (jsonl or as_html or shared.as_json):
        what = "cannot be combined with --json, --jsonl or --html"
        raise TokentuiError(what, "--n", "leave one of them out")
    split, tok = shared.split_for_file(also=(ENCODE,)), shared.load_tokenizer(tokenizer)
    if split and split != tok.recipe.split:  # another one would make it another tokenizer
        hint = f"{tokenizer} stores its split: {tok.recipe.split}"
        raise TokentuiError("the split cannot be changed here", f"-s split={split}", hint)
    shared.notice(tok.notes)

    def encoded(text: str) -> Encoding:
        if sample is None:
            return tok.encode(text, special_tokens=special_tokens, allow_special=allow_special)
        if dropout is not None:
            return tok.draws(text, p=dropout[0], like=dropout[1], seed=seed).encoding
        return tok.sample(text, temperature=1.0 if temperature is None else temperature, seed=int(sample))

    if prefix_stability_:
        from tokentui.analyze.stability import prefix_stability  # few ask for it
        from tokentui.analyze.stability import report as stability_report

        whole = text_argument(text, shared.command)
        with output.working(shared.quiet) as bar, bar.phase("trying"):
            stability = prefix_stability(tok, whole, allow_special=allow_special)
        output.write_report(shared.as_json, stability_report(stability))
        return 0
    pretokens, covered, doubled = Pretokens(tok), COVERED, 0

    def row(text: str) -> Json:
        nonlocal covered, doubled
        encoding = encoded(text)
        answer = as_row(encoding, "text", *ENCODED)
        doubled += special_tokens and begins_twice(tok, encoding.ids)
        covered += pretokens.coverage_of_text(text)
        return answer

    if jsonl:
        code = output.answer_lines("text", str, '{"text": "..."}', row)
        shared.notice(covered.notes)
        shared.notice(_doubled_notice(tok, doubled, "lines"))
        return code
    whole = text_argument(text, shared.command)
    if shared.as_json:
        output.write_json(row(whole))
    elif as_html:
        from tokentui.encode.html import encoding_html  # few ask for it

        encoding = encoded(whole)
        output.write_text(encoding_html(encoding.rows, len(encoding)))
        doubled += special_tokens and begins_twice(tok, encoding.ids)
    elif dropout is not None:
        from random import randrange

        from tokentui.analyze.dropout import report as dropout_report  # few ask for it
        from tokentui.encode.sampling import SEEDS

        first = randrange(SEEDS) if seed is None else seed
        for number in range(first, first + times):
            drawn = tok.draws(whole, p=dropout[0], like=dropout[1], seed=number)
            if explain:
                output.write_report(in_json=False, report=dropout_report(drawn), marks=shared.marks)
            else:
                _write_tokens(drawn.encoding, shared.marks)
    elif explain:
        from tokentui.analyze import explained

        output.write_report(in_json=False, report=explained.report(tok, whole), marks=shared.marks)
    elif sample is not None:
        _write_tokens(encoded(whole), shared.marks)
    elif (marks := shared.marks) is not None:
        with output.working(shared.quiet) as bar, bar.phase("encoding"):
            encoding = encoded(whole)
        _write_tokens(encoding, marks)
        doubled += special_tokens and begins_twice(tok, encoding.ids)
    else:
        with output.working(shared.quiet) as bar, bar.phase("encoding"):
            ids = tok.encode_ids(whole, special_tokens=special_tokens, allow_special=allow_special)
        output.write(f"{ids_line(ids)}\n".encode())
        doubled += special_tokens and begins_twice(tok, ids)
    shared.notice(_doubled_notice(tok, doubled))
    shared.notice(pretokens.coverage_of_text(whole).notes)
    return 0


def _write_flat(
    shared: SharedOptions, text: tuple[str, ...], tokenizer: str, target: str, dtype: str | None, *,
    special_tokens: bool, allow_special: bool,
) -> int:
    """Write the ids of a text or a corpus to a flat file, and print their number. Returns the exit code.

    Raises:
        TokentuiError: As `write_ids` does, or the corpus cannot be read.
    """
    output.check_target(target)
    tok = shared.load_tokenizer(tokenizer)
    shared.notice(tok.notes)
    with output.working(shared.quiet) as bar:
        texts: Sequence[str]
        if shared.sources:
            corpus = shared.read_corpus(bar)
            if corpus.counts is not None:
                raise TokentuiError("counted words are no text", corpus.name, "name the text itself")
            texts = corpus.documents
        else:
            texts = [text_argument(text, shared.command)]
        with bar.phase("encoding"):
            count = tok.write_ids(
                target, texts, dtype=dtype, special_tokens=special_tokens, allow_special=allow_special
            )
    shared.notice([f"{output.shown(target)}: {plural(count, 'id')}"])
    return 0


def begins_twice(tok: Tokenizer, ids: Sequence[int | None]) -> bool:
    """Return whether the ids of a text begin with the token that begins a text twice: once added, once
    spelled in the text."""
    before = tok.encoder.around[0]
    if not before:
        return False
    number = tok.vocabulary.special_id(before[-1])
    return list(ids[len(before) - 1 : len(before) + 1]) == [number, number]


def _doubled_notice(tok: Tokenizer, count: int, texts: str = "") -> Iterator[str]:
    """Yield a sentence if texts begin with the token that begins a text twice."""
    if count:
        name = tok.encoder.around[0][-1]
        subject = f"{count:,} {texts} begin" if texts else "the text begins"
        yield f"{subject} with {name}, and --special-tokens adds another one"


def _write_chat(
    shared: SharedOptions, messages: str, tokenizer: str, template_name: str, *, explain: bool,
    special_tokens: bool, add_generation_prompt: bool, continue_final_message: bool,
) -> int:
    """Write the ids of messages, their row of JSON, or a line for each token. Returns the exit code.

    Args:
        shared: The shared options.
        messages: The file of the messages, or `-`.
        tokenizer: The tokenizer file.
        template_name: The file of the template, or the name of one; empty for that of the tokenizer.
        explain: Write a line for each token.
        special_tokens, add_generation_prompt, continue_final_message: As for `encode_chat`.

    Raises:
        TokentuiError: A file cannot be read, or the template fails.
    """
    from tokentui.analyze.chat.encoded import encode_chat, report  # other texts need no template
    from tokentui.analyze.chat.template import read_chat, read_chat_file, read_template

    is_input = messages == "-"
    chat = read_chat(read_standard_input(), "standard input") if is_input else read_chat_file(messages)
    template = read_template(tokenizer, template_name, tools=bool(chat.tools))
    tok = shared.load_tokenizer(tokenizer)
    shared.notice(tok.notes)
    if chat.ignored:
        shared.notice([f"{messages}: ignored: {', '.join(chat.ignored)}"[:500]])
    with output.working(shared.quiet) as bar, bar.phase("encoding"):
        encoded = encode_chat(
            tok, template, chat, add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message, special_tokens=special_tokens,
        )
    if shared.as_json or explain:
        output.write_report(shared.as_json, report(encoded))
    else:
        _write_tokens(encoded.encoding, shared.marks)
    shared.notice(warning.text for warning in encoded.warnings)
    return 0


def _write_tokens(encoding: Encoding, marks: Marks | None) -> None:
    """Write the ids of a text on one line. If tokens are marked, write them with their ids below, then their
    number."""
    if marks is None:
        output.write(f"{ids_line(encoding.ids)}\n".encode())
        return
    from tokentui.cli.chips import shown_tokens

    tokens = shown_tokens(encoding.text, [
        (output.shown(row.text if row.piece is None else row.piece), row.start, ids_line([row.id]))
        for row in encoding.rows
    ])
    size = len(to_bytes(encoding.text))
    facts = [plural(len(tokens), "token"), f"{size:,} B"]
    facts += [f"{size / len(tokens):.2f} B/token"] if tokens else []
    output.write_text("\n".join([*marks.lines(tokens), ", ".join(facts)]), marks)
