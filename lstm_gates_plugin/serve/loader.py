"""The entry point: imports nothing but base_plugin, as an error here would end TensorBoard."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tensorboard.plugins import base_plugin

if TYPE_CHECKING:
    from lstm_gates_plugin.serve.plugin import LstmGatesPlugin

PLUGIN_NAME = "lstm_gates"

SAMPLES = 300
"""Log calls that TensorBoard keeps of each series. With ``every="auto"`` a run of a million steps
has no more than that; TensorBoard's own default is 10 (Python loader) or 100 (fast loader)."""


class LstmGatesLoader(base_plugin.TBLoader):
    """Sets this plugin's sampling default and makes the plugin."""

    def fix_flags(self, flags: argparse.Namespace) -> None:
        """Keep 300 records of each of our series, unless the user has set their own number."""
        samples = getattr(flags, "samples_per_plugin", None)
        if isinstance(samples, dict):
            samples.setdefault(PLUGIN_NAME, SAMPLES)

    def load(self, context: base_plugin.TBContext) -> LstmGatesPlugin | None:
        """The plugin, or None where TensorBoard has no data provider."""
        from lstm_gates_plugin.serve.plugin import LstmGatesPlugin

        return LstmGatesPlugin(context) if context.data_provider else None
