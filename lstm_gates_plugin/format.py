"""What is on disk: tags, payloads and their validation. Writers and readers meet here.

One payload everywhere, from the event file to the page: safetensors bytes (named arrays), whose
metadata hold one JSON header under the key ``lstm_gates``. Any user can open a payload with the
library of that name. The header carries a CRC-32 of itself (without that number) and of the data
section, because TensorBoard's fast loader serves records whose own checksum is wrong.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

PLUGIN_NAME = "lstm_gates"
VERSION = 1
METADATA_CONTENT = json.dumps({"version": VERSION}).encode()
RUN_DIRECTORY = "lstm_gates"
MAX_STEP = 2**53 - 1
"""The largest training step: above it a step is no longer exact in the browser."""

PARTS = ("weights", "activations", "gradients")
"""What a writer records of a model by itself."""
KINDS = (*PARTS, "training_gradients")
STREAMS = ("statistics", "snapshots", "first")
FIRST_ITEMS = ("snapshot", "statistics", "entries")
"""The records in one blob sequence of the tag ``.../first``, in order."""

COLUMNS = (
    *("count", "nan", "positive_infinite", "negative_infinite", "zero"),
    *("min", "max", "mean", "std", "norm"),
    *("p1", "p5", "p25", "p50", "p75", "p95", "p99"),
    *("nearly_closed", "nearly_open"),
    *("change_since_start", "max_change_since_start"),
    *("change_since_previous", "max_change_since_previous"),
    "spectral_norm",
)
RECORD_COLUMNS = (
    *("log_call", "epoch", "loss", "probe_hash", "difference"),
    # Timesteps back, and how many there were; see `measure.reach`. Of gradients alone.
    *("reach", "reach_limit"),
    # The median unit's survival in timesteps, and 1 where it is a lower bound. Of activations.
    *("memory", "memory_censored"),
)
UNIT_COLUMNS = ("mean", "std", "nearly_closed", "nearly_open")
HISTOGRAM_BINS = 32

_HEADER_KEY = "lstm_gates"
_HEADER_LENGTH_BYTES = 8
_CALL = re.compile(r"call (\d+)")
# Our own "%", and what JSON escapes: TensorBoard's data server gives no picture from a series whose
# tag holds such a character. It writes the tag into the picture's key and cannot read it there.
_UNSAFE = re.compile(r'[%"\\\x00-\x1f]')
_ESCAPED = re.compile(r"%([0-9A-F]{2})")
_DESCRIPTION_TYPES: Mapping[str, type] = {
    "id": str,
    "cell": str,
    "direction": str,
    "gates": list,
    "input_size": int,
    "recurrent_size": int,
    "units": int,
    "options": dict,
}


class CorruptPayloadError(ValueError):
    """The bytes are not a payload that was written whole; the message says what is wrong."""


class NewerVersionError(ValueError):
    """The payload was written by a newer version of this package."""


@dataclass(frozen=True, order=True)
class Tag:
    """The name of one series: ``lstm_gates/<layer id>[/call <n>]/<kind>/<stream>``."""

    layer: str
    call: int
    kind: str
    stream: str

    def __str__(self) -> str:
        components = [_escape(component) for component in self.layer.split("/")]
        call = [f"call {self.call}"] if self.call else []
        return "/".join([PLUGIN_NAME, *components, *call, self.kind, self.stream])


def parse_tag(text: str) -> Tag | None:
    """The parts of a tag that ``str(Tag(...))`` made, or None for any other text."""
    prefix, *components = text.split("/")
    if prefix != PLUGIN_NAME or len(components) < 3:
        return None
    *components, kind, stream = components
    if kind not in KINDS or stream not in STREAMS:
        return None
    call = _CALL.fullmatch(components[-1])
    if call:
        components = components[:-1]
    if not components:
        return None
    layer = "/".join(_unescape(component) for component in components)
    return Tag(layer, int(call.group(1)) if call else 0, kind, stream)


def _escape(component: str) -> str:
    """A layer may be named "call 1" or hold "%": neither may read as our own syntax."""
    component = _UNSAFE.sub(lambda found: f"%{ord(found.group()):02X}", component)
    return component.replace(" ", "%20") if _CALL.fullmatch(component) else component


def _unescape(component: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found.group(1), 16)), component)


@dataclass(frozen=True)
class Payload:
    """One record: its JSON header and its named arrays."""

    header: dict[str, Any]
    arrays: dict[str, np.ndarray]

    @property
    def step(self) -> int:
        """The training step of this record."""
        return int(self.header["step"])


def make_header(
    record: str, kind: str, step: int, call: int, layer: Mapping[str, Any], **more: Any
) -> dict[str, Any]:
    """The header that every record has; ``layer`` is ``RecurrentLayer.describe()``."""
    return {
        "version": VERSION,
        "record": record,
        "kind": kind,
        "step": step,
        "call": call,
        "layer": dict(layer),
        **more,
    }


def is_same_layer(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two descriptions are of the same layer, which may be frozen at times."""

    def always(layer: Mapping[str, Any]) -> dict[str, Any]:
        options = {name: value for name, value in layer["options"].items() if name != "frozen"}
        return {**layer, "options": options}

    return always(one) == always(other)


