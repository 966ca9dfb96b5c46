"""From files to units: read, normalize, split, count."""
