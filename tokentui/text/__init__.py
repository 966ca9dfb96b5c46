"""From files to units: read, normalise, split, count."""
