"""The command line: the engine without the screen, a module a command."""
