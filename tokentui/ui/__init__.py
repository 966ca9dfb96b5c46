"""The screens: they see snapshots and send commands, and know no engine."""
