"""What a model is called with, and what it returns: nested, in any type."""

from collections import OrderedDict, UserDict, UserList, defaultdict, namedtuple
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_sequence

import lstm_gates_plugin as lg
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
    if isinstance(value, (list, tuple, UserList)):
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
    assert converted["t"][0] is X
    assert to_model(nn.GRU(3, 4).bfloat16(), np.zeros(3)).dtype == torch.bfloat16
    assert to_model(nn.Identity(), np.zeros(3)).dtype == torch.float64


def test_arrays_keep_their_type_where_a_parameter_has_it() -> None:
    class Mixed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head = nn.Linear(2, 2).double()
            self.rnn = nn.GRU(3, 4)

        def forward(self, x: Any) -> Any:
            return self.rnn(x)

    x = np.ones((5, 2, 3), "float32")
    (trace,) = lg.trace(Mixed(), x)
    np.testing.assert_allclose(trace.hidden_state.shape, (2, 5, 4))
    assert to_model(Mixed(), x.astype("float16")).dtype == torch.float64


class AttributeDict(dict[str, Any]):
    """As many configurations and batches are."""

    __getattr__ = dict.__getitem__


@dataclass(frozen=True)
class Batch:
    x: Any
    name: str = "batch"


class Uncopied(UserDict[str, Any]):
    def __copy__(self) -> Any:
        raise RuntimeError("there is one of me")


@pytest.mark.parametrize(
    "make",
    [
        lambda x: AttributeDict(x=x),
        lambda x: OrderedDict(x=x),
        lambda x: UserDict(x=x),
        lambda x: UserList([x]),
        lambda x: defaultdict(list, x=x),
        lambda x: Batch(x),
        lambda x: namedtuple("Pair", "x y")(x, 1),
    ],
)
def test_what_a_model_is_called_with_keeps_its_class(make: Any) -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = nn.GRU(3, 4, batch_first=True)

        def forward(self, batch: Any) -> Any:
            assert type(batch) is type(given)
            x = batch.x if hasattr(batch, "x") else next(leaves(batch))
            assert torch.equal(x, X)
            return self.rnn(x.mul_(2))  # writes into what it got

    model = Net()
    for value in (X, X.numpy()):
        given = make(value)
        (trace,) = lg.trace(model, given)
        (same,) = lg.trace(model, given)
        np.testing.assert_array_equal(trace.hidden_state, same.hidden_state)
        own = model.rnn(X * 2)[0].detach()
        np.testing.assert_allclose(trace.hidden_state, own, atol=1e-5)
        assert next(leaves(given)) is value if not isinstance(given, Batch) else given.x is value


def test_what_cannot_be_copied_is_handed_on() -> None:
    given = Uncopied(x=X)
    assert to_model(nn.GRU(3, 4), (given, 1)) == (given, 1)


@pytest.mark.parametrize("loss", [None, lambda outputs: outputs.sum()])
def test_the_users_data_is_not_written_to(tmp_path: Path, loss: Any) -> None:
    class InPlace(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = nn.LSTM(3, 4, batch_first=True)

        def forward(self, x: Any, again: Any) -> Any:
            if isinstance(x, torch.Tensor):
                x -= x.mean(1, keepdim=True)
                assert again is x
                return self.rnn(x)[0]
            x.data.mul_(2)
            return self.rnn(x)[0].data

    data = torch.randn(8, 5, 3)
    for given in (data[:4], pack_sequence(list(data[:4]))):
        before = data.clone(), to_array(next(leaves([getattr(given, "data", given)])))
        probe = lg.Probe(given, given, target=1, loss=loss and (lambda outputs, _: loss(outputs)))
        with lg.GateWriter(tmp_path / str(len(list(tmp_path.iterdir()))), every=1) as writer:
            for step in range(3):
                writer.log(InPlace(), step=step, probe=probe)
        lg.trace(InPlace(), given, given, loss=loss)
        assert torch.equal(data, before[0])
        np.testing.assert_array_equal(to_array(getattr(given, "data", given)), before[1])


def test_no_gradient_reaches_the_users_tensors() -> None:
    leaf = torch.randn(2, 5, 3, requires_grad=True)
    made = leaf * 1

    class Differentiates(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = nn.GRU(3, 4, batch_first=True)

        def forward(self, x: Any, y: Any) -> Any:
            assert (x.is_leaf, y.is_leaf, x.requires_grad, y.requires_grad) == (1, 0, 1, 1)
            output = self.rnn(x + y.mul_(2))[0]
            output.sum().backward(retain_graph=True)
            return output

    lg.trace(Differentiates(), leaf, made, loss=lambda output: output.sum())
    assert leaf.grad is None
    made.sum().backward()


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
