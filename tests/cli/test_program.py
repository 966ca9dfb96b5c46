"""The program as a whole: commands, errors of one line, help, completion, and when the explorer opens."""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from running_cli import cli, done, refused

import tokentui
from tokentui.cli import output
from tokentui.cli.commands import explore
from tokentui.cli.main import COMMANDS, CommandEntry, program, run
from tokentui.core import engines
from tokentui.core.choices import Ref
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe, Run, Stops
from tokentui.session.commands import Open, OpenTokenizer


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("train sample:sailor -r gpt2 --mergs 3", "train: No such option '--mergs'. Did you mean '--merges'"),
        ("train sample:sailor -r gpt2 --zzz", "train: No such option '--zzz' (see tokentui train --help)"),
        (
            "train sample:sailor -r gpt2 --merges x",
            "train: Invalid value for '--merges': 'x' is not a whole number, such as 4000",
        ),
        (
            "train sample:sailor -r gpt2 --merges -1",
            "merges=-1: out of range (use 0 or more, at most 2**53)",
        ),
        (
            "train sample:sailor -r gpt2 --min-count 0",
            "min_count=0: out of range (use 1 or more, at most 2**53)",
        ),
        ("train sample:sailor -r gpt2 --special a --special a", "special a: named twice (name it once)"),
        (
            "train sample:sailor -r gpt2 --as word",
            "train: Invalid value for '--as': 'word' is not one of 'text', 'lines', 'jsonl', 'counts' (see ",
        ),
        ("train sample:sailor", "train: -r is missing (name a preset or a recipe file"),
        ("train -r gpt2", "train: CORPUS is missing (name a file"),
        ("train sample:sailer -r gpt2", "sample:sailer: no such sample (did you mean sailor?)"),
        ("train sailor -r gpt2", "sailor: no such file (did you mean sample:sailor?)"),
        ("train sample:sailor -r gpt5", "gpt5: no such preset (did you mean gpt4?)"),
        ("train sample:sailor -r scaffold-bpe", "scaffold-bpe: this preset was removed (use pickybpe)"),
        ("train sample:sailor -r none.toml", "none.toml: no such file (check the name)"),
        (
            "train sample:sailor -r gage -s base=gpt2-bytes",
            "base=gpt2-bytes: in Gage's compression, ids are byte values",
        ),
        ("train sample:sailor -r gpt2 -s unit=char", "base=gpt2-bytes: a base of bytes needs unit=byte"),
        (
            "train sample:sailor -r gpt2 -s tie",
            "-s tie: an axis needs a value (for example -s split=gpt2)",
        ),
        (
            "train sample:sailor -r gpt2 -s tye=first-seen",
            "-s tye=first-seen: no such axis (did you mean tie?)",
        ),
        ("train sample:sailor -r gpt2 -s split=regex:[", "split=regex:: the pattern cannot be compiled"),
        ("train sample:sailor -r gpt2 -s", "train: Option '-s' requires an argument (see "),
        (
            "train sample:sailor -r gpt2 --format tokentuy",
            "--format: no format 'tokentuy' (did you mean tokentui?)",
        ),
        (
            "train sample:sailor -r gpt2 -o - --trace -",
            "-o - --trace -: the tokenizer and the trace cannot both",
        ),
        (
            "train sample:sailor -r gpt2 -o /none/x.json",
            "/none/x.json: cannot be written: no such folder (make it first)",
        ),
        ("train sample:sailor -r gpt2 --trace /", "/: cannot be written: it is a folder"),
        ("train sample:sailor -r gpt2 -o ", "'': no file can have this name (name one)"),
        ("train sample:sailor -r gpt2 --trace ", "'': no file can have this name (name one)"),
        ("train  -r gpt2", "'': no such file (check the name)"),
        ("train sample:sailor -r ", "'': no such preset (one of: "),
        ("-t  sample:sailor", "'': no such file (name a tokenizer file, such as tokenizer.json)"),
        ("sample:sailor ", "'': no such file (name a file, - or sample:english; the commands are "),
        ("encode a", "encode: Missing option '-t' / '--tokenizer' (see tokentui encode --help)"),
        ("convert", "convert: Missing argument 'IN' (see tokentui convert --help)"),
        ("encode -t none.json a", "none.json: no such file (check the name)"),
        ("encode -t none.json a b", "none.json: no such file"),
        ("encode -t none.json --json --explain a", "encode: --json and --explain cannot be combined"),
        ("encode -t none.json --jsonl a", "encode: --jsonl reads standard input, not 'a'"),
        ("decode -t none.json --jsonl 3", "decode: --jsonl reads standard input, not '3'"),
        ("split a", "split: -s split=... is missing (for example -s split=gpt2)"),
        ("split -s split=gpt2 a b", "split: expected one text, not 2 (quote it)"),
        ("recipes gpt5", "gpt5: no preset and no axis of this name (did you mean gpt4?)"),
        ("recipes a b", "recipes: Got unexpected extra argument (b) (see tokentui recipes --help)"),
        ("-r gpt2 train", "train: no such file (a command comes before its options: tokentui train ...)"),
        ("trian", "trian: no such file (did you mean the command train?)"),
        ("sample:englsh", "sample:englsh: no such sample (did you mean english?)"),
        ("sample:sailor --bar", "No such option '--bar'. (Did you mean one of: '--as', '--shares'?) (see"),
        ("sample:sailor -r gpt2 -r gpt5", "gpt5: no such preset (did you mean gpt4?)"),
        ("sample:sailor" + " -r gpt2" * 5, "compare: two to four tokenizers are needed, not 5"),
        ("sample:sailor -r gpt2 -t none.json", "none.json: no such file"),
        ("sample:sailor -r gpt2 -r gpt4 --held-out none.txt", "none.txt: no such file"),
        ("sample:sailor -r gpt2 --held-out sample:hugs", "--held-out: nothing is compared"),
        ("-t x.json", "x.json: no such file (name a tokenizer file, such as tokenizer.json)"),
        ("bound --check {folder}/none.json", "{folder}/none.json: no such file (check the name)"),
        ("-t {folder}", "{folder}: this folder contains no tokenizer file (one of: tokenizer.json, "),
        (
            "-t pyproject.toml -s unit=char",
            "-s unit=char: only the split can be set here (the file sets the other axes)",
        ),
        ("--completion tcsh", "Invalid value for '--completion': 'tcsh' is not one of 'bash', 'zsh', 'fish'"),
        ("verify sample:hugs --merges 0", "verify: Invalid value for '--merges': 0 is not in the range x>=1"),
        ("serve --port 70000", "serve: Invalid value for '--port': 70000 is not in the range 0<=x<=65535"),
        ("train sample:hugs --quiet=3", "train: Option '--quiet' does not take a value (see "),
    ],
)
def test_an_error_is_one_line(line: str, says: str, tmp_path: Path) -> None:
    line, says = (one.replace("{folder}", str(tmp_path)) for one in (line, says))
    assert refused(*line.split(" ")).startswith(says)