def encode(payload: Payload) -> bytes:
    """The payload as safetensors bytes, with the CRC-32 of header and data section in the header.

    Raises:
        ValueError: the header holds what strict JSON cannot (NaN or an infinity).
    """
    arrays = {name: np.ascontiguousarray(array) for name, array in payload.arrays.items()}
    data = _data_section(safetensors.numpy.save(arrays))
    header = {name: value for name, value in payload.header.items() if name != "crc32"}
    text = _json({**header, "crc32": _checksum(header, data)})
    return safetensors.numpy.save(arrays, metadata={_HEADER_KEY: text})


def decode(data: bytes) -> Payload:
    """The payload in safetensors bytes, checked: version, CRC-32, header and array shapes.

    Raises:
        CorruptPayloadError: the bytes are cut, changed, or not ours.
        NewerVersionError: a newer version of this package wrote them.
    """
    header = _read_header(data)
    version = header.get("version")
    if not isinstance(version, int):
        raise CorruptPayloadError(f"The header's version is {version!r}, not a whole number.")
    if version > VERSION:
        raise NewerVersionError(
            f"This record has format version {version}; this installation reads up to version "
            f"{VERSION}. Upgrade tensorboard-plugin-lstm-gates where TensorBoard runs."
        )
    stored = header.pop("crc32", None)
    if _checksum(header, _data_section(data)) != stored:
        raise CorruptPayloadError("Header and data do not match their checksum (CRC-32).")
    try:
        arrays = safetensors.numpy.load(data)
    except (safetensors.SafetensorError, KeyError, ValueError) as error:
        raise CorruptPayloadError(f"The arrays cannot be read: {error}.") from error
    _check_header(header)
    _check_arrays(header, arrays)
    return Payload(header, arrays)


def _read_header(data: bytes) -> dict[str, Any]:
    try:
        length = int.from_bytes(data[:_HEADER_LENGTH_BYTES], "little")
        if not 0 < length <= len(data) - _HEADER_LENGTH_BYTES:
            raise ValueError("the header's length lies outside the record")
        outer = json.loads(data[_HEADER_LENGTH_BYTES : _HEADER_LENGTH_BYTES + length])
        header = json.loads(outer["__metadata__"][_HEADER_KEY])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CorruptPayloadError(f"The header cannot be read: {error}.") from error
    if not isinstance(header, dict):
        raise CorruptPayloadError("The header is not a JSON object.")
    return header


def _json(header: Mapping[str, Any]) -> str:
    return json.dumps(header, allow_nan=False, separators=(",", ":"))


def _checksum(header: Mapping[str, Any], data: memoryview) -> int:
    return zlib.crc32(data, zlib.crc32(_json(header).encode()))


def _data_section(data: bytes) -> memoryview:
    length = int.from_bytes(data[:_HEADER_LENGTH_BYTES], "little")
    return memoryview(data)[_HEADER_LENGTH_BYTES + length :]


