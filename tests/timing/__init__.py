"""Tests that wait or measure time, apart from the unit tests."""
