"""Text to ids and back: a vocabulary at a step, the ways of encoding, and how a result came about."""
