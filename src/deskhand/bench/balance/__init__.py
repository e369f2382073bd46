"""How well a brain weighs: the task balance_scale over many seeds, and what its readings were."""
