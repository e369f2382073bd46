"""Emulated servos and controllers behind a pseudo-terminal, for trying drivers (ours and others') without hardware: ``deskhand emulate``."""
