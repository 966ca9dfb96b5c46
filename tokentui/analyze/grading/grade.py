"""Grade a submission: check it against an exercise, find the mistakes, and report on them."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tokentui import learn
from tokentui.analyze.grading.diagnose import (
    Diagnosis,
    SizeFault,
    Trial,
    diagnose,
    separating,
    size_faults,
    texts,
)
from tokentui.analyze.grading.encoders import Encoder, Encoding, EncodingFault, encoding_faults
from tokentui.analyze.grading.exercise import Exercise
from tokentui.analyze.grading.faults import Fault
from tokentui.analyze.grading.model import Material
from tokentui.analyze.grading.run import Answer, Case, run_file
from tokentui.analyze.grading.submission import Submission, as_bytes, of_value, pairs_of, read_submission
from tokentui.analyze.report import Cell, Json, Part, Report, Row, Section, Span, merged, muted, warning
from tokentui.analyze.verify import StepDifference, step_difference
from tokentui.core.errors import TokentuiError, shown, shown_path
from tokentui.core.jobs import phase
from tokentui.core.sequences import common_length
from tokentui.core.table import plural
from tokentui.learn.trainer import Trainer
from tokentui.recipe import Stops
from tokentui.text.corpus import Corpus

Pair = tuple[bytes, bytes]
MOST_HINTS, USUAL_HINTS = 3, 2
HINTS = "0 says only what passed, 1 adds the first merge that differs, 2 the mistake, 3 where to look"
_PROBE = 12
"""The merges that a Python file is asked for on each text that is added to find its mistake."""
_PROBES = 3
PASSED, FAILED = "passed", "failed"


@dataclass(frozen=True)
class GradeCheck:
    """A check of a submission.

    Attributes:
        name: What was checked.
        passed: Whether it is right.
        what: The mistake in a few words; empty for none.
    """

    name: str
    passed: bool
    what: str = ""


@dataclass(frozen=True)
class Trained:
    """Merges on one corpus, against the right ones.

    Attributes:
        name: The name of the corpus.
        corpus: The corpus.
        pairs: The merges that were handed in.
        right: The right merges.
        asked: The number that the exercise asks for.
        agreed: The number of first merges that agree.
    """

    name: str
    corpus: Corpus
    pairs: tuple[Pair, ...]
    right: tuple[Pair, ...]
    asked: int
    agreed: int

    @property
    def passed(self) -> bool:
        """Whether all merges and their number are right."""
        return self.pairs == self.right


@dataclass(frozen=True)
class Grade:
    """The result.

    Attributes:
        exercise: The exercise.
        where: The name of the submission.
        checks: The checks, in order.
        difference: The first merge that differs; None if none does.
        diagnosis: The mistakes in training; None if nothing differs.
        sizes: What explains a wrong number of merges.
        encoding: The mistakes in encoding that give the tokens.
        encoding_known: False if the encoding is wrong and no known mistake fits.
        notes: Sentences on what is right in another way, or how it was read.
        failure: The error of a Python file; empty if there is none.
    """

    exercise: Exercise
    where: str
    checks: tuple[GradeCheck, ...]
    difference: StepDifference | None = None
    diagnosis: Diagnosis | None = None
    sizes: tuple[SizeFault, ...] = ()
    encoding: tuple[EncodingFault, ...] = ()
    encoding_known: bool = True
    notes: tuple[str, ...] = ()
    failure: str = ""

    @property
    def passed(self) -> bool:
        """Whether all checks passed, and there is one."""
        return bool(self.checks) and all(check.passed for check in self.checks)

    @property
    def points(self) -> tuple[int, int]:
        """The number of checks that passed, and of all."""
        return sum(check.passed for check in self.checks), len(self.checks)

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The names of all mistakes that explain the submission, of each explanation joined by +."""
        found = self.diagnosis.found if self.diagnosis is not None else ()
        names = ["+".join(one.names) for one in found if one.names]
        return (*names, *(["size"] if self.sizes else []), *(fault.name for fault in self.encoding))


