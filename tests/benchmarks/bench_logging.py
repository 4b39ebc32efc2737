"""What logging costs against the obvious other way: python tests/benchmarks/bench_logging.py."""

import tempfile
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from compare import ratio
from tensorboard.summary.writer.record_writer import RecordWriter

import lstm_gates_plugin as lg
from lstm_gates_plugin import format
from lstm_gates_plugin.event_file import EventFileWriter
from lstm_gates_plugin.measure.statistics import distribution
from lstm_gates_plugin.writing.summary import tensor_summary

MEGABYTE = bytes(2**20)


def event_files(directory: Path) -> None:
    """One megabyte into an event file: ours against TensorBoard's own pure-Python writer."""
    ours = EventFileWriter(directory, 0)
    summary = tensor_summary(format.Tag("lstm_0", 0, "weights", "statistics"), MEGABYTE)
    with (directory / "other").open("wb") as file:
        other = RecordWriter(file)
        ratio(
            "1 MB of event file (TensorBoard's own writer)",
            lambda: ours.write(summary, 0),
            lambda: other.write(MEGABYTE),
        )


def traces() -> None:
    """A trace of two LSTM layers: compiled and kept, against eager."""
    layers = [keras.layers.LSTM(32, return_sequences=True), keras.layers.LSTM(32)]
    model = keras.Sequential([keras.Input((64, 1)), *layers])
    x = np.zeros((4, 64, 1), np.float32)

    def eagerly() -> None:
        tf.config.run_functions_eagerly(True)
        lg.trace(model, x)
        tf.config.run_functions_eagerly(False)

    ratio("trace of 4 x 64 through LSTM(32), LSTM(32) (eager)", lambda: lg.trace(model, x), eagerly)


def log_calls(directory: Path) -> None:
    """One log call against one training update of the same model."""
    model = keras.Sequential([keras.Input((64, 1)), keras.layers.LSTM(32), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.zeros((64, 64, 1), np.float32)
    y = np.zeros((64, 1), np.float32)
    with lg.GateWriter(directory, every=1) as writer:
        steps = iter(range(10**6))
        ratio(
            "one log call with a probe of 4 (one training update of 64 samples)",
            lambda: writer.log(model, step=next(steps), probe=x[:4]),
            lambda: model.train_on_batch(x, y),
        )


def denormals() -> None:
    """Case M3: statistics of weights of 1e-40 against weights of 1."""
    normal = np.random.default_rng(0).normal(size=10**6).astype(np.float32)
    tiny = (normal * 1e-40).astype(np.float32)
    ratio(
        "statistics of a million weights (at 1e-40)",
        lambda: distribution(normal),
        lambda: distribution(tiny),
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as root:
        event_files(Path(root))
        traces()
        log_calls(Path(root) / "run")
        denormals()
