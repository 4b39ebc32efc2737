"""Flax, in a process of its own without TensorFlow: `pytest tests/flax`."""

import os

# Compiling is what these tests wait for; so it takes a third of the time.
os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_use_fusion_emitters=false"
os.environ["JAX_PLATFORMS"] = "cpu"
