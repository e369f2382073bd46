"""Objects over time: ids, whether what was seen is still there, what of the space was seen."""
