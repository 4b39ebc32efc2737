"""check(): all exact tests of common mistakes on a live model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lstm_gates_plugin import capture
from lstm_gates_plugin.checks import carried, gradients, independence, padding, scale
from lstm_gates_plugin.checks.live import LiveModel, NotJudgedError
from lstm_gates_plugin.checks.report import CheckReport, CheckResult, Outcome
from lstm_gates_plugin.frameworks.traces import to_traces
from lstm_gates_plugin.gate_trace import GateTrace

_NO_LOSS = "Give check a loss: loss=fn, a single number for what the model returns."


def check(
    model: Any, *args: Any, loss: Any = None, sample_axis: int = 0, **kwargs: Any
) -> CheckReport:
    """Test a model for common mistakes with recurrent layers, before it is trained.

        print(lg.check(model, x[:8], loss=lambda outputs: criterion(outputs, y[:8])))

    Each test is exact: it runs the model, in inference mode, and compares what must be equal or
    looks for gradients that are exactly zero. The model is as before afterwards. Give samples that
    differ, with padding if your batches have it.

    - LG101: the output for a sample does not depend on the other samples (axes swapped);
    - LG102: states are read after more than one timestep (the wrong end of a backward layer);
    - LG103: the output for a sample does not depend on the padding behind it;
    - LG104: what goes into each layer is of a size that its gates can tell apart;
    - LG105: the loss reaches every layer;
    - LG106: no state is carried from batch to batch.

    Args:
        model: a Keras or tf_keras model, a PyTorch module, a Flax nnx module, or a Flax linen
            module with its variables: `(module, variables)`.
        *args: what the model is called with.
        loss: a function that gives a single number for what the model returns, as for `trace`.
            LG102 and LG105 need it.
        sample_axis: along which axis the arguments hold the samples: 1 where the timesteps come
            first on purpose.
        **kwargs: what the model is called with, by name.

    Returns:
        A result per test; printed, a table with a sentence for each.

    Raises:
        TypeError: the model is of no framework that is known here.
        ValueError: the model is not built or has no recurrent layer; it is a TF1 cell, which cannot
            be run apart from its graph; or `sample_axis` is neither 0 nor 1.
    """
    if sample_axis not in (0, 1):
        raise ValueError(
            f"sample_axis={sample_axis!r} was given; expected 0, or 1 where time is first."
        )
    live = LiveModel(model, args, kwargs, sample_axis)
    carries = carried.carried(live)  # first: it refuses what cannot be run
    seen = live.as_it_is
    if not seen.layers:
        raise ValueError("the model has no recurrent layer to check.")
    traces = [] if loss is None else _traces(live, loss)

    def with_loss(test: Callable[[], CheckResult]) -> Callable[[], CheckResult]:
        return _needs_loss if loss is None else test

    return CheckReport(
        (
            _judged(independence.ID, independence.NAME, lambda: independence.independence(live)),
            _judged(
                gradients.READ_ID,
                gradients.READ_NAME,
                with_loss(lambda: gradients.reads_the_end(traces)),
            ),
            _judged(
                padding.ID, padding.NAME, lambda: padding.padding(live, traces or _traces(live))
            ),
            _judged(scale.ID, scale.NAME, lambda: scale.scale(seen.calls)),
            _judged(
                gradients.REACHED_ID,
                gradients.REACHED_NAME,
                with_loss(lambda: gradients.reaches_every_layer(live, traces)),
            ),
            carries,
        )
    )


def _traces(live: LiveModel, loss: Any = None) -> list[GateTrace]:
    seen = capture.observation(live.model, live.args, dict(live.kwargs), loss=loss)
    return to_traces(seen.calls)


def _needs_loss() -> CheckResult:
    raise NotJudgedError(_NO_LOSS)


def _judged(id: str, name: str, test: Callable[[], CheckResult]) -> CheckResult:
    """The result of a test, or why it could not be made."""
    try:
        return test()
    except NotJudgedError as error:
        return CheckResult(id, name, Outcome.NOT_JUDGED, str(error))
