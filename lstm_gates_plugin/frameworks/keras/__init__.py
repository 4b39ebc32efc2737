"""Keras 3 on TensorFlow, JAX and torch, and tf_keras: find the layers, record what goes in."""
