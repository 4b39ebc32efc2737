"""Cases A and B that are about logging: wrapped, shared and rebuilt models, generators."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import lstm_gates_plugin as lg
from helpers.any_keras import array, keras, sequential

X = np.random.default_rng(0).normal(size=(8, 5, 3)).astype(np.float32)


def test_a6_layers_inside_a_trainer_model_do_not_overwrite_each_other(tmp_path: Path) -> None:
    class Trainer(keras.Model):
        def __init__(self, inner: keras.Model) -> None:
            super().__init__()
            self.inner = inner

        def call(self, inputs: Any, training: bool = False) -> Any:
            return self.inner(inputs, training=training)

    layers = [keras.layers.LSTM(4, return_sequences=True), keras.layers.LSTM(4)]
    model = Trainer(keras.Sequential([*layers, keras.layers.Dense(1)]))
    model(X)
    model.compile("sgd", "mse")
    model.fit(
        X, X[:, 0, :1], batch_size=4, verbose=0, callbacks=[lg.KerasCallback(tmp_path, X[:2], 1)]
    )
    run = lg.read(tmp_path)["."]
    assert list(run) == ["inner/lstm_0", "inner/lstm_1"]
    for index, layer in enumerate(run.values()):
        for row in ("kernel/forget", "activation/forget"):
            assert layer.series(row, "mean").steps.tolist() == [0, 1, 2]
        np.testing.assert_array_equal(
            layer.snapshot(kind="weights").arrays["recurrent_kernel/output"],
            array(layers[index].cell.recurrent_kernel)[:, 12:],
        )


def test_a8_a_shared_layer_has_one_set_of_weights_and_numbered_calls(tmp_path: Path) -> None:
    shared = keras.layers.LSTM(4, name="shared", return_sequences=True)
    inputs = [keras.Input((5, 3)), keras.Input((5, 3))]
    model = keras.Model(inputs, keras.layers.add([shared(one) for one in inputs]))
    with lg.GateWriter(tmp_path, every=1) as writer:
        for step in (0, 1):
            writer.log(model, step=step, probe=lg.Probe([X[:2], -X[:2]]))
    layer = lg.read(tmp_path)["."]["shared"]
    assert layer.calls == [0, 1]
    assert layer.series("kernel/forget", "mean").steps.tolist() == [0, 1]
    for call, x in enumerate((X[:2], -X[:2])):
        hidden = layer.snapshot(call=call).arrays["hidden_state"]
        assert hidden.shape == (2, 5, 4)
        np.testing.assert_allclose(hidden, array(shared(x)), atol=1e-3)


def test_a9_a_generator_without_validation_data_or_probe_is_logged(tmp_path: Path) -> None:
    def batches() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        while True:
            yield X, X[:, 0, :1]

    model = sequential((5, 3), keras.layers.LSTM(4), keras.layers.Dense(1))
    model.compile("sgd", "mse")
    callback = lg.KerasCallback(tmp_path, update_freq="epoch")
    model.fit(batches(), epochs=3, steps_per_epoch=2, verbose=0, callbacks=[callback])
    layer = lg.read(tmp_path)["."]["lstm_0"]
    for gate in ("input", "forget", "candidate", "output"):
        assert layer.series(f"kernel/{gate}", "mean").steps.tolist() == [0, 2, 4, 6]


def test_a13_two_builds_of_one_script_log_under_the_same_ids(tmp_path: Path) -> None:
    for run in ("run-1", "run-2"):
        layers = [keras.layers.LSTM(4, return_sequences=True), keras.layers.LSTM(2)]
        model = sequential((5, 3), *layers)
        with lg.GateWriter(tmp_path / run) as writer:
            writer.log(model, step=0)
    logged = lg.read(tmp_path)
    assert list(logged["run-1"]) == list(logged["run-2"]) == ["lstm_0", "lstm_1"]


def test_b4_an_id_that_is_the_start_of_another_hides_nothing(tmp_path: Path) -> None:
    class Net(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.first = keras.layers.LSTM(3, return_sequences=True, name="enc")
            inner = keras.layers.LSTM(4, return_sequences=True, name="words")
            self.second = keras.Sequential([inner], name="enc")

        def call(self, inputs: Any) -> Any:
            return self.second(self.first(inputs))

    model = Net()
    model(X)
    with lg.GateWriter(tmp_path) as writer:
        writer.log(model, step=0, probe=X[:2])
    run = lg.read(tmp_path)["."]
    assert list(run) == ["enc", "enc/words"]
    assert run["enc"].snapshot().arrays["hidden_state"].shape[-1] == 3
    assert run["enc/words"].snapshot().arrays["hidden_state"].shape[-1] == 4


def test_b5_three_layers_are_three_series_per_gate(tmp_path: Path) -> None:
    layers = [keras.layers.LSTM(4, return_sequences=True) for _ in range(3)]
    model = sequential((5, 3), *layers)
    with lg.GateWriter(tmp_path) as writer:
        writer.log(model, step=0, probe=X[:2])
    run = lg.read(tmp_path)["."]
    assert list(run) == ["lstm_0", "lstm_1", "lstm_2"]
    for index, layer in enumerate(run.values()):
        kernel = array(layers[index].cell.kernel)
        for position, gate in enumerate(("input", "forget", "candidate", "output")):
            expected = kernel[:, 4 * position : 4 * position + 4].mean()
            assert np.isclose(layer.series(f"kernel/{gate}", "mean").values[0], expected)
            assert layer.series(f"activation/{gate}", "count").values[0] == 2 * 5 * 4


def test_k6_a_fresh_bias_is_one_spike_for_each_gate(tmp_path: Path) -> None:
    model = sequential((5, 3), keras.layers.LSTM(16))
    with lg.GateWriter(tmp_path) as writer:
        writer.log(model, step=0)
    series = lg.read(tmp_path)["."]["lstm_0"].statistics("weights")
    for gate, value in (("input", 0), ("forget", 1), ("candidate", 0), ("output", 0)):
        row = series.header["rows"].index(f"bias/{gate}")
        assert series.histogram[0, row].tolist() == [0, 16] + [0] * 32
        assert series.bounds[0, row].tolist() == [value, value]


def test_rows_that_are_no_samples_get_no_samples_names(tmp_path: Path) -> None:
    """Within TimeDistributed a row is one outer timestep of a sample."""
    inner = keras.layers.TimeDistributed(keras.layers.LSTM(4))
    model = keras.Sequential([keras.Input((2, 5, 3)), inner, keras.layers.LSTM(2)])
    x = np.random.default_rng(1).normal(size=(3, 2, 5, 3)).astype(np.float32)
    probe = lg.Probe(x, target=[7, 8, 9], sample_names=["A", "B", "C"])
    with lg.GateWriter(tmp_path) as writer:
        writer.log(model, step=0, probe=probe)
    run = lg.read(tmp_path)["."]
    distributed = run["time_distributed_0/lstm_0"].snapshot()
    assert distributed.header["sample_names"] is None
    assert not [name for name in distributed.arrays if name.startswith("track/")]
    assert distributed.header["samples"] == 6
    outer = run["lstm_0"].snapshot()
    assert outer.header["sample_names"] == ["A", "B", "C"]
    assert outer.arrays["track/target"].tolist() == [7, 8, 9]
