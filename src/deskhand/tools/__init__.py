"""The tool base: one file a theme, in the four groups of the protocol.

Names are imported when they are asked for, so that the cards can be listed quickly.
"""
