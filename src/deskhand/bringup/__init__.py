"""Which processes run, how they are started and ended."""
