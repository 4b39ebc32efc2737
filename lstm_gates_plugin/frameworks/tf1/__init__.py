"""TensorFlow 1: cells in graphs and sessions."""
