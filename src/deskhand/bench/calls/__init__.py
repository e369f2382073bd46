"""What the call of a tool costs over the plain function, on every way to it."""
