"""`tokentui grade`: grade what students hand in."""

from __future__ import annotations

import csv
import io
import os

import click
from click.shell_completion import CompletionItem

from tokentui.analyze.grading.exercise import EXERCISES, Exercise, false_claims, read_exercise
from tokentui.analyze.grading.grade import (
    HINTS,
    MOST_HINTS,
    USUAL_HINTS,
    Grade,
    first_line,
    grade,
    report,
    value,
)
from tokentui.analyze.report import Report, Row, Section
from tokentui.cli.main import completions
from tokentui.cli.options import PATH, QUIET, SharedOptions, json_option, options
from tokentui.cli.output import working, write_json, write_report, write_text
from tokentui.core.errors import TokentuiError, shown_path
from tokentui.core.table import plural

ROW = ("submission", "passed", "points", "of", "reason", "mistakes", "error")
"""The columns of `--csv`."""
_MOST_FILES = 10_000
_DANGEROUS = ("=", "+", "-", "@", "\t", "\r")


def _complete_exercise(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    named = completions({exercise.name: exercise.title for exercise in EXERCISES}, incomplete)
    return named or [CompletionItem(incomplete, type="file")]


@click.command(
    epilog="""\b
Examples:
  tokentui grade
  tokentui grade cs336
  tokentui grade cs336 train_bpe.py
  tokentui grade jurafsky merges.txt --hints 3
  tokentui grade exercise.toml submissions --csv > grades.csv
  tokentui grade cs336 merges.json --no-code --json""",
)
@options(
    click.argument("exercise", metavar="[EXERCISE]", required=False, shell_complete=_complete_exercise),
    click.argument("submission", metavar="[SUBMISSION]", required=False, type=PATH),
    click.option("--hints", metavar="N", type=click.IntRange(0, MOST_HINTS), default=USUAL_HINTS,
                 help=f"How much is told: {HINTS} [default: {USUAL_HINTS}]."),
    click.option("--no-code", is_flag=True, help="Refuse Python files."),
    click.option("--csv", "as_csv", is_flag=True,
                 help="Print one row for each submission of a folder."),
    json_option("Print one JSON object; of a folder, one line for each submission."),
    QUIET,
)
def command(
    shared: SharedOptions, exercise: str | None, submission: str | None, hints: int, no_code: bool,
    as_csv: bool
) -> int:
    """Grade SUBMISSION, and say where and why it differs. Without it, print the exercise and check its
    claims; without EXERCISE, list those that ship. EXERCISE may be a TOML file.

    SUBMISSION is a list of merges (text, merges.txt, JSON, a .model of minbpe), a vocabulary, ids of the
    texts of the exercise, or a Python file with the function that the exercise names. Of a folder, each file
    or folder in it is a submission.

    The mistake is found by training with each known mistake too: those that give the same merges are named,
    and none is guessed.

    A Python file runs in a child process: in an empty folder, without the environment, with limits of time,
    memory, file size and processes. This stops accidents, not attacks: run files of strangers in a
    container, or use --no-code. Pickles are refused.

    The exit code is 0 if all checks passed, 1 if one failed, and 2 if a file cannot be read.
    """
    if exercise is None:
        write_report(shared.as_json, _listed())
        return 0
    opened = read_exercise(exercise)
    if submission is None:
        return _print_exercise(shared, opened)
    if os.path.isdir(submission):
        return _grade_folder(shared, opened, submission, hints, no_code, as_csv)
    with working(shared.quiet) as bar, bar.phase("grading"):
        graded = grade(opened, submission, allows_code=not no_code)
    if as_csv:
        _write_rows([_row(graded, hints)], head=True)
    else:
        write_report(shared.as_json, report(graded, hints))
    return 0 if graded.passed else 1


def _listed() -> Report:
    rows = tuple(Row((exercise.name, exercise.title)) for exercise in EXERCISES)
    return Report("Exercises", (Section("", "", rows, columns=()),), {
        "exercises": [{"name": exercise.name, "title": exercise.title} for exercise in EXERCISES],
    })


def _print_exercise(shared: SharedOptions, exercise: Exercise) -> int:
    """Print an exercise, and check its claims. Return the exit code: 1 if a claim is false."""
    with working(shared.quiet) as bar, bar.phase("training"):
        false = false_claims(exercise) if exercise.trains else []
    sections = [Section("exercise", exercise.title, wrap=True)]
    if exercise.about:
        sections.append(Section("task", exercise.about, wrap=True))
    if exercise.trains:
        size = f"{exercise.merges:,} merges" if exercise.merges else f"{exercise.vocab_size:,} ids"
        sections += [Section("corpus", exercise.corpus.name), Section("size", size)]
    for name, call in (("function", exercise.call), ("encoder", exercise.encode_call)):
        if call is not None:
            sections.append(Section(name, str(call)))
    if exercise.texts:
        rows = tuple(Row((text.encode(),)) for text in exercise.texts)
        sections.append(Section("texts", "to encode, in this order", rows, columns=()))
    hidden = len(exercise.hidden) + len(exercise.hidden_texts)
    if hidden:
        sections.append(Section("hidden", f"a Python file is tried on {plural(hidden, 'more text')}"))
    claims = len(exercise.claims.get("merges", ())) + len(exercise.claims.get("tokens", ()))
    if claims:
        sections.append(Section("claims", f"{claims - len(false):,} of {claims:,} are true"))
    sections += [Section("false", line) for line in false]
    write_report(shared.as_json, Report(exercise.title, tuple(sections), {
        "exercise": exercise.name, "title": exercise.title, "about": exercise.about,
        "texts": list(exercise.texts),
        "claims": claims, "false": false,
    }))
    return 1 if false else 0


def _grade_folder(
    shared: SharedOptions, exercise: Exercise, folder: str, hints: int, no_code: bool, as_csv: bool
) -> int:
    """Grade each file of a folder. Print each row as soon as its file is graded, or a table at the end. A
    file that cannot be graded has a row with its error. Return the exit code: 1 if a file has not passed.

    Raises:
        TokentuiError: The folder is empty.
    """
    names = _submissions(folder)
    if not names:
        raise TokentuiError("no submissions", shown_path(folder), "put one file for each student there")
    code, rows = 0, []
    if as_csv:
        _write_rows([], head=True)
    with working(shared.quiet) as bar:
        for name, path in names:
            row: dict[str, object]
            try:
                with bar.phase(f"grading {name}"):
                    graded = grade(exercise, path, allows_code=not no_code)
                row = _row(graded, hints)
                whole = value(graded, hints) | {"submission": name}
            except TokentuiError as error:
                row = dict.fromkeys(ROW, "") | {"passed": "no", "points": 0, "of": 0, "error": str(error)}
                whole = {"exercise": exercise.name, "submission": name, "passed": False, "points": 0, "of": 0,
                         "reason": str(error), "error": str(error)}
            row["submission"] = name
            code = max(code, 0 if row["passed"] == "yes" else 1)
            if shared.as_json:
                write_json(whole)
            elif as_csv:
                _write_rows([row])
            else:
                rows.append(Row((name, f"{row['points']}/{row['of']}", str(row["reason"] or row["error"]))))
    if rows:
        write_report(False, Report(exercise.title, (Section("", "", tuple(rows), columns=()),), {}))
    return code


def _submissions(folder: str) -> list[tuple[str, str]]:
    """Return the name and path of each submission: a file, or the first fitting file of a folder.

    Hidden names are left out; at most _MOST_FILES.
    """
    found: list[tuple[str, str]] = []
    with os.scandir(folder) as entries:
        listed = sorted((entry for entry in entries if not entry.name.startswith(".")),
            key=lambda entry: entry.name)
    for entry in listed[:_MOST_FILES]:
        if entry.is_file():
            found.append((entry.name, entry.path))
        elif entry.is_dir(follow_symlinks=False):
            inside = sorted(name for name in os.listdir(entry.path) if not name.startswith("."))
            own = [name for name in inside if name.endswith((".py", ".txt", ".json", ".model"))] or inside
            if own:
                found.append((entry.name, os.path.join(entry.path, own[0])))
    return found


def _row(graded: Grade, hints: int) -> dict[str, object]:
    """Return the row of a grade in a table of many. Mistakes are named from `hints` 2 on."""
    passed, total = graded.points
    return {
        "submission": graded.where, "passed": "yes" if graded.passed else "no", "points": passed, "of": total,
        "reason": first_line(graded, hints), "mistakes": " | ".join(graded.mistakes) if hints >= 2 else "",
        "error": graded.failure,
    }


def _write_rows(rows: list[dict[str, object]], *, head: bool = False) -> None:
    """Write rows of CSV. A cell that a spreadsheet would take for a formula gets an apostrophe in front."""
    text = io.StringIO()
    writer = csv.DictWriter(text, ROW, lineterminator="\n")
    if head:
        writer.writeheader()
    for row in rows:
        writer.writerow({
            key: f"'{item}" if isinstance(item, str) and item.startswith(_DANGEROUS) else item
            for key, item in row.items()
        })
    if text.getvalue():
        write_text(text.getvalue().removesuffix("\n"))
