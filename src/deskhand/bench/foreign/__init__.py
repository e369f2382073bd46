"""Objects that others made: installed from their packages, looked at, picked, cleared away."""
