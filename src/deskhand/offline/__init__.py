"""The brain that needs no language model."""