def grade(exercise: Exercise, path: str, *, allows_code: bool = True) -> Grade:
    """Grade a file.

    Args:
        exercise: The exercise.
        path: The file.
        allows_code: Whether a Python file is run.

    Raises:
        TokentuiError: The file cannot be read, or is no submission for this exercise.
        Cancelled: The job is cancelled.
    """
    submission = read_submission(path, allows_code=allows_code)
    return _Grader(exercise, shown_path(path)).grade(submission, os.path.basename(path))


class _Grader:
    """Grades one submission."""

    def __init__(self, exercise: Exercise, where: str) -> None:
        self._exercise, self._where = exercise, where
        self._checks: list[GradeCheck] = []
        self._notes: list[str] = []
        self._trained: list[Trained] = []
        self._probes: list[Trained] = []
        self._encoding: tuple[EncodingFault, ...] = ()
        self._encoding_known = True
        self._failure = ""

    def grade(self, submission: Submission, name: str) -> Grade:
        """Run and grade the code of a submission; then nothing else of it is graded. Without code, grade its
        merges, or else its vocabulary, and its tokens, or else its ids. If the exercise does not train, grade
        only its tokens, or else its ids.

        Raises:
            TokentuiError: There is nothing to grade.
        """
        exercise = self._exercise
        if submission.code is not None:
            self._run_code(submission.code, name)
        elif exercise.trains:
            if submission.merges is not None:
                self._check_merges(submission, exercise.corpus, "merges")
            elif submission.vocab is not None:
                self._check_vocabulary(submission.vocab)
            if submission.ids is not None or submission.tokens is not None:
                self._check_ids(submission)
        elif submission.tokens is not None or submission.ids is not None:
            self._check_expected(submission)
        if not self._checks:
            wanted = "merges, a vocabulary or ids" if exercise.trains else "the tokens of the texts"
            raise TokentuiError(f"the exercise asks for {wanted}", self._where,
                "see tokentui grade " + exercise.name)
        return self._result()

    # ---- what was handed in

    def _check_merges(self, submission: Submission, corpus: Corpus, name: str, probe: bool = False) -> None:
        """Check merges against the right training on a corpus, their number, and the vocabulary if it is
        there. With `probe`, only the first `_PROBE` merges are recorded, for the diagnosis, and no check is
        added."""
        assert submission.merges is not None
        exercise = self._exercise
        trainer, asked = exercise.trained(corpus)
        base, right = _base(trainer), _pairs(trainer)
        if probe:
            asked, right = _PROBE, right[:_PROBE]
        pairs, note = pairs_of(
            submission.merges, base, exercise.specials, right, in_bytes=exercise.recipe.unit == "byte",
            prefix=len(exercise.recipe.mark_text.encode()) if exercise.recipe.mark_kind == "prefix" else 0,
            vocab=submission.vocab, where=self._where,
        )
        agreed = common_length(pairs, right)
        trained = Trained(name, corpus, tuple(pairs), right, asked, agreed)
        if probe:
            self._probes.append(trained)
            return
        self._trained.append(trained)
        if note and note not in self._notes:
            self._notes.append(note)
        what = "" if trained.passed else (
            f"{agreed:,} of {len(right):,} agree" if agreed < min(len(pairs), len(right))
            else f"{len(pairs):,} in place of {len(right):,}"
        )
        if submission.vocab is not None and not what:
            what = self._wrong_vocabulary(submission.vocab, trainer)
        self._checks.append(GradeCheck(name, not what, what))

    def _wrong_vocabulary(self, vocab: Mapping[int, Any], trainer: Trainer) -> str:
        """Return the mistake in the tokens of a vocabulary, whatever their ids; empty for none."""
        exercise = self._exercise
        tokens = as_bytes(vocab.values(), in_bytes=exercise.recipe.unit == "byte")
        right = [*(name.encode() for name in exercise.specials), *_pieces(trainer)]
        missing = [piece for piece in dict.fromkeys(right) if piece not in set(tokens)]
        extra = [piece for piece in tokens if piece not in set(right)]
        names = {special.encode() for special in exercise.specials}
        if missing and set(missing) <= names:
            return "the special tokens are not in the vocabulary"
        if missing:
            return f"the vocabulary lacks {plural(len(missing), 'token')}, such as {shown(missing[0])}"
        if extra:
            return f"the vocabulary has {plural(len(extra), 'token')} too many, such as {shown(extra[0])}"
        return ""

    def _check_vocabulary(self, vocab: Mapping[int, Any]) -> None:
        """Check a vocabulary without merges: its tokens, and their order by id, which tells the merges.

        Adds two checks, and a note that a vocabulary does not tell the mistake.
        """
        trainer, _ = self._exercise.trained()
        what = self._wrong_vocabulary(vocab, trainer)
        self._checks.append(GradeCheck("tokens", not what, what))
        pairs, right = _pairs(trainer), _pieces(trainer)
        specials = {name.encode() for name in self._exercise.specials}
        tokens = [piece for piece in as_bytes(
            (vocab[number] for number in sorted(vocab)), in_bytes=self._exercise.recipe.unit == "byte"
        ) if piece not in specials]
        made = tokens[len(right) - len(pairs):]
        in_order = right[len(right) - len(pairs):]
        same = made == in_order
        self._checks.append(GradeCheck("order of the tokens", same, "" if same else next(
            (f"token {n} of the merges is {shown(one)}, not {shown(other)}"
             for n, (one, other) in enumerate(zip(made, in_order, strict=False), 1) if one != other),
            f"{len(made):,} in place of {len(in_order):,}")))
        self._notes.append("a vocabulary does not tell the mistake: hand in the merges too")

    def _check_ids(self, submission: Submission) -> None:
        """Grade the tokens or ids of the texts. Ids are read by the submitted vocabulary, else by ours.

        A wrong number of rows is one failed check. An unknown id counts as the token `?`.
        """
        exercise = self._exercise
        trainer, _ = exercise.trained()
        vocab = submission.vocab or numbered(trainer, exercise)
        tokens_by_id = dict(zip(vocab, as_bytes(vocab.values(), in_bytes=exercise.recipe.unit == "byte"),
            strict=True))
        rows = submission.tokens if submission.tokens is not None else submission.ids or ()
        if len(rows) != len(exercise.texts):
            self._checks.append(GradeCheck("ids", False,
                f"{len(rows):,} rows for {plural(len(exercise.texts), 'text')}"))
            return
        answers = []
        for text, row in zip(exercise.texts, rows, strict=True):
            tokens: list[bytes] | None
            if submission.tokens is not None:
                tokens = as_bytes(row, in_bytes=exercise.recipe.unit == "byte")
            else:
                tokens = [tokens_by_id.get(number, b"?") for number in row]
            answers.append((text, tokens, None, ""))
        self._check_encoded(answers, _pairs(trainer))

    def _check_expected(self, submission: Submission) -> None:
        """Check tokens, or else ids, against the tokens that the exercise expects. A wrong number of rows is
        a failed check, and the rows that are there are checked too."""
        expected = self._exercise.expect["tokens"]
        rows = submission.tokens or submission.ids or ()
        if len(rows) != len(expected):
            what = f"{plural(len(rows), 'row')} for {plural(len(expected), 'text')}"
            self._checks.append(GradeCheck("tokens", False, what))
        for (text, right), row in zip(expected.items(), rows, strict=False):
            self._check_tokens(text, right, row)

    def _check_tokens(self, text: str, right: Sequence[str], row: Sequence[object]) -> None:
        """Add a check of the tokens of a text. If it fails, it names the first token that differs."""
        same = list(row) == list(right)
        at = common_length(row, right)
        what = f"token {at + 1} is {shown(row[at]) if at < len(row) else 'missing'}, not " \
            f"{shown(right[at]) if at < len(right) else 'one more'}"
        self._checks.append(GradeCheck(f"tokens of {shown(text)}", same, "" if same else what))

    # ---- a Python file

    def _run_code(self, code: str, name: str) -> None:
        """Run submitted code on the corpus, hidden texts and made-up probes, and grade its answers.

        It runs in a child once, for training and for encoding. A class that trains also encodes. Without an
        encoder each text is a failed check.
        """
        exercise = self._exercise
        every_text = (*exercise.texts, *exercise.hidden_texts)
        if not exercise.trains:
            every_text = tuple(exercise.expect["tokens"])
        own_texts: tuple[str, ...] = ()
        cases, corpora = list[Case](), list[tuple[str, Corpus, bool]]()
        if exercise.trains and exercise.call is not None:
            if exercise.encode_call is None and exercise.call.name[:1].isupper():
                own_texts = every_text  # a class that trains also encodes
            corpora = [("corpus", exercise.corpus, False)]
            corpora += [(f"hidden text {n}", Corpus.from_text(text, "hidden"), False)
                        for n, text in enumerate(exercise.hidden, 1)]
            probes = itertools.islice(texts(exercise.borders), _PROBES)
            corpora += [("probe", Corpus.from_text(text, "probe"), True) for text in probes]
            for number, (_, corpus, probe) in enumerate(corpora):
                trainer = exercise.start(corpus)
                base = exercise.base_size(trainer)
                asked = _PROBE if probe else exercise.asked(trainer)
                size = base + asked if probe or exercise.vocab_size is None else exercise.vocab_size
                own = own_texts if not number else ()
                cases.append(Case(corpus, asked, size, own, *self._given(corpus)))
        if exercise.encode_call is not None or not exercise.trains:
            vocab, merges = self._given(exercise.corpus) if exercise.trains else (None, ())
            cases.append(Case(None, texts=every_text, vocab=vocab, merges=merges))
        with phase("running"):
            answers = run_file(code, name, exercise, cases)
        for (label, corpus, probe), answer in zip(corpora, answers, strict=False):
            self._check_answer(answer, corpus, label, probe)
        if exercise.trains and corpora and exercise.encode_call is None:
            trained = next(iter(self._trained), None)
            if answers[0].encoded and trained is not None:
                self._check_encoded_rows(answers[0], every_text, trained.pairs)
            elif own_texts:
                why = answers[0].error or "there is no encode"
                numbers = range(1, len(every_text) + 1)
                self._checks += [GradeCheck(f"encode text {n}", False, why) for n in numbers]
        if len(answers) > len(corpora):
            self._check_encoder(answers[-1], every_text)

    def _given(self, corpus: Corpus) -> tuple[Mapping[int, bytes] | None, Sequence[Pair]]:
        """Return the vocabulary and the merges of the right training on a corpus. They are None and empty if
        no call of the exercise takes them."""
        calls = [call for call in (self._exercise.call, self._exercise.encode_call) if call is not None]
        if not any({"vocab", "merges", "ranks"}.intersection(call.arguments) for call in calls):
            return None, ()
        trainer, _ = self._exercise.trained(corpus)
        return numbered(trainer, self._exercise), _pairs(trainer)

    def _check_answer(self, answer: Answer, corpus: Corpus, label: str, probe: bool) -> None:
        """Check the merges that code returned for a corpus. An error, or a result without merges, is a failed
        check; for a probe it is ignored."""
        submission = None
        error = answer.error
        if not error:
            try:
                submission = of_value(answer.result, self._where)
                if submission.merges is None:
                    error = "it returns no merges"
            except TokentuiError as failure:
                error = f"what it returns are {failure.what}"
        if error and not probe:
            self._failure = self._failure or error
            self._checks.append(GradeCheck(label, False, error))
        elif submission is not None and submission.merges is not None:
            try:
                self._check_merges(submission, corpus, label, probe)
            except TokentuiError as failure:
                if not probe:
                    self._checks.append(GradeCheck(label, False, failure.what))

    def _check_encoder(self, answer: Answer, every_text: Sequence[str]) -> None:
        """Grade the encoded texts that code returned. An error fails the check of each text."""
        exercise = self._exercise
        if answer.error:
            self._failure = self._failure or answer.error
            self._checks += [GradeCheck(f"encode text {n}", False, answer.error) for n in range(1,
                len(every_text) + 1)]
        elif exercise.trains:
            self._check_encoded_rows(answer, every_text, _pairs(exercise.trained()[0]))
        else:
            for (text, right), (row, _, error) in zip(exercise.expect["tokens"].items(), answer.encoded,
                strict=False):
                if error:
                    self._checks.append(GradeCheck(f"tokens of {shown(text)}", False, error))
                else:
                    self._check_tokens(text, right, row if isinstance(row, tuple) else ())

    def _check_encoded_rows(self, answer: Answer, every_text: Sequence[str], pairs: Sequence[Pair]) -> None:
        """Read rows of ids or tokens and grade them. Ids are read by the vocabulary that the code returned.

        Without one, ours or that of its own merges counts; another kind of row is no tokens.
        """
        exercise = self._exercise
        try:
            own = of_value(answer.result, "").vocab if answer.result is not None else None
        except TokentuiError:
            own = None
        vocab = own or numbered(exercise.trained()[0],
            exercise) if exercise.encode_call is not None or own else \
            _numbered(exercise.trained()[0], exercise, pairs)
        tokens_by_id = dict(zip(vocab, as_bytes(vocab.values(), in_bytes=exercise.recipe.unit == "byte"),
            strict=True))
        answers: list[tuple[str, list[bytes] | None, object, str]] = []
        for text, (row, decoded, error) in zip(every_text, answer.encoded, strict=False):
            tokens = None
            if isinstance(row, tuple) and all(isinstance(item, int) for item in row):
                tokens = [tokens_by_id.get(number, b"?") for number in row]
            elif isinstance(row, tuple) and all(isinstance(item, str | bytes) for item in row):
                tokens = as_bytes(row, in_bytes=exercise.recipe.unit == "byte")
            answers.append((text, tokens, decoded, error))
        self._check_encoded(answers, pairs)

    def _check_encoded(
        self, answers: Sequence[tuple[str, list[bytes] | None, object, str]], pairs: Sequence[Pair]
    ) -> None:
        """Add a check of the tokens of each text, and of what they decode to.

        Hidden texts are not shown. If tokens are wrong, look for the mistake in encoding.
        """
        exercise = self._exercise
        encoder = Encoder(pairs, exercise.recipe, exercise.specials)
        wrong: list[tuple[str, list[bytes]]] = []
        rows: list[tuple[str, list[bytes]]] = []
        for text, tokens, decoded, error in answers:
            hidden = text in exercise.hidden_texts
            label = f"a hidden text of {plural(len(text), 'character')}" if hidden else shown(text)
            if tokens is None:
                self._failure = self._failure or error
                self._checks.append(GradeCheck(f"encode {label}", False, error or "it returns no ids"))
                continue
            right = encoder.tokens(text, Encoding())
            rows.append((text, tokens))
            if tokens != right:
                wrong.append((text, tokens))
            what = "" if tokens == right else f"{_cut(tokens)}, not {_cut(right)}" if not hidden else \
                f"{plural(len(tokens), 'token')}, not {len(right):,}"
            if not what and (decoded is not None or error):
                what = error or decoding_mistake(text, decoded)
            self._checks.append(GradeCheck(f"encode {label}", not what, what))
        if wrong:
            self._encoding = encoding_faults(encoder, rows)
            self._encoding_known = bool(self._encoding)

    # ---- the result

    def _result(self) -> Grade:
        """Return the grade, after a search for the mistake if merges or probes are wrong.

        Checks whose only difference is two tokens with one text are then passed.
        """
        exercise, found, difference = self._exercise, None, None
        sizes: tuple[SizeFault, ...] = ()
        wrong = [trained for trained in self._trained if not trained.passed]
        probes_wrong = [trained for trained in self._probes if trained.agreed < min(
            len(trained.pairs), len(trained.right))]
        if wrong or probes_wrong:
            with phase("looking for the mistake"):
                trials = [
                    Trial(Material(trained.corpus, exercise.recipe, exercise.borders), trained.pairs,
                          trained.right, trained.asked)
                    for trained in (*self._trained, *(self._probes if self._trained else ()))
                ]
                found = diagnose(trials, exercise.recipe, exercise.borders)
            first = next((trained for trained in (*wrong, *probes_wrong)
                          if trained.agreed < min(len(trained.pairs), len(trained.right))), None)
            if first is not None:
                difference = _difference(exercise, first)
            if not any(one.sized for one in found.found) and (found.found or difference is None):
                sizes = tuple(self._sizes((wrong or probes_wrong)[0]))
            if found.found and not found.found[0].faults and found.found[0].method.same and not sizes:
                self._notes.append("two tokens with the same text are one token here: that is right, too")
                self._checks = [replace(check, passed=True, what="") if check.name in
                                {trained.name for trained in wrong} else check for check in self._checks]
                difference = None
            if probes_wrong and not wrong:
                self._notes.append("all corpora of the exercise agree, but a text that was made up to find "
                                   "mistakes "
                                   "does not")
        return Grade(
            exercise, self._where, tuple(self._checks), difference, found, sizes, self._encoding,
            self._encoding_known, tuple(self._notes), self._failure,
        )

    def _sizes(self, trained: Trained) -> Iterator[SizeFault]:
        """Yield the mistakes that explain a wrong number of merges; none if the number is right."""
        exercise = self._exercise
        if len(trained.pairs) == trained.asked:
            return
        trainer = exercise.start(trained.corpus)
        learn.run(trainer, Stops(merges=len(trained.pairs)))
        best = None if trainer.end(Stops()) is not None else learn.why(trainer, Stops()).best
        yield from size_faults(
            len(trained.pairs), trained.asked, len(_base(trainer)),
            len(exercise.specials), exercise.vocab_size, ended=best is None,
            next_count=None if best is None else best.places,
        )


