"""Worker processes for tools that are pure functions: bounded in time and memory, without files and network."""