def test_a_value_that_is_quoted_is_clipped_and_what_is_wrong_with_it_is_said() -> None:
    for words in (["--merges", "x" * 999], ["--as", "x" * 999], ["--" + "x" * 999]):
        assert len(refused("train", "sample:sailor", *words)) < 250
    said = refused("train", "sample:sailor", "--merges", "x" * 999)
    assert said.startswith("train: Invalid value for '--merges': 'xxx")
    assert "xxx' is not a whole number, such as 4000 or 32k (see" in said


def test_a_choice_that_is_missing_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = CommandEntry("choose", "Choose.", Ref("made_up_commands:choosing"))
    monkeypatch.setitem(COMMANDS, "choose", entry)
    assert refused("choose") == (
        "choose: Missing option '--way'. Choose from: a, b (see tokentui choose --help)"
    )


def test_an_error_line_is_safe() -> None:
    for word in ("a\x1b]52;c;eA==\x07", "a\nb", "a\u202eb", "\udc9b31m"):
        for line in (
            ["train", word, "-r", "gpt2"], ["train", "sample:sailor", "-r", word], ["split", "-s", word],
            [word],
        ):
            said = refused(*line)
            assert said.isprintable()


@pytest.mark.parametrize("name", ["tally", "servers", "tours", "exam"])
@pytest.mark.parametrize("rest", [[], ["novel.txt", "-r", "gpt2", "-o", "x"], ["--port", "8000"]])
def test_a_command_that_is_not_there_is_an_unknown_word(name: str, rest: list[str]) -> None:
    """It is not named anywhere, and the answer is the one to any other word: the nearest command, or all of
    them."""
    said = refused(name, *rest)
    assert said.startswith(f"{name}: no such file (")
    assert said.partition("(")[2] == refused(name).partition("(")[2]
    assert any(command in said for command in COMMANDS)
    assert "coming" not in said
    assert name not in done("--help").split()


def test_every_command_has_help_with_an_example() -> None:
    whole = done("--help")
    for name in COMMANDS:
        assert f"\n  {name} " in whole
        text = done(name, "--help")
        assert f"Usage: tokentui {name}" in text
        assert "Examples:\n" in text
        assert f"tokentui {name}" in text.partition("Examples:")[2]
        assert text.isascii()
    assert "Examples:\n" in whole
    assert "--merges" in whole
    assert done("sample:sailor", "-h") == done("-h") == whole


