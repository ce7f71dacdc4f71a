"""How does an assistant use assay? A server of the Model Context Protocol, over a pipe."""
