"""Makes docs/findings.md: `PYTHONPATH=tests python -m helpers.findings [all | LG035 ...]`.

Before, it draws the pictures of the rules that are named: it trains the networks of the tests of
PyTorch, which are named in each experiment, and reads their records.
"""

import sys

import torch

from helpers.findings.experiments import draw
from helpers.findings.of_gates import GATES_AND_MORE
from helpers.findings.of_weights import WEIGHTS
from helpers.findings.page import DOCUMENT, PICTURES, page
from lstm_gates_plugin.diagnosis.rules import RULES


def main(ids: list[str]) -> None:
    """Draw the experiments of these rules, or of all, and write the page."""
    PICTURES.mkdir(exist_ok=True)
    for rule in RULES:
        if rule.id in ids or ids == ["all"]:
            picture = draw(rule, (WEIGHTS | GATES_AND_MORE)[rule.id])
            (PICTURES / f"{rule.id}.svg").write_text(picture, encoding="utf-8")
    DOCUMENT.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[1:])
