"""How docs/findings.md and its pictures are made: the page, the experiments, what they measure."""
