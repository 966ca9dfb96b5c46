"""Whether kernels may cut a text before the steps of a `tokenizer.json`: these treat its stretches one by
one."""

from __future__ import annotations

from collections.abc import Iterator

from tokentui.formats.huggingface import Pattern
from tokentui.formats.huggingface.steps import NormalizerStep, PreTokenizerStep
from tokentui.text.split import SPACE_MARK
from tokentui.text.stretching import Stretching, marked_words, plain_words

_SPACE = Pattern("String", " ")


def stretching_of(
    normalizer: NormalizerStep | None, splitting: PreTokenizerStep | None
) -> Stretching | None:
    """Return how steps treat the stretches of a text; None if they may look beyond a stretch."""
    return _marking(list(_in_order(normalizer)), list(_in_order(splitting)))


def _in_order(
    step: NormalizerStep | PreTokenizerStep | None,
) -> Iterator[NormalizerStep | PreTokenizerStep]:
    """Yield the steps of a sequence, or a step alone."""
    if step is None:
        return
    if step.kind != "Sequence":
        yield step
    for inner in step.steps:
        yield from _in_order(inner)


def _marking(
    normalizers: list[NormalizerStep | PreTokenizerStep],
    splits: list[NormalizerStep | PreTokenizerStep],
) -> Stretching | None:
    """Return the stretches of steps that only turn spaces into ▁ and put one in front. A text is one word.
    """
    front, once, each, marks = "", False, True, False
    for step in normalizers:
        if step.kind == "Prepend" and not (marks and " " in str(step.parameters["prepend"])):
            front = str(step.parameters["prepend"]) + front
        elif step.kind == "Replace" and step.parameters == {"pattern": _SPACE, "content": SPACE_MARK}:
            marks = True
            front = front.replace(" ", SPACE_MARK)
        else:
            return None
    for step in splits:
        if step.kind == "Split" and marks and step.parameters["pattern"] == _SPACE:
            continue  # no space is left
        scheme = step.parameters.get("prepend_scheme")
        if (
            step.kind != "Metaspace" or step.parameters["replacement"] != SPACE_MARK
            or step.parameters["split"] is not False or (front and scheme != "never")
        ):
            return None
        marks = True
        if scheme != "never":
            front, once, each = SPACE_MARK, True, scheme == "always"
    if marks:
        front = front.replace(SPACE_MARK, " ")
    return Stretching("", marked_words if marks else plain_words, front, once, each)
