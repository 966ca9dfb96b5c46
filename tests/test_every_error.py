"""Errors that no other test raises: each by an argument, a file or a command that a user could give.

docs/errors.md lists all errors. CONTRIBUTING.md says how those that no test raises are found.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dialogs import FakeEngine, shown, typed
from protomake import message
from running_cli import cli, done, refused
from screens import screen_text, snapshot
from servers import Web, hub, serving, web
from sessions import Watched
from stepping import opened
from waiting import notes_of, until

import tokentui
from tokentui.axes import preset
from tokentui.cli.commands import explore
from tokentui.cli.main import program
from tokentui.core.errors import TokentuiError
from tokentui.formats import FORMATS, WRITTEN, huggingface
from tokentui.formats.files import load
from tokentui.learn import jump
from tokentui.recipe import Recipe, Run
from tokentui.session import commands as do
from tokentui.session.commands import DiffColumns, Edits, EditVocabulary, WriteEdited
from tokentui.session.engine.state import State
from tokentui.session.training.training import prepare
from tokentui.session.views import ColumnWanted
from tokentui.text import parquet, patterns, remote
from tokentui.text.corpus import Corpus
from tokentui.tours.facts import Place
from tokentui.tours.parser import Stop, tour_text
from tokentui.ui.dialogs.edit import EditScreen

TEXT = "hug hug pug a sailor went to sea sea\n" * 5
OPTIONS = {
    "sentencepiece-unigram": ("-r", "sentencepiece-unigram", "--vocab-size", "40", "-s", "normalize="),
    "picky": ("-r", "gpt2", "-s", "objective=picky", "--merges", "5"),
}


@pytest.fixture(scope="module", autouse=True)
def here(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A folder with a text, counted words, and small tokenizers; the tests stand in it."""
    folder = tmp_path_factory.mktemp("errors")
    before = Path.cwd()
    os.chdir(folder)
    Path("text.txt").write_text(TEXT)
    Path("words.counts.tsv").write_text("hug\t10\npug\t5\n")
    for name in ("gpt2", "picky", "gage", "bert", "llama2", "sentencepiece-unigram", "superbpe"):
        options = OPTIONS.get(name, ("-r", name, "--merges", "5"))
        done("train", "text.txt", *options, "-o", f"{name}.json", "-q")
    yield folder
    os.chdir(before)


def told(call: Callable[[], object]) -> str:
    """The one line of an error."""
    with pytest.raises(TokentuiError) as found:
        call()
    line = str(found.value)
    assert "\n" not in line
    return line


EDIT = ("edit", "gpt2.json", "new.json")
ENCODE = ("encode", "text.txt", "-t", "gpt2.json")


@pytest.mark.parametrize(("words", "line"), [
    ((*EDIT, "--extend", "text.txt"), "edit: --extend and --vocab-size must be used together (use both)"),
    (("edit", "gpt2.json", "-", "--add", "xyz"),
     "OUT -: standard output is used for the report (name a file)"),
    ((*EDIT, "--add", "xyz", "--map", "new.json"),
     "--map new.json: two outputs cannot be the same file (name another)"),
    ((*EDIT, "--add", os.fsdecode(b"\xff")),
     r"--add \xff: a lone surrogate is not valid text (use another text)"),
    ((*EDIT, "--prune", "words.counts.tsv"),
     "--prune: counted words are not documents (use a text corpus)"),
    (("inspect", "-t", "gpt2.json", "--corpus", "a=text.txt", "--corpus", "words.counts.tsv"),
     "--corpus words.counts.tsv: has no name, and others have one (name it NAME=CORPUS)"),
    ((*ENCODE, "--temperature", "2"), "encode: --temperature requires --sample SEED (name a seed)"),
    ((*ENCODE, "--seed", "3"), "encode: --seed and --n require --sample dropout (name it)"),
    ((*ENCODE, "--sample", "dropout", "--n", "3", "--json"),
     "--n: cannot be combined with --json, --jsonl or --html (leave one of them out)"),
    ((*ENCODE, "--sample", "dropuot"), "--sample: no way to sample: 'dropuot' (did you mean dropout?)"),
    ((*ENCODE, "--sample", "dropout:p=x"), "p=x: expected a share from 0 to 1 (for example 0.1)"),
    (("inspect", "-t", "hf:"), "hf:: not a hub repository (for example hf:OWNER/NAME)"),
    (("train", "words.counts.tsv", "text.txt", "-r", "gpt2"),
     "text.txt: words.counts.tsv holds counted words, text.txt does not: that is more than one corpus "
     "(name them separately, or use --as text)"),
])
def test_words_of_a_command(words: tuple[str, ...], line: str) -> None:
    assert refused(*words) == line


