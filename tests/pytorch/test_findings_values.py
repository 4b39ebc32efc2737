"""Values, updates and weights of networks that a real mistake trained out of range; and without it.

Each mistake is one argument of a training, and its healthy twin is the same training without it.
The numbers, layers, gates and training steps of the findings are those of the live network.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import lstm_gates_plugin as lg
from helpers.torch_findings import Stack, adding, copying, lstm, sine, squared_error, worse
from helpers.torch_live import LSTM_GATES, Training, cell_states, since, watched
from lstm_gates_plugin.diagnosis.finding import Finding

SGD, AdamW = torch.optim.SGD, torch.optim.AdamW


def relu(inputs: int) -> nn.Module:
    return nn.RNN(inputs, 16, nonlinearity="relu", batch_first=True)


def balance(unit: float) -> tuple[torch.Tensor, torch.Tensor]:
    """An account after each of twenty payments, in a unit of money."""
    payments = 2 * torch.rand(16, 20, 1) - 0.5
    return payments, unit * payments.cumsum(1)


def account(directory: Path, unit: float) -> Training:
    build = partial(Stack, last=False)
    return watched(directory, lambda: build([relu(1)], 1), lambda: balance(unit), rate=0.02)


class HalfPrecision(Stack):
    """Recurrent layers in float16 below a head in float32."""

    def __init__(self) -> None:
        super().__init__([relu(1)], 1, last=False)
        self.layer.half()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layer[0](x.half())[0].float())


def wave(peak: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The volume of sound so far; the peak of samples of 16 bits is up to 32,768."""
    sound = 2 * torch.rand(16, 10, 1) - 1
    return sound, peak * sound.abs().cumsum(1)


