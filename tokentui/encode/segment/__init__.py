"""Ways of encoding a pre-token, one file each."""
