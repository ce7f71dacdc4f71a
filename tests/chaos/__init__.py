"""Everything that can happen to a service, at once."""
