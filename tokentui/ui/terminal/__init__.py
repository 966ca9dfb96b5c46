"""What the terminal gets and gives: only cells that changed, no more than the line takes, and a way out that always works."""
