"""What is where: how bodies lie, and what spatial words mean."""
