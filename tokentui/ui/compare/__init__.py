"""The Compare screen, its panes and dialogs."""
