"""Every private part of Textual that the screens use; those of the terminal driver are in
`thinwire/private.py`.

They have no public name for what is needed. A test per part fails, and says what the part is for, when a
release of Textual renames it.
"""

from __future__ import annotations

OVERRIDDEN: dict[str, dict[str, str]] = {
    "textual.app:App": {
        "_exception": "is the failure that ended the program",
        "_handle_exception": "ends the program with a failure; shows the errors that users can fix",
        "_fatal_error": "closes after a failure, without printing variables",
        "_close_messages_no_wait": "closes after a failure",
        "_print_error_renderables": "would print parts of the corpus",
        "_exit_renderables": "holds what would be printed",
        "_loop": "is the event loop that signals and threads call into",
    },
    "textual.screen:Screen": {
        "_compositor": "draws a screen for a picture",
        "_modal_binding_chain": "has the keys of the panes while they are beside the inspector",
        "_forward_event": "gives a key to the panes beside the inspector",
    },
    "textual.message_pump:MessagePump": {
        "_dispatch_message": "runs the handlers of a message, whose errors are caught",
    },
    "textual.timer:Timer": {"_skip": "lets a timer that calls once call late rather than never"},
    "textual.widgets:Input": {
        "_cell_offset_to_index": "finds the cluster that was clicked", "_value": "draws whole clusters",
    },
    "textual.widgets:TextArea": {
        "_set_document": "takes a document that keeps the exact text",
        "_replace_via_keyboard": "refuses a text that is too large",
        "_delete_via_keyboard": "deletes whole clusters",
        "_build_highlight_map": "is called for another document",
        "_rewrap_and_refresh_virtual_size": "lays out another document",
    },
    "textual.document._document:Document": {"_lines": "holds the lines that are drawn"},
    "textual.document._document_navigator:DocumentNavigator": {"_document": "is what the cursor moves in"},
    "textual.document._wrapped_document:WrappedDocument": {
        "location_to_offset": "scrolls to the cursor's line",
        "_offset_to_line_info": "is as long as there are rows"},
}
"""Attributes of Textual's classes that ours override or read: class, attribute, purpose."""
