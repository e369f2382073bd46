"""Files that run in the environment of a foreign simulator: Python 3.10 or 3.11, numpy 1.26, nothing of deskhand's."""
