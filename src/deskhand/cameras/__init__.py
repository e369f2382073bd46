"""Cameras: the driver base, one file a vendor."""
