"""EmbodiedToolBench: how well tools are used, apart from whether a task succeeds; every label is settled by running the alternatives in copies of a state."""
