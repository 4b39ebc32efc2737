"""Which process of a distributed training writes. Nobody is asked, so nobody has to wait."""

from __future__ import annotations

import os
import sys


def is_writing_process() -> bool:
    """Whether this process trains alone, or has rank 0 among those that train together.

    That is what `torch.distributed` says where it is initialised, and before that the environment
    that `torchrun` and Lightning set. Neither is looked at where torch is not in the process.
    """
    if "torch" not in sys.modules:
        return True
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return bool(distributed.get_rank() == 0)
    ranks = (os.environ.get(name, "") for name in ("RANK", "LOCAL_RANK"))
    return next((int(rank) == 0 for rank in ranks if rank.isdigit()), True)
