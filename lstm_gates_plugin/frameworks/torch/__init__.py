"""PyTorch: find the recurrent modules, record what goes into them."""
