"""TensorFlow 1: a loss differentiated in a copy of the user's graph, to which nothing is added."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lstm_gates_plugin.frameworks.arriving import single_number
from lstm_gates_plugin.frameworks.kept import Kept
from lstm_gates_plugin.frameworks.tf1 import session as tf1_session
from lstm_gates_plugin.fused import Array

v1 = tf.compat.v1

# A session with copies of more bytes of variables is closed after each run.
_MOST_BYTES_KEPT = 2**26

# Without these, TensorFlow cannot differentiate loops and branches of a copied graph.
_CONTEXTS = (v1.GraphKeys.WHILE_CONTEXT, v1.GraphKeys.COND_CONTEXT)


@dataclass(frozen=True)
class Question:
    """What is differentiated by what.

    Attributes:
        loss: a tensor of a single number.
        outputs: the tensors that an rnn op returned, of all timesteps and of the final states.
        inputs: the tensors that it was given, or what is fed.
        variables: of its cells.
    """

    loss: Any
    outputs: Sequence[Any]
    inputs: Sequence[Any]
    variables: Sequence[Any]


def check(session: Any, loss: Any, returned: Sequence[Any]) -> None:
    """Refuse a loss that cannot be differentiated by what an rnn op returned.

    Raises:
        TypeError: the loss is not a tensor.
        ValueError: something that the rnn op returned is not, or the loss is of whole numbers, or
            there is no session, or it is of another graph.
    """
    if not tf1_session.is_symbolic(loss):
        raise TypeError(
            "the loss of a TF1 cell must be a tensor of its graph, and an object of type "
            f"{type(loss).__name__} was given."
        )
    if not loss.dtype.is_floating:
        raise ValueError(
            f"the loss must be a number that changes smoothly, and {loss.name!r} is of type "
            f"{loss.dtype.name}."
        )
    if not all(tf1_session.is_symbolic(tensor) for tensor in returned):
        raise ValueError(
            f"for the gradients of the loss {loss.name!r}, give what the rnn op takes and returns "
            "as tensors: lg.trace(cell, inputs=tensor, feed_dict=..., outputs=tensor, "
            "state=tensor, loss=tensor, session=session)."
        )
    if session is None:
        raise ValueError("a loss was given, but no session; give session=.")
    tf1_session.check_graph(session, [loss, *returned])


def run(
    session: Any, tensors: Sequence[Any], feed_dict: Mapping[Any, Any], question: Question
) -> tuple[list[Array], list[Array]]:
    """The values of tensors, and the gradients of a loss, from one run apart from the session.

    The gradient by one of the outputs is what the loss says to that one alone, not through others
    that were computed from it: under `static_rnn` each output goes into the next timestep.

    Args:
        session: what has the variables.
        tensors: what to compute beside the gradients.
        feed_dict: what the session is fed with.
        question: what is differentiated.

    Returns:
        The values, and the gradients by `question.outputs`: zero where the loss does not depend on
        an output, and where the same tensor is there a second time.

    Raises:
        ValueError: the loss cannot be differentiated or is no single number, or it depends on the
            cells by more than these outputs, or something cannot be computed.
    """
    graph = session.graph
    loss, *outputs = [_name(graph, tensor) for tensor in (question.loss, *question.outputs)]
    key = (graph.version, loss, *outputs)  # what is in the graph since then is not in a copy
    copy = _COPIES.get(graph, key, lambda: _copy(graph, question))
    if not isinstance(copy, Copy):
        raise ValueError(copy or f"the loss {loss!r} cannot be differentiated.")
    fed = {_name(graph, fed): value for fed, value in feed_dict.items()}
    values, gradients = copy.run(session, [_name(graph, tensor) for tensor in tensors], fed)
    seen: set[str] = set()
    once = []
    for name in outputs:
        once.append(np.zeros_like(gradients[name]) if name in seen else gradients[name])
        seen.add(name)
    return values, once


class Copy:
    """A copy of a graph in which a loss is differentiated. It knows the graph only by its names.

    Args:
        graph: the graph.
        loss: the name of the loss.
        outputs: the names of the tensors by which it is differentiated.
    """

    def __init__(self, graph: Any, loss: str, outputs: Sequence[str]) -> None:
        self.graph = tf.Graph()
        with self.graph.as_default():
            exported = v1.train.export_meta_graph(graph=graph, collection_list=_CONTEXTS)
            v1.train.import_meta_graph(exported, clear_devices=True)
            self.loss = self.graph.get_tensor_by_name(loss)
            self.outputs = {name: self.graph.get_tensor_by_name(name) for name in outputs}
            by = list(self.outputs.values())
            gradients = v1.gradients(self.loss, by, stop_gradients=by)
            self._gradients = {
                name: tf.convert_to_tensor(gradient)  # it may hold only the rows that are not zero
                for name, gradient in zip(self.outputs, gradients, strict=True)
                if gradient is not None
            }
        self._session: Any = None

    def run(
        self, session: Any, names: Sequence[str], feed_dict: Mapping[str, Any]
    ) -> tuple[list[Array], dict[str, Array]]:
        """The values of tensors, and the gradients by the outputs.

        Raises:
            ValueError: the loss is no single number, or something cannot be computed.
        """
        fed = {self.graph.get_tensor_by_name(name): value for name, value in feed_dict.items()}
        tensors = [self.graph.get_tensor_by_name(name) for name in names]
        wanted = [self.loss, *tensors, *self.outputs.values(), *self._gradients.values()]
        operations = tf1_session.computed(self.graph, wanted, fed)
        task = (
            "the gradients cannot be computed apart from your session (feed the tensors that come "
            "out of an input pipeline)"
        )
        with tf1_session.explained(task), self._apart(session, operations) as apart:
            found = iter([np.asarray(value) for value in apart.run(wanted, fed)])
        single_number(next(found))
        values = [next(found) for _ in tensors]
        zeros = {name: np.zeros_like(next(found)) for name in self.outputs}
        return values, {**zeros, **{name: next(found) for name in self._gradients}}

    @contextlib.contextmanager
    def _apart(self, session: Any, operations: Iterable[Any]) -> Iterator[Any]:
        """A session on the copy, with the variables that the operations need.

        Opening one takes as long as many runs, so it stays open, unless a run changes its state or
        it holds much memory.
        """
        stays = all(tf1_session.is_harmless(operation) for operation in operations)
        apart = self._session or tf1_session.opened(self.graph, session.graph)
        self._session = None
        try:
            size = tf1_session.copy_variables(session, apart, operations)
            yield apart
            if stays and size <= _MOST_BYTES_KEPT:
                self._session = apart
        finally:
            if self._session is None:
                apart.close()


_COPIES: Kept[Copy | str] = Kept()


def _copy(graph: Any, question: Question) -> Copy | str:
    """A copy of the graph, or a sentence that says why the loss cannot be differentiated in it."""
    loss, *outputs = [_name(graph, tensor) for tensor in (question.loss, *question.outputs)]
    if _depends_on_more(question):
        return (
            f"the gradients of the loss {loss!r} would lack a part: it depends on the cells by "
            "other tensors than the outputs that were given. Give what the rnn op returned, both "
            "outputs= and state=, and not what was computed from it."
        )
    try:
        return Copy(graph, loss, list(dict.fromkeys(outputs)))
    except Exception as error:  # from TensorFlow, or from gradients of the user's own
        return f"the loss {loss!r} cannot be differentiated: {tf1_session.reason(str(error))}"


def _depends_on_more(question: Question) -> bool:
    """Whether a loss depends on what happens between the inputs and the outputs of cells directly.

    What is there depends on the inputs and on the cells' variables. A loss that depends on the
    variables alone, such as a penalty on large weights, is none of that.
    """

    def before(operation: Any) -> Iterable[Any]:
        return [tensor.op for tensor in operation.inputs if tensor.name not in returned]

    def any_before(operation: Any) -> Iterable[Any]:
        return [tensor.op for tensor in operation.inputs]

    def after(operation: Any) -> Iterable[Any]:
        return [reader for tensor in operation.outputs for reader in tensor.consumers()]

    returned = {tensor.name for tensor in question.outputs}
    start = [] if question.loss.name in returned else [question.loss.op]
    between = _reached(start, before) & _reached([o.op for o in question.outputs], any_before)
    for ends in (question.inputs, question.variables):
        between &= _reached([end.op for end in ends], after)
    return bool(between)


def _reached(start: Iterable[Any], neighbours: Callable[[Any], Iterable[Any]]) -> set[Any]:
    """All operations that one comes to from some."""
    waiting, seen = list(start), set()
    while waiting:
        operation = waiting.pop()
        if operation not in seen:
            seen.add(operation)
            waiting += neighbours(operation)
    return seen


def _name(graph: Any, tensor: Any) -> str:
    name: str = graph.as_graph_element(tensor, allow_operation=False).name
    return name
