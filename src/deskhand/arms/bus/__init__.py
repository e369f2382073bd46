"""Servo buses: base.py is what the driver sees, one file a wire format beside it."""
