"""TensorFlow 1: graphs and sessions, in a process of their own: `pytest tests/tf1`."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # before TensorFlow is imported

from collections.abc import Iterator

import pytest
import tensorflow as tf

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def graph(request: pytest.FixtureRequest) -> Iterator[tf.Graph | None]:
    """A new default graph as of TensorFlow 1, or with "v2" as of 2, or with "eager" none."""
    of_two = getattr(request, "param", "v1") != "v1"
    (v1.enable_resource_variables if of_two else v1.disable_resource_variables)()
    (v1.enable_control_flow_v2 if of_two else v1.disable_control_flow_v2)()
    if getattr(request, "param", "v1") == "eager":
        yield None
        return
    with tf.Graph().as_default() as new:
        v1.set_random_seed(0)
        yield new


@pytest.fixture
def session(graph: tf.Graph) -> Iterator[v1.Session]:
    """The default session of the graph."""
    with v1.Session(graph=graph) as opened:
        yield opened


def pytest_configure(config: pytest.Config) -> None:
    """Hear nothing of what TensorFlow says of the very cells that are tested here."""
    config.addinivalue_line("filterwarnings", "ignore:.*rnn_cell.* is deprecated")