def test_a_format_that_cannot_hold_it_is_told_before_its_bytes_go_to_standard_output() -> None:
    found = cli("convert", "bert.json", "-", "--to", "tiktoken")
    assert (found.exit_code, found.stdout) == (1, "")
    assert found.stderr == (
        "tokentui: tiktoken cannot store it: it is encoded with longest match "
        "(this format: merges or ranks)\n"
    )


Change = Callable[[dict[str, Any]], object]
"""A change of a document."""


@pytest.mark.parametrize(("name", "change", "line"), [
    ("sentencepiece-unigram.json", lambda it: it.update(merges=[[1, 2, 3]]),
     "merges row 0: a unigram model has no merges (make the list empty)"),
    ("sentencepiece-unigram.json", lambda it: it["units"][-1].__setitem__(1, 3.5),
     "SCORE is not a log probability (use a number from -1e6 to 0)"),
    ("gpt2.json", lambda it: it["merges"].__setitem__(slice(0, 2), it["merges"][1::-1]), "other tokens than"),
    ("picky.json", lambda it: it["recipe"].update(objective="superbpe"),
     "events: objective=superbpe has no events (fix one of the two)"),
    ("picky.json", lambda it: it["units"].__delitem__(0),
     "units: the base is not all 256 bytes (each unit must be unique)"),
])
def test_a_document(name: str, change: Change, line: str, tmp_path: Path) -> None:
    assert line in damaged(name, change, tmp_path)


def damaged(name: str, change: Change, folder: Path) -> str:
    """The line of a tokenizer file that was changed, without its path."""
    document = json.loads(Path(name).read_text())
    change(document)
    path = folder / "damaged.json"
    path.write_text(json.dumps(document))
    line = told(lambda: tokentui.load(path))
    assert line.startswith(f"{path}: ")
    return line.removeprefix(f"{path}: ")


ROW = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
LONG = {"id": "[X]", "ids": [1] * 2000, "tokens": ["a"] * 2000}


@pytest.mark.parametrize(("steps", "line"), [
    ({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "a" * 70_000}, "behavior": "Isolated",
                        "invert": False}}, "the pattern is too large (write a shorter one)"),
    ({"post_processor": {"type": "TemplateProcessing",
                         "single": [{"SpecialToken": {"id": "[X]", "type_id": 0}},
                                    {"Sequence": {"id": "A", "type_id": 0}}],
                         "pair": [], "special_tokens": {"[X]": LONG}}},
     "post_processor: more than 1,000 tokens around a text"),
    ({"post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 7], "cls": ["[CLS]", 8]}},
     "is not in the vocabulary"),
    ({"pre_tokenizer": {"type": "FixedLength", "length": 0}},
     "pre_tokenizer.FixedLength.length: a length must be at least 1"),
    ({"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "add_prefix_space": False,
                        "prepend_scheme": "always"}},
     '"add_prefix_space" is false (write "prepend_scheme": "never" too)'),
    ({"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}] * 1_001}},
     "normalizer: more than 1,000 steps (fix the file)"),
])
def test_a_file_of_hugging_face(steps: dict[str, Any], line: str, tmp_path: Path) -> None:
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"version": "1.0", "model": model} | steps))
    assert line in told(lambda: load(path))


# ---- the explorer's session


def state(recipe: str = "gpt2", **axes: Any) -> State:
    """A session's state with a training on the text, at step 2."""
    made = preset(recipe).with_axes(**axes)
    it = State(prepare(Corpus.from_text(TEXT), made, Run.of({"merges": 5})))
    jump(it.main.trainer, 2)
    it.sync.adopt_position(it.main)
    return it


