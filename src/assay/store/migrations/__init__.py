"""Which steps lead from an older schema to ours? Numbered, and never changed once released.

A file of ``versions`` per format, named by its number; its function ``upgrade`` gets ``Tables``.
"""
