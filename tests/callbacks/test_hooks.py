"""One callback for every Keras, which brings none into the process."""

import subprocess
import sys

import keras

from lstm_gates_plugin.callbacks.hooks import Hooks


def test_the_callback_imports_no_framework() -> None:
    code = (
        "import sys, lstm_gates_plugin as lg; lg.KerasCallback('logs'); "
        "print(sorted({m.partition('.')[0] for m in sys.modules} & "
        "{'tensorflow', 'keras', 'tf_keras', 'torch', 'jax'}))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr


def test_it_has_everything_that_a_callback_of_keras_has() -> None:
    theirs = {name for name in dir(keras.callbacks.Callback) if not name.startswith("_")}
    assert theirs <= set(dir(Hooks))
