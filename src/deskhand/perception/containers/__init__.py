"""Open hollow objects: found by their rim, and known again."""
