"""Calibration in simulation, where the truth is known."""
