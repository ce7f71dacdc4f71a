"""The steps, a file per format."""
