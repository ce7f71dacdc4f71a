"""The pages of the service: what does a person see? One file per page."""
