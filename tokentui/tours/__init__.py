"""Guided tours: their files, what they say, and the check of what they claim."""
