"""Execution and control: everything that moves, or says how to."""
