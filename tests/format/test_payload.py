"""Payloads: any user can open one, and a reader finds out when one was damaged."""

import json
from pathlib import Path

import numpy as np
import pytest
import safetensors
import safetensors.numpy

from helpers.layers import make_layer
from lstm_gates_plugin import format

LAYER = make_layer().describe()


def statistics_payload(**header: object) -> format.Payload:
    names = {
        "rows": ["cell_state", "hidden_state"],
        "columns": ["mean"],
        "record_columns": ["loss"],
    }
    arrays = {
        "statistics": np.array([[1.5], [np.nan]]),
        "record": np.array([np.inf]),
        "histogram": np.arange(68, dtype=np.uint32).reshape(2, 34),
        "bounds": np.zeros((2, 2)),
    }
    made = format.make_header("statistics", "activations", 7, 0, LAYER)
    return format.Payload({**made, **names, **header}, arrays)


def test_the_safetensors_library_alone_opens_a_payload(tmp_path: Path) -> None:
    path = tmp_path / "record.safetensors"
    path.write_bytes(format.encode(statistics_payload()))
    with safetensors.safe_open(path, framework="numpy") as file:
        header = json.loads(file.metadata()["lstm_gates"])
        np.testing.assert_array_equal(file.get_tensor("statistics"), [[1.5], [np.nan]])
    assert header["step"] == 7
    assert header["version"] == 1
    assert header["layer"] == LAYER
    assert header["rows"] == ["cell_state", "hidden_state"]


def test_decode_gives_back_header_and_arrays() -> None:
    payload = format.decode(format.encode(statistics_payload()))
    assert payload.step == 7
    assert payload.header["layer"]["id"] == "lstm_0"
    np.testing.assert_array_equal(payload.arrays["record"], [np.inf])
    assert payload.arrays["histogram"].dtype == np.uint32
    assert payload.arrays["histogram"][1, 33] == 67


def test_every_flipped_byte_is_noticed() -> None:
    """The fast loader serves records whose checksum is wrong; ours must tell."""
    data = format.encode(statistics_payload())
    passed = []
    for position in range(len(data)):
        for bit in range(8):
            damaged = bytearray(data)
            damaged[position] ^= 1 << bit
            try:
                format.decode(bytes(damaged))
            except (format.CorruptPayloadError, format.NewerVersionError):
                continue
            passed.append((position, bit))
    # Spaces that pad the outer header can become other white space; nothing else passes.
    assert all(data[position : position + 1] == b" " for position, _ in passed), passed


@pytest.mark.parametrize("length", [0, 1, 7, 8, 20, 400, -1])
def test_a_cut_payload_is_corrupt(length: int) -> None:
    data = format.encode(statistics_payload())
    with pytest.raises(format.CorruptPayloadError, match=r"\.$"):
        format.decode(data[:length])


def test_a_newer_version_says_what_to_do() -> None:
    data = format.encode(statistics_payload(version=2))
    with pytest.raises(format.NewerVersionError, match="Upgrade tensorboard-plugin-lstm-gates"):
        format.decode(data)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": None}, "version"),
        ({"step": -1}, "step is -1"),
        ({"step": "7"}, "step is '7'"),
        ({"kind": "biases"}, "kind"),
        ({"record": "other"}, "record"),
        ({"layer": {**LAYER, "gates": "ifco"}}, "gates"),
        ({"layer": None}, "layer"),
        ({"rows": ["cell_state"]}, "statistics has shape"),
        ({"rows": "ab"}, "rows"),
        ({"columns": [1]}, "columns"),
    ],
)
def test_a_header_that_does_not_fit_is_corrupt(change: dict[str, object], message: str) -> None:
    with pytest.raises(format.CorruptPayloadError, match=message):
        format.decode(format.encode(statistics_payload(**change)))


def test_bytes_of_somebody_else_are_corrupt() -> None:
    foreign = safetensors.numpy.save({"a": np.zeros(3)}, metadata={"format": "pt"})
    for data in (foreign, b"\x89PNG\r\n\x1a\n" + bytes(100), b"{}", json.dumps([1] * 99).encode()):
        with pytest.raises(format.CorruptPayloadError, match="header"):
            format.decode(data)


def test_nan_in_a_header_is_refused_by_the_writer() -> None:
    with pytest.raises(ValueError, match="JSON"):
        format.encode(statistics_payload(loss=float("nan")))
