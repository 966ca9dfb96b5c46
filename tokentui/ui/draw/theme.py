"""The program's own themes, and the colours that it adds to everybody's.

Every colour of the two themes is an entry of the 256-colour palette of xterm (greys 232 to 255 and the colour
cube), so that a terminal reached by SSH, which seldom offers more, shows the same. What a colour means:
*accent* is the merge just made and the next one, *primary* is a count drawn as a bar, *error* is an error and
nothing else, grey is chrome. On Compare each column has a colour of its own, which is that of its letter, its
row and its curve.
"""

from __future__ import annotations

from textual.theme import Theme

DARK_NAME = "tokentui"
LIGHT_NAME = "tokentui-light"

OWN_DARK = {
    "frame": "#585858",
    "shade-a": "#262626",
    "shade-b": "#3a3a3a",
    "shade-c": "#4e4e4e",
    "fresh": "#ffaf5f",
    "fresh-other": "#ffd7af",
    "fresh-text": "#121212",
    "column-a": "#5fafff",
    "column-b": "#ff87d7",
    "column-c": "#87d75f",
    "column-d": "#d7d75f",
}
"""The variables that the screens add, for dark themes that do not have them."""

OWN_LIGHT = {
    "frame": "#a8a8a8",
    "shade-a": "#e4e4e4",
    "shade-b": "#d0d0d0",
    "shade-c": "#b2b2b2",
    "fresh": "#af5f00",
    "fresh-other": "#875f00",
    "fresh-text": "#ffffff",
    "column-a": "#005fd7",
    "column-b": "#af0087",
    "column-c": "#008700",
    "column-d": "#875f00",
}
"""The same for light themes."""


_ROLES = ("primary", "secondary", "accent", "warning", "error", "success")


def _theme(
    name: str, own: dict[str, str], *, dark: bool, muted: str, disabled: str, selection: str,
    colours: dict[str, str]
) -> Theme:
    ink, ground, panel = colours["foreground"], colours["background"], colours["panel"]
    same = (
        # Textual would round or blend these, and leave the palette.
        (ink, ("text", "block-cursor-background", "block-cursor-blurred-foreground",
            "input-cursor-background", "input-selection-foreground", "screen-selection-foreground")),
        (ground, ("block-cursor-foreground", "input-cursor-foreground", "scrollbar-background",
            "scrollbar-background-hover", "scrollbar-background-active", "scrollbar-corner-color")),
        (panel, ("block-cursor-blurred-background", "block-hover-background", "surface-active",
            *(f"{role}-muted" for role in _ROLES))),
        (muted, ("text-muted", "foreground-muted", "scrollbar-hover", "scrollbar-active")),
        (disabled, ("text-disabled", "foreground-disabled")),
        (selection, ("input-selection-background", "screen-selection-background")),
        (own["frame"], ("border-blurred", "scrollbar")),
        (colours["accent"], ("border",)),
    )
    variables = own | colours | {f"text-{role}": colours[role] for role in _ROLES}
    variables |= {name: colour for colour, names in same for name in names}
    return Theme(name=name, dark=dark, variables=variables, **colours)  # type: ignore[arg-type]


DARK = _theme(
    DARK_NAME, OWN_DARK, dark=True, muted="#8a8a8a", disabled="#626262", selection="#444444",
    colours={
        "background": "#121212", "surface": "#1c1c1c", "panel": "#262626", "boost": "#262626",
        "foreground": "#d0d0d0",
        "primary": "#5f87af", "secondary": "#87afaf", "accent": "#ffaf5f", "warning": "#d7af5f",
        "error": "#ff5f5f",
        "success": "#87af5f",
    },
)
LIGHT = _theme(
    LIGHT_NAME, OWN_LIGHT, dark=False, muted="#626262", disabled="#949494", selection="#bcbcbc",
    colours={
        "background": "#eeeeee", "surface": "#e4e4e4", "panel": "#dadada", "boost": "#dadada",
        "foreground": "#262626",
        "primary": "#5f87af", "secondary": "#005f87", "accent": "#af5f00", "warning": "#875f00",
        "error": "#af0000",
        "success": "#005f00",
    },
)


def variables(theme: Theme) -> dict[str, str]:
    """Return the variables that the style sheet needs in addition to Textual's own, for any theme."""
    return {**(OWN_DARK if theme.dark else OWN_LIGHT), **theme.variables}
