"""Which layers are found in a module, and what they are called."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

import lstm_gates_plugin as lg
from helpers.torch_modules import close, g1_lstm


def ids(model: Any) -> list[str]:
    return [layer.id for layer in lg.recurrent_layers(model)]


class Encoder(nn.Module):
    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.rnn = nn.LSTM(3, 4, **options)

    def forward(self, x: torch.Tensor) -> Any:
        return self.rnn(x)[0]


class Net(nn.Module):
    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.encoder = Encoder(**options)

    def forward(self, x: torch.Tensor) -> Any:
        return self.encoder(x)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({}, [""]),
        ({"bidirectional": True}, ["/forward", "/backward"]),
        ({"num_layers": 2}, ["/layer_0", "/layer_1"]),
        (
            {"num_layers": 2, "bidirectional": True},
            ["/layer_0/forward", "/layer_0/backward", "/layer_1/forward", "/layer_1/backward"],
        ),
    ],
)
def test_parts_are_named_where_there_is_more_than_one(options: Any, parts: list[str]) -> None:
    assert ids(Net(**options)) == [f"encoder/rnn{part}" for part in parts]
    assert ids(nn.LSTM(3, 4, **options)) == [f"lstm_0{part}" for part in parts]


def test_containers_and_roots() -> None:
    cells = nn.ModuleList([nn.LSTMCell(3, 4), nn.GRUCell(4, 5)])
    heads = nn.ModuleDict({"a": nn.GRU(3, 4), "b": nn.Sequential(nn.Identity(), nn.RNN(3, 4))})
    assert ids(nn.ModuleDict({"cells": cells, "heads": heads})) == [
        "cells/0",
        "cells/1",
        "heads/a",
        "heads/b/1",
    ]
    assert ids(nn.GRUCell(3, 4)) == ["gru_cell_0"]
    assert ids(nn.RNN(3, 4)) == ["rnn_0"]
    assert ids(nn.RNNBase("GRU", 3, 4)) == ["rnn_base_0"]
    assert ids(parametrizations.weight_norm(nn.LSTM(3, 4), "weight_hh_l0")) == ["lstm_0"]


def test_what_a_layer_says_of_itself() -> None:
    (layer,) = lg.recurrent_layers(nn.LSTM(3, 5, proj_size=2))
    assert (layer.input_size, layer.units, layer.recurrent_size) == (3, 5, 2)
    assert layer.projection.shape == (5, 2)
    assert layer.options == {
        "activation": "tanh",
        "recurrent_activation": "sigmoid",
        "dtype": "float32",
        "framework": "torch",
    }
    (layer,) = lg.recurrent_layers(nn.GRU(3, 5, bias=False))
    assert layer.bias is None
    assert layer.options["reset_after"] is True
    (layer,) = lg.recurrent_layers(nn.RNN(3, 5, nonlinearity="relu"))
    assert (layer.cell, layer.options["activation"]) == ("simple_rnn", "relu")


def test_weights_are_copies() -> None:
    module = g1_lstm()
    (layer,) = lg.recurrent_layers(module)
    with torch.no_grad():
        module.weight_ih_l0.zero_()
    close(layer.kernel["input"], 1)
    assert not layer.kernel["input"].flags.writeable


def test_g12_a_module_under_two_names_is_one_layer() -> None:
    rnn = nn.LSTM(3, 4, 2)
    model = nn.ModuleDict({"a": rnn, "b": rnn, "c": nn.Sequential(rnn)})
    layers = lg.recurrent_layers(model)
    assert [layer.id for layer in layers] == ["a/layer_0", "a/layer_1"]
    assert [layer.options["aliases"] for layer in layers] == [["b", "c/0"]] * 2
    with lg.record(model) as recording:
        model["b"](torch.zeros(5, 2, 3))
    assert [trace.layer.id for trace in recording.traces()] == ["a/layer_0", "a/layer_1"]


def test_a_container_that_is_used_twice_has_its_layers_once() -> None:
    shared = nn.Sequential(nn.GRU(3, 4))
    (layer,) = lg.recurrent_layers(nn.ModuleDict({"left": shared, "right": shared}))
    assert (layer.id, layer.options["aliases"]) == ("left/0", ["right/0"])


def test_equal_paths_are_told_apart() -> None:
    inner = nn.ModuleDict({"b": nn.GRU(3, 4)})
    assert ids(nn.ModuleDict({"a/b": nn.GRU(3, 4), "a": inner})) == ["a/b", "a/b#2"]


def test_modules_that_hold_each_other() -> None:
    outer, inner = nn.Module(), nn.Module()
    outer.inner, inner.outer = inner, outer
    inner.rnn = nn.GRU(3, 4)
    assert ids(outer) == ["inner/rnn"]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: torch.compile(model, backend="eager"),
        nn.DataParallel,
        torch.optim.swa_utils.AveragedModel,
        lambda model: torch.compile(nn.DataParallel(model), backend="eager"),
    ],
    ids=["compiled", "DataParallel", "AveragedModel", "both"],
)
def test_g6_wrappers_vanish(wrap: Any) -> None:
    plain = Net(num_layers=2)
    expected = ids(plain)
    assert ids(wrap(plain)) == expected
    assert ids(nn.ModuleDict({"net": wrap(plain)})) == [f"net/{each}" for each in expected]
    assert ids(wrap(nn.LSTM(3, 4))) == ["lstm_0"]
    traces = lg.trace(wrap(plain), torch.zeros(5, 2, 3))
    assert [trace.layer.id for trace in traces] == expected


def test_a_users_own_attribute_called_module_stays() -> None:
    class Holder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = nn.GRU(3, 4)

    assert ids(Holder()) == ["module"]


def test_f8_data_parallel_is_traced_on_all_rows_at_once() -> None:
    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parallel = nn.DataParallel(nn.GRU(3, 4, batch_first=True))

        def forward(self, x: torch.Tensor) -> Any:
            return self.parallel(x)[0]

    x = torch.randn(6, 5, 3)
    model = Two()
    for traced in (model, nn.DataParallel(model)):
        (trace,) = lg.trace(traced, x)
        assert (trace.layer.id, trace.rows) == ("parallel", 6)
        close(trace.hidden_state, model(x))
