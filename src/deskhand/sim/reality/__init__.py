"""How the real world differs from a rendered one: a description drawn from a seed, and what it does to pictures, light, desk and objects."""
