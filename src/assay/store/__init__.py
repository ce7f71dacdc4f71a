"""Where is everything that must not be lost? In one database per workspace."""
