"""Notes on the corpus: each is shown once, and a change of the file for a resumed session alone."""

from __future__ import annotations

from typing import Any

import pytest
from screens import explorer, snapshot
from waiting import notes_of, settled, until

from tokentui.preset_table import preset_named
from tokentui.recipe import Run
from tokentui.session.commands import Fingerprint, SetRecipe, TrainOnText
from tokentui.session.persist.session_file import Branch, SavedSession
from tokentui.ui.app import ExplorerApp

pytestmark = pytest.mark.usefixtures("every_frame")
GPT2 = preset_named("gpt2").recipe


def warned(app: ExplorerApp) -> bool:
    return any("the corpus has changed" in note for note in notes_of(app))


async def test_another_recipe_and_an_edit_say_nothing_of_a_saved_session() -> None:
    app, session = explorer(begun=SavedSession(sources=("sample:english",)))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.autosave is not None and session.of(Fingerprint))
        # The first answer is of what stood there before anything was open.
        answers: Any = session.answers
        for command in (SetRecipe(GPT2, Run()), TrainOnText("abc"), TrainOnText("abcd")):
            answers[Fingerprint] = str(command)[:8].encode().hex()
            asked = len(session.of(Fingerprint))
            app.engine.send(command)
            await until(pilot, lambda: len(session.of(Fingerprint)) > asked)  # noqa: B023
        await pilot.pause()
        assert not warned(app)


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize(("saved", "said"), [("aa", True), ("bb", False), ("", False)])
async def test_a_session_gone_on_with_over_another_text_says_so(saved: str, said: bool) -> None:
    app, session = explorer(begun=SavedSession(sources=("sample:english",)))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.autosave is not None)
        session.answers[Fingerprint] = "bb"
        assert app.autosave is not None
        app.autosave.resume(SavedSession(scratch="abc", sha256=saved, training=Branch(GPT2)))
        await until(pilot, lambda: len(session.of(Fingerprint)) >= 2)
        await pilot.pause()
        assert warned(app) is said
        assert app.autosave._about.sha256 == "bb"


async def test_a_note_that_comes_later_does_not_show_the_earlier_ones_again() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        for notes in (("2 binary files",), ("2 binary files", "the split leaves out 4 characters"), ()):
            session.publish(snapshot(notes=notes))
            await until(pilot, lambda: app.engine.snapshot and app.engine.snapshot.corpus.notes == notes)  # noqa: B023
        assert [*app.messages] == ["2 binary files", "the split leaves out 4 characters"]
