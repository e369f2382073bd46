"""Robots in simulators of others, each a process in its own Python environment: what lies below the seam for them."""
