"""TensorFlow 1: graphs and sessions. These tests need a process of their own: `pytest tests/tf1`."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # before TensorFlow is imported

from collections.abc import Iterator

import pytest
import tensorflow as tf

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def graph(request: pytest.FixtureRequest) -> Iterator[tf.Graph]:
    """A new default graph, as TensorFlow 1 builds it, or with parameter "v2" as TensorFlow 2."""
    of_two = getattr(request, "param", "v1") == "v2"
    (v1.enable_resource_variables if of_two else v1.disable_resource_variables)()
    (v1.enable_control_flow_v2 if of_two else v1.disable_control_flow_v2)()
    with tf.Graph().as_default() as new:
        v1.set_random_seed(0)
        yield new


@pytest.fixture
def session(graph: tf.Graph) -> Iterator[v1.Session]:
    """The default session of the graph."""
    with v1.Session(graph=graph) as opened:
        yield opened
