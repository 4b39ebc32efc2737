"""How often TensorBoard's data provider is asked: each question costs, whatever it is about."""

import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tensorboard import context
from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer

import lstm_gates_plugin as lg
from helpers.layers import make_layer
from lstm_gates_plugin.reading.source import ProviderSource
from lstm_gates_plugin.serve import answers, findings

LAYERS, STEPS, RUN = 60, 2, "run/lstm_gates"


class Counting:
    """A data provider that counts what it is asked; `broken` is a tag that it cannot read."""

    def __init__(self, provider: Any, broken: str = "") -> None:
        self._provider = provider
        self._broken = broken
        self.asked: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        def ask(*args: Any, **kwargs: Any) -> Any:
            self.asked[name] += 1
            tags = getattr(kwargs.get("run_tag_filter"), "tags", None) or ()
            if self._broken in tags:
                raise ValueError("a tensor cannot be parsed")
            return getattr(self._provider, name)(*args, **kwargs)

        return ask


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """TensorBoard's own, over a run with many layers."""
    logdir = Path(tmp_path_factory.mktemp("logs"))
    layers = [make_layer(seed=k, id=f"lstm_{k}") for k in range(LAYERS)]
    with lg.GateWriter(logdir / "run") as writer:
        for step in range(STEPS):
            writer.log_weights(layers, step=step)
    multiplexer = plugin_event_multiplexer.EventMultiplexer(tensor_size_guidance={})
    multiplexer.AddRunsFromDirectory(str(logdir))
    multiplexer.Reload()
    return data_provider.MultiplexerDataProvider(multiplexer, str(logdir))


def health_of(provider: Any, cache: answers.HealthCache) -> dict[str, Any]:
    source = ProviderSource(provider, context.RequestContext(), "")
    return answers.health(source, RUN, cache)


def test_the_health_of_many_layers_takes_few_questions(provider: Any) -> None:
    counting, cache = Counting(provider), answers.HealthCache()
    health = health_of(counting, cache)
    assert len(health["layers"]) == LAYERS
    assert counting.asked == {
        "list_tensors": 1,
        "list_blob_sequences": 1,
        "read_tensors": 2,
        "read_blob_sequences": 2,
    }
    again = health_of(counting, cache)
    assert again == health
    assert counting.asked["read_tensors"] == counting.asked["read_blob_sequences"] == 2


def test_the_findings_of_many_layers_take_few_questions(provider: Any) -> None:
    counting = Counting(provider)
    source = ProviderSource(counting, context.RequestContext(), "")
    found = findings.findings(source, RUN, findings.FindingsCache())
    assert found["layers"] == LAYERS
    # Each layer has its statistics, its first record and its pictures: 40 series a question.
    assert counting.asked["read_tensors"] == 2
    assert counting.asked["read_blob_sequences"] == 3


def test_pictures_for_the_findings_are_asked_for_side_by_side(provider: Any) -> None:
    both = threading.Barrier(2, timeout=20)

    class Waiting(Counting):
        """Answers for a picture only when another one is asked for."""

        def read_blob(self, *args: Any, **kwargs: Any) -> Any:
            both.wait()
            return self._provider.read_blob(*args, **kwargs)

    source = ProviderSource(Waiting(provider), context.RequestContext(), "")
    assert findings.findings(source, RUN, findings.FindingsCache())["layers"] == LAYERS


def test_a_series_that_cannot_be_read_takes_no_other_along(provider: Any) -> None:
    counting = Counting(provider, broken="lstm_gates/lstm_7/weights/statistics")
    layers = by_id(health_of(counting, answers.HealthCache()))
    whole = by_id(health_of(provider, answers.HealthCache()))
    broken = layers.pop("lstm_7")
    assert layers == {id: layer for id, layer in whole.items() if id != "lstm_7"}
    # The run's first record lies elsewhere.
    assert broken["kinds"]["weights"]["steps"] == [0]
    # Half of a question at a time, until only the broken series is left.
    assert counting.asked["read_tensors"] < 20


def by_id(health: dict[str, Any]) -> dict[str, Any]:
    return {layer["layer"]["id"]: layer for layer in health["layers"]}
