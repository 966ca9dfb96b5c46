"""What is asked for while something loads: it waits in order, is seen to wait, and then is done; or it is
refused in a line."""

from __future__ import annotations

import asyncio
from pathlib import Path

import made_up_words
import pytest
from gates import COUNTING, LAST, LAYING_OUT, PART, READING, Gates
from sessions import Watched

from tokentui.analyze.results import VocabularyReport
from tokentui.axes import preset
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.formats.files import load
from tokentui.session import commands as do


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A text that is shown in part before it is whole; it has more steps than any test makes but one."""
    path = tmp_path / "text.txt"
    path.write_text(made_up_words.short_words(120))
    return path


PHASES = (READING, COUNTING, LAYING_OUT, PART, LAST)
"""The phases of opening a text."""


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("phase", PHASES)
async def test_steps_wait_for_the_corpus_in_order_and_are_made(
    session: Watched, gates: Gates, text: Path, phase: str
) -> None:
    gates.close(phase)
    session.send(do.Open((str(text),)))
    await gates.until(phase)
    answers = [session.send(do.Move(1)) for _ in range(25)]
    answers += [session.send(do.GoTo(40)), session.send(do.Move(-3)), session.send(do.Move(1))]
    await session.until(lambda seen: seen.waiting == "25 steps on, go to step 40, 3 steps back, a step on")
    assert session.last.main.at.step == 0
    gates.close()
    await asyncio.gather(*answers)
    seen = await session.settle()
    assert (seen.main.at.step, seen.waiting, seen.main.partial, seen.corpus.name) == (
        38, "", False, "text.txt",
    )


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize("phase", PHASES)
async def test_the_end_is_gone_to_before_what_comes_after_it(
    session: Watched, gates: Gates, text: Path, phase: str
) -> None:
    await session.send(do.Open((str(text),)))
    session.send(do.GoTo(None))
    end = (await session.settle()).main.at.step
    gates.close(phase)
    session.send(do.Open((str(text),)))
    await gates.until(phase)
    session.send(do.GoTo(None))
    session.send(do.Move(-2))
    gates.close()
    assert (await session.settle()).main.at.step == end - 2


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("phase", [COUNTING, LAYING_OUT, PART, LAST])
async def test_another_recipe_gets_the_keys_that_came_after_it(
    session: Watched, gates: Gates, text: Path, phase: str
) -> None:
    await session.send(do.Open((str(text),)))
    session.send(do.Move(12))
    await session.settle()
    gates.close(phase)
    session.send(do.SetRecipe(preset("t5")))
    await gates.until(phase)
    session.send(do.GoTo(None))
    assert (await session.until(lambda seen: seen.waiting)).waiting == "go to the end"
    gates.close()
    seen = await session.settle()
    assert (seen.main.recipe, seen.main.why.end is not None, seen.main.at.step > 0) == (
        preset("t5"), True, True,
    )


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("phase", [COUNTING, LAYING_OUT, PART, LAST])
async def test_the_place_that_is_kept_is_where_it_is_now(
    session: Watched, gates: Gates, text: Path, phase: str
) -> None:
    await session.send(do.Open((str(text),)))
    session.send(do.GoTo(30))
    await session.settle()
    gates.close(phase)
    session.send(do.SetRecipe(preset("bert")))
    await gates.until(phase)
    session.send(do.Move(5))
    session.send(do.SetRecipe(preset("minbpe")))
    session.send(do.Move(-1))
    seen = await session.until(lambda seen: seen.waiting)
    assert seen.waiting.startswith("5 steps on, train by bpe")
    gates.close()
    seen = await session.settle()
    assert (seen.main.recipe, seen.main.at.step) == (preset("minbpe"), 34)


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("phase", PHASES)
async def test_a_recipe_that_is_taken_while_a_corpus_is_opened_does_not_undo_it(
    session: Watched, gates: Gates, text: Path, phase: str
) -> None:
    gates.close(phase)
    opening = session.send(do.Open((str(text),)))
    await gates.until(phase)
    taken = session.send(do.SetRecipe(preset("minbpe")))
    session.send(do.Move(2))
    await session.until(lambda seen: "train by" in seen.waiting)
    gates.close()
    await opening
    await taken
    seen = await session.settle()
    assert (seen.corpus.name, seen.main.recipe, seen.main.at.step) == ("text.txt", preset("minbpe"), 2)


async def test_a_corpus_that_is_opened_while_a_recipe_is_laid_out_does_not_undo_it(
    session: Watched, gates: Gates, text: Path
) -> None:
    await session.send(do.Open(("sample:english",)))
    gates.close(LAYING_OUT, PART)
    taken = session.send(do.SetRecipe(preset("minbpe")))
    opening = session.send(do.Open((str(text),)))
    gates.close()
    await asyncio.gather(taken, opening)
    seen = await session.settle()
    assert (seen.corpus.name, seen.main.recipe) == ("text.txt", preset("minbpe"))


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("phase", PHASES)
async def test_esc_drops_what_waits_and_says_so(
    session: Watched, gates: Gates, text: Path, phase: str
) -> None:
    await session.send(do.Open(("sample:english",)))
    session.send(do.GoTo(7))
    await session.settle()
    gates.close(phase)
    opening = session.send(do.Open((str(text),)))
    await gates.until(phase)
    waits = [session.send(do.Move(1)), session.send(do.GoTo(None))]
    await session.until(lambda seen: seen.waiting == "a step on, go to the end")
    session.send(do.CancelWork())
    for one in waits:
        with pytest.raises(TokentuiError, match="dropped: a step on, go to the end"):
            await one
    with pytest.raises(Cancelled):
        await opening
    seen = await session.settle()
    assert (seen.corpus.name, seen.main.at.step, seen.waiting, seen.main.partial) == ("english", 7, "", False)
    session.send(do.Move(1))
    assert (await session.settle()).main.at.step == 8


async def test_what_waits_for_a_corpus_that_cannot_be_opened_is_refused_in_a_line(
    session: Watched, gates: Gates
) -> None:
    await session.send(do.Open(("sample:english",)))
    opening = session.send(do.Open(("/no/such/file",)))
    waits, taken = session.send(do.Move(3)), session.send(do.SetRecipe(preset("minbpe")))
    with pytest.raises(TokentuiError, match="no such file"):
        await opening
    with pytest.raises(TokentuiError, match=r"not done, .*: 3 steps on"):
        await waits
    await taken
    seen = await session.settle()
    assert (seen.corpus.name, seen.main.at.step, seen.main.recipe) == ("english", 0, preset("minbpe"))


async def test_an_opening_that_gives_way_leaves_no_part_of_it_behind(
    session: Watched, gates: Gates, text: Path
) -> None:
    await session.send(do.Open(("sample:english",)))
    gates.close(PART)
    first = session.send(do.Open((str(text),)))
    await gates.until(PART)
    steps = session.send(do.Move(3))
    second = session.send(do.Open(("/no/such/file",)))
    with pytest.raises(TokentuiError, match="not done, another corpus was opened: 3 steps on"):
        await steps
    for one, failure in ((first, Cancelled), (second, TokentuiError)):
        with pytest.raises(failure):
            await one
    seen = await session.settle()
    assert (seen.corpus.name, seen.main.partial) == ("english", False)
    session.send(do.Move(1))
    assert (await session.settle()).main.at.step == 1


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("phase", PHASES)
async def test_what_is_asked_for_while_it_loads_is_answered_about_what_was_loaded(
    session: Watched, gates: Gates, text: Path, tmp_path: Path, phase: str
) -> None:
    gates.close(phase)
    session.send(do.Open((str(text),)))
    await gates.until(phase)
    session.send(do.GoTo(20))
    asked, written = (
        session.send(do.AnalyzeVocabulary()), session.send(do.Export(str(tmp_path / "out.json"), "tokentui")),
    )
    pieces, previewed = (
        session.send(do.Pieces(session.last.main.corpus.place)), session.send(do.Preview(preset("minbpe"))),
    )
    gates.close()
    answers: VocabularyReport = await asked
    assert answers.step == 20
    assert answers.used
    seen = await session.settle()
    assert (await pieces).occurrences == seen.main.at.occurrences
    assert (await previewed).pairs
    await written
    assert load(str(tmp_path / "out.json")).vocab_size == 256 + 20


async def test_an_export_waits_for_the_walk_before_it(
    session: Watched, gates: Gates, text: Path, tmp_path: Path
) -> None:
    await session.send(do.Open((str(text),)))
    session.send(do.GoTo(50))
    await session.send(do.Export(str(tmp_path / "out.json"), "tokentui"))
    assert load(str(tmp_path / "out.json")).vocab_size == 256 + 50


async def test_a_run_that_is_seen_is_stopped_at_once(session: Watched, gates: Gates, text: Path) -> None:
    await session.send(do.Open((str(text),)))
    session.send(do.Play(True))
    await session.until(lambda seen: seen.running)
    gates.close(READING)
    session.send(do.Open((str(text),)))
    await gates.until(READING)
    session.send(do.Play())
    await session.until(lambda seen: not seen.running and not seen.waiting)
    gates.close()
    assert not (await session.settle()).running


async def test_a_tokenizer_is_walked_through_before_all_of_the_corpus_is_encoded(
    session: Watched, gates: Gates, text: Path, tmp_path: Path
) -> None:
    await session.send(do.Open((str(text),)))
    session.send(do.GoTo(60))
    path = str(tmp_path / "own.json")
    await session.send(do.Export(path, "tokentui"))
    gates.close(PART)
    opening = session.send(do.OpenTokenizer(path))
    await gates.until(PART)
    await session.until(lambda seen: seen.main.opened is not None and seen.main.partial)
    asked = session.send(do.AnalyzeVocabulary())
    for _ in range(4):
        session.send(do.Move(-1))
    await asyncio.sleep(0)
    asked.cancel()  # whoever asked has left
    session.send(do.GoTo(58))
    gates.close()
    await opening
    assert (await session.settle()).main.at.step == 58


async def test_a_move_back_from_beyond_the_end_is_made_from_the_end(
    session: Watched, gates: Gates, text: Path
) -> None:
    await session.send(do.Open((str(text),)))
    session.send(do.GoTo(None))
    end = (await session.settle()).main.at.step
    await session.send(do.GoTo(0))
    await session.send(do.SetRecipe(preset("minbpe")))
    session.send(do.GoTo(end + 100_000))
    session.send(do.Move(-1))
    session.send(do.Move(-1))
    end_of_it = (await session.settle()).main.at.computed
    assert session.last.main.at.step == end_of_it - 2
    session.send(do.Move(1))
    session.send(do.Move(100))
    session.send(do.Move(-10))
    assert (await session.settle()).main.at.step == end_of_it - 10
