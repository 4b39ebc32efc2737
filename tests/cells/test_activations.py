"""Every activation against the framework's own function of that name."""

import keras
import numpy as np
import pytest

from lstm_gates_plugin.cells.activations import ACTIVATIONS, activation

X = np.concatenate(
    [np.linspace(-12, 12, 481), [-80, 80, -3, 3, -1, 1, -0.5, 0.5, 0, 1e-6], np.full(9, 0.25)]
).reshape(4, 125)

# Not functions of one array that keep its shape, so of no use in a recurrent layer.
OTHER_SHAPES = {"glu", "threshold", "get", "serialize", "deserialize"}
# Keras 3.15 sums the cumulated sums, so its values are no sparsemax; it is asked itself.
ASKED = {"sparsemax"}
OURS = {"hard_sigmoid_keras2", "gelu_tanh"}


def keras_names():
    return sorted(name for name in vars(keras.activations) if not name.startswith("_"))


@pytest.mark.parametrize("name", sorted(ACTIVATIONS.keys() - OURS))
def test_agrees_with_keras(name):
    # TensorFlow rounds the constants of these two to float32.
    exact = 5e-7 if name in ("gelu", "leaky_relu") else 1e-12
    for dtype, tolerance in (("float32", 2e-6), ("float64", exact)):
        x = X.astype(dtype)
        expected = np.asarray(getattr(keras.activations, name)(keras.ops.convert_to_tensor(x)))
        result = activation(name)(x)
        assert result.dtype == dtype
        np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


def test_every_activation_that_keras_offers_is_here():
    aliases = {"swish", "hard_swish"}  # the functions themselves are called silu and hard_silu
    assert set(keras_names()) - OTHER_SHAPES - ASKED - aliases == ACTIVATIONS.keys() - OURS


def test_hard_sigmoid_of_keras_2_and_3():
    x = np.array([-10.0, 0.0, 1.0, 10.0])
    np.testing.assert_allclose(activation("hard_sigmoid_keras2")(x), [0, 0.5, 0.7, 1])
    np.testing.assert_allclose(activation("hard_sigmoid")(x), [0, 0.5, 4 / 6, 1])


def test_gelu_tanh_is_the_approximation():
    expected = keras.activations.gelu(keras.ops.convert_to_tensor(X), approximate=True)
    np.testing.assert_allclose(activation("gelu_tanh")(X), expected, atol=1e-6)


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="no activation 'tnah'; there are celu"):
        activation("tnah")


def test_extreme_values_give_no_warning(recwarn):
    for name in ("sigmoid", "tanh", "softmax", "softplus", "log_sigmoid"):
        activation(name)(np.array([[-1e30, 0.0, 1e30]], dtype="float32"))
    assert not recwarn.list
