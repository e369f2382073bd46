"""The perception benchmark: ``deskhand bench perception``."""
