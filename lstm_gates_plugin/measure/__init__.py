"""Measuring: arrays in, small arrays out. Pure NumPy, no I/O."""
