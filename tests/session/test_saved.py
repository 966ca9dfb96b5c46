"""Sessions come back as they were kept; damage is noticed, and one process has a session at a time."""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from failing_calls import CALLS, Killed, failing
from hypothesis import given
from hypothesis import strategies as st

from tokentui.core.errors import TokentuiError
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe, Run
from tokentui.session.persist.session_file import (
    LARGEST,
    MOST_SESSIONS,
    Branch,
    Keeper,
    SavedSession,
    dumps,
    loads,
    offered,
    read,
    tidy,
)

_texts = st.text(st.characters(exclude_categories=())) | st.just("file-\udcff\x1b[2J.txt")
_recipes = st.sampled_from([preset.recipe for preset in PRESETS.values()])
_runs = st.just(Run()) | st.just(Run.of({"vocab_size": 8000, "specials": ("<unk>", "<s>"), "min_count": 2}))
_branches = st.builds(Branch, _recipes, _runs, st.integers(0, 10**6))
_kept = st.builds(
    SavedSession, sources=st.lists(_texts, max_size=3).map(tuple), as_=st.none() | st.just("lines"),
    field_=_texts, sha256=st.just("ab" * 32), scratch=st.none() | _texts, tokenizer=_texts, split=_texts,
    training=_branches, branches=st.lists(_branches, max_size=3).map(tuple), typed=_texts,
    settings=st.dictionaries(_texts, st.none() | st.booleans() | st.integers() | _texts, max_size=4),
    columns=st.lists(_texts | _branches, max_size=3).map(tuple), ended=st.booleans(),
)
KEPT = SavedSession(
    sources=("/books/novel.txt",), training=Branch(Recipe(), Run.of({"merges": 1000}), 128),
    typed="The crowd",
    settings={"pane": "pairs"},
)