WISH = Edits(add=("xyz",))


@pytest.mark.parametrize(("command", "line"), [
    (do.Find("moon", "a", 0), "moon: no such pane (one of: corpus, pairs, vocabulary)"),
    (do.LifeOfWord("a" * 2_001), "explain: text of more than 2,000 characters (choose a part of it)"),
    (do.Compare((ColumnWanted(preset("gpt2")),)),
     "compare: at least two columns are needed (name another one)"),
    (do.RunUntil(compression=2.0),
     "run until: each distinct word counts once, so bytes per token are not defined"),
    (DiffColumns(1, 2), "diff: a column is not in sync yet (wait and press the key again)"),
    (EditVocabulary(Edits()), "edit: no change given (prune, train on, or name a token)"),
    (WriteEdited(WISH, "gpt2.json"), "gpt2.json: the file exists already (choose another name)"),
])
async def test_commands_of_a_session(command: do.Command[Any], line: str) -> None:
    session = Watched(preset("gpt2").with_axes(weight="distinct"), Run.of({"merges": 5}))
    await session.start()
    await session.send(do.TrainOnText(TEXT))
    await session.settle()
    with pytest.raises(TokentuiError) as found:
        await session.send(command)
    assert str(found.value) == line
    await session.close()


@pytest.mark.parametrize(("command", "line"), [
    (do.GoToToken("hug"), "hug: tokens can be searched in one column only (go to a step, or leave Compare)"),
    (do.RunUntil("hug"), "run until: only one column at a time (leave Compare)"),
])
def test_commands_of_one_column(command: do.Command[Any], line: str) -> None:
    it = state()
    do.perform(do.Compare((ColumnWanted(preset("gpt2")), ColumnWanted(preset("bert")))), it, print)
    assert told(lambda: do.perform(command, it, print)) == line


def test_a_column_that_is_not_open_yet_is_not_asked() -> None:
    it = state()
    columns = ColumnWanted(preset("gpt2")), ColumnWanted(preset("bert"), name="theirs")
    do.perform(do.Compare(columns), it, print)
    key = it.compared[1].key
    line = told(lambda: do.perform(do.InspectText("hug", column=key), it, print))
    assert line == "theirs: the column is not open yet (wait and press the key again)"


async def test_a_tokenizer_of_a_file_has_no_end() -> None:
    session = Watched()
    await session.start()
    await session.send(do.Open(("text.txt",)))
    await session.send(do.OpenTokenizer("gpt2.json"))
    with pytest.raises(TokentuiError) as found:
        await session.send(do.EncodeAtEnd())
    assert str(found.value) == "gpt2.json: a tokenizer from a file cannot be trained (open a text)"
    await session.close()


def test_a_tour_holds_no_long_typed_corpus() -> None:
    stop = Stop(Place("", "a" * 10_001), "x")
    assert told(lambda: tour_text("A", [stop])) == (
        "the walk: a typed corpus of more than 10,000 characters (open it as a file)"
    )


# ---- files that cannot hold a tokenizer

FEW = ("--merges", "5")


@pytest.mark.parametrize(("words", "format", "line"), [
    (("gpt2", "-s", "base=sorted", "-s", "unknown=drop", *FEW), "tiktoken",
     "240 of the 256 bytes have no token (the format's owner fails on text with them)"),
    (("gpt2", "-s", "normalize=lowercase", *FEW), "tiktoken",
     "it normalizes text with lowercase (the format cannot store it)"),
    (("gpt2", "-s", "split=regex:(a)|b", "-s", "base=bytes", *FEW), "minbpe",
     "its pattern has groups, newlines, or spaces at the ends (the file stores the pattern on one line)"),
    (("gpt2", "--special", "a", *FEW), "gpt2",
     "two tokens have the same spelling (the files identify tokens by name)"),
    (("gpt2", "-s", "mark=end-symbol:</w>", "-s", "split=space", *FEW), "subword-nmt",
     "its units are bytes with mark=end-symbol:</w> (codes of bytes have mark=end-suffix:</w>)"),
    (("wordpiece", "--special", "h", *FEW), "bert",
     "two tokens have the same spelling (of two equal lines, the last one counts)"),
    (("bert", "--special", "hug", "--first-id", "200000", *FEW), "bert",
     "200000 ids have no token (the file needs a line for each)"),
])
def test_a_training_that_a_format_cannot_hold(
    words: tuple[str, ...], format: str, line: str, tmp_path: Path
) -> None:
    path, folder = tmp_path / "made.json", tmp_path / "out"
    folder.mkdir()
    done("train", "text.txt", "-r", *words, "-o", str(path), "-q")
    assert line in unheld(path, format, folder)


