"""Sizes of inputs that a fresh layer's gates can tell apart, for `lg.check` and the findings."""

from __future__ import annotations

#: Root mean square of inputs above which a fresh layer's gates stand at their limits. A threshold
#: of our own: with 28 to 256 inputs of this size, a quarter to a half of all gates of a fresh LSTM
#: (PyTorch's and Keras's initialisers) are nearly closed or nearly open, and none at 1.
LARGE = 5.0

#: Largest magnitude of inputs below which a fresh layer does not tell them from zero: the same, a
#: hundredth of the size for which initialisers are made.
SMALL = 0.01
