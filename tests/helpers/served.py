"""Asks a running TensorBoard for the answers of our routes, decoded."""

from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode

import safetensors.numpy

from helpers.tensorboard_server import get_bytes, get_json, wait_until
from lstm_gates_plugin import format


class Routes:
    """The routes of one TensorBoard.

    Args:
        url: its base URL, without a slash at the end.
    """

    def __init__(self, url: str) -> None:
        self._base = f"{url}/data/plugin/lstm_gates"

    def json(self, route: str, **parameters: object) -> Any:
        return get_json(f"{self._base}/{route}?{urlencode(parameters)}")

    def bytes(self, route: str, **parameters: object) -> bytes:
        return get_bytes(f"{self._base}/{route}?{urlencode(parameters)}")

    def error(self, route: str, **parameters: object) -> tuple[int, str]:
        """Status and sentence of a request that is refused."""
        try:
            self.bytes(route, **parameters)
        except HTTPError as error:
            return error.code, error.read().decode()
        raise AssertionError(f"{route} was answered with 200.")

    def series(self, **parameters: object) -> tuple[dict[str, Any], dict[str, Any]]:
        """Header and arrays of `statistics`, without the decoder that is tested."""
        data = self.bytes("statistics", **parameters)
        return format._read_header(data), safetensors.numpy.load(data)

    def snapshots(self, **parameters: object) -> dict[int, bytes]:
        """Every snapshot's bytes by step."""
        listed = self.json("snapshots", **parameters)["snapshots"]
        return {one["step"]: self.bytes("snapshot", key=one["key"]) for one in listed}

    def wait_for(self, last_steps: dict[str, int], seconds: float = 30) -> None:
        """Until TensorBoard has loaded these runs (short names) up to these steps."""

        def last_steps_now() -> dict[str, int]:
            return {run["name"]: run["last_step"] for run in self.json("runs")["runs"]}

        try:
            wait_until(lambda: last_steps_now() == last_steps, seconds)
        except TimeoutError as error:
            raise AssertionError(f"{last_steps_now()} is not {last_steps}.") from error
