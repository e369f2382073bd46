"""Reasoning and planning: what is done, what can be done, and how to get there."""
