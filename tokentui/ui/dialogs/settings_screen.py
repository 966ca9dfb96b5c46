"""The dialog of the settings: each changes at once, and stays for the next start."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from tokentui.core.safetext import safe
from tokentui.session.persist.settings_file import settings_path
from tokentui.ui.bindings import HANDLED, Hint
from tokentui.ui.dialogs import ListDialog, labeled_input
from tokentui.ui.draw.table import Column, Listing, TableRow
from tokentui.ui.draw.text import Cell, runs
from tokentui.ui.field import Field
from tokentui.ui.link import EngineLink
from tokentui.ui.settings import MOST_TYPED, SETTINGS, Setting, UserSettings, Value

_VALUE = Hint("other value", pane="list", count=2)


class SettingsScreen(ListDialog[None]):
    """Lists the settings; each change applies and is saved at once.

    Args:
        engine: The link to the session.
    """

    HEADING = "Settings"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", HANDLED, "change", group=Hint(pane="list")),
        Binding("left,h", "turn(-1)", "previous value", id="settings.previous", group=_VALUE,
            tooltip="Take the previous value of the setting"),
        Binding("right,l", "turn(1)", "next value", id="settings.next", group=_VALUE,
            tooltip="Take the next value of the setting"),
        Binding("O", "leave"),
        Binding("enter", HANDLED, "keep", group=Hint(pane="line")),
    ]

    def __init__(self, engine: EngineLink) -> None:
        super().__init__(engine)
        self.field = Field(most=MOST_TYPED)
        self.parts = self.listing, labeled_input(">", self.field, "edit"), self.notice

    def on_mount(self) -> None:
        """List the settings, and show their file, or what is wrong with it, in the notice."""
        super().on_mount()
        if self.settings.wrong:
            self.notice.say(safe(self.settings.wrong, limit=300), "warning")
        else:
            self.notice.say(f"kept in {safe(str(settings_path()), limit=300)}")
        self.lay_out()

    def lay_out(self) -> None:
        """Show a row for each setting, with its name and its value, and fit the height."""
        rows = []
        for setting in SETTINGS.values():
            words = setting.said(self.settings.value_of(setting))
            value: Cell = (("  ", ""), *runs(words, limit=400))
            if self.settings.values_of(setting):
                value = (("‹ ", "muted"), (safe(words, limit=60), ""), (" ›", "muted"))
            rows.append(TableRow(setting.name, (((setting.title, "strong"),), value)))
        width = max(len(setting.title) for setting in SETTINGS.values())
        columns = Column(width=width, priority=2), Column(flex=1, priority=1)
        self.listing.show(rows, self.listing.cursor_key, columns)
        self.fit_height(len(rows) + 1)

    @property
    def settings(self) -> UserSettings:
        """The settings of the user, which the app keeps."""
        return self.app.user_settings

    @property
    def setting(self) -> Setting:
        """The setting under the cursor."""
        return SETTINGS[str(self.listing.cursor_key)]

    def action_turn(self, by: int) -> None:
        """Change the setting under the cursor to the value `by` places further, around the end. If it has no
        list of values, open the line to type one. Do nothing while a line is edited."""
        if self.editing:
            return
        if not (values := self.settings.values_of(self.setting)):
            self.edit(self.field, str(self.settings.value_of(self.setting)))
            self.lay_out()
            return
        at = values.index(self.settings.value_of(self.setting))
        self._change(values[(at + by) % len(values)])

    def _change(self, value: Value) -> None:
        self.settings.change(self.setting, value)
        self.lay_out()

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Change the setting of the row to its next value, or open the line to type one."""
        self.action_turn(1)

    def on_input_submitted(self) -> None:
        """Set the setting under the cursor to the typed value, and close the line."""
        self._change(self.field.value)
        self._end_edit()

    def _end_edit(self) -> None:
        self.end_edit(self.listing)
        self.lay_out()

    def action_leave(self) -> None:
        """Close the line if it is open, and drop what was typed; otherwise close the dialog."""
        if self.editing:
            self._end_edit()
        else:
            self.dismiss(None)
