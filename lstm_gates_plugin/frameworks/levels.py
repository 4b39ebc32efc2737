"""Cells in cells: one call of a stack of cells, replayed as one call of each.

A framework shows what goes into a stack and what comes out of it. What goes into the second cell
is what the first one puts out, and that is recomputed; a residual wrapper adds what went in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from lstm_gates_plugin import cells
from lstm_gates_plugin.frameworks import stepped
from lstm_gates_plugin.frameworks.arriving import Arriving, by_inputs
from lstm_gates_plugin.frameworks.recorded import RecordedCall
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.layer import RecurrentLayer
from lstm_gates_plugin.telling import tell

T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True)
class Leaf(Generic[T]):
    """One cell."""

    cell: T


@dataclass(frozen=True)
class Stack(Generic[T]):
    """Cells on top of each other: each gets what the one below puts out."""

    levels: tuple[Node[T], ...]


@dataclass(frozen=True)
class Residual(Generic[T]):
    """A wrapper whose output is made of the inputs and the output of what it wraps."""

    inner: Node[T]
    combine: Callable[[Array, Array], Array] | None  # None: their sum


Node: TypeAlias = Leaf[T] | Stack[T] | Residual[T]

_Gradient: TypeAlias = Callable[[], Array | None]


@dataclass(frozen=True)
class Cell:
    """A leaf that can be replayed."""

    layer: RecurrentLayer
    states: int = 1  # how many arrays its state has
    # For a cell whose equations are not known; None where it cannot be stepped either.
    step: stepped.Step | None = None
    known_states: int = 1  # 2 where the second state is known to be a cell state


def leaves(node: Node[T]) -> Iterator[T]:
    """The cells of a tree, in the order in which they run."""
    if isinstance(node, Leaf):
        yield node.cell
    elif isinstance(node, Residual):
        yield from leaves(node.inner)
    else:
        for level in node.levels:
            yield from leaves(level)


def convert(node: Node[T], function: Callable[[T], S]) -> Node[S]:
    """The same tree of other cells."""
    if isinstance(node, Leaf):
        return Leaf(function(node.cell))
    if isinstance(node, Residual):
        return Residual(convert(node.inner, function), node.combine)
    return Stack(tuple(convert(level, function) for level in node.levels))


def replay(node: Node[Cell], whole: RecordedCall) -> list[RecordedCall]:
    """One call of a tree of cells as a call of each cell, in the order in which they run.

    A cell has no gradients where what is above cannot be differentiated; a warning says so by name.

    Args:
        node: the cells.
        whole: the call; its states are those of all cells, one after the other, and its hidden
            state is what the tree put out. Its `layer` is not looked at.

    Raises:
        ValueError: what a cell puts out, and so what goes into the next, cannot be computed.
    """
    replayed = _Replay(whole)
    replayed.run(node, whole.inputs, _Output(whole.hidden_state, whole.last_hidden_state))
    if whole.arriving is None:
        return replayed.calls
    return _Return(replayed.calls, whole.arriving).run(node)


class _Output(NamedTuple):
    """What the framework says that a cell put out, as far as it says it."""

    sequence: Array | None = None  # [batch, time, size]
    last: Array | None = None  # [batch, size]


class _Replay:
    """The calls of the cells of one call of their tree."""

    def __init__(self, whole: RecordedCall) -> None:
        self.calls: list[RecordedCall] = []
        self._whole = whole
        self._initial = None if whole.initial_state is None else list(whole.initial_state)
        self._final = None if whole.final_state is None else list(whole.final_state)

    def run(self, node: Node[Cell], inputs: Array, output: _Output) -> Callable[[], Array]:
        """Run a tree on inputs `[batch, time, size]`; returns a function that gives its output."""
        if isinstance(node, Leaf):
            call = self._call(node.cell, inputs, output)
            self.calls.append(call)
            return partial(_output, node.cell, call)
        if isinstance(node, Residual):
            inner = self.run(node.inner, inputs, self._before(node, inputs, output))
            combine = node.combine or np.add
            return lambda: combine(inputs, inner())
        *below, last = node.levels
        for level in below:
            inputs = self.run(level, inputs, _Output())()
        return self.run(last, inputs, output)

    def _before(self, node: Residual[Cell], inputs: Array, output: _Output) -> _Output:
        """The output before a residual wrapper added its inputs."""
        if node.combine is not None:
            return _Output()
        backward = next(leaves(node)).layer.direction == "backward"
        sequence, last = output
        return _Output(
            None if sequence is None else sequence - inputs,
            None if last is None else last - inputs[:, 0 if backward else -1],
        )

    def _call(self, cell: Cell, inputs: Array, output: _Output) -> RecordedCall:
        """The call of one cell, which takes its own states from those of the whole."""
        call = replace(
            self._whole,
            layer=cell.layer,
            inputs=inputs,
            initial_state=_take(self._initial, cell.states),
            final_state=_take(self._final, cell.states),
            hidden_state=output.sequence,
            last_hidden_state=output.last,
        )
        return _stepped(cell, call) if cell.layer.cell == "unknown" else call


def _take(states: list[Array] | None, count: int) -> tuple[Array, ...] | None:
    if states is None:
        return None
    taken, states[:count] = tuple(states[:count]), []
    return taken


def _output(cell: Cell, call: RecordedCall) -> Array:
    """What a cell puts out, `[batch, time, size]`; zero at masked timesteps, which nobody reads."""
    if call.stepped is not None:
        return call.stepped.output
    if cell.layer.cell == "unknown":
        raise ValueError(
            f"the cells above {cell.layer.id!r} cannot be replayed: its cell cannot be called "
            "outside of its layer, so what it puts out is not known."
        )
    trace = cells.forward(cell.layer, call.inputs, call.mask, call.initial_state)
    return np.where(trace.mask[..., None], trace.hidden_state, 0)


def _stepped(cell: Cell, call: RecordedCall) -> RecordedCall:
    """The call of a cell that the framework has to step, with its states; as it is if it cannot."""
    # What such a cell puts out need not be its first state.
    call = replace(call, hidden_state=None, last_hidden_state=None)
    if cell.step is None or call.initial_state is None or call.inputs.ndim != 3:
        return call
    backward = cell.layer.direction == "backward"
    try:
        did = stepped.run(cell.step, call.inputs, call.mask, call.initial_state, backward=backward)
    except stepped.CannotStepError:
        return call
    did = did._replace(states=did.states[: cell.known_states])
    return replace(call, final_state=call.final_state or did.final, stepped=did)


class _Return:
    """The way back through a tree: what the loss says to each of the calls of its cells."""

    def __init__(self, calls: list[RecordedCall], arriving: Arriving) -> None:
        self._calls = calls
        first = calls[0]
        self._arriving = arriving.gathered(first.mask, first.layer.direction)
        self._next = len(calls) - 1
        self._final = list(arriving.final_state)

    def run(self, node: Node[Cell]) -> list[RecordedCall]:
        """The calls with what arrives at each."""
        self._back(node, lambda: self._arriving.output)
        return self._calls

    def _back(self, node: Node[Cell], output: _Gradient) -> _Gradient:
        """Go back through a tree; the functions give the gradient after it and before it."""
        if isinstance(node, Leaf):
            return self._back_through_cell(node.cell, output)
        if isinstance(node, Residual):
            if node.combine is not None:
                self._back(node.inner, _not_through_function)
                return _not_through_function
            inner = self._back(node.inner, output)
            return lambda: _sum(inner(), output())
        for level in reversed(node.levels):
            output = self._back(level, output)
        return output

    def _back_through_cell(self, cell: Cell, output: _Gradient) -> _Gradient:
        count = cell.states
        final = tuple(self._final[-count:])
        del self._final[-count:]
        number = self._next
        self._next -= 1
        call = self._calls[number] = replace(self._calls[number], arriving=None)
        try:
            arriving = Arriving(output(), final)
        except ValueError as error:  # what is above cannot be differentiated
            tell(f"layer {call.layer.id!r} has no gradients: {error}", stacklevel=2)
            return output
        self._calls[number] = replace(call, arriving=arriving)

        def before() -> Array | None:
            if call.layer.cell == "unknown":
                raise ValueError(f"the equations of {call.layer.id!r}, above it, are not known.")
            trace = cells.forward(call.layer, call.inputs, call.mask, call.initial_state)
            return by_inputs(trace, call.inputs, arriving)

        return before


def _not_through_function() -> Array | None:
    raise ValueError("a residual function of your own is between it and the loss.")


def _sum(one: Array | None, other: Array | None) -> Array | None:
    if one is None or other is None:
        return one if other is None else other
    return one + other
