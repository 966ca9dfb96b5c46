"""The web server of `tokentui serve`, and the process that it starts for each visitor."""