def decoding_mistake(text: str, decoded: object) -> str:
    """Return the mistake in a decoded text; empty for none."""
    if decoded == text or (isinstance(decoded, bytes) and decoded == text.encode()):
        return ""
    if not isinstance(decoded, str):
        return f"it returns {shown(decoded)}, not the text"
    if "\ufffd" in decoded and "\ufffd" not in text:
        return "each token is decoded by itself: join the bytes, and decode them together"
    if "".join(decoded.split()) == "".join(text.split()):
        return "spaces or line ends differ: nothing is put between tokens, and nothing is stripped"
    if decoded.lower() == text.lower():
        return "capitals are lost"
    return f"the text is {shown(decoded)}"


def _difference(exercise: Exercise, trained: Trained) -> StepDifference:
    """Return our training at the first step that differs, beside the merge that was submitted."""
    trainer = exercise.start(trained.corpus)
    number = trained.agreed + 1
    learn.run(trainer, Stops(merges=number))
    ours = trained.right[trained.agreed]
    return step_difference(trainer, trainer.words, number, ours, None, trained.pairs[trained.agreed])


def _pairs(trainer: Trainer) -> tuple[Pair, ...]:
    vocabulary = trainer.tokenizer().vocabulary
    return tuple((vocabulary.spelled(left), vocabulary.spelled(right)) for left, right in vocabulary.merges)


