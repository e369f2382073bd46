"""Cognition and state modelling: what the robot knows of the desk and of itself."""
