"""In front of the real TensorFlow on a TensorBoard's path: that TensorBoard runs without it."""

raise ImportError("TensorFlow is hidden from this TensorBoard; it starts six times as fast.")
