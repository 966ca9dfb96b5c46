"""The panes of Compare."""