@given(_kept)
def test_a_session_comes_back_as_it_was(kept: SavedSession) -> None:
    assert loads(dumps(kept), "here") == kept
    assert dumps(loads(dumps(kept), "here")) == dumps(kept)


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The bytes with one kind of damage."""
    at = chance.randrange(len(data))
    match chance.randrange(5):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
        case 2:
            return data[:at] + chance.randbytes(chance.randrange(1, 9)) + data[at:]
        case 3:
            end = min(len(data), at + chance.randrange(1, 99))
            return data[:at] + data[end:]
        case _:
            other = chance.randrange(len(data))
            return data[:at] + data[other : other + 40] + data[at + 40 :]


def no_damage_is_accepted(times: int) -> None:
    data, chance = dumps(KEPT), random.Random(7)
    for _ in range(times):
        wrong = damaged(data, chance)
        if wrong == data:
            continue
        with pytest.raises(TokentuiError) as told:
            loads(wrong, "session.json")
        assert str(told.value).startswith("session.json: ")
        assert "\n" not in str(told.value)


def test_damage_is_noticed() -> None:
    no_damage_is_accepted(1000)


@pytest.mark.soak
def test_damage_is_noticed_ten_thousand_times() -> None:
    no_damage_is_accepted(10_000)


def test_of_a_damaged_session_the_generation_before_is_there(tmp_path: Path) -> None:
    keeper = Keeper(KEPT, tmp_path)
    assert keeper.save(KEPT)
    assert not keeper.save(KEPT), "nothing has changed"
    later = dataclasses.replace(KEPT, typed="later")
    assert keeper.save(later)
    keeper.close()
    assert read(keeper.path) == (later, "")
    keeper.path.write_bytes(keeper.path.read_bytes()[:-9])
    kept, note = read(keeper.path)
    assert kept == KEPT
    assert "damaged" in note
    assert offered(tmp_path) == (kept, note)
    keeper.path.with_suffix(".before").unlink()
    with pytest.raises(TokentuiError, match="damaged"):
        read(keeper.path)
    assert offered(tmp_path) is None


def test_a_newer_version_is_refused_in_words() -> None:
    head, _, body = dumps(KEPT).partition(b"\n")
    with pytest.raises(TokentuiError, match="newer tokentui"):
        loads(head.replace(b'"version": 1', b'"version": 2') + b"\n" + body, "session.json")


def with_body(**changed: Any) -> bytes:
    """A session in which fields have other values, with the right checksum."""
    head, _, data = dumps(KEPT).partition(b"\n")
    other = json.dumps(json.loads(data) | changed).encode("ascii")
    was, now = (hashlib.sha256(one).hexdigest().encode("ascii") for one in (data, other))
    return head.replace(was, now) + b"\n" + other


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("training", None), ("training", "x"), ("branches", [1, 2]), ("branches", None), ("sources", 5),
        ("sources", [5]), ("columns", [3]), ("columns", None), ("columns", "ab"), ("settings", [1]),
        ("settings", {"glyphs": []}), ("ended", "no"), ("typed", {"recipe": {}, "run": {}, "step": 1}),
        ("training", {"recipe": {}, "run": {}, "step": 1e999}), ("as", 1), ("scratch", 0), ("field", None),
    ],
)
def test_a_session_of_another_shape_is_refused(field: str, value: object) -> None:
    with pytest.raises(TokentuiError, match="a session that this version cannot read"):
        loads(with_body(**{field: value}), "session.json")


def test_settings_that_look_like_a_training_stay_settings() -> None:
    settings: dict[str, Any] = {"recipe": "gpt2", "run": None, "step": 3}
    kept = dataclasses.replace(KEPT, settings=settings)
    assert loads(dumps(kept), "session.json") == kept


def test_a_file_that_is_too_large_is_told_as_such(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    path.write_bytes(dumps(KEPT) + b" " * LARGEST)
    with pytest.raises(TokentuiError, match="too large for a session"):
        read(path)


def test_a_second_process_is_told(tmp_path: Path) -> None:
    keeper = Keeper(KEPT, tmp_path)
    keeper.save(KEPT)
    program = (
        "import sys; from pathlib import Path\n"
        "from tokentui.core.errors import TokentuiError\n"
        "from tokentui.session.persist.session_file import Keeper, SavedSession, offered\n"
        "assert offered(Path(sys.argv[1])) is None\n"
        "try: Keeper(SavedSession(sources=('/books/novel.txt',)), Path(sys.argv[1]))\n"
        "except TokentuiError as error: print(error)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    ).stdout
    assert f"changes are not saved: another tokentui (process {os.getpid()}) has this corpus open" in told
    keeper.close()
    assert offered(tmp_path) == (KEPT, "")


def test_what_the_user_left_is_not_offered(tmp_path: Path) -> None:
    other = SavedSession(sources=("/books/other.txt",))
    for number, kept in enumerate([KEPT, dataclasses.replace(other, ended=True)]):
        keeper = Keeper(kept, tmp_path)
        keeper.save(kept)
        os.utime(keeper.path, (number, number))
        keeper.close()
    assert offered(tmp_path) == (KEPT, "")


def test_the_oldest_go_but_none_that_is_open(tmp_path: Path) -> None:
    keepers = []
    for number in range(MOST_SESSIONS + 3):
        kept = SavedSession(sources=(str(number),))
        keepers.append(Keeper(kept, tmp_path))
        keepers[-1].save(kept)
        os.utime(keepers[-1].path, (number, number))
    for keeper in keepers[1:]:
        keeper.close()
    tidy(tmp_path)
    names = {read(path)[0].name for path in tmp_path.glob("*.json")}
    assert names == {"0", *(str(number) for number in range(3, MOST_SESSIONS + 3))}
    with pytest.raises(TokentuiError, match="has this corpus open"):
        Keeper(SavedSession(sources=("0",)), tmp_path)
    keepers[0].close()
    tidy(tmp_path)
    assert not keepers[0].path.exists()


def test_where_nothing_can_be_written_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TokentuiError, match="the session is not saved"):
        Keeper(KEPT, tmp_path / "file" / "sessions")


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "no"), Killed()], ids=["error", "kill"])
@pytest.mark.parametrize("name", CALLS)
def test_a_session_is_the_old_or_the_new_whichever_call_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, error: BaseException
) -> None:
    """And it can be read at every moment."""
    texts = [dataclasses.replace(KEPT, typed=f"text {n}") for n in range(60)]
    for nth in range(1, 29):
        keeper = Keeper(KEPT, tmp_path)
        old, new = texts[2 * nth], texts[2 * nth + 1]
        keeper.save(old)
        failed = False
        with failing(monkeypatch, name, nth, error) as calls:
            try:
                keeper.save(new)
            except (TokentuiError, Killed):
                failed = True
        found, note = read(keeper.path)
        keeper.close()
        assert (found in (old, new), note) == (True, "")
        assert failed or found == new
        if calls[0] < nth:
            return
    pytest.fail("there are more calls than were tried")
