"""Where is everything that must not be lost? In one SQLite database per workspace."""
