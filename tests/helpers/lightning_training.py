"""A small model of either Lightning, its training, and what was logged of it."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

import lstm_gates_plugin as lg
from helpers.torch_training import Tagger, X, Y, loss_of
from lstm_gates_plugin.reading.runs import LoggedRun


def loader(*, shuffle: bool = False) -> Any:
    """Four batches of eight samples."""
    return DataLoader(TensorDataset(X, Y), batch_size=8, shuffle=shuffle)


def module_class(pl: Any) -> type:
    """The model as a `LightningModule` of the package `pl`."""

    class Module(pl.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self, dropout: float = 0.0) -> None:
            super().__init__()
            self.net = Tagger(dropout)
            self.losses: list[float] = []

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.net(x)

        def training_step(self, batch: Any, index: int) -> torch.Tensor:
            loss = loss_of(self(batch[0]).float(), batch[1]).mean()
            self.losses.append(loss.item())
            self.log("train_loss", loss)
            return loss

        def validation_step(self, batch: Any, index: int) -> None:
            self.log("val_loss", loss_of(self(batch[0]).float(), batch[1]).mean())

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.Adam(self.parameters(), 0.05)

    return Module


def trainer(pl: Any, directory: Path, *callbacks: Any, **options: Any) -> Any:
    """A quiet `Trainer` on the CPU, one epoch, without checkpoints."""
    for name in ("lightning.pytorch", "pytorch_lightning"):
        logging.getLogger(name).setLevel(logging.WARNING)
    defaults = {
        "accelerator": "cpu",
        "max_epochs": 1,
        "log_every_n_steps": 1,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    return pl.Trainer(
        default_root_dir=directory, callbacks=list(callbacks), **{**defaults, **options}
    )


def fit(
    pl: Any, directory: Path, callback: Any, *, module: Any = None, val: bool = True, **options: Any
) -> Any:
    """Train; the `Trainer` afterwards."""
    fitting = trainer(pl, directory, *filter(None, [callback]), **options)
    module = module_class(pl)() if module is None else module
    fitting.fit(module, loader(), loader() if val else None)
    return fitting


def logged(directory: Path) -> LoggedRun:
    """The one run below a directory that has records of ours."""
    (run,) = lg.read(directory).values()
    return run


def steps(directory: Path, row: str = "activation/forget", layer: str = "net/rnn") -> list[int]:
    found: list[int] = logged(directory)[layer].series(row, "mean").steps.tolist()
    return found


def column(directory: Path, name: str, row: str = "kernel/forget") -> np.ndarray:
    values: np.ndarray = logged(directory)["net/rnn"].series(row, name).values
    return values
