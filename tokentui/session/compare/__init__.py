"""What is computed about several columns together."""