def _check_header(header: Mapping[str, Any]) -> None:
    _require(header.get("kind") in KINDS, f"unknown kind {header.get('kind')!r}")
    _require(header.get("record") in FIRST_ITEMS, f"unknown record {header.get('record')!r}")
    for name in ("step", "call"):
        value = header.get(name)
        _require(
            isinstance(value, int) and 0 <= value <= MAX_STEP,
            f"{name} is {value!r}, not a whole number from 0 to {MAX_STEP}",
        )
    layer = header.get("layer")
    _require(isinstance(layer, dict), "the layer's description is missing")
    assert isinstance(layer, dict)
    for name, kind in _DESCRIPTION_TYPES.items():
        _require(isinstance(layer.get(name), kind), f"the layer's {name} is {layer.get(name)!r}")


def _check_arrays(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    for name, shape in _expected_shapes(header, arrays).items():
        actual = arrays[name].shape if name in arrays else None
        _require(actual == shape, f"array {name} has shape {actual}, not {shape}")


def _expected_shapes(
    header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> dict[str, tuple[int, ...]]:
    """The shapes that follow from the header, by array name."""
    if header["record"] == "entries":
        return {}
    if header["record"] == "statistics":
        rows = len(_names(header, "rows"))
        return {
            "statistics": (rows, len(_names(header, "columns"))),
            "record": (len(_names(header, "record_columns")),),
            "histogram": (rows, HISTOGRAM_BINS + 2),
            "bounds": (rows, 2),
        }
    if header["kind"] == "weights":
        return _weights_shapes(header, arrays)
    if header["kind"] == "gradients":
        return _gradients_shapes(arrays)
    return _activations_shapes(header, arrays)


def _weights_shapes(
    header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> dict[str, tuple[int, ...]]:
    units = len(_indices(header, "units"))
    leading = {
        "kernel": (len(_indices(header, "inputs")), units),
        "recurrent_kernel": (len(_indices(header, "recurrent_inputs")), units),
        "bias": (units,),
        "recurrent_bias": (units,),
        "peephole": (units,),
    }
    parts = {name: name.split("/")[0] for name in arrays}
    return {name: leading[part] for name, part in parts.items() if part in leading}


def _activations_shapes(
    header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> dict[str, tuple[int, ...]]:
    _require("mask" in arrays and arrays["mask"].ndim == 2, "the mask is missing")
    samples, columns = arrays["mask"].shape
    units = len(_indices(header, "units"))
    all_units = len(_indices(header, "all_units"))
    shapes: dict[str, tuple[int, ...]] = {
        "unit_statistics": (len(_names(header, "unit_rows")), len(UNIT_COLUMNS), all_units)
    }
    for name, array in arrays.items():
        if name.startswith("activation/") or name == "cell_state":
            shapes[name] = (samples, columns, units)
        elif name.startswith("preactivation/"):
            _require(array.ndim == 3 and len(array) <= samples, f"{name} has too many samples")
            shapes[name] = (len(array), columns, units)
        elif name.startswith("survival"):
            shapes[name] = (all_units,)
    return shapes


def _gradients_shapes(arrays: Mapping[str, np.ndarray]) -> dict[str, tuple[int, ...]]:
    _require("mask" in arrays and arrays["mask"].ndim == 2, "the mask is missing")
    _require("reach/lags" in arrays and arrays["reach/lags"].ndim == 1, "the lags are missing")
    shapes = {name: arrays["mask"].shape for name in arrays if name.startswith("norm/")}
    return {**shapes, "reach/ratios": arrays["reach/lags"].shape}


def _names(header: Mapping[str, Any], name: str) -> list[str]:
    value = header.get(name)
    _require(
        isinstance(value, list) and all(isinstance(item, str) for item in value),
        f"{name} is not a list of names",
    )
    return value  # type: ignore[return-value]


def _indices(header: Mapping[str, Any], name: str) -> list[int]:
    value = header.get(name)
    _require(
        isinstance(value, list) and all(isinstance(item, int) and item >= 0 for item in value),
        f"{name} is not a list of indices",
    )
    return value  # type: ignore[return-value]


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise CorruptPayloadError(f"The record is not valid: {message}.")
