"""Objects that people have taught: how views of them are compared with what is seen, and named."""
