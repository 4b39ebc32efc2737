"""Callbacks: the one line that users add to their framework's own training loop."""
