"""Serving: the TensorBoard plugin, thin routes over what reading gives."""