def unheld(path: Path, format: str, folder: Path) -> str:
    """What `convert` says where it refuses; nothing is written."""
    found = cli("convert", str(path), str(folder if format == "gpt2" else folder / "new"), "--to", format)
    assert found.exit_code == 1
    assert f"{format} cannot store it: " in found.stderr
    assert not list(folder.iterdir())
    return found.stderr


def test_a_name_that_the_format_needs(tmp_path: Path) -> None:
    text, path, folder = tmp_path / "text.txt", tmp_path / "made.json", tmp_path / "out"
    folder.mkdir()
    text.write_text("[UNK] " * 9)
    axes = ("-s", "split=whitespace", "-s", "normalize=")
    done("train", str(text), "-r", "bert", *axes, "--merges", "40", "-o", str(path), "-q")
    assert "a token is spelled [UNK] (the file needs that name for the unknown token)" in unheld(
        path, "bert", folder)


TWICE = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0], ["a", -2.0]]}


@pytest.mark.parametrize(("document", "format", "line"), [
    ({"model": {"type": "BPE", "vocab": {"a": 0, "b": 0, "ab": 1}, "merges": [["a", "b"]]}}, "huggingface",
     "two tokens have the same id (keep the original file)"),
    ({"model": TWICE}, "tokentui",
     "two tokens have one id or one name (keep the original file)"),
    ({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]},
      "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
      "normalizer": {"type": "Replace", "pattern": {"String": "x"}, "content": "y"}}, "sentencepiece",
     "its normalizer Replace of 'x' cannot be stored (sentencepiece has a table of normalization rules, "
     "and settings of spaces)"),
])
def test_a_file_that_another_format_cannot_hold(
    document: dict[str, Any], format: str, line: str, tmp_path: Path
) -> None:
    path, folder = tmp_path / "tokenizer.json", tmp_path / "out"
    folder.mkdir()
    path.write_text(json.dumps({"version": "1.0"} | document))
    assert line in unheld(path, format, folder)


UNUSED = ((1, message([(1, b"seas"), (2, -9.0), (3, 5)])),)
"""A piece that is no token: where merges come to it, it is cut again."""
SUFFIX, FALLBACK = ((2, message([(24, 1)])),), ((2, message([(35, 1)])),)
"""Fields of a model's message: a mark behind words; bytes for what has no piece."""


def model(folder: Path, fields: tuple[tuple[int, bytes], ...], of: str = "llama2.json") -> Path:
    """A sentencepiece model with more fields."""
    path = folder / "made.model"
    done("convert", of, str(path), "--to", "sentencepiece", "-q")
    path.write_bytes(path.read_bytes() + message(fields))
    return path


