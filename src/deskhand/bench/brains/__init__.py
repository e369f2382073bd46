"""Language models that misbehave, against the whole agent and the whole tool protocol, on a desk that takes no time."""
