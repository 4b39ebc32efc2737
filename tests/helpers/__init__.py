"""What the tests of several parts share: a real TensorBoard, what must be installed."""
