"""TensorFlow 1: what a trace of a cell is given, and its tensors computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lstm_gates_plugin.frameworks import levels
from lstm_gates_plugin.frameworks.arriving import Arriving
from lstm_gates_plugin.frameworks.tf1 import losses as tf1_losses
from lstm_gates_plugin.frameworks.tf1 import session as tf1_session
from lstm_gates_plugin.frameworks.tf1 import states as tf1_states
from lstm_gates_plugin.frameworks.tf1.cells import GraphCell
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.telling import tell


@dataclass(kw_only=True, eq=False)
class Call:
    """What an rnn op is given, and what it returned: arrays, or tensors that the session computes.

    Attributes:
        inputs: `[batch, time, input_size]`, or a list of `[batch, input_size]` as for `static_rnn`.
        session: where the variables are; by default the default session.
        feed_dict: what the session is fed with to compute those that are tensors.
        lengths: `sequence_length`, `[batch]`.
        time_major: whether inputs and outputs are `[time, batch, ...]`.
        initial_state: in the structure of `cell.state_size`; zero if it is not given.
        outputs: what the rnn op returned, to compare with.
        state: the final state that it returned, to compare with.
        backward_cell: the second cell of a `bidirectional_dynamic_rnn`. Then initial state, outputs
            and state are each a pair, of the forward and the backward cell.
        loss: a tensor of a single number, to be differentiated by the outputs and the state, which
            then are tensors.
    """

    inputs: Any = field(kw_only=False)
    session: Any = None
    feed_dict: Mapping[Any, Any] = field(default_factory=dict)
    lengths: Any = None
    time_major: bool = False
    initial_state: Any = None
    outputs: Any = None
    state: Any = None
    backward_cell: Any = None
    loss: Any = None


def evaluate(call: Call, session: Any, trees: Sequence[levels.Node[GraphCell]]) -> dict[str, Any]:
    """The arguments as arrays, nested as they were given; all tensors from one run.

    Inputs and outputs are batch first, and `mask` takes the place of the lengths. Outputs and state
    are `None` where they were computed with dropout: they cannot be compared with. Of a loss there
    are `output_gradients` and `state_gradients`, nested as outputs and state.

    Raises:
        TypeError: the loss is not a tensor.
        ValueError: a tensor cannot be computed, or a shape is none that an rnn op takes, or the
            loss cannot be differentiated.
    """
    names = ["inputs", "lengths", "initial_state", "outputs", "state"]
    cells = [cell for tree in trees for cell in levels.leaves(tree)]
    kept = [probability for cell in cells for probability in cell.keep_probabilities]
    compares = call.outputs is not None or call.state is not None
    always_drops = any(isinstance(probability, float) for probability in kept)
    if always_drops:
        names = names[:3]
    wanted = {name: getattr(call, name) for name in names}
    if compares and not always_drops:
        wanted["kept"] = kept
    tensors = {id(leaf): leaf for leaf in _flat(wanted.values()) if tf1_session.is_symbolic(leaf)}
    gradients: dict[str, Any] = {"output_gradients": None, "state_gradients": None}
    if call.loss is None:
        computed = tf1_session.run(session, list(tensors.values()), call.feed_dict)
    else:
        if always_drops:
            raise ValueError(_DROPPED)
        computed, gradients = _differentiated(call, session, list(tensors.values()), cells)
    arrays = dict(zip(tensors, computed, strict=True))
    values = {name: _to_arrays(name, value, arrays) for name, value in wanted.items()}
    if compares and (always_drops or any((array != 1).any() for array in values.pop("kept", ()))):
        if call.loss is not None:
            raise ValueError(_DROPPED)
        tell(
            "the traces are not compared with the outputs and the state that were given: those "
            "were computed with dropout, and traces are without it. Feed keep probabilities of 1 "
            "to have them compared.",
            stacklevel=2,
        )
        values |= {"outputs": None, "state": None}
    inputs = _batch_first("inputs", values["inputs"], call.time_major)
    return {
        "inputs": inputs,
        "mask": _mask(values["lengths"], inputs),
        "initial_state": values["initial_state"],
        "outputs": values.get("outputs"),
        "state": values.get("state"),
        **gradients,
    }


_DROPPED = (
    "the gradients cannot be computed: the loss was computed with dropout in the cells, and traces "
    "are without it. Feed keep probabilities of 1, which takes DropoutWrappers that are given a "
    "placeholder."
)


def _differentiated(
    call: Call, session: Any, tensors: Sequence[Any], cells: Sequence[GraphCell]
) -> tuple[list[Array], dict[str, Any]]:
    """The values of tensors, and the gradients of the loss by outputs and state."""
    outputs = list(_flat([call.outputs]))
    state = [] if call.state is None else list(_flat([call.state]))
    tf1_losses.check(session, call.loss, [*outputs, *state])
    inputs = [leaf for leaf in _flat([call.inputs]) if tf1_session.is_symbolic(leaf)]
    fed = [session.graph.as_graph_element(key, allow_operation=False) for key in call.feed_dict]
    weights = [weight for cell in cells for weight in cell.variables().values()]
    question = tf1_losses.Question(
        loss=call.loss,
        outputs=[*outputs, *state],
        inputs=inputs or fed,
        variables=[part for weight in weights for part in tf1_session.parts(weight)],
    )
    computed, gradients = tf1_losses.run(session, tensors, call.feed_dict, question)
    of_outputs = dict(zip(map(id, outputs), gradients, strict=False))
    of_state = dict(zip(map(id, state), gradients[len(outputs) :], strict=True))
    return computed, {
        "output_gradients": _to_arrays("outputs", call.outputs, of_outputs),
        "state_gradients": _to_arrays("state", call.state, of_state),
    }


def of_cell(
    values: Mapping[str, Any], call: Call, cell: Any, number: int, count: int
) -> dict[str, Any]:
    """What `evaluate` gave, as far as it is about one of the cells, as fields of a `RecordedCall`.

    Raises:
        ValueError: a shape or structure is not that of the cell.
    """
    inputs = values["inputs"]
    batch = len(inputs)
    initial, outputs, state, output_gradients, state_gradients = (
        _part(name, values[name], number, count)
        for name in ("initial_state", "outputs", "state", "output_gradients", "state_gradients")
    )
    if outputs is not None:
        outputs = _batch_first("outputs", outputs, call.time_major)
        expected = (*inputs.shape[:2], cell.output_size)
        if outputs.shape != expected:
            raise ValueError(
                f"outputs must be what the rnn op returned for the same inputs, of shape "
                f"{expected}, and an array of shape {outputs.shape} was given."
            )
    arriving = None
    if output_gradients is not None:
        arriving = Arriving(
            _batch_first("outputs", output_gradients, call.time_major),
            () if state_gradients is None else tf1_states.flat(cell, state_gradients, batch),
        )
    return {
        "inputs": inputs,
        "mask": values["mask"],
        "initial_state": None if initial is None else tf1_states.flat(cell, initial, batch),
        "hidden_state": outputs,
        "final_state": None if state is None else tf1_states.flat(cell, state, batch),
        "arriving": arriving,
    }


def _is_structure(value: Any) -> bool:
    """Whether a value consists of arrays or tensors, and is not one, written as nested lists."""
    if not isinstance(value, (list, tuple)):
        return False
    first: Any = value
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    return hasattr(first, "shape") or first is None


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if _is_structure(value):
            yield from _flat(value)
        else:
            yield value


def _to_arrays(name: str, value: Any, computed: Mapping[int, Array]) -> Any:
    """The same structure of arrays."""
    if value is None:
        return None
    if _is_structure(value):
        return tuple(_to_arrays(name, item, computed) for item in value)
    try:
        return computed[id(value)] if id(value) in computed else np.asarray(value)
    except ValueError as error:
        raise ValueError(
            f"{name} cannot be made an array: {error}. Pad sequences of different lengths, and "
            "give lengths=."
        ) from error


def _batch_first(name: str, value: Any, time_major: bool) -> Array:
    """What `dynamic_rnn` or `static_rnn` takes or returns, as `[batch, time, size]`."""
    if isinstance(value, tuple):  # one array per timestep
        shapes = {np.shape(step) for step in value}
        if len(shapes) != 1 or len(*shapes) != 2:
            raise ValueError(
                f"a list of {name}, as of static_rnn, must hold one array [batch, size] per "
                f"timestep, and arrays of the shapes {sorted(shapes)} were given."
            )
        return np.stack(value, axis=1)
    if value.ndim != 3:
        order = "[time, batch, size]" if time_major else "[batch, time, size]"
        raise ValueError(
            f"{name} must have the shape {order}, or be a list of one array [batch, size] per "
            f"timestep as for static_rnn, and an array of shape {value.shape} was given."
        )
    array: Array = value.swapaxes(0, 1) if time_major else value
    return array


def _mask(lengths: Array | None, inputs: Array) -> Array | None:
    """`[batch, time]`, true within each row's length."""
    if lengths is None:
        return None
    batch, time = inputs.shape[:2]
    if lengths.shape != (batch,) or not np.issubdtype(lengths.dtype, np.integer):
        raise ValueError(
            f"lengths must be one whole number for each of the {batch} rows, and an array of shape "
            f"{lengths.shape} and type {lengths.dtype} was given."
        )
    mask: Array = np.arange(time) < lengths[:, np.newaxis]
    return mask


def _part(name: str, value: Any, number: int, count: int) -> Any:
    """The part of a value that belongs to one of the cells."""
    if count == 1 or value is None:
        return value
    if not isinstance(value, tuple) or len(value) != count:
        raise ValueError(
            f"with a backward_cell, {name} must be a pair: of the forward and of the backward cell."
        )
    return value[number]
