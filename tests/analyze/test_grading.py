"""Grading: the model in plain Python is right, each mistake is found by name, right solutions in other
styles pass, and nothing that is handed in is trusted."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from running_cli import cli, done, refused, rows
from solutions import MISTAKEN, SOLUTIONS
from students import STYLES, TWO, WRONG, Edits, edited

from tokentui import learn
from tokentui.analyze.grading import child
from tokentui.analyze.grading.diagnose import Trial, diagnose, separating
from tokentui.analyze.grading.exercise import EXERCISES, false_claims, parse_exercise, read_exercise
from tokentui.analyze.grading.faults import Fault, combined, faults_for
from tokentui.analyze.grading.grade import Grade, decoding_mistake, first_line, grade, report
from tokentui.analyze.grading.model import Material, Method, merges_of
from tokentui.axes import preset
from tokentui.core.errors import TokentuiError
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus

SPECIAL = "<|endoftext|>"
S = f"banana oooh{SPECIAL}banana{SPECIAL}low oooh\r\n\r\nLow\r\n\r\n"
"""The text of 62 characters that separates 18 mistakes."""
SPACED = f"ab <b> |ab| endoftext <| |> {SPECIAL}\n ab\n\n{SPECIAL}  ab   Ab   c1234. 1234."
LOWEST = Recipe(base="bytes", tie="lowest-ids")
SMALL = f"""
title = "A small exercise"
corpus_text = {json.dumps(S)}
recipe = "cs336"
vocab_size = 268
specials = ["{SPECIAL}"]
call = "train_bpe(input_path, vocab_size, special_tokens)"
hidden = [
  {json.dumps(SPACED)},
  "aaa aaaa aaaaa\\n\\nbabab babab abbb aabaab don't we'll don't é日本é\\n",
  "ab{SPECIAL}ab{SPECIAL}ab aéb aéb",
]
"""


def pairs(material: Material, method: Method, number: int) -> list[tuple[bytes, bytes]]:
    return [(step.left, step.right) for step in itertools.islice(merges_of(material, method), number)]


def engine(text: str, recipe: Recipe, number: int) -> list[tuple[bytes, bytes]]:
    recipe = recipe.with_axes(symbols=(SPECIAL,)) if SPECIAL in text else recipe
    trainer = learn.start(Corpus.from_text(text), recipe)
    learn.jump(trainer, number)
    vocabulary = trainer.tokenizer().vocabulary
    return [(vocabulary.spelled(left), vocabulary.spelled(right)) for left, right in vocabulary.merges]


def random_text(random: Random) -> str:
    letters = ["a", "b", "a", "b", " ", "A", "\r\n", "é", SPECIAL]
    return "".join(random.choice(letters) for _ in range(random.randrange(1, 60)))


RECIPES = {
    name: preset(name) for name in (
        "cs336", "minbpe", "minbpe-basic", "hf-course-bpe", "hf-course-wordpiece", "subword-nmt",
        "subword-nmt-0.1",
        "udl-notebook", "rustbpe", "hf-bpe", "swift-talk-distinct",
    )
} | {"lowest": LOWEST}


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.first_run(cases=12)
def test_the_model_is_right_without_a_mistake(name: str, seed: int) -> None:
    text = random_text(Random(f"{name} {seed}"))
    specials = (SPECIAL,) if SPECIAL in text else ()
    material = Material(Corpus.from_text(text), RECIPES[name], specials)
    assert pairs(material, Method(), 12) == engine(text, RECIPES[name], 12)


TABLE: tuple[tuple[str, int, bytes], ...] = (
    ("tie-largest-pair", 1, b"oo"), ("tie-first-seen", 4, b"ban"), ("tie-last-seen", 1, b"oo"),
    ("count-apart", 2, b"\r\n"), ("overlapping-merges", 6, b"ow"), ("spaces-lost", 3, b"ban"),
    ("no-pretokens", 1, b"\r\n"), ("stale-counts", 2, b"na"), ("first-place", 5, b"an"),
    ("right-to-left", 4, b" o"), ("byte-order", 4, b"ban"), ("special-as-text", 5, b"<|"),
    ("mark-separate", 5, b"a</w>"), ("distinct-words", 1, b"\r\n"), ("lower-case", 6, b"lo"),
    ("universal-newlines", 3, b" oo"),
)
"""The first merge on S that each mistake gets wrong, and what it makes there."""


@pytest.mark.parametrize(("name", "step", "token"), TABLE)
def test_a_mistake_shows_on_the_text_of_62_characters(name: str, step: int, token: bytes) -> None:
    material = Material(Corpus.from_text(S), LOWEST, (SPECIAL,))
    right = pairs(material, Method(), 10)
    method = next(way for fault, way in faults_for(LOWEST, (SPECIAL,), 1) if fault.name == name)
    wrong = pairs(material, method, 10)
    at = next(n for n, (one, other) in enumerate(zip(wrong, right, strict=True)) if one != other)
    assert (at + 1, b"".join(wrong[at])) == (step, token)


def every_way(recipe: Recipe) -> list[tuple[Fault, Method]]:
    return list(faults_for(recipe, (SPECIAL,), 1))


@pytest.mark.parametrize("number", range(len(every_way(preset("cs336")))))
@pytest.mark.parametrize("size", [8, 14, 25])
@pytest.mark.first_run(cases=1)
def test_a_mistake_is_among_those_that_are_found(number: int, size: int) -> None:
    """On three texts and with three sizes, the diagnosis names the mistake, or the merges are right."""
    recipe = preset("cs336")
    fault, method = every_way(recipe)[number]
    trials = []
    for text in (S, "aaa aaaa aaaaa\n\nbabab babab abbb aabaab don't don't\n",
        f"ab |ab| {SPECIAL}\n Ab 12  ab\r\nab"):
        material = Material(Corpus.from_text(text), recipe, (SPECIAL,))
        right, wrong = pairs(material, Method(), size), pairs(material, method, size)
        trials.append(Trial(material, wrong, right, size))
    found = diagnose(trials, recipe, (SPECIAL,))
    assert found.found
    assert (fault.name,) in [one.names for one in found.found] or not any(one.faults for one in found.found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(150))
def test_two_mistakes_are_found_together_or_it_is_said_that_none_fits(seed: int) -> None:
    random, recipe = Random(seed), preset("cs336")
    (one, first), (other, second) = random.sample(every_way(recipe), 2)
    method = combined(first, second)
    if method is None or one.name == other.name:
        pytest.skip("they cannot be made together")
    trials = []
    for text in (S, "aaa aaaa aaaaa\n\nbabab babab abbb aabaab don't don't\n",
        f"ab |ab| {SPECIAL}\n Ab 12  ab\r\nab"):
        material = Material(Corpus.from_text(text), recipe, (SPECIAL,))
        try:
            wrong = pairs(material, method, 14)
        except (TokentuiError, KeyError, ValueError):
            pytest.skip("they cannot be made together")
        trials.append(Trial(material, wrong, pairs(material, Method(), 14), 14))
    found = diagnose(trials, recipe, (SPECIAL,))
    for explanation in found.found:
        for trial in trials:
            assert pairs(trial.material, explanation.method, len(trial.pairs)) == list(trial.pairs)
    assert found.found or found.tried > 1000


def test_two_that_remain_get_a_text_that_separates_them() -> None:
    ways = {fault.name: method for fault, method in every_way(LOWEST)}
    for one, other in itertools.combinations(("tie-first-seen", "stale-counts", "first-place", "count-apart"),
        2):
        found = separating(ways[one], ways[other], LOWEST, (SPECIAL,))
        assert found is not None
        text, merges, step = found
        material = Material(Corpus.from_text(text), LOWEST, (SPECIAL,))
        for name, pair in zip((one, other), merges, strict=True):
            assert pairs(material, ways[name], step)[step - 1:] == ([pair] if pair != (b"", b"") else [])


# ---- Python files


@pytest.fixture
def graded(tmp_path: Path) -> Callable[[str], Grade]:
    exercise = parse_exercise(SMALL, "small", "small.toml")

    def run(code: str) -> Grade:
        path = tmp_path / "submission.py"
        path.write_text(code, encoding="utf-8")
        return grade(exercise, str(path))

    return run


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.first_run(cases=1)
def test_a_right_solution_passes(graded: Callable[[str], Grade], style: str) -> None:
    found = graded(STYLES[style])
    assert found.passed, found
    assert found.points == (4, 4)


@pytest.mark.parametrize(("name", "style", "edits"), WRONG, ids=[f"{name}, {style}" for name, style,
    _ in WRONG])
@pytest.mark.first_run(cases=1)
def test_a_wrong_solution_gets_its_reason_in_the_first_line(
    graded: Callable[[str], Grade], name: str, style: str, edits: Edits
) -> None:
    found = graded(edited(style, edits))
    assert not found.passed
    assert set(found.mistakes) == {name}, first_line(found)
    if found.diagnosis is not None and found.diagnosis.found[0].faults:
        assert first_line(found) == found.diagnosis.found[0].faults[0].what
    assert sum(found.points) >= 4


def done_report(found: Grade) -> str:
    """The first lines of a report, one for each explanation that remains."""
    return "\n".join(str(section.summary) for section in report(found).sections)


@pytest.mark.slow
@pytest.mark.parametrize(("names", "style", "edits"), TWO)
def test_two_mistakes_are_both_named(
    graded: Callable[[str], Grade], names: tuple[str, str], style: str, edits: Edits
) -> None:
    found = graded(edited(style, edits))
    assert found.diagnosis is not None
    explained = [one for one in found.diagnosis.found if set(one.names) == set(names)]
    assert explained
    what = " and ".join(fault.what for fault in explained[0].faults)
    assert what in done_report(found)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "style", "edits"), WRONG, ids=[f"{name}, {style}" for name, style,
    _ in WRONG])
def test_a_wrong_solution_of_the_exercise_that_ships(
    tmp_path: Path, name: str, style: str, edits: Edits
) -> None:
    path = tmp_path / "a.py"
    path.write_text(edited(style, edits), encoding="utf-8")
    found = grade(read_exercise("cs336"), str(path))
    assert set(found.mistakes) == {name}, first_line(found)


UNKNOWN = (("(counts[p], p)", "(counts[p], sum(p[0]) % 7, sum(p[1]) % 5, p)"),)


@pytest.mark.slow
def test_an_unknown_mistake_is_not_guessed(graded: Callable[[str], Grade]) -> None:
    found = graded(edited("recount", UNKNOWN))
    assert found.mistakes == ()
    assert first_line(found).startswith("none of the ")
    assert found.difference is not None


BAD = {
    "memory": ("def train_bpe(*a):\n    x = 'a' * (1 << 34)\n", "memory limit"),
    "a process": ("import os\ndef train_bpe(*a):\n    os.fork()\n", "start a process"),
    "a subprocess": ("import subprocess\ndef train_bpe(*a):\n    subprocess.run(['true'])\n",
        "start a process"),
    "the network": ("import socket\ndef train_bpe(*a):\n    socket.create_connection(('::1', 9))\n",
        "network"),
    "a large file": ("def train_bpe(*a):\n    open('x', 'wb').write(bytes(1 << 22))\n", "File"),
    "a loop": ("def train_bpe(*a):\n    while True: pass\n", "took more than 1 s"),
    "syntax": ("def train_bpe(:\n", "SyntaxError"),
    "no function": ("x = 1\n", "there is no function or class train_bpe"),
    "arguments": ("def train_bpe(path): return []\n", "called with 3 arguments"),
    "an exit": ("import os\ndef train_bpe(*a):\n    os._exit(0)\n", "ended without an answer"),
    "nothing": ("def train_bpe(*a): return None\n", "not merges"),
    "an object": ("def train_bpe(*a): return object()\n", "holds a object"),
    "an error": ("def train_bpe(*a):\n    return {}['x']\n", "line 2: KeyError"),
    "an error while loading": ("1 / 0\n", "line 1: ZeroDivisionError"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.first_run(cases=2)
def test_accidents_of_a_file_are_an_answer(tmp_path: Path, name: str) -> None:
    code, words = BAD[name]
    exercise = parse_exercise(
        SMALL + "limits = { seconds = 1, memory_mb = 512, file_mb = 1 }\n", "small", "small.toml"
    )
    path = tmp_path / "a.py"
    path.write_text(code)
    found = grade(exercise, str(path))
    assert not found.passed
    assert found.points == (0, 4)
    assert words in first_line(found)


def test_the_limits_of_a_process_are_those_of_the_exercise(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    found: dict[int, tuple[int, int]] = {}
    monkeypatch.setattr(resource, "setrlimit", lambda limit, pair: found.update({limit: pair}))
    child.limit({"memory_mb": 512, "file_mb": 3, "seconds": 7, "processes": 0})
    assert found[resource.RLIMIT_AS] == (512 * 2**20, 512 * 2**20)
    assert found[resource.RLIMIT_FSIZE] == (3 * 2**20, 3 * 2**20)
    assert found[resource.RLIMIT_CPU] == (8, 13)  # at the hard limit the process is killed
    assert found[resource.RLIMIT_NPROC] == found[resource.RLIMIT_CORE] == (0, 0)


def test_a_file_sees_an_empty_folder_and_no_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, graded: Callable[[str], Grade]
) -> None:
    monkeypatch.setenv("MY_SECRET", "1")
    found = graded(
        "import os\ndef train_bpe(path, size, specials):\n"
        "    raise ValueError(sorted(os.listdir('.')), 'MY_SECRET' in os.environ, 'HOME' in os.environ)\n"
    )
    assert "(['corpus.txt'], False, False)" in found.failure


@pytest.mark.parametrize(("decoded", "mistake"), [
    ("É a", ""), ("É a".encode(), ""), (3, "it returns 3"), ("\ufffd\ufffd a", "decoded by itself"),
    ("Éa", "spaces or line ends"), ("é a", "capitals"), ("É b", "the text is"),
])
def test_a_decoded_text_is_judged_by_its_mistake(decoded: object, mistake: str) -> None:
    found = decoding_mistake("É a", decoded)
    assert mistake in found
    assert bool(found) == bool(mistake)


# ---- other submissions


FORMS = {
    "merges.txt": lambda rows: "\n".join(["#version: 0.2", *(" ".join(map(lettered, row)) for row in rows)]),
    "pairs.json": lambda rows: json.dumps([list(map(lettered, row)) for row in rows]),
    "strings.json": lambda rows: json.dumps([" ".join(map(lettered, row)) for row in rows]),
    "object.json": lambda rows: json.dumps({"merges": [list(map(lettered, row)) for row in rows]}),
    "printed.txt": lambda rows: "".join(f"{row}\n" for row in rows),
    "two.txt": lambda rows: "".join(f"{row[0]} {row[1]}\n" for row in rows),
    "tokenizer.json": lambda rows: json.dumps({"model": {"merges": [list(map(lettered,
        row)) for row in rows]}}),
    "ids.json": lambda rows: json.dumps(numbers(rows, 256)),
    "ids.txt": lambda rows: "".join(f"{left} {right}\n" for left, right in numbers(rows, 256)),
    "later.json": lambda rows: json.dumps(numbers(rows, 257)),
    "made.json": lambda rows: json.dumps([[pair, 256 + n] for n, pair in enumerate(numbers(rows, 256))]),
    "keys.json": lambda rows: json.dumps(
        {f"{left},{right}": 256 + n for n, (left, right) in enumerate(numbers(rows, 256))}),
    "a.model": lambda rows: "minbpe v1\n\n0\n" + "".join(f"{a} {b}\n" for a, b in numbers(rows, 256)),
}


def lettered(piece: bytes) -> str:
    from tokentui.formats.tokens import LETTERS

    return "".join(LETTERS[byte] for byte in piece)


def numbers(merges: list[tuple[bytes, bytes]], first: int) -> list[list[int]]:
    ids = {bytes([n]): n for n in range(256)}
    out = []
    for n, (left, right) in enumerate(merges):
        out.append([ids[left], ids[right]])
        ids[left + right] = first + n
    return out


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.first_run(cases=1)
def test_merges_in_any_form_are_read(tmp_path: Path, name: str) -> None:
    exercise = parse_exercise(SMALL, "small", "small.toml")
    right = engine(S, preset("cs336"), 11)
    path = tmp_path / name
    path.write_text(FORMS[name](right), encoding="utf-8")
    assert grade(exercise, str(path)).passed
    path.write_text(FORMS[name](engine(S, LOWEST, 11)), encoding="utf-8")
    found = grade(exercise, str(path))
    assert not found.passed
    assert found.difference is not None
    assert found.difference.step == 1


def test_pickles_are_refused_by_name(tmp_path: Path) -> None:
    import pickle

    for name in ("merges.pkl", "merges.json"):
        path = tmp_path / name
        path.write_bytes(pickle.dumps([(b"a", b"b")]))
        assert "pickle is not read" in refused("grade", "cs336", str(path))


def test_code_is_refused_if_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("raise SystemExit")
    assert "--no-code" in refused("grade", "cs336", str(path), "--no-code")


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return str(path)


def test_tokens_that_an_exercise_expects_are_compared_text_by_text(tmp_path: Path) -> None:
    exercise, answer = tmp_path / "tokens.toml", tmp_path / "answer.json"
    exercise.write_text('title = "Two"\nexpect = { tokens = { "a text" = ["a", " text"], "b" = ["b"] } }\n')
    for tokens, wanted in (
        ([["a", " text"], ["b"]], []),
        ([["a", " text"], ["c"]], ["token 1 is 'c', not 'b'"]),
        ([["a"], ["b", "b"]], ["token 2 is missing, not ' text'", "token 2 is 'b', not one more"]),
        ([["a", " text"]], ["1 row for 2 texts"]),
    ):
        answer.write_text(json.dumps({"tokens": tokens}))
        output = cli("grade", str(exercise), str(answer))
        assert output.exit_code == bool(wanted)
        failed = [line for line in output.stdout.splitlines() if " failed  " in line]
        assert [line.split("failed  ")[1] for line in failed] == wanted


def test_hints_and_exit_codes(tmp_path: Path, small: str) -> None:
    right = engine(S, preset("cs336"), 11)
    wrong = pairs(Material(Corpus.from_text(S), preset("cs336"), (SPECIAL,)), Method(update="stale"), 11)
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text(FORMS["merges.txt"](right), encoding="utf-8")
    bad.write_text(FORMS["merges.txt"](wrong), encoding="utf-8")
    assert done("grade", small, str(good)).startswith("passed")
    outputs = [cli("grade", small, str(bad), "--hints", str(n)) for n in range(4)]
    assert {output.exit_code for output in outputs} == {1}
    texts = [output.stdout for output in outputs]
    assert "stale" not in texts[0]
    assert "merge 3" not in texts[0]
    assert "merge 3" in texts[1]
    assert "stale" not in texts[1]
    assert texts[2].startswith("mistake      counts are stale")
    assert "look " in texts[3]
    assert "look " not in texts[2]
    (row,) = rows(cli("grade", small, str(bad), "--json").stdout)
    assert row["explanations"][0]["mistakes"] == ["stale-counts"]
    assert row["passed"] is False


@pytest.mark.slow
def test_a_folder_is_one_row_a_student(tmp_path: Path, small: str) -> None:
    folder = tmp_path / "submissions"
    folder.mkdir()
    right = FORMS["merges.txt"](engine(S, preset("cs336"), 11))
    (folder / "ada.txt").write_text(right, encoding="utf-8")
    (folder / "bob.pkl").write_bytes(b"\x80\x04.")
    (folder / "=cmd.txt").write_text("a b\n", encoding="utf-8")
    (folder / "eve").mkdir()
    (folder / "eve" / "merges.txt").write_text(right, encoding="utf-8")
    answer = cli("grade", small, str(folder), "--csv")
    assert answer.exit_code == 1
    lines = answer.stdout.splitlines()
    assert [line.split(",")[:2] for line in lines] == [
        ["submission", "passed"], ["'=cmd.txt", "no"], ["ada.txt", "yes"], ["bob.pkl", "no"], ["eve", "yes"],
    ]
    assert [row["passed"] for row in rows(cli("grade", small, str(folder), "--json").stdout)] == [
        False, True, False, True,
    ]


# ---- exercises


@pytest.mark.parametrize("name", [exercise.name for exercise in EXERCISES])
def test_the_claims_of_an_exercise_are_true(name: str) -> None:
    exercise = read_exercise(name)
    assert exercise.title == next(known.title for known in EXERCISES if known.name == name)
    assert false_claims(exercise) == []


ERRORS = {
    "": "title: the title is missing",
    "title = 1": "title: wrong type: 1",
    'title = "a"\nrecip = "gpt2"': "no such key: recip",
    'title = "a"\nrecipe = "gpt2"\ncorpus = "sample:hugs"': "merges: an exercise needs a recipe",
    'title = "a"\nrecipe = "gpt3"\nmerges = 3\ncorpus = "sample:hugs"': "recipe: gpt3: no such preset",
    'title = "a"\nrecipe = "t5"\nmerges = 3\ncorpus = "sample:hugs"': "recipe: objective=unigram merges no "
                                                                      "pairs",
    'title = "a"\nrecipe = "gpt2"\nmerges = 0\ncorpus = "sample:hugs"': "merges: not 1 to 20,000",
    'title = "a"\nrecipe = "gpt2"\nmerges = 3': "corpus: the corpus is missing",
    'title = "a"\nrecipe = "gpt2"\nmerges = 3\ncorpus = "sample:nothing"': "corpus: ",
    'title = "a"\nrecipe = "gpt2"\nmerges = 3\ncorpus = "https://example.com/a"': "corpus: an exercise "
                                                                                  "reads no URL",
    'title = "a"\nrecipe = "gpt2"\nmerges = 3\ncorpus_text = ""': "corpus_text: not 1 to 20,000 characters",
    'title = "a"\nrecipe = "gpt2"\nmerges = 3\ncorpus_text = "a"\ncall = "f(x)"': "call: nothing is called x",
    'title = "a"\nrecipe = "gpt2"\nmerges = 3\ncorpus_text = "a"\ncall = "f("': "call: not a call",
    'title = "a"\nrecipe = "gpt2"\nmerges = 3\ncorpus_text = "a"\nlimits = { seconds = 0 }': "limits: "
                                                                                             "seconds is 0",
    'title = "a"\nrecipe = "gpt2"\nmerges = 3\ncorpus_text = "a"\nlimits = { cpu = 1 }': "limits: no such "
                                                                                         "limit: cpu",
    'title = "a"\nrecipe = "gpt2"\nmerges = 3\ncorpus_text = "a"\nhidden = [1]': "hidden: not a text: 1",
    'title = "a"\nrecipe = "gpt2"\nmerges = 3\ncorpus_text = "a"\nclaims = { x = 1 }': "claims: no such "
                                                                                       "answer: x",
    'title = "a"\nrecipe = "gpt2"\nmerges = 3\ncorpus_text = "a"\nclaims = { merges = [1] }': "claims: "
                                                                                              "merges is not",
    "title = ": "a.toml: not TOML",
}


@pytest.mark.parametrize("text", ERRORS)
def test_an_error_in_an_exercise_is_one_line_with_its_key(text: str) -> None:
    with pytest.raises(TokentuiError) as error:
        parse_exercise(text, "a", "a.toml")
    assert ERRORS[text] in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", SOLUTIONS)
@pytest.mark.first_run(cases=2)
def test_a_right_solution_of_each_exercise_passes(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.py"
    path.write_text(SOLUTIONS[name], encoding="utf-8")
    found = grade(read_exercise(name), str(path))
    assert found.passed, (found.checks, found.failure)


ALIKE = {("jurafsky", "no-mark"): {"count-but-last"}, ("udl-sailor", "no-mark"): {"count-but-last"}}
"""Mistakes that give the same merges as another one, whatever the corpus: both are named."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exercise", "name", "edits"), MISTAKEN, ids=[f"{exercise}, {name}" for exercise, name, _ in MISTAKEN]
)
def test_a_wrong_solution_of_each_exercise(tmp_path: Path, exercise: str, name: str, edits: Edits) -> None:
    code = SOLUTIONS[exercise]
    for old, new in edits:
        assert old in code
        code = code.replace(old, new)
    path = tmp_path / "a.py"
    path.write_text(code, encoding="utf-8")
    found = grade(read_exercise(exercise), str(path))
    assert not found.passed
    assert set(found.mistakes) == {name} | ALIKE.get((exercise, name), set()), first_line(found)
    assert found.mistakes[0] == name