def _pieces(trainer: Trainer) -> list[bytes]:
    """Return the tokens of a training in the order of their ids, without special tokens."""
    return list(trainer.tokenizer().vocabulary.pieces)


def _base(trainer: Trainer) -> list[bytes]:
    """Return the units in the order of their ids."""
    vocabulary = trainer.tokenizer().vocabulary
    return vocabulary.pieces[: vocabulary.base_size]


def numbered(trainer: Trainer, exercise: Exercise) -> dict[int, bytes]:
    """Return the token of each id: units, tokens of the merges, special tokens."""
    return _numbered(trainer, exercise, _pairs(trainer))


def _numbered(trainer: Trainer, exercise: Exercise, pairs: Sequence[Pair]) -> dict[int, bytes]:
    prefix = len(exercise.recipe.mark_text.encode()) if exercise.recipe.mark_kind == "prefix" else 0
    tokens = [*_base(trainer), *(left + right[prefix:] for left, right in pairs)]
    return dict(enumerate([*tokens, *(name.encode() for name in exercise.specials)]))


def _cut(tokens: Sequence[bytes]) -> str:
    words = "|".join(token.decode("utf-8", "backslashreplace") for token in tokens)
    return words if len(words) <= 60 else words[:60] + "…"


# ---- the report


def report(graded: Grade, hints: int = USUAL_HINTS) -> Report:
    """Return a report on a grade.

    Args:
        graded: The grade.
        hints: How much it tells, see `HINTS`.
    """
    passed, total = graded.points
    sections = [*_reasons(graded, hints), Section("score", f"{passed} of {plural(total, 'check')} passed")]
    rows = tuple(
        Row((check.name, Span(PASSED, "success") if check.passed else warning(FAILED),
            check.what if hints else ""))
        for check in graded.checks if not check.passed or total <= 12
    )
    sections.append(Section("", "", rows, columns=()))
    if hints >= 1 and graded.difference is not None:
        sections += _step(graded.difference)
    if hints >= 3:
        sections += _where_to_look(graded)
    sections += [Section("note", note) for note in graded.notes]
    return Report(f"{graded.exercise.title}: {graded.where}", tuple(sections), value(graded, hints),
                  summary=first_line(graded, hints))


