"""PyTorch: list the recurrent layers of a module, and record them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import torch

from lstm_gates_plugin.frameworks.recorded import Observation, Observe, RecordedCall
from lstm_gates_plugin.frameworks.torch import kinds, training, weights
from lstm_gates_plugin.frameworks.torch import layers as torch_layers
from lstm_gates_plugin.frameworks.torch.call import ModuleCall
from lstm_gates_plugin.frameworks.torch.following import can_be_followed, gradients
from lstm_gates_plugin.frameworks.torch.layers import Found, unwrap
from lstm_gates_plugin.frameworks.torch.recordable import check, recordable, warn_or_raise
from lstm_gates_plugin.frameworks.torch.recording import recorded
from lstm_gates_plugin.frameworks.torch.restoring import inference_mode, restored
from lstm_gates_plugin.frameworks.torch.values import copied_arguments, mapped, to_model
from lstm_gates_plugin.gradients import TrainingGradients
from lstm_gates_plugin.layer import RecurrentLayer
from lstm_gates_plugin.telling import tell

#: The user's own: what the model returned, to a single number.
Loss: TypeAlias = Callable[[Any], Any]


class _Made(NamedTuple):
    """A call of a module, and the layers that the module had then."""

    call: ModuleCall
    layers: list[RecurrentLayer]


def recurrent_layers(model: Any) -> list[RecurrentLayer]:
    """The recurrent layers of a module, with copies of their present weights.

    A layer whose weights cannot be read is named in a warning.

    Raises:
        TypeError: it is no module.
        ValueError: this is called while a function is compiled.
    """
    check(model)
    module = unwrap(model)
    with restored(module):
        read, refused = _read(torch_layers.find(module))
    for sentence in refused:
        tell(sentence, stacklevel=3)
    return [layer for layers in read.values() for layer in layers]


def training_gradients(model: Any, scale: float) -> list[TrainingGradients]:
    """The gradients in a module's weights; see `capture`.

    A layer whose weights or gradients cannot be read is named in a warning.

    Raises:
        TypeError: it is no module.
        ValueError: this is called while a function is compiled, or there is no layer left.
    """
    check(model)
    module = unwrap(model)
    found = torch_layers.find(module)
    with restored(module):
        read, refused = _read(found)
    of_layers: list[TrainingGradients] = []
    for each in found:
        try:
            of_layers += training.read(each, read[each.id], scale) if each.id in read else []
        except weights.RefusedError as error:
            refused.append(str(error))
    warn_or_raise(refused, bool(of_layers))
    return of_layers


def observe(
    model: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    samples: int | None,
    loss: Loss | None = None,
) -> Observation:
    """Call a module in inference mode, record its recurrent layers, and leave all as it was.

    What a wrapper such as `DistributedDataParallel` or that of torch.compile wraps is called, never
    the wrapper.

    Args:
        model: a torch module.
        args: what it is called with; arrays become tensors, and tensors elsewhere move to it. It
            gets copies.
        kwargs: the same, by name.
        samples: how many rows to record at most; the model runs on all of them.
        loss: of what the model returns, to be differentiated by what its layers put out. Gradients
            are of this very number: no `GradScaler` multiplies it.

    Raises:
        TypeError: it is no module.
        ValueError: no recurrent layer can be recorded, or this is called while a function is
            compiled; the loss is not a single number, or torch cannot differentiate it.
    """
    check(model)
    module = unwrap(model)
    found = recordable(module)
    try:
        return _observe(module, found, args, kwargs, samples, loss, differentiable=loss is not None)
    except RuntimeError as error:
        if loss is not None or "does not require grad" not in str(error):
            raise
    # The model differentiates by itself; torch records operations only where that is needed.
    return _observe(module, found, args, kwargs, samples, None, differentiable=True)


def _observe(
    module: Any,
    found: list[Found],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    samples: int | None,
    loss: Loss | None,
    *,
    differentiable: bool,
) -> Observation:
    made: list[_Made] = []
    unseen: dict[str, str] = {}
    with restored(module, differentiable=differentiable):
        read, refused = _read(found)
        warn_or_raise(refused, bool(read))
        found = [each for each in found if each.id in read]

        def keep(number: int, call: ModuleCall | str) -> None:
            layers = read[found[number].id]
            if isinstance(call, str):
                unseen.update({layer.id: call for layer in layers})
            else:
                made.append(_Made(call, layers))

        args, kwargs = copied_arguments(to_model(module, (args, kwargs)))
        with recorded(module, found, keep, samples, for_gradients=loss is not None):
            outputs = module(*args, **kwargs)
        value = None if loss is None else loss(outputs)
        calls = _to_recorded(made, value, keep_graph=False)
        outputs = mapped(torch.detach, outputs)
    layers = [layer for each in read.values() for layer in each]
    return Observation(layers, calls, outputs, unseen)


def in_a_row(
    model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[RecordedCall], list[RecordedCall]]:
    """The calls of the layers in two calls of a module in a row; see `capture`."""
    check(model)
    module = unwrap(model)
    with restored(module), recording(module) as observe:
        args, kwargs = copied_arguments(to_model(module, (args, kwargs)))
        module(*args, **kwargs)
        first = len(observe().calls)
        module(*args, **kwargs)
        calls = observe().calls
    return calls[:first], calls[first:]


@contextlib.contextmanager
def recording(model: Any) -> Iterator[Observe]:
    """Record the recurrent layers of a module while the user runs it in any way but training.

    All of its modules are in inference mode meanwhile, and compiled functions run uncompiled.

    Yields:
        a function that returns what was recorded so far, its `outputs` being `None`, with the
        gradients of a loss if it is given one, which can be differentiated further afterwards.

    Raises:
        TypeError: it is no module.
        ValueError: no recurrent layer can be recorded, or this is called while a function is
            compiled; in the block, if the model is trained.
    """
    check(model)
    found = recordable(model)
    read: dict[str, list[RecurrentLayer]] = {}
    made: list[_Made] = []

    def keep(number: int, call: ModuleCall | str) -> None:
        each = found[number]
        if isinstance(call, str):
            tell(f"a call of layer {each.id!r} could not be recorded: {call}.", stacklevel=4)
            return
        if each.id not in read:  # now: with the weights that it has in this call
            new, refused = _read([each])
            warn_or_raise(refused, True)
            read.update({each.id: [], **new})
        if read[each.id]:
            made.append(_Made(call, read[each.id]))

    def observe(loss: Any = None) -> Observation:
        layers = [each for layers in read.values() for each in layers]
        return Observation(layers, _to_recorded(made, loss, keep_graph=True), None)

    with inference_mode(model), recorded(model, found, keep):
        yield observe


def _to_recorded(made: Sequence[_Made], loss: Any, *, keep_graph: bool) -> list[RecordedCall]:
    """The calls of the layers, with the gradients of a loss where there is one.

    A layer that has none is named in a warning.

    Raises:
        ValueError: see `gradients`; or a layer is quantized.
    """
    if loss is None:
        return [each for call, layers in made for each in call.to_recorded(layers)]
    quantized = [layers[0].id for call, layers in made if kinds.is_quantized(call.module)]
    if quantized:
        raise ValueError(
            f"the gradients cannot be computed: the weights of layer {quantized[0]!r} are "
            "quantized, and torch lets no gradient through such layers."
        )
    refused = [_without_gradients(*each) for each in made]
    for sentence in dict.fromkeys(filter(None, refused)):
        tell(sentence, stacklevel=5)
    fitting = [call.sources for (call, _), why in zip(made, refused, strict=True) if why is None]
    found = iter(gradients(loss, fitting, keep_graph=keep_graph))
    return [
        each
        for (call, layers), why in zip(made, refused, strict=True)
        for each in call.to_recorded(layers, None if why else next(found))
    ]


def _without_gradients(call: ModuleCall, layers: Sequence[RecurrentLayer]) -> str | None:
    """Why the gradients of a call cannot be had, if that is so."""
    if call.sources is None:
        why = "it ran under torch.no_grad() or torch.inference_mode(): run the model without"
    elif not can_be_followed(call.sources):
        why = (
            "it is frozen, and nothing before it is trained either, so that torch recorded nothing "
            "of it; trace(model, x, loss=...) gives them"
        )
    elif not (call.is_comparable(layers) or kinds.is_single_cell(call.module)):
        why = f"{type(call.module).__name__} returns something else than torch's own class"
    else:
        return None
    ids = ", ".join(repr(layer.id) for layer in layers)
    return f"the gradients of layer {ids} cannot be computed: {why}."


def _read(found: Sequence[Found]) -> tuple[dict[str, list[RecurrentLayer]], list[str]]:
    """The layers of some modules, by id of the module, and sentences on those without."""
    read: dict[str, list[RecurrentLayer]] = {}
    refused: list[str] = []
    for each in found:
        try:
            read[each.id] = weights.read(each)
        except weights.RefusedError as error:
            refused.append(str(error))
    return read, refused
