"""Grippers: the driver base, one file a kind."""
