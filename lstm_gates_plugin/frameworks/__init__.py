"""One folder for each framework: find its recurrent layers, record what goes into them."""
