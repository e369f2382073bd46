"""Trials, benchmarks and reports."""