def test_a_path_is_read_without_a_check_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Reading reports a missing permission, and a file to write need not be readable."""
    path = str(tmp_path / "hugs.json")
    monkeypatch.setattr("os.access", lambda _, mode, **more: mode != os.R_OK)
    for _ in range(2):
        done("train", "sample:hugs", "-r", "gpt2", "--merges", "3", "-q", "-o", path)
    done("encode", "-t", path, "hug")


def test_help_names_no_range_without_bounds() -> None:
    assert "None]" not in done("--help") + done("train", "--help")


def test_version() -> None:
    words = done("--version").split()
    assert words[:2] == ["tokentui", f"{tokentui.__version__},"]
    assert f"engine: {engines.engine()}" in " ".join(words)
    assert ".".join(map(str, sys.version_info[:3])) in " ".join(words)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_a_shell_is_taught_to_complete(shell: str) -> None:
    assert "_TOKENTUI_COMPLETE" in done("--completion", shell)


@pytest.mark.parametrize(
    ("words", "at", "found"),
    [
        ("tokentui ", 1, {"train", "encode", "decode", "split", "recipes"}),
        ("tokentui --", 1, {"--version", "--completion", "--help", "--recipe", "--merges"}),
        ("tokentui -r gpt", 2, {"gpt1", "gpt2", "gpt4", "gpt4o"}),
        ("tokentui train -s ti", 3, {"tie="}),
        ("tokentui train -s tie=s", 3, {"tie=smallest-pair", "tie=shortest"}),
        ("tokentui train sample:sa", 2, {"sample:sailor"}),
        ("tokentui compare ", 2, set()),
        ("tokentui convert in.json out --to t", 5, {"tokentui", "tiktoken", "tekken"}),
        ("tokentui train sample:hugs --format te", 4, {"tekken"}),
        ("tokentui inspect --ignore sp", 3, {"spaces", "specials", "split"}),
    ],
)
def test_words_are_completed(
    words: str, at: int, found: set[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_TOKENTUI_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(at))
    assert run([]) == 0
    shown = {
        line.partition(",")[2] for line in capsys.readouterr().out.splitlines() if line.startswith("plain,")
    }
    assert found <= shown
    if at > 1:
        assert shown - found <= set()


def test_a_fault_of_the_program_is_a_few_safe_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> str:
        raise RuntimeError("a\x1b[31m\nb")

    monkeypatch.setattr("tokentui.cli.commands.split.text_argument", fail)
    result = cli("split", "-s", "split=gpt2")
    assert result.exit_code == 70
    lines = result.stderr.splitlines()
    assert 1 < len(lines) <= 10
    assert r"RuntimeError: a\x1b[31m\nb" in lines[0]
    assert all(line.isprintable() for line in lines)


def test_running_out_of_memory_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> str:
        raise MemoryError

    monkeypatch.setattr("tokentui.cli.commands.split.text_argument", fail)
    assert "not enough memory" in refused("split", "-s", "split=gpt2")


class Explorer:
    """Stands for the explorer, and remembers what it was called with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[Any, ...]] = []
        module = types.ModuleType("tokentui.ui")
        module.run = self.run  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "tokentui.ui", module)
        monkeypatch.setattr(explore, "is_terminal", lambda stream: True)
        monkeypatch.setattr(output, "is_terminal", lambda stream: True)
        monkeypatch.setenv("TERM", "xterm-256color")

    def run(self, *given: Any) -> int:
        self.calls.append(given)
        return 0


@pytest.fixture
def explorer(monkeypatch: pytest.MonkeyPatch) -> Explorer:
    return Explorer(monkeypatch)


GPT2 = Recipe()


def test_without_words_the_explorer_opens_on_a_sample(explorer: Explorer) -> None:
    done()
    (opening, recipe, run, *_), = explorer.calls
    assert (opening, recipe, run) == (Open(("sample:english",)), GPT2, Run())


def test_the_explorer_gets_what_is_named(explorer: Explorer) -> None:
    done(
        "sample:sailor", "sample:hugs", "-r", "minbpe", "-s", "tie=lowest-ids", "--as", "lines", "--field",
        "body", "--merges", "9", "--vocab-size", "300", "--min-count", "2", "--max-length", "5", "--first-id",
        "1", "--special", "<unk>", "--special", "<s>",
    )
    (opening, recipe, run, *_), = explorer.calls
    assert opening == Open(("sample:sailor", "sample:hugs"), "lines", "body")
    assert recipe.tie == "lowest-ids"
    assert recipe.split == "cl100k-classic"
    assert run == Run(Stops(9, 300, 2, 5), 1, ("<unk>", "<s>"))


