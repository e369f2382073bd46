"""Goals, and the ways to reach them: one planner, rules over time, structures."""
