"""Each module runs in the processes whose Keras it is about."""

from helpers.any_keras import BACKEND, IS_TF_KERAS

_ONLY = {
    "test_jax.py": BACKEND == "jax",
    "test_ragged.py": BACKEND == "tensorflow" and not IS_TF_KERAS,
    "test_tensorflow.py": BACKEND == "tensorflow",
    "test_tf_keras.py": IS_TF_KERAS,
    "test_torch.py": BACKEND == "torch",
}

collect_ignore = [name for name, wanted in _ONLY.items() if not wanted]
