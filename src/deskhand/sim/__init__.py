"""The simulated robot and worlds. Only the sim node, the tasks and the scorer import this; a test enforces it."""
