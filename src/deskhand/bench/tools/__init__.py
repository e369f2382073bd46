"""Scenarios that every tool of the base is measured on, one module a unit, and what runs them."""
