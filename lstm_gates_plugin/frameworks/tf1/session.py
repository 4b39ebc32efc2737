"""TensorFlow 1: read variables and tensors out of a session, and leave the session as it was."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from lstm_gates_plugin.fused import Array

v1 = tf.compat.v1

# Stateful operations that change nothing which outlives one run of the session.
_HARMLESS = {
    "HashTableV2",
    "IsVariableInitialized",
    "LookupTableFindV2",
    "LookupTableSizeV2",
    "MutableHashTableV2",
    "ReadVariableOp",
    "ResourceGather",
    "ResourceGatherNd",
    "VarHandleOp",
    "VarIsInitializedOp",
    "Variable",
    "VariableV2",
}
_HARMLESS_PREFIXES = ("Stack", "TensorArray")  # the bookkeeping of a while loop


def choose(session: Any) -> Any:
    """The session to read from: the one given, or the default session, or `None`."""
    session = v1.get_default_session() if session is None else session
    if hasattr(session, "run_step_fn"):  # a MonitoredSession, whose run() would call its hooks
        return session.run_step_fn(lambda step_context: step_context.session)
    return session


def parts(variable: Any) -> list[Any]:
    """A variable, or the variables that a partitioned one consists of."""
    return [variable] if isinstance(variable, tf.Variable) else list(variable)


def read(session: Any, variables: Sequence[Any]) -> list[Array]:
    """The present values of variables, each whole.

    Raises:
        ValueError: a variable is of another graph, or not initialised, or there is no session.
    """
    pieces = [piece for variable in variables for piece in parts(variable)]
    if session is None and any(is_symbolic(piece) for piece in pieces):
        raise ValueError(
            "the variables of a TF1 cell live in a session, and there is no default session here; "
            "give session=."
        )
    if session is None:
        values = iter([piece.numpy() for piece in pieces])
    else:
        check_graph(session, pieces)
        with explained("the weights cannot be read"):
            values = iter(session.run(pieces))
    whole = []
    for variable in variables:
        own = [np.asarray(next(values)) for _ in parts(variable)]
        differs = [n != size for n, size in zip(own[0].shape, variable.shape, strict=True)]
        whole.append(own[0] if len(own) == 1 else np.concatenate(own, axis=differs.index(True)))
    return whole


def is_symbolic(value: Any) -> bool:
    """Whether only a session knows the value."""
    holder = getattr(value, "handle", value)  # of a resource variable
    is_eager = isinstance(holder, tf.__internal__.EagerTensor)
    return (tf.is_tensor(value) or isinstance(value, tf.Variable)) and not is_eager


def run(session: Any, tensors: Sequence[Any], feed_dict: Mapping[Any, Any]) -> list[Array]:
    """The values of tensors, computed without a change to the session.

    Where computing them would draw random numbers or take from an input pipeline, they are computed
    in a session of their own on the same graph, with the same variables.

    Raises:
        ValueError: a tensor is of another graph, or cannot be computed from what was fed.
    """
    if not tensors:
        return []
    if session is None:
        raise ValueError("tensors of a graph were given, but no session; give session=.")
    check_graph(session, tensors)
    operations = computed(session.graph, tensors, feed_dict)
    changing = sorted({operation.type for operation in operations if not is_harmless(operation)})
    if not changing:
        with explained("the tensors cannot be computed"):
            return [np.asarray(value) for value in session.run(list(tensors), feed_dict)]
    task = (
        f"the tensors cannot be computed apart from your session, which is needed because "
        f"{', '.join(changing)} would change its state (feed the tensors that come out of an input "
        "pipeline)"
    )
    with explained(task), _apart(session, operations) as apart:
        return [np.asarray(value) for value in apart.run(list(tensors), feed_dict)]


def computes(graph: Any, fetches: Sequence[Any], feed_dict: Mapping[Any, Any], tensor: Any) -> bool:
    """Whether a run of the session for some fetches computes a tensor anyway."""
    try:
        return tensor.op in computed(graph, fetches, feed_dict)
    except (TypeError, ValueError):  # something is fetched or fed that is not one tensor
        return False


def has_gpu(session: Any) -> bool:
    """Whether the session can run operations on a GPU."""
    if session is None:
        return bool(tf.config.list_logical_devices("GPU"))
    return any(device.device_type == "GPU" for device in session.list_devices())


def check_graph(session: Any, elements: Sequence[Any]) -> None:
    """Refuse tensors and variables of another graph than the session's.

    Raises:
        ValueError: one is.
    """
    for element in elements:
        if element.graph is not session.graph:
            raise ValueError(
                f"{element.name!r} belongs to another graph than the session; give the session "
                "that was made for the graph in which the cell was built."
            )


def computed(graph: Any, tensors: Sequence[Any], feed_dict: Mapping[Any, Any]) -> set[Any]:
    """Every operation that has to run for some tensors or operations, given what is fed."""
    fed = {graph.as_graph_element(key, allow_operation=False).name for key in feed_dict}
    elements = [graph.as_graph_element(tensor) for tensor in tensors]
    waiting = [getattr(each, "op", each) for each in elements if each.name not in fed]
    seen: set[Any] = set()
    while waiting:
        operation = waiting.pop()
        if operation not in seen:
            seen.add(operation)
            waiting += [tensor.op for tensor in operation.inputs if tensor.name not in fed]
            waiting += operation.control_inputs
    return seen


def is_harmless(operation: Any) -> bool:
    """Whether running an operation changes nothing that outlives the run."""
    definition = operation.op_def
    if definition is not None and not definition.is_stateful:
        return True
    return operation.type in _HARMLESS or operation.type.startswith(_HARMLESS_PREFIXES)


@contextlib.contextmanager
def _apart(session: Any, operations: set[Any]) -> Iterator[Any]:
    """A session of its own on the same graph, where the operations' variables have their values."""
    apart = opened(session.graph, session.graph)
    try:
        copy_variables(session, apart, operations)
        yield apart
    finally:
        apart.close()


