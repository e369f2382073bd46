"""The first day with a real arm: from the box of parts to the first pick, step by step; base.py says what a step is, one file an arm beside it."""
