"""What networks that a real mistake trained remember and how far their error reaches; and twins.

The numbers, gates and training steps of the findings are those of the live network.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import lstm_gates_plugin as lg
from helpers.torch_findings import Stack, adding, lstm, worse
from helpers.torch_live import Training, lstm_gate, since
from helpers.torch_mistakes import PAIRS, chrono


def pair(name: str) -> Any:
    """A fixture: the training with a mistake, and the one without it."""

    @pytest.fixture(scope="module", params=["mistake", "right"])
    def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Training:
        return getattr(PAIRS[name], request.param)(tmp_path_factory.mktemp(request.param))

    return run


forgetful = pair("chrono biases in the other order")
long = pair("long sequences, the default start")
exploded = pair("too large a rate, IRNN")
decayed = pair("weight decay")


def is_mistake(request: pytest.FixtureRequest, fixture: str) -> bool:
    return bool(request.node.callspec.params[fixture] == "mistake")


def test_swapped_biases_forget_at_every_timestep(
    forgetful: Training, request: pytest.FixtureRequest
) -> None:
    def closed(model: Stack) -> float:
        forget = lstm_gate(model.layer[0], forgetful.probe, "forget")
        return float((forget < 0.1).double().mean())

    shares = forgetful.measured(closed)
    if not is_mistake(request, "forgetful"):
        assert forgetful.all("LG037") == []
        assert max(shares.values()) == 0
        return
    found = forgetful.only("LG037")
    assert (found.severity, found.layer, found.gate) == ("note", "layer/0", "forget")
    assert found.value == pytest.approx(shares[48], abs=1e-6)
    assert (found.first_step, found.last_step) == (since(shares, lambda one: one > 0.95), 48)


def forget_bias(run: Training) -> float:
    state = run.states[0]
    return float((state["layer.0.bias_ih_l0"] + state["layer.0.bias_hh_l0"])[16:32].mean())


def test_the_default_start_of_pytorch_is_said_to_be_that(
    long: Training, request: pytest.FixtureRequest
) -> None:
    bias = forget_bias(long)
    if not is_mistake(request, "long"):
        assert long.all("LG041") == []
        assert bias > 1
        return
    found = long.only("LG041")
    assert (found.severity, found.layer, found.gate) == ("note", "layer/0", "forget")
    assert found.value == pytest.approx(bias, abs=1e-6)
    assert (found.first_step, found.last_step) == (0, 0)
    assert found.seen.endswith(", which is PyTorch's default.")


def test_a_start_that_somebody_chose_is_not_the_default(
    forgetful: Training, request: pytest.FixtureRequest
) -> None:
    bias = forget_bias(forgetful)
    assert [one.value for one in forgetful.all("LG041")] == (
        [pytest.approx(bias, abs=1e-5)] if is_mistake(request, "forgetful") else []
    )
    assert all("default" not in one.seen for one in forgetful.all("LG041"))


def half_lives(forget: np.ndarray) -> np.ndarray:
    """``[units]``: the median over samples and starts of the timesteps until half is forgotten."""
    samples, timesteps, units = forget.shape
    lives = np.full((samples, timesteps, units), np.nan)
    for start in range(timesteps):
        left = np.cumprod(forget[:, start:], axis=1)
        gone = left < 0.5
        lives[:, start] = np.where(gone.any(1), gone.argmax(1) + 1, timesteps - start)
    return np.median(lives.reshape(-1, units), axis=0)


def memory(model: Stack, run: Training) -> float:
    forget = lstm_gate(model.layer[0], run.probe, "forget").double().numpy()
    return float(np.median(half_lives(forget)))


def test_the_default_start_remembers_little_of_long_sequences(
    long: Training, request: pytest.FixtureRequest
) -> None:
    lives = long.measured(lambda model: memory(model, long))
    if not is_mistake(request, "long"):
        assert long.all("LG042") == []
        assert min(lives.values()) > 20
        return
    found = long.only("LG042")
    assert (found.severity, found.layer) == ("note", "layer/0")
    assert found.value == pytest.approx(lives[36] / 100, abs=0.005)
    assert (found.first_step, found.last_step) == (24, 36)


def reach(model: Stack, run: Training) -> int:
    """How far back 0.01 of the gradient by the last hidden state is left in earlier ones."""
    layer = model.layer[0]
    cell = nn.LSTMCell(2, 16)
    weights = layer.state_dict()
    cell.load_state_dict({name.removesuffix("_l0"): weights[name] for name in weights})
    left = []
    for sample in run.probe:
        hidden, state = torch.zeros(1, 16), torch.zeros(1, 16)
        states = []
        for x in sample:
            hidden, state = cell(x[None], (hidden, state))
            states.append(hidden)
        output = model.head(hidden)
        with torch.enable_grad():
            gradients = torch.autograd.grad(output.sum(), states)
        left.append([float(one.norm()) for one in gradients][::-1])
    ratios = np.median([np.array(one) / one[0] for one in left], axis=0)
    return int(np.argmax(ratios < 0.01)) - 1


def test_its_error_reaches_few_timesteps(long: Training, request: pytest.FixtureRequest) -> None:
    if not is_mistake(request, "long"):
        assert long.all("LG060") == []
        return
    found = long.only("LG060")
    assert (found.severity, found.layer, found.kind) == ("note", "layer/0", "gradients")
    assert (found.first_step, found.last_step) == (24, 36)
    with torch.enable_grad():
        assert found.value == pytest.approx(reach(long.at(36), long) / 99, abs=1.01 / 99)


def gradient(run: Training, step: int) -> float:
    model, (x, y) = run.at(step), run.batches[step]
    nn.functional.mse_loss(model(x), y).backward()
    return float(model.layer[0].weight_hh_l0.grad.norm())


def largest_singular_value(model: Stack) -> float:
    kernel = model.layer[0].weight_hh_l0.detach().double().numpy()
    return float(np.linalg.svd(kernel, compute_uv=False)[0])


def test_a_recurrent_kernel_that_explodes(
    exploded: Training, request: pytest.FixtureRequest
) -> None:
    norms = np.array([gradient(exploded, step) for step in range(24)])
    norms = norms[norms > 0]  # at the end all units are dead
    times = [norms[at] / np.median(norms[max(0, at - 5) : at]) for at in range(1, len(norms))]
    if not is_mistake(request, "exploded"):
        assert exploded.all("LG061") == []
        assert max(times) < 10
        return
    found = exploded.only("LG061")
    assert (found.severity, found.layer) == ("warning", "layer/0")
    assert (found.kind, found.row) == ("training_gradients", "recurrent_kernel/hidden")
    assert found.value == pytest.approx(max(times), rel=1e-3)
    assert found.first_step == np.argmax(times) + 1
    kernels = exploded.measured(largest_singular_value)
    assert f"grew from {kernels[0]:.3g} to {kernels[24]:.3g}" in found.seen


def test_weight_decay_lets_gradients_vanish(
    decayed: Training, request: pytest.FixtureRequest
) -> None:
    kernels = decayed.measured(largest_singular_value)
    if not is_mistake(request, "decayed"):
        assert decayed.all("LG062") == []
        assert min(kernels.values()) > 0.9
        return
    found = decayed.only("LG062")
    assert (found.severity, found.layer) == ("note", "layer/0")
    assert (found.kind, found.row) == ("weights", "recurrent_kernel/hidden")
    assert found.value == pytest.approx(kernels[48], rel=1e-4)
    assert (found.first_step, found.last_step) == (48, 48)


@pytest.mark.parametrize("timesteps", [20, 784])
def test_a_fresh_chrono_start_has_no_warning(tmp_path: Path, timesteps: int) -> None:
    for seed in range(3):
        torch.manual_seed(seed)
        directory = tmp_path / str(seed)
        with lg.GateWriter(directory) as writer:
            writer.log(chrono(timesteps)(), step=0, probe=adding(min(timesteps, 200))[0][:4])
        found = lg.diagnose(directory)
        assert worse(found) == []
        assert "LG041" not in {one.id for one in found}


@pytest.mark.parametrize("bias", [0.0, 1.0])
def test_a_forget_bias_of_1_is_not_low(tmp_path: Path, bias: float) -> None:
    model = Stack([lstm(2)], 1)
    with torch.no_grad():
        model.layer[0].bias_ih_l0[16:32] = bias
        model.layer[0].bias_hh_l0[16:32] = 0
    with lg.GateWriter(tmp_path) as writer:
        writer.log(model, step=0)
    found = [one.value for one in lg.diagnose(tmp_path) if one.id == "LG041"]
    assert found == ([] if bias else [0.0])
