"""Whatever bytes a terminal sends, keys come out and nothing breaks."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events

from tokentui.thinwire.driver import KeyParser

_NOISE = [
    b"\xff\xfe", b"\xe2\x28", b"\x1b[9999999999A", b"\x1b[57399999u", b"\x1b[48;0;0;0;0t",
    b"\x1b[<0;99999;99999M", b"\x1b[<64;-5;3M", b"\x1b[200~", b"\x1b[201~", b"\x1b]52;c;", b"\x1bP", b"\x1b",
    b"\x1b[?2048;1$y", b"\x1b[M\xff\xff\xff", b"\x1b[0n", b"\x00", b"x" * 99,
]


def keys_of(keys: KeyParser, data: bytes) -> list[str]:
    return [event.key for event in keys.feed(data) if isinstance(event, events.Key)]


@given(st.lists(st.sampled_from(_NOISE) | st.binary(max_size=12), max_size=20))
def test_after_any_noise_a_key_is_a_key(noise: list[bytes]) -> None:
    keys = KeyParser()
    for data in noise:
        list(keys.feed(data))
    # What was begun has to end first: a sequence, a paste, a character of several bytes.
    list(keys.feed(b"\x1b[201~ " + b" " * 40 + b"\x1b[201~ "))
    assert keys_of(keys, b"n") == ["n"]


def test_answers_of_the_terminal_are_no_keys() -> None:
    keys = KeyParser()
    assert keys_of(keys, b"a\x1b[0nb") == ["a", "b"]
    assert keys.take_answers() == 1


def test_a_paste_without_an_end_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("tokentui.thinwire.driver.time.monotonic", lambda: now[0])
    keys = KeyParser()
    assert list(keys.feed(b"\x1b[200~left open")) == []
    now[0] += 5
    (pasted,) = [event for event in keys.feed(b"") if isinstance(event, events.Paste)]
    assert pasted.text == "left open"
    assert keys_of(keys, b"n") == ["n"]


def test_time_matters_only_where_something_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("tokentui.thinwire.driver.time.monotonic", lambda: now[0])
    keys = KeyParser()
    assert keys.timeout is None
    list(keys.feed(b"n\x1b[A\x1b[0n\xe2"))
    assert keys.timeout is None
    keys = KeyParser()
    assert keys_of(keys, b"\x1b") == []
    assert keys.timeout is not None
    assert keys.timeout > 0
    keys = KeyParser()
    list(keys.feed(b"\x1b[200~left open"))
    now[0] += 0.25
    assert keys.timeout == 0.75
    now[0] += keys.timeout
    assert [type(event) for event in keys.feed(b"")] == [events.Paste]
    assert keys.timeout is None


@pytest.mark.parametrize(("then", "found"), [("n", ["escape", "n"]), ("[A", ["up"])])
def test_escape_ends_before_what_begins_no_sequence(then: str, found: list[str]) -> None:
    keys = KeyParser()
    assert keys_of(keys, b"\x1b") == []
    assert keys_of(keys, then.encode()) == found


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.first_run(cases=1)
def test_escape_and_another_key_are_two_keys(together: bool) -> None:
    """However soon the other one follows: no key is used with Alt, except those that move in a line, and
    their bytes come together."""
    singles = [chr(code) for code in (*range(128), 0xE9, 0x4E2D)]
    sequences = ["\x1b[A", "\x1b[5~", "\x1bOP", "\x1b[1;5C", "\x1b[Z"]
    for typed in (*singles, *sequences):
        alone, both = KeyParser(), KeyParser()
        wanted = ["escape", *pressed(alone, typed.encode())]
        data = typed.encode()
        found = [
            event.key for part in ([b"\x1b" + data] if together else [b"\x1b", data])
            for event in both.feed(part) if isinstance(event, events.Key)
        ]
        found += pressed(both, b"")
        if together and typed in "bf\x7f":
            wanted = {"b": ["ctrl+left"], "f": ["ctrl+right"], "\x7f": ["ctrl+w"]}[typed]
        assert found == wanted, repr(typed)


def pressed(keys: KeyParser, data: bytes) -> list[str]:
    """Return the keys of some bytes, after all that was begun has ended."""
    found = keys_of(keys, data) if data else []
    for _ in range(3):
        if (seconds := keys.timeout) is None:
            break
        time.sleep(seconds + 0.01)
        found += keys_of(keys, b"")
    return found
