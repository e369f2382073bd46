"""The motion benchmark: ``deskhand bench motion``."""
