"""Perception and grounding: what is on the desk, and where."""
