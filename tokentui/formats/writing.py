"""The formats of other tools that are written: what each lacks, and how a tokenizer is written, read back and tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.body import Body, Fit, Refused, Table
from tokentui.formats.lazy import later
from tokentui.formats.losses import lacking
from tokentui.formats.report import ExportReport, Loss
from tokentui.formats.source import Source

Progress = Callable[[int, int], object] | None
Cancel = Callable[[], bool] | None


@dataclass(frozen=True, slots=True)
class Format:
    """A file format that is written.

    Attributes:
        name: What `--format` and `--to` call it.
        about: What it is, in a few words.
        suffixes: The ends of file names that ask for it.
        fit: Brings a tokenizer into its shape.
        write: The bytes of its file, or of each of its files.
        lacks: What it never holds, of `losses.ASPECTS`.
        files: The usual name of its file, or the names of its files.
        pipeline: Whether the file, with the split named where it is read, says what is done to a text. Where it does not, who
            loads it says that.
    """

    name: str
    about: str
    suffixes: tuple[str, ...]
    fit: Callable[[Body], Fit]
    write: Callable[[Table], tuple[bytes, ...]]
    files: tuple[str, ...]
    lacks: tuple[str, ...] = ()
    pipeline: bool = True



def _of(module: str, kind: str = "") -> tuple[Callable[[Body], Fit], Callable[[Table], tuple[bytes, ...]]]:
    """What fits a tokenizer into a format, and what writes it: functions of a module in this room."""
    end = f"_{kind}" if kind else ""
    return later(f"{module}.fit{end}"), later(f"{module}.write{end}")


_TRAINED = ("counts", "recipe")
_SHAPED = (*_TRAINED, "symbols", "space")
_FILE = ("flags", "dropout", "lengths")

FOREIGN: dict[str, Format] = {
    format.name: format
    for format in (
        Format("huggingface", "Hugging Face's tokenizer.json", (".hf.json",), *_of("huggingface.writing"),
               ("tokenizer.json",), _TRAINED),
        Format("tiktoken", "tiktoken's ranks", (".tiktoken",), *_of("rank_writing", "tiktoken"),
               ("ranks.tiktoken",), (*_SHAPED, "split", "specials", "around", *_FILE)),
        Format("sentencepiece", "sentencepiece's .model", (".model",), *_of("sentencepiece.writing"),
               ("tokenizer.model",), (*_TRAINED, *_FILE)),
        Format("gpt2", "vocab.json with merges.txt, of GPT-2, GPT-1 and CLIP", ("vocab.json", "merges.txt"),
               *_of("merge_writing", "files"),
               ("vocab.json", "merges.txt"), (*_SHAPED, "split", "normalize", "around", *_FILE), pipeline=False),
        Format("bert", "BERT's vocab.txt", ("vocab.txt",), *_of("vocab_writing"),
               ("vocab.txt",), (*_SHAPED, "merges", "split", "normalize", *_FILE), pipeline=False),
        Format("subword-nmt", "subword-nmt's codes", (".codes", "codes"), *_of("merge_writing", "codes"),
               ("bpe.codes",), (*_SHAPED, "split", "normalize", "specials", "around", *_FILE), pipeline=False),
        Format("minbpe", "minbpe's .model", (".minbpe.model", ".model"), *_of("merge_writing", "minbpe"),
               ("tokenizer.model",), (*_SHAPED, "around", *_FILE)),
        Format("tekken", "Mistral's tekken.json", ("tekken.json",), *_of("rank_writing", "tekken"),
               ("tekken.json",), (*_SHAPED, "around", *_FILE)),
    )
}
"""The formats of other tools by name."""


def survey(tokenizer: Tokenizer, format: Format) -> ExportReport:
    """What would be lost, without writing anything: what only trying shows is not in it."""
    return _fitted(Body(tokenizer), format)[0]


def _fitted(body: Body, format: Format) -> tuple[ExportReport, Fit | None]:
    report = ExportReport(format.name, format.about, format.files)
    try:
        fit = format.fit(body)
    except Cancelled:
        raise
    except TokentuiError as error:
        return replace(report, refused=error.what + (f" ({error.hint})" if error.hint else "")), None
    own = body.came_from(format.name)  # what its file did not say is not lost on the way
    return replace(report, losses=(*fit.losses, *([] if own else lacking(body, format.lacks)))), fit


def written(
    tokenizer: Tokenizer, format: Format, read: Callable[[tuple[Source, ...]], Tokenizer], progress: Progress = None,
    cancel: Cancel = None,
) -> tuple[ExportReport, tuple[bytes, ...]]:
    """The bytes of a tokenizer's files, and what is lost; none where what was read back from them encodes otherwise.

    Args:
        tokenizer: What is written.
        format: The format.
        read: The tokenizer of files that stand nowhere yet.
        progress: Called with the texts done and to do.
        cancel: Asked now and then; true stops the call.

    Raises:
        Cancelled: `cancel` said so.
    """
    body = Body(tokenizer)
    report, fit = _fitted(body, format)
    if fit is None:
        return report, ()
    try:
        files = format.write(fit.table)
        named = tokenizer.recipe.split if "split" in format.lacks else ""
        sources = tuple(Source(name, data, named) for name, data in zip(format.files, files, strict=True))
        back = read(sources)
    except UnicodeEncodeError:
        return replace(report, refused="a token holds half a surrogate pair, which has no UTF-8"), ()
    except Cancelled:
        raise
    except TokentuiError as error:
        return replace(report, refused=f"what is written could not be read: {error}"), ()
    origin = Body(back).origin
    if origin is None or origin.format != format.name:
        return replace(report, refused="the file would not be recognised for what it is"), ()
    return _compared(body, fit, back, format.pipeline, report, files, progress, cancel)


def tried(
    tokenizer: Tokenizer, report: ExportReport, back: Tokenizer, files: tuple[bytes, ...], progress: Progress, cancel: Cancel
) -> tuple[ExportReport, tuple[bytes, ...]]:
    """What was written of a tokenizer that should be the same in all, and the report on it, after trying what was read back."""
    body = Body(tokenizer)
    return _compared(body, Fit(Table(body.recipe, [])), back, True, report, files, progress, cancel)


def _compared(
    body: Body, fit: Fit, back: Tokenizer, pipeline: bool, report: ExportReport, files: tuple[bytes, ...], progress: Progress,
    cancel: Cancel,
) -> tuple[ExportReport, tuple[bytes, ...]]:
    from tokentui.formats.probes import compare, decoded, shown  # another format's is tried, the project's own is not

    difference, texts = compare(body, fit, back, pipeline, progress, cancel)
    if difference is not None:
        what = f"it would encode {difference.text[:60]!r} as {shown(difference.theirs)}, not as {shown(difference.ours)}"
        return replace(report, refused=what, checked=texts), ()
    losses = report.losses
    if pipeline and (other := decoded(body, fit, back)):
        losses += (Loss("decoding", "a text may come back otherwise", f"{other.theirs[0][:40]!r}, not {other.ours[0][:40]!r}"),)
    return replace(report, losses=losses, checked=texts), files


def refusal(report: ExportReport, where: str) -> Refused:
    """Why a tokenizer is not written, as an error."""
    return Refused(f"{report.format} cannot hold it: {report.refused}", where, "nothing is written")
