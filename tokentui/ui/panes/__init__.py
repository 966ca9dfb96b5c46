"""What stands on the main screen."""
