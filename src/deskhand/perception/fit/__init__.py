"""Solids fitted to segments: the shapes, how each kind is found, and how what is hidden is completed."""
