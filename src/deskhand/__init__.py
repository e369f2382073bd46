"""deskhand: a real tabletop arm that a language model can use."""

__version__ = "0.1.0"