def first_line(graded: Grade, hints: int = USUAL_HINTS) -> str:
    """Return the result in a line: the title if it passed, or the reason why it did not."""
    lines = [reason for _, reason in _lines(graded, hints)]
    return lines[0]


def _reasons(graded: Grade, hints: int) -> Iterator[Section]:
    for name, line in _lines(graded, hints):
        yield Section(name, line, wrap=True)


def _lines(graded: Grade, hints: int) -> list[tuple[str, str]]:
    """Return the names and texts of the first lines: below `hints` 2, at most the first failed check."""
    if graded.passed and not (graded.diagnosis and any(one.faults for one in graded.diagnosis.found)):
        return [(PASSED, graded.exercise.title)]
    if hints < 2:
        what = next((check.what for check in graded.checks if not check.passed), "")
        return [(FAILED, f"{what}" if hints and what else graded.exercise.title)]
    lines: list[tuple[str, str]] = []
    found = graded.diagnosis.found if graded.diagnosis is not None else ()
    named = [" and ".join(fault.what for fault in one.faults) for one in found if one.faults]
    if len(named) == 1:
        lines.append(("mistake", named[0]))
    elif named:
        lines += [("mistake" if not n else "or", text) for n, text in enumerate(dict.fromkeys(named))]
        if len(lines) == 1 and len(found) > 1:
            lines = lines[:1]
    lines += [("mistake" if not n and not named else "size" if not n else "or", fault.what)
              for n, fault in enumerate(graded.sizes)]
    lines += [("mistake" if not n else "or", fault.what) for n, fault in enumerate(graded.encoding)]
    if graded.failure:
        lines.append(("error", graded.failure))
    if graded.diagnosis is not None and not found:
        tried = f"none of the {graded.diagnosis.tried:,} wrong ways that are known gives these merges"
        part = "" if graded.diagnosis.complete else "; the time was over before all were tried"
        lines.append(("unknown", tried + part))
        if graded.diagnosis.nearest is not None:
            agreed = f" (it agrees for {plural(graded.diagnosis.agreed, 'merge')})"
            lines.append(("nearest", graded.diagnosis.nearest.what + agreed))
    if not graded.encoding_known:
        lines.append(("unknown", "none of the mistakes in encoding that are known gives these tokens"))
    if not lines:
        lines.append((FAILED,
            next((f"{check.name}: {check.what}" for check in graded.checks if not check.passed), "")))
    return lines


