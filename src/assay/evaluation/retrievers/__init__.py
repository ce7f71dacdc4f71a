"""Whose results are evaluated, if not our own? A function, a service over HTTP, or a run file."""
