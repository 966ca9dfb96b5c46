"""What outlives a session: the saved session, recent files, settings."""