def _step(step: StepDifference) -> Iterator[Section]:
    """Yield the first merge that differs: both pairs, both counts, and whether they tie."""
    theirs, count = step.theirs, step.count
    assert theirs is not None
    yield Section("differs", f"merge {step.step:,}")
    yield Section("yours", (*_pair(theirs.pieces or (theirs.token,)), f", count {theirs.count:,}"))
    how: Part = f", count {count:,}" if count is not None else ""
    yield Section("right", (*merged(step.ours or ()), how))
    if count is not None and theirs.count == count:
        what = f"a tie of {step.tied:,} pairs that is broken otherwise: tie={step.tie}"
    elif not theirs.count:
        what = "an error: your pair does not occur in the text at this step"
    else:
        what = "an error: the counts differ, so it is not a tie"
    yield Section("that is", what)


def _pair(pieces: Sequence[bytes]) -> tuple[Part, ...]:
    return merged(pieces)


def _where_to_look(graded: Grade) -> Iterator[Section]:
    """Yield the rules that were broken and what to try, sizes after faults.

    A tiny corpus to try is listed for at most two faults.
    """
    found = graded.diagnosis.found if graded.diagnosis is not None else ()
    faults = list({fault.name: fault for one in found for fault in one.faults}.values())
    known: list[Fault | EncodingFault] = [*faults, *graded.encoding]
    for fault in known:
        yield Section("rule", fault.why, wrap=True)
        yield Section("look", fault.try_, wrap=True)
    for size in graded.sizes[:1]:
        yield Section("rule", size.why, wrap=True)
    for one in faults:
        if one.tiny and len(faults) <= 2:
            yield Section("try", (muted("train on "), Span(one.tiny.encode())))
    yield from _apart(graded)


