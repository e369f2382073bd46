"""Running trials of tasks and keeping what came of them."""
