"""The terminal's output and input: changed cells only, no more than the line takes, and a safe exit."""