def _apart(graded: Grade) -> Iterator[Section]:
    """Yield a text that separates the first two explanations, or that none does; nothing for fewer."""
    found = graded.diagnosis.found if graded.diagnosis is not None else ()
    if len(found) < 2:
        return
    exercise = graded.exercise
    apart = separating(found[0].method, found[1].method, exercise.recipe, exercise.borders)
    if apart is None:
        yield Section("apart",
            "no short text tells the first two apart: they may give the same merges everywhere")
        return
    text, (first, second), number = apart
    cell: Cell = (muted("train on "), Span(text.encode()), muted(f": merge {number} is "), *merged(first),
                  muted(" with the first mistake, "), *merged(second), muted(" with the second"))
    yield Section("apart", cell)


def value(graded: Grade, hints: int = MOST_HINTS) -> Json:
    """Return a grade as JSON. What the level of hints keeps back is null."""
    passed, total = graded.points
    step = graded.difference
    known = graded.diagnosis
    explained = None if hints < 2 or known is None else [
        {"mistakes": list(one.names), "what": " and ".join(fault.what for fault in one.faults),
         "size": one.sized} for one in known.found
    ]
    differs = None if hints < 1 or step is None or step.theirs is None else {
        "step": step.step, "yours": [part.hex() for part in step.theirs.pieces or (step.theirs.token,)],
        "count": step.theirs.count, "right": [part.hex() for part in step.ours or ()],
        "right_count": step.count, "tie": step.theirs.count == step.count,
    }
    return {
        "exercise": graded.exercise.name, "submission": graded.where, "passed": graded.passed,
        "points": passed, "of": total, "reason": first_line(graded, hints),
        "checks": [{"name": check.name, "passed": check.passed, "what": check.what if hints else ""}
                   for check in graded.checks],
        "differs": differs, "explanations": explained,
        "size": [fault.what for fault in graded.sizes] if hints >= 2 else [],
        "encoding": [fault.name for fault in graded.encoding] if hints >= 2 else [],
        "tried": 0 if known is None else known.tried, "complete": known is None or known.complete,
        "error": graded.failure, "notes": list(graded.notes),
    }
