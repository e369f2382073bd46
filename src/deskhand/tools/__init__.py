"""The tool base: one file a theme, in the four groups of the protocol."""
