"""Embodied Tool Protocol: capabilities that are found by what they can do and called by their schema."""
