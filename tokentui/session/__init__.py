"""A running session: commands in, snapshots out."""
