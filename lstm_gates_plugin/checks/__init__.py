"""Exact tests of common mistakes on a live model, before it is trained."""
