"""Tasks: seeded scenes, instructions, goals on ground truth."""
