"""Experiments with expected figures: one file each, one command for all."""
