"""Diagnosing: what looks wrong in a run, in plain words; pure rules over what reading returns."""
