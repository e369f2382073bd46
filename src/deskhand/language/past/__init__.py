"""Questions about what was where, and what became of it."""
