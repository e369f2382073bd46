"""Is everything there that deskhand needs, and does it work? One check a question, each with advice."""
