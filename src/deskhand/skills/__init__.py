"""What a hand can do: pick, place and the rest, each with a verified outcome."""
