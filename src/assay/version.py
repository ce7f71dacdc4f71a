"""Which release of assay is this?"""

__version__ = "0.1.0"
