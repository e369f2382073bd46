"""How often the right tool is found: situations in people's own words, and which tool is meant."""
