"""How does a person talk to assay from a shell? One file per noun, registered in ``main``."""
