"""Flax, in a process of its own without TensorFlow: `pytest tests/flax`."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"  # compiling is what these tests wait for
