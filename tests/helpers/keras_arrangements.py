"""Cells of any Keras in every arrangement and under every mask, with what each must equal."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from helpers.any_keras import IS_TF_KERAS, backend, layers, reference

ROWS, TIME, SIZE = 3, 5, 4  # as many units as features, which residual wrappers ask for
RNG = np.random.default_rng(0)
X = RNG.normal(size=(ROWS, TIME, SIZE)).astype("float32")

MASKED = {
    "none": None,
    "right": [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 0, 0, 0, 0]],
    "left": [[0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [0, 0, 0, 0, 1]],
    "middle": [[1, 0, 1, 0, 1], [1, 1, 1, 1, 1], [0, 1, 0, 1, 0]],
}

CELLS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "LSTM": (layers.LSTM, layers.LSTMCell),
    "GRU, reset after": (layers.GRU, layers.GRUCell),
    "GRU, reset before": (
        lambda units, **more: layers.GRU(units, reset_after=False, **more),
        lambda units: layers.GRUCell(units, reset_after=False),
    ),
    "simple RNN": (layers.SimpleRNN, layers.SimpleRNNCell),
}


class Compared(NamedTuple):
    """What one of our layers must equal: by input time, as the framework returned it."""

    inputs: np.ndarray
    hidden: np.ndarray
    finals: list[np.ndarray]


def own(layer: Any, x: np.ndarray, mask: Any) -> Compared:
    """What a recurrent layer returns."""
    output, *finals = reference(layer, x, **given(mask))
    hidden = output[:, ::-1] if layer.go_backwards else output
    return Compared(x, hidden, [final for nested in finals for final in flat(nested)])


def flat(nested: Any) -> list[np.ndarray]:
    return (
        [leaf for part in nested for leaf in flat(part)] if isinstance(nested, list) else [nested]
    )


def ran(mask: Any) -> np.ndarray:
    return np.ones((ROWS, TIME), dtype=bool) if mask is None else mask


def given(mask: Any) -> dict[str, Any]:
    return {} if mask is None else {"mask": mask}


class Plain:
    """A recurrent layer."""

    def __init__(self, cell: str) -> None:
        self.layer = CELLS[cell][0](SIZE, return_sequences=True, return_state=True)

    def compared(self, mask: Any) -> list[Compared]:
        return [own(self.layer, X, mask)]


class Bidirectional:
    """Both directions, with different weights."""

    def __init__(self, cell: str) -> None:
        inner = CELLS[cell][0](SIZE, return_sequences=True, return_state=True)
        self.layer = layers.Bidirectional(inner, merge_mode="mul")

    def compared(self, mask: Any) -> list[Compared]:
        return [
            own(each, X, mask) for each in (self.layer.forward_layer, self.layer.backward_layer)
        ]


class Stacked:
    """`RNN` over a list of cells; what one puts out is what an `RNN` over it alone returns."""

    def __init__(self, cell: str) -> None:
        self.cells = [self.make(cell) for _ in range(2)]
        self.layer = self.rnn(self.cells)
        self.alone = [self.rnn(each) for each in self.cells]

    def make(self, cell: str) -> Any:
        return CELLS[cell][1](SIZE)

    def rnn(self, cells: Any) -> Any:
        return layers.RNN(cells, return_sequences=True, return_state=True)

    def compared(self, mask: Any) -> list[Compared]:
        levels, x = [], X
        for alone in self.alone:
            levels.append(own(alone, x, mask))
            x = self.output(x, levels[-1].hidden)
        # They are the stack's own levels, since this is what the stack puts out.
        np.testing.assert_allclose(
            own(self.layer, X, mask).hidden[ran(mask)], x[ran(mask)], atol=1e-5
        )
        return levels

    def output(self, x: np.ndarray, hidden: np.ndarray) -> np.ndarray:
        return hidden


class Wrapped(Stacked):
    """The same in TensorFlow's wrappers: residual, around dropout that keeps all."""

    def __init__(self, cell: str) -> None:
        super().__init__(cell)
        self.alone = [self.rnn(wrapper.cell.cell) for wrapper in self.cells]

    def make(self, cell: str) -> Any:
        dropout = backend.nn.RNNCellDropoutWrapper(super().make(cell), output_keep_prob=1.0)
        return backend.nn.RNNCellResidualWrapper(dropout)

    def output(self, x: np.ndarray, hidden: np.ndarray) -> np.ndarray:
        return x + hidden


class TimeDistributed:
    """A layer that is run on every part of a longer sequence."""

    def __init__(self, cell: str) -> None:
        self.inner = CELLS[cell][0](SIZE, return_sequences=True)
        self.layer = layers.TimeDistributed(self.inner)
        self.inner.build((None, TIME, SIZE))

    def compared(self, mask: Any) -> list[Compared]:
        return [Compared(X, reference(self.inner, X, **given(mask)), [])]


ARRANGEMENTS: dict[str, Any] = {
    "plain": Plain,
    "bidirectional": Bidirectional,
    "stacked cells": Stacked,
    # Keras 3 has no wrappers of cells; tf_keras hands no mask on through TimeDistributed.
    **({"wrapped cells": Wrapped} if IS_TF_KERAS else {"time distributed": TimeDistributed}),
}


def build(layer: Any, x: np.ndarray) -> None:
    if IS_TF_KERAS:
        layer(x)  # build() does not reach what is in TensorFlow's wrappers
    else:
        layer.build(x.shape)


def randomized(layer: Any) -> Any:
    """The layer, with every weight drawn anew, biases too."""
    layer.set_weights([RNG.normal(size=weight.shape) for weight in layer.get_weights()])
    return layer
