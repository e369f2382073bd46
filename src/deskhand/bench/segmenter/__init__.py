"""Rendered piles of random objects, and a network that learns from them which pixels show one object (``deskhand train segmenter``)."""
