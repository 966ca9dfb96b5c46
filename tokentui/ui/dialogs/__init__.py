"""The screens of the explorer: the main one, and the dialogs that stand over it."""
