"""The orchestrator's mind: language models, the loop, the planner, the offline brain."""
