"""Writing: from measures to TensorBoard's event files, bounded in size and cheap."""
