"""Calibration of cameras: the board, its pictures, what follows from them, and whether it is good enough."""
