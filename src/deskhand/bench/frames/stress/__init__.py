"""Labelled frames as other cameras, distances, lights and desks would give them, drawn by a seed."""