def opened(graph: Any, original: Any) -> Any:
    """A new session with the tables of a graph.

    Args:
        graph: what the session runs.
        original: the same graph, or that of which it is a copy.
    """
    session = v1.Session(graph=graph, config=v1.ConfigProto(allow_soft_placement=True))
    tables = original.get_collection(v1.GraphKeys.TABLE_INITIALIZERS)
    session.run([graph.get_operation_by_name(table.name) for table in tables])
    return session


def copy_variables(session: Any, other: Any, operations: Iterable[Any]) -> int:
    """Give the variables among some operations their values, in another session.

    Args:
        session: the one that has the values.
        other: a session on the same graph, or on a copy of it.
        operations: of the other session's graph.

    Returns:
        The size of the values, in bytes.
    """
    names = {operation.name for operation in operations}
    variables = {
        variable.op.name: variable
        for collection in (v1.GraphKeys.GLOBAL_VARIABLES, v1.GraphKeys.LOCAL_VARIABLES)
        for variable in session.graph.get_collection(collection)
        if variable.op.name in names
    }
    values = session.run(list(variables.values()))
    for variable, value in zip(variables.values(), values, strict=True):
        # What Variable.load does, without its notice that it is deprecated.
        initializer = other.graph.get_operation_by_name(variable.initializer.name)
        other.run(initializer, {initializer.inputs[1]: value})
    return sum(np.asarray(value).nbytes for value in values)


@contextlib.contextmanager
def explained(task: str) -> Iterator[None]:
    """Turn the session's errors into sentences."""
    try:
        yield
    except tf.errors.FailedPreconditionError as error:
        raise ValueError(
            f"{task}: something is not initialised in this session. Run "
            "tf.compat.v1.global_variables_initializer() in it, or restore a checkpoint, first. "
            f"TensorFlow says: {reason(error.message)}"
        ) from error
    except tf.errors.OpError as error:
        raise ValueError(f"{task}: {reason(error.message)}") from error
    except RuntimeError as error:
        raise ValueError(f"{task}: {error}") from error


def reason(message: str) -> str:
    """Of a message of TensorFlow's, the line that says what is wrong, not where in the graph."""
    for line in message.splitlines():
        if line.strip() and not line.startswith((" ", "\t", "Graph exec", "Detected at", "Node: ")):
            return line
    return message
