"""What a model is called with, and what it returns: nested, in any type."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_sequence

from lstm_gates_plugin import capture
from lstm_gates_plugin.frameworks.torch.values import to_array, to_model

X = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(5))


class Returns(nn.Module):
    """Returns what is made of what a layer returns."""

    def __init__(self, build: Any) -> None:
        super().__init__()
        self.rnn = nn.GRU(3, 4, batch_first=True)
        self.build = build

    def forward(self, x: Any) -> Any:
        return self.build(*self.rnn(x))


@dataclass
class Output:
    logits: torch.Tensor
    states: tuple[torch.Tensor, ...]


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Output):
        value = list(vars(value).values())
    elif isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    else:
        yield value


@pytest.mark.parametrize(
    "build",
    [
        lambda y, h: y.bfloat16(),
        lambda y, h: (y, [h, None], "text"),
        lambda y, h: y.max(dim=-1),  # one of torch's own tuples
        lambda y, h: OrderedDict(logits=y, states=(h,)),
        lambda y, h: Output(y, (h,)),
        lambda y, h: pack_sequence(list(y)),
        lambda y, h: None,
    ],
)
def test_outputs_are_what_the_model_returned_without_gradients(build: Any) -> None:
    model = Returns(build)
    traces, outputs = capture.observe(model, (X,), {}, None)
    assert traces[0].difference < 1e-5
    own = model.eval()(X)
    assert type(outputs) is type(own)
    for ours, theirs in zip(leaves(outputs), leaves(own), strict=True):
        if isinstance(theirs, torch.Tensor):
            assert not ours.requires_grad
            torch.testing.assert_close(ours, theirs.detach(), rtol=0, atol=0)
        else:
            assert ours == theirs


def test_types_that_numpy_does_not_have() -> None:
    assert to_array(torch.ones(2).bfloat16()).dtype == np.float32
    assert to_array(torch.ones(2).half()).dtype == np.float16
    assert to_array(torch.ones(2).double()).dtype == np.float64
    assert to_array(torch.ones(2, requires_grad=True)).dtype == np.float32


def test_arrays_become_tensors_of_the_models_type() -> None:
    model = nn.GRU(3, 4).double()
    given = {"x": np.zeros((2, 3), "float32"), "n": [np.array([1, 2])], "s": "text", "t": (X,)}
    converted = to_model(model, given)
    assert converted["x"].dtype == torch.float64
    assert converted["n"][0].dtype == torch.int64
    assert converted["s"] == "text"
    assert converted["t"][0] is X  # tensors are the user's
    assert to_model(nn.GRU(3, 4).bfloat16(), np.zeros(3)).dtype == torch.bfloat16
    assert to_model(nn.Identity(), np.zeros(3)).dtype == torch.float64


def test_a_probe_on_another_device_moves_to_the_model() -> None:
    class There(torch.Tensor):
        """A tensor on another device, which says where it was moved to."""

        device = torch.device("meta")

        def to(self, device: Any) -> Any:
            return ("moved", device.type)

    model, here = nn.GRU(3, 4), torch.zeros(2, 3)
    there = here.as_subclass(There)
    assert to_model(model, [there, {"a": there}]) == [("moved", "cpu"), {"a": ("moved", "cpu")}]
    # Where others are there already, it is elsewhere on purpose: lengths on the CPU.
    assert to_model(model, {"x": here, "lengths": there})["lengths"] is there
