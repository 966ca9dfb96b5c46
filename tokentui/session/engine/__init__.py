"""The thread that owns a session: commands in, work in slices, snapshots out."""
