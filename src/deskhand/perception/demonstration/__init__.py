"""Demonstrations: a video of somebody doing something on a desk, what it shows at rest, and what was done from one rest to the next."""
