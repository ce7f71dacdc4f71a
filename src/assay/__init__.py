"""Hybrid biomedical search, and the evaluation platform that proves it."""
