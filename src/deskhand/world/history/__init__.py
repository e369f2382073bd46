"""A scene graph over time, in SQLite: what was seen where, on or in what, how sure, and what became of it. See docs/memory.md."""
