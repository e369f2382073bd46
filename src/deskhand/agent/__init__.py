"""The agent: language models, the loop around them, planner, verifier, offline brain."""
