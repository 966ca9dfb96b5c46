"""Trainings in columns: opened, kept at one position, searched, and looked at again."""
