"""Every bad input that the product must answer well, as data: see ``README.md``."""
