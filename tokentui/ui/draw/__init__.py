"""Drawing: styles, tables, lines of text, figures."""