def test_the_explorer_gets_a_tokenizer_file_and_the_split_that_is_named(
    explorer: Explorer, tmp_path: Path
) -> None:
    path = tmp_path / "ranks"
    path.write_bytes(b"YQ== 0\n")
    done("-t", str(path), "-s", "split=cl100k", "sample:hugs")
    assert explorer.calls[0][0] == Open(("sample:hugs",), tokenizer=OpenTokenizer(str(path), "cl100k"))


def test_the_explorer_gets_the_name_of_an_encoding(
    explorer: Explorer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    assert "download https://" in refused("-t", "cl100k_base", "sample:hugs")
    (tmp_path / "cl100k_base.tiktoken").touch()
    done("-t", "cl100k_base", "sample:hugs")
    assert explorer.calls[0][0] == Open(("sample:hugs",), tokenizer=OpenTokenizer("cl100k_base"))


def test_a_first_word_that_is_a_command_is_one_and_a_path_is_a_file(
    explorer: Explorer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("train", "tally"):  # the second is no command
        (tmp_path / name).write_text("a b\n")
        if name == "train":
            assert "train" in refused(name)
        else:
            done(name, "-r", "gpt2")
        done(f"./{name}")
        done("--", name)
    assert [call[0].sources for call in explorer.calls] == [
        ("./train",), ("train",), ("tally",), ("./tally",), ("tally",),
    ]


def test_a_recipe_file(explorer: Explorer, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(done("recipes", "bert"))
    done("-r", str(path), "-s", "normalize=[]")
    assert explorer.calls[0][1].normalize == ()
    assert explorer.calls[0][1].mark == "prefix:##"


def test_a_column_has_the_name_of_its_recipe_file(explorer: Explorer, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(done("recipes", "gpt2").replace("lowest-ids", "first-seen"))
    done("-r", str(path), "-r", "gpt2")
    *_, columns, _, _ = explorer.calls[0]
    assert [one.name for one in columns] == ["mine.toml", "gpt2"]
    done("-s", "tie=first-seen", "-r", "bert", "-r", "gpt2")
    *_, columns, _, _ = explorer.calls[1]
    assert [one.name for one in columns] == ["", ""]  # no preset is like these: their axes are their names
    done("-r", str(path), "-s", "tie=shortest", "-r", "gpt2", "-s", "tie=shortest")
    *_, columns, _, _ = explorer.calls[2]
    assert [one.name for one in columns] == ["", ""]
    done("-r", str(path), "-r", "gpt2", "-s", "tie=shortest")
    *_, columns, _, _ = explorer.calls[3]
    assert [one.name for one in columns] == ["mine.toml", ""]
    other = tmp_path / "other" / "mine.toml"
    other.parent.mkdir()
    other.write_text(done("recipes", "gpt2"))
    done("-r", str(path), "-r", str(other))
    *_, columns, _, _ = explorer.calls[4]
    assert [one.name for one in columns] == [str(path), str(other)]


def test_the_explorer_needs_a_terminal(explorer: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    for term in ("dumb", ""):
        monkeypatch.setenv("TERM", term)
        assert refused().startswith(f"TERM={term}: the explorer needs a terminal with cursor control")
    monkeypatch.delenv("TERM")
    refused()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(explore, "is_terminal", lambda stream: stream is sys.stdout)
    assert refused().startswith("standard input: the explorer needs a keyboard")
    monkeypatch.setattr(explore, "is_terminal", lambda stream: False)
    assert refused().startswith("standard output: the explorer needs a terminal")
    assert not explorer.calls


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"split = ", "not a recipe file"),
        (b'splat = "gpt2"', "no axis 'splat' (did you mean split?)"),
        (b"split = 3", "axis 'split' takes text, not int"),
        (b"\xff", "not UTF-8 at byte 0"),
        (b"#" * (1 << 21), "not a recipe file"),
    ],
)
def test_a_damaged_recipe_file(content: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    said = refused("train", "sample:sailor", "-r", str(path))
    assert said.startswith(f"{path}: {says}")


def test_a_recipe_that_is_no_file_is_refused_unread(tmp_path: Path) -> None:
    import os

    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    assert "not a recipe file" in refused("train", "sample:sailor", "-r", str(pipe))
    assert "a device" in refused("train", "sample:sailor", "-r", "/dev/zero")
    assert "a folder" in refused("train", "sample:sailor", "-r", f"{tmp_path}/")


def test_program_called_like_any_click_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["tokentui", "--version"])
    with pytest.raises(SystemExit) as caught:
        program()
    assert caught.value.code == 0


def test_presets_are_listed_by_family_and_the_axes_below_a_blank_line() -> None:
    text = done("recipes")
    assert "\n\naxes:\n" in text
    assert all(f"\n{preset.family}:\n" in f"\n{text}" for preset in PRESETS.values())