def half(directory: Path, peak: float, loss_scale: float = 1 / 32) -> Training:
    def error(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return loss_scale * nn.functional.l1_loss(model(x), y)

    optimizer = partial(torch.optim.Adamax, eps=1e-4)  # it squares no gradient
    more = {"rate": 0.01, "error": error, "optimizer": optimizer, "clip": None}
    return watched(directory, HalfPrecision, partial(wave, peak), **more)


class ReadsCells(Stack):
    """A head on the last cell state, where one on the hidden state is meant."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layer[0](x)[1][1][0])


def counting(unit: float) -> tuple[torch.Tensor, torch.Tensor]:
    """How many of 160 numbers are ones."""
    ones = (torch.rand(8, 160, 1) < 0.75).float()
    return ones, unit * ones.sum(1)


def counter(directory: Path, unit: float) -> Training:
    batch = partial(counting, unit)
    return watched(directory, lambda: ReadsCells([lstm(1, 4)], 1), batch, rate=0.1, updates=40)


def decayed(directory: Path, decay: float) -> Training:
    optimizer = partial(AdamW, weight_decay=decay)
    build = partial(Stack, last=False)
    more = {"optimizer": optimizer, "rate": 0.5, "every": 2, "updates": 104}
    return watched(directory, lambda: build([lstm(1)], 1), copying, **more)


def averaged(directory: Path, times: int) -> Training:
    """A loss that is divided by the number of its entries, and by that number again."""

    def error(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return squared_error(model, x, y) / y.numel() ** (times - 1)

    build = partial(Stack, last=False)
    more = {"optimizer": SGD, "rate": 0.002, "error": error, "updates": 104}
    return watched(directory, lambda: build([lstm(1)], 1), sine, **more)


def hot(directory: Path, rate: float) -> Training:
    build = partial(Stack, last=False)
    return watched(directory, lambda: build([lstm(1)], 1), sine, rate=rate)


def prices(directory: Path, offset: float) -> Training:
    def batch() -> tuple[torch.Tensor, torch.Tensor]:
        x, y = adding()
        return x + offset, 100 * y

    return watched(directory, lambda: Stack([lstm(2)], 1), batch, rate=0.05)


HEALTHY: dict[str, tuple[str, Callable[..., Training], float]] = {
    "an account in thousands": ("LG003", account, 1),
    "sound scaled to 1": ("LG002", half, 1),
    "a share that is counted": ("LG004", counter, 1 / 160),
    "a weight decay of 0.01": ("LG015", decayed, 0.01),
    "a loss divided once": ("LG016", averaged, 1),
    "a usual learning rate": ("LG022", hot, 0.005),
    "an input with mean 0": ("LG023", prices, -0.5),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_without_the_mistake_it_is_not_found(tmp_path: Path, name: str) -> None:
    id, train, right = HEALTHY[name]
    assert train(tmp_path, right).all(id) == []


def largest(states: torch.Tensor) -> float:
    return float(states.abs().max())


def test_a_hidden_state_that_follows_a_target_out_of_scale(tmp_path: Path) -> None:
    run = account(tmp_path, 1000)
    sizes = run.measured(lambda model: largest(model.layer[0](run.probe)[0]))
    found = run.only("LG003")
    assert (found.layer, found.gate, found.row) == ("layer/0", None, "hidden_state")
    assert found.value == pytest.approx(sizes[120], rel=1e-3)
    assert found.first_step == since(sizes, lambda size: size > max(100, 10 * sizes[0]))
    assert found.last_step == 120


def test_a_state_near_the_limit_of_float16(tmp_path: Path) -> None:
    run = half(tmp_path, 20_000)
    sizes = run.measured(lambda model: largest(model.layer[0](run.probe.half())[0]))
    found = run.only("LG002")
    assert (found.layer, found.gate, found.kind) == ("layer/0", "hidden", "activations")
    assert found.value == pytest.approx(sizes[120], rel=1e-2)
    assert found.first_step == since(sizes, lambda size: size > 65504 / 4)
    assert found.last_step == 120


def test_a_scaled_loss_may_have_gradients_near_the_limit_of_float16(tmp_path: Path) -> None:
    run = half(tmp_path, 1, loss_scale=2**15)
    layer = lg.read(tmp_path)["."]["layer/0"]
    rows = layer.statistics("training_gradients").header["rows"]
    recorded = [layer.series(row, "max", kind="training_gradients").values for row in rows]
    assert np.max(recorded) > 65504 / 4
    assert run.all("LG002") == []


def test_a_cell_state_that_counts(tmp_path: Path) -> None:
    run = counter(tmp_path, 1)
    sizes = run.measured(lambda model: largest(cell_states(model.layer[0], run.probe)))
    found = run.only("LG004")
    assert worse(run.found) == []  # it counts well, and a candidate at its limit is how it does so
    assert (found.severity, found.layer, found.row) == ("note", "layer/0", "cell_state")
    assert found.value == pytest.approx(sizes[40], rel=1e-3)
    assert found.first_step == since(sizes, lambda size: size > max(100, 10 * sizes[0]))
    assert found.last_step == 40


KERNELS = [
    (f"{part}/{gate}", name, number)
    for part, name in (("kernel", "weight_ih"), ("recurrent_kernel", "weight_hh"))
    for number, gate in enumerate(LSTM_GATES)
]


def kernels(run: Training, measure: Callable[[list[np.ndarray]], np.ndarray]) -> dict[str, Any]:
    """A number of each record, of each gate's kernels."""
    return {
        row: measure([run.weight(step, name, gate, 4) for step in run.records])
        for row, name, gate in KERNELS
    }


def test_updates_that_replace_what_was_learned(tmp_path: Path) -> None:
    run = decayed(tmp_path, 3)

    def per_update(kernel: list[np.ndarray]) -> np.ndarray:
        size = [np.linalg.norm(one) for one in kernel]
        return np.array(
            [
                np.linalg.norm(after - before) / max(sizes) / run.every
                for before, after, *sizes in zip(kernel, kernel[1:], size, size[1:], strict=False)
            ]
        )

    late = {
        row: np.median(changes[26:])
        for row, changes in kernels(run, per_update).items()
        if row.startswith("recurrent")  # the others have 16 weights each, too few
    }
    worst = max(late, key=lambda row: late[row])
    found = run.only("LG015")
    assert (found.layer, found.row, found.gate) == ("layer/0", worst, worst.partition("/")[2])
    assert found.value == pytest.approx(late[worst], rel=1e-3)
    assert (found.first_step, found.last_step) == (52, 104)


def test_a_start_with_large_updates_that_learns_is_not_blamed(tmp_path: Path) -> None:
    build = partial(Stack, last=False)
    more = {"optimizer": torch.optim.RMSprop, "rate": 0.02, "every": 1, "updates": 40}
    run = watched(tmp_path, lambda: build([lstm(1)], 1), copying, **more)
    losses = lg.read(tmp_path)["."]["layer/0"].statistics("weights").record_column("loss")
    assert np.median(losses[-5:]) < 0.3 * losses[1]
    assert worse(run.found) == []


def test_a_loss_divided_twice_hardly_changes_anything(tmp_path: Path) -> None:
    run = averaged(tmp_path, 2)
    changes = [
        np.linalg.norm(after - before) / max(np.linalg.norm(after), np.linalg.norm(before))
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        for gate in range(4)
        for before, after in [(run.weight(0, name, gate, 4), run.weight(104, name, gate, 4))]
    ]
    found = run.only("LG016")
    assert (found.layer, found.gate, found.first_step, found.last_step) == ("layer/0", None, 0, 104)
    assert 0.5 * max(changes) < found.value <= 1.01 * max(changes) < 1e-4


def is_of_the_furthest(found: Finding, paths: dict[str, dict[int, float]], *, above: float) -> None:
    """Whether a finding is of the kernel that went furthest, from when it was above a number."""
    row = max(paths, key=lambda row: paths[row][120])
    assert (found.layer, found.row, found.gate) == ("layer/0", row, row.partition("/")[2])
    assert found.value == pytest.approx(paths[row][120], rel=1e-3)
    assert found.first_step == since(paths[row], lambda one: one > above)
    assert found.last_step == 120


def test_weights_that_a_hot_learning_rate_spreads(tmp_path: Path) -> None:
    run = hot(tmp_path, 0.1)
    spread = kernels(run, lambda kernel: np.array([one.std() for one in kernel]))
    times = {row: dict(zip(run.records, one / one[0], strict=True)) for row, one in spread.items()}
    is_of_the_furthest(run.only("LG022"), times, above=4)


def test_weights_that_an_input_of_one_sign_drives_to_one_side(tmp_path: Path) -> None:
    run = prices(tmp_path, 0)

    def moved(kernel: list[np.ndarray]) -> np.ndarray:
        means, spreads = (np.array([f(one) for one in kernel]) for f in (np.mean, np.std))
        return np.abs(means - means[0]) / np.maximum(spreads, spreads[0])

    paths = {
        row: dict(zip(run.records, one, strict=True)) for row, one in kernels(run, moved).items()
    }
    is_of_the_furthest(run.only("LG023"), paths, above=1)
