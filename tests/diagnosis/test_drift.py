"""Rules on kernels that spread or drift."""

from pathlib import Path

import numpy as np
import pytest

import lstm_gates_plugin as lg
from lstm_gates_plugin import RecurrentLayer

RNG = np.random.default_rng(0)
KERNEL, RECURRENT = RNG.normal(size=(3, 16)), RNG.normal(size=(4, 16))


@pytest.mark.parametrize(
    ("spread", "shift", "found"),
    [(1.5, 0.0, []), (5.0, 0.0, ["LG022"]), (1.0, 2.0, ["LG023"]), (1.0, 0.4, [])],
)
def test_a_kernel_that_changes_its_distribution(
    tmp_path: Path, spread: float, shift: float, found: list[str]
) -> None:
    with lg.GateWriter(tmp_path) as writer:
        for step, share in ((0, 0.0), (100, 0.5), (200, 1.0)):
            kernel = KERNEL * (1 + share * (spread - 1)) + share * shift
            layer = RecurrentLayer.from_arrays(
                "lstm", kernel, RECURRENT * (1 + share / 10), gate_order="ifco", id="a"
            )
            writer.log_weights([layer], step=step)
    seen = [one for one in lg.diagnose(tmp_path) if one.id in ("LG022", "LG023")]
    assert [one.id for one in seen] == found
    assert all(one.severity == "note" and str(one.row).startswith("kernel/") for one in seen)
