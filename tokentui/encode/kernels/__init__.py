"""Kernels that encode text."""
