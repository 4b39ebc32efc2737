"""The loss that a `LightningModule` is trained with, of what it put out for a probe."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from lstm_gates_plugin.callbacks.lightning_hooks import ignored
from lstm_gates_plugin.frameworks.replaced import replaced_attributes
from lstm_gates_plugin.writing.arrays import leaves
from lstm_gates_plugin.writing.notices import one_sentence
from lstm_gates_plugin.writing.probe import Probe

_ADVICE = "Give the probe a loss: Probe(x, target=y, loss=torch.nn.functional.mse_loss)."


def loss_of_training_step(trainer: Any, module: Any, probe: Probe) -> Callable[[Any], Any] | None:
    """The loss in a module's `training_step`, as a function of what its `forward` returned.

    The step is given copies of the probe's inputs and target as a batch, `(x, target)`. Where it
    calls the module it gets the outputs that there are already, what it logs is ignored, and
    loggers are out of its reach.

    Args:
        trainer: the module's.
        module: the module.
        probe: the samples.

    Returns:
        `None` where the probe has a loss of its own, or no target.
    """
    if probe.target is None or probe.loss is not None:
        return None

    def loss(outputs: Any) -> Any:
        _refuse(trainer, module, probe)
        batch = _batch(module, probe)
        inputs = [_copy(leaf) for leaf in leaves(batch[:-1])]
        asked: list[list[Any]] = []

        def forward(*args: Any, **kwargs: Any) -> Any:
            asked.append(list(leaves((args, kwargs))))
            return outputs

        with (
            replaced_attributes(module, forward=forward, log=ignored, log_dict=ignored),
            replaced_attributes(trainer, _loggers=[]),
        ):
            returned = _training_step(module, batch)
        name = type(module).__name__
        if not asked:
            raise ValueError(
                f"the training_step of {name} does not call the module itself, self(x), so that "
                f"its loss cannot be traced back to the gates. {_ADVICE}"
            )
        if len(asked) > 1 or not _are_same(asked[0], inputs):
            how = f"{len(asked)} times" if len(asked) > 1 else "with something else than the probe"
            raise ValueError(
                f"the training_step of {name} calls the module {how}; expected one call, self(x), "
                f"with the x of its batch (x, target). {_ADVICE}"
            )
        value = returned.get("loss") if isinstance(returned, dict) else returned
        if not hasattr(value, "requires_grad"):
            raise ValueError(
                f"the training_step of {name} returned {value!r:.60} for the probe; expected its "
                f"loss, a tensor, or a dict with it under 'loss'. {_ADVICE}"
            )
        return value

    return loss


def _batch(module: Any, probe: Probe) -> tuple[Any, ...]:
    """The probe as a batch that the step may write to, where the model is."""
    # With Lightning there is torch, which is not imported for the other frameworks.
    from lstm_gates_plugin.frameworks.torch.values import copied_arguments, to_model

    batch: tuple[Any, ...] = copied_arguments(to_model(module, (*probe.args, probe.target)))
    return batch


def _training_step(module: Any, batch: tuple[Any, ...]) -> Any:
    index = (0,) if len(inspect.signature(module.training_step).parameters) > 1 else ()
    try:
        return module.training_step(batch, *index)
    except Exception as error:  # whatever the user's code raises
        said = one_sentence(error).rstrip(".")
        raise ValueError(
            f"the training_step of {type(module).__name__} was given the probe as a batch, "
            f"(x, target), and raised {type(error).__name__}: {said}. {_ADVICE}"
        ) from error


def _copy(leaf: Any) -> Any:
    return leaf.detach().clone() if hasattr(leaf, "detach") else leaf


def _are_same(given: Sequence[Any], expected: Sequence[Any]) -> bool:
    pairs = zip(given, expected, strict=False)
    return len(given) == len(expected) and all(_is_same(*pair) for pair in pairs)


def _is_same(given: Any, expected: Any) -> bool:
    if not hasattr(given, "shape") or not hasattr(expected, "shape"):
        return given is expected or bool(given == expected)
    return given.shape == expected.shape and bool((given == expected).all())


def _refuse(trainer: Any, module: Any, probe: Probe) -> None:
    """Refuse where a training step outside of the training would do more than give a loss."""
    name = type(module).__name__
    if probe.kwargs:
        raise ValueError(
            f"the probe has arguments by name ({', '.join(probe.kwargs)}), and where they stand in "
            f"a batch of {name} is not known. {_ADVICE}"
        )
    if not module.automatic_optimization:
        raise ValueError(
            f"{name} optimizes in its training_step, which can be called only to train. {_ADVICE}"
        )
    if trainer.world_size > 1:
        raise ValueError(
            f"the training_step of {name} may wait for the other {trainer.world_size - 1} "
            f"processes, and only the first one logs. {_ADVICE}"
        )
