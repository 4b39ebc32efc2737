"""The loss that a `LightningModule` is trained with, of what it put out for a probe."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from lstm_gates_plugin.callbacks.lightning_hooks import ignored
from lstm_gates_plugin.frameworks.replaced import replaced_attributes
from lstm_gates_plugin.writing.probe import Probe

_ADVICE = "Give the probe a loss: Probe(x, target=y, loss=torch.nn.functional.mse_loss)."


def loss_of_training_step(trainer: Any, module: Any, probe: Probe) -> Callable[[Any], Any] | None:
    """The loss in a module's `training_step`, as a function of what its `forward` returned.

    The step is given the probe's inputs and target as a batch, `(x, target)`. Where it calls the
    module it gets the outputs that there are already, what it logs is ignored, and loggers are out
    of its reach.

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
        asked: list[bool] = []

        def forward(*_: Any, **__: Any) -> Any:
            asked.append(True)
            return outputs

        with (
            replaced_attributes(module, forward=forward, log=ignored, log_dict=ignored),
            replaced_attributes(trainer, _loggers=[]),
        ):
            index = (0,) if len(inspect.signature(module.training_step).parameters) > 1 else ()
            returned = module.training_step((*probe.args, probe.target), *index)
        if not asked:
            raise ValueError(
                f"the training_step of {type(module).__name__} does not call the module itself, "
                f"self(x), so that its loss cannot be traced back to the gates. {_ADVICE}"
            )
        value = returned.get("loss") if isinstance(returned, dict) else returned
        if not hasattr(value, "requires_grad"):
            raise ValueError(
                f"the training_step of {type(module).__name__} returned {value!r:.60} for the "
                f"probe; expected its loss, a tensor, or a dict with it under 'loss'. {_ADVICE}"
            )
        return value

    return loss


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
