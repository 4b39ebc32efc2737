"""Flax, linen and nnx."""
