"""What cannot be opened is told in a sentence: what was given, what was expected, what to do."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import flax.linen as nn
import jax
import numpy as np
import pytest
from flax import nnx

import lstm_gates_plugin as lg
from helpers.flax_models import FLAVOURS, LINEN

X = np.zeros((2, 4, 3), "float32")
RNN = LINEN.built(nn.RNN(nn.LSTMCell(2)), X)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (RNN[0], r"no variables of its own, and RNN was given without. Give \(module, variables\)"),
        ((RNN[0],), r"no variables of its own, and RNN was given without"),
        ((RNN[0], RNN[1]["params"]), r"with the keys \['cell'\] was given"),
        ((RNN[0], None), "an object of type NoneType was given"),
        ((nn.Dense(2), {"params": {}}), "the model Dense has no recurrent layer"),
        (nnx.Linear(3, 2, rngs=nnx.Rngs(0)), "the model Linear has no recurrent layer"),
    ],
)
def test_a_model_that_cannot_be_opened(model: Any, sentence: str) -> None:
    if "Dense" in sentence:
        model = model[0], model[0].init(jax.random.key(0), X)
    with pytest.raises(ValueError, match=sentence):
        lg.trace(model, X)


class OwnLSTM(nn.Module):
    """A recurrent module that is made of none of Flax's."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        return nn.Dense(2)(x)


class Wrapped(nn.Module):
    """Holds one."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        return OwnLSTM()(x)


class NnxOwnLSTM(nnx.Module):
    """A recurrent module that is made of none of Flax's."""

    def __init__(self) -> None:
        self.gates = nnx.Linear(3, 2, rngs=nnx.Rngs(0))


class NnxWrapped(nnx.Module):
    """Holds one."""

    def __init__(self) -> None:
        self.encoder = NnxOwnLSTM()


@pytest.mark.parametrize(
    ("model", "name"), [(Wrapped(), r"OwnLSTM_0 \(OwnLSTM\)"), (NnxWrapped(), r"encoder \(NnxOwn")]
)
def test_what_looks_recurrent_is_named(model: Any, name: str) -> None:
    if isinstance(model, nn.Module):
        model = model, model.init(jax.random.key(0), X)
    with pytest.raises(ValueError, match=f"{name}.*cannot be opened.*from_arrays"):
        lg.trace(model, X)


def test_a_bound_module_has_its_variables_with_it() -> None:
    module, variables = RNN
    (trace,) = lg.trace(module.bind(variables), X)
    assert trace.layer.id == "rnn_0"


@pytest.mark.parametrize("flavour", FLAVOURS, ids=lambda flavour: flavour.name)
def test_inputs_of_another_rank(flavour: Any) -> None:
    model = flavour.built(flavour.RNN(flavour.cell("LSTM", 3, 2)), X)
    sentence = r"layer 'rnn_0' was given inputs of shape \(3,\), and a sequence"
    with pytest.raises(ValueError, match=sentence):
        lg.trace(model, X[0, 0])


@pytest.mark.parametrize("flavour", FLAVOURS, ids=lambda flavour: flavour.name)
def test_the_users_own_error_is_shown(flavour: Any) -> None:
    model = flavour.built(flavour.RNN(flavour.cell("LSTM", 3, 2)), X)
    with pytest.raises(Exception, match=r"shape|dimension") as raised:
        lg.trace(model, X[..., :2])
    assert "flax" in raised.type.__module__ or raised.type is TypeError


def test_a_layer_that_does_not_run_is_named() -> None:
    class Net(nn.Module):
        def setup(self) -> None:
            self.used, self.unused = nn.RNN(nn.GRUCell(2)), nn.RNN(nn.GRUCell(2))

        def __call__(self, x: Any, both: bool = False) -> Any:
            return (self.used(x), self.unused(x)) if both else self.used(x)

    module = Net()
    model = module, module.init(jax.random.key(0), X, both=True)
    with pytest.raises(ValueError, match="did not run its recurrent layer 'unused'"):
        lg.trace(model, X)
    with lg.record(model) as recording:
        module.apply(model[1], X)
    assert [trace.layer.id for trace in recording.traces()] == ["used"]


def test_nothing_that_ran_in_the_block() -> None:
    with lg.record(RNN) as recording, pytest.raises(ValueError, match="no recurrent layer of the"):
        recording.traces()


def test_no_other_framework_is_imported(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        """
import sys
import flax.linen as nn
import jax
import numpy as np
from flax import nnx
import lstm_gates_plugin as lg

x = np.zeros((1, 3, 2), "float32")
module = nn.RNN(nn.LSTMCell(2))
variables = module.init(jax.random.key(0), x)
rnn = nnx.RNN(nnx.GRUCell(2, 2, rngs=nnx.Rngs(0)))
with lg.GateWriter(sys.argv[1]) as writer:
    writer.log((module, variables), step=0, probe=x)
    writer.log(rnn, step=1, probe=x, name="second")
    assert lg.trace(rnn, x)
for name in ("tensorflow", "keras", "tf_keras", "torch"):
    assert name not in sys.modules, name
"""
    )
    subprocess.run([sys.executable, str(script), str(tmp_path / "run")], check=True)
    assert set(lg.read(tmp_path)["run"]) == {"rnn_0", "second/rnn_0"}
