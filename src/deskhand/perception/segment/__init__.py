"""From pixels above the table to segments of objects: shape first, colour where shape agrees."""
