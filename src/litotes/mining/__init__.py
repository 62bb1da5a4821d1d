"""Training data out of captioned photographs."""
