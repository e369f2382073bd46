"""How well a brain does what EB-Manipulation asks for: its families and subsets over many seeds, and an expert that knows the truth beside it."""
