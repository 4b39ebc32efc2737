"""PyTorch, in a process of its own without TensorFlow: `pytest tests/pytorch`."""

import pytest
import torch

torch.set_num_threads(1)  # the modules here are small


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


def pytest_configure(config: pytest.Config) -> None:
    """Hear nothing of what torch says of its older ways, which are tested here as well."""
    for message in ("`?torch.nn.utils.weight_norm", "`?torch.jit", "torch.ao.quantization"):
        config.addinivalue_line("filterwarnings", f"ignore:{message}")
    config.addinivalue_line("filterwarnings", "ignore:LSTM with projections is not supported")
