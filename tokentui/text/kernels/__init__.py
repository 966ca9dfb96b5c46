"""Kernels that scan text for pre-tokens and count them."""