def test_a_model_with_its_mark_behind_words_has_no_steps_of_hugging_face(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    assert "the axes do not describe all of its text processing (Hugging Face has no steps" in unheld(
        model(tmp_path, SUFFIX), "huggingface", folder)


def test_a_model_without_its_bytes(tmp_path: Path) -> None:
    path = model(tmp_path, FALLBACK, "sentencepiece-unigram.json")
    assert told(lambda: load(path)).startswith(f"{path}: pieces: 256 of the 256 byte pieces are missing")


# ---- another vocabulary


@pytest.mark.parametrize(("words", "line"), [
    (("--extend", "text.txt", "--vocab-size", "400"),
     "--extend: new merges would renumber its base (use another base, such as sorted)"),
    (("--merge", "llama2.json"),
     "--merge: new merges would renumber its base (use another base, such as sorted)"),
])
def test_a_base_behind_its_merges(words: tuple[str, ...], line: str, tmp_path: Path) -> None:
    assert refused("edit", "llama2.json", str(tmp_path / "new.json"), *words) == line


def test_words_that_are_counted_and_a_text_are_no_one_corpus(tmp_path: Path) -> None:
    line = refused("count", "words.counts.tsv", "text.txt", "-r", "gpt2", "-o", str(tmp_path / "a.tsv"))
    assert "words.counts.tsv holds counted words, " in line
    assert line.endswith("does not: that is more than one corpus (name them separately, or use --as text)")


def made(folder: Path, recipe: str, **axes: Any) -> Path:
    """A tokenizer that the library trained with these axes."""
    path = folder / "made.json"
    tokentui.train("text.txt", preset(recipe).with_axes(**axes), merges=5).save(path)
    return path


def spelled_twice(folder: Path) -> Path:
    """A document with two tokens of the same bytes: abc by ab + c, and by a + bc."""
    path = folder / "twice.json"
    done("train", "text.txt", "-r", "minbpe", "--merges", "0", "-o", str(path), "-q")
    document = json.loads(path.read_text())
    document["merges"] = [[97, 98, 4], [256, 99, 3], [98, 99, 2], [97, 258, 1]]
    del document["digest"]
    path.write_text(json.dumps(document))
    return path


def test_what_cannot_be_trained_on(tmp_path: Path) -> None:
    new, more = str(tmp_path / "new.json"), ("--extend", "text.txt", "--vocab-size", "400")
    path = made(tmp_path, "gpt2", symbols=("hug",))
    assert refused("edit", str(path), new, *more) == (
        "--extend: it has symbols that no merge crosses (train it again)"
    )
    twice = str(spelled_twice(tmp_path))
    assert refused("edit", twice, new, *more) == (
        "--extend: two of its tokens have the same spelling (train it again)"
    )


def test_two_tokens_of_the_same_bytes_are_no_ranks(tmp_path: Path) -> None:
    path, folder = spelled_twice(tmp_path), tmp_path / "out"
    folder.mkdir()
    assert "two tokens have the same bytes (tokens must be unique)" in unheld(
        path, "tiktoken", folder)


def test_a_space_in_front_of_a_text_that_is_not_split(tmp_path: Path) -> None:
    path, folder = made(tmp_path, "sentencepiece-bpe", split="none", prefix_space=True), tmp_path / "out"
    folder.mkdir()
    assert "it adds a space before a text that keeps its spaces (sentencepiece adds" in unheld(
        path, "sentencepiece", folder)


def test_a_token_that_its_library_would_give_another_id(tmp_path: Path) -> None:
    path = tmp_path / "holes.json"
    path.write_text(json.dumps({"version": "1.0", "model": {
        "type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 7}, "merges": [["a", "b"]],
    }}))
    line = refused("edit", str(path), str(tmp_path / "new.json"), "--add", "zz")
    assert line == "--add zz: its id would not be 8 (prune it first)"


# ---- corpora and places


def test_a_published_size_is_asked_for_by_true_or_false() -> None:
    assert told(lambda: tokentui.train("text.txt", "gpt2", published="yes")) == (  # type: ignore[arg-type]
        "published: expected True or False, not 'yes' (for example True)"
    )


@pytest.fixture
def repositories(tmp_path: Path) -> Iterator[str]:
    """The URL of a hub of this machine, which the hub's library takes for the hub."""
    pytest.importorskip("fsspec", reason="the extra remote is not installed")
    pytest.importorskip("aiohttp", reason="the extra remote is not installed")
    constants = pytest.importorskip("huggingface_hub.constants", reason="the extra remote is not installed")
    kind = hub({
        "models/owner/none": {"README.md": b"x"}, "datasets/owner/texts": {"a.txt": b"a", "b.txt": b"b"},
    })
    with serving(kind) as url, pytest.MonkeyPatch.context() as patch:
        patch.setattr(constants, "ENDPOINT", url)
        file = url + "/{repo_id}/resolve/{revision}/{filename}"
        patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", file)
        patch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
        yield url


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize(("call", "name", "line"), [
    (tokentui.load, "hf:owner/none", "this repository contains no tokenizer file (one of: tokenizer.json, "),
    (tokentui.load, "hf:owner/missing",
     "no such repository, or no permission to read it (check the name)"),
    (tokentui.load, "hf://datasets/owner/texts",
     "is a folder, not a tokenizer file (name the file in it)"),
    (tokentui.read, "hf://datasets/owner/texts/*.jsonl", "no file matches (** searches subfolders too)"),
    (tokentui.read, "hf://datasets/owner/texts/none.txt", "no such file (check the name)"),
])
def test_repositories_of_the_hub(
    repositories: str, call: Callable[[str], object], name: str, line: str
) -> None:
    assert told(lambda: call(name)).startswith(f"{name}: {line}")


def test_a_place_of_too_many_files(repositories: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_MOST_FILES", 1)
    name = "hf://datasets/owner/texts"
    assert told(lambda: tokentui.read(name)) == f"{name}: more than 1 files (select fewer of them)"


def test_without_a_network_only_what_was_fetched_is_there(
    repositories: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert told(lambda: tokentui.load("hf:owner/none")).startswith(
        "hf:owner/none: there is no network, and it is not in the cache ("
    )


def test_an_answer_that_breaks_off(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("aiohttp", reason="the extra remote is not installed")
    kind = web({"/a.txt": b"the whole text"}, ranges=False)

    def file(self: Web, data: bytes, body: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(data) + 9))
        self.end_headers()
        self.wfile.write(data if body else b"")
        self.close_connection = True

    monkeypatch.setattr(kind, "_file", file)
    with serving(kind) as url:
        line = told(lambda: tokentui.read(f"{url}/a.txt"))
    assert line == f"{url}/a.txt: the download was interrupted (try again)"


def test_why_of_a_unigram_training() -> None:
    run = tokentui.Trainer("text.txt", "t5")
    assert told(run.why) == "why: a unigram training has no next pair (use candidates())"


def test_pieces_that_are_cut_again(tmp_path: Path) -> None:
    path = str(model(tmp_path, UNUSED))
    line = refused("edit", path, str(tmp_path / "new.json"), "--merge", path)
    assert line == "--merge: it has pieces that are split again (prune it first)"


def test_a_merge_that_spells_a_special_token_has_its_id(tmp_path: Path) -> None:
    path = tmp_path / "made.json"
    done("train", "text.txt", "-r", "gpt2", "--special", "hx", *FEW, "-o", str(path), "-q")
    document = json.loads(path.read_text())
    document["run"]["specials"] = ["ug"]
    path.write_text(json.dumps(document))
    assert told(lambda: load(path)) == (
        f"{path}: digest: the rest of the file gives other tokens than those that were written"
        ' (restore it, or remove "digest")'
    )


def test_a_word_of_a_table_that_is_no_text(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    path = tmp_path / "words.counts.parquet"
    columns = {parquet.WORD: ["a"], parquet.COUNT: [3], parquet.EXACT: arrow.array([b"\xff"], arrow.binary())}
    pytest.importorskip("pyarrow.parquet").write_table(arrow.table(columns), path)
    assert told(lambda: tokentui.read(path)) == f"{path}:1: not a word and a count (write it again)"


def test_zstd_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("compression.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    path = str(tmp_path / "words.tsv.zst")
    assert refused("count", "text.txt", "-r", "gpt2", "-o", path) == (
        f"{path}: zstd is not installed (pip install 'tokentui[zstd]', or use .gz)"
    )


def test_two_names_that_are_too_long_for_one_folder(tmp_path: Path) -> None:
    pytest.importorskip("textual_serve", reason="the extra web is not installed")
    name, words = "n" * 250 + ".json", []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(Path("gpt2.json").read_bytes())
        words += ["-t", str(tmp_path / folder / name)]
    assert refused("serve", "--port", "0", *words).endswith(
        f"{name}: cannot be served: {os.strerror(errno.ENAMETOOLONG)}"
    )


def test_a_format_that_is_only_read() -> None:
    for name in FORMATS.keys() - WRITTEN.keys():
        write = FORMATS[name].codec.write
        assert told(lambda write=write: write(None)) == "the format is read-only"  # type: ignore[misc]


# ---- a machine that lacks something


@pytest.mark.parametrize(("words", "line"), [
    (("encode", "-", "-t", "gpt2.json"), "standard input: there is none (open it, or name a file)"),
    (("count", "-", "-r", "gpt2", "-o", "new.tsv"), "standard input: there is none (name a file)"),
])
def test_no_standard_input(
    words: tuple[str, ...], line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SystemExit) as ended:
        program.main(list(words))
    assert ended.value.code == 2
    assert capsys.readouterr() == ("", f"tokentui: {line}\n")


def test_a_folder_of_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    assert refused("train", "text.txt", "-r", "gpt2", *FEW, "-o", "new.json").endswith(
        "new.json: cannot be written: no permission (name another place)"
    )


@pytest.fixture
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process has no terminal of its own."""
    opened = os.open

    def opens(path: str, *words: Any, **named: Any) -> int:
        if path == "/dev/tty":
            raise OSError(errno.ENXIO, os.strerror(errno.ENXIO), path)
        return opened(path, *words, **named)

    monkeypatch.setattr(os, "open", opens)


@pytest.mark.usefixtures("no_terminal")
def test_no_terminal_to_mend() -> None:
    assert refused("--reset-terminal") == "--reset-terminal: there is no terminal"


@pytest.mark.usefixtures("no_terminal")
def test_no_keyboard_where_the_corpus_has_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(explore, "is_terminal", lambda stream: stream is sys.stdout)
    assert refused("-").startswith(
        "-: the explorer needs a keyboard, and there is no terminal (commands for scripts: train, "
    )


class Hungry:
    """A pattern that takes all memory, at once or after it took its time."""

    def __init__(self, *errors: type[Exception]) -> None:
        self._errors = iter(errors)

    def finditer(self, *_: object, **named: object) -> Iterator[Any]:
        raise next(self._errors)


@pytest.mark.parametrize("errors", [(MemoryError,), (TimeoutError, MemoryError)])
def test_a_pattern_that_takes_all_memory(errors: tuple[type[Exception], ...]) -> None:
    pattern: Any = Hungry(*errors)
    assert told(lambda: list(patterns.find(pattern, "abc", "split=regex:a"))).startswith(
        "split=regex:a at 'abc': the pattern needs too much memory (write one that backtracks less; "
    )


def test_a_pattern_that_cannot_be_compiled_for_want_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compiled(pattern: object) -> None:
        raise MemoryError

    monkeypatch.setattr(huggingface, "_compiled", compiled)
    path = tmp_path / "tokenizer.json"
    split = {"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Isolated", "invert": False}
    path.write_text(json.dumps({"version": "1.0", "model": TWICE, "pre_tokenizer": split}))
    assert told(lambda: load(path)) == (
        f"{path}: pre_tokenizer.Split.pattern: the pattern is too large (write a shorter one)"
    )


# ---- screens


async def test_a_size_that_is_no_number() -> None:
    engine = FakeEngine(snapshot())
    async with shown(EditScreen(engine)) as (_, pilot):
        await pilot.press("t")
        await until(pilot, lambda: engine.pushed)
    async with shown(engine.pushed[-1]) as (app, pilot):
        await typed(pilot, "many")
        await until(pilot, lambda: "many: expected a number (for example 4000 or 32k)" in screen_text(app))


@pytest.mark.slow
async def test_no_way_back_to_a_corpus_without_a_name() -> None:
    async with opened(Recipe(), "text.txt") as (app, pilot):
        await app.engine.ask(do.Open(("text.txt", "text.txt")))
        await pilot.press("G")
        await until(pilot, lambda: "step 0" not in screen_text(app))
        await app.engine.ask(do.TrainOnText("one two one two"))
        await pilot.press("ctrl+o")
        line = "back: the corpus before has no name to open it by (o opens it)"
        await until(pilot, lambda: line in notes_of(app))
