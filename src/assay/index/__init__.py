"""How are chunks indexed so that they are found fast, exactly, and after a crash?

A generation is a set of immutable files, listed in one manifest that is replaced atomically.

    checksums, manifest, lock   how is a generation written, checked and replaced?
    columns                     which chunks pass a filter?
    bm25, sparse, dense         the three components
    writer, reader, check       how is it built, opened, and verified?
"""
