"""What can assay do? One module per noun, one function per verb, the same for every surface.

Command line, HTTP routes, pages, jobs and ``assay.*`` in Python call what stands here. Nothing here
prints, and nothing knows of HTTP.
"""
